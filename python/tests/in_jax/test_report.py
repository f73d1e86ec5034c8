"""What is read from the text of a compiled program; and the command, where libtpu is installed."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="left out: JAX is not installed")

from collsynth.jax.report._hlo import Program, size_of

#: A permute and an update in place, in a loop of three turns.
TEXT = (pathlib.Path(__file__).parent / "loop.hlo").read_text()


def test_sizes_of_arrays_are_padded_to_tiles():
    assert size_of("bf16[2,16,128]{2,1,0:T(8,128)(2,1)}") == 2 * 16 * 128 * 2
    assert size_of("f32[3,100]{1,0:T(8,128)}") == 8 * 128 * 4
    assert size_of("f32[100,3]{0,1:T(8,128)}") == 8 * 128 * 4
    assert size_of("s8[7]{0}") == 7
    assert size_of("pred[7]{0}") == 7
    in_vector_memory = "bf16[2,16,128]{2,1,0:T(8,128)(2,1)S(1)}"
    assert (size_of(in_vector_memory), size_of(in_vector_memory, all_memories=True)) == (0, 8192)


def test_a_loop_counts_as_often_as_it_runs():
    program = Program(TEXT)
    (permute,) = program.permutes
    assert (permute.size, permute.pairs, permute.times) == (8192, [(0, 1), (1, 0)], 3)
    assert program.has_loops
    assert program.under_way == 1
    # By turn: a slice is read and written, sent from HBM to vector memory, and put in place, where it is read there.
    assert program.traffic == 3 * (2 * 8192 + 8192 + 8192) + 2 * 8 * 4096


def test_what_is_no_program():
    with pytest.raises(ValueError, match="no ENTRY"):
        Program("HloModule nothing")


def report(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "collsynth.jax.report", *arguments], capture_output=True, text=True, check=False
    )


needs_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None, reason="left out: libtpu is not installed, which compiles for TPUs"
)


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is not None, reason="left out: libtpu is installed")
def test_without_libtpu():
    done = report("v5p:4x4x4")
    assert (done.returncode, done.stdout) == (2, "")
    assert "hint: pip install libtpu" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["v5p:4x4x4", "--chunk-bytes", "100"], "a multiple of 512 bytes"),
        (["v5p:4x4x4", "--kind", "gather"], "invalid choice"),
        ([], "required: machine"),
    ],
)
def test_what_is_refused(arguments, message):
    done = report(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@needs_libtpu
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["v5x:4x4"], "knows no machine v5x:4x4"),
        (["4x4"], "named like v5p:4x4x4"),
        (["v5e:2x2", "--fail", "0,99"], "rank 99 is out of range"),
        (["v5e:2x2", "--dtype", "float12"], "float12"),
        (["v5e:2x2", "--in-chip", "2", "--program", "xla"], "in_chip=2 is about chips with two devices"),
        (["v4:2x2x2", "--in-chip", "0"], "capacity"),
    ],
)
def test_what_no_machine_has(arguments, message):
    done = report(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@needs_libtpu
def test_a_report():
    done = report("v5e:2x2", "--no-wrap", "--fail", "0,x+", "--kind", "all_gather", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["program"] for row in found["rows"]] == ["permutes", "kernel"], "XLA cannot be told of a failed cable"
    permutes, _ = found["rows"]
    assert (permutes["farthest"], permutes["sent_over_needed"], permutes["loops"]) == (1, 1.0, False)
    assert 0 < permutes["sent_bytes"] < permutes["counted_bytes"]


@needs_libtpu
def test_what_cannot_be_printed_is_left_out():
    one = ["--kind", "all_gather", "--program"]
    shown = report("tpu7x:2x2x2", *one, "xla")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[1].split()[3:6] == ["-", "-", "-"]
    done = report("tpu7x:2x2x2", *one, "xla", *one[2:], "permutes", "--format", "json")
    xla, permutes = json.loads(done.stdout)["rows"]
    assert xla["counted_bytes"] > 0
    assert xla["permutes"] is None
    assert (permutes["farthest"], permutes["sent_over_needed"]) == (1, 1.0)
