"""A plan as one Pallas kernel for TPUs: remote copies between neighbors, step by step, and nothing else.

Unlike XLA, the kernel keeps the steps as the plan has them: a rank begins a step when it and every rank it is joined to
have finished the previous one, so that no two transfers share a link, and no chunk is written over while it is read.
Neighbors may be a step apart, so the barriers of adjacent steps have semaphores of their own: with a shared one, a
neighbor that is a step ahead would pass for one that is not.

The kernel has run in the TPU interpreter only, on up to 9 devices, never on hardware.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from .._errors import UsageError
from .._plan import Plan
from .._running.tables import Transfer
from . import Array, AxisNames, Collective, _Columns, _put, _take

#: Chunks are rows of tiles of this many lanes; the number of rows of lanes for each size of an element.
LANES = 128
SUBLANES = {1: 32, 2: 16, 4: 8, 8: 8}
#: Barriers of kernels with different numbers do not disturb each other.
COLLECTIVE_ID = 19


class _Step:
    """The columns of a step: per direction what is sent, how much arrives; then what is put in its place."""

    def __init__(self) -> None:
        #: Per direction: the number of chunks and the rank they go to; sources; where they land there.
        self.sent: list[tuple[_Columns, _Columns, _Columns]] = []
        #: Per direction: the number of chunks that arrive.
        self.arriving: list[_Columns] = []
        #: The number of chunks that landed aside, then for each its place there, base (-1: none) and target.
        self.kept: tuple[_Columns, _Columns] | None = None
        #: The same of those that are added to others.
        self.added: tuple[_Columns, _Columns] | None = None


class KernelCollective(Collective):
    """A collective like `collsynth.jax.Collective`, carried out by one kernel.

    The mesh may have its axes in any order, and others besides. `interpret` is
    `pltpu.InterpretParams(...)` where there is no TPU. Not
    differentiable.
    """

    def __init__(self, plan: Plan, axis_names: AxisNames, interpret: Any = False) -> None:
        self._aside = 0
        super().__init__(plan, axis_names)
        self._interpret = interpret
        self._kernel_steps = [self._kernel_step(transfers) for transfers in self._plan_tables.steps]
        self._neighbors = self._add(self._neighbor_table())
        self.tables = np.concatenate(self._blocks, axis=1)

    def __call__(self, x: Array, tables: Array | None = None) -> Array:
        self._check_mesh()
        own = self._row(tables)
        x = jnp.asarray(x)
        rows, shape = self._rows(x)
        count, length = rows.shape
        tile = LANES * SUBLANES[rows.dtype.itemsize]
        tiles = max(-(-length // tile), 1)
        padded = jnp.pad(rows, ((0, self._plan_tables.places + self._aside - count), (0, tiles * tile - length)))
        if self._copies is not None:
            source, target = (self._at(own, columns) for columns in self._copies)
            padded = _put(padded, target, _take(padded, source))
        held = self._call(padded.reshape(padded.shape[0], -1, LANES), own)
        result: Array = self._result(held.reshape(held.shape[0], -1)[:, :length], shape, own)
        return result

    def _check_mesh(self) -> None:
        self._mesh_numbers()
        if not set(self.axis_names) <= set(jax.sharding.get_abstract_mesh().axis_names):
            raise UsageError("a kernel is called within shard_map")

    def _device(self, rank: Any) -> dict[str | tuple[str, ...], Any]:
        """The device of a rank, by its place along the axes; along all others it is where this device is.

        By names, never by a number: JAX 0.10's interpreter numbers the devices of a mesh as those of an earlier mesh
        with the same axes in another order.
        """
        return {self.axis_names[0] if len(self.axis_names) == 1 else self.axis_names: rank}

    def _call(self, held: Array, own: Array) -> Array:
        directions = max([1, *(len(step.sent) for step in self._kernel_steps)])
        done: Array = pl.pallas_call(
            self._kernel,
            out_shape=jax.ShapeDtypeStruct(held.shape, held.dtype),
            in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY)],
            out_specs=pl.BlockSpec(memory_space=pl.ANY),
            input_output_aliases={1: 0},
            scratch_shapes=[
                pltpu.SemaphoreType.DMA((directions,)),
                pltpu.SemaphoreType.DMA((directions,)),
                pltpu.SemaphoreType.REGULAR((2,)),
                pltpu.VMEM((2, *held.shape[1:]), held.dtype),
            ],
            compiler_params=pltpu.CompilerParams(collective_id=COLLECTIVE_ID, has_side_effects=True),
            interpret=self._interpret,
        )(own, held)
        return done

    def _kernel(self, own: Any, _: Any, held: Any, send: Any, receive: Any, finished: Any, scratch: Any) -> None:
        # Nobody writes to a neighbor whose kernel has not begun.
        self._meet(own, pltpu.get_barrier_semaphore())
        for number, step in enumerate(self._kernel_steps):
            for place, (to, source, landing) in enumerate(step.sent):

                def start(
                    index: Any,
                    carry: Any,
                    to: Any = to,
                    source: Any = source,
                    landing: Any = landing,
                    place: int = place,
                ) -> Any:
                    here, there = own[source.first + index], own[landing.first + index]
                    pltpu.make_async_remote_copy(
                        held.at[here],
                        held.at[there],
                        send.at[place],
                        receive.at[place],
                        device_id=self._device(own[to.first + 1]),
                    ).start()
                    return carry

                lax.fori_loop(0, own[to.first], start, 0)
            for place, ((to, _, _), arriving) in enumerate(zip(step.sent, step.arriving, strict=True)):
                copy = pltpu.make_async_remote_copy(
                    held.at[0],
                    held.at[0],
                    send.at[place],
                    receive.at[place],
                    device_id=self._device(0),
                )
                await_sent(copy, own[to.first])
                await_arrived(copy, own[arriving.first])
            self._keep(own, held, scratch, step)
            if number + 1 < len(self._kernel_steps):
                self._meet(own, finished.at[barrier_semaphore(number)])

    def _keep(self, own: Any, held: Any, scratch: Any, step: _Step) -> None:
        """Puts what landed aside in its place, on top of what is added to it."""
        for table in (step.kept, step.added):
            if table is None:
                continue
            count, rows = table

            def keep(index: Any, carry: Any, rows: _Columns = rows) -> Any:
                aside, base, target = (own[rows.first + 3 * index + column] for column in range(3))
                pltpu.sync_copy(held.at[aside], scratch.at[0])

                @pl.when(base >= 0)
                def _() -> None:
                    pltpu.sync_copy(held.at[base], scratch.at[1])
                    scratch[0] = scratch[0] + scratch[1]

                pltpu.sync_copy(scratch.at[0], held.at[target])
                return carry

            lax.fori_loop(0, own[count.first], keep, 0)

    def _meet(self, own: Any, semaphore: Any) -> None:
        """Waits until all neighbors are here."""
        degree = own[self._neighbors.first]

        def signal(index: Any, carry: Any) -> Any:
            neighbor = own[self._neighbors.first + 1 + index]
            pl.semaphore_signal(semaphore, 1, device_id=self._device(neighbor))
            return carry

        lax.fori_loop(0, degree, signal, 0)

        # A rank that takes no part has no neighbors, and nobody signals it.
        @pl.when(degree > 0)
        def _() -> None:
            pl.semaphore_wait(semaphore, degree)

    def _kernel_step(self, transfers: list[Transfer]) -> _Step:
        ranks, step = self._plan_tables.ranks, _Step()
        sources = {(one.start, place) for one in transfers for place in one.source.tolist()}
        asides = [0] * ranks
        kept: list[list[int]] = [[] for _ in range(ranks)]
        added: list[list[int]] = [[] for _ in range(ranks)]
        for group in sorted({one.group for one in transfers}):
            members = [one for one in transfers if one.group == group]
            most = max(sum(len(one.source) for one in members if one.start == rank) for rank in range(ranks))
            to, arriving = np.zeros((ranks, 2), np.int32), np.zeros((ranks, 1), np.int32)
            source, landing = (np.zeros((ranks, most), np.int32) for _ in range(2))
            for one in members:
                for place, target, base, later in zip(
                    one.source.tolist(), one.target.tolist(), one.base.tolist(), one.later.tolist(), strict=True
                ):
                    lands = target
                    # A place that is still sent, or that something is added to, is not written from afar.
                    if later or base >= 0 or (one.end, target) in sources:
                        lands = self._plan_tables.places + asides[one.end]
                        asides[one.end] += 1
                        rows = added if later else kept
                        rows[one.end] += [lands, target if later else base, target]
                    source[one.start, to[one.start, 0]] = place
                    landing[one.start, to[one.start, 0]] = lands
                    to[one.start] = (to[one.start, 0] + 1, one.end)
                    arriving[one.end, 0] += 1
            step.sent.append((self._add(to), self._add(source), self._add(landing)))
            step.arriving.append(self._add(arriving))
        self._aside = max(self._aside, *asides)
        step.kept, step.added = self._ragged(kept), self._ragged(added)
        return step

    def _ragged(self, rows: list[list[int]]) -> tuple[_Columns, _Columns] | None:
        most = max(map(len, rows))
        if most == 0:
            return None
        counts = np.array([[len(row) // 3] for row in rows], np.int32)
        return self._add(counts), self._add(np.array([row + [0] * (most - len(row)) for row in rows], np.int32))

    def _neighbor_table(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Per rank: how many ranks it ever sends to or receives from, and which."""
        neighbors: list[set[int]] = [set() for _ in range(self._plan_tables.ranks)]
        for step in self._plan_tables.steps:
            for one in step:
                neighbors[one.start].add(one.end)
                neighbors[one.end].add(one.start)
        most = max(map(len, neighbors))
        rows = [[len(ranks), *sorted(ranks), *[0] * (most - len(ranks))] for ranks in neighbors]
        return np.array(rows, np.int32)


def barrier_semaphore(step: int) -> int:
    """The semaphore of the barrier after a step."""
    return step % 2


def await_sent(copy: Any, count: Any) -> None:
    """Waits until as many chunks have left."""

    def one(_: Any, carry: Any) -> Any:
        copy.wait_send()
        return carry

    lax.fori_loop(0, count, one, 0)


def await_arrived(copy: Any, count: Any) -> None:
    """Waits until as many chunks have arrived."""

    def one(_: Any, carry: Any) -> Any:
        copy.wait_recv()
        return carry

    lax.fori_loop(0, count, one, 0)


def collective(plan: Plan, axis_names: AxisNames, interpret: Any = False) -> KernelCollective:
    """The collective of a plan as a kernel, for the shards of `shard_map` along these axes of the mesh."""
    return KernelCollective(plan, axis_names, interpret)


__all__ = ["COLLECTIVE_ID", "KernelCollective", "collective"]
