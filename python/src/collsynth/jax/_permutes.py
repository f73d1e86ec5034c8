"""A collective of permutes: one for each direction in use in each step, from row to row of one buffer.

In each step, the rows that a permute sends are gathered, and what arrives is scattered to the rows where it is to stay,
or added there; see `_rows` for which these are. Nothing else moves. Steps of the same shape in a row become one loop,
so that programs of many steps stay small.

The gradient is the same program backwards: what landed is sent back, and added to what was sent. So the buffer is never
copied for it, as it would be if JAX took the gradient of each step.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes, lax

from .._answer.plan import Plan
from .._errors import UsageError
from .._running.tables import Ints
from ._collective import Array, AxisNames, Collective
from ._rows import Step, rows_for_permutes
from ._tiles import element_type

if TYPE_CHECKING:
    from .._question.groups import Groups

#: As many steps of the same shape in a row are a loop.
LOOP = 8
#: How rows are found: tables name rows that exist, each once.
EXACT: dict[str, Any] = {"mode": "promise_in_bounds", "unique_indices": True}


@dataclass(frozen=True)
class _Run:
    """Steps of the same shape, one after the other. Their tables stand in a row of numbers from `first` on."""

    steps: int
    first: int
    #: By permutation: its pairs, and how many rows that arrive are added to others.
    exchanges: list[tuple[list[tuple[int, int]], int]]
    #: By step and permutation: the first row of the region where all lands; -1: rows as in the tables.
    regions: list[list[int]]
    #: The lengths of the tables of a step: by permutation what is sent and where it lands; rows that are cleared; rows
    #: that are copied and to where.
    lengths: list[int]

    def numbers(self, own: Array) -> Array:
        """The tables, with a row for each step."""
        width = sum(self.lengths)
        return lax.slice_in_dim(own, self.first, self.first + self.steps * width).reshape(self.steps, width)

    def in_region(self, place: int) -> bool:
        """Does all that a permutation brings land in a region?"""
        return self.regions[0][place] >= 0

    def tables(self, numbers: Array) -> list[Array]:
        """The tables of a step, given their row."""
        ends = [0, *itertools.accumulate(self.lengths)]
        return [lax.slice_in_dim(numbers, *pair) for pair in itertools.pairwise(ends)]


class PermuteCollective(Collective):
    """A collective that follows a plan by permutes. Differentiable in reverse, as often as you like.

    With `sums_in`, a type of elements, sums are kept in it, and rounded to the operand's type where they are sent on
    and at the end: float32, say, for operands of bfloat16. As many bytes are sent; the buffer takes more. A type that
    does not hold every element of the operand raises `UsageError` at the call.
    """

    def __init__(
        self, plan: Plan, axis_names: AxisNames, sums_in: Any = None, axis_index_groups: Groups | None = None
    ) -> None:
        super().__init__(plan, axis_names, axis_index_groups)
        # What is only moved stays as it is.
        kept = None if sums_in is None else element_type("sums_in", sums_in)
        sums = self._plan_tables.adds or self._plan_tables.kind == "all_reduce_gathered"
        self._sums_in = kept if sums else None
        rows = self._placed = rows_for_permutes(self._plan_tables)
        blocks = [rows.start, rows.end, rows.filled]
        self._begin = sum(block.shape[1] for block in blocks)
        self._permutations = [len(step.exchanges) for step in rows.steps]
        self._runs: list[_Run] = []
        width = self._begin
        for steps in _alike(rows.steps):
            exchanges = [
                (sorted({pair for step in steps for pair in step.exchanges[place].pairs}), one.added)
                for place, one in enumerate(steps[0].exchanges)
            ]
            lengths = [table.shape[1] for table in steps[0].blocks]
            regions = [[-1 if one.region is None else one.region for one in step.exchanges] for step in steps]
            self._runs.append(_Run(len(steps), width, exchanges, regions, lengths))
            width += len(steps) * sum(lengths)
            blocks += [table for step in steps for table in step.blocks]
        self.tables = np.concatenate(blocks, axis=1).astype(np.int32)

    @property
    def permutations(self) -> list[int]:
        """The number of `ppermute`s of each step: at most twice the dimensions of a torus."""
        return self._permutations

    def _carry_out(self, chunks: Array, own: Array, numbers: Ints) -> Array:
        if self._sums_in is None or not self._plan_tables.adds:
            return _carried_out(_Program(self, numbers), chunks, own)
        kept = self._held(chunks, self._sums_in)
        summed: Array = _carried_out(_Program(self, numbers, chunks.dtype), chunks.astype(kept), own)
        return summed.astype(chunks.dtype)

    def _summed(self, rows: Array) -> Array:
        kept = rows.dtype if self._sums_in is None else self._held(rows, self._sums_in)
        return rows.sum(axis=0, dtype=kept).astype(rows.dtype)

    def _held(self, values: Array, sums_in: np.dtype[Any]) -> np.dtype[Any]:
        """The type that sums of these are kept in, if it holds them."""
        if dtypes.canonicalize_dtype(sums_in) != sums_in:
            raise UsageError(
                f"sums_in={str(sums_in)!r}: JAX keeps no 64 bits as it is configured",
                'jax.config.update("jax_enable_x64", True) has it keep them',
            )
        if not np.can_cast(values.dtype, sums_in):
            raise UsageError(f"sums_in={str(sums_in)!r} does not hold every {values.dtype} of the operand")
        return sums_in


class _Program:
    """The steps of a collective on a mesh, forwards and backwards."""

    def __init__(self, collective: PermuteCollective, numbers: Ints, sent_in: Any = None) -> None:
        #: The type of what is sent, where it is not that of the buffer.
        self._sent_in = sent_in
        self.rows, self.runs = collective._placed, collective._runs
        self._axes, self._numbers = collective.axis_names, numbers
        self._begin = collective._begin

    def forwards(self, chunks: Array, own: Array) -> Array:
        """The chunks of the result."""
        rows = self.rows
        start, end, filled = self._ends(own)
        if rows.starts_in_place and rows.count == rows.inputs:
            held = chunks
        else:
            held = lax.empty((rows.count, *chunks.shape[1:]), chunks.dtype)
            if rows.starts_in_place:
                held = lax.dynamic_update_slice_in_dim(held, chunks, 0, 0)
            else:
                held = held.at[start].set(chunks, **EXACT)
        for run in self.runs:
            held = self._all_steps(self._forwards, run, held, own, reverse=False)
        result = held[: rows.outputs] if rows.ends_in_place else held.at[end].get(mode="promise_in_bounds")
        return result if rows.filled.all() else jnp.where(filled[:, None, None] > 0, result, jnp.zeros_like(result))

    def backwards(self, result: Array, own: Array) -> Array:
        """The gradient of the operand, given that of the result."""
        rows = self.rows
        start, end, filled = self._ends(own)
        if not rows.filled.all():
            result = jnp.where(filled[:, None, None] > 0, result, jnp.zeros_like(result))
        held = jnp.zeros((rows.count, *result.shape[1:]), result.dtype)
        if rows.ends_in_place:
            held = lax.dynamic_update_slice_in_dim(held, result, 0, 0)
        else:
            held = held.at[end].add(result, mode="promise_in_bounds")
        for run in reversed(self.runs):
            held = self._all_steps(self._backwards, run, held, own, reverse=True)
        return held[: rows.inputs] if rows.starts_in_place else held.at[start].get(**EXACT)

    def _ends(self, own: Array) -> tuple[Array, Array, Array]:
        """Where the operand and the result stand, and whether there is a result."""
        first, second = self.rows.inputs, self.rows.inputs + self.rows.outputs
        return own[:first], own[first:second], own[second : self._begin]

    def _all_steps(self, step: Any, run: _Run, held: Array, own: Array, reverse: bool) -> Array:
        numbers = run.numbers(own)

        def loop(held: Array, numbers: Array) -> Array:
            def body(held: Array, row: tuple[Array, Array]) -> tuple[Array, None]:
                return step(run, held, *row), None

            regions = jnp.asarray(run.regions, jnp.int32).reshape(run.steps, len(run.exchanges))
            done: Array = lax.scan(body, held, (numbers, regions), reverse=reverse)[0]
            return done

        def unrolled(held: Array, numbers: Array) -> Array:
            for number in reversed(range(run.steps)) if reverse else range(run.steps):
                held = step(run, held, numbers[number], run.regions[number])
            return held

        if run.steps == 1:
            return unrolled(held, numbers)
        # XLA's CPU devices mix up the permutes of a loop with others that are under way.
        last: Array = lax.platform_dependent(held, numbers, cpu=unrolled, default=loop)
        return last

    def _forwards(self, run: _Run, held: Array, numbers: Array, regions: Any) -> Array:
        *tables, cleared, copied_from, copied_to = run.tables(numbers)
        sent = [held.at[table].get(**EXACT) for table in tables[::2]]
        copied = held.at[copied_from].get(mode="promise_in_bounds")
        # All is read before anything lands. Else XLA fuses slices with what follows, and copies the whole buffer.
        held, sent, copied = lax.optimization_barrier((held, sent, copied))
        arrived = [self._permute(values, pairs) for values, (pairs, _) in zip(sent, run.exchanges, strict=True)]
        if len(copied_to):
            held = held.at[copied_to].set(copied, **EXACT)
        if len(cleared):
            held = held.at[cleared].set(jnp.zeros((), held.dtype), **EXACT)
        for place, (values, landed) in enumerate(zip(arrived, tables[1::2], strict=True)):
            added = run.exchanges[place][1]
            if run.in_region(place):
                held = lax.dynamic_update_slice_in_dim(held, values, regions[place], 0)
                continue
            if added:
                held = _add(held, landed[:added], values[:added])
            if added < len(landed):
                held = held.at[landed[added:]].set(values[added:], **EXACT)
        return held

    def _backwards(self, run: _Run, held: Array, numbers: Array, regions: Any) -> Array:
        *tables, cleared, copied_from, copied_to = run.tables(numbers)
        landed = [
            lax.dynamic_slice_in_dim(held, regions[place], len(sent), 0)
            if run.in_region(place)
            else held.at[table].get(**EXACT)
            for place, (sent, table) in enumerate(zip(tables[::2], tables[1::2], strict=True))
        ]
        copied = held.at[copied_to].get(**EXACT)
        held, landed, copied = lax.optimization_barrier((held, landed, copied))
        returned = [
            self._permute(values, [(end, start) for start, end in pairs])
            for values, (pairs, _) in zip(landed, run.exchanges, strict=True)
        ]
        # What stood there before is another value, on which nothing that came later depends.
        for place, values in enumerate(landed):
            if run.in_region(place):
                held = lax.dynamic_update_slice_in_dim(held, jnp.zeros_like(values), regions[place], 0)
        replaced = [table[added:] for table, (_, added) in zip(tables[1::2], run.exchanges, strict=True)]
        for table in [*replaced, cleared, copied_to]:
            if len(table):
                held = held.at[table].set(jnp.zeros((), held.dtype), **EXACT)
        if len(copied_from):
            held = held.at[copied_from].add(copied, mode="promise_in_bounds")
        for values, table in zip(returned, tables[::2], strict=True):
            held = held.at[table].add(values, **EXACT)
        return held

    def _permute(self, values: Array, pairs: list[tuple[int, int]]) -> Array:
        numbered = [(int(self._numbers[start]), int(self._numbers[end])) for start, end in pairs]
        sent = values if self._sent_in is None else values.astype(self._sent_in)
        arrived: Array = lax.ppermute(sent, self._axes, numbered)
        return arrived.astype(values.dtype)


def _add(held: Array, rows: Array, values: Array) -> Array:
    """Adds to rows; of truth values, whether any is true."""
    there = held.at[rows]
    return there.max(values, **EXACT) if held.dtype == jnp.bool_ else there.add(values, **EXACT)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _carried_out(program: _Program, chunks: Array, own: Array) -> Array:
    return program.forwards(chunks, own)


def _carried_out_forwards(program: _Program, chunks: Array, own: Array) -> tuple[Array, Array]:
    return _carried_out(program, chunks, own), own


def _carried_out_backwards(program: _Program, own: Array, result: Array) -> tuple[Array, None]:
    return _returned(program, result, own), None


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _returned(program: _Program, result: Array, own: Array) -> Array:
    return program.backwards(result, own)


def _returned_forwards(program: _Program, result: Array, own: Array) -> tuple[Array, Array]:
    return _returned(program, result, own), own


def _returned_backwards(program: _Program, own: Array, chunks: Array) -> tuple[Array, None]:
    return _carried_out(program, chunks, own), None


_carried_out.defvjp(_carried_out_forwards, _carried_out_backwards)
_returned.defvjp(_returned_forwards, _returned_backwards)


def _alike(steps: list[Step]) -> list[list[Step]]:
    """Steps in order: alone, or as many of the same shape in a row as are worth a loop."""
    found: list[list[Step]] = []
    for _, run in itertools.groupby(steps, key=lambda step: step.shape):
        same = list(run)
        found += [same] if len(same) >= LOOP and _one_way(same) else [[step] for step in same]
    return found


def _one_way(steps: list[Step]) -> bool:
    """Do all permutations of the same place go together as one?"""
    for place in range(len(steps[0].exchanges)):
        pairs = {pair for step in steps for pair in step.exchanges[place].pairs}
        if any(len({pair[end] for pair in pairs}) < len(pairs) for end in range(2)):
            return False
    return True
