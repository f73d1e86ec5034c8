"""Plans over a process group of PyTorch: sends and receives between neighbors, step by step.

Neither PyTorch nor its backends promise which route a message takes, or that steps of different ranks happen at the
same time: the plan decides who talks to whom and in which order.
"""

# No `from __future__ import annotations`: DDP inspects the annotations of its hooks.
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
import torch.distributed as dist

from .._errors import UsageError
from .._plan import Plan
from .._tables import RankTables, Transfer, process_of, rank_of, tables_of

#: The thread of each group. Two calls at a time on a group would take each other's messages.
_WORKERS: dict[Any, ThreadPoolExecutor] = {}


class Collective:
    """The collective of a plan among the processes of a group: one for each rank, or one for each live rank.

    Every process calls it, with a tensor of the same shape and type; it returns this rank's result, in the shapes of
    `collsynth.jax.Collective`. The calls of a process on a group run in the order in which they start, in a thread of
    their own; as always, all processes must make the same ones.
    """

    def __init__(self, plan: Plan, group: Any = None) -> None:
        self._join(plan, group, dist.get_rank(group), dist.get_world_size(group))

    def _join(self, plan: Plan, group: Any, number: int, size: int) -> None:
        self.plan, self.group, self._size = plan, group, size
        self.rank = rank_of(plan, number, size)
        self._tables = RankTables(tables_of(plan), self.rank)
        self._copies = [_indices(places) for places in self._tables.copies]
        self._steps = [
            ([(one, _indices(one.source)) for one in sends], [_Arrival(one) for one in receives])
            for sends, receives in self._tables.steps
        ]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """This rank's result."""
        return self.start(x).wait()

    def _run(self, x: torch.Tensor) -> torch.Tensor:
        tables = self._tables.tables
        shape = self._tables.block_shape(tuple(x.shape))
        count = int(torch.Size(shape).numel())
        flat = x.reshape(self._tables.input_blocks, count)
        length = -(-count // tables.block_slots)
        held = x.new_zeros((tables.places, length))
        rows = held[: tables.first[1]].view(self._tables.input_blocks, length * tables.block_slots)
        rows[:, :count] = flat
        source, target = self._copies
        held[target] = held[source]
        for sends, receives in self._steps:
            self._step(held, sends, receives)
        output = held[tables.first[1] : tables.first[2]]
        if not tables.has_output(self.rank):
            output = torch.zeros_like(output)
        blocks = output.reshape(self._tables.output_blocks, length * tables.block_slots)[:, :count]
        result = blocks.reshape(self._tables.output_blocks, *shape)
        if tables.kind == "all_reduce_gathered":
            return result.sum(dim=0, dtype=x.dtype)
        # With memory of its own: DDP looks at that, whatever part of it a tensor is.
        return (result if self._tables.has_output_rows else result[0]).clone()

    def _ranks(self) -> list[int]:
        """The ranks of the processes, in their order."""
        every = range(self.plan.topology.ranks)
        return list(every) if self._size == len(every) else tables_of(self.plan).live

    def _peers(self) -> int:
        """The number of processes whose sum this one gets."""
        if self.plan.groups is None:
            return self._size
        live = set(tables_of(self.plan).live)
        if alone := sorted(live - tables_of(self.plan).members):
            raise UsageError(
                f"ranks {alone} are in no group, and would average nothing", "state a group for every rank"
            )
        mine = next(group for group in self.plan.groups if self.rank in group)
        return len(live.intersection(mine))

    def _demand(self) -> Any:
        """Chunks of each process for each process."""
        live, demand = self._ranks(), self.plan.demand
        assert demand is not None, "the plan is for an all_to_allv"
        return demand[live][:, live]

    def start(self, x: torch.Tensor) -> "torch.futures.Future[torch.Tensor]":
        """The same while this process goes on."""
        worker = _WORKERS.setdefault(self.group, ThreadPoolExecutor(1, "collsynth"))
        # Without a type: older versions of PyTorch state a wrong one.
        future: Any = torch.futures.Future()

        def run() -> None:
            try:
                future.set_result(self._run(x))
            except Exception as error:
                future.set_exception(error)

        worker.submit(run)
        return future

    def _step(self, held: torch.Tensor, sends: list[Any], receives: list["_Arrival"]) -> None:
        arriving = [held.new_empty((len(one.transfer.source), held.shape[1])) for one in receives]
        leaving = [held[source] for _, source in sends]
        if held.shape[1] and (sends or receives):
            # Bytes, so that types that the backend does not know travel too.
            into = [(values.view(torch.uint8), one.transfer) for one, values in zip(receives, arriving, strict=True)]
            out_of = [(values.view(torch.uint8), one) for (one, _), values in zip(sends, leaving, strict=True)]
            for request in self._exchange(into, out_of):
                request.wait()
        found = [held[one.base] for one in receives]
        for one, values, below in zip(receives, arriving, found, strict=True):
            values[one.adds] += below
            held[one.target] = values[one.kept]
        for one, values in zip(receives, arriving, strict=True):
            held[one.later_target] += values[one.later]

    def _exchange(self, into: list[Any], out_of: list[Any]) -> list[Any]:
        """Starts to receive and to send: tensors, each with its transfer."""
        operations = [(dist.irecv, values, one.start, one.group) for values, one in into]
        operations += [(dist.isend, values, one.end, one.group) for values, one in out_of]
        whole = [dist.P2POp(how, values, self._global(rank), self.group, tag) for how, values, rank, tag in operations]
        requests: list[Any] = dist.batch_isend_irecv(whole)
        return requests

    def _global(self, rank: int) -> int:
        peer = process_of(self.plan, rank, self._size)
        return peer if self.group is None else int(dist.distributed_c10d._get_global_rank(self.group, peer))


class _Arrival:
    """Which rows of a transfer go where."""

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        adds = ~transfer.later & (transfer.base >= 0)
        #: Rows to which a place is added, and the places.
        self.adds, self.base = _indices(adds.nonzero()[0]), _indices(transfer.base[adds])
        #: Rows that are kept, and their places.
        self.kept, self.target = _indices((~transfer.later).nonzero()[0]), _indices(transfer.target[~transfer.later])
        #: Rows that are added to what other rows have put in their places.
        self.later = _indices(transfer.later.nonzero()[0])
        self.later_target = _indices(transfer.target[transfer.later])


class Work:
    """What an asynchronous call returns: the result is there after `wait`."""

    def __init__(self, future: "torch.futures.Future[Any]") -> None:
        self._future = future

    def wait(self) -> bool:
        """Waits for the end; raises what went wrong."""
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        """Is it done?"""
        return bool(self._future.done())

    def get_future(self) -> "torch.futures.Future[Any]":
        """The result as a future."""
        return self._future


def all_to_all_single(
    output: torch.Tensor,
    input: torch.Tensor,
    run: Collective,
    async_op: bool = False,
    *,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    chunk_rows: int = 1,
) -> Work | None:
    """Like `torch.distributed.all_to_all_single`: a plan for an all_to_all cuts both tensors in equal splits.

    Splits, one for each process, need a plan for an all_to_allv. A chunk of its demand has room for `chunk_rows` rows;
    a split of less than its chunks is padded on the way. Unless stated, splits fill their chunks.
    """
    if output_split_sizes is None and input_split_sizes is None and run.plan.collective != "all_to_allv":
        _check(run, "all_to_all")
        return _into(output, _rows(input, run), run, async_op)
    _check(run, "all_to_allv")
    demand = run._demand()
    here = run._ranks().index(run.rank)
    outgoing = _Splits(input_split_sizes, demand[here], chunk_rows, len(input), "input")
    incoming = _Splits(output_split_sizes, demand[:, here], chunk_rows, len(output), "output")
    rows = input.new_zeros((run._tables.input_blocks * chunk_rows, *input.shape[1:]))
    for at, stop, place in outgoing.pieces:
        rows[place : place + stop - at] = input[at:stop]

    def keep(result: torch.Tensor) -> torch.Tensor:
        arrived = result.reshape(-1, *output.shape[1:])
        for at, stop, place in incoming.pieces:
            output[at:stop] = arrived[place : place + stop - at]
        return output

    return _then(run.start(rows.reshape(-1, chunk_rows, *input.shape[1:])), keep, async_op)


def all_gather_into_tensor(
    output: torch.Tensor, input: torch.Tensor, run: Collective, async_op: bool = False
) -> Work | None:
    """Like `torch.distributed.all_gather_into_tensor`."""
    _check(run, "all_gather")
    return _into(output, input, run, async_op)


def reduce_scatter_tensor(
    output: torch.Tensor, input: torch.Tensor, run: Collective, async_op: bool = False
) -> Work | None:
    """Like `torch.distributed.reduce_scatter_tensor`, of sums."""
    _check(run, "reduce_scatter")
    return _into(output, _rows(input, run), run, async_op)


def all_reduce(tensor: torch.Tensor, run: Collective, async_op: bool = False) -> Work | None:
    """Like `torch.distributed.all_reduce`, of sums: in place. Ranks in no group keep what they have."""
    _check(run, "all_reduce", "all_reduce_gathered")
    return _in_place(tensor, run, async_op)


def broadcast(tensor: torch.Tensor, run: Collective, async_op: bool = False) -> Work | None:
    """Like `torch.distributed.broadcast`, from its root: in place. Ranks in no group keep what they have."""
    _check(run, "broadcast")
    return _in_place(tensor, run, async_op)


def ddp_hook(run, bucket):  # type: ignore[no-untyped-def]
    """A communication hook of DistributedDataParallel that averages gradients by a plan for an all_reduce.

    `model.register_comm_hook(collsynth.torch.Collective(plan), collsynth.torch.ddp_hook)`

    With a plan in groups, each group averages its own, and all must train alike, bucket by bucket. Refuses a plan that
    leaves live ranks without a group: theirs would be averaged with nobody's.
    """
    _check(run, "all_reduce", "all_reduce_gathered")
    peers = run._peers()
    return run.start(bucket.buffer() / peers)


def _into(output: torch.Tensor, x: torch.Tensor, run: Collective, async_op: bool) -> Work | None:
    return _then(run.start(x), lambda result: output.copy_(result.reshape(output.shape)), async_op)


def _in_place(tensor: torch.Tensor, run: Collective, async_op: bool) -> Work | None:
    def keep(result: torch.Tensor) -> torch.Tensor:
        ends_with_it = tables_of(run.plan).has_output(run.rank)
        return tensor.copy_(result.reshape(tensor.shape)) if ends_with_it else tensor

    return _then(run.start(tensor), keep, async_op)


def _then(future: Any, keep: Callable[[torch.Tensor], torch.Tensor], async_op: bool) -> Work | None:
    work = Work(future.then(lambda done: keep(done.value())))
    if async_op:
        return work
    work.wait()
    return None


class _Splits:
    """Where the messages of one rank stand in its tensor, and where in its rows of chunks."""

    def __init__(self, stated: Sequence[int] | None, chunks: Any, chunk_rows: int, rows: int, name: str) -> None:
        room = [count * chunk_rows for count in chunks.tolist()]
        splits = room if stated is None else list(stated)
        if len(splits) != len(room) or any(split > most for split, most in zip(splits, room, strict=True)):
            raise UsageError(f"{name} splits {splits}: the plan has room for {room} rows")
        if sum(splits) != rows or min(splits) < 0:
            raise UsageError(f"{name} splits {splits} of {rows} rows")
        #: First row and end in the tensor, first row in those of the chunks.
        self.pieces = []
        at = place = 0
        for split, most in zip(splits, room, strict=True):
            self.pieces.append((at, at + split, place))
            at, place = at + split, place + most


def _rows(x: torch.Tensor, run: Collective) -> torch.Tensor:
    """The operand with an axis for the ranks or, in groups, for the members of the largest."""
    blocks = run._tables.input_blocks
    if x.shape[0] % blocks:
        whose = "ranks" if run.plan.groups is None else "members of a group"
        raise UsageError(f"the first axis of {tuple(x.shape)} is no multiple of the {blocks} {whose}")
    return x.reshape(blocks, x.shape[0] // blocks, *x.shape[1:])


def _check(run: Collective, *kinds: str) -> None:
    if run.plan.collective not in kinds:
        raise UsageError(f"this plan is for {run.plan.collective}, not for {kinds[0]}")


def _indices(places: Any) -> torch.Tensor:
    # Not by way of NumPy: older versions of PyTorch do not know its newer ones.
    return torch.tensor(places.tolist(), dtype=torch.long)
