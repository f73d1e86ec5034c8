"""The kernel in the TPU interpreter, with its race detector: right, without races; and broken kernels are found out.

Up to 9 devices: with 16 on two cores, the callbacks of the interpreter block each other.
"""

import threading

import numpy as np
import pytest
from definitions import expected, operand

import collsynth as cs

jax = pytest.importorskip("jax", reason="left out: JAX is not installed")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import tpu as pltpu  # noqa: E402
from jax.sharding import Mesh  # noqa: E402

from collsynth.jax import pallas  # noqa: E402

interpreter = pytest.importorskip(
    "jax._src.pallas.mosaic.interpret.interpret_pallas_call", reason="left out: this JAX has no race detector to ask"
)

#: Seconds after which a kernel has been compiled, has run, or never will.
STANDSTILL = 150

TORI = {
    "ring 4": cs.Torus(4),
    "ring 4, dead cable": cs.Torus(4).fail_cable(0, 1),
    "2x4": cs.Torus(2, 4),
    "2x4, dead cable": cs.Torus(2, 4).fail_cable(0, 2),
    "3x3": cs.Torus(3, 3),
    "3x3, dead cable": cs.Torus(3, 3).fail_cable(0, 1),
}


@pytest.fixture(autouse=True)
def _fresh_interpreter():
    yield
    pltpu.reset_tpu_interpret_mode_state()


def carried_out(run, x):
    """The result of a kernel; one that stands still fails."""

    def give_up():
        interpreter._get_shared_memory().set_failed(TimeoutError("the kernel stands still"), top_level=False)

    timer = threading.Timer(STANDSTILL, give_up)
    timer.start()
    try:
        return np.asarray(run(jnp.asarray(x)))
    finally:
        timer.cancel()


def right_and_without_race(plan, dtype=np.float32):
    """Is the result that of the definition, and was there no race?"""
    run = pallas.collective(plan, "ranks", pltpu.InterpretParams(detect_races=True))
    on_mesh = run.on_mesh(Mesh(np.array(jax.devices()[: plan.topology.ranks]), ("ranks",)))
    x = operand(plan, dtype)
    same = np.array_equal(carried_out(on_mesh, x), expected(plan, x))
    return same, not interpreter.races.races_found


@pytest.mark.parametrize("kind", ["all_to_all", "all_gather", "all_reduce"])
@pytest.mark.parametrize("name", TORI)
def test_right_and_without_races(name, kind):
    assert right_and_without_race(cs.plan(TORI[name], kind, parts=1)) == (True, True)


@pytest.mark.parametrize("kind", ["reduce_scatter", "broadcast", "scatter"])
def test_other_kinds_and_types(kind):
    root = 1 if kind != "reduce_scatter" else None
    plan = cs.plan(TORI["ring 4, dead cable"], kind, parts=2, root=root)
    assert right_and_without_race(plan, np.int32) == (True, True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "bool", "complex64", "int8"])
@pytest.mark.parametrize("kind", ["all_to_all", "reduce_scatter"])
def test_types_that_a_core_does_not_know(kind, dtype):
    """Sums of float16 are rounded once, those of bool are whether any is true."""
    plan = cs.plan(TORI["ring 4, dead cable"], kind, parts=1)
    run = pallas.collective(plan, "ranks", pltpu.InterpretParams())
    x = jnp.asarray(operand(plan, np.float32)).astype(dtype)
    y = carried_out(run.on_mesh(Mesh(np.array(jax.devices()[:4]), ("ranks",))), x)
    wanted = expected(plan, np.asarray(x))
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("elements", [1024, 8192 + 128, 300_000])
def test_sums_of_long_chunks_are_formed_by_blocks(elements):
    plan = cs.plan(TORI["ring 4"], "all_reduce", parts=1)
    run = pallas.collective(plan, "ranks", pltpu.InterpretParams(detect_races=True))
    x = operand(plan, np.float32, (elements,))
    y = carried_out(run.on_mesh(Mesh(np.array(jax.devices()[:4]), ("ranks",))), x)
    np.testing.assert_array_equal(y, expected(plan, x))
    assert not interpreter.races.races_found


