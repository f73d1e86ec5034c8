"""A collective of `shard_map`: what programs of permutes and kernels have in common."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.sharding import Mesh, PartitionSpec

from .._answer.plan import Plan
from .._errors import UsageError
from .._question.groups import members_of
from .._running.tables import Ints, RankTables, tables_of
from ._mesh import names_of
from ._tiles import from_tiles, to_tiles

Array = jax.Array
AxisNames = str | Sequence[str]

if TYPE_CHECKING:
    from .._question.groups import Groups


class Collective(abc.ABC):
    """A collective that follows a plan. Call it within `shard_map`, with a shard per rank along `axis_names`.

    Ranks are numbered as `PartitionSpec(axis_names)` and `lax.axis_index(axis_names)` number them: along one axis, or
    along several with the first as the slowest, in whatever order the mesh has them. A torus of extents (X, Y, Z) thus
    has axis names ("z", "y", "x"), say, on a mesh with axes of sizes Z, Y and X.

    `tables` holds what each rank moves, an array with a row for each rank. Pass it to the mapped function as an
    operand, sharded by `tables_spec`, so that the program stays small; without it they are constants of the program.
    A compiled program cannot tell rows of another collective whose tables have the same shape, nor rows in another
    order (sharded over axes in another order than `axis_names`): the data is then wrong.
    """

    #: Shape (ranks, numbers), int32.
    tables: np.ndarray[Any, np.dtype[np.int32]]

    def __init__(self, plan: Plan, axis_names: AxisNames, axis_index_groups: Groups | None = None) -> None:
        if not isinstance(plan, Plan):
            raise UsageError(f"plan is a plan, as cs.plan or cs.load(path) give it, not {plan!r}")
        self.plan = plan
        self.axis_names = names_of(axis_names)
        if not self.axis_names or len(set(self.axis_names)) < len(self.axis_names):
            raise UsageError(f"axis names are distinct, and at least one, not {self.axis_names}")
        if axis_index_groups is not None:
            _check_groups(plan, axis_index_groups)
        self.tables_spec = PartitionSpec(self.axis_names)
        self._plan_tables = tables_of(plan)
        self._shapes = RankTables(self._plan_tables, 0)
        # An eager shard_map compiles and dispatches every operation by itself, but what is compiled here as one.
        self._compiled = jax.jit(self._shard)

    def __repr__(self) -> str:
        return f"<collsynth.jax.{type(self).__name__}: {self.plan.collective} along {self.axis_names}>"

    def __call__(self, x: Array, tables: Array | None = None) -> Array:
        """The shard of the result, given the shard of the operand.

        `all_to_all`: (ranks, ...) to (ranks, ...), a row for each destination to a row from each origin. `all_gather`,
        `gather`: (...) to (ranks, ...). `reduce_scatter`, `scatter`: (ranks, ...) to (...). `all_reduce`, `broadcast`,
        `reduce`: (...) to (...). `all_to_allv`: a row for each chunk, as many as the rank with most has, in order of
        destination and of origin. Rows of and for failed ranks, and results at ranks that end with nothing, are zeros.
        In groups, rows are those of the members of the rank's own, as many as the largest group has.
        Any type of elements.
        """
        if isinstance(tables, (np.ndarray, jax.Array)) and not isinstance(tables, Tracer):
            self._check_constant(tables)
        result: Array = self._compiled(_operand(x), tables)
        return result

    def _shard(self, x: Array, tables: Array | None) -> Array:
        numbers = self._mesh_numbers()
        own = self._row(tables)
        known, shapes = self._plan_tables, self._shapes
        shape = shapes.block_shape(x.shape)
        if shapes.output_blocks == 0:
            # Of an all_to_allv without a chunk.
            return x
        # An operand that is the same everywhere becomes a device's own, for JAX's account of that. XLA drops this.
        x = jnp.where(own[0] < 0, x, x)
        chunks = self._carry_out(to_tiles(x, shapes.input_blocks, known.block_slots), own, numbers)
        rows = from_tiles(chunks, shapes.output_blocks, shape)
        if known.kind == "all_reduce_gathered":
            return self._summed(rows)
        return rows if shapes.has_output_rows else rows[0]

    def on_mesh(self, mesh: Mesh) -> Callable[[Array], Array]:
        """A compiled function of global arrays, whose leading axis is that of the ranks, sharded over the mesh.

        The mesh may have its axes in any order, others besides, and any axis types. The operand is resharded as needed.
        """
        if not isinstance(mesh, Mesh):
            raise UsageError(f"mesh is a mesh of JAX, as cs.jax.make_mesh(torus) gives it, not {mesh!r}")
        missing = [name for name in self.axis_names if name not in mesh.axis_names]
        if missing:
            raise UsageError(f"the mesh has axes {tuple(mesh.axis_names)}, but not {missing[0]!r}")
        self._check_sizes([mesh.shape[name] for name in self.axis_names])
        spec = PartitionSpec(self.axis_names)
        sharding = jax.NamedSharding(mesh, spec)

        def shard(x: Array, tables: Array) -> Array:
            return self(x[0], tables)[None]

        mapped = jax.jit(jax.shard_map(shard, mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False))
        tables = jax.device_put(self.tables, sharding)

        def run(x: Array) -> Array:
            x = _operand(x)
            if x.ndim == 0 or x.shape[0] != self._plan_tables.ranks:
                raise UsageError(
                    f"an operand has a row for each of {self._plan_tables.ranks} ranks, not shape {x.shape}"
                )
            result: Array = mapped(jax.device_put(x, sharding), tables)
            return result

        return run

    @abc.abstractmethod
    def _carry_out(self, chunks: Array, own: Array, numbers: Ints) -> Array:
        """The chunks of the result, given those of the operand and this device's row of the tables.

        `numbers` are the places of the ranks as `lax.ppermute` counts.
        """

    def _summed(self, rows: Array) -> Array:
        """The sum of the rows that a rank gathered."""
        return rows.sum(axis=0, dtype=rows.dtype)

    def _mesh_numbers(self) -> Ints:
        """By rank, the number of its place along `axis_names` as `lax.ppermute` counts: in the order of the mesh."""
        try:
            sizes = [lax.axis_size(name) for name in self.axis_names]
        except NameError:
            raise UsageError(
                f"a collective is called within shard_map on a mesh with axes {self.axis_names}",
                "`on_mesh(mesh)` makes a function of global arrays of it",
            ) from None
        self._check_sizes(sizes)
        order = [name for name in jax.sharding.get_abstract_mesh().axis_names if name in self.axis_names]
        if len(self.axis_names) > 1 and len(order) != len(self.axis_names):
            raise UsageError(
                f"a collective along {self.axis_names} is called within shard_map on a mesh with these axes"
            )
        if len(order) < 2:
            return np.arange(self._plan_tables.ranks, dtype=np.int32)
        ranks = np.arange(self._plan_tables.ranks, dtype=np.int32).reshape(sizes)
        by_place = ranks.transpose([self.axis_names.index(name) for name in order]).reshape(-1)
        return np.argsort(by_place).astype(np.int32)

    def _check_sizes(self, sizes: list[int]) -> None:
        if math.prod(sizes) != self._plan_tables.ranks:
            shape = "x".join(map(str, sizes))
            raise UsageError(f"axes {self.axis_names} have {shape} places, the plan {self._plan_tables.ranks} ranks")

    def _check_constant(self, tables: Any) -> None:
        """Refuses a row that is a constant, the same one on every device."""
        if len(tables) == 1 < self._plan_tables.ranks:
            raise UsageError(
                f"tables of shape {tables.shape} are the row of one rank, and a constant",
                "pass `tables` as an operand of the mapped function, sharded by `tables_spec`, or leave them out",
            )

    def _row(self, tables: Array | None) -> Array:
        if tables is not None:
            if tables.shape[1:] != self.tables.shape[1:]:
                raise UsageError(f"tables of shape {tables.shape} are another collective's, not {self.tables.shape}")
            if len(tables) != 1:
                raise UsageError(f"tables of shape {tables.shape}: shard the tables over {self.axis_names}")
            return tables[0]
        return jnp.asarray(self.tables)[lax.axis_index(self.axis_names)]


def _operand(x: Any) -> Array:
    try:
        return jnp.asarray(x)
    except (TypeError, ValueError):
        raise UsageError(f"an operand is one array, not {type(x).__name__}", "jax.tree.map calls it for each") from None


def _check_groups(plan: Plan, stated: Groups) -> None:
    """Refuses groups other than the plan's. Their order does not matter; that of their members numbers rows."""
    groups = members_of(plan.topology, stated)
    if sorted(groups) != sorted(plan.groups or [list(range(plan.topology.ranks))]):
        planned = f"groups {plan.groups}" if plan.groups else "no groups"
        hint = f"cs.plan(..., groups={groups}) plans for them"
        raise UsageError(f"axis_index_groups are {groups}, but the plan is for {planned}", hint)
