"""What is asked of the command within this process, in its words."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _collsynth
from .._errors import UsageError, of_ending
from .._planning import MOST, collective_of, counts_of, quantity
from .._question.groups import group_words
from .._question.names import Progress, check_options, one_of
from .._question.topology import Topology, topology_of, whole_number

if TYPE_CHECKING:
    from .._question.groups import Groups

#: Numbers of these options are seconds.
TIMES = ("time_limit", "alpha", "transfer_setup")


@dataclass(frozen=True)
class Question:
    """What is asked of a subcommand about a collective on a machine."""

    name: str
    topology: Topology
    collective: str
    groups: list[str]
    options: dict[str, Any]

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
        return Question(name, machine, collective_of(collective), group_words(machine, groups, relays), dict(options))

    def ask(self, others: Sequence[str], progress: Progress | None) -> str:
        """The answer of the command in the form that these other words state."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            words = self.topology.command_words
            machine = machine_file(self.topology, folder) if words is None else words
            stated = option_words(self.options, self.topology, folder, in_groups=bool(self.groups))
            name = "bound" if self.name == "bounds" else self.name
            line = [name, *machine, "--collective", self.collective, *self.groups, *stated, *others]
            return call(line, self.options, "", progress)


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
    threads = options.get("threads")
    if threads is not None and not (isinstance(threads, int) and 1 <= threads <= MOST):
        raise UsageError(f"threads is {threads!r}: it lies between 1 and {MOST}")
    code, output, notes = _collsynth.synth_call(["synth", *words], text, threads, progress)
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


def machine_file(topology: Topology, folder: str) -> list[str]:
    """The options that name a file with this machine, written to a folder."""
    path = os.path.join(folder, "topology.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(topology.to_json())
    return ["--topology", path]


def option_words(
    options: Mapping[str, Any],
    topology: Topology | None = None,
    folder: str | None = None,
    in_groups: bool = False,
) -> list[str]:
    """Options as the command line has them: `max_steps=3` is `--max-steps 3`, `True` is the option alone.

    A demand that is a matrix is written to the folder.
    """
    words = []
    for name, value in options.items():
        if name == "threads" or value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is True:
            continue
        if name in ("root", "rank"):
            word = _rank(name, value, topology, in_groups)
        elif name == "demand" and folder is not None and not isinstance(value, (str, os.PathLike)):
            word = _demand_file(value, folder)
        else:
            word = _word(name, value)
        words.append(word)
    return words


def _word(name: str, value: Any) -> str:
    if name in ("planner", "planners", "baseline"):
        stated = value.split(",") if isinstance(value, str) else value
        if not isinstance(stated, Sequence):
            raise UsageError(f"{name} is a name, such as 'ring', not {value!r}")
        known = _collsynth.planners() + (["auto"] if name == "planner" else [])
        return ",".join(one_of("planner", one.strip() if isinstance(one, str) else one, known) for one in stated)
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name in TIMES:
        return f"{quantity(name, 'seconds', value)}s"
    if isinstance(value, Mapping):
        return ",".join(f"{dim}={_word(name, one)}" for dim, one in value.items())
    if name == "bandwidth":
        return f"{quantity(name, 'bandwidth', value)}B/s"
    if hasattr(value, "__iter__"):
        return ",".join(_word(name, one) for one in value)
    return str(whole_number(name, value))


def _rank(name: str, value: Any, topology: Topology | None, in_groups: bool) -> str:
    if in_groups and isinstance(value, Sequence):
        raise UsageError(f"{name} is {value!r}: in groups, it is the place of a member, from 0")
    if in_groups or topology is None:
        return str(whole_number(name, value))
    return str(topology.rank(value))


def _demand_file(demand: Any, folder: str) -> str:
    counts, path = counts_of(demand), os.path.join(folder, "demand.json")
    size = int(len(counts) ** 0.5)
    with open(path, "w", encoding="utf-8") as file:
        json.dump([counts[row * size : (row + 1) * size] for row in range(size)], file)
    return path
