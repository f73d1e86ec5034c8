"""A row of a device's buffer for every chunk it holds: where chunks land, so that little memory moves.

**Given** the tables of a plan, which say what every rank sends, receives and adds up in each step.
**Sought** a row for every value at every rank, such that values which are needed at the same time have different rows,
few values are ever copied, and the result stands in the first rows where that can be.

**Method.** Values are numbered first (see `_values`). Where nothing is added up, what a permutation brings may land in
a region: rows in order, the same at all ranks, free at all of them. A landing at one place is cheaper than at many, and
the result is gathered at the end. Otherwise rows are handed out step by step, to all ranks at once:

1. A sum is added up in place, in the row of the value it adds to, unless that value is needed again.
2. A value that ends in the result lands in its row of the result, if nothing needs what stands there.
3. Any other lands in the lowest row whose value is needed no more. What is sent last in a step makes room in the same
   step: everything is sent before anything lands.

So a reduce_scatter and the first half of an all_reduce happen within the operand, and its second half within the
result: nothing moves but what is sent and what arrives. A kernel, which can write at many places as cheaply as at one,
does without regions, and gathers an all_gather within the result, too.

**Cost.** Per step, a pass over ranks times rows, in NumPy.

Devices that send or receive less than others of a permutation have it filled up with rows that nobody needs, so that
tables are rectangular. Those are distinct, as scatters of distinct rows are faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._running.tables import Tables
from ._values import Ints, Moves, moves_of, needs

#: No step, not even the one before the first, needs what is in such a row.
FREE = -2
#: Later than any step.
NEVER_FREE = 1 << 62
#: As many times the rows are taken for regions at most: on a mesh, ranks are so unlike that regions are seldom free.
MOST = 4


@dataclass(frozen=True)
class Exchange:
    """A permutation of a step. Its tables have a row for each rank."""

    #: Transfers of different steps with the same number go the same way.
    group: int
    pairs: list[tuple[int, int]]
    #: Rows that are sent.
    sent: Ints
    #: Rows where what arrives lands.
    landed: Ints
    #: Shape (ranks,). As many rows of these tables are real: what arrives at a rank, and is sent to it.
    amount: Ints
    #: What arrives is added to what is in its row; else it replaces that. It is, for the first of a rank's rows.
    adds: NDArray[np.bool_]
    #: The first of the rows where all that arrives lands in order, the same at all ranks; None: rows as in `landed`.
    region: int | None = None

    @property
    def added(self) -> int:
        """As many of the first rows are added to others at some rank."""
        return int(self.adds.sum(axis=1).max())


@dataclass(frozen=True)
class Step:
    """What happens in a step: rows are sent; rows are cleared and copied; what arrives lands."""

    exchanges: list[Exchange]
    #: Shape (ranks, number). Rows that something is added to at other ranks, not here.
    cleared: Ints
    #: Shape (ranks, number). Sums that are needed again as they are: from these rows to those.
    copied_from: Ints
    copied_to: Ints
    #: Shape (ranks,). As many of the copies are real.
    copies: Ints

    @property
    def blocks(self) -> list[Ints]:
        """All tables, in the order in which a program reads them."""
        nothing = np.zeros((len(self.cleared), 0), np.int64)
        of_exchanges = [
            table for one in self.exchanges for table in (one.sent, one.landed if one.region is None else nothing)
        ]
        return [*of_exchanges, self.cleared, self.copied_from, self.copied_to]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Steps of equal shape differ in their tables and pairs alone."""
        return tuple((one.group, one.added) for one in self.exchanges), tuple(table.shape for table in self.blocks)


