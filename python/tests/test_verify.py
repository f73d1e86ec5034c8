"""Verdicts: schedules with the classical mistakes are refused, from Python as from the command."""

import json
import os
from pathlib import Path

import pytest

import collsynth as cs

# The tests may run from a copy, beside the installed wheel.
SCHEDULES = Path(os.environ.get("SYNTH_ROOT", Path(__file__).parents[2])) / "schedules"
REJECTED = sorted(path for path in (SCHEDULES / "rejected").rglob("*.json") if not path.name.startswith("topology"))


def test_there_are_rejected_schedules():
    assert len(REJECTED) > 20


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: str(path.relative_to(SCHEDULES)))
def test_the_verdict_is_the_command_s(path):
    done = cs.command_json("verify", "--format", "json", path)["files"][0]
    if done["verdict"] == "unreadable":
        with pytest.raises(cs.UsageError) as raised:
            cs.verify(path)
        if "line" in done:
            assert (raised.value.code, raised.value.line) == (done["code"], done["line"])
        else:
            assert done["message"] in str(raised.value)
        return
    verdict = cs.verify(path)
    assert verdict.json == done
    assert verdict.holds == (done["verdict"] == "holds")
    if not verdict.holds:
        with pytest.raises(cs.Refuted) as raised:
            verdict.raise_for_violations()
        assert raised.value.code == verdict.violations[0].code == done["violations"][0]["code"]


def test_right_schedules_hold():
    for path in SCHEDULES.glob("*.json"):
        assert cs.verify(path).raise_for_violations().holds


def test_all_sources_give_one_verdict(tmp_path):
    plan = cs.plan(cs.Torus(3, 3))
    wrong = plan.to_dict()
    del wrong["steps"][0]["transfers"][0]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(wrong))
    verdicts = [cs.verify(path), cs.verify(str(path)), cs.verify(path.read_bytes()), cs.verify(wrong)]
    assert all(not verdict for verdict in verdicts)
    assert len({str(verdict.violations[0].code) for verdict in verdicts}) == 1
    assert cs.verify(plan).holds
    assert len(cs.verify(wrong, max_errors=1).violations) == 1
    with pytest.raises(cs.Refuted, match="does not hold"):
        cs.load(wrong)


def test_programs_on_other_machines():
    plan = cs.plan(cs.Torus(4))
    assert cs.verify(plan.lower(barriers="neighbour"), contention_free=True).holds
    assert not cs.verify(plan.lower(), topology=cs.Torus(4).fail_cable(0, 1)).holds
    assert cs.verify(plan.lower(), topology=cs.Torus(4), rank_map=[1, 2, 3, 0]).holds
    with pytest.raises(cs.UsageError, match="needs a topology"):
        cs.verify(plan.lower(), rank_map=[0, 1, 2, 3])
    # A schedule too.
    assert not cs.verify(plan, topology=cs.Torus(4).fail_cable(0, 1)).holds
    assert cs.verify(plan, topology=cs.Torus(4)).holds
    with pytest.raises(cs.UsageError, match="for rank programs"):
        cs.verify(plan, topology=cs.Torus(4), rank_map=[1, 2, 3, 0])
    with pytest.raises(cs.UsageError, match="the machine has 5"):
        cs.verify(plan, topology=cs.Torus(5))


def test_bounds_are_found_on_request():
    plain = cs.plan(cs.Torus(4)).to_dict()
    plain.pop("bounds", None)
    assert cs.verify(plain).json["figures"]["volume"]["bound"] is None
    assert cs.verify(plain, bounds=True).json["figures"]["volume"]["standing"] == "optimal"


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"\x1f\x8bnot gzip", b"<algo/>", b"{}", b"[" * 100_000])
def test_rubbish_is_unreadable(text):
    with pytest.raises(cs.UsageError):
        cs.verify(text)


def test_no_such_file():
    with pytest.raises(cs.UsageError, match="cannot read"):
        cs.verify("nowhere.json")


@pytest.mark.parametrize("call", [cs.load, cs.verify])
@pytest.mark.parametrize(
    ("text", "python"),
    [
        (b'<algo name="a">', '`cs.import_(FILE, "msccl")` judges it'),
        (b'<Algo nchunkspernode="1">', '`cs.import_(FILE, "forestcoll", topology)` judges them'),
        (b'{"7-Flows": []}', '`cs.import_(FILE, "teccl", topology, collective=NAME)` judges it'),
        (b"[[0, 1], [1, 0]]", '`cs.plan(topology, "all_to_allv", demand=...)` plans for it'),
        (b"step,from,to,via,op,chunk,label\n", '`cs.import_(FILE, "csv", topology, collective=NAME)` judges it'),
        (b'{"torus": [4]}', "`cs.Topology.load(FILE)` shows it, `cs.plan(cs.Topology.load(FILE))` plans for it"),
    ],
)
def test_other_files_are_named_with_the_call_that_takes_them(call, text, python):
    with pytest.raises(cs.UsageError) as raised:
        call(text)
    assert python in str(raised.value)
    assert "synth" not in str(raised.value)
