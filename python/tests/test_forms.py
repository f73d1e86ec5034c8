"""The compact form: the same bytes as the command, figures without expanding, every move on demand."""

import pickle
import subprocess

import numpy as np
import pytest
from definitions import expected, operand, simulated

import collsynth as cs

DEAD = cs.Torus(4, 4, 4).fail_cable(0, 1)


def of_command(plan, *words):
    line = [*plan.origin["command"].split(), *words, "-q"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def pod():
    return cs.plan(cs.Torus(8, 8, 8).fail_cable(0, 1))


def test_from_512_ranks_on_plans_are_compact(pod):
    assert pod.form == "compact"
    assert pod.to_json() == of_command(pod)
    assert pod.origin["planner"] == "mended"
    assert len(pod.to_json()) < 1_200_000


def test_figures_are_those_of_the_moves_without_them(pod):
    figures = (pod.steps, pod.steps_bound, pod.widths, pod.volume, pod.bound, pod.gap, pod.figures["moves"])
    assert pod._schedule.is_expanded is False, "no figure needs every move"
    every = pod.expand()
    assert (every.form, every.expand() is every) == ("explicit", True)
    assert figures[:-1] == (every.steps, every.steps_bound, every.widths, every.volume, every.bound, every.gap)
    assert len(pod.moves) == len(every.moves) == figures[-1]
    assert pod.form == "compact"
    assert every.to_json() == of_command(pod, "--form", "explicit")
    # The bound is 65536/127, the schedule of whole messages one of 517.
    assert (pod.steps, pod.volume, pod.bound.limit_denominator(1000)) == (12, 517, pod.bound)


@pytest.mark.parametrize(
    ("kind", "options", "form"),
    [
        # From one root, nothing is repeated.
        ("scatter", {}, "explicit"),
        ("all_gather", {}, "compact"),
        # With a planner or groups, the planner of patterns is not asked.
        ("all_gather", {"planner": "matching"}, "explicit"),
        ("all_to_all", {"groups": cs.Blocks(2, 2, 2)}, "explicit"),
        ("all_to_all", {"max_steps": 13, "seed": 3}, "compact"),
    ],
)
def test_other_plans_of_512_ranks(kind, options, form):
    plan = cs.plan(cs.Torus(8, 8, 8).fail_rank(9), kind, **options)
    assert plan.form == form
    assert plan.to_json() == of_command(plan)


@pytest.mark.parametrize("form", ["compact", "explicit"])
@pytest.mark.parametrize("kind", ["all_to_all", "all_gather", "reduce_scatter"])
def test_a_stated_form(kind, form):
    plan = cs.plan(DEAD, kind, form=form)
    assert plan.form == form
    assert plan.to_json() == of_command(plan, "--form", form)
    other = cs.plan(DEAD, kind, form="compact" if form == "explicit" else "explicit")
    assert (plan.steps, plan.volume, plan.bound) == (other.steps, other.volume, other.bound)
    assert len(plan.moves) == len(other.moves)


def test_one_form_and_the_other(tmp_path):
    explicit = cs.plan(DEAD)
    assert explicit.form == "explicit"
    compact = explicit.compact()
    assert compact == cs.plan(DEAD, form="compact")
    assert compact != explicit
    assert compact.compact() is compact
    assert compact.to_json() == cs.command("convert", "-", "--to", "compact", text=explicit.to_json())
    assert compact.expand().to_json() == cs.command("convert", "-", "--to", "explicit", text=compact.to_json())
    np.testing.assert_array_equal(compact.moves, compact.expand().moves)
    assert compact.lower().to_json() == compact.expand().lower().to_json()
    assert compact.chunk_label(1) == explicit.chunk_label(1)
    with pytest.raises(cs.UsageError, match="no compact form"):
        cs.plan(cs.Torus(4, 4), "broadcast", root=1).compact()


def test_files_keep_their_form(tmp_path):
    plan = cs.plan(DEAD, form="compact")
    for name in ("plan.json", "plan.json.gz"):
        plan.save(tmp_path / name)
        read = cs.load(tmp_path / name)
        assert (read.form, read) == ("compact", plan)
        verdict = cs.verify(tmp_path / name)
        assert verdict.holds
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert cs.load(plan.to_dict()).form == "compact"
    assert cs.verify(plan).json["figures"]["steps"]["value"] == plan.steps
    assert read.figures["moves"] == len(plan.moves)
    assert str(read).startswith("all_to_all on a 4x4x4 torus with 1 failed cable")
    wrong = plan.to_dict()
    del wrong["steps"][0]["pattern"][0]
    assert not cs.verify(wrong)
    with pytest.raises(cs.Refuted, match="does not hold"):
        cs.load(wrong)


def test_results_are_those_of_the_definition():
    plan = cs.plan(DEAD, form="compact", parts=2)
    x = operand(plan, np.int64, (3,))
    np.testing.assert_array_equal(simulated(plan, x), expected(plan, x))
    assert cs.export(plan, "csv") == cs.export(plan.expand(), "csv")


def test_memory_is_what_the_judge_grants(monkeypatch):
    plan = cs.plan(DEAD, form="compact")
    monkeypatch.setenv("SYNTH_MAX_MEMORY", "10kB")
    for call in (lambda: plan.moves, plan.expand, plan.lower):
        with pytest.raises(
            cs.UsageError, match=r"takes (about )?\d+ MiB, more than the 0 MiB allowed: SYNTH_MAX_MEMORY"
        ):
            call()
    # What is known of it without every move stays known.
    assert plan.steps == 6
    monkeypatch.setenv("SYNTH_MAX_MEMORY", "some")
    with pytest.raises(cs.UsageError, match="write a size, as in 4GiB"):
        cs.load(plan.to_dict())
    monkeypatch.delenv("SYNTH_MAX_MEMORY")
    assert len(plan.expand().moves)


def test_what_is_refused():
    with pytest.raises(cs.UsageError, match=r"'short' for form\n  \[possible values: compact, explicit\]"):
        cs.plan(DEAD, form="short")
    with pytest.raises(cs.UsageError, match="no compact form"):
        cs.plan(cs.Topology.mesh(4, 4), form="compact")
