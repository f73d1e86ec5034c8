"""Calls with the signatures of `torch.distributed`, and a `Collective` as the group."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import torch
import torch.distributed as dist

from .._errors import UsageError
from .._running.tables import process_of, tables_of
from ._collective import Call, Collective, check_tensor, check_written, flat, in_line
from ._work import Work

SUM = dist.ReduceOp.SUM


def all_reduce(tensor: torch.Tensor, op: Any = SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Like `torch.distributed.all_reduce`, of sums: in place. Ranks in no group of the plan keep what they have."""
    run = _run(group, op)

    def prepare() -> Call:
        _sums(op)
        run._is_for("all_reduce", "all_reduce_gathered")
        run._everyone()
        return _in_place(tensor, run)

    return _work(run._submit("all_reduce", prepare, async_op), async_op)


def broadcast(
    tensor: torch.Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Like `torch.distributed.broadcast`, from the root of the plan: in place. Ranks in no group of the plan keep what
    they have. `src` and `group_src` are checked where they are stated."""
    run = _run(group, src)

    def prepare() -> Call:
        run._is_for("broadcast")
        run._everyone()
        _check_root(run, src, group_src)
        return _in_place(tensor, run)

    return _work(run._submit("broadcast", prepare, async_op), async_op)


def all_gather_into_tensor(
    output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Like `torch.distributed.all_gather_into_tensor`."""
    run = _run(group)

    def prepare() -> Call:
        run._is_for("all_gather")
        run._everyone()
        check_tensor("the input", input_tensor)
        rows, blocks = _rows(run, run._tables.output_blocks)
        _check_output(output_tensor, input_tensor, input_tensor.numel() * blocks)
        return _into(output_tensor, input_tensor, input_tensor.numel(), rows, run)

    return _work(run._submit("all_gather_into_tensor", prepare, async_op), async_op)


def reduce_scatter_tensor(
    output: torch.Tensor, input: torch.Tensor, op: Any = SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Like `torch.distributed.reduce_scatter_tensor`, of sums."""
    run = _run(group, op)

    def prepare() -> Call:
        _sums(op)
        run._is_for("reduce_scatter")
        run._everyone()
        check_tensor("the input", input)
        rows, blocks = _rows(run, run._tables.input_blocks)
        count = _divided(input.numel(), blocks, run)
        _check_output(output, input, count)
        return _into(output, input, count, rows, run)

    return _work(run._submit("reduce_scatter_tensor", prepare, async_op), async_op)


def all_to_all_single(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
    *,
    chunk_rows: int = 1,
) -> Work | None:
    """Like `torch.distributed.all_to_all_single`: a plan for an all_to_all cuts both tensors in equal splits.

    Splits, one for each process, need a plan for an all_to_allv. A chunk of its demand has room for `chunk_rows` rows;
    a split of less than its chunks is padded on the way. Unless stated, splits fill their chunks.
    """
    run = _run(group, output_split_sizes)

    def prepare() -> Call:
        run._everyone()
        check_tensor("the input", input)
        check_tensor("the output", output)
        if not input.ndim or not output.ndim:
            raise UsageError("input and output have an axis of rows, and are no scalars")
        if output_split_sizes is None and input_split_sizes is None and run.plan.collective != "all_to_allv":
            run._is_for("all_to_all")
            rows, blocks = _rows(run, run._tables.input_blocks)
            _divided(input.shape[0], blocks, run)
            _check_output(output, input, input.numel())
            return _into(output, input, input.numel() // blocks, rows, run)
        run._is_for("all_to_allv")
        return _uneven(output, input, output_split_sizes, input_split_sizes, chunk_rows, run)

    return _work(run._submit("all_to_all_single", prepare, async_op), async_op)


def _run(group: Any, other: Any = None) -> Collective:
    if isinstance(other, Collective):
        raise UsageError("the Collective stands in the place of the group: pass group=")
    if not isinstance(group, Collective):
        raise UsageError(f"group is a collsynth.torch.Collective, not {type(group).__name__}")
    return group


def _sums(op: Any) -> None:
    try:
        is_sum = op == SUM
    except TypeError:
        is_sum = False
    if not is_sum:
        stated = repr(op) if isinstance(op, str) else op
        raise UsageError(f"plans add up: op is ReduceOp.SUM, not {stated}")


def _check_root(run: Collective, src: int | None, group_src: int | None) -> None:
    if src is None and group_src is None:
        return
    if src is not None and group_src is not None:
        raise UsageError("src and group_src exclude each other")
    if run.plan.groups is not None or run.plan.root is None:
        raise UsageError("each group of the plan has its own root: leave src out")
    root = process_of(run.plan, run.plan.root, run._size)
    stated = run._channel.number_of(src) if src is not None else group_src
    if stated != root:
        raise UsageError(f"the root of this plan is process {root} of its group, not {stated}")


def _rows(run: Collective, blocks: int) -> tuple[tuple[int, ...] | None, int]:
    """Where the rows of the ranks stand among those of the processes, and how many there are.

    In groups, they are those of the members of the largest.
    """
    if run.plan.groups is not None or run._size == run.plan.topology.ranks:
        return None, blocks
    number = {rank: process for process, rank in enumerate(run._ranks())}
    return tuple(number.get(rank, -1) for rank in range(run.plan.topology.ranks)), run._size


def _divided(count: int, blocks: int, run: Collective) -> int:
    if count % blocks:
        whose = "processes" if run.plan.groups is None else "members of a group"
        raise UsageError(f"{count} is no multiple of the {blocks} {whose}")
    return count // blocks


def _check_output(output: Any, x: torch.Tensor, count: int) -> None:
    check_tensor("the output", output)
    if output.dtype != x.dtype:
        raise UsageError(f"the output is {output.dtype}, the input {x.dtype}")
    if output.numel() != count:
        raise UsageError(f"the output has {output.numel()} elements, and {count} arrive")
    check_written("the output", output)


def _in_place(tensor: torch.Tensor, run: Collective) -> Call:
    check_tensor("the tensor", tensor)
    check_written("the tensor", tensor)
    count, tables = tensor.numel(), run._tables
    target = tensor.detach()
    output = torch.empty(tables.output_blocks * count, dtype=tensor.dtype)

    def finish() -> torch.Tensor:
        if tables_of(run.plan).has_output(run.rank):
            rows = output.view(tables.output_blocks, count)
            whole = rows[0] if len(rows) == 1 else rows.sum(dim=0, dtype=tensor.dtype)
            target.copy_(whole.view(tensor.shape))
        return tensor

    call = Call(flat(tensor), output, count, tensor.shape, finish)
    call.inference = tensor.is_inference()
    return call


def _into(output: torch.Tensor, x: torch.Tensor, count: int, rows: tuple[int, ...] | None, run: Collective) -> Call:
    target = output.detach()
    direct = target.is_contiguous() and not target.is_conj() and not target.is_neg() and not _overlap(target, x)
    landing = in_line(target) if direct else torch.empty(target.numel(), dtype=x.dtype)

    def finish() -> torch.Tensor:
        if not tables_of(run.plan).has_output(run.rank):
            landing.zero_()
        if not direct:
            target.copy_(landing.view(target.shape))
        return output

    call = Call(flat(x), landing, count, (count,), finish, rows)
    call.inference = output.is_inference()
    return call


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """May they share memory?"""
    first, second = ((x.data_ptr(), x.data_ptr() + _extent(x)) for x in (one, other))
    return bool(first[0] < second[1] and second[0] < first[1])


def _extent(x: torch.Tensor) -> int:
    if not x.numel():
        return 0
    last = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    return int((last + 1) * x.element_size())


def _uneven(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    chunk_rows: int,
    run: Collective,
) -> Call:
    check_written("the output", output)
    ranks, demand = run._ranks(), run.plan.demand
    assert demand is not None, "the plan is for an all_to_allv"
    if output.dtype != input.dtype or output.shape[1:] != input.shape[1:]:
        raise UsageError(
            f"rows of the output are {output.dtype} {tuple(output.shape[1:])}, of the input {input.dtype} "
            f"{tuple(input.shape[1:])}"
        )
    between, here = demand[ranks][:, ranks], ranks.index(run.rank)
    outgoing = Splits(input_split_sizes, between[here], chunk_rows, input.shape[0], "input")
    incoming = Splits(output_split_sizes, between[:, here], chunk_rows, output.shape[0], "output")
    row, x, target = input.shape[1:], input.detach(), output.detach()
    rows = torch.zeros((run._tables.input_blocks * chunk_rows, *row), dtype=input.dtype)
    for at, stop, place in outgoing.pieces:
        rows[place : place + stop - at] = x[at:stop]
    landing = torch.empty((run._tables.output_blocks * chunk_rows, *row), dtype=input.dtype)

    def finish() -> torch.Tensor:
        for at, stop, place in incoming.pieces:
            target[at:stop] = landing[place : place + stop - at]
        return output

    count = chunk_rows * row.numel()
    call = Call(rows.view(-1), landing.view(-1), count, (chunk_rows, *row), finish)
    call.splits = (outgoing.sizes, incoming.sizes)
    call.inference = output.is_inference()
    return call


class Splits:
    """Where the messages of one rank stand in its tensor, and where in its rows of chunks."""

    def __init__(self, stated: Sequence[int] | None, chunks: Any, chunk_rows: int, rows: int, name: str) -> None:
        room = [count * chunk_rows for count in chunks.tolist()]
        try:
            self.sizes = room if stated is None else [index(split) for split in stated]
        except TypeError:
            raise UsageError(f"{name} splits are whole numbers of rows, not {stated!r}") from None
        if len(self.sizes) != len(room) or any(split > most for split, most in zip(self.sizes, room, strict=True)):
            raise UsageError(f"{name} splits {self.sizes}: the plan has room for {room} rows")
        if sum(self.sizes) != rows or min(self.sizes) < 0:
            raise UsageError(f"{name} splits {self.sizes} of {rows} rows")
        #: First row and end in the tensor, first row in those of the chunks.
        self.pieces = []
        at = place = 0
        for split, most in zip(self.sizes, room, strict=True):
            self.pieces.append((at, at + split, place))
            at, place = at + split, place + most


def _work(done: Any, async_op: bool) -> Work | None:
    return Work(done) if async_op else None
