"""Axes in any order: whatever the order of names and mesh, every kind equals its definition, or is refused."""

import itertools
import os
from types import SimpleNamespace

import definitions
import numpy as np
import pytest

import collsynth as cs

jax = pytest.importorskip("jax", reason="left out: JAX is not installed")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AxisType, PartitionSpec  # noqa: E402

from collsynth.jax import collective, make_mesh, pallas  # noqa: E402

#: The axes of a mesh, and how many of them the plan runs along.
MESHES = {
    "2x4": ({"y": 2, "x": 4}, 2),
    "4x2": ({"x": 4, "y": 2}, 2),
    "2x2x2": ({"z": 2, "y": 2, "x": 2}, 3),
    "2x2x2, two of them": ({"z": 2, "y": 2, "x": 2}, 2),
    "2x3x2, two of them": ({"a": 2, "b": 3, "c": 2}, 2),
}
ORDERS = [
    (mesh, names, axis_type)
    for mesh, (axes, along) in MESHES.items()
    for names in itertools.permutations(axes, along)
    for axis_type in ("Auto", "Explicit")
]
#: Compiling all of it takes minutes.
FULL = bool(os.environ.get("SYNTH_FULL"))
MAPPED = [order for order in ORDERS if FULL or (order[0], order[2]) in (("2x4", "Auto"), ("2x2x2", "Auto"))]
WHOLE = (
    ORDERS
    if FULL
    else [
        ("2x4", ("x", "y"), "Explicit"),
        ("4x2", ("y", "x"), "Auto"),
        ("2x2x2", ("y", "x", "z"), "Auto"),
        ("2x3x2, two of them", ("c", "a"), "Explicit"),
        ("2x3x2, two of them", ("b", "a"), "Auto"),
    ]
)
SOME = definitions.KINDS if FULL else ["all_to_all", "all_gather"]
#: Compiling is what takes the time.
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def plans_along(axes, names, kinds):
    """Plans for the torus of these axes, the first as the slowest, with a dead cable."""
    extents = [axes[name] for name in names]
    torus = cs.Torus(*reversed(extents))
    link = torus.links[0]
    torus = torus.fail_cable(link.start, link.end)
    root = torus.ranks - 1
    return [cs.plan(torus, kind, parts=1, root=root if kind in definitions.ROOTED else None) for kind in kinds]


def mesh_of(axes, axis_type):
    return jax.make_mesh(
        tuple(axes.values()),
        tuple(axes),
        axis_types=(AxisType[axis_type],) * len(axes),
        devices=jax.devices()[: np.prod([*axes.values()])],
    )


@pytest.mark.parametrize(("mesh_name", "names", "axis_type"), MAPPED)
def test_within_shard_map(mesh_name, names, axis_type):
    axes, _ = MESHES[mesh_name]
    plans, spec = plans_along(axes, names, definitions.KINDS), PartitionSpec(names)
    runs = [collective(plan, names) for plan in plans]
    xs = [definitions.operand(plan, np.float32, (3,)) for plan in plans]

    def shard(xs, tables):
        # Half of them with their tables as constants.
        return [
            run(x[0], table if number % 2 else None)[None]
            for number, (run, x, table) in enumerate(zip(runs, xs, tables, strict=True))
        ]

    mapped = jax.shard_map(shard, mesh=mesh_of(axes, axis_type), in_specs=(spec, spec), out_specs=spec, check_vma=False)

    def place(x):
        return jax.device_put(x, jax.NamedSharding(mesh_of(axes, axis_type), spec))

    found = jax.jit(mapped, compiler_options=FAST)([*map(place, xs)], [place(run.tables) for run in runs])
    for plan, x, y in zip(plans, xs, found, strict=True):
        np.testing.assert_array_equal(y, definitions.expected(plan, x), plan.collective)


