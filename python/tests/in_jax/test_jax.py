"""Plans in JAX: every kind equals its definition, and so do the gradients; the program is one of permutations."""

import functools
import itertools
import os
from types import SimpleNamespace

import definitions
import numpy as np
import pytest

import collsynth as cs

jax = pytest.importorskip("jax", reason="left out: JAX is not installed")
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

from collsynth.jax import collective, device_order, torus_of  # noqa: E402

KINDS = [
    "all_to_all",
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "all_reduce_gathered",
    "broadcast",
    "reduce",
    "scatter",
    "gather",
]
ROOTED = ("broadcast", "reduce", "scatter", "gather")
TORI = {"ring 8": (8,), "2x4": (2, 4), "4x4": (4, 4), "3x3": (3, 3)}
STATES = {
    "intact": lambda torus: torus,
    "dead cable": lambda torus: torus.fail_cable(0, 1),
    "dead rank": lambda torus: torus.fail_rank(3),
}
CASES = list(itertools.product(TORI, STATES, KINDS))
#: 64 devices intact and with a dead rank take minutes.
FULL = bool(os.environ.get("SYNTH_FULL"))
#: Compiling is what takes the time, not running.
FAST = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}


def planned(torus, kind, parts=1, root=2):
    return cs.plan(torus, kind, parts=parts, root=root if kind in ROOTED else None)


def mesh_of(ranks, shape=None, names=("ranks",)):
    if len(jax.devices()) < ranks:
        pytest.skip(f"left out: {ranks} devices are needed")
    return Mesh(np.array(jax.devices()[:ranks]).reshape(shape or ranks), names)


def operand(plan, dtype, trailing=(5,)):
    """An operand of small whole numbers, whose sums are exact in every type."""
    ranks = plan.topology.ranks
    rows = plan.collective in ("all_to_all", "reduce_scatter", "scatter")
    shape = (ranks, *((ranks,) if rows else ()), *trailing)
    return jnp.asarray(np.random.default_rng(7).integers(-4, 5, shape), dtype)


def expected(plan, x):
    """The definition of the kind, on the operands of all ranks: axis 0 is the rank."""
    ranks, live, kind, root = plan.topology.ranks, jnp.array(plan.topology.live_ranks), plan.collective, plan.root
    alive = jnp.zeros(ranks, bool).at[live].set(True)

    def masked(y, *axes):
        for axis in axes:
            y = jnp.where(jnp.expand_dims(alive, [other for other in range(y.ndim) if other != axis]), y, 0)
        return y

    def everywhere(y):
        return masked(jnp.broadcast_to(y, (ranks, *y.shape)), 0)

    def at_root(y):
        return jnp.zeros((ranks, *y.shape), y.dtype).at[root].set(y)

    total = masked(x, 0).sum(axis=0, dtype=x.dtype)
    return {
        "all_to_all": lambda: masked(jnp.swapaxes(x, 0, 1), 0, 1),
        "all_gather": lambda: everywhere(masked(x, 0)),
        "reduce_scatter": lambda: masked(total, 0),
        "all_reduce": lambda: everywhere(total),
        "all_reduce_gathered": lambda: everywhere(total),
        "broadcast": lambda: everywhere(x[root]),
        "reduce": lambda: at_root(total),
        "scatter": lambda: masked(x[root], 0),
        "gather": lambda: at_root(masked(x, 0)),
    }[kind]()


def equals_its_definition(plan, trailing=(5,)):
    """In f32, bf16 and i32, and the gradient, in one program that is compiled once."""
    ranks = plan.topology.ranks
    run, spec = collective(plan, "ranks"), PartitionSpec("ranks")
    assert max(run.permutations) <= 2 * len(plan.topology.extents)

    def shard(x, tables):
        return run(x[0], tables)[None]

    mapped = jax.shard_map(shard, mesh=mesh_of(ranks), in_specs=(spec, spec), out_specs=spec, check_vma=False)

    def all_types(f, x, weights):
        y, pulled_back = jax.vjp(f, x)
        return y, pulled_back(weights)[0], f(x.astype(jnp.bfloat16)), f(x.astype(jnp.int32))

    def ours(x, weights, tables):
        return all_types(lambda x: mapped(x, tables), x, weights)

    def theirs(x, weights):
        return all_types(lambda x: expected(plan, x), x, weights)

    x = operand(plan, jnp.float32, trailing)
    wanted = jax.eval_shape(lambda x: expected(plan, x), x)
    # Weights make every element count on its own; all sums of them are exact.
    weights = jnp.arange(wanted.size, dtype=jnp.float32).reshape(wanted.shape) % 1021
    found = jax.jit(ours, compiler_options=FAST)(x, weights, run.tables)
    for one, other in zip(found, jax.jit(theirs, compiler_options=FAST)(x, weights), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(one, np.float32), np.asarray(other, np.float32))


