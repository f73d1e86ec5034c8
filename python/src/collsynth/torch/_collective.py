"""The collective of a plan among the processes of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

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
                check_addition(call.input.dtype)
        except Exception as error:
            refusal = error

        def body() -> Any:
            channel.check()
            if refusal is not None or call is None:
                assert refusal is not None, "what is not prepared is refused"
                channel.refuse(refusal)
                raise refusal
            words = agreement.call_words(name, call.input.dtype, call.shape, tables_of(self.plan).digest)
            channel.agree(words)
            if call.splits is not None:
                found = channel.gather(torch.tensor(call.splits, dtype=torch.int64))
                agreement.check_splits(*zip(*(one.tolist() for one in found), strict=True))
            with torch.inference_mode() if inference else torch.no_grad():
                self._move(call)
                return call.finish()

        return channel.start(body) if async_op and refusal is None else channel.run(body)

    def _move(self, call: Call) -> None:
        """Runs the steps of the plan."""
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
        name = f"{self.plan.collective} of {call.input.dtype} {call.shape}"

        traffic = self._channel.traffic(name, self._peers, octets, size)
        try:
            ranges.run(arrays, torch.add, traffic)
        finally:
            traffic.end()

    def _ranges_for(self, count: int, rows: tuple[int, ...] | None) -> Ranges:
        found = self._ranges.get((count, rows))
        if found is None:
            while len(self._ranges) >= KEPT:
                self._ranges.pop(next(iter(self._ranges)))
            found = self._ranges[count, rows] = Ranges(self._tables, count, rows)
        return found


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


def check_addition(dtype: torch.dtype) -> None:
    """Refuses a type that PyTorch cannot add."""
    try:
        one = torch.zeros(1, dtype=dtype)
        torch.add(one, one, out=one)
    except RuntimeError:
        raise UsageError(f"this plan adds, and PyTorch has no addition for {dtype} on the CPU") from None


def flat(x: torch.Tensor) -> torch.Tensor:
    """The elements one after the other, without a copy where they lie so."""
    return x.detach().resolve_conj().resolve_neg().contiguous().view(-1)