@pytest.mark.parametrize(("mesh_name", "names", "axis_type"), WHOLE)
def test_on_mesh(mesh_name, names, axis_type):
    axes, _ = MESHES[mesh_name]
    mesh = mesh_of(axes, axis_type)
    for plan in plans_along(axes, names, SOME):
        run, x = collective(plan, names).on_mesh(mesh), definitions.operand(plan, np.float32, (3,))
        np.testing.assert_array_equal(run(x), definitions.expected(plan, x), plan.collective)
    np.testing.assert_array_equal(jax.jit(run)(x), definitions.expected(plan, x), plan.collective)


@pytest.mark.parametrize("names", [("y", "x"), ("x", "y")])
def test_gradients(names):
    axes, _ = MESHES["2x4"]
    for plan in plans_along(axes, names, ["all_to_all", "all_reduce"]):
        run = collective(plan, names).on_mesh(mesh_of(axes, "Auto"))
        x = definitions.operand(plan, np.float32, (3,))
        wanted = definitions.expected(plan, x)
        weights = (np.arange(wanted.size, dtype=np.float32) % 13).reshape(wanted.shape)
        gradient = jax.grad(lambda x, run=run, weights=weights: (run(x) * weights).sum())(jnp.asarray(x))
        other = np.roll(x, 1, axis=0)
        assert (gradient * other).sum() == (weights * definitions.expected(plan, other)).sum()


def test_what_a_mesh_does_not_have_is_refused():
    plan = cs.plan(cs.Torus(4, 2), "all_reduce", parts=1)
    mesh = mesh_of({"y": 2, "x": 4}, "Auto")
    with pytest.raises(cs.UsageError, match="but not 'z'"):
        collective(plan, ("z", "x")).on_mesh(mesh)
    with pytest.raises(cs.UsageError, match="have 4 places, the plan 8 ranks"):
        collective(plan, "x").on_mesh(mesh)
    with pytest.raises(cs.UsageError, match="distinct"):
        collective(plan, ("x", "x"))
    with pytest.raises(cs.UsageError, match="a row for each of 8 ranks"):
        collective(plan, ("y", "x")).on_mesh(mesh)(np.zeros((4, 3)))
    mapped = jax.shard_map(
        lambda x: collective(plan, "x")(x[0])[None],
        mesh=mesh,
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec("x"),
    )
    with pytest.raises(cs.UsageError, match="have 4 places, the plan 8 ranks"):
        mapped(jnp.zeros((4, 3)))


@pytest.mark.parametrize("names", [None, *itertools.permutations(("a", "b", "c")), "all"])
@pytest.mark.parametrize("extents", [(2, 3, 2), (3, 2, 2)])
def test_a_mesh_of_a_torus(extents, names):
    """Its axes are in the order in which ranks count: a plan runs along them as they are."""
    torus = cs.Torus(*extents).fail_cable(0, 1)
    mesh = make_mesh(torus, names)
    assert mesh.axis_names == {None: ("z", "y", "x"), "all": ("all",)}.get(names, names)
    assert mesh.devices.shape == ((12,) if names == "all" else extents[::-1])
    for rank, device in enumerate(mesh.devices.flat):
        place = tuple(reversed(torus.coordinates(rank)))
        assert device is (jax.devices()[rank] if names == "all" else mesh.devices[place]) is jax.devices()[rank]
    plan = cs.plan(torus, "all_gather", parts=1)
    run, x = collective(plan, mesh.axis_names).on_mesh(mesh), definitions.operand(plan, np.float32, (3,))
    np.testing.assert_array_equal(run(x), definitions.expected(plan, x))


@pytest.mark.parametrize("axis_type", ["Auto", "Explicit"])
@pytest.mark.parametrize("names", list(itertools.permutations(("y", "x"))))
def test_a_plan_along_the_axes_of_a_mesh_of_a_torus(names, axis_type):
    """Named in any order: ranks count along the names, whatever the order of the mesh."""
    mesh = make_mesh((4, 2), axis_types=(AxisType[axis_type],) * 2)
    extents = [mesh.shape[name] for name in reversed(names)]
    plan = cs.plan(cs.Torus(*extents).fail_cable(0, 1), "all_to_all", parts=1)
    x = definitions.operand(plan, np.float32, (3,))
    np.testing.assert_array_equal(collective(plan, names).on_mesh(mesh)(x), definitions.expected(plan, x))


