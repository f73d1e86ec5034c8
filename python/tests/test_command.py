"""What Python hands to the command: bounds, trade-offs, comparisons, formats; and many plans at a time."""

import re
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
