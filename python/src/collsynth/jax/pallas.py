"""A plan as one Pallas kernel for TPUs: remote copies between neighbors, step by step, and nothing else.

Unlike XLA, the kernel keeps the steps as the plan has them: a rank begins a step when it and every rank it is joined to
have finished the previous one, so that no two transfers share a link, and no chunk is written over while it is read.
Neighbors may be a step apart, so the barriers of adjacent steps have semaphores of their own: with a shared one, a
neighbor that is a step ahead would pass for one that is not.

Chunks stay in HBM. A transfer goes from their row at the sender to their row at the receiver (see `_rows`); only what
is added to another chunk lands aside, and passes through vector memory a block at a time, while other directions are
still under way. So the kernel's code and its vector memory do not grow with the chunks.

The kernel has run in the TPU interpreter only, on up to 9 devices, never on hardware.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from numpy.typing import NDArray

from .._answer.plan import Plan
from .._errors import UsageError
from .._running.tables import Ints
from ._collective import Array, AxisNames, Collective
from ._rows import Exchange, Rows, Step

if TYPE_CHECKING:
    from .._question.groups import Groups

#: Sums are formed in blocks of at most as many rows of 128 elements.
BLOCK = 512
#: Barriers of kernels with different numbers do not disturb each other.
COLLECTIVE_ID = 19


class _Columns(NamedTuple):
    """Where a table stands in a rank's row of numbers: how many entries it has, then these."""

    first: int
    #: By column of an entry: the buffers that any rank's rows are in. Code for others is left out.
    among: list[set[int]]


class _Exchange(NamedTuple):
    """A permutation of a step: the rank that is sent to; from where to where; how many land; aside, and added where."""

    to: _Columns
    sent: _Columns
    arriving: _Columns
    added: _Columns


class _Memory(NamedTuple):
    """The rows of a device, in buffers one after the other: each with the number of its first row."""

    buffers: list[tuple[Any, int]]

    def __call__(self, row: Any, among: set[int], do: Callable[[Any], None]) -> None:
        """Does something with a row, which is in one of these buffers."""
        for number in sorted(among):
            buffer, first = self.buffers[number]

            @pl.when((row >= first) & (row < first + buffer.shape[0]))
            def _(buffer: Any = buffer, first: int = first) -> None:
                do(buffer.at[row - first])

    def for_each(self, own: Any, table: _Columns, do: Callable[[Any, Any], None]) -> None:
        """Does something with each pair of rows of a table."""

        def pair(entry: list[Any]) -> None:
            one, other = table.among
            self(entry[0], one, lambda first: self(entry[1], other, lambda second: do(first, second)))

        _for_each(own, table, 2, pair)