def test_meshes_of_other_machines():
    plan, _ = cs.plan(cs.Torus(4, 2).fail_rank(5), "all_gather").renumbered()
    mesh = make_mesh(plan.topology, devices=jax.devices()[1:8])
    assert (mesh.axis_names, mesh.devices.tolist()) == (("ranks",), jax.devices()[1:8])
    x = definitions.operand(plan, np.float32, (3,))
    np.testing.assert_array_equal(collective(plan, "ranks").on_mesh(mesh)(x), definitions.expected(plan, x))
    assert cs.jax.make_mesh is make_mesh
    assert make_mesh(cs.Torus(*(2,) * 5, 2, 1)).axis_names == ("d6", "u", "v", "w", "z", "y", "x")


def test_chips_stand_at_their_coordinates(monkeypatch):
    monkeypatch.setattr("collsynth.jax._mesh.Mesh", lambda devices, names, axis_types: devices)
    chips = [SimpleNamespace(coords=(x, y, 0), core_on_chip=0) for x in range(4) for y in range(2)]
    placed = make_mesh(cs.Torus(4, 2), devices=chips)
    assert all(placed[y, x].coords == (x, y, 0) for y in range(2) for x in range(4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_mesh((4, 2), devices=jax.devices()[:7]), "7 devices for 8 ranks"),
        (lambda: make_mesh((64, 64)), "64 devices for 4096 ranks"),
        (lambda: make_mesh((4, 2), axis_names=("x", "x")), "distinct"),
        (lambda: make_mesh((4, 2, 1), axis_names=("x", "y")), "axis_names are 3 distinct names"),
        (lambda: make_mesh("4x2"), "torus is a machine, such as"),
        (lambda: make_mesh((4, 2), devices=[]), "no devices"),
        (lambda: collective("plan.json", ("y", "x")), "plan is a plan"),
        (lambda: collective(cs.plan((4, 2)), 3), "axis_names are the names of axes"),
        (lambda: make_mesh((4, 2), 3), "axis_names are the names of axes"),
        (lambda: make_mesh((4, 2), ("x", "y")), r"slowest dimension comes first, as in \('y', 'x'\)"),
        (lambda: collective(cs.plan((4, 2)), ("y", "x")).on_mesh([0]), "mesh is a mesh of JAX"),
    ],
)
def test_what_makes_no_mesh(call, message):
    with pytest.raises(cs.UsageError, match=message) as raised:
        call()
    if "for 4096" in message:
        assert "device_count=4096" in raised.value.hint


