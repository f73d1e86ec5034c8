"""What each rank moves in each step, slot by slot: the tables that all adapters run.

A rank has *places*: its input, its output and its scratch, one after the other, each as long as at the rank that has
most of it. A place holds one chunk. In a step, all ranks send from the places as the step found them; then what arrives
is put in its place, on top of what the schedule adds to it.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._errors import UsageError

if TYPE_CHECKING:
    from .._answer.plan import Plan

Ints = NDArray[np.int32]

#: Kinds with a block of input for each rank, and those with a block of output from each rank; in groups, for and from
#: each member of the rank's own, and as many blocks everywhere as the largest group has members.
INPUT_OF_EVERY_RANK = ("all_to_all", "reduce_scatter", "scatter")
OUTPUT_OF_EVERY_RANK = ("all_to_all", "all_gather", "all_reduce_gathered", "gather")
#: Kinds whose output is at the root alone.
OUTPUT_AT_ROOT = ("reduce", "gather")


@dataclass(frozen=True)
class Transfer:
    """Chunks from one rank to another in one step, all over one link."""

    start: int
    end: int
    #: Transfers of a step in the same group have distinct senders and distinct receivers.
    group: int
    #: Places at the sender.
    source: Ints
    #: Places at the receiver.
    target: Ints
    #: The place whose value, as the step found it, is added to what arrives; -1: none.
    base: Ints
    #: Added to what another transfer of the step has put in the same place.
    later: NDArray[np.bool_]
    #: The part of its message that each chunk is.
    part: Ints


class Tables:
    """The tables of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.kind, self.parts, self.root = plan._schedule.collective
        if self.kind == "barrier":
            raise UsageError("a barrier moves no values", "run it with `synth run`, or use an all_reduce")
        self.ranks = plan.topology.ranks
        self.live = plan.topology.live_ranks
        groups = plan.groups
        #: The ranks that take part, those that failed too; ranks in no group only pass on what others need.
        self.members = set(range(self.ranks)) if groups is None else {rank for group in groups for rank in group}
        #: The root or, in groups, the root of each.
        self.roots = {self.root} if groups is None or self.root is None else {group[self.root] for group in groups}
        sizes, moves, copies = plan._schedule.slot_moves()
        most = np.frombuffer(sizes, np.int32).reshape(self.ranks, 3)[self.live].max(axis=0)
        #: The first place of input, output and scratch, then the number of places.
        self.first: list[int] = [0, *(int(end) for end in np.cumsum(most))]
        self._moves = np.frombuffer(moves, np.int32).reshape(-1, 10)
        rows = np.frombuffer(copies, np.int32).reshape(-1, 5)
        #: What stays at its rank: rank, source, target.
        self.copies = np.stack([rows[:, 0], self._places(rows[:, 1:3]), self._places(rows[:, 3:5])], axis=1)

    @property
    def places(self) -> int:
        """The number of places."""
        return self.first[3]

    @property
    def block_slots(self) -> int:
        """Slots of a block: the parts of a message. In an all_to_allv, each chunk is a block."""
        return 1 if self.kind == "all_to_allv" else self.parts

    @cached_property
    def digest(self) -> str:
        """What ranks that run the same plan have in common."""
        words = (
            self.kind,
            self.parts,
            self.root,
            self.ranks,
            self.live,
            sorted(self.members),
            sorted(root for root in self.roots if root is not None),
        )
        found = hashlib.sha256(repr(words).encode())
        for table in (np.array(self.first, np.int32), self._moves, self.copies):
            found.update(table.tobytes())
        return found.hexdigest()[:16]

    @property
    def adds(self) -> bool:
        """Is anything added up?"""
        return self.kind == "all_reduce_gathered" or bool((self._moves[:, 6] >= 0).any() or self._later.any())

    def part_of_places(self, places: Ints) -> Ints:
        """The part that places of input and output hold; 0 for scratch."""
        within = np.where(places < self.first[1], places, places - self.first[1])
        return np.where(places < self.first[2], within % self.block_slots, 0).astype(np.int32)

    @cached_property
    def _later(self) -> NDArray[np.bool_]:
        step, end, target = self._moves[:, 0].astype(np.int64), self._moves[:, 2], self._places(self._moves[:, 8:10])
        _, first = np.unique((step * self.ranks + end) * self.places + target, return_index=True)
        later = np.ones(len(self._moves), bool)
        later[first] = False
        return later

    @cached_property
    def _parts(self) -> Ints:
        """By move: the part of its message that the chunk is. Scratch holds what was last put there."""
        step, start, end = self._moves[:, :3].T
        source, target = self._places(self._moves[:, 4:6]), self._places(self._moves[:, 8:10])
        held = np.tile(self.part_of_places(np.arange(self.places, dtype=np.int32)), (self.ranks, 1))
        rank, begins, ends = self.copies.T
        held[rank, ends] = held[rank, begins]
        parts = np.zeros(len(self._moves), np.int32)
        cuts = np.searchsorted(step, np.arange(step.max(initial=0) + 2))
        for at, to in itertools.pairwise(cuts.tolist()):
            parts[at:to] = held[start[at:to], source[at:to]]
            held[end[at:to], target[at:to]] = parts[at:to]
        return parts

    def has_output(self, rank: int) -> bool:
        """Does the rank end with anything?"""
        takes_part = rank in self.members and rank in self.live
        return takes_part and (self.kind not in OUTPUT_AT_ROOT or rank in self.roots)

    @cached_property
    def steps(self) -> list[list[Transfer]]:
        """The transfers of each step, by group and sender."""
        moves = self._moves
        if len(moves) == 0:
            return []
        step, start, end, direction = moves[:, :4].T
        source, base, target = (self._places(moves[:, at : at + 2]) for at in (4, 6, 8))
        later, parts = self._later, self._parts
        group = direction if direction.min() >= 0 else _colored(step, start, end)
        order = np.lexsort((end, start, group, step))
        keys = np.stack([step, group, start, end], axis=1)[order]
        cuts = np.flatnonzero(np.any(np.diff(keys, axis=0) != 0, axis=1)) + 1
        steps: list[list[Transfer]] = [[] for _ in range(int(step.max()))]
        for run in np.split(order, cuts):
            at = run[0]
            ends = (int(start[at]), int(end[at]), int(group[at]))
            steps[step[at] - 1].append(Transfer(*ends, source[run], target[run], base[run], later[run], parts[run]))
        return steps

    def _places(self, slots: Ints) -> Ints:
        """The places of slots given as buffer and offset; -1 for no slot."""
        buffer, offset = slots.T
        return np.where(buffer < 0, -1, np.array(self.first, np.int32)[buffer] + offset).astype(np.int32)


