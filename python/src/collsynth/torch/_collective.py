"""The collective of a plan among the processes of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import torch

from .._answer.plan import Plan
from .._errors import UsageError
from .._running import agreement
from .._running.ranges import Ranges
from .._running.tables import RankTables, process_of, rank_of, tables_of
from ._channel import channel_of
from ._work import torch_future

#: Calls whose ranges are kept, by the elements of a block.
KEPT = 8


class Collective:
    """The collective of a plan among the processes of a group: one for each rank, or one for each live rank.

    Every process of the group makes it, and calls it with a tensor on the CPU of the same shape and type; it returns
    this rank's result, in the shapes of `collsynth.jax.Collective`. Processes tell each other first what they call, and
    raise `UsageError` if it is not the same. Collectives of a group share connections of their own, over gloo whatever
    its backend, on which calls run one after the other, in the order in which they start.

    A call fails with `CallFailed` when a process has died or not come within `timeout`: that of the group, unless the
    first Collective of the group states another. Then no plan can run on that group any more.
    """

    def __init__(self, plan: Plan, group: Any = None, timeout: timedelta | None = None) -> None:
        if not isinstance(plan, Plan):
            raise UsageError(f"a Collective is made of a plan, not of {type(plan).__name__}")
        self.plan = plan
        self._channel = channel_of(group, timeout)
        self._size: int = self._channel.size
        #: The rank of this process in the plan.
        self.rank = rank_of(plan, self._channel.rank, self._size)
        self._tables = RankTables(tables_of(plan), self.rank)
        self._peers = {rank: process_of(plan, rank, self._size) for rank in self._ranks()}
        self._ranges: dict[Any, Ranges] = {}
        self._memory = torch.empty(0, dtype=torch.uint8)

    def __repr__(self) -> str:
        place = f"process {self._channel.rank} of {self._size} as rank {self.rank}"
        return f"<collsynth.torch.Collective: {self.plan.collective} on a {self.plan.topology}, {place}>"

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """This rank's result."""
        found: torch.Tensor = self._submit(self.plan.collective, lambda: self._prepared(x), False)
        return found

    def start(self, x: torch.Tensor) -> torch.futures.Future[torch.Tensor]:
        """The same while this process goes on."""
        submitted = self._submit(self.plan.collective, lambda: self._prepared(x), True)
        future: torch.futures.Future[torch.Tensor] = torch_future(submitted, lambda result: result)
        return future

    def _ranks(self) -> list[int]:
        """The ranks of the processes, in their order."""
        every = range(self.plan.topology.ranks)
        return list(every) if self._size == len(every) else tables_of(self.plan).live

    def _everyone(self) -> None:
        """Refuses a plan that leaves a process of the group out."""
        dead = sorted(set(self._ranks()) - set(tables_of(self.plan).live))
        if dead:
            raise UsageError(
                f"rank {dead[0]} is dead in this plan, and its process would be left out",
                f"make a group of the {len(tables_of(self.plan).live)} processes of live ranks",
            )

    def _trained(self) -> int:
        """The number of processes whose gradients this one averages."""
        self._is_for("all_reduce", "all_reduce_gathered")
        dead = sorted(set(self._ranks()) - set(tables_of(self.plan).live))
        if dead:
            raise UsageError(
                f"rank {dead[0]} is dead in this plan, and would train with nobody",
                f"train with the {len(tables_of(self.plan).live)} processes of live ranks alone",
            )
        if self.plan.groups is None:
            return self._size
        live = set(tables_of(self.plan).live)
        if alone := sorted(live - tables_of(self.plan).members):
            raise UsageError(
                f"ranks {alone} are in no group, and would average nothing", "state a group for every rank"
            )
        mine = next(group for group in self.plan.groups if self.rank in group)
        return len(live.intersection(mine))

    def _is_for(self, *kinds: str) -> None:
        if self.plan.collective not in kinds:
            raise UsageError(f"this plan is for {self.plan.collective}, not for {kinds[0]}")

    def _prepared(self, x: Any) -> Call:
        """A call with a result of its own."""
        check_tensor("the operand", x)
        if x.requires_grad and torch.is_grad_enabled():
            raise UsageError("no gradient flows through a plan: call with x.detach(), or within torch.no_grad()")
        shape = self._tables.block_shape(tuple(x.shape))
        count = torch.Size(shape).numel()
        rows = self._tables.output_blocks
        output = torch.empty((rows, *shape), dtype=x.dtype)
        result = output if self._tables.has_output_rows else output[0]
        if self._tables.tables.kind == "all_reduce_gathered":
            result = torch.empty(shape, dtype=x.dtype)

        def finish() -> torch.Tensor:
            if self._tables.tables.kind == "all_reduce_gathered":
                torch.sum(output, dim=0, dtype=x.dtype, out=result)
            if not self._tables.tables.has_output(self.rank):
                result.zero_()
            return result

        return Call(flat(x), output.view(-1), count, shape, finish)

    def _submit(self, name: str, prepare: Callable[[], Call], async_op: bool) -> Any:
        """Makes a call, here or in the thread of the group: its result, or a future of it."""
        channel = self._channel
        channel.check()
        refusal: Exception | None = None
        call: Call | None = None
        inference = False
        try:
            call = prepare()
            inference = call.inference or call.output.is_inference()
            if tables_of(self.plan).adds:
                check_addition(call.input.dtype, self._tables.tables.kind == "all_reduce_gathered")
        except Exception as error:
            refusal = error

        def body() -> Any:
            channel.check()
            reason, ready = refusal, None
            context = torch.inference_mode() if inference else torch.no_grad()
            if call is not None and reason is None:
                # Whatever may fail, fails before others rely on this process.
                try:
                    with context:
                        ready = self._ready(call)
                except Exception as error:
                    reason = error
            if call is None or ready is None:
                assert reason is not None, "what is not prepared is refused"
                channel.refuse(reason)
                raise reason
            words = agreement.call_words(name, call.input.dtype, call.shape, tables_of(self.plan).digest)
            channel.agree(words)
            if call.splits is not None:
                found = channel.gather(torch.tensor(call.splits, dtype=torch.int64))
                agreement.check_splits(*zip(*(one.tolist() for one in found), strict=True))
            with context:
                self._move(call, ready)
                return call.finish()

        return channel.start(body) if async_op and refusal is None else channel.run(body)

    def _ready(self, call: Call) -> Ready:
        """The steps of a call, the four arrays that they use, and their bytes."""
        ranges = self._ranges_for(call.count, call.rows)
        size = call.input.element_size()
        most = (ranges.scratch + ranges.stage) * size
        if self._memory.numel() < most:
            with torch.inference_mode(False):
                self._memory = torch.empty(most, dtype=torch.uint8)
        own = self._memory[:most].view(call.input.dtype)
        arrays = (call.input, call.output, own[: ranges.scratch], own[ranges.scratch :])
        # Bytes, so that types that gloo does not know travel too.
        octets = [one.view(torch.uint8) if one.numel() else one for one in arrays]
        return Ready(ranges, arrays, octets)

    def _move(self, call: Call, ready: Ready) -> None:
        """Runs the steps of the plan."""
        name = f"{self.plan.collective} of {call.input.dtype} {call.shape}"
        traffic = self._channel.traffic(name, self._peers, ready.octets, call.input.element_size())
        try:
            ready.ranges.run(ready.arrays, torch.add, traffic)
        except BaseException as error:
            # Others hear of it, and do not wait.
            self._channel.close(f"a call failed ({name}: {type(error).__name__})")
            raise
        finally:
            traffic.end()

    def _ranges_for(self, count: int, rows: tuple[int, ...] | None) -> Ranges:
        found = self._ranges.get((count, rows))
        if found is None:
            while len(self._ranges) >= KEPT:
                self._ranges.pop(next(iter(self._ranges)))
            found = self._ranges[count, rows] = Ranges(self._tables, count, rows)
        return found


