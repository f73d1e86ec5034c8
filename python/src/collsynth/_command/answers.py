"""Answers of the command that can be plotted."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, TypeVar

from .._answer.pages import Picture
from .._question.names import Plotted, Progress, one_of
from .asking import Question

_Self = TypeVar("_Self", bound="Answer")


class Answer(dict[str, Any]):
    """The object that the command prints, and what was asked."""

    _question: Question

    @classmethod
    def to(cls: type[_Self], question: Question, progress: Progress | None) -> _Self:
        """The answer to a question."""
        answer = cls(json.loads(question.ask(["--format", "json"], progress)))
        answer._question = question
        return answer

    def _plotted(self, words: Sequence[str], path: str | os.PathLike[str] | None) -> Picture:
        picture = Picture(self._question.ask(["--format", "svg", *words], None))
        if path is not None:
            picture.save(path)
        return picture


class Pareto(Answer):
    """The trade of steps against volume: a dict, as `synth pareto --format json` prints it."""

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """The plot that `synth pareto --format svg` draws; with a path, written there too.

        It plans once more, so it takes as long as the answer did.
        """
        return self._plotted([], path)


class Comparison(Answer):
    """Planners side by side: a dict, as `synth compare --format json` prints it."""

    def plot(self, path: str | os.PathLike[str] | None = None, what: Plotted = "time") -> Picture:
        """The plot of `time` or `speedup` by size that `synth compare --format svg` draws; with a path, written there.

        It plans once more, so it takes as long as the answer did.
        """
        return self._plotted(["--plot", one_of("plot", what, Plotted)], path)