class KernelCollective(Collective):
    """A collective like `collsynth.jax.collective`, carried out by one kernel.

    The mesh may have its axes in any order, and others besides. `interpret` is True, or `pltpu.InterpretParams(...)`,
    where there is no TPU. Not differentiable.
    """

    def __init__(
        self, plan: Plan, axis_names: AxisNames, interpret: Any = False, axis_index_groups: Groups | None = None
    ) -> None:
        super().__init__(plan, axis_names, axis_index_groups)
        # Pallas' own True is an interpreter that has no remote copies.
        self._interpret = pltpu.InterpretParams() if interpret is True else interpret
        rows = self._placed = Rows(self._plan_tables, exclusive=True)
        self._blocks: list[Any] = [rows.start, rows.end, rows.filled]
        self._begin = sum(block.shape[1] for block in self._blocks)
        self._width = self._begin
        #: The first rows of the buffers: of the result and the operand, where these are apart; of all else.
        self._firsts = [0, rows.outputs, rows.outputs + rows.inputs] if rows.apart else [0, rows.inputs]
        self._neighbors = self._add(self._neighbors_of_ranks())
        #: Rows for what lands aside, after all others.
        self._aside = 0
        self._steps = [self._step(step) for step in rows.steps]
        self._collected = self._add(self._what_is_collected())
        self.tables = np.concatenate(self._blocks, axis=1).astype(np.int32)

    def _carry_out(self, chunks: Array, own: Array, numbers: Ints) -> Array:
        if not set(self.axis_names) <= set(jax.sharding.get_abstract_mesh().axis_names):
            raise UsageError("a kernel is called within shard_map")
        chunks, restore = _for_the_core(chunks, self._plan_tables.adds)
        filled = own[self._placed.inputs + self._placed.outputs : self._begin]
        result = self._call(chunks, own)
        if not self._placed.filled.all():
            result = jnp.where(filled[:, None, None] > 0, result, jnp.zeros_like(result))
        return restore(result)

    def _call(self, chunks: Array, own: Array) -> Array:
        rows, directions = self._placed, max([1, *(len(exchanges) for exchanges, _ in self._steps)])
        # The result, or the operand that becomes it; then what has no row there.
        outputs = [self._firsts[1], max(rows.count + self._aside - self._firsts[-1], 1)]
        if not (rows.apart or rows.ends_in_place):
            outputs.append(rows.outputs)
        anywhere = pl.BlockSpec(memory_space=pl.ANY)
        done = pl.pallas_call(
            self._kernel,
            out_shape=[jax.ShapeDtypeStruct((count, *chunks.shape[1:]), chunks.dtype) for count in outputs],
            in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), anywhere],
            out_specs=[anywhere] * len(outputs),
            input_output_aliases={} if rows.apart else {1: 0},
            scratch_shapes=[
                pltpu.SemaphoreType.DMA((directions,)),
                pltpu.SemaphoreType.DMA((directions,)),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.SemaphoreType.REGULAR((2,)),
                pltpu.VMEM((2, _block(chunks.shape[1]), chunks.shape[2]), chunks.dtype),
            ],
            compiler_params=pltpu.CompilerParams(collective_id=COLLECTIVE_ID, has_side_effects=True),
            interpret=self._interpret,
        )(own, chunks)
        result: Array = done[-1] if len(outputs) == 3 else done[0][: rows.outputs]
        return result

    def _kernel(self, own: Any, chunks: Any, held: Any, more: Any, *others: Any) -> None:
        *results, send, receive, local, finished, scratch = others
        buffers = [held, chunks, more] if self._placed.apart else [held, more]
        at = _Memory(list(zip(buffers, self._firsts, strict=True)))
        # Nobody writes to a neighbor whose kernel has not begun.
        self._meet(own, pltpu.get_barrier_semaphore())
        for number, (exchanges, copied) in enumerate(self._steps):
            for place, one in enumerate(exchanges):
                self._send(own, at, one, send.at[place], receive.at[place])
            copies = [self._copy(held, send.at[place], receive.at[place]) for place in range(len(exchanges))]
            for one, copy in zip(exchanges, copies, strict=True):
                await_sent(copy, own[one.sent.first])
            at.for_each(own, copied, pltpu.sync_copy)
            for one, copy in zip(exchanges, copies, strict=True):
                await_arrived(copy, own[one.arriving.first])
                self._add_up(own, at, scratch, local, one.added)
            if number + 1 < len(self._steps):
                self._meet(own, finished.at[barrier_semaphore(number)])
        self._collect(own, at, results[0] if results else held)

    def _collect(self, own: Any, at: _Memory, result: Any) -> None:
        """Copies what is in no row of the result from where it stands at last."""

        def one(entry: list[Any]) -> None:
            at(entry[0], self._collected.among[0], lambda row: pltpu.sync_copy(row, result.at[entry[1]]))

        _for_each(own, self._collected, 2, one)

    def _send(self, own: Any, at: _Memory, one: _Exchange, send: Any, receive: Any) -> None:
        """Starts the transfers of a direction."""
        to = self._device(own[one.to.first + 1])

        def start(source: Any, landing: Any) -> None:
            pltpu.make_async_remote_copy(source, landing, send, receive, device_id=to).start()

        at.for_each(own, one.sent, start)

    def _copy(self, held: Any, send: Any, receive: Any) -> Any:
        """A copy of the size of all others, to wait for these."""
        return pltpu.make_async_remote_copy(held.at[0], held.at[0], send, receive, device_id=self._device(0))

    def _add_up(self, own: Any, at: _Memory, scratch: Any, local: Any, added: _Columns) -> None:
        """Adds what landed aside to what is in its row."""
        size = scratch.shape[1]
        blocks = at.buffers[0][0].shape[1] // size

        def add(came: Any, stood: Any) -> None:
            def block(number: Any) -> None:
                part = pl.ds(pl.multiple_of(number * size, size), size)
                copies = [
                    pltpu.make_async_copy(row.at[part], scratch.at[place], local.at[place])
                    for place, row in enumerate((came, stood))
                ]
                for copy in copies:
                    copy.start()
                for copy in copies:
                    copy.wait()
                scratch[0] = scratch[0] + scratch[1]
                pltpu.sync_copy(scratch.at[0], stood.at[part])

            _count(blocks, block)

        at.for_each(own, added, add)

    def _meet(self, own: Any, semaphore: Any) -> None:
        """Waits until all neighbors are here."""
        degree = own[self._neighbors.first]

        def signal(row: list[Any]) -> None:
            pl.semaphore_signal(semaphore, 1, device_id=self._device(row[0]))

        _for_each(own, self._neighbors, 1, signal)

        # A rank that takes no part has no neighbors, and nobody signals it.
        @pl.when(degree > 0)
        def _() -> None:
            pl.semaphore_wait(semaphore, degree)

    def _device(self, rank: Any) -> dict[str | tuple[str, ...], Any]:
        """The device of a rank, by its place along the axes; along all others it is where this device is.

        By names, never by a number: JAX 0.10's interpreter numbers the devices of a mesh as those of an earlier mesh
        with the same axes in another order.
        """
        return {self.axis_names[0] if len(self.axis_names) == 1 else self.axis_names: rank}

    def _what_is_collected(self) -> list[list[Any]]:
        """By rank: rows that are copied at the end, and to which of the result."""
        rows = self._placed
        if not rows.apart and rows.ends_in_place:
            return [[] for _ in rows.end]
        # Apart, most stands there already.
        moved = rows.filled & ((rows.end != np.arange(rows.outputs)) | (not rows.apart))
        return [
            [(end[place], place) for place in np.flatnonzero(row)] for end, row in zip(rows.end, moved, strict=True)
        ]

    def _step(self, step: Step) -> tuple[list[_Exchange], _Columns]:
        asides = np.zeros(self._plan_tables.ranks, np.int64)
        exchanges = [self._exchange(one, asides) for one in step.exchanges]
        self._aside = max(self._aside, int(asides.max()))
        pairs = np.stack([step.copied_from, step.copied_to], axis=2)
        return exchanges, self._add([list(rows[:count]) for rows, count in zip(pairs, step.copies, strict=True)])

    def _exchange(self, one: Exchange, asides: NDArray[np.int64]) -> _Exchange:
        """The tables of a permutation; `asides` are the rows that each rank has used aside in this step."""
        ranks = self._plan_tables.ranks
        to: list[list[Any]] = [[] for _ in range(ranks)]
        sent: list[list[Any]] = [[] for _ in range(ranks)]
        added: list[list[Any]] = [[] for _ in range(ranks)]
        for start, end in one.pairs:
            amount = int(one.amount[end])
            landing = one.landed[end, :amount].copy()
            count = int(one.adds[end].sum())
            aside = self._placed.count + asides[end] + np.arange(count)
            added[end] = list(np.stack([aside, landing[:count]], axis=1))
            landing[:count] = aside
            asides[end] += count
            to[start] = [(end,)]
            sent[start] = list(np.stack([one.sent[start, :amount], landing], axis=1))
        arriving: list[list[Any]] = [[()] * int(amount) for amount in one.amount]
        return _Exchange(self._add(to), self._add(sent), self._add(arriving), self._add(added))

    def _neighbors_of_ranks(self) -> list[list[Any]]:
        """Per rank: the ranks that it ever sends to or receives from."""
        neighbors: list[set[int]] = [set() for _ in range(self._plan_tables.ranks)]
        for step in self._plan_tables.steps:
            for one in step:
                neighbors[one.start].add(one.end)
                neighbors[one.end].add(one.start)
        return [[(rank,) for rank in sorted(ranks)] for ranks in neighbors]

    def _add(self, entries: list[list[Any]]) -> _Columns:
        """A table: by rank the number of its entries, and these."""
        columns = zip(*(entry for row in entries for entry in row), strict=True)
        among = [set((np.searchsorted(self._firsts, column, "right") - 1).tolist()) for column in columns]
        flat = [np.array(row, np.int64).ravel() for row in entries]
        table = np.zeros((len(entries), 1 + max(map(len, flat))), np.int64)
        table[:, 0] = [len(row) for row in entries]
        for row, numbers in zip(table, flat, strict=True):
            row[1 : 1 + len(numbers)] = numbers
        self._blocks.append(table)
        self._width += table.shape[1]
        return _Columns(self._width - table.shape[1], among)


