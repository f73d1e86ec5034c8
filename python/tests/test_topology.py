"""Machines: what they are built from, what fails in them, and what is refused."""

import json
import pickle

import numpy as np
import pytest

import collsynth as cs


def test_ranks_and_links():
    torus = cs.Torus(4, 3).fail_cable(0, 1).fail_link((2, 0), (3, 0)).fail_rank(7)
    assert torus.ranks == 12
    assert torus.live_ranks == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]
    dead = {(link.start, link.end) for link in torus.links if not link.alive}
    assert {(0, 1), (1, 0), (2, 3)} <= dead
    assert (3, 2) not in dead
    assert all(7 in pair for pair in dead - {(0, 1), (1, 0), (2, 3)})
    assert torus.rank((3, 2)) == 11
    assert torus.coordinates(11) == (3, 2)
    assert (torus.extents, torus.wrap, torus.capacity) == ((4, 3), (True, True), (1, 1))


def test_failing_changes_nothing_but_the_result():
    whole = cs.Torus(4, 4)
    whole.fail_rank(3)
    assert len(whole.live_ranks) == 16
    assert isinstance(whole.fail_rank(3), cs.Torus)


def test_meshes_and_capacities():
    mesh = cs.Topology.mesh(3, 3)
    assert mesh.wrap == (False, False)
    assert len(mesh.links) == 24
    torus = cs.Torus(4, 4, capacity=(2, 1))
    assert {link.capacity for link in torus.links if link.direction in ("x+", "x-")} == {2}
    assert cs.Torus(4, 4).capacities(2, 1) == torus
    with pytest.raises(cs.UsageError, match="before what failed"):
        cs.Torus(4, 4).fail_rank(0).capacities(2, 1)


def test_extents_may_be_a_tuple():
    assert cs.Torus((4, 4)) == cs.Torus([4, 4]) == cs.Torus(4, 4)
    assert cs.Torus((4, 4), wrap=False) == cs.Topology.mesh((4, 4)) == cs.Topology.mesh(4, 4)
    assert cs.Torus((4, 3), wrap=(True, False)).command_words == ["--torus", "4x3", "--wrap", "yes,no"]
    assert cs.Blocks((2, 2)) == cs.Blocks(2, 2)


@pytest.mark.parametrize(
    ("stated", "ranks"),
    [
        ([0, 1], {0, 1}),
        ((0, 1), {4}),
        ([(0, 1), 1], {4, 1}),
        (range(3), {0, 1, 2}),
        ({5, 6}, {5, 6}),
        (np.array([5, 6]), {5, 6}),
        (np.int64(5), {5}),
        ([], set()),
        ([2, 2], {2}),
    ],
    ids=str,
)
def test_lists_are_ranks_and_tuples_coordinates(stated, ranks):
    torus = cs.Torus(4, 4).fail_rank(stated)
    assert set(range(16)) - set(torus.live_ranks) == ranks
    assert cs.command("topology", *torus.command_words, "--format", "json") == torus.to_json()


CABLES = [
    [("fail_cable", 0, 1), ("fail_cable", 1, 0)],
    [("fail_cable", 0, 1), ("fail_cable", 0, "x+")],
    [("fail_cable", 0, 1), ("fail_link", 1, 0)],
    [("fail_link", 1, 0), ("fail_cable", 0, 1)],
    [("fail_link", 1, 0), ("fail_link", 0, 1), ("fail_cable", 0, 1)],
    [("fail_link", 1, 0), ("fail_link", 1, 0)],
    [("fail_link", 1, 0), ("fail_link", 2, 1), ("fail_rank", 0), ("fail_cable", 1, "x-"), ("fail_cable", 0, 1)],
    [("fail_rank", 3), ("fail_rank", 3), ("fail_cable", 3, 0), ("fail_cable", 0, 3)],
]
OPTIONS = {"fail_cable": "--fail", "fail_link": "--fail-link", "fail_rank": "--fail-rank"}


@pytest.mark.parametrize("extents", [(4, 4), (2, 4)])
@pytest.mark.parametrize("stated", CABLES, ids=str)
def test_what_is_failed_twice_counts_once(stated, extents):
    """As for the command, whatever the order: a cable raises an alarm at both ends."""
    if extents == (2, 4):
        # Two links join ranks 0 and 1 each way; a mesh has one.
        stated = [one for one in stated if 2 not in one and 3 not in one]
    torus = cs.Torus(*extents)
    words = torus.command_words
    for call, *ends in stated:
        torus = getattr(torus, call)(*ends)
        words += [OPTIONS[call], ",".join(map(str, ends))]
    assert cs.command("topology", *words, "--format", "json") == torus.to_json()
    assert cs.command("topology", *torus.command_words, "--format", "json") == torus.to_json()


