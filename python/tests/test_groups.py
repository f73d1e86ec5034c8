"""Collectives in groups, and jobs: the same bytes as the command, results against definitions, what is refused."""

import json
import pickle
import subprocess

import numpy as np
import pytest
from definitions import KINDS, ROOTED, expected, operand, simulated

import collsynth as cs
from collsynth._running.tables import tables_of

DEAD = cs.Torus(4, 4).fail_cable(0, 1)
#: Of two sizes, out of order; ranks 5, 6, 11 and 14 are in none.
ODD = [[3, 0, 1, 2, 4], [9, 15, 12, 7, 8, 10, 13]]
GROUPS = {
    "rows": "x",
    "planes of two dimensions": "x,y",
    "blocks": cs.Blocks(2, 2),
    "odd": ODD,
    "ranges": [range(5), [9, 15, *range(10, 13)]],
    "coordinates": [[(0, 0), (1, 0)], [(2, 2), 15]],
    "one, and others": [[0], [1, 2, 3]],
    "an array": np.arange(16).reshape(4, 4).T,
}


def planned(topology, kind, groups, **options):
    return cs.plan(topology, kind, groups=groups, root=1 if kind in ROOTED else None, **options)


def of_command(plan):
    words = plan.origin["command"].split()
    return subprocess.run([*words, "-q"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("relays", [True, False])
@pytest.mark.parametrize("name", GROUPS)
def test_the_same_bytes_as_the_command(name, relays):
    if not relays and name in ("odd", "coordinates"):
        with pytest.raises(cs.Impossible, match="others may not relay"):
            cs.plan(DEAD, groups=GROUPS[name], relays=False)
        return
    plan = cs.plan(DEAD, groups=GROUPS[name], relays=relays)
    assert plan.to_json() == of_command(plan)
    assert plan.relays == relays


def test_the_same_words_as_people_type():
    words = {
        ("x", True): "--groups x",
        (cs.Blocks(2, 2), False): "--blocks 2x2 --relays no",
        ((range(5), (9, 15, 12)), True): "--group 0-4 --group 9,15,12",
    }
    for (groups, relays), stated in words.items():
        command = "synth --torus 4x4 --collective broadcast --root 1"
        plan = cs.plan(cs.Torus(4, 4), "broadcast", root=1, parts=2, groups=groups, relays=relays)
        assert plan.origin["command"] == f"{command} {stated} --parts 2"
        assert plan.to_json() == of_command(plan)


def test_links_out_of_a_group_without_relays_are_alive():
    plan = cs.plan(cs.Torus(4, 4), "all_gather", groups="x", relays=False)
    assert all(link.alive for link in plan.topology.links)
    assert cs.plan(plan.topology, "all_gather").steps


def test_a_plan_knows_its_groups(tmp_path):
    plan = cs.plan(DEAD, "broadcast", root=1, groups=ODD, parts=2)
    assert (plan.groups, plan.relays, plan.root) == (ODD, True, 1)
    assert "broadcast from member 1 in 2 groups of 5 to 7" in repr(plan)
    assert "in 2 groups of 5 to 7" in plan._repr_html_()
    assert "rank 3, group 0<" in plan._repr_html_()
    assert "rank 5, in no group<" in plan._repr_html_()
    whole = cs.plan(DEAD)
    assert (whole.groups, whole.relays) == (None, True)
    assert "group" not in whole._repr_html_()
    assert cs.load(plan.to_dict()) == plan == pickle.loads(pickle.dumps(plan))
    assert pickle.loads(pickle.dumps(cs.Blocks(2, 4))) == cs.Blocks(2, 4)
    plan.save(tmp_path / "plan.json")
    assert cs.verify(tmp_path / "plan.json").holds
    wrong = plan.to_dict()
    wrong["relays"] = False
    assert cs.verify(wrong).violations[0].code == "D004"
    assert cs.export(plan, "csv") == cs.command("convert", "-", "--to", "csv", text=plan.to_json())


@pytest.mark.parametrize("groups", ["x", cs.Blocks(2, 2), ODD], ids=["rows", "blocks", "odd"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failure", ["a dead cable", "a dead relay or member"])
def test_results_are_those_of_the_definition(kind, groups, failure):
    torus = DEAD if failure == "a dead cable" else cs.Torus(4, 4).fail_rank(6)
    plan = planned(torus, kind, groups, parts=3, max_steps=40)
    x = operand(plan, np.int64, (7,))
    np.testing.assert_array_equal(simulated(plan, x), expected(plan, x))


@pytest.mark.parametrize("kind", KINDS)
def test_results_without_relays(kind):
    plan = planned(DEAD, kind, "x", parts=2, relays=False)
    assert not plan.relays
    group = {rank: number for number, ranks in enumerate(plan.groups) for rank in ranks}
    assert all(group[start] == group[end] for start, end in zip(plan.moves["from"], plan.moves["to"], strict=True))
    x = operand(plan, np.int64, (3, 2))
    np.testing.assert_array_equal(simulated(plan, x), expected(plan, x))


def test_the_definitions_tell_right_from_wrong():
    """What relays and smaller groups are called with reaches nobody; what members bring does."""
    plan = cs.plan(DEAD, groups=ODD)
    x = operand(plan, np.int64, ())
    others = x.copy()
    others[[5, 6, 11, 14]] += 100
    others[ODD[0], 5:] += 100
    np.testing.assert_array_equal(simulated(plan, others), simulated(plan, x))
    others[3, 1] += 1
    assert (simulated(plan, others) != simulated(plan, x)).sum() == 1


def test_relays_have_no_buffers_of_their_own():
    plan = cs.plan(DEAD, groups=ODD, parts=1)
    sizes = np.frombuffer(plan._schedule.slot_moves()[0], np.int32).reshape(16, 3)
    assert sizes[5].tolist()[:2] == [0, 0]
    assert (sizes[3].tolist()[:2], sizes[9].tolist()[:2]) == ([5, 5], [7, 7])
    assert sizes[[5, 6, 11, 14], 2].any(), "nobody relays"
    assert not any(tables_of(plan).has_output(rank) for rank in (5, 6, 11, 14))


def test_programs_in_groups():
    plan = cs.plan(DEAD, "all_gather", groups=cs.Blocks(2, 2), parts=2)
    program = plan.lower(barriers="neighbour")
    assert cs.verify(program, contention_free=True).holds
    with pytest.raises(cs.UsageError, match="groups are not renumbered"):
        plan.renumbered()
    with pytest.raises(cs.UsageError, match="group"):
        cs.export(plan, "msccl")


WRONG = [
    ({"groups": [[0, 1], [1, 2]]}, "rank 1 is in a group twice"),
    ({"groups": [[0, 16]]}, "rank 16 is out of range: ranks are 0 to 15"),
    ({"groups": [[0, 1.5]]}, "whole number"),
    ({"groups": [[0, "1"]]}, "whole number"),
    ({"groups": "xz"}, "no dimension z: the torus has 2"),
    ({"groups": "rows"}, "`rows` names no dimensions"),
    ({"groups": ""}, "names no dimensions"),
    ({"groups": cs.Blocks(3, 2)}, "3x2 does not cut 4x4 in equal boxes"),
    ({"groups": cs.Blocks(2)}, "2 does not cut 4x4"),
    ({"groups": [0, 1, 2]}, "a group is a list of ranks, not 0"),
    ({"groups": ["0-3"]}, "a group is a list of ranks, not '0-3'"),
    ({"groups": [{0, 1}]}, "a group is a list of ranks, not {0, 1}"),
    ({"groups": 4}, "groups are lists of ranks, not 4"),
    ({"groups": []}, "no group is given"),
    ({"groups": [[0], []]}, "member"),
    ({"relays": False}, "about groups, and none are stated"),
    ({"groups": "x", "relays": "no"}, "True or False, not 'no'"),
    ({"groups": "x", "collective": "broadcast", "root": 4}, "no member 4"),
]


@pytest.mark.parametrize("call", [cs.plan, cs.bounds, cs.pareto, cs.compare], ids=lambda call: call.__name__)
@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
def test_what_is_refused(call, options, message):
    with pytest.raises(cs.UsageError, match=message) as raised:
        call(DEAD, **options)
    assert raised.value.exit_code == 2


def test_groups_that_can_be_read_once_are_refused():
    for groups in (iter([[0, 1]]), [iter([0, 1])]):
        with pytest.raises(cs.UsageError, match=r"list.* of ranks, not <list_iterator"):
            cs.plan(DEAD, groups=groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"collective": "broadcast", "root": (1, 0)}, "the place of a member"),
        ({"collective": "all_to_allv", "demand": [[1] * 16] * 16}, "takes no groups"),
        ({"planner": "ring"}, "plans no groups"),
        ({"form": "compact"}, "no compact form"),
    ],
    ids=str,
)
def test_what_does_not_go_with_groups(options, message):
    with pytest.raises(cs.UsageError, match=message):
        cs.plan(DEAD, groups="x", **options)
    graph = cs.Topology.graph(4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
    with pytest.raises(cs.UsageError, match="an explicit graph has no dimensions"):
        cs.plan(graph, groups="x")
    assert cs.plan(graph, groups=[[0, 2], [1, 3]]).groups == [[0, 2], [1, 3]]


def test_bounds_trades_and_comparisons_in_groups():
    words = [*DEAD.command_words, "--collective", "all_gather", "--group", "3,0-2,4", "--group", "9,15,12,7,8,10,13"]
    found = cs.command_json("bound", *words, "--format", "json")["bounds"]
    assert [(one["figure"], one["words"]) for one in cs.bounds(DEAD, "all_gather", groups=ODD)] == [
        (one["figure"], one["words"]) for one in found
    ]
    stated = cs.command_json("pareto", *words, "--parts", "1,2", "--format", "json")
    assert cs.pareto(DEAD, "all_gather", groups=ODD, parts=[1, 2]) == stated
    compared = cs.compare(DEAD, "all_to_all", groups="x", relays=False, planners=["negotiated"], parts=[1])
    assert "negotiated" in str(compared)


def test_surveys_in_groups():
    jobs = [cs.Torus(4, 4), cs.Job(DEAD, options={"groups": cs.Blocks(2, 2)})]
    outcomes = list(cs.survey(jobs, groups="x"))
    assert [len(outcome.plan.groups) for outcome in outcomes] == [4, 4]
    assert outcomes[1].plan == cs.plan(DEAD, groups=cs.Blocks(2, 2))


JOB = [
    {"collective": "all_gather", "groups": "x", "bytes": "8KiB"},
    {"collective": "all_to_all", "groups": [[0, (1, 0), 4], [9, 15]], "relays": True, "bytes": 4096},
    {"collective": "reduce", "groups": cs.Blocks(2, 2), "root": 1, "bytes": 4096},
    {"collective": "broadcast", "root": (1, 1), "bytes": 4096},
    {"collective": "all_to_allv", "demand": np.arange(256).reshape(16, 16) % 3, "bytes": 4096},
    {"collective": "barrier"},
]


def test_a_job_is_planned_whole(tmp_path):
    job = cs.plan_job(DEAD, JOB, seed=3)
    assert [plan.collective for plan in job.schedules] == [one["collective"] for one in JOB]
    assert job.schedules[1].groups == [[0, 1, 4], [9, 15]]
    assert job.schedules[3].root == 5
    exchange = job.schedules[4]
    np.testing.assert_array_equal(exchange.demand, exchange.parts * (np.arange(256).reshape(16, 16) % 3))
    assert job.bound <= job.total_width == sum(job.widths)
    assert job.topology == DEAD
    assert {plan.steps for plan in job.schedules} == {job.steps} == {job.figures["steps"]["value"]}
    # Every schedule is a plan as others are: it is lowered, and gives what its definition says.
    for plan, one in zip(job.schedules, JOB, strict=True):
        assert plan.lower().figures["workers"] > 0
        if one["collective"] == "all_gather":
            given = operand(plan, np.int64)
            np.testing.assert_array_equal(simulated(plan, given), expected(plan, given))
    assert job == cs.plan_job(DEAD, JOB, seed=3, threads=1) == pickle.loads(pickle.dumps(job))
    job.save(tmp_path / "job.json.gz")
    assert cs.load_job(tmp_path / "job.json.gz") == job
    assert cs.verify(job)
    with pytest.raises(cs.UsageError, match=r"bytes: this is a job\nhint: `cs.load_job` reads it"):
        cs.load(job.to_json().encode())
    with pytest.raises(cs.UsageError, match=r"object: this is a schedule\nhint: `cs.load` reads it"):
        cs.load_job(job.schedules[0].to_dict())
    with pytest.raises(cs.UsageError, match=r"this is a rank program\nhint: `cs.verify` judges it"):
        cs.load_job(job.schedules[0].lower().to_json().encode())
    assert "schedule 5" in job.view().html
    assert repr(job).startswith("<PlannedJob: all_gather, all_to_all, reduce, broadcast, all_to_allv, barrier on ")


def test_jobs_that_are_refused():
    for wrong, words in [
        ("all_gather", "a list of dicts"),
        ([], "at least one collective"),
        (["all_gather"], "is a dict"),
        ([{"collective": "all_gatherr"}], "no collective `all_gatherr`"),
        ([{"collective": "all_gather", "size": 3}], "collective 0 has no option size"),
        ([{"kind": "all_gather"}], "collective 0 has no option kind\nhint: it has collective, groups, "),
        ([{"collective": "all_gather", "bytes": object()}], "neither text nor a number"),
        ([{"collective": "broadcast", "root": 16}], "16"),
        ([{"collective": "all_to_allv", "demand": [[1, 2]]}], "square matrix"),
        ([{"collective": "all_to_allv"}], "needs a `demand`"),
    ]:
        with pytest.raises(cs.UsageError, match=words):
            cs.plan_job((4, 4), wrong)
    with pytest.raises(
        cs.UsageError, match=r"^plan_job has no option part; did you mean parts\?\nhint: it has parts, "
    ):
        cs.plan_job((4, 4), [{"collective": "all_gather"}], part=3)
    job = cs.plan_job((2, 2), [{"collective": "broadcast"}, {"collective": "broadcast", "root": 1}])
    twice = json.loads(job.to_json())
    twice["schedules"][1] = twice["schedules"][0]
    del twice["bound"]
    with pytest.raises(cs.Refuted, match="J002"):
        cs.load_job(twice)
