"""A backend of `torch.distributed`: gloo, with the collectives of plans in place of its own.

Whatever talks to a process group then runs the plans: DDP without a hook, `dist.all_reduce`, and so on.
"""

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._errors import UsageError
from .._plan import Plan
from .._tables import process_of, tables_of
from . import Collective, all_to_all_single

#: Without types: what it states of process groups differs from version to version.
c10d: Any = importlib.import_module("torch.distributed.distributed_c10d")

#: What no plan does: gloo's own.
FORWARDED = (
    "allgather_coalesced",
    "allgather_into_tensor_coalesced",
    "allreduce_coalesced",
    "alltoall",
    "barrier",
    "monitored_barrier",
    "recv",
    "recv_anysource",
    "reduce_scatter_tensor_coalesced",
    "send",
)


def can_register() -> bool:
    """Does this version of PyTorch take process groups written in Python?"""
    handles = importlib.import_module("torch._C._distributed_c10d")
    needed = (c10d.Backend, "register_backend"), (c10d, "ProcessGroupGloo"), (handles, "_create_work_from_future")
    return all(hasattr(where, name) for where, name in needed)


def register_backend(plans: Sequence[Plan], name: str = "synth", chunk_rows: int = 1) -> None:
    """Registers a backend: `dist.init_process_group(name, ...)`, then all of `torch.distributed` as ever.

    A call that one of the plans is for (sums only; the plan's root only) runs it, in groups of as many processes as the
    plan has live ranks; gloo runs the rest. Splits of `all_to_all_single` need a plan for an all_to_allv and
    fit its demand, in chunks of `chunk_rows` rows. For tensors on the CPU. All processes register the same plans.

    Raises `UsageError` where two plans are for the same call, one is in groups, or PyTorch is too old (before 1.13).
    """
    if not can_register():
        raise UsageError(
            f"PyTorch {torch.__version__} takes no backends written in Python",
            "call collsynth.torch.all_reduce and the like, or use ddp_hook",
        )
    calls: dict[tuple[str, int | None], Plan] = {}
    for plan in plans:
        # Refuses what moves no values.
        tables_of(plan)
        if plan.groups is not None:
            raise UsageError(
                "a call of a backend is among all processes, not in groups: a plan in groups would answer another",
                f"call collsynth.torch.{plan.collective} and the like with Collective(plan), or plan without groups",
            )
        kind = "all_reduce" if plan.collective == "all_reduce_gathered" else plan.collective
        if (kind, plan.root) in calls:
            raise UsageError(f"two plans for {kind}: a backend has one for each call")
        calls[kind, plan.root] = plan

    def make(store: Any, rank: int, size: int, timeout: Any) -> PlannedGroup:
        return PlannedGroup(name, calls, chunk_rows, store, rank, size, timeout)

    register = c10d.Backend.register_backend
    # Later versions ask which devices a backend is for.
    devices = {"devices": ["cpu"]} if "devices" in inspect.signature(register).parameters else {}
    register(name, make, **devices)


