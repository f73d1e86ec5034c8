"""Plans for operands of a shape and type: their parts are whole tiles."""

import numpy as np
import pytest

import collsynth as cs

jax = pytest.importorskip("jax", reason="left out: JAX is not installed")

from collsynth.jax._tiles import sublanes  # noqa: E402


@pytest.mark.parametrize(
    ("elements", "itemsize", "rows"),
    [(1, 4, 1), (129, 4, 2), (3 * 128, 4, 4), (5 * 128, 4, 8), (9 * 128, 4, 16), (1, 2, 2), (1, 1, 4), (0, 2, 2)],
)
def test_rows_of_a_chunk(elements, itemsize, rows):
    assert sublanes(elements, itemsize) == rows


@pytest.mark.parametrize("kind", ["all_to_all", "all_gather", "reduce_scatter", "all_reduce"])
@pytest.mark.parametrize("rows", [8, 64, 1000, 4096])
def test_hardly_more_is_sent_than_the_plan_says(kind, rows):
    torus = cs.Torus(4, 4).fail_cable(0, 1)
    shape = ((16,) if kind in ("all_to_all", "reduce_scatter") else ()) + (rows, 128)
    plan = cs.jax.plan(torus, kind, shape, "bfloat16")
    sent = plan.parts * sublanes(rows * 128 // plan.parts, 2)
    assert sent <= 1.05 * rows or rows < 64
    # By the price of permutes, few steps are worth more volume.
    assert plan.steps <= 3 * plan.steps_bound


def test_what_is_stated_is_kept():
    line = cs.Topology.mesh(8)
    few = cs.jax.plan(line, "all_reduce", (4096, 128), np.float32, machine="v5e", max_steps=14)
    assert few.steps <= 14
    # Where steps cost nothing, the default's volume is worth all of its steps.
    cheap = cs.jax.plan(line, "all_reduce", (4096, 128), np.float32, alpha=0, bandwidth="1GB/s")
    dear = cs.jax.plan(line, "all_reduce", (4096, 128), np.float32, alpha="1ms", bandwidth="100GB/s")
    assert dear.steps < cheap.steps
    assert dear.volume > cheap.volume
    demand = cs.jax.plan(cs.Torus(4), "all_to_allv", (5, 100), np.int8, demand=np.arange(16).reshape(4, 4) % 3)
    assert demand.collective == "all_to_allv"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"machine": "v9"}, "machine is one of v4, v5e, v5p, v6e"),
        ({"parts": 3}, "parts follows from the operand"),
        ({"message_bytes": "1MiB"}, "message_bytes follows from the operand"),
        ({"alpha": "soon"}, "alpha"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(cs.UsageError, match=message):
        cs.jax.plan((4, 2), "all_reduce", (64,), "float32", **options)
    with pytest.raises(cs.UsageError, match="dtype is a type of elements, such as 'float32' or 'bfloat16', not 'bf16'"):
        cs.jax.plan((4, 2), "all_reduce", (64,), "bf16")
    with pytest.raises(cs.UsageError, match=r"shape is that of the operand at each rank, as in \(8, 128\), not 64"):
        cs.jax.plan((4, 2), "all_reduce", 64, "float32")
    with pytest.raises(cs.UsageError, match=r"takes \(8, ...\)"):
        cs.jax.plan((4, 2), "all_to_all", (7, 64), "float32")