class RankTables:
    """The tables of one rank, and the shapes of what it is called with."""

    def __init__(self, tables: Tables, rank: int) -> None:
        self.tables, self.rank = tables, rank
        mine = tables.copies[tables.copies[:, 0] == rank]
        self.copies = (mine[:, 1], mine[:, 2])
        #: Per step: what is sent, and what is received.
        self.steps = [
            ([one for one in step if one.start == rank], [one for one in step if one.end == rank])
            for step in tables.steps
        ]

    @cached_property
    def written(self) -> NDArray[np.bool_]:
        """By place of the output: is anything ever put there?"""
        first = self.tables.first
        found = np.zeros(self.tables.places, bool)
        found[self.copies[1]] = True
        for _, receives in self.steps:
            for one in receives:
                found[one.target] = True
        return found[first[1] : first[2]]

    @property
    def input_blocks(self) -> int:
        """Blocks of the input."""
        return self.tables.first[1] // self.tables.block_slots

    @property
    def output_blocks(self) -> int:
        """Blocks of the output."""
        return (self.tables.first[2] - self.tables.first[1]) // self.tables.block_slots

    def block_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a block of an operand of this shape."""
        rows = self.tables.kind in INPUT_OF_EVERY_RANK or self.tables.kind == "all_to_allv"
        if rows and (not shape or shape[0] != self.input_blocks):
            raise UsageError(f"{self.tables.kind} takes ({self.input_blocks}, ...) at each rank, not {shape}")
        return shape[1:] if rows else shape

    @property
    def has_output_rows(self) -> bool:
        """Is the output a row of blocks? Otherwise it is one block."""
        return self.tables.kind in OUTPUT_OF_EVERY_RANK or self.tables.kind == "all_to_allv"


def tables_of(plan: Plan) -> Tables:
    """The tables of a plan, made once."""
    if plan._tables is None:
        plan._tables = Tables(plan)
    return plan._tables


def rank_of(plan: Plan, number: int, size: int) -> int:
    """The rank that process `number` of `size` has: all ranks take part, or the live ones alone."""
    live = tables_of(plan).live
    if size == plan.topology.ranks:
        return number
    if size == len(live):
        return live[number]
    raise UsageError(f"{size} processes for {plan.topology.ranks} ranks, of which {len(live)} are alive")


def process_of(plan: Plan, rank: int, size: int) -> int:
    """The process that has a rank: the inverse of `rank_of`."""
    return rank if size == plan.topology.ranks else tables_of(plan).live.index(rank)


def _colored(step: Ints, start: Ints, end: Ints) -> Ints:
    """Groups on a graph, which has no directions: the links of a step, colored greedily."""
    colors: dict[tuple[int, int, int], int] = {}
    taken: set[tuple[int, str, int, int]] = set()
    group = np.empty(len(step), np.int32)
    for row, (number, sender, receiver) in enumerate(zip(step.tolist(), start.tolist(), end.tolist(), strict=True)):
        color = colors.get((number, sender, receiver))
        if color is None:
            color = 0
            while (number, "out", sender, color) in taken or (number, "in", receiver, color) in taken:
                color += 1
            taken |= {(number, "out", sender, color), (number, "in", receiver, color)}
            colors[number, sender, receiver] = color
        group[row] = color
    return group
