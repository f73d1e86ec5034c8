"""Fully sharded training (FSDP2, `torch.distributed.fsdp.fully_shard`) with the collectives of plans.

Needs a PyTorch whose `FSDPModule` has `set_custom_all_gather` and `set_custom_reduce_scatter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._errors import UsageError
from ._calls import all_gather_into_tensor, reduce_scatter_tensor
from ._collective import Collective


def use_plans(model: torch.nn.Module, all_gather: Collective, reduce_scatter: Collective) -> None:
    """Makes all fully sharded modules of a model gather parameters and average gradients by these plans.

    Call it after `fully_shard`, with Collectives of the group that the model is sharded over, in no groups of the plan.
    """
    for run, kind in ((all_gather, "all_gather"), (reduce_scatter, "reduce_scatter")):
        run._is_for(kind)
        run._everyone()
        if run.plan.groups is not None:
            raise UsageError("a model is sharded over all processes of its group: plan without groups")
    modules: list[Any] = [one for one in model.modules() if hasattr(one, "set_custom_all_gather")]
    if not modules:
        raise UsageError(
            f"no module is fully sharded in a way that takes plans (PyTorch {torch.__version__})",
            "call torch.distributed.fsdp.fully_shard first",
        )
    for one in modules:
        one.set_custom_all_gather(_AllGather(all_gather))
        one.set_custom_reduce_scatter(_ReduceScatter(reduce_scatter))
        # Plans add up; FSDP then divides by itself.
        one.set_force_sum_reduction_for_comms(True)


class _Comm:
    def __init__(self, run: Collective) -> None:
        self._run = run

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def _check(self, group: Any) -> None:
        if group.size() != self._run._size or group.rank() != self._run._channel.rank:
            raise UsageError(f"the model is sharded over {group.size()} processes, the plan over {self._run._size}")


class _AllGather(_Comm):
    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, async_op: bool = False
    ) -> None:
        # Never asynchronous: FSDP waits for nothing but works of PyTorch's own class.
        self._check(group)
        all_gather_into_tensor(output_tensor, input_tensor, self._run)


class _ReduceScatter(_Comm):
    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False
    ) -> None:
        self._check(group)
        reduce_scatter_tensor(output_tensor, input_tensor, op, self._run)