@pytest.mark.parametrize(("name", "state", "kind"), CASES)
def test_every_kind_equals_its_definition(name, state, kind):
    equals_its_definition(planned(STATES[state](cs.Torus(*TORI[name])), kind, parts=2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", STATES if FULL else ["dead cable"])
def test_64_devices(state, kind):
    equals_its_definition(planned(STATES[state](cs.Torus(4, 4, 4)), kind), (3,))


#: Of two sizes, out of order; ranks 5, 6, 11 and 14 relay, or stand by.
GROUPS = [[3, 0, 1, 2, 4], [9, 15, 12, 7, 8, 10, 13]]


@pytest.mark.parametrize("kind", KINDS)
def test_groups_equal_their_definition(kind):
    torus = cs.Torus(4, 4).fail_cable(0, 1)
    plan = cs.plan(torus, kind, parts=2, max_steps=40, groups=GROUPS, root=2 if kind in ROOTED else None)
    run, spec = collective(plan, "ranks"), PartitionSpec("ranks")

    def shard(x, tables):
        return run(x[0], tables)[None]

    mapped = jax.shard_map(shard, mesh=mesh_of(16), in_specs=(spec, spec), out_specs=spec, check_vma=False)
    x = definitions.operand(plan, np.float32, (3,))

    @functools.partial(jax.jit, compiler_options=FAST)
    def with_gradient(x, weights):
        y, pulled_back = jax.vjp(lambda x: mapped(x, run.tables), x)
        return y, pulled_back(weights)[0]

    wanted = definitions.expected(plan, x)
    weights = (np.arange(wanted.size, dtype=np.float32) % 13).reshape(wanted.shape)
    y, gradient = with_gradient(x, weights)
    np.testing.assert_array_equal(y, wanted)
    # The collective is linear: the gradient is its transpose, tried on another operand.
    other = np.roll(x, 1, axis=0)
    assert (gradient * other).sum() == (weights * definitions.expected(plan, other)).sum()
    # Nobody depends on what ranks without a group bring.
    assert not np.asarray(gradient)[[5, 6, 11, 14]].any()


def test_several_axes_and_shapes():
    """A torus of extents (4, 2) is a mesh of shape (2, 4); any trailing shape, a scalar and none at all."""
    plan = planned(cs.Torus(4, 2).fail_cable(0, 1), "all_to_all", parts=3)
    mesh = mesh_of(8, (2, 4), ("y", "x"))
    run = collective(plan, ("y", "x")).on_mesh(mesh)
    for trailing in ((2, 3), (), (1, 1, 7), (0,)):
        x = operand(plan, jnp.float32, trailing)
        np.testing.assert_array_equal(run(x), expected(plan, x))


@pytest.mark.parametrize("kind", ["all_to_all", "all_gather", "reduce_scatter", "all_reduce"])
def test_equal_to_lax(kind):
    """So are the gradients, and what is taken of a gradient in its turn."""
    plan = planned(cs.Torus(2, 4).fail_cable(0, 1), kind, parts=3)
    run, spec = collective(plan, "ranks"), PartitionSpec("ranks")
    lax = {
        "all_to_all": lambda x: jax.lax.all_to_all(x, "ranks", 0, 0),
        "all_gather": lambda x: jax.lax.all_gather(x, "ranks"),
        "reduce_scatter": lambda x: jax.lax.psum_scatter(x, "ranks"),
        "all_reduce": lambda x: jax.lax.psum(x, "ranks"),
    }[kind]

    def mapped(f):
        return jax.shard_map(
            lambda x, tables: f(x[0], tables)[None], mesh=mesh_of(8), in_specs=(spec, spec), out_specs=spec
        )

    def varying(x, _):
        return jax.lax.pcast(lax(x), "ranks", to="varying") if kind == "all_reduce" else lax(x)

    ours, theirs = mapped(run), mapped(varying)
    x = operand(plan, jnp.float32)
    direction = jnp.roll(x, 1)

    def everything(f):
        def cubes(x):
            return (f(x, run.tables) ** 3).sum()

        def along(x):
            return (jax.grad(cubes)(x) * direction).sum()

        return jax.jit(lambda x: (f(x, run.tables), jax.grad(cubes)(x), jax.grad(along)(x)), compiler_options=FAST)(x)

    for one, other in zip(everything(ours), everything(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


#: Rows and lanes of a chunk, and types: one lane and less than a tile, rows that share one, some more than it has.
ODD = [((100,), jnp.int8), ((9, 100), jnp.bfloat16), ((5, 128), jnp.float32), ((3, 7), jnp.bool_), ((), jnp.float16)]


@pytest.mark.parametrize(("trailing", "dtype"), ODD)
@pytest.mark.parametrize("kind", ["all_to_all", "all_reduce"])
def test_odd_chunks(kind, trailing, dtype):
    plan = planned(cs.Torus(4).fail_cable(0, 1), kind, parts=3)
    x = operand(plan, dtype, trailing)
    if dtype == jnp.bool_ and kind == "all_reduce":
        wanted = jnp.broadcast_to(x.any(axis=0), x.shape)
    else:
        wanted = expected(plan, x)
    np.testing.assert_array_equal(collective(plan, "ranks").on_mesh(mesh_of(4))(x), wanted)


@pytest.mark.parametrize("kind", ["reduce_scatter", "all_reduce", "all_gather"])
def test_sums_in_another_type(kind):
    """Kept in float32, sums are rounded where they are sent and at the end; what is only moved is as it was."""
    plan = planned(cs.Torus(8), kind)
    x = operand(plan, jnp.float32, (300,)) / 7 + 1
    coarse = x.astype(jnp.bfloat16)

    def error(**options):
        y = collective(plan, "ranks", **options).on_mesh(mesh_of(8))(coarse)
        assert y.dtype == jnp.bfloat16
        return float(jnp.abs(y.astype(jnp.float32) - expected(plan, coarse.astype(jnp.float32))).mean())

    better, plain = error(sums_in=jnp.float32), error()
    assert better < plain if kind != "all_gather" else better == plain == 0
    run = collective(plan, "ranks", sums_in="float32").on_mesh(mesh_of(8))
    text = jax.jit(run).lower(coarse).as_text()
    assert all("xbf16>" in line for line in text.splitlines() if "collective_permute" in line)
    gradient = jax.jit(jax.grad(lambda x: run(x).astype(jnp.float32).sum()))(coarse)
    assert gradient.dtype == jnp.bfloat16
    # Each element goes to every device, or into the sum of one.
    assert (gradient == (1 if kind == "reduce_scatter" else 8)).all()


@pytest.mark.parametrize(("held", "sums_in"), [("float32", "int8"), ("int32", "float32"), ("float32", "bfloat16")])
def test_sums_hold_what_is_added(held, sums_in):
    plan = planned(cs.Torus(4), "all_reduce")
    x = jnp.full((4, 3), 1.5).astype(held)
    with pytest.raises(cs.UsageError, match=f"{sums_in}.* does not hold every {held}"):
        collective(plan, "ranks", sums_in=sums_in).on_mesh(mesh_of(4))(x)


@pytest.mark.parametrize("sums_in", ["float64", "complex128"])
def test_sums_in_64_bits_need_them(sums_in):
    plan = cs.plan((4,), "all_reduce", parts=2)
    with pytest.raises(cs.UsageError, match=f"sums_in='{sums_in}': JAX keeps no 64 bits as it is configured"):
        collective(plan, "ranks", sums_in=sums_in).on_mesh(mesh_of(4))(np.ones((4, 2), np.int32))


def test_gathered_sums_are_kept_in_another_type():
    x = np.ones((8, 1), jnp.bfloat16)
    x[0] = 256
    plan = cs.plan((8,), "all_reduce_gathered")
    run = collective(plan, "ranks", sums_in="float32").on_mesh(mesh_of(8))
    # In bfloat16, 257 is 256.
    assert run(x).dtype == jnp.bfloat16
    np.testing.assert_array_equal(np.asarray(run(x), np.float32), 264)
    with pytest.raises(cs.UsageError, match="does not hold every int32"):
        collective(plan, "ranks", sums_in="float32").on_mesh(mesh_of(8))(np.ones((8, 1), np.int32))


def test_slips_are_named():
    plan, other = planned(cs.Torus(4), "all_reduce"), planned(cs.Torus(4), "all_to_all")
    run, mesh, spec = collective(plan, "ranks"), mesh_of(4), PartitionSpec("ranks")
    with pytest.raises(
        cs.UsageError, match="sums_in is a type of elements, such as 'float32' or 'bfloat16', not 'foo'"
    ):
        collective(other, "ranks", sums_in="foo")
    with pytest.raises(cs.UsageError, match=r"an operand is one array, not dict\nhint: jax.tree.map"):
        run.on_mesh(mesh)({"w": jnp.zeros((4, 3))})
    with pytest.raises(
        cs.UsageError, match=r"called within shard_map on a mesh with axes \('ranks',\)\nhint: `on_mesh"
    ):
        run(jnp.zeros(3))
    tables = collective(other, "ranks").tables
    mapped = jax.shard_map(lambda x, own: run(x[0], own)[None], mesh=mesh, in_specs=(spec, spec), out_specs=spec)
    with pytest.raises(cs.UsageError, match="are another collective's"):
        mapped(jnp.zeros((4, 3)), tables)
    whole = jax.shard_map(
        lambda x, own: run(x[0], own)[None], mesh=mesh, in_specs=(spec, PartitionSpec()), out_specs=spec
    )
    with pytest.raises(cs.UsageError, match="shard the tables over"):
        whole(jnp.zeros((4, 3)), run.tables)
    constant = jax.shard_map(lambda x: run(x[0], run.tables[:1])[None], mesh=mesh, in_specs=spec, out_specs=spec)
    with pytest.raises(cs.UsageError, match="are the row of one rank, and a constant\nhint: pass `tables`"):
        constant(jnp.zeros((4, 3)))


def test_an_eager_call_is_compiled_as_one():
    """Otherwise each of its operations is, which takes half a minute: how many are compiled grows with the steps."""
    spec, compiled = PartitionSpec("ranks"), []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None
    )

    def count(parts):
        plan = planned(cs.Torus(8).fail_cable(0, 1), "all_reduce", parts=parts)
        run, x = collective(plan, "ranks"), operand(plan, jnp.float32)
        call = jax.shard_map(lambda x: run(x[0])[None], mesh=mesh_of(8), in_specs=spec, out_specs=spec, check_vma=False)
        compiled.clear()
        np.testing.assert_array_equal(call(x), expected(plan, x))
        assert (jax.grad(lambda x: call(x).sum())(x) == 8).all()
        return plan.steps, len(compiled)

    try:
        count(1)
        (few, once), (many, again) = count(2), count(12)
    finally:
        jax.monitoring.clear_event_listeners()
    assert many >= few + 4
    assert again == once > 0


def test_steps_of_the_same_shape_are_a_loop(monkeypatch):
    """Not on CPU devices, which mix up its permutes with others; here there are no others. So is the gradient."""
    plan = planned(cs.Topology.mesh(12), "all_reduce", parts=24)
    x = operand(planned(cs.Torus(12), "all_gather"), jnp.float32)

    def both(x):
        run = collective(plan, "ranks")
        assert max(one.steps for one in run._runs) >= 8
        y, pulled_back = jax.vjp(run.on_mesh(mesh_of(12)), x)
        return y, pulled_back(y)[0]

    wanted = both(x)
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *operands, cpu, default: default(*operands))
    run = collective(plan, "ranks")
    text = jax.jit(run.on_mesh(mesh_of(12))).lower(x).as_text()
    assert "stablehlo.while" in text
    assert text.count('"stablehlo.collective_permute"') < sum(run.permutations)
    for one, other in zip(both(x), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_demands_of_nothing():
    plan = cs.plan((4,), "all_to_allv", demand=np.zeros((4, 4), int))
    found = collective(plan, "ranks").on_mesh(mesh_of(4))(np.zeros((4, 0, 3), np.float32))
    assert (found.shape, found.dtype) == ((4, 0, 3), np.float32)


def test_demands():
    demand = np.arange(16).reshape(4, 4) % 3
    plan = cs.plan(cs.Torus(4).fail_cable(0, 1), "all_to_allv", demand=demand)
    most_in, most_out = demand.sum(axis=1).max(), demand.sum(axis=0).max()
    x = np.zeros((4, most_in, 2), np.float32)
    y = np.zeros((4, most_out, 2), np.float32)
    filled = [0] * 4
    for origin in range(4):
        place = 0
        for dest in range(4):
            for _ in range(demand[origin, dest]):
                x[origin, place] = y[dest, filled[dest]] = (origin * 100 + place, dest)
                place, filled[dest] = place + 1, filled[dest] + 1
    np.testing.assert_array_equal(collective(plan, "ranks").on_mesh(mesh_of(4))(jnp.asarray(x)), y)


def test_live_ranks_alone():
    """A machine without the dead rank's device runs the renumbered plan, on a graph."""
    plan, was = planned(cs.Torus(3, 3).fail_rank(4), "all_to_all").renumbered()
    assert len(was) == 8
    x = operand(plan, jnp.float32)
    np.testing.assert_array_equal(collective(plan, "ranks").on_mesh(mesh_of(8))(x), expected(plan, x))


@pytest.mark.parametrize("as_constants", [False, True])
def test_the_program_is_one_of_permutations(as_constants):
    plan = planned(cs.Torus(4, 4).fail_cable(2, 3), "all_to_all")
    run, mesh, spec = collective(plan, "ranks"), mesh_of(16), PartitionSpec("ranks")
    directions = set()
    links = {(link.start, link.end): link.direction for link in plan.topology.links}
    for move in plan.moves:
        directions.add((move["step"], links[move["from"], move["to"]]))

    def shard(x, tables):
        return run(x[0], None if as_constants else tables)[None]

    mapped = jax.jit(jax.shard_map(shard, mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False))
    lowered = mapped.lower(operand(plan, jnp.float32), run.tables)
    text = lowered.as_text()
    assert text.count('"stablehlo.collective_permute"') == len(directions) == sum(run.permutations)
    compiled = lowered.compile().as_text()
    permutes = compiled.count(" collective-permute(") + compiled.count(" collective-permute-start(")
    assert permutes == len(directions)
    assert "all-to-all" not in compiled
    assert "all-gather" not in compiled
    # Buffers hold live chunks: inputs, outputs and scratch, not a row for every chunk there is.
    assert run._plan_tables.places < plan.topology.ranks**2 / 3
    if not as_constants:
        assert "dense<" not in text or max(map(len, text.split("dense<"))) < 20_000


def test_a_plan_is_compiled_once():
    plan = planned(cs.Torus(4).fail_cable(0, 1), "all_reduce")
    run, count = collective(plan, "ranks"), []

    def shard(x, tables):
        count.append(1)
        return run(x[0], tables)[None]

    spec = PartitionSpec("ranks")
    mapped = jax.shard_map(shard, mesh=mesh_of(4), in_specs=(spec, spec), out_specs=spec, check_vma=False)
    jitted = jax.jit(mapped)
    for _ in range(3):
        jitted(operand(plan, jnp.float32), run.tables)
    assert len(count) == 1


def test_wrong_shapes_are_refused():
    run = collective(planned(cs.Torus(4), "all_to_all"), "ranks")
    with pytest.raises(cs.UsageError, match=r"takes \(4, ...\)"):
        run.on_mesh(mesh_of(4))(jnp.zeros((4, 3, 2)))
    with pytest.raises(cs.UsageError, match="barrier"):
        collective(cs.plan(cs.Torus(4), "barrier"), "ranks")


def device(*coords, core=0):
    return SimpleNamespace(coords=coords, core_on_chip=core)


def test_devices_by_rank():
    chips = [device(x + 4, y, 0) for x in range(4) for y in range(2)]
    order = device_order(cs.Torus(4, 2), chips)
    assert [one.coords for one in order[:5]] == [(4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0), (4, 1, 0)]
    torus = cs.Torus(4, 2)
    assert all((one.coords[0] - 4, one.coords[1]) == torus.coordinates(rank) for rank, one in enumerate(order))
    cores = [device(x, 0, 0, core=core) for core in range(2) for x in range(3)]
    assert [(one.core_on_chip, one.coords[0]) for one in device_order(cs.Torus(2, 3), cores)][:3] == [
        (0, 0),
        (1, 0),
        (0, 1),
    ]
    with pytest.raises(cs.UsageError, match="state the torus so"):
        device_order(cs.Torus(2, 4), chips)
    with pytest.raises(cs.UsageError, match="same coordinates"):
        device_order(cs.Torus(2, 2), [device(0, 0), device(0, 0), device(1, 1), device(1, 0)])
    with pytest.raises(cs.UsageError, match="no coordinates"):
        device_order(cs.Torus(2), [SimpleNamespace(), SimpleNamespace()])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_torus_of_devices(order):
    """Whatever coordinate runs along which dimension, and in whatever order the devices come."""
    extents = [(2, 3, 4)[dim] for dim in order]
    chips = [device(5 + x, y, 2 + z) for x, y, z in np.ndindex(*extents)]
    chips = [chips[index] for index in np.random.default_rng(3).permutation(len(chips))]
    torus = torus_of(chips)
    assert torus == cs.Torus(*extents)
    for rank, one in enumerate(device_order(torus, chips)):
        assert tuple(np.subtract(one.coords, (5, 0, 2))) == torus.coordinates(rank)


@pytest.mark.parametrize(("kind", "stated", "capacity"), [("TPU v4", None, 6), ("TPU7x", 3, 3), ("TPU v3", None, 1)])
def test_the_link_within_a_chip(kind, stated, capacity):
    chips = [device(x, y, core=core) for core in (0, 1) for x in range(3) for y in range(2)]
    for one in chips:
        one.device_kind = kind
    assert torus_of(chips, in_chip=stated) == cs.Torus(2, 3, 2, capacity=[capacity, 1, 1])
    with pytest.raises(cs.UsageError, match="1 of 12 devices are missing") as raised:
        torus_of(chips[1:], in_chip=stated)
    torus = f"cs.Torus(2, 3, 2, capacity=[{capacity}, 1, 1])"
    assert raised.value.hint == f"state them as failed, as in {torus}.fail_rank((0, 0, 0))"
    dead = cs.Torus(2, 3, 2, capacity=[capacity, 1, 1]).fail_rank((0, 0, 0))
    assert len(device_order(dead, chips[1:])) == 11


def test_the_torus_of_odd_devices():
    assert torus_of([device(x, 7, 0) for x in range(4)], wrap=False) == cs.Topology.mesh(4)
    assert torus_of([device(x, 0, 0, core=core) for core in (0, 1) for x in range(3)]) == cs.Torus(2, 3)
    assert torus_of([device(3, 3, 3)]) == cs.Torus(1)
    assert torus_of([SimpleNamespace(coords=(x, 0, 0)) for x in range(3)]) == cs.Torus(3)
    with pytest.raises(cs.UsageError, match=r"in_chip=2 is about chips with two devices"):
        torus_of([device(x, 7, 0) for x in range(4)], in_chip=2)
    with pytest.raises(cs.UsageError, match=r"1 of 4 devices are missing, the first at \(1, 0\)") as raised:
        torus_of([device(0, 0), device(0, 1), device(1, 1)])
    assert raised.value.hint == "state them as failed, as in cs.Torus(2, 2).fail_rank((1, 0))"
    # Without the devices of failed ranks, those of the live ones are in order.
    dead = cs.Torus(2, 2).fail_rank((1, 0))
    order = device_order(dead, [device(1, 1), device(0, 1), device(0, 0)])
    assert [one.coords for one in order] == [(0, 0), (0, 1), (1, 1)]
    with pytest.raises(cs.UsageError, match="same coordinates"):
        torus_of([device(0, 0), device(0, 0)])
    with pytest.raises(cs.UsageError, match="no coordinates") as raised:
        torus_of()
    assert raised.value.hint == "state the torus yourself, as in cs.Torus(4, 2)"
    with pytest.raises(cs.UsageError, match="no devices"):
        torus_of([])