class PlannedGroup(c10d.ProcessGroup):  # type: ignore[misc]
    """A group of processes whose calls are answered by plans where there are any, and by gloo."""

    def __init__(self, name: str, plans: Any, chunk_rows: int, store: Any, rank: int, size: int, timeout: Any) -> None:
        super().__init__(rank, size)
        self._backend_name, self._chunk_rows = name, chunk_rows
        self._gloo = c10d.ProcessGroupGloo(store, rank, size, timeout=timeout)
        # A process of a dead rank would take no part: gloo has no such thing.
        fitting = {call: plan for call, plan in plans.items() if size == len(plan.topology.live_ranks)}
        self._plans: dict[tuple[str, int | None], _OnBareGroup] = {}
        if fitting:
            # Plans have connections of their own, so that no tag of the user's is one of theirs. Not made for nothing:
            # a process that dropped them at once would close them while others still connect.
            bare = c10d.ProcessGroupGloo(c10d.PrefixStore("plans", store), rank, size, timeout=timeout)
            for (kind, root), plan in fitting.items():
                number = None if root is None else process_of(plan, root, size)
                self._plans[kind, number] = _OnBareGroup(plan, bare)

    def getBackendName(self) -> str:
        return self._backend_name

    name = getBackendName

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        run = self._found("all_reduce", tensors, opts)
        if run is None:
            return self._gloo.allreduce(tensors, *_stated(opts))
        return _work(run, tensors[0], tensors, _copy)

    def broadcast(self, tensors: Any, opts: Any) -> Any:
        run = self._found("broadcast", tensors, root=opts.rootRank)
        if run is None:
            return self._gloo.broadcast(tensors, opts)
        return _work(run, tensors[0], tensors, _copy)

    def reduce(self, tensors: Any, opts: Any) -> Any:
        run = self._found("reduce", tensors, opts, opts.rootRank)
        if run is None:
            return self._gloo.reduce(tensors, opts)
        keep = _copy if self.rank() == opts.rootRank else _leave
        return _work(run, tensors[0], tensors, keep)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        run = self._found("all_gather", inputs)
        if run is None:
            return self._gloo.allgather(outputs, inputs, *_stated(opts))
        return _work(run, inputs[0], outputs[0], run.unpack)

    def gather(self, outputs: Any, inputs: Any, opts: Any) -> Any:
        run = self._found("gather", inputs, root=opts.rootRank)
        if run is None:
            return self._gloo.gather(outputs, inputs, opts)
        return _work(run, inputs[0], outputs[0] if outputs else [], run.unpack)

    def scatter(self, outputs: Any, inputs: Any, opts: Any) -> Any:
        run = self._found("scatter", outputs, root=opts.rootRank)
        if run is None:
            return self._gloo.scatter(outputs, inputs, opts)
        rows = inputs[0] if inputs else [torch.zeros_like(outputs[0])] * self.size()
        return _work(run, run.pack(rows), outputs, _copy)

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        run = self._found("reduce_scatter", outputs, opts)
        if run is None:
            return self._gloo.reduce_scatter(outputs, inputs, *_stated(opts))
        return _work(run, run.pack(inputs[0]), outputs, _copy)

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        run = self._found("all_gather", [input])
        if run is None:
            return self._gloo._allgather_base(output, input, *_stated(opts))
        return _work(run, input, list(output.view(self.size(), *input.shape)), run.unpack)

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        run = self._found("reduce_scatter", [output], opts)
        if run is None:
            return self._gloo._reduce_scatter_base(output, input, *_stated(opts))
        return _work(run, run.pack(input.reshape(self.size(), *output.shape)), [output], _copy)

    def alltoall_base(self, output: Any, input: Any, out_splits: Any, in_splits: Any, opts: Any = None) -> Any:
        uneven = bool(out_splits or in_splits)
        run = self._found("all_to_allv" if uneven else "all_to_all", [input])
        if run is None:
            return self._gloo.alltoall_base(output, input, out_splits, in_splits, *_stated(opts))
        if not uneven:
            shape = (self.size(), input.shape[0] // self.size(), *input.shape[1:])
            return _work(run, run.pack(input.reshape(shape)), list(output.view(shape)), run.unpack)
        splits: Any = {"output_split_sizes": out_splits or None, "input_split_sizes": in_splits or None}
        done = all_to_all_single(output, input, run, True, chunk_rows=self._chunk_rows, **splits)
        assert done is not None, "it is asynchronous"
        return _work_of(done.get_future())

    # The names of later versions.
    all_gather_single = _allgather_base
    reduce_scatter_single = _reduce_scatter_base
    all_to_all_single = alltoall_base

    def _found(self, kind: str, tensors: Any, opts: Any = None, root: int | None = None) -> "_OnBareGroup | None":
        """The plan for a call, if there is one."""
        if len(tensors) != 1 or (opts is not None and opts.reduceOp != c10d.ReduceOp.SUM):
            return None
        return self._plans.get((kind, root))


def _forwarded(method: str) -> Callable[..., Any]:
    def forward(self: PlannedGroup, *arguments: Any, **named: Any) -> Any:
        return getattr(self._gloo, method)(*arguments, **named)

    return forward


for _method in FORWARDED:
    setattr(PlannedGroup, _method, _forwarded(_method))


class _OnBareGroup(Collective):
    """A collective on a group that `torch.distributed` does not know."""

    def __init__(self, plan: Plan, group: Any) -> None:
        self._join(plan, group, group.rank(), group.size())

    def _exchange(self, into: list[Any], out_of: list[Any]) -> list[Any]:
        def peer(rank: int) -> int:
            return process_of(self.plan, rank, self._size)

        receives = [self.group.recv([values], peer(one.start), one.group) for values, one in into]
        return receives + [self.group.send([values], peer(one.end), one.group) for values, one in out_of]

    def pack(self, rows: Sequence[torch.Tensor] | torch.Tensor) -> torch.Tensor:
        """Rows of the processes as rows of the ranks: those of dead ranks without a process are zeros."""
        found = list(rows)
        whole = found[0].new_zeros((self.plan.topology.ranks, *found[0].shape))
        for rank, row in zip(self._ranks(), found, strict=True):
            whole[rank] = row
        return whole

    def unpack(self, outputs: Sequence[torch.Tensor], result: torch.Tensor) -> None:
        """Copies the rows of the ranks to those of the processes; no outputs: this process ends with nothing."""
        for rank, output in zip(self._ranks(), outputs, strict=False):
            output.copy_(result[rank].reshape(output.shape))


def _copy(outputs: Any, result: torch.Tensor) -> None:
    outputs[0].copy_(result.reshape(outputs[0].shape))


def _leave(outputs: Any, result: torch.Tensor) -> None:
    """What a rank ends with that the plan gives nothing."""


def _work(run: Collective, x: torch.Tensor, outputs: Any, keep: Callable[[Any, torch.Tensor], None]) -> Any:
    """The handle of a call that runs a plan; its value are the outputs."""

    def finish(done: Any) -> list[torch.Tensor]:
        keep(outputs, done.value())
        return list(outputs)

    return _work_of(run.start(x).then(finish))


def _work_of(future: Any) -> Any:
    """The handle of a call, of what it will give."""
    return importlib.import_module("torch._C._distributed_c10d")._create_work_from_future(future)


def _stated(opts: Any) -> list[Any]:
    return [] if opts is None else [opts]
