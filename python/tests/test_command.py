"""What Python hands to the command: bounds, trade-offs, comparisons, formats; and many plans at a time."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction

import numpy as np
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


def test_tables_of_moves_are_read_again(tmp_path):
    path = tmp_path / "moves.csv"
    plan = cs.plan(cs.Torus(3, 2), "all_gather", groups="x", parts=2)
    path.write_text(cs.export(plan, "csv"))
    read = cs.import_(path, "csv", (3, 2), collective="all_gather", groups="x", parts=2)
    assert cs.export(read, "csv") == cs.export(plan, "csv")
    path.write_text("step,from,to,chunk\n1,0,1,0\n")
    with pytest.raises(cs.Refuted):
        cs.import_(path, "csv", (3, 2), collective="all_gather")
    with pytest.raises(cs.UsageError, match=r'`cs.import_\(FILE, "csv", topology, collective=NAME\)` judges it'):
        cs.verify(path)
    with pytest.raises(cs.UsageError, match="groups are those of a topology"):
        cs.import_(path, "csv", collective="all_gather", groups="x")


def test_polishing_makes_nothing_worse():
    plan = cs.plan(cs.Torus(3, 3), planner="ring")
    assert cs.polish(plan, time_limit=5).volume <= plan.volume


def test_errors_of_the_command_are_exceptions():
    with pytest.raises(cs.UsageError, match="bounds has no option no_such_option"):
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


def test_other_threads_run_during_a_call():
    asking = threading.Thread(
        target=lambda: cs.compare(cs.Torus(5, 5), planners=["smt"], parts=[3], time_limit=1, threads=1)
    )
    asking.start()
    ticks = 0
    while asking.is_alive():
        time.sleep(0.001)
        ticks += 1
    # A call that held the lock would let this thread run before it and after it.
    assert ticks > 10


def test_calls_of_two_threads_do_not_see_each_other():
    answers = {}

    def ask(rank):
        answers[rank] = cs.pareto(cs.Torus(4, 4).fail_rank(rank), parts=[1, 2, 3], threads=1)

    asking = [threading.Thread(target=ask, args=(rank,)) for rank in (3, 5)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
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


CALLED = [cs.plan, cs.bounds, cs.pareto, cs.compare]


@pytest.mark.parametrize("call", CALLED, ids=lambda call: call.__name__)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": "x.svg"}, "has no option output\nhint: the answer is returned"),
        ({"format": "csv"}, "has no option format\nhint: the answer is an object"),
        ({"time_limt": 3}, "has no option time_limt; did you mean time_limit?"),
        ({"torus": "4x4"}, "has no option torus\nhint: the machine states it"),
        ({"fail": "0,1"}, "has no option fail\nhint: the machine states it"),
        ({"time_limit": "soon"}, "'soon' for time_limit"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"parts": "many"}, "'many' for parts"),
        ({"root": [1, 0], "collective": "broadcast"}, "a tuple of coordinates"),
        ({"root": 99, "collective": "broadcast"}, "out of range"),
        ({"collective": 3}, "collective is a name"),
        ({"collective": "psum"}, "did you mean all_reduce?"),
        ({"collective": "all_to_allv", "demand": [[1, 2]]}, "square matrix"),
        ({"collective": "all_to_allv", "demand": "nowhere.csv"}, "cannot read nowhere.csv"),
        ({"collective": "all_to_allv"}, "all_to_allv needs a demand"),
    ],
    ids=str,
)
def test_errors_name_the_parameter(call, options, message):
    with pytest.raises(cs.UsageError, match=re.escape(message)) as raised:
        call(DEAD, **options)
    assert "--" not in str(raised.value)
    assert "Usage" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda plan: cs.compare(DEAD, planners=["rng"]), "no planner is called `rng`; did you mean ring?"),
        (lambda plan: cs.compare(DEAD, planners=3), "planners is a name"),
        (lambda plan: cs.compare(DEAD, "all_reduce", planners="ring"), "ring: it plans all_to_all"),
        (lambda plan: cs.compare(DEAD, plot="time"), "`.plot()` of the answer takes it"),
        (lambda plan: cs.compare(DEAD, planners=["ring"], bandwidth={"z": 1e9}), "no dimension z"),
        (lambda plan: cs.compare((2, 2), planners=["ring"]).plot(what="size"), "no plot is called `size`"),
        (lambda plan: cs.pareto("4x4"), "topology is a machine"),
        (lambda plan: cs.export(plan, "nope"), "'nope' for to"),
        (lambda plan: cs.export(plan, 3), "to is a format"),
        (lambda plan: cs.export("plan.json", "csv"), "plan is a plan or a program"),
        (lambda plan: cs.export(plan, "csv", form="x"), "export has no option form"),
        (lambda plan: cs.export(plan, "chakra"), "chakra writes a file for each rank"),
        (lambda plan: cs.import_(3, "msccl"), "path is the file to read"),
        (lambda plan: cs.import_(__file__, 3), "format is a name"),
        (lambda plan: cs.polish("plan.json"), "plan is a plan"),
        (lambda plan: cs.polish(plan, output="x.json"), "polish has no option output"),
        (lambda plan: cs.survey(DEAD), "jobs are several machines"),
        (lambda plan: cs.survey([DEAD, "4x4"]), "jobs[1] is a machine"),
        (lambda plan: cs.survey([DEAD], parts=0), "'0' for parts"),
        (lambda plan: cs.survey([DEAD], bogus=1), "plan has no option bogus"),
        (lambda plan: cs.survey([DEAD], planner="rng"), "did you mean ring?"),
        (lambda plan: cs.survey([DEAD], collective="everything"), "no collective is called `everything`"),
        (lambda plan: cs.survey([cs.Job(DEAD, options={"root": 99})], collective="broadcast"), "out of range"),
        (lambda plan: cs.survey([DEAD], 4), "executor is a concurrent.futures.Executor, not 4"),
        (lambda plan: cs.Job("4x4"), "topology is a machine"),
        (lambda plan: cs.Job(DEAD, options=[1]), "options are a dict"),
    ],
)
def test_other_errors_name_it_too(call, message):
    """At the call: no outcome is asked for."""
    with pytest.raises(cs.UsageError, match=re.escape(message)):
        call(cs.plan(cs.Torus(2, 2)))


def test_options_as_people_have_them(tmp_path):
    """Numbers, text, tuples, matrices and mappings are the words of the command."""
    words = ["--torus", "4x4", "--fail", "2,3", "--format", "json"]
    priced = ["--message-bytes", "1024,4MiB", "--alpha", "2us", "--bandwidth", "50GB/s", "--parts", "1,2"]
    asked = {"message_bytes": [1024, "4MiB"], "alpha": 2e-6, "bandwidth": 50e9, "parts": [1, 2]}
    assert cs.pareto(DEAD, "AllGather", **asked) == cs.command_json(
        "pareto", *words, "--collective", "all_gather", *priced
    )
    rooted = ["--collective", "broadcast", "--root", "6", "--parts", "2"]
    assert cs.pareto(DEAD, "broadcast", root=(2, 1), parts=2) == cs.command_json("pareto", *words, *rooted)
    by_dim = [
        "--planners",
        "ring,folded_ring",
        "--bandwidth",
        "x=32GB/s,y=16GB/s",
        "--transfer-setup",
        "1us",
        "--parts",
        "1",
    ]
    options = {"bandwidth": {"x": "32GB/s", "y": 16e9}, "transfer_setup": 1e-6, "parts": [1]}
    found = cs.compare(DEAD, planners=["ring", "FoldedRing"], **options)
    assert found == cs.command_json("compare", *words, *by_dim)
    assert cs.compare(DEAD, planners="ring,folded_ring", **options) == found
    demand = [[(origin + dest) % 3 for dest in range(4)] for origin in range(4)]
    path = tmp_path / "demand.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in demand))
    bounds = cs.bounds(cs.Torus(4), "all_to_allv", demand=demand)
    assert (
        bounds == cs.bounds((4,), "all_to_allv", demand=path) == cs.bounds((4,), "all_to_allv", demand=np.array(demand))
    )
    assert cs.bounds(DEAD, "broadcast", groups="x", root=1)[0]["figure"] == "steps"


def test_answers_are_plotted(tmp_path):
    words = [*DEAD.command_words, "--collective", "all_gather", "--parts", "1,2", "--format", "svg"]
    answer = cs.pareto(DEAD, "all_gather", parts=[1, 2])
    picture = answer.plot(tmp_path / "trade.svg")
    assert picture.svg == picture._repr_svg_() == (tmp_path / "trade.svg").read_text() == cs.command("pareto", *words)
    assert pickle.loads(pickle.dumps(answer)).plot().svg == picture.svg
    with pytest.raises(cs.UsageError, match=r"path is 'trade.png': \.svg is written here"):
        answer.plot("trade.png")
    compared = cs.compare(DEAD, planners=["ring", "folded_ring"], parts=[1])
    line = ["compare", *DEAD.command_words, "--planners", "ring,folded_ring", "--parts", "1", "--format", "svg"]
    for what in ("time", "speedup"):
        assert compared.plot(what=what).svg == cs.command(*line, "--plot", what)


def test_export_to_a_folder(tmp_path):
    plan = cs.plan(cs.Torus(2, 2))
    assert cs.export(plan, "chakra", output=tmp_path / "traces") == ""
    assert len(list(tmp_path.rglob("*.et"))) == 4
    one = cs.export(plan, "csv", rank=(1, 0))
    assert one == cs.command("convert", "-", "--to", "csv", "--rank", "1", text=plan.to_json())


def test_surveys_take_what_plan_takes():
    jobs = [(4, 4), cs.Job((2, 2), "all_gather"), cs.Job(DEAD, options={"parts": 2})]
    outcomes = list(cs.survey(jobs, collective="AllReduce", parts=3))
    assert [outcome.plan.collective for outcome in outcomes] == ["all_reduce", "all_gather", "all_reduce"]
    assert [outcome.plan.parts for outcome in outcomes] == [3, 3, 2]
    assert outcomes[0].plan == cs.plan((4, 4), "all_reduce", parts=3)
