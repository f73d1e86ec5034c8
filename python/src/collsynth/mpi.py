"""Plans over MPI, on NumPy buffers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._answer.plan import Plan
from ._errors import CallFailed, UsageError
from ._running import agreement
from ._running.ranges import Message, Range, Ranges
from ._running.tables import RankTables, process_of, rank_of, tables_of

#: Calls whose ranges are kept, by the elements of a block.
KEPT = 8


#: Polls of MPI before naps begin, and their seconds.
EAGER_POLLS = 64
NAP = 2e-5


class Collective:
    """The collective of a plan among the processes of a communicator: one for each rank, or one for each live rank.

    Every process of the communicator makes it, as that duplicates the communicator: no message of a plan is anybody
    else's. `free`, or the end of a `with` block, frees the duplicate, and is as collective as `Comm.Free`.

    Every process calls it, with an array of the same shape and type; it returns this rank's result, in the shapes of
    `collsynth.jax.Collective`. Processes tell each other first what they call, and raise `UsageError` if it is not the
    same. MPI promises neither the routes of messages nor that steps of different ranks happen at the same time.

    A call fails with `CallFailed` if a process has not come within `timeout` seconds (None: it waits without a limit).
    Then none can follow, and `MPI_Finalize` may wait for ever: end the job, by `Abort` or with `python -m mpi4py`.
    """

    def __init__(self, plan: Plan, comm: MPI.Comm = MPI.COMM_WORLD, timeout: float | None = 300.0) -> None:
        if not isinstance(plan, Plan):
            raise UsageError(f"a collective is made of a plan, not of {type(plan).__name__}")
        self.plan, self.timeout = plan, timeout
        self._number, self._size = comm.Get_rank(), comm.Get_size()
        #: The rank of this process in the plan.
        self.rank = rank_of(plan, self._number, self._size)
        self._tables = RankTables(tables_of(plan), self.rank)
        live = tables_of(plan).live
        self._peers = {rank: process_of(plan, rank, self._size) for rank in live}
        self._ranges: dict[int, Ranges] = {}
        self._memory = np.empty(0, np.uint8)
        self._running = threading.Lock()
        self._closed: str | None = None
        #: What a call that failed left under way: MPI may still write there.
        self._lost: list[Any] = []
        self.comm = comm.Dup()

    def __repr__(self) -> str:
        place = f"process {self._number} of {self._size} as rank {self.rank}"
        return f"<collsynth.mpi.Collective: {self.plan.collective} on a {self.plan.topology}, {place}>"

    def __enter__(self) -> Collective:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self.free()

    def free(self) -> None:
        """Frees the communicator; no call can follow."""
        if self._closed is None:
            self._closed = "it was freed"
            self.comm.Free()

    def __call__(self, x: Any, op: MPI.Op = MPI.SUM, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """This rank's result, in memory of its own, or in `out`: a contiguous array of its shape and type."""
        with self._running:
            if self._closed is not None:
                raise UsageError(f"this Collective cannot be called any more: {self._closed}")
            try:
                prepared = self._prepared(x, op, out)
            except Exception as error:
                refusal = agreement.refusal_words(error)
                self._guarded(lambda: self._agree(refusal))
                raise
            operand, _, shape = prepared
            words = agreement.call_words(self.plan.collective, operand.dtype, shape, tables_of(self.plan).digest)

            def call() -> NDArray[Any]:
                agreement.check(self._agree(words), self._number)
                return self._moved(*prepared)

            result: NDArray[Any] = self._guarded(call)
            return result

    def _guarded(self, body: Callable[[], Any]) -> Any:
        """Runs what others take part in: when it ends early, no call can follow."""
        try:
            return body()
        except (UsageError, CallFailed):
            raise
        except BaseException as error:
            self._closed = f"a call failed ({type(error).__name__})"
            if isinstance(error, MPI.Exception):
                raise self._failed(str(error)) from error
            raise

    def _prepared(self, x: Any, op: MPI.Op, out: Any) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]:
        """Operand, result and the shape of a block."""
        if op != MPI.SUM:
            raise UsageError("plans add up: op is MPI.SUM")
        if isinstance(x, np.ma.MaskedArray):
            raise UsageError("plans move no masks: fill the array first")
        x = np.asarray(x)
        if x.dtype.hasobject:
            raise UsageError(f"plans move arrays of values, not of Python objects ({x.dtype})")
        if tables_of(self.plan).adds or self._tables.tables.kind == "all_reduce_gathered":
            check_addition(x.dtype)
        shape = self._tables.block_shape(x.shape)
        whole = (self._tables.output_blocks, *shape) if self._rows else shape
        if out is None:
            out = np.empty(whole, x.dtype)
        elif (
            not isinstance(out, np.ndarray) or (out.shape, out.dtype) != (whole, x.dtype) or not out.flags.c_contiguous
        ):
            raise UsageError(f"out is a contiguous array of {x.dtype} {whole}")
        elif np.may_share_memory(out, x):
            raise UsageError("out shares memory with the operand")
        elif not out.flags.writeable:
            raise UsageError("out cannot be written to")
        return x, out, shape

    @property
    def _rows(self) -> bool:
        """Does the result have a row for each rank?"""
        return self._tables.has_output_rows and self._tables.tables.kind != "all_reduce_gathered"

    def _agree(self, words: bytes) -> list[bytes]:
        """What every process says."""
        mine, found = np.frombuffer(words, np.uint8), np.empty((self._size, len(words)), np.uint8)
        self._wait([self.comm.Iallgather(mine, found)], "the processes meet for a call", mine, found)
        return [row.tobytes() for row in found]

    def _moved(self, x: NDArray[Any], result: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """Runs the steps of the plan."""
        tables = self._tables
        count = int(np.prod(shape, dtype=np.int64))
        ranges = self._ranges.get(count)
        if ranges is None:
            while len(self._ranges) >= KEPT:
                self._ranges.pop(next(iter(self._ranges)))
            ranges = self._ranges[count] = Ranges(tables, count)
        output = result.reshape(-1)
        if tables.tables.kind == "all_reduce_gathered":
            output = np.empty(tables.output_blocks * count, x.dtype)
        size = x.dtype.itemsize
        most = (ranges.scratch + ranges.stage) * size
        if len(self._memory) < most:
            self._memory = np.empty(most, np.uint8)
        own = self._memory[:most].view(x.dtype)
        arrays = (np.ascontiguousarray(x).reshape(-1), output, own[: ranges.scratch], own[ranges.scratch :])
        ranges.run(arrays, np.add, Traffic(self, arrays, size), np.zeros((), x.dtype))
        if tables.tables.kind == "all_reduce_gathered":
            rows = output.reshape(tables.output_blocks, *shape)
            result[...] = rows[0]
            for row in rows[1:]:
                np.add(result, row, out=result)
        if not tables.tables.has_output(self.rank):
            result[...] = np.zeros((), x.dtype)
        return result

    def _wait(self, requests: list[MPI.Request], what: str, *kept: Any) -> None:
        """Waits for the end of these, with a limit: MPI has none, so it is asked again and again."""
        if self.timeout is None:
            MPI.Request.Waitall(requests)
            return
        if MPI.Request.Testall(requests):
            return
        limit, polls = time.monotonic() + self.timeout, 0
        while not MPI.Request.Testall(requests):
            if time.monotonic() > limit:
                self._closed = f"a call failed ({what}: a process did not come within {self.timeout:g} s)"
                self._lost += [requests, *kept, self._memory]
                raise self._failed(f"{what}, and one has not come within {self.timeout:g} s")
            polls += 1
            if polls < EAGER_POLLS:
                os.sched_yield()
            else:
                # Others may need the core to get here.
                time.sleep(NAP)

    def _failed(self, reason: str) -> CallFailed:
        return CallFailed(
            f"{self.plan.collective}: process {self._number} of {self._size}: {reason}",
            "a process has died, is late, or gave up; end the job with MPI.COMM_WORLD.Abort()",
        )


class Traffic:
    """Sends and receives the messages of one call."""

    def __init__(self, run: Collective, arrays: Sequence[NDArray[Any]], size: int) -> None:
        self._run, self._size, self._comm = run, size, run.comm
        # Bytes, so that types that MPI does not know travel too.
        self._octets = [one.view(np.uint8) if one.size else np.empty(0, np.uint8) for one in arrays]
        self._receives: dict[tuple[int, int], MPI.Request] = {}
        self._sends: dict[int, MPI.Request] = {}
        self._started = 0

    def post(self, messages: list[Message]) -> None:
        for peer, tag, whole in messages:
            self._receives[peer, tag] = self._comm.Irecv(self._of(whole), self._run._peers[peer], tag)

    def send(self, messages: list[Message]) -> None:
        for peer, tag, whole in messages:
            self._sends[self._started] = self._comm.Isend(self._of(whole), self._run._peers[peer], tag)
            self._started += 1

    def arrived(self, keys: list[tuple[int, int]]) -> None:
        self._wait(self._receives, keys)

    def sent(self, numbers: list[int] | None) -> None:
        self._wait(self._sends, list(self._sends) if numbers is None else numbers)

    def _wait(self, under_way: dict[Any, MPI.Request], keys: list[Any]) -> None:
        if keys:
            requests = [under_way.pop(key) for key in keys]
            self._run._wait(requests, "processes exchange messages", self._octets, self._receives, self._sends)

    def _of(self, whole: Range) -> list[Any]:
        part = self._octets[whole.region][whole.start * self._size : whole.stop * self._size]
        return [part, MPI.BYTE]


def check_addition(dtype: np.dtype[Any]) -> None:
    """Refuses a type that NumPy cannot add; strings it joins, and cuts to the length of one."""
    try:
        if dtype.kind in "SU":
            raise TypeError
        np.add(np.zeros(1, dtype), np.zeros(1, dtype), out=np.zeros(1, dtype))
    except TypeError:
        raise UsageError(f"this plan adds, and NumPy has no addition for {dtype}") from None


def collective(plan: Plan, comm: MPI.Comm = MPI.COMM_WORLD, timeout: float | None = 300.0) -> Collective:
    """The collective of a plan among the processes of a communicator, all of which call this."""
    return Collective(plan, comm, timeout)
