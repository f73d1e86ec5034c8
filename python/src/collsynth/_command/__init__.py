"""The command `synth`, and what Python hands to it: bounds, trade-offs, comparisons, other tools' formats."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import _collsynth
from .._answer.plan import Plan, Program, load
from .._errors import Error, UsageError, as_typed, check_readable
from .._question.groups import check_relays, group_words
from .._question.names import (
    BoundOptions,
    CompareOptions,
    ExportFormat,
    ExportOptions,
    ImportFormat,
    ImportOptions,
    Kind,
    ParetoOptions,
    PolishOptions,
    Progress,
    check_options,
)
from .._question.signature import with_options
from .._question.topology import Topology, topology_of
from .._question.words import option_words
from .answers import Comparison, Pareto
from .asking import Question, call, machine_file, message_of

if TYPE_CHECKING:
    import subprocess

    from typing_extensions import Unpack

    from .._question.groups import Groups


def main() -> int:
    """The command `synth`."""
    import signal

    # The command has its own handler, which stops with the best plan so far.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _collsynth.synth_main(["synth", *sys.argv[1:]])


def command(*words: str | os.PathLike[str], text: str | None = None) -> str:
    """Runs `synth` with these words in a process of its own, and returns what it prints.

    `text` is its standard input. Exit codes other than 0 raise the exception they stand for, except that the best found
    within a time limit is returned.
    """
    done = _run(words, text)
    if done.returncode == 0 or (done.returncode == 4 and done.stdout):
        return done.stdout
    raise _error_as_typed(done.returncode, done.stderr)


def _run(words: Sequence[str | os.PathLike[str]], text: str | None) -> subprocess.CompletedProcess[str]:
    # Costs more to import than all of this package.
    import subprocess

    line = [sys.executable, "-m", "collsynth", *(os.fspath(word) for word in words)]
    return subprocess.run(line, input=text, capture_output=True, text=True, check=False)


def command_json(*words: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON object that `synth` prints for these words; verdicts of any kind are answers."""
    done = _run(words, None)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise _error_as_typed(done.returncode, done.stderr) from None
    return answer


@with_options(BoundOptions)
def bounds(
    topology: Topology | Sequence[int],
    collective: Kind | str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Unpack[BoundOptions],
) -> list[dict[str, Any]]:
    """What no schedule can beat, with the evidence in words: the options are those of `synth bound`.

    Each bound says its `figure` (steps or volume) and `at_least`, an int or an exact `Fraction`. With `frontier`: the
    least width at each number of steps. `groups` and `relays` are those of `plan`.
    """
    question = Question.of("bounds", topology, collective, groups, relays, options, BoundOptions)
    answer: dict[str, Any] = json.loads(question.ask(["--format", "json"], progress))
    found: list[dict[str, Any]] = answer["frontier" if options.get("frontier") else "bounds"]
    for one in found:
        for figure in ("at_least", "volume"):
            if isinstance(one.get(figure), str):
                one[figure] = Fraction(one[figure])
    return found


@with_options(ParetoOptions)
def pareto(
    topology: Topology | Sequence[int],
    collective: Kind | str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Unpack[ParetoOptions],
) -> Pareto:
    """The trade of steps against volume; the options are those of `synth pareto`, `groups` and `relays` of `plan`."""
    question = Question.of("pareto", topology, collective, groups, relays, options, ParetoOptions)
    found: Pareto = Pareto.to(question, progress)
    return found


@with_options(CompareOptions)
def compare(
    topology: Topology | Sequence[int],
    collective: Kind | str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Planners side by side; the options are those of `synth compare` (`planners=["ring", "trees"]`).

    `groups` and `relays` are those of `plan`.
    """
    question = Question.of("compare", topology, collective, groups, relays, options, CompareOptions)
    found: Comparison = Comparison.to(question, progress)
    return found


@with_options(ExportOptions)
def export(
    plan: Plan | Program,
    to: ExportFormat | str,
    *,
    progress: Progress | None = None,
    **options: Unpack[ExportOptions],
) -> str:
    """A schedule or program in another tool's format, `msccl`, `rccl`, `csv`, `trace`, `goal` or `chakra`.

    A schedule also in another form of our own: `json` (as it is), `compact` or `explicit`.

    With `output`, it is written there and nothing is returned; `chakra` has a file for each rank, and needs it.
    """
    if not isinstance(plan, (Plan, Program)):
        raise UsageError(f"plan is a plan or a program, as cs.load(path) or plan.lower() give it, not {plan!r}")
    if not isinstance(to, str):
        raise UsageError(f"to is a format, such as 'msccl', not {to!r}")
    check_options("export", options, ExportOptions)
    topology = plan.topology if isinstance(plan, Plan) else None
    words = option_words(options, ExportOptions, topology)
    return call(["convert", "-", "--to", to, *words], options, plan.to_json(), progress)


@with_options(ImportOptions)
def import_(
    path: str | os.PathLike[str],
    format: ImportFormat | str,
    topology: Topology | Sequence[int] | None = None,
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Unpack[ImportOptions],
) -> Any:
    """What another tool made: `sccl`, `teccl` and `forestcoll` give a plan, `msccl` the object of a rank program.

    `csv` is a table of moves, `step,from,to,chunk` and perhaps `op`, of a `collective` on a `topology`; `groups` and
    `relays` are those of `plan`. Raises `Refuted` if it does not hold.
    """
    from tempfile import TemporaryDirectory

    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"path is the file to read, not {path!r}")
    if not isinstance(format, str):
        raise UsageError(f"format is a name, such as 'msccl', not {format!r}")
    check_options("import_", options, ImportOptions)
    check_readable(path)
    with TemporaryDirectory() as folder:
        machine = None if topology is None else topology_of(topology)
        if machine is None:
            check_relays(groups, relays)
            if groups is not None:
                raise UsageError("groups are those of a topology: state it")
        on = [] if machine is None else machine_file(machine, folder)
        within = [] if machine is None else group_words(machine, groups, relays)
        stated = option_words(options, ImportOptions, machine, folder, bool(within))
        words = ["convert", os.fspath(path), "--from", format, *on, *within, *stated, "-o", "-"]
        text = call(words, options, "", progress)
    answer = json.loads(text)
    return answer if answer.get("format", "").startswith("rank-program") else load(text.encode())


@with_options(PolishOptions)
def polish(plan: Plan, *, progress: Progress | None = None, **options: Unpack[PolishOptions]) -> Plan:
    """A plan that is no worse, found by solving for pieces of it; the options are those of `synth polish`."""
    if not isinstance(plan, Plan):
        raise UsageError(f"plan is a plan, as cs.plan or cs.load(path) give it, not {plan!r}")
    check_options("polish", options, PolishOptions)
    return load(
        call(
            ["polish", "-", *option_words(options, PolishOptions), "-o", "-"], options, plan.to_json(), progress
        ).encode()
    )


def _error_as_typed(code: int, notes: str) -> Error:
    return as_typed(code, *message_of(notes))
