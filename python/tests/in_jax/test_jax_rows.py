"""Where chunks lie: carried out on numbers in NumPy, random plans give what their tables say, in rows that exist."""

import os
import random

import numpy as np
import pytest

import collsynth as cs

pytest.importorskip("jax", reason="left out: JAX is not installed")

from definitions import KINDS, ROOTED, ROWS_IN, simulated

from collsynth._running.tables import RankTables, tables_of
from collsynth.jax._rows import Rows, rows_for_permutes

EXTENTS = [(4,), (5,), (8,), (2, 3), (3, 3), (4, 4), (1, 4), (2, 2, 2), (4, 2, 3)]
FULL = bool(os.environ.get("SYNTH_FULL"))


def random_plan(seed):
    """A plan of any kind on a small torus, with or without failures, in one part or several."""
    chance = random.Random(seed)
    torus, kind = cs.Torus(*chance.choice(EXTENTS)), chance.choice(KINDS)
    for _ in range(chance.randrange(4)):
        link = chance.choice(torus.links)
        failed = (
            torus.fail_cable(link.start, link.end)
            if chance.random() < 0.7
            else torus.fail_rank(chance.choice(torus.live_ranks))
        )
        # Failures may cut a machine in two.
        try:
            cs.plan(failed, "all_gather", parts=1)
        except cs.Impossible:
            continue
        torus = failed
    root = chance.choice(torus.live_ranks) if kind in ROOTED else None
    return cs.plan(torus, kind, root=root, parts=chance.choice([1, 1, 2, 3, 5, None]), time_limit=2)


def by_rows(plan, rows, x):
    """The results of all ranks, carried out by rows in which anything may be at first. A part is one number of `x`."""
    tables, shapes = tables_of(plan), RankTables(tables_of(plan), 0)
    held = np.random.default_rng(1).integers(1 << 50, 1 << 51, (tables.ranks, rows.count))
    np.put_along_axis(held, rows.start, x.reshape(tables.ranks, rows.inputs), 1)
    for step in rows.steps:
        found = held.copy()
        np.put_along_axis(held, step.copied_to, np.take_along_axis(found, step.copied_from, 1), 1)
        np.put_along_axis(held, step.cleared, 0, 1)
        for one in step.exchanges:
            arrived = np.random.default_rng(2).integers(1 << 50, 1 << 51, one.sent.shape)
            for start, end in one.pairs:
                arrived[end] = found[start, one.sent[start]]
            added = np.arange(arrived.shape[1]) < one.added
            stood = np.take_along_axis(held, one.landed, 1)
            np.put_along_axis(held, one.landed, np.where(added, stood + arrived, arrived), 1)
            assert len(one.pairs) == len({start for start, _ in one.pairs}) == len({end for _, end in one.pairs})
            if one.region is not None:
                assert (one.landed == one.region + np.arange(one.landed.shape[1])).all()
        for table in step.blocks:
            assert all(len(set(row)) == len(row) for row in np.atleast_2d(table).tolist()), "a row is named twice"
    chunks = np.where(rows.filled, np.take_along_axis(held, rows.end, 1), 0)
    output = chunks.reshape(tables.ranks, shapes.output_blocks, tables.block_slots)
    if tables.kind == "all_reduce_gathered":
        return output.sum(axis=1)
    return output if shapes.has_output_rows else output[:, 0]


def right(plan):
    """Do rows of all sorts give what the tables of a plan say?"""
    tables, shapes = tables_of(plan), RankTables(tables_of(plan), 0)
    rowed = plan.collective in ROWS_IN or plan.collective == "all_to_allv"
    shape = (tables.ranks, *((shapes.input_blocks,) if rowed else ()), tables.block_slots)
    x = np.random.default_rng(7).integers(0, 1 << 40, shape)
    wanted = simulated(plan, x)
    for options in ({}, {"regions": True}, {"exclusive": True}):
        rows = Rows(tables, **options)
        np.testing.assert_array_equal(by_rows(plan, rows, x), wanted)
        if "exclusive" in options:
            assert not landed_where_something_is_read(rows)
            assert not rows.apart or not landed_in_the_operand(rows)
    return True


def landed_in_the_operand(rows):
    """Does anything land in rows of an operand that is apart?"""
    operand = range(rows.outputs, rows.outputs + rows.inputs)
    landed = [
        row
        for step in rows.steps
        for one in step.exchanges
        for rank, amount in enumerate(one.amount)
        for row in one.landed[rank, :amount].tolist()
    ]
    return any(row in operand for row in landed)


def landed_where_something_is_read(rows):
    """In any step at any rank, the rows that are read and those that something lands in: which are both?"""
    found = set()
    for number, step in enumerate(rows.steps):
        for rank in range(len(step.cleared)):
            read = set(step.copied_from[rank, : step.copies[rank]].tolist())
            written = set(step.copied_to[rank, : step.copies[rank]].tolist())
            for one in step.exchanges:
                count, added = int(one.amount[rank]), int(one.adds[rank].sum())
                written |= set(one.landed[rank, added:count].tolist())
                for start, end in one.pairs:
                    if start == rank:
                        read |= set(one.sent[rank, : one.amount[end]].tolist())
            found |= {(number, rank, row) for row in read & written}
    return found


@pytest.mark.parametrize("block", range(40 if FULL else 4))
def test_rows_give_what_the_tables_say(block):
    assert all(right(random_plan(seed)) for seed in range(40 * block, 40 * block + 40))


def test_demands_and_groups():
    demand = np.random.default_rng(3).integers(0, 4, (6, 6))
    assert right(cs.plan(cs.Torus(2, 3).fail_cable(0, 1), "all_to_allv", demand=demand))
    assert right(cs.plan(cs.Torus(4, 4).fail_cable(0, 1), "all_reduce", groups="x", parts=3, max_steps=20))
    assert right(cs.plan(cs.Torus(3, 3), "all_to_all", groups=[[1, 0, 2], [3, 5, 8, 7, 6]], parts=1))


@pytest.mark.parametrize("kind", ["reduce_scatter", "all_reduce"])
def test_sums_are_formed_within_the_operand(kind):
    """Nothing is copied, and no row is needed besides, where a rank that gets nothing in a step has none to spare."""
    rows = Rows(tables_of(cs.plan(cs.Torus(4, 4), kind)))
    assert rows.count == rows.inputs
    assert not any(step.copies.any() or step.cleared.size for step in rows.steps)


@pytest.mark.parametrize("kind", ["all_gather", "all_to_all"])
def test_what_is_only_moved_lands_in_regions(kind):
    rows = rows_for_permutes(tables_of(cs.plan(cs.Torus(4, 4).fail_cable(0, 1), kind, parts=2)))
    assert rows.in_regions
    assert all(one.region is not None for step in rows.steps for one in step.exchanges)
    # Regions are taken again, so that there are fewer rows than chunks that arrive.
    arriving = sum(int(one.amount.max()) for step in rows.steps for one in step.exchanges)
    assert rows.count + (kind == "all_to_all") <= rows.inputs + arriving


def test_regions_do_not_take_many_times_the_memory():
    tables = tables_of(cs.plan(cs.Topology.mesh(8, 8), "all_to_all"))
    rows = rows_for_permutes(tables)
    assert not rows.in_regions
    assert 4 * rows.count < Rows(tables, regions=True).count
