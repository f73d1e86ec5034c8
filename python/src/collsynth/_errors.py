"""Exceptions. Each has a message, the exit code that the command has for it, and a hint where a remedy is known."""

from __future__ import annotations

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
    """The exception for an exit code of the command."""
    kinds: dict[int, type[Error]] = {1: Refuted, 3: Impossible, 4: Stopped}
    return kinds.get(exit_code, UsageError)(message, hint)
