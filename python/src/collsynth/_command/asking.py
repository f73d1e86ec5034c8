"""What is asked of the command within this process, in its words."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _collsynth
from .._errors import of_ending
from .._question.groups import group_words
from .._question.names import Progress, check_options
from .._question.topology import Topology, topology_of
from .._question.words import collective_of, option_words, threads_of

if TYPE_CHECKING:
    from .._question.groups import Groups


@dataclass(frozen=True)
class Question:
    """What is asked of a subcommand about a collective on a machine."""

    name: str
    topology: Topology
    collective: str
    groups: list[str]
    options: dict[str, Any]
    known: type

    @staticmethod
    def of(
        name: str,
        topology: Topology | Sequence[int],
        collective: str,
        groups: Groups | None,
        relays: bool,
        options: Mapping[str, Any],
        known: type,
    ) -> Question:
        machine = topology_of(topology)
        check_options(name, options, known)
        within = group_words(machine, groups, relays)
        return Question(name, machine, collective_of(collective), within, dict(options), known)

    def ask(self, others: Sequence[str], progress: Progress | None) -> str:
        """The answer of the command in the form that these other words state."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            machine = machine_words(self.topology, folder)
            stated = option_words(self.options, self.known, self.topology, folder, bool(self.groups))
            name = "bound" if self.name == "bounds" else self.name
            line = [name, *machine, "--collective", self.collective, *self.groups, *stated, *others]
            return in_place(call(line, self.options, "", progress), self.topology, folder)


def call(
    words: Sequence[str],
    options: Mapping[str, Any],
    text: str,
    progress: Progress | None,
    *,
    may_refute: bool = False,
) -> str:
    """What `synth` prints for these words, called within this process: `text` is its standard input.

    With `may_refute`, an answer about something that does not hold is one.
    """
    code, output, notes = _collsynth.synth_call(["synth", *words], text, threads_of(options), progress)
    if code == 0 or (output and (code == 4 or (code == 1 and may_refute))):
        return output
    message, hint = message_of(notes)
    raise of_ending(code, message or _refusals(output), hint)


def _refusals(output: str) -> str:
    """Why no planner of a comparison has a schedule."""
    try:
        machines = json.loads(output)["machines"]
        reasons = [f"{one['planner']}: {one['reason']}" for machine in machines for one in machine["refusals"]]
    except (ValueError, KeyError, TypeError):
        reasons = [output]
    return "\n  ".join(["no planner has a schedule", *reasons])


def message_of(notes: str) -> tuple[str, str | None]:
    """The message and the hint that the command printed, without the name of standard input."""
    message, _, hint = notes.strip().removeprefix("error: ").removeprefix("-: ").partition("\nhint: ")
    return message, hint or None


def machine_words(topology: Topology, folder: str) -> list[str]:
    """The options that state a machine. What was read from a file is as it was then."""
    words = topology.command_words
    return machine_file(topology, folder) if words is None or "--topology" in words else words


def in_place(answer: str, topology: Topology, folder: str) -> str:
    """An answer whose command lines name the file that a machine was read from."""
    words = topology.command_words
    if words is None or "--topology" not in words:
        return answer
    written, stated = (shlex.join(one) for one in (_file_words(folder), words))
    return answer.replace(_in_json(written), _in_json(stated))


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _file_words(folder: str) -> list[str]:
    return ["--topology", os.path.join(folder, "topology.json")]


def machine_file(topology: Topology, folder: str) -> list[str]:
    """The options that name a file with this machine, written to a folder."""
    words = _file_words(folder)
    with open(words[1], "w", encoding="utf-8") as file:
        file.write(topology.to_json())
    return words
