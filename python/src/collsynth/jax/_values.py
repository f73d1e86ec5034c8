"""What each rank holds and moves, by value: which chunks are the same, and how long each is needed.

A value is a chunk of the operand; or a chunk that arrives, or the sum of those that arrive in one step for one place,
on top of what the schedule adds to them. Copies of a value at a rank are the same value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._running.tables import Tables, Transfer

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Moves:
    """The moves of a step, by permutation and sender."""

    group: Ints
    start: Ints
    end: Ints
    #: What is sent.
    value: Ints
    #: What stands at the receiver afterwards, as an index of `made`.
    result: Ints
    #: Is it the first to arrive for its result?
    first: NDArray[np.bool_]
    #: By result: its number, the rank that has it, and the value it adds to, or -1.
    made: Ints
    at: Ints
    base: Ints


def moves_of(tables: Tables) -> tuple[list[Moves], Ints, Ints]:
    """The moves of each step by values; the values of the operand and of the result, -1 for none, by rank and place."""
    ranks, inputs = tables.ranks, tables.first[1]
    first = np.arange(ranks * inputs).reshape(ranks, inputs)
    current = np.full((ranks, tables.places), -1)
    current[:, :inputs] = first
    rank, source, target = tables.copies.T
    current[rank, target] = current[rank, source]
    count, steps = first.size, []
    for transfers in tables.steps:
        moves = _moves(transfers, current, count)
        steps.append(moves)
        count += len(moves.made)
    return steps, first, current[:, inputs : tables.first[2]]


def _moves(transfers: list[Transfer], current: Ints, count: int) -> Moves:
    """The moves of a step, whose values are numbered from `count`; `current` is brought up to date."""
    lengths = [len(one.source) for one in transfers]
    group, start, end = (
        np.repeat(np.array([getattr(one, name) for one in transfers], np.int64), lengths)
        for name in ("group", "start", "end")
    )
    source, target, base, later = (
        np.concatenate([getattr(one, name) for one in transfers]) for name in ("source", "target", "base", "later")
    )
    places = current.shape[1]
    keys, begins, result = np.unique(end * places + target, return_index=True, return_inverse=True)
    at, place = np.divmod(keys, places)
    bases = np.full(len(keys), -1)
    given = (base >= 0) & ~later
    bases[result[given]] = current[end[given], base[given]]
    value = current[start, source]
    made = count + np.arange(len(keys))
    current[at, place] = made
    first = np.zeros(len(end), bool)
    first[begins] = True
    return Moves(group, start, end, value, result, first, made, at, bases)


def needs(moves: list[Moves], last_values: Ints, count: int) -> tuple[Ints, Ints]:
    """By value: the step that needs it last, and the row of the result where it ends, or what is added to it; or -1."""
    last, wish = np.full(count, -1), np.full(count, -1)
    for number, one in enumerate(moves):
        last[one.made] = number
        last[one.value] = number
        last[one.base[one.base >= 0]] = number
    rank, row = np.nonzero(last_values >= 0)
    ends = last_values[rank, row]
    last[ends] = len(moves)
    wish[ends[::-1]] = row[::-1]
    for one in reversed(moves):
        based = one.base >= 0
        base, made = one.base[based], one.made[based]
        wish[base] = np.where(wish[base] < 0, wish[made], wish[base])
    return last, wish