def test_a_dead_rank_stands_by():
    assert right_and_without_race(cs.plan(cs.Torus(3, 3).fail_rank(4), "all_to_all", parts=1)) == (True, True)


@pytest.mark.parametrize("kind", ["all_to_all", "all_reduce"])
def test_groups(kind):
    """Rank 4 relays, or stands by."""
    plan = cs.plan(TORI["3x3, dead cable"], kind, parts=1, groups=[[1, 0, 2], [3, 5, 8, 7, 6]])
    assert right_and_without_race(plan) == (True, True)


@pytest.mark.parametrize("waiting", ["await_arrived", "_meet"])
@pytest.mark.parametrize("kind", ["all_to_all", "all_reduce"])
def test_a_wait_taken_out_is_found_out(monkeypatch, waiting, kind):
    if waiting == "_meet":
        monkeypatch.setattr(pallas.KernelCollective, "_meet", lambda *_: None)
    else:
        monkeypatch.setattr(pallas, waiting, lambda *_: None)
    plan = cs.plan(TORI["2x4, dead cable"], kind, parts=2)
    # Where all devices happen to keep pace, nothing is missed.
    assert any(right_and_without_race(plan) != (True, True) for _ in range(5))


@pytest.mark.parametrize("shared", [False, True])
def test_a_semaphore_shared_between_steps_is_found_out(monkeypatch, shared):
    """One rank of a line is slow, and its neighbor's neighbor a step ahead."""
    add_up = pallas.KernelCollective._add_up

    def slow(self, own, at, scratch, local, added):
        def one(_, carry):
            # A scatter adds nothing up, so that nothing lands here.
            more, _ = at.buffers[-1]
            pltpu.sync_copy(more.at[more.shape[0] - 1, pl.ds(0, scratch.shape[1])], scratch.at[0])
            return carry

        lax.fori_loop(0, jnp.where(lax.axis_index("ranks") == 3, 60, 0), one, 0)
        add_up(self, own, at, scratch, local, added)

    monkeypatch.setattr(pallas.KernelCollective, "_add_up", slow)
    if shared:
        monkeypatch.setattr(pallas, "barrier_semaphore", lambda _: 0)
    plan = cs.plan(cs.Topology.mesh(6), "scatter", parts=2, root=0)
    # Who is a step ahead is up to the threads of the interpreter: a broken kernel has several chances to show it.
    found_out = any(right_and_without_race(plan) != (True, True) for _ in range(5 if shared else 1))
    assert found_out == shared


@pytest.mark.parametrize("names", [("y", "x"), ("x", "y"), ("a", "x"), ("x", "a")])
@pytest.mark.parametrize("kind", ["all_to_all", "all_reduce"])
def test_axes_in_any_order_and_others_besides(names, kind):
    """On a mesh of 2x2x2 for two names of three, and of 4x2 for both."""
    axes = {"x": 2, "b": 2, "a": 2} if "a" in names else {"x": 4, "y": 2}
    plan = cs.plan(cs.Torus(*(axes[name] for name in reversed(names))), kind, parts=1)
    kernel = pallas.collective(plan, names, pltpu.InterpretParams())
    x = operand(plan, np.float32)
    devices = np.array(jax.devices()[:8])
    # The same process has both orders: JAX 0.10's interpreter numbers devices as it did on the mesh that came first.
    for order in [list(axes), list(axes)[::-1]]:
        mesh = Mesh(devices.reshape([axes[name] for name in order]), order)
        np.testing.assert_array_equal(carried_out(kernel.on_mesh(mesh), x), expected(plan, x))


def test_axes_that_the_mesh_does_not_have():
    run = pallas.collective(cs.plan(cs.Torus(4), "all_reduce", parts=1), "ranks", True)
    with pytest.raises(cs.UsageError, match="the mesh has axes"):
        run.on_mesh(Mesh(np.array(jax.devices()[:4]), ("others",)))