def test_a_dead_switch_is_its_cables():
    whole = cs.Torus(8, 8)
    dead = whole.fail_switch("x:1")
    for start, end in ((11, 12), (15, 8), (43, 44), (47, 40)):
        whole = whole.fail_cable(start, end)
    assert dead == whole == dead.fail_switch("x:1") == cs.Torus(8, 8).fail_switch("x:1", period=(4, 4))
    assert str(dead) == "8x8 torus with 4 failed cables (switch x:1)"
    assert cs.command("topology", *dead.command_words, "--format", "json") == dead.to_json()
    with pytest.raises(cs.UsageError, match="along y it is one of 1, 2, 3, 6"):
        cs.Torus(8, 6).fail_switch("x:1")
    with pytest.raises(cs.UsageError, match="as in x:1,2"):
        cs.Torus(8, 8).fail_switch("x1")
    with pytest.raises(cs.UsageError, match=r"as in \(4, 4, 4\), not 2"):
        cs.Torus(8, 8).fail_switch("x:1", period=2)


def test_cables_of_graphs_and_double_links_count_once():
    graph = cs.Topology.graph(3, [(0, 1), (1, 0), (1, 2), (2, 1)])
    once = graph.fail_cable(0, 1)
    assert once == once.fail_cable(1, 0) == graph.fail_link(1, 0).fail_cable(0, 1) == once.fail_link(0, 1)
    double = cs.Torus(2, 2, wrap=True)
    both = double.fail_cable(0, 1, "x+").fail_cable(0, 1, "x-")
    assert sum(not link.alive for link in both.links) == 4
    assert both.fail_cable(1, 0, "x+") == both
    assert double.fail_link(0, 1, "x+").fail_cable(0, 1, "x+") == double.fail_cable(0, 1, "x+")


@pytest.mark.parametrize(
    "torus",
    [
        cs.Torus(4, 4),
        cs.Torus(4, 4, wrap=(True, False)).fail_cable(0, 1, "x"),
        cs.Torus(2, 2, wrap=True).fail_link(0, 1, "x+"),
        cs.Torus(4, 4, capacity=2).fail_rank((1, 1)).fail_rank(2).fail_cable(8, 9),
        cs.Torus(4, 4).fail_cable(2, "x+").fail_link((0, 1), "y-"),
    ],
    ids=str,
)
def test_the_command_knows_the_same_machine(torus):
    assert cs.command("topology", *torus.command_words, "--format", "json") == torus.to_json()
    again = cs.Topology.from_json(torus.to_json())
    assert again == torus
    assert hash(again) == hash(torus)
    assert pickle.loads(pickle.dumps(torus)).command_words == torus.command_words


def test_files_and_graphs(tmp_path):
    ring = cs.Topology.graph(3, [(0, 1), (1, 2, 2), (2, 0)])
    assert ring.command_words is None
    assert [tuple(link[:4]) for link in ring.links] == [(0, 1, 1, None), (1, 2, 2, None), (2, 0, 1, None)]
    path = tmp_path / "machine.json"
    path.write_text(ring.to_json())
    assert cs.Topology.load(path) == ring
    assert cs.Topology.load(path).command_words == ["--topology", str(path)]


def test_a_machine_is_that_of_what_was_planned_for_it(tmp_path):
    torus = cs.Torus(4, 2, capacity=(2, 1)).fail_cable(0, 1)
    plan, path = cs.plan(torus, "all_gather"), tmp_path / "plan.json.gz"
    for planned in (plan, cs.plan_job(torus, [{"collective": "all_gather"}])):
        planned.save(path)
        machine = cs.Topology.load(path)
        assert machine == torus
        assert cs.command("topology", *machine.command_words, "--format", "json") == torus.to_json()
    assert cs.Topology.from_json(plan.lower().to_json()) == torus
    without = json.loads(plan.lower().to_json())
    del without["topology"]
    with pytest.raises(cs.UsageError, match="states no machine"):
        cs.Topology.from_json(without)


