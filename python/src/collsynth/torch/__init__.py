"""Plans over a process group of PyTorch: sends and receives between neighbors, step by step, over gloo.

Neither PyTorch nor gloo promise which route a message takes, or that steps of different ranks happen at the same time:
the plan decides who talks to whom and in which order.
"""

# No `from __future__ import annotations`: DDP inspects the annotations of its hooks.
from ._calls import all_gather_into_tensor, all_reduce, all_to_all_single, broadcast, reduce_scatter_tensor
from ._collective import Collective
from ._work import Work


def ddp_hook(run, bucket):  # type: ignore[no-untyped-def]
    """A communication hook of DistributedDataParallel that averages gradients by a plan for an all_reduce.

    `model.register_comm_hook(collsynth.torch.Collective(plan), collsynth.torch.ddp_hook)`

    With a plan in groups, each group averages its own, and all must train alike, bucket by bucket. Refuses a plan that
    leaves a process out: its gradients would be averaged with nobody's.
    """
    peers = run._trained()
    return run.start(bucket.buffer() / peers)


__all__ = [
    "Collective",
    "Work",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single",
    "broadcast",
    "ddp_hook",
    "reduce_scatter_tensor",
]