class Rows:
    """The rows of a plan, and its steps in them.

    Where the plan adds anything up, the operand is in the first rows. Otherwise, with `regions`, so it is, and what a
    permutation brings lands in a region; with `exclusive`, the first rows are those of the result, the next those of
    the operand, which nothing is written to. With `exclusive`, too, nothing lands in a row that is read in the same
    step, unless it is added there.
    """

    def __init__(self, tables: Tables, *, exclusive: bool = False, regions: bool = False) -> None:
        self._ranks, self._exclusive = tables.ranks, exclusive
        self.inputs, self.outputs = tables.first[1], tables.first[2] - tables.first[1]
        moves, first, last_values = moves_of(tables)
        count = first.size + sum(len(one.made) for one in moves)
        self._last, self._wish = needs(moves, last_values, count)
        self._row = np.full(count, -1)
        sums = any((one.base >= 0).any() or not one.first.all() for one in moves)
        #: Does what arrives land in regions?
        self.in_regions = regions and not sums
        #: Has the operand rows of its own, after those of the result?
        self.apart = exclusive and not sums
        #: Is the operand in the first rows of the buffer? Otherwise, unless apart, what stays lies where it ends.
        self.starts_in_place = not self.apart and (self.inputs >= self.outputs or self.in_regions)
        #: By rank and row: the step that needs it last.
        width = max(self.outputs * (not self.in_regions), self.inputs * self.starts_in_place) + self.inputs * self.apart
        self._needed = np.full((self._ranks, width), FREE)
        #: Shape (ranks, inputs). Rows where the operand stands at first.
        self.start = self._place_operand(first)
        step = self._step_in_regions if self.in_regions else self._step
        self.steps = [step(number, one) for number, one in enumerate(moves)]
        ends = np.where(last_values >= 0, self._row[last_values], -1)
        #: Shape (ranks, outputs). Is there anything in this row of the result?
        self.filled = ends >= 0
        #: Shape (ranks, outputs). Rows where the result stands at last; 0 where there is nothing.
        self.end = np.where(self.filled, ends, 0)
        in_place = (ends == np.arange(self.outputs)) | ~self.filled
        self.ends_in_place = self.outputs <= self.count and bool(in_place.all())

    @property
    def count(self) -> int:
        """The rows of a buffer."""
        return self._needed.shape[1]

    def _place_operand(self, first: Ints) -> Ints:
        rank, value = np.repeat(np.arange(self._ranks), self.inputs), first.ravel()
        if self.apart:
            self._row[value] = np.tile(self.outputs + np.arange(self.inputs), self._ranks)
            self._needed[:, self.outputs :] = NEVER_FREE
            return self._row[first]
        if self.starts_in_place:
            self._row[value] = np.tile(np.arange(self.inputs), self._ranks)
        else:
            self._hand_out(-1, rank, value, np.zeros_like(self._needed, bool))
        self._needed[rank, self._row[value]] = self._last[value]
        return self._row[first]

    def _step(self, number: int, moves: Moves) -> Step:
        at, made, base = moves.at, moves.made, moves.base
        taken = np.zeros_like(self._needed, bool)
        in_place = base >= 0
        _, index, uses = np.unique(base, return_inverse=True, return_counts=True)
        in_place &= (uses[index] == 1) & (self._last[base] <= number)
        self._row[made[in_place]] = self._row[base[in_place]]
        taken[at[in_place], self._row[made[in_place]]] = True
        taken = self._hand_out(number, at[~in_place], made[~in_place], taken)
        copied = ~in_place & (base >= 0)
        before = (at[copied], self._row[base[copied]], self._row[made[copied]])
        sent_rows = self._row[moves.value]
        cleared, exchanges = [np.zeros((2, 0), np.int64)], []
        for group in np.unique(moves.group):
            which = np.flatnonzero(moves.group == group)
            adds = ~moves.first[which] | (base[moves.result[which]] >= 0)
            order = np.lexsort((~adds, moves.end[which]))
            which, adds = which[order], adds[order]
            end = moves.end[which]
            place = _place_in_run(end)
            most = int(place[adds].max(initial=-1)) + 1
            rows = self._row[made[moves.result[which]]]
            zero = ~adds & (place < most)
            cleared.append(np.stack([end[zero], rows[zero]]))
            sent = self._table(moves.start[which], place, sent_rows[which], np.zeros_like(taken))
            taken = self._grown(taken)
            landed = self._table(end, place, rows, taken | self._busy(number))
            taken = self._grown(taken)
            amount, added = np.bincount(end, minlength=self._ranks), np.zeros(landed.shape, bool)
            added[end, place] = adds
            exchanges.append(Exchange(int(group), _pairs(moves, which), sent, landed, amount, added))
        self._needed[at, self._row[made]] = self._last[made]
        busy = taken | self._busy(number)
        clear_rank, clear_row = np.concatenate(cleared, axis=1)
        order = np.argsort(clear_rank, kind="stable")
        clear = self._table(clear_rank[order], _place_in_run(clear_rank[order]), clear_row[order], busy)
        order = np.argsort(before[0], kind="stable")
        rank, source, target = (one[order] for one in before)
        place = _place_in_run(rank)
        from_ = self._table(rank, place, source, np.zeros_like(busy))
        to = self._table(rank, place, target, self._grown(busy))
        return Step(exchanges, clear, from_, to, np.bincount(rank, minlength=self._ranks))

    def _step_in_regions(self, number: int, moves: Moves) -> Step:
        made = moves.made[moves.result]
        exchanges: list[Exchange] = []
        landed: list[tuple[Ints, Ints]] = []
        taken = np.zeros(self.count, bool)
        for group in np.unique(moves.group):
            which = np.flatnonzero(moves.group == group)
            # What is needed equally long lies in the same row of all, so that rows are soon free again.
            which = which[np.lexsort((self._last[made[which]], moves.end[which]))]
            place = _place_in_run(moves.end[which])
            width = int(place.max()) + 1
            region = self._region(width, taken | (self._needed.max(axis=0) > number))
            taken = np.concatenate([taken, np.zeros(self.count - len(taken), bool)])
            taken[region : region + width] = True
            sent = self._table(
                moves.start[which], place, self._row[moves.value[which]], np.zeros_like(self._needed, bool)
            )
            rows = np.tile(region + np.arange(width), (self._ranks, 1))
            landed.append((which, region + place))
            amount = np.bincount(moves.end[which], minlength=self._ranks)
            added = np.zeros(rows.shape, bool)
            exchanges.append(Exchange(int(group), _pairs(moves, which), sent, rows, amount, added, region))
        for which, rows in landed:
            self._row[made[which]] = rows
            self._needed[moves.end[which], rows] = self._last[made[which]]
        nothing = np.zeros((self._ranks, 0), np.int64)
        return Step(exchanges, nothing, nothing, nothing, np.zeros(self._ranks, np.int64))

    def _region(self, width: int, busy: NDArray[np.bool_]) -> int:
        """The first of as many rows in order that are free at all ranks."""
        ends = np.append(np.flatnonzero(busy), len(busy))
        begins = np.append(0, ends[:-1] + 1)
        region = int(begins[np.argmax(np.append((ends - begins)[:-1] >= width, True))])
        if (short := region + width - self.count) > 0:
            self._needed = np.concatenate([self._needed, np.full((self._ranks, short), FREE)], axis=1)
        return region

    def _hand_out(self, number: int, rank: Ints, value: Ints, taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Gives values the rows they wish, or else the lowest that are free after a step; these are taken then."""
        wish = self._wish[value]
        wished = wish >= 0
        wished[wished] = ~(taken | self._busy(number))[rank[wished], wish[wished]]
        self._row[value[wished]] = wish[wished]
        taken[rank[wished], wish[wished]] = True
        rank, value = rank[~wished], value[~wished]
        order = np.argsort(rank, kind="stable")
        rank, value = rank[order], value[order]
        busy = taken | self._busy(number)
        # The rows of a result apart are for what ends there.
        busy[:, : self.outputs * self.apart] = True
        rows = self._free(rank, _place_in_run(rank), busy)
        taken = self._grown(taken)
        self._row[value] = rows
        taken[rank, rows] = True
        return taken

    def _busy(self, number: int) -> NDArray[np.bool_]:
        """By rank and row: is what stands there needed after all of a step has been sent?"""
        busy: NDArray[np.bool_] = self._needed >= number if self._exclusive else self._needed > number
        return busy

    def _free(self, rank: Ints, place: Ints, busy: NDArray[np.bool_]) -> Ints:
        """The row at a place among the free ones of a rank, for each; the buffer grows where there are too few."""
        free = (~busy).sum(axis=1)
        short = int((place + 1 - free[rank]).max(initial=0))
        if short > 0:
            more = np.full((self._ranks, short), FREE)
            self._needed = np.concatenate([self._needed, more], axis=1)
            busy = self._grown(busy)
            free = (~busy).sum(axis=1)
        begin = np.cumsum(free) - free
        rows: Ints = np.nonzero(~busy)[1][begin[rank] + place]
        return rows

    def _grown(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask of rows with those that the buffer has got since."""
        more = np.zeros((self._ranks, self.count - mask.shape[1]), bool)
        return np.concatenate([mask, more], axis=1)

    def _table(self, rank: Ints, place: Ints, rows: Ints, busy: NDArray[np.bool_]) -> Ints:
        """A table with a row for each rank, filled up with rows that are neither in it nor busy."""
        width = int(place.max(initial=-1)) + 1
        table = np.full((self._ranks, width), -1)
        table[rank, place] = rows
        busy = busy.copy()
        busy[rank, rows] = True
        ranks, places = np.nonzero(table < 0)
        table[ranks, places] = self._free(ranks, _place_in_run(ranks), busy)
        return table


def rows_for_permutes(tables: Tables) -> Rows:
    """The rows of a plan for programs of permutes: in regions, unless these take several times the memory."""
    in_regions = Rows(tables, regions=True)
    # There are at least as many rows as the operand or the result has. Sums do not land in regions.
    if not in_regions.in_regions or in_regions.count <= MOST * max(in_regions.inputs, in_regions.outputs):
        return in_regions
    by_row = Rows(tables)
    return in_regions if in_regions.count <= MOST * by_row.count else by_row


def _pairs(moves: Moves, which: Ints) -> list[tuple[int, int]]:
    """Who sends to whom."""
    return sorted(set(zip(moves.start[which].tolist(), moves.end[which].tolist(), strict=True)))


def _place_in_run(keys: Ints) -> Ints:
    """The place of each within its run of equal ones."""
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