class Ready(NamedTuple):
    """What a call needs to move, made before anything moves."""

    ranges: Ranges
    arrays: tuple[torch.Tensor, ...]
    octets: list[torch.Tensor]


class Call:
    """What a call moves: flat operand and output, the elements of a block, and what follows."""

    def __init__(
        self,
        input: torch.Tensor,
        output: torch.Tensor,
        count: int,
        shape: Sequence[int],
        finish: Callable[[], Any],
        rows: tuple[int, ...] | None = None,
    ) -> None:
        self.input, self.output, self.count, self.finish, self.rows = input, output, count, finish, rows
        #: The shape of a block, or whatever else all processes share.
        self.shape = tuple(shape)
        #: Rows to and from each process.
        self.splits: tuple[list[int], list[int]] | None = None
        #: Does it write to a tensor made in inference mode?
        self.inference = False


def check_tensor(name: str, x: Any) -> None:
    """Refuses what is no tensor of plain memory on the CPU."""
    if not isinstance(x, torch.Tensor):
        raise UsageError(f"{name} is a tensor, not {type(x).__name__}")
    if x.layout != torch.strided or x.is_quantized:
        raise UsageError(f"{name} is {x.layout}: plans move dense tensors; torch.distributed may have a call for it")
    if x.device.type != "cpu":
        raise UsageError(f"{name} is on {x.device}: plans run over gloo, on the CPU")


def check_written(name: str, x: torch.Tensor) -> None:
    """Refuses a tensor that no result can be written to: several of its elements are one in memory."""
    if any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.stride(), strict=True)):
        raise UsageError(
            f"{name} of shape {tuple(x.shape)} is expanded: some of its elements are one in memory, and a result has "
            "them all",
            "pass x.clone()",
        )


def check_addition(dtype: torch.dtype, afterwards: bool) -> None:
    """Refuses a type that PyTorch cannot add, on the way or afterwards."""
    try:
        one = torch.zeros(1, dtype=dtype)
        if afterwards:
            torch.sum(one.view(1, 1), dim=0, dtype=dtype, out=one.clone())
        else:
            torch.add(one, one, out=one)
    except RuntimeError:
        raise UsageError(f"this plan adds, and PyTorch has no addition for {dtype} on the CPU") from None


def flat(x: torch.Tensor) -> torch.Tensor:
    """The elements one after the other, without a copy where they lie so."""
    return in_line(x.detach().resolve_conj().resolve_neg().contiguous())


def in_line(x: torch.Tensor) -> torch.Tensor:
    """The same memory as one axis. Where an axis has one element, PyTorch keeps any stride, which bytes do not have."""
    return x.as_strided((x.numel(),), (1,))
