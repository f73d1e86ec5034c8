"""What each kind of collective does, on the operands of all ranks: the oracle of the adapters' tests."""

import numpy as np

from collsynth._running.tables import RankTables, tables_of

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


ROWS_IN = ("all_to_all", "reduce_scatter", "scatter")
ROWS_OUT = ("all_to_all", "all_gather", "gather")


def groups_of(plan):
    """The groups of a plan, which may be one of all ranks, and the number of rows of an operand."""
    groups = plan.groups or [list(range(plan.topology.ranks))]
    return groups, max(map(len, groups))


def operand(plan, dtype=np.float64, trailing=(5,)):
    """An operand of small whole numbers, whose sums are exact in every type. Axis 0 is the rank."""
    _, blocks = groups_of(plan)
    shape = (plan.topology.ranks, *((blocks,) if plan.collective in ROWS_IN else ()), *trailing)
    return np.random.default_rng(7).integers(-4, 5, shape).astype(dtype)


def expected(plan, x):
    """The results of all ranks. Rows of and for failed ranks, rows that a smaller group has no member for, and results
    at ranks that end with nothing, are zeros."""
    groups, blocks = groups_of(plan)
    live, kind = plan.topology.live_ranks, plan.collective
    trailing = x.shape[2:] if kind in ROWS_IN else x.shape[1:]
    results = np.zeros((len(x), *((blocks,) if kind in ROWS_OUT else ()), *trailing), x.dtype)
    for group in groups:
        alive = [place for place, rank in enumerate(group) if rank in live]
        for place in alive:
            if kind in ("reduce", "gather") and place != plan.root:
                continue
            rank = group[place]
            if kind == "broadcast":
                results[rank] = x[group[plan.root]]
            elif kind == "scatter":
                results[rank] = x[group[plan.root], place]
            else:
                for other in alive:
                    brought = x[group[other], place] if kind in ROWS_IN else x[group[other]]
                    if kind in ROWS_OUT:
                        results[rank, other] = brought
                    else:
                        results[rank] += brought
    return results


def simulated(plan, x):
    """The results of all ranks, by the tables that the adapters run, in NumPy alone."""
    tables = tables_of(plan)
    ranks = [RankTables(tables, rank) for rank in range(tables.ranks)]
    shape = ranks[0].block_shape(x.shape[1:])
    flat = x.reshape(tables.ranks, ranks[0].input_blocks, -1)
    length = -(-flat.shape[2] // tables.block_slots)
    held = np.zeros((tables.ranks, tables.places, length), x.dtype)
    padding = ((0, 0), (0, 0), (0, length * tables.block_slots - flat.shape[2]))
    held[:, : tables.first[1]] = np.pad(flat, padding).reshape(tables.ranks, -1, length)
    for one in ranks:
        source, target = one.copies
        held[one.rank, target] = held[one.rank, source]
    for step in tables.steps:
        found = held.copy()
        for adds_later in (False, True):
            for one in step:
                values, base = found[one.start, one.source], one.base[:, None]
                if adds_later:
                    held[one.end, one.target[one.later]] += values[one.later]
                else:
                    values = np.where(base >= 0, values + found[one.end, one.base], values)
                    held[one.end, one.target[~one.later]] = values[~one.later]
    blocks = ranks[0].output_blocks
    output = held[:, tables.first[1] : tables.first[2]].reshape(tables.ranks, blocks, -1)[:, :, : flat.shape[2]]
    output = output.reshape(tables.ranks, blocks, *shape)
    output[[rank for rank in range(tables.ranks) if not tables.has_output(rank)]] = 0
    if tables.kind == "all_reduce_gathered":
        return output.sum(axis=1, dtype=x.dtype)
    return output if ranks[0].has_output_rows else output[:, 0]
