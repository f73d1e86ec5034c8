"""Exceptions. Each has a message, the exit code that the command has for it, and a hint where a remedy is known."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from typing import Any


class Error(Exception):
    """Why something was not done."""

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.message, self.hint))


class UsageError(Error, ValueError):
    """Wrong arguments."""


class Unreadable(UsageError):
    """A text that cannot be read: `code` and place (`line` and `column`, from 1) of the first error in it."""

    def __init__(self, name: str, code: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{name}:{line}:{column}: {code}: {message}")
        self.name, self.code, self.line, self.column, self.reason = name, code, line, column, message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.name, self.code, self.line, self.column, self.reason))


class FileError(UsageError, OSError):
    """A file that cannot be read or written (`done`): `errno` and `filename` say why and which."""

    def __init__(self, errno: int, reason: str, filename: str, done: str = "read") -> None:
        super().__init__(f"cannot {done} {filename}: {reason}")
        self.errno, self.strerror, self.filename, self._done = errno, reason, filename, done

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.errno, self.strerror, self.filename, self._done))


class NoSuchFile(FileError, FileNotFoundError):
    """A file that is not there, or whose folder is not."""


class Refuted(Error):
    """A schedule or program that does not hold. `code` is that of the first violation, if known."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message, hint)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.message, self.hint, self.code))


class Impossible(Error):
    """No such schedule can exist."""

    exit_code = 3


class Stopped(Error):
    """The time limit came before there was a schedule."""

    exit_code = 4


class CallFailed(Error, RuntimeError):
    """A call among processes that began and cannot end: a process died, is late, or gave up."""


def of_ending(exit_code: int, message: str, hint: str | None) -> Error:
    """The exception for an exit code of the command, in the words of Python."""
    return as_typed(exit_code, in_python(message), None if hint is None else in_python(hint))


def as_typed(exit_code: int, message: str, hint: str | None) -> Error:
    """The same in the words of the command."""
    kinds: dict[int, type[Error]] = {1: Refuted, 3: Impossible, 4: Stopped}
    return kinds.get(exit_code, UsageError)(message, hint)


def of_file(error: OSError, path: str | os.PathLike[str]) -> FileError:
    """The exception for a file that the system did not open."""
    return of_system(error.errno or 0, path, "read")


def of_system(number: int, path: str | os.PathLike[str], done: str) -> FileError:
    """The exception for a file that was not `done`: `number` is that of the system's error."""
    kind = NoSuchFile if number == errno.ENOENT else FileError
    return kind(number, os.strerror(number), os.fspath(path), done)


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raises `FileError` if the file is not there, or may not be read. A pipe is left unread."""
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode):
            return
        with open(path, "rb"):
            pass
    except OSError as error:
        raise of_file(error, path) from None


#: What the words of the command are called in Python, in this order.
_WORDS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"`synth convert --from (\w+) FILE`", r'`cs.import_(FILE, "\1")`'),
    (r"`synth convert --from (\w+) --topology MACHINE FILE`", r'`cs.import_(FILE, "\1", topology)`'),
    (
        r"`synth convert --from (\w+) --topology MACHINE --collective NAME FILE`",
        r'`cs.import_(FILE, "\1", topology, collective=NAME)`',
    ),
    (
        r"`synth convert --from (\w+) --torus EXTENTS --collective NAME FILE`",
        r'`cs.import_(FILE, "\1", topology, collective=NAME)`',
    ),
    (r"`synth topology --topology FILE`", "`cs.Topology.load(FILE)`"),
    (r"`synth topology( --torus [^`]*)?`", "`synth topology`"),
    (r"`synth --topology FILE`", "`cs.plan(cs.Topology.load(FILE))`"),
    (r"`synth --collective all_to_allv --demand FILE`", '`cs.plan(topology, "all_to_allv", demand=...)`'),
    (r"`synth convert --to csv`", '`cs.export(plan, "csv")`'),
    (r"`synth verify( [^`]*)?`", "`cs.verify`"),
    (r"`synth bound( [^`]*)?`", "`cs.bounds`"),
    (r"--fail-rank (\d+)(?![\d,.])", r".fail_rank(\1)"),
    (r"--fail-rank (\d+(?:,\d+)+)", lambda found: f".fail_rank([{found[1].replace(',', ', ')}])"),
    (r"--fail-rank", ".fail_rank"),
    (r"--fail-link (\d+),(\d+)", r".fail_link(\1, \2)"),
    (r"--fail (\d+),(\d+)", r".fail_cable(\1, \2)"),
    (r"--parts auto", 'parts="auto"'),
    (r"--names FILE", "names=[...]"),
]


def in_python(text: str) -> str:
    """A message of the command as Python has it: `--max-steps` is max_steps, `--fail-rank 0` is .fail_rank(0)."""
    # The parser's advice is about the command line alone.
    text = re.split(r"\n\nUsage:|\n\nFor more information", text)[0]
    for command, python in _WORDS:
        text = re.sub(command, python, text)
    text = re.sub(r"`synth ([^`]+)`", _called, text)
    text = re.sub(r"'--([a-z-]+)(?: <[^>]*>)?'", r"--\1", text)
    return re.sub(r'(?<![\w"-])--([a-z][a-z-]*)', lambda found: found[1].replace("-", "_"), text)


def _called(found: re.Match[str]) -> str:
    # Quoted later: what is in quotes is no option of Python's.
    words = ", ".join(f'"{word}"' for word in found[1].split())
    return f"`cs.command({words})`"
