"""What one rank sends, receives and adds in each step, as ranges of elements: what the adapters for processes run.

A rank has four flat arrays: its operand, its result, scratch, and a stage for messages. All chunks that go to a peer in
a step are one message, whose tag is the step. A message whose chunks lie side by side is sent from where they are, and
received into its place unless something is added to it or the place is in use in its step; otherwise it passes through
the stage. Receives are posted as early as their places are free, so that no sender waits for them.

A vector of `count` elements in `parts` parts has parts of `ceil(count / parts)` elements; the last ones may be shorter,
or empty. Empty parts are not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from .tables import RankTables, Transfer

INPUT, OUTPUT, SCRATCH, STAGE = range(4)


class Range(NamedTuple):
    """Elements of one of the flat arrays."""

    region: int
    start: int
    stop: int


class Landing(NamedTuple):
    """What arrives from elsewhere than its place: from where, to where, on top of what."""

    source: Range
    target: Range
    #: None: nothing is added.
    base: Range | None


class Message(NamedTuple):
    """What goes to a peer, or comes from one."""

    peer: int
    tag: int
    whole: Range


@dataclass
class Step:
    """One step of a rank, in the order of its fields. Sends are known by their numbers."""

    #: Sends that end before anything is posted, as it is received where they are sent from.
    before_posts: list[int] = field(default_factory=list)
    #: Receives of this step and of later ones.
    posts: list[Message] = field(default_factory=list)
    #: Copies into the stage: packed messages, and what would be overwritten before it is added.
    packed: list[tuple[Range, Range]] = field(default_factory=list)
    sends: list[Message] = field(default_factory=list)
    #: Receives that end in this step: peer and tag.
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    #: Sends that end before anything lands.
    before_landings: list[int] = field(default_factory=list)
    landings: list[Landing] = field(default_factory=list)


class Transport(Protocol):
    """Sends and receives messages; what it starts it numbers from 0, sends and receives apart."""

    def post(self, messages: list[Message]) -> None:
        """Starts to receive."""

    def send(self, messages: list[Message]) -> None:
        """Starts to send."""

    def arrived(self, keys: list[tuple[int, int]]) -> None:
        """Waits for messages of these peers and tags."""

    def sent(self, numbers: list[int] | None) -> None:
        """Waits for the end of these sends, or of all."""


class Ranges:
    """The steps of one rank for blocks of `count` elements.

    `rows` are the places of the blocks in operand and result, where they have no block for some ranks; -1 for those.
    """

    def __init__(self, tables: RankTables, count: int, rows: Sequence[int] | None = None) -> None:
        self._tables, self._count = tables.tables, count
        self._length = -(-count // self._tables.block_slots)
        self._rows = rows
        self.scratch = (self._tables.first[3] - self._tables.first[2]) * self._length
        self.stage = 0
        source, target = tables.copies
        parts = self._tables.part_of_places(source)
        self.copies = [
            (whole[0], whole[1])
            for whole in _joined(
                (self._range(one, part), self._range(other, part))
                for one, other, part in zip(source.tolist(), target.tolist(), parts.tolist(), strict=True)
            )
        ]
        self.holes = self._holes(tables)
        self.steps: list[Step] = []
        #: By place: the step that last read or wrote it, and the sends from it that may not have ended.
        self._used: dict[int, int] = {}
        self._open: dict[int, list[int]] = {}
        self._ended: set[int] = set()
        self._sends = 0
        for tag, transfers in enumerate(tables.steps):
            if transfers[0] or transfers[1]:
                self.steps.append(Step())
                self._send(tag, transfers[0])
                self._receive(tag, *transfers)
        self.steps = [step for step in self.steps if step != Step()]

    def run(self, arrays: Sequence[Any], add: Callable[..., Any], transport: Transport, zero: Any = 0) -> None:
        """Runs all steps on these four arrays, whose type of elements has this zero."""
        for whole in self.holes:
            arrays[OUTPUT][whole.start : whole.stop] = zero
        for source, target in self.copies:
            _copy(arrays, source, target)
        for step in self.steps:
            if step.before_posts:
                transport.sent(step.before_posts)
            transport.post(step.posts)
            for source, target in step.packed:
                _copy(arrays, source, target)
            transport.send(step.sends)
            transport.arrived(step.arrivals)
            if step.before_landings:
                transport.sent(step.before_landings)
            for source, target, base in step.landings:
                if base is None:
                    _copy(arrays, source, target)
                else:
                    below, above = _of(arrays, base), _of(arrays, source)
                    add(below, above, out=_of(arrays, target))
        transport.sent(None)

    def _range(self, place: int, part: int) -> Range:
        """The elements of a place that holds this part of a block."""
        first = self._tables.first
        size = max(min(self._length, self._count - part * self._length), 0)
        if place >= first[2]:
            start = (place - first[2]) * self._length
            return Range(SCRATCH, start, start + size)
        region = INPUT if place < first[1] else OUTPUT
        block = (place - first[region]) // self._tables.block_slots
        blocks = (first[region + 1] - first[region]) // self._tables.block_slots
        row = self._rows[block] if self._rows is not None and blocks > 1 else block
        start = row * self._count + part * self._length
        return Range(region, start, start + size)

    def _staged(self, size: int) -> Range:
        """Room in the stage, for the whole call."""
        self.stage += size
        return Range(STAGE, self.stage - size, self.stage)

    def _send(self, tag: int, sent: list[Transfer]) -> None:
        now, step = len(self.steps) - 1, self.steps[-1]
        for peer, chunks in _by_peer(sent, "end"):
            message = [whole[0] for whole in _joined((self._range(at, part),) for at, _, _, _, part in chunks)]
            if not message:
                continue
            for at, *_ in chunks:
                self._used[at] = now
            if len(message) == 1:
                for at, *_ in chunks:
                    self._open.setdefault(at, []).append(self._sends)
                step.sends.append(Message(peer, tag, message[0]))
            else:
                whole = self._staged(sum(one.stop - one.start for one in message))
                at = whole.start
                for one in message:
                    step.packed.append((one, Range(STAGE, at, at + one.stop - one.start)))
                    at += one.stop - one.start
                step.sends.append(Message(peer, tag, whole))
            self._sends += 1

    def _receive(self, tag: int, sent: list[Transfer], received: list[Transfer]) -> None:
        now, step = len(self.steps) - 1, self.steps[-1]
        firsts: list[Landing] = []
        laters: list[Landing] = []
        read = {place for one in sent for place in one.source.tolist()}
        read.update(place for one in received for place in one.base.tolist())
        landing: set[int] = set()
        for peer, chunks in _by_peer(received, "start"):
            places = [self._range(at, part) for _, at, _, _, part in chunks]
            whole = [one[0] for one in _joined((one,) for one in places)]
            if not whole:
                continue
            targets = [at for _, at, *_ in chunks]
            plain = all(base < 0 and not later for _, _, base, later, _ in chunks)
            step.arrivals.append((peer, tag))
            if len(whole) == 1 and plain and read.isdisjoint(targets):
                earlier = 1 + max(self._used.get(at, -1) for at in targets)
                self.steps[earlier].before_posts += self._closed(targets)
                self.steps[earlier].posts.append(Message(peer, tag, whole[0]))
                continue
            landing.update(targets)
            stage = self._staged(sum(one.stop - one.start for one in places))
            self.steps[0].posts.append(Message(peer, tag, stage))
            start = stage.start
            for (_, _, base, later, part), place in zip(chunks, places, strict=True):
                source = Range(STAGE, start, start + place.stop - place.start)
                start = source.stop
                if later:
                    laters.append(Landing(source, place, place))
                else:
                    firsts.append(Landing(source, place, None if base < 0 else self._range(base, part)))
        step.before_landings += self._closed(landing)
        step.landings = self._safe(firsts, step) + _merged(laters)
        for one in received:
            for place in (*one.target.tolist(), *one.base.tolist()):
                self._used[place] = now

    def _closed(self, places: Iterable[int]) -> list[int]:
        """The sends from these places that may not have ended; they have ended after this."""
        found = {number for at in places for number in self._open.pop(at, [])} - self._ended
        self._ended |= found
        return sorted(found)

    def _safe(self, landings: list[Landing], step: Step) -> list[Landing]:
        """Keeps what is added to safe from what lands before it: bases are as the step found them."""
        starts = {(one.target.region, one.target.start) for one in landings}
        safe = []
        for one in landings:
            base = one.base
            if base is not None and base != one.target and (base.region, base.start) in starts:
                kept = self._staged(base.stop - base.start)
                step.packed.append((base, kept))
                base = kept
            safe.append(Landing(one.source, one.target, base))
        return _merged(safe)

    def _holes(self, tables: RankTables) -> list[Range]:
        """What no move writes of the result."""
        written = tables.written
        places = np.arange(self._tables.first[1], self._tables.first[2], dtype=np.int32)[~written]
        parts = self._tables.part_of_places(places)
        ends = [
            self._range(at, part)
            for at, part in zip(places.tolist(), parts.tolist(), strict=True)
            if self._rows is None or self._rows[(at - self._tables.first[1]) // self._tables.block_slots] >= 0
        ]
        return [whole[0] for whole in _joined((one,) for one in ends)]


def _by_peer(transfers: list[Transfer], end: str) -> list[tuple[int, list[tuple[int, int, int, bool, int]]]]:
    """The chunks of each message of a step: place at the sender, at the receiver, base, later, part."""
    peers: dict[int, list[tuple[int, int, int, bool, int]]] = {}
    for one in transfers:
        columns = (one.source, one.target, one.base, one.later, one.part)
        peers.setdefault(getattr(one, end), []).extend(zip(*(column.tolist() for column in columns), strict=True))
    return list(peers.items())


def _joined(rows: Iterable[tuple[Range, ...]]) -> list[tuple[Range, ...]]:
    """Rows of ranges of the same size, empty ones left out, those that continue the one before as one."""
    found: list[tuple[Range, ...]] = []
    for row in rows:
        if row[0].start == row[0].stop:
            continue
        last = found[-1] if found else None
        if last is not None and all(a.region == b.region and a.stop == b.start for a, b in zip(last, row, strict=True)):
            found[-1] = tuple(Range(a.region, a.start, b.stop) for a, b in zip(last, row, strict=True))
        else:
            found.append(row)
    return found


def _merged(landings: list[Landing]) -> list[Landing]:
    """The same in fewer: first what nothing is added to."""
    plain = _joined((one.source, one.target) for one in landings if one.base is None)
    sums = _joined((one.source, one.target, one.base) for one in landings if one.base is not None)
    return [Landing(source, target, None) for source, target in plain] + [Landing(*row) for row in sums]


def _of(arrays: Sequence[Any], whole: Range) -> Any:
    return arrays[whole.region][whole.start : whole.stop]


def _copy(arrays: Sequence[Any], source: Range, target: Range) -> None:
    arrays[target.region][target.start : target.stop] = arrays[source.region][source.start : source.stop]
