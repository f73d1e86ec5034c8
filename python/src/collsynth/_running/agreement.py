"""What the processes of a call tell each other before it moves anything: what each calls, or why it does not.

Every process sees the words of all, so all of them go on, or none does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from .._errors import UsageError

#: Bytes of each process.
WORDS = 160
_REFUSAL = "refused: "


def call_words(name: str, dtype: object, shape: Sequence[int], digest: str) -> bytes:
    """The words of a process that calls."""
    return _fitted(f"{name} of {dtype} {tuple(shape)}, plan {digest}")


def refusal_words(reason: Exception) -> bytes:
    """The words of a process that does not."""
    lines = str(reason).splitlines() or [type(reason).__name__]
    return _fitted(_REFUSAL + lines[0])


def check(words: Sequence[bytes], mine: int) -> None:
    """Raises `UsageError` unless all processes make the same call."""
    if all(one == words[mine] for one in words):
        return
    texts = [one.rstrip(b"\0").decode(errors="replace") for one in words]
    for process, text in enumerate(texts):
        if text.startswith(_REFUSAL):
            raise UsageError(f"process {process} refused this call, and so nobody makes it: {text[len(_REFUSAL) :]}")
    # Whom most of the others contradict.
    usual = max(texts, key=texts.count)
    process = next(at for at, text in enumerate(texts) if text != usual)
    raise UsageError(
        f"the processes do not make the same call: process {process} calls {texts[process]}; "
        f"process {texts.index(usual)} calls {usual}",
        "shape, type, plan and order of calls must be the same everywhere",
    )


def check_splits(outgoing: Sequence[Sequence[int]], incoming: Sequence[Sequence[int]]) -> None:
    """Raises `UsageError` unless every process expects the rows that are sent to it; one row of sizes a process."""
    for sender, row in enumerate(outgoing):
        for receiver, rows in enumerate(row):
            wanted = incoming[receiver][sender]
            if rows != wanted:
                raise UsageError(f"process {sender} sends {rows} rows to process {receiver}, which expects {wanted}")


def _fitted(text: str) -> bytes:
    words = text.encode()
    if len(words) > WORDS:
        words = words[: WORDS - 16] + hashlib.sha256(words).hexdigest()[:16].encode()
    return words.ljust(WORDS, b"\0")
