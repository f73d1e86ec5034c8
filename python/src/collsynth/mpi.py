"""Plans over MPI, on NumPy buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._plan import Plan
from ._tables import RankTables, process_of, rank_of, tables_of


class Collective:
    """The collective of a plan among the processes of a communicator: one for each rank, or one for each live rank.

    Every process calls it, with an array of the same shape and type; it returns this rank's result, in the shapes of
    `collsynth.jax.Collective`. Each step is one round of `Isend` and `Irecv` between neighbors. MPI promises neither
    their routes nor that steps of different ranks happen at the same time.
    """

    def __init__(self, plan: Plan, comm: MPI.Comm = MPI.COMM_WORLD) -> None:
        self.plan, self.comm = plan, comm
        self.rank = rank_of(plan, comm.Get_rank(), comm.Get_size())
        self._tables = RankTables(tables_of(plan), self.rank)

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        """This rank's result."""
        x, tables = np.asarray(x), self._tables.tables
        shape = self._tables.block_shape(x.shape)
        flat = x.reshape(self._tables.input_blocks, int(np.prod(shape, dtype=np.int64)))
        length = -(-flat.shape[1] // tables.block_slots)
        held = np.zeros((tables.places, length), x.dtype)
        rows = held[: tables.first[1]].reshape(self._tables.input_blocks, length * tables.block_slots)
        rows[:, : flat.shape[1]] = flat
        source, target = self._tables.copies
        held[target] = held[source]
        for step in range(len(self._tables.steps)):
            self._step(held, step)
        output = held[tables.first[1] : tables.first[2]]
        if not tables.has_output(self.rank):
            output = np.zeros_like(output)
        blocks = output.reshape(self._tables.output_blocks, length * tables.block_slots)[:, : flat.shape[1]]
        result = blocks.reshape(self._tables.output_blocks, *shape)
        if tables.kind == "all_reduce_gathered":
            return np.asarray(result.sum(axis=0, dtype=x.dtype))
        return result if self._tables.has_output_rows else np.asarray(result[0])

    def _step(self, held: NDArray[Any], step: int) -> None:
        sends, receives = self._tables.steps[step]
        size = self.comm.Get_size()
        found = [held[np.maximum(one.base, 0)] for one in receives]
        arriving = [np.empty((len(one.source), held.shape[1]), held.dtype) for one in receives]
        leaving = [held[one.source] for one in sends]
        # Bytes, so that types that MPI does not know travel too.
        requests = [
            self.comm.Irecv(values.view(np.uint8), process_of(self.plan, one.start, size), tag=one.group)
            for one, values in zip(receives, arriving, strict=True)
        ] + [
            self.comm.Isend(values.view(np.uint8), process_of(self.plan, one.end, size), tag=one.group)
            for one, values in zip(sends, leaving, strict=True)
        ]
        MPI.Request.Waitall(requests)
        for one, values, below in zip(receives, arriving, found, strict=True):
            first = ~one.later
            adds = (first & (one.base >= 0))[:, None]
            held[one.target[first]] = np.where(adds, values + below, values)[first]
        for one, values in zip(receives, arriving, strict=True):
            held[one.target[one.later]] += values[one.later]


def collective(plan: Plan, comm: MPI.Comm = MPI.COMM_WORLD) -> Collective:
    """The collective of a plan among the processes of a communicator."""
    return Collective(plan, comm)
