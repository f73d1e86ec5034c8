"""Plans in JAX: a collective of `shard_map`, made of one `ppermute` for each direction in use in each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from .._errors import UsageError
from .._plan import Plan
from .._running.tables import Ints, RankTables, Transfer, tables_of
from ._mesh import device_order, make_mesh, names_of, torus_of

Array = jax.Array
AxisNames = str | Sequence[str]

__all__ = ["Array", "AxisNames", "Collective", "collective", "device_order", "make_mesh", "torus_of"]


class _Columns(NamedTuple):
    """Where a table stands in a rank's row of numbers."""

    first: int
    length: int


@dataclass(frozen=True)
class _Exchange:
    """One permutation of a step. Places beyond the last one stand for no place."""

    pairs: list[tuple[int, int]]
    source: _Columns
    #: What arrives is kept here, on top of `base`.
    target: _Columns
    base: _Columns | None
    #: What arrives is added here, once all `target`s are written.
    later: _Columns | None


class Collective:
    """A collective that follows a plan. Call it within `shard_map`, with a shard per rank along `axis_names`.

    Ranks are numbered as `PartitionSpec(axis_names)` and `lax.axis_index(axis_names)` number them: along one axis, or
    along several with the first as the slowest, in whatever order the mesh has them. A torus of extents (X, Y, Z) thus
    has axis names ("z", "y", "x"), say, on a mesh with axes of sizes Z, Y and X.

    `tables` holds what each rank moves, an array with a row for each rank. Pass it to the mapped function as an
    operand, sharded by `tables_spec`, so that the program stays small; without it they are constants of the program.
    """

    def __init__(self, plan: Plan, axis_names: AxisNames) -> None:
        if not isinstance(plan, Plan):
            raise UsageError(f"plan is a plan, as cs.plan or cs.load(path) give it, not {plan!r}")
        self.plan = plan
        self.axis_names = names_of(axis_names)
        if not self.axis_names or len(set(self.axis_names)) < len(self.axis_names):
            raise UsageError(f"axis names are distinct, and at least one, not {self.axis_names}")
        self._plan_tables = tables_of(plan)
        self._shapes = RankTables(self._plan_tables, 0)
        self._blocks: list[Any] = [np.zeros((self._plan_tables.ranks, 0), np.int32)]
        self._width = 0
        self._steps = [self._exchanges(transfers) for transfers in self._plan_tables.steps]
        self._copies = self._own_chunks()
        ends = [[self._plan_tables.has_output(rank)] for rank in range(self._plan_tables.ranks)]
        self._has_output = self._add(np.array(ends, np.int32))
        #: Shape (ranks, numbers), int32.
        self.tables: np.ndarray[Any, np.dtype[np.int32]] = np.concatenate(self._blocks, axis=1)
        self.tables_spec = PartitionSpec(self.axis_names)

    def __repr__(self) -> str:
        return f"<collsynth.jax.{type(self).__name__}: {self.plan.collective} along {self.axis_names}>"

    @property
    def permutations(self) -> list[int]:
        """The number of `ppermute`s of each step: at most twice the dimensions of a torus."""
        return [len(exchanges) for exchanges in self._steps]

    def __call__(self, x: Array, tables: Array | None = None) -> Array:
        """The shard of the result, given the shard of the operand.

        `all_to_all`: (ranks, ...) to (ranks, ...), a row for each destination to a row from each origin. `all_gather`,
        `gather`: (...) to (ranks, ...). `reduce_scatter`, `scatter`: (ranks, ...) to (...). `all_reduce`, `broadcast`,
        `reduce`: (...) to (...). `all_to_allv`: a row for each chunk, as many as the rank with most has, in order of
        destination and of origin. Rows of and for failed ranks, and results at ranks that end with nothing, are zeros.
        In groups, rows are those of the members of the rank's own, as many as the largest group has.
        Any type of elements. Differentiable.
        """
        numbers = self._mesh_numbers()
        own = self._row(tables)
        x = jnp.asarray(x)
        rows, shape = self._rows(x)
        places = self._plan_tables.places - self._plan_tables.first[1]
        held = jnp.concatenate([rows, jnp.zeros((places, *rows.shape[1:]), rows.dtype)])
        if self._copies is not None:
            source, target = (self._at(own, columns) for columns in self._copies)
            held = _put(held, target, _take(held, source))
        for exchanges in self._steps:
            held = self._step(held, own, exchanges, numbers)
        return self._result(held, shape, own)

    def on_mesh(self, mesh: Mesh) -> Callable[[Array], Array]:
        """A compiled function of global arrays, whose leading axis is that of the ranks, sharded over the mesh.

        The mesh may have its axes in any order, others besides, and any axis types. The operand is resharded as needed.
        """
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
            x = jnp.asarray(x)
            if x.ndim == 0 or x.shape[0] != self._plan_tables.ranks:
                raise UsageError(
                    f"an operand has a row for each of {self._plan_tables.ranks} ranks, not shape {x.shape}"
                )
            result: Array = mapped(jax.device_put(x, sharding), tables)
            return result

        return run

    def _mesh_numbers(self) -> Ints:
        """By rank, the number of its place along `axis_names` as `lax.ppermute` counts: in the order of the mesh."""
        sizes = [lax.axis_size(name) for name in self.axis_names]
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

    def _step(self, found: Array, own: Array, exchanges: list[_Exchange], numbers: Ints) -> Array:
        # All are independent of each other: they read what the step found.
        arrived = [
            lax.ppermute(
                _take(found, self._at(own, one.source)),
                self.axis_names,
                [(int(numbers[start]), int(numbers[end])) for start, end in one.pairs],
            )
            for one in exchanges
        ]
        held = found
        for one, values in zip(exchanges, arrived, strict=True):
            kept = values
            if one.base is not None:
                base = self._at(own, one.base)
                adds = (base < found.shape[0])[:, None]
                kept = jnp.where(adds, values + _take(found, base), values)
            held = _put(held, self._at(own, one.target), kept)
        for one, values in zip(exchanges, arrived, strict=True):
            if one.later is not None:
                held = held.at[self._at(own, one.later)].add(values, mode="drop", unique_indices=True)
        return held

    def _rows(self, x: Array) -> tuple[Array, tuple[int, ...]]:
        """The operand as rows of chunks, and the shape of a block."""
        tables, blocks = self._plan_tables, self._shapes.input_blocks
        shape = self._shapes.block_shape(x.shape)
        flat = x.reshape(blocks, -1) if x.size else jnp.zeros((blocks, 0), x.dtype)
        length = -(-flat.shape[1] // tables.block_slots)
        padded = jnp.pad(flat, ((0, 0), (0, length * tables.block_slots - flat.shape[1])))
        return padded.reshape(tables.first[1], length), shape

    def _result(self, held: Array, shape: tuple[int, ...], own: Array) -> Array:
        tables = self._plan_tables
        output = held[tables.first[1] : tables.first[2]]
        output = jnp.where(self._at(own, self._has_output)[0] > 0, output, jnp.zeros_like(output))
        blocks = self._shapes.output_blocks
        flat = output.reshape(blocks, -1)[:, : int(np.prod(shape, dtype=np.int64))]
        rows = flat.reshape(blocks, *shape)
        if tables.kind == "all_reduce_gathered":
            return rows.sum(axis=0, dtype=rows.dtype)
        return rows if self._shapes.has_output_rows else rows[0]

    def _row(self, tables: Array | None) -> Array:
        if tables is not None:
            if tables.shape != (1, self._width):
                raise UsageError(f"tables of shape {tables.shape}: shard the tables over {self.axis_names}")
            return tables[0]
        return jnp.asarray(self.tables)[lax.axis_index(self.axis_names)]

    def _at(self, own: Array, columns: _Columns) -> Array:
        return lax.slice_in_dim(own, columns.first, columns.first + columns.length)

    def _add(self, table: Any) -> _Columns:
        columns = _Columns(self._width, table.shape[1])
        self._blocks.append(table)
        self._width += table.shape[1]
        return columns

    def _exchanges(self, transfers: list[Transfer]) -> list[_Exchange]:
        groups = sorted({transfer.group for transfer in transfers})
        return [self._exchange([transfer for transfer in transfers if transfer.group == group]) for group in groups]

    def _exchange(self, transfers: list[Transfer]) -> _Exchange:
        most = max(len(transfer.source) for transfer in transfers)
        # Distinct places that do not exist: what goes there is dropped, what comes from there is zero.
        nowhere = self._plan_tables.places + np.arange(most, dtype=np.int32)
        source, target, base, later = (np.tile(nowhere, (self._plan_tables.ranks, 1)) for _ in range(4))
        for one in transfers:
            count = len(one.source)
            source[one.start, :count] = one.source
            target[one.end, :count] = np.where(one.later, nowhere[:count], one.target)
            base[one.end, :count] = np.where(one.later | (one.base < 0), nowhere[:count], one.base)
            later[one.end, :count] = np.where(one.later, one.target, nowhere[:count])
        return _Exchange(
            [(one.start, one.end) for one in transfers],
            self._add(source),
            self._add(target),
            self._add(base) if (base < self._plan_tables.places).any() else None,
            self._add(later) if (later < self._plan_tables.places).any() else None,
        )

    def _own_chunks(self) -> tuple[_Columns, _Columns] | None:
        copies = self._plan_tables.copies
        if len(copies) == 0:
            return None
        counts = np.bincount(copies[:, 0], minlength=self._plan_tables.ranks)
        nowhere = self._plan_tables.places + np.arange(counts.max(), dtype=np.int32)
        source, target = (np.tile(nowhere, (self._plan_tables.ranks, 1)) for _ in range(2))
        for rank in np.flatnonzero(counts):
            source[rank, : counts[rank]], target[rank, : counts[rank]] = copies[copies[:, 0] == rank, 1:].T
        return self._add(source), self._add(target)


def collective(plan: Plan, axis_names: AxisNames) -> Collective:
    """The collective of a plan, for the shards of `shard_map` along these axes of the mesh."""
    return Collective(plan, axis_names)


def _take(held: Array, places: Array) -> Array:
    return held.at[places].get(mode="fill", fill_value=0, unique_indices=True)


def _put(held: Array, places: Array, values: Array) -> Array:
    return held.at[places].set(values, mode="drop", unique_indices=True)
