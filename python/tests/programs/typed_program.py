"""A user's program: everything of the package that a program names, as its author would type it.

`test_package.py` runs it, and has type checkers read it at their strictest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

import collsynth as cs


def machines() -> Iterator[cs.Topology]:
    torus = cs.Torus(4, 4, wrap=(True, True), capacity=[1, 1]).fail_cable(2, 3).fail_cable(5, "x+")
    yield torus
    yield torus.fail_rank((3, 3)).fail_rank([4, 5])
    yield cs.Topology.from_json({"torus": [3, 3], "failed_links": [{"from": 0, "to": 1}]})


def figures(plan: cs.Plan) -> tuple[int, Fraction, float | None]:
    gap: Fraction | None = plan.gap
    bound: Fraction | None = plan.bound
    steps: int = plan.steps
    least: int | None = plan.steps_bound
    assert gap is not None
    assert bound is not None
    assert least is not None
    assert steps >= least
    assert plan.volume >= bound
    seconds: float | None = plan.time
    planner: str | None = plan.planner
    stopped: str | None = plan.stopped
    print(planner, stopped, plan.groups, plan.topology.live_ranks, plan.figures["moves"], repr(plan))
    return steps, plan.volume, seconds


def heard(planner: str, attempt: str, round: int, remaining: int) -> None:
    print(planner, attempt, round, remaining, file=sys.stderr)


def loads(plan: cs.Plan) -> npt.NDArray[np.int64]:
    moves = plan.moves
    sent = np.zeros(plan.topology.ranks, np.int64)
    np.add.at(sent, moves["from"], 1)
    reduced: bool = bool((moves["op"] == cs.REDUCE).any())
    copied: bool = bool((moves["op"] == cs.COPY).any())
    assert reduced or copied
    return sent


def files(plan: cs.Plan, folder: Path) -> None:
    path = folder / "plan.json"
    plan.save(path)
    again = cs.load(path)
    assert again == plan
    assert cs.load(plan.to_dict()) == plan
    verdict: cs.Verdict = cs.verify(path, topology=plan.topology, bounds=True)
    verdict.raise_for_violations()
    for violation in verdict.violations:
        print(violation.code, violation.message)
    page: cs.Page = plan.view(folder / "plan.html", topology=plan.topology)
    print(page, len(page.html))
    program: cs.Program = plan.lower(barriers="none", in_place=True)
    print(program.figures["workers"], cs.verify(program).holds)
    table = cs.export(plan, "csv")
    moves = folder / "moves.csv"
    moves.write_text(table)
    read = cs.import_(moves, "csv", plan.topology, collective="all_gather", parts=plan.parts)
    print(type(read).__name__)
    live, was = plan.renumbered()
    print(live.steps, was[:3])


def answers(folder: Path) -> None:
    torus = (3, 3)
    trade: cs.Pareto = cs.pareto(torus, "all_gather", parts=[1, 2])
    trade.plot().save(folder / "trade.svg")
    compared: cs.Comparison = cs.compare(torus, planners=["ring_pipeline", "template"], message_bytes=["1KiB", 1 << 20])
    compared.plot().save(folder / "compared.svg")
    print(trade["points"], compared["machines"], [sorted(bound) for bound in cs.bounds(torus)])
    better: cs.Plan = cs.polish(cs.plan(torus), time_limit=0.1)
    print(better.gap, cs.planners()[:2], cs.command("planners")[:10])


def several(executor: ThreadPoolExecutor) -> list[cs.Outcome]:
    jobs = [cs.Job(machine, "all_gather", {"parts": 2}) for machine in machines()]
    found: list[cs.Outcome] = list(cs.survey(jobs, executor))
    return found


def failures() -> None:
    try:
        cs.plan(cs.Torus(2).fail_cable(0, 1))
    except cs.Impossible as error:
        print(error, error.hint, error.exit_code)
    except (cs.Stopped, cs.UsageError) as error:
        print(error.hint)
    try:
        cs.load("nowhere.json")
    except cs.NoSuchFile as error:
        print(error.filename)


def main(folder: Path) -> None:
    for machine in machines():
        plan = cs.plan(machine, "all_gather", parts="auto", time_limit=10, seed=1, progress=heard)
        print(figures(plan), loads(plan).sum())
        files(plan, folder)
    timed = cs.plan((4, 4), "AllReduce", message_bytes="1MiB", alpha=1e-6, bandwidth="50GB/s", max_steps=20)
    print(timed.time)
    print(cs.plan(cs.Torus(4, 4), "broadcast", root=(1, 1), parts=4).steps)
    print(cs.plan(cs.Torus(4, 4), "all_gather", groups=cs.Blocks(2, 2), relays=False).groups)
    print(cs.plan(cs.Torus(2, 2), "all_to_allv", demand=np.ones((4, 4), np.int64)).demand)
    answers(folder)
    with ThreadPoolExecutor(2) as executor:
        print([outcome.plan is not None for outcome in several(executor)])
    job: cs.PlannedJob = cs.plan_job(
        (4, 4), [{"collective": "all_gather", "groups": "x"}, {"collective": "all_reduce"}]
    )
    print(job.total_width, job.bound, [plan.steps for plan in job.schedules])
    failures()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