@pytest.mark.parametrize("names", list(itertools.permutations(("y", "x"))))
def test_the_same_result_everywhere(names):
    """Without axes in `out_specs`: refused, as JAX cannot infer it, unless told not to check; the gradient is right."""
    mesh = mesh_of({"y": 2, "x": 4}, "Auto")
    (plan,) = plans_along({"y": 2, "x": 4}, names, ["all_reduce"])
    run, spec = collective(plan, names), PartitionSpec(names)

    def mapped(**check):
        return jax.shard_map(
            lambda x, tables: run(x[0], tables), mesh=mesh, in_specs=(spec, spec), out_specs=PartitionSpec(), **check
        )

    x = jnp.asarray(definitions.operand(plan, np.float32, (3,)))
    with pytest.raises(ValueError, match="statically inferred"):
        mapped()(x, run.tables)
    unchecked = jax.jit(mapped(check_vma=False))
    np.testing.assert_array_equal(unchecked(x, run.tables), x.sum(axis=0))
    gradient = jax.grad(lambda x: (unchecked(x, run.tables) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient, np.broadcast_to(2 * x.sum(axis=0), x.shape))


@pytest.mark.parametrize("names", list(itertools.permutations(("y", "x"))))
def test_sharded_results_pass_the_check(names):
    """With what is the same everywhere among the operands, too: its gradient is the sum over all devices."""
    mesh = mesh_of({"y": 2, "x": 4}, "Auto")
    (plan,) = plans_along({"y": 2, "x": 4}, names, ["all_to_all"])
    run, spec = collective(plan, names), PartitionSpec(names)

    def shard(x, weight, tables):
        return run(x[0] * weight, tables).sum(axis=0)[None]

    mapped = jax.jit(jax.shard_map(shard, mesh=mesh, in_specs=(spec, PartitionSpec(), run.tables_spec), out_specs=spec))
    x = jnp.asarray(definitions.operand(plan, np.float32, (3,)))
    np.testing.assert_array_equal(mapped(x, 2.0, run.tables), 2 * x.sum(axis=0))
    gradient = jax.grad(lambda weight: (mapped(x, weight, run.tables) ** 2).sum())(2.0)
    assert gradient == (4 * x.sum(axis=0) ** 2).sum()


@pytest.mark.parametrize("kind", ["all_to_all", "all_gather", "reduce_scatter", "all_reduce"])
def test_groups_are_those_of_jax(kind):
    """The same operand, names and `axis_index_groups` give what JAX's own collective gives, over several axes."""
    groups = [[3, 0, 1, 6], [5, 7, 2, 4]]
    plan = cs.plan(cs.Torus(4, 2).fail_cable(0, 1), kind, parts=1, groups=groups)
    names = ("y", "x")
    run = collective(plan, names, axis_index_groups=groups)
    own = {
        "all_to_all": lambda x: lax.all_to_all(x, names, 0, 0, axis_index_groups=groups),
        "all_gather": lambda x: lax.all_gather(x, names, axis_index_groups=groups),
        "reduce_scatter": lambda x: lax.psum_scatter(x, names, axis_index_groups=groups),
        "all_reduce": lambda x: lax.psum(x, names, axis_index_groups=groups),
    }[kind]
    rows = (4,) if kind in ("all_to_all", "reduce_scatter") else ()
    x = np.arange(8 * 4 * 3, dtype=np.float32)[: 8 * int(np.prod(rows)) * 3].reshape(8, *rows, 3)

    def both(x):
        return run(x[0])[None], own(x[0])[None]

    spec = PartitionSpec(names)
    mapped = jax.shard_map(both, mesh=make_mesh(cs.Torus(4, 2)), in_specs=spec, out_specs=spec, check_vma=False)
    ours, wanted = jax.jit(mapped)(x)
    np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("collective", [collective, pallas.collective])
def test_other_groups_are_refused(collective):
    plan = cs.plan(cs.Torus(4), "all_gather", groups=[[1, 0], [2, 3]])
    assert collective(plan, "x", axis_index_groups=np.array([[2, 3], [1, 0]])).plan is plan
    with pytest.raises(cs.UsageError, match=r"axis_index_groups are \[\[0, 1\], \[2, 3\]\], but the plan") as raised:
        collective(plan, "x", axis_index_groups=[[0, 1], [2, 3]])
    assert raised.value.hint == "cs.plan(..., groups=[[0, 1], [2, 3]]) plans for them"
    whole = cs.plan(cs.Torus(4), "all_gather")
    assert collective(whole, "x", axis_index_groups=[[0, 1, 2, 3]]).plan is whole
    with pytest.raises(cs.UsageError, match="but the plan is for no groups"):
        collective(whole, "x", axis_index_groups=[[0, 1], [2, 3]])
    with pytest.raises(cs.UsageError, match="a group is a list of ranks"):
        collective(whole, "x", axis_index_groups=[0, 1, 2, 3])
