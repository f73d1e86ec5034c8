"""What an optimized program of XLA moves, read from its text.

The compiler's own count of bytes ignores where buffers lie, so that vector memory counts as HBM, and counts an
asynchronous copy or permute twice over. `Program.traffic` estimates what passes through HBM: each read and each write
once, padding included, loops as often as they run.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

ARRAY = re.compile(r"\b(pred|bf16|f8\w*|[csuf]\d+)\[([\d,]*)\](?:\{([^}]*)\})?")
INSTRUCTION = re.compile(r"^\s+(ROOT )?%(\S+) = (.*?) ([a-z][a-z0-9-]*)\((.*)$", re.M)
COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) \(.*?\{\n(.*?)^\}", re.M | re.S)

#: They move nothing.
FREE = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element", "iota", "partition-id", "after-all"}
#: They read only what they give.
SLICES = {"slice", "dynamic-slice", "gather"}
#: They write only what they put into their first operand, which is this one.
UPDATES = {"dynamic-update-slice": 1, "scatter": 2}


@dataclass(frozen=True)
class Instruction:
    """A line of a computation."""

    name: str
    shape: str
    opcode: str
    operands: list[str]
    #: All after the opcode.
    rest: str
    is_root: bool

    def attribute(self, pattern: str) -> str:
        """The first group of a pattern in what follows the opcode, or nothing."""
        found = re.search(pattern, self.rest)
        return found[1] if found else ""


@dataclass(frozen=True)
class Permute:
    """A collective permute, and how often it happens."""

    #: Of what each device sends, with padding to whole tiles.
    size: int
    pairs: list[tuple[int, int]]
    times: int


class Program:
    """An optimized program of XLA, as `compiled.as_text()` gives it."""

    def __init__(self, text: str) -> None:
        self._computations = {name: list(_instructions(body)) for name, body in COMPUTATION.findall(text)}
        entry = re.search(r"^ENTRY %(\S+)", text, re.M)
        if entry is None:
            raise ValueError("this is no program of XLA: it has no ENTRY")
        self._entry = entry[1]

    @property
    def has_loops(self) -> bool:
        """Does anything happen more than once? The compiler counts it once."""
        return any(times > 1 for _, times in self._with_times(self._entry, 1))

    @cached_property
    def traffic(self) -> int:
        """An estimate of the bytes that pass through HBM."""
        return self._traffic(self._entry)

    @cached_property
    def permutes(self) -> list[Permute]:
        """The collective permutes, in the order in which they begin."""
        found = []
        for one, times in self._with_times(self._entry, 1):
            if one.opcode in ("collective-permute-start", "collective-permute"):
                array = ARRAY.search(one.shape)
                pairs = one.attribute(r"source_target_pairs=\{(.*?)\}\}")
                ends = [(int(a), int(b)) for a, b in re.findall(r"\{(\d+),(\d+)", pairs)]
                found.append(Permute(size_of(array[0] if array else "", all_memories=True), ends, times))
        return found

    @property
    def under_way(self) -> int:
        """As many permutes are under way at once, at most."""
        now = most = 0
        for one, _ in self._with_times(self._entry, 1):
            now += (one.opcode == "collective-permute-start") - (one.opcode == "collective-permute-done")
            most = max(most, now, one.opcode == "collective-permute")
        return most

    def _with_times(self, name: str, times: int) -> Iterator[tuple[Instruction, int]]:
        for one in self._computations[name]:
            yield one, times
            if one.opcode == "while":
                yield from self._with_times(one.attribute(r"body=%([\w.-]+)"), times * self._trips(one))

    def _traffic(self, name: str) -> int:
        shapes = {one.name: one.shape for one in self._computations[name]}
        total = 0
        for one in self._computations[name]:
            if one.opcode == "while":
                total += self._traffic(one.attribute(r"body=%([\w.-]+)")) * self._trips(one)
            elif one.opcode == "fusion":
                total += self._fusion_traffic(one, shapes)
            elif one.opcode in ("collective-permute-start", "copy-start"):
                total += sum(size_of(found[0]) for found in itertools.islice(ARRAY.finditer(one.shape), 2))
            elif one.opcode in UPDATES:
                total += 2 * size_of(shapes.get(one.operands[UPDATES[one.opcode]], ""), all_memories=True)
            elif one.opcode in SLICES:
                total += 2 * size_of(one.shape, all_memories=True)
            elif one.opcode not in FREE and not one.opcode.endswith("-done"):
                total += size_of(one.shape) + sum(size_of(shapes.get(name, "")) for name in one.operands)
        return total

    def _trips(self, loop: Instruction) -> int:
        """How often a loop runs: as the compiler says, or up to the number that its condition counts to."""
        if known := loop.attribute(r"known_trip_count[^\d]*(\d+)"):
            return int(known)
        condition = self._computations.get(loop.attribute(r"condition=%([\w.-]+)"), [])
        bounds = [re.match(r"\d+", one.rest) for one in condition if one.opcode == "constant"]
        return max((int(bound[0]) for bound in bounds if bound), default=1)

    def _fusion_traffic(self, fusion: Instruction, shapes: dict[str, str]) -> int:
        """What a fusion slices is read in slices, what it updates in place is written in slices."""
        inside = {one.name: one for one in self._computations[fusion.attribute(r"calls=%([\w.-]+)")]}

        def origin(name: str) -> str:
            return origin(inside[name].operands[0]) if inside[name].opcode == "bitcast" else name

        root = inside[origin(next(one.name for one in inside.values() if one.is_root))]
        in_place = root.opcode in UPDATES
        written = inside[root.operands[UPDATES[root.opcode]]].shape if in_place else fusion.shape
        total = min(size_of(written, all_memories=True), size_of(fusion.shape))
        for parameter in (one for one in inside.values() if one.opcode == "parameter"):
            number = re.match(r"\d+", parameter.rest)
            whole, part = size_of(shapes.get(fusion.operands[int(number[0] if number else 0)], "")), 0
            for use in (one for one in inside.values() if one.opcode not in ("parameter", "bitcast")):
                places = [
                    place
                    for place, name in enumerate(use.operands)
                    if name in inside and origin(name) == parameter.name
                ]
                if use.opcode in SLICES and places == [0]:
                    part += size_of(use.shape, all_memories=True)
                elif places and not (use is root and in_place and places == [0]):
                    part = whole
            total += min(part, whole)
        return total


def size_of(shape: str, all_memories: bool = False) -> int:
    """Bytes of the arrays of a shape, padded to whole tiles: of those in HBM, which have no memory space, or of all."""
    total = 0
    for kind, numbers, layout in ARRAY.findall(shape):
        if "S(" in layout and not all_memories:
            continue
        dims = [int(dim) for dim in numbers.split(",") if dim]
        order, _, tiles = layout.partition(":")
        # From the dimension that lies closest to the one that lies farthest.
        dims = [dims[int(axis)] for axis in order.split(",")] if order else dims[::-1]
        tile = [int(extent) for extent in tiles[2 : tiles.find(")")].split(",")[::-1]] if tiles.startswith("T(") else []
        padded = [math.ceil(dim / extent) * extent for dim, extent in zip(dims, tile + [1] * len(dims), strict=False)]
        bits = re.search(r"\d+", kind)
        total += math.prod(padded) * max(int(bits[0]) // 8 if bits else 1, 1)
    return total


def _instructions(body: str) -> Iterator[Instruction]:
    for root, name, shape, opcode, rest in INSTRUCTION.findall(body):
        arguments = re.split(r"\)(?:, |$)", rest)[0]
        yield Instruction(name, shape, opcode, re.findall(r"%([\w.-]+)", arguments), rest, bool(root))
