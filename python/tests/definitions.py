"""What each kind of collective does, on the operands of all ranks: the oracle of the adapters' tests."""

import numpy as np

KINDS = [
    "all_to_all",
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "all_reduce_gathered",
    "broadcast",
    "reduce",
    "scatter",
    "gather",
]
ROOTED = ("broadcast", "reduce", "scatter", "gather")


def operand(plan, dtype=np.float64, trailing=(5,)):
    """An operand of small whole numbers, whose sums are exact in every type. Axis 0 is the rank."""
    ranks = plan.topology.ranks
    rows = plan.collective in ("all_to_all", "reduce_scatter", "scatter")
    shape = (ranks, *((ranks,) if rows else ()), *trailing)
    return np.random.default_rng(7).integers(-4, 5, shape).astype(dtype)


def expected(plan, x):
    """The results of all ranks. Rows of and for failed ranks, and results at ranks that end with nothing, are zeros."""
    ranks, live, kind, root = plan.topology.ranks, plan.topology.live_ranks, plan.collective, plan.root
    dead = [rank for rank in range(ranks) if rank not in live]
    x = x.copy()
    x[dead] = 0
    total = x.sum(axis=0, dtype=x.dtype)

    def everywhere(y):
        return np.broadcast_to(y, (ranks, *y.shape)).copy()

    def at_root(y):
        return np.stack([y if rank == root else np.zeros_like(y) for rank in range(ranks)])

    results = {
        "all_to_all": lambda: np.swapaxes(x, 0, 1).copy(),
        "all_gather": lambda: everywhere(x),
        "reduce_scatter": lambda: total,
        "all_reduce": lambda: everywhere(total),
        "all_reduce_gathered": lambda: everywhere(total),
        "broadcast": lambda: everywhere(x[root]),
        "reduce": lambda: at_root(total),
        "scatter": lambda: x[root],
        "gather": lambda: at_root(x),
    }[kind]()
    results[dead] = 0
    return results
