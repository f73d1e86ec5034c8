"""What Python hands to the command: bounds, trade-offs, comparisons, formats; and many plans at a time."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction

import pytest

import collsynth as cs

DEAD = cs.Torus(4, 4).fail_cable(2, 3)


def test_bounds_have_evidence():
    bounds = cs.bounds(DEAD)
    best = max(bound["at_least"] for bound in bounds if bound["figure"] == "volume")
    assert best == cs.plan(DEAD).bound
    assert all(bound["words"] for bound in bounds)
    assert all(isinstance(bound["at_least"], (int, Fraction)) for bound in bounds)


def test_the_least_volume_at_each_number_of_steps():
    points = cs.bounds(cs.Torus(2, 3), frontier=True)
    assert points[0]["steps"] == 2
    assert all(isinstance(point["volume"], (int, Fraction)) for point in points)


def test_trade_of_steps_against_volume():
    points = cs.pareto(DEAD, "all_gather", parts=[1, 2, 3])["points"]
    assert len(points) >= 1
    assert points[0]["steps"]


def test_planners_side_by_side():
    answer = cs.compare(DEAD, planners=["ring", "negotiated"], parts=[1], message_bytes="1MiB")
    text = str(answer)
    assert "negotiated" in text
    assert "smt" not in text


def test_graphs_go_through_a_file():
    ring = cs.Topology.graph(4, [(rank, (rank + 1) % 4) for rank in range(4)])
    assert max(bound["at_least"] for bound in cs.bounds(ring) if bound["figure"] == "steps") == 3


def test_formats(tmp_path):
    plan = cs.plan(cs.Torus(4), "all_gather")
    assert cs.export(plan, "csv").startswith("step,")
    text = cs.export(plan.lower(), "msccl")
    path = tmp_path / "algo.xml"
    path.write_text(text)
    program = cs.import_(path, "msccl")
    assert cs.verify(program).holds
    path.write_text(re.sub(r"<step [^>]*/>", "", text, count=1))
    with pytest.raises(cs.Error):
        cs.import_(path, "msccl")


def test_polishing_makes_nothing_worse():
    plan = cs.plan(cs.Torus(3, 3), planner="ring")
    assert cs.polish(plan, time_limit=5).volume <= plan.volume


def test_errors_of_the_command_are_exceptions():
    with pytest.raises(cs.UsageError, match="--no-such-option"):
        cs.bounds(DEAD, no_such_option=True)
    with pytest.raises(cs.Impossible, match="not connected"):
        cs.bounds(cs.Topology.mesh(4).fail_cable(1, 2))


CALLS = {
    "bounds": lambda progress: cs.bounds(DEAD, lp=True, progress=progress),
    "frontier": lambda progress: cs.bounds(cs.Torus(2, 3), frontier=True, progress=progress),
    "pareto": lambda progress: cs.pareto(DEAD, progress=progress),
    "compare": lambda progress: cs.compare(DEAD, planners=["negotiated"], message_bytes=1024, progress=progress),
    "export": lambda progress: cs.export(cs.plan(cs.Torus(8, 8), parts=4), "msccl", progress=progress),
    "polish": lambda progress: cs.polish(cs.plan(cs.Torus(3, 3), planner="ring"), time_limit=2, progress=progress),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress_is_told(name):
    seen = []
    CALLS[name](lambda *report: seen.append(report))
    assert all(isinstance(planner, str) and isinstance(attempt, str) for planner, attempt, _, _ in seen)
    assert seen


def test_errors_of_the_callback_end_the_call():
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cs.compare(cs.Torus(5, 5), planners=["smt"], parts=[3], progress=fail)


def test_other_threads_run_and_the_environment_is_the_caller_s():
    """The lock is free during a call, and calls of two threads do not see each other."""
    answers = {}

    def ask(rank):
        answers[rank] = cs.pareto(cs.Torus(4, 4).fail_rank(rank), parts=[1, 2, 3], threads=1)

    asking = [threading.Thread(target=ask, args=(rank,)) for rank in (3, 5)]
    for thread in asking:
        thread.start()
    ticks = 0
    while any(thread.is_alive() for thread in asking):
        time.sleep(0.001)
        ticks += 1
    assert ticks > 5
    assert answers[3] == cs.pareto(cs.Torus(4, 4).fail_rank(3), parts=[1, 2, 3])
    assert answers[3]["points"][0]["command"] != answers[5]["points"][0]["command"]


@pytest.mark.parametrize(
    "call",
    [
        "cs.pareto(cs.Torus(5, 5), planner='smt', parts=[3])",
        "cs.compare(cs.Torus(5, 5), planners=['smt'], parts=[3])",
        "cs.bounds(cs.Torus(7, 7).fail_cable(0, 1).fail_cable(3, 10), frontier=True)",
        "cs.polish(cs.plan(cs.Torus(5, 5), planner='ring', parts=2))",
    ],
)
def test_ctrl_c_interrupts_calls(call):
    program = f"import collsynth as cs; print('go', flush=True); {call}"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "go\n"
    time.sleep(1)
    os.kill(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert child.returncode not in (0, None)


def test_answers_are_those_of_the_command():
    words = [*DEAD.command_words, "--collective", "all_gather", "--format", "json"]
    assert cs.pareto(DEAD, "all_gather", parts=[1, 2]) == cs.command_json("pareto", *words, "--parts", "1,2")
    plan = cs.plan(cs.Torus(4), "all_gather")
    assert cs.export(plan, "goal") == cs.command("convert", "-", "--to", "goal", text=plan.to_json())
    with pytest.raises(cs.UsageError, match="between 1 and 65535"):
        cs.pareto(DEAD, threads=0)


JOBS = [cs.Torus(4, 4), cs.Job(DEAD, "all_gather"), cs.Job(cs.Topology.mesh(4).fail_cable(1, 2)), cs.Torus(3, 3)]


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_surveys_are_the_same_anywhere(executor):
    if executor is None:
        outcomes = list(cs.survey(JOBS, seed=1))
    else:
        with executor(2) as pool:
            outcomes = list(cs.survey(JOBS, pool, seed=1))
    assert [outcome.plan is not None for outcome in outcomes] == [True, True, False, True]
    assert isinstance(outcomes[2].error, cs.Impossible)
    assert outcomes[1].plan == cs.plan(DEAD, "all_gather", seed=1)
    assert outcomes[0].job.options == {"seed": 1}


def test_surveys_over_dask():
    distributed = pytest.importorskip("distributed", reason="left out: dask.distributed is not installed")
    with (
        distributed.LocalCluster(2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        outcomes = list(cs.survey(JOBS, client.get_executor()))
    assert [outcome.plan is not None for outcome in outcomes] == [True, True, False, True]