def test_a_machine_says_what_its_links_carry():
    assert repr(cs.Torus(4, 4, capacity=(2, 1))) == "<Torus: 4x4 torus, capacity 2,1>"
    assert repr(cs.Torus(4, 4, capacity=1)) == "<Torus: 4x4 torus>"
    assert repr(cs.Topology.graph(2, [(0, 1, 3), (1, 0, 1)])) == "<Topology: graph of 2 ranks, capacity 1,3>"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: cs.Torus(), "between 1 and 255 dimensions"),
        (lambda: cs.Torus(0, 4), "extent is at least 1"),
        (lambda: cs.Torus(-1), "between 0 and 2\\^32"),
        (lambda: cs.Torus(4.0), "whole number"),
        (lambda: cs.Torus(True, 4), "an extent is a whole number, not True"),
        (lambda: cs.Torus(4, 4, wrap=[True]), "one entry per dimension"),
        (lambda: cs.Torus(4, 4).fail_cable(0, 5), "not neighbors"),
        (lambda: cs.Torus((4, "x")), "an extent is a whole number, not 'x'"),
        (lambda: cs.Torus((4, 4), 4), "an extent is a whole number, not \\(4, 4\\)"),
        (lambda: cs.Torus(4, 4, wrap="no"), "wrap is stated once"),
        (lambda: cs.Torus(4, 4, wrap=[1, 0]), "wrap is True or False"),
        (lambda: cs.Torus(4, 4, capacity="2"), "capacity is stated once"),
        (lambda: cs.Torus(4, 4).fail_cable([0, 1], 2), "a rank is a number or a tuple of coordinates, not \\[0, 1\\]"),
        (lambda: cs.Torus(4, 4).rank([0, 1]), "hint: write \\(0, 1\\)"),
        (lambda: cs.Torus(4, 4).fail_rank([[0, 1]]), "a tuple of coordinates"),
        (lambda: cs.Torus(4, 4).fail_rank("3"), "a rank is a whole number, not '3'"),
        (lambda: cs.Topology.from_json(3), "text or an object, not 3"),
        (lambda: cs.Torus(4, 4).fail_cable(0, 1, "y"), "not neighbors in y"),
        (lambda: cs.Torus(4, 4).fail_rank(16), "out of range"),
        (lambda: cs.Torus(4, 4).fail_rank((4, 0)), "not a position"),
        (lambda: cs.Topology.graph(2, [(0, 0)]), "to itself"),
        (lambda: cs.Torus(1 << 20, 1 << 20), "more than"),
    ],
)
def test_what_makes_no_machine(wrong, message):
    with pytest.raises(cs.UsageError, match=message):
        wrong()


def test_a_broken_file_has_a_place():
    with pytest.raises(cs.Unreadable) as raised:
        cs.Topology.from_json('{"torus": [4, 4],\n "failed_rank": [1]}')
    assert (raised.value.line, raised.value.code) == (2, "F002")
    assert pickle.loads(pickle.dumps(raised.value)).line == 2


def test_a_notebook_sees_the_machine():
    drawn = cs.Torus(4, 4).fail_cable(5, 6).fail_rank(0)._repr_html_()
    assert drawn.count("<circle") >= 16
    assert "#d22" in drawn
    assert "#d22" not in cs.Torus(4, 4)._repr_html_()


def test_a_machine_from_a_file_is_that_of_the_time_it_was_read(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    path.write_text(cs.Torus(4, 4).to_json())
    machine = cs.Topology.load(path)
    path.write_text(cs.Torus(2, 2).to_json())
    # What was no file has no name that a file could have.
    stated = cs.Topology.load(json.loads(machine.to_json()))
    (tmp_path / "object").write_text(cs.Torus(2, 2).to_json())
    monkeypatch.chdir(tmp_path)
    for one in (machine, stated):
        assert cs.bounds(one, "all_gather") == cs.bounds((4, 4), "all_gather")
        job = cs.plan_job(one, [{"collective": "all_gather", "parts": 1}])
        assert job.topology.ranks == cs.plan(one, "all_gather").topology.ranks == 16
        assert (
            cs.pareto(one, "all_gather")["points"][0]["steps"] == cs.pareto((4, 4), "all_gather")["points"][0]["steps"]
        )
    command = json.loads(cs.plan_job(machine, [{"collective": "all_gather"}]).to_json())["origin"]["command"]
    assert command.startswith(f"synth --topology {path} --job")
    path.unlink()
    assert cs.bounds(machine, "all_gather") == cs.bounds((4, 4), "all_gather")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cs.Torus(4, 4).rank((5,)), "a coordinate for one dimension, and this torus has 2"),
        (lambda: cs.Torus(4, 4).fail_rank((7,)), "a coordinate for one dimension"),
        (lambda: cs.Torus(4, 4).fail_cable((0,), 1), "a coordinate for one dimension"),
        (lambda: cs.Topology.graph(2, [(0, 1)]).rank((1,)), "a coordinate for one dimension, and a graph has none"),
        (lambda: cs.Torus(4, wrap=()), "this one is empty"),
        (lambda: cs.Torus(4, capacity=()), "this one is empty"),
        (lambda: cs.Topology.graph(2, [(0, 1, 5, 9)]), "a link is .from, to. or .from, to, capacity."),
        (lambda: cs.Topology.graph(2, [(0,)]), "a link is"),
        (lambda: cs.Topology.graph(2, [5]), "a link is"),
        (lambda: cs.load("a\0b"), "a path has no zero byte"),
    ],
)
def test_what_no_machine_has(call, message):
    with pytest.raises(cs.UsageError, match=message):
        call()
    assert cs.Torus(8).rank((5,)) == 5