def barrier_semaphore(step: int) -> int:
    """The semaphore of the barrier after a step."""
    return step % 2


def await_sent(copy: Any, count: Any) -> None:
    """Waits until as many chunks have left."""
    _count(count, lambda _: copy.wait_send())


def await_arrived(copy: Any, count: Any) -> None:
    """Waits until as many chunks have arrived."""
    _count(count, lambda _: copy.wait_recv())


def collective(
    plan: Plan, axis_names: AxisNames, interpret: Any = False, *, axis_index_groups: Groups | None = None
) -> KernelCollective:
    """The collective of a plan as a kernel, for the shards of `shard_map` along these axes of the mesh.

    `axis_index_groups` are as for `collsynth.jax.collective`.
    """
    return KernelCollective(plan, axis_names, interpret, axis_index_groups)


def _for_each(own: Any, columns: _Columns, width: int, do: Callable[[list[Any]], None]) -> None:
    """Does something for each entry of a table."""

    if not columns.among:
        return

    def one(index: Any) -> None:
        at = columns.first + 1 + width * index
        do([own[at + column] for column in range(width)])

    _count(own[columns.first], one)


def _count(number: Any, do: Callable[[Any], None]) -> None:
    """Does something with each number below one."""

    def one(index: Any, carry: Any) -> Any:
        do(index)
        return carry

    lax.fori_loop(0, number, one, 0)


def _block(rows: int) -> int:
    """Rows of a block: as many as divide the rows of a chunk."""
    return max(size for size in range(1, min(rows, BLOCK) + 1) if rows % size == 0)


def _for_the_core(chunks: Array, adds: bool) -> tuple[Array, Callable[[Array], Array]]:
    """Chunks in a type that a TPU's core knows, and the way back.

    What is only moved is moved as whole numbers of the same size. Sums of float16 are formed in float32, and rounded
    once, at the end; those of bool are counted, in int32. A complex number is a pair.
    """
    dtype = chunks.dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        rows = chunks.shape[1]
        halves = jnp.concatenate([chunks.real, chunks.imag], axis=1)
        return halves, lambda y: lax.complex(y[:, :rows], y[:, rows:])
    if dtype == jnp.bool_:
        return chunks.astype(jnp.int32 if adds else jnp.int8), lambda y: y != 0
    if dtype == jnp.float16:
        if adds:
            return chunks.astype(jnp.float32), lambda y: y.astype(dtype)
        return lax.bitcast_convert_type(chunks, jnp.int16), lambda y: lax.bitcast_convert_type(y, dtype)
    return chunks, lambda y: y


__all__ = ["COLLECTIVE_ID", "KernelCollective", "collective"]
