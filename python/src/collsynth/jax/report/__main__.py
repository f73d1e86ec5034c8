"""The command: asks about each program in a process of its own, and prints a table or JSON."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp

from ..._errors import Error, UsageError
from ._programs import ENVIRONMENT, KINDS, PROGRAMS, Question, ask

COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "counted MB": lambda row: megabytes(row["counted_bytes"]) + ("+" if row["loops"] else ""),
    "HBM MB": lambda row: "-" if row["hbm_bytes"] is None else megabytes(row["hbm_bytes"]),
    "sent MB": lambda row: megabytes(row["sent_bytes"]) if row["permutes"] else "-",
    "sent/needed": lambda row: f"{row['sent_over_needed']:.2f}" if row["sent_over_needed"] else "-",
    "permutes": lambda row: str(row["permutes"] or "-"),
    "temp MB": lambda row: megabytes(row["temporary_bytes"]),
    "code MB": lambda row: megabytes(row["code_bytes"]),
    "lower+compile s": lambda row: f"{row['lower_seconds'] + row['compile_seconds']:.1f}",
}


def main(arguments: list[str] | None = None) -> int:
    """Prints a report. 0: all compiled; 2: what was asked is wrong; 4: some programs did not compile in their time."""
    options = _parser().parse_args(arguments)
    try:
        if options.one:
            answer = ask(Question(**json.loads(options.one[0])), *options.one[1:])
            print(json.dumps(answer))
            return 0
        if importlib.util.find_spec("libtpu") is None:
            raise UsageError("libtpu is not installed, which compiles for TPUs", "pip install libtpu")
        return _report(options)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        if hint := getattr(error, "hint", None):
            print(f"hint: {hint}", file=sys.stderr)
        return 2


def megabytes(size: int) -> str:
    """In units of a million bytes."""
    return f"{size / 1e6:.1f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m collsynth.jax.report",
        description="What our programs and XLA's own move on a TPU, by Google's compiler. It takes libtpu, and no TPU.",
        epilog="counted: bytes accessed as the compiler counts them, which takes vector memory for HBM, and loops (+) "
        "as one turn. HBM: our estimate of what passes through HBM. A kernel's own copies are in neither. sent/needed: "
        "what permutes send over what the plan says. MB are millions of bytes, of one device.",
    )
    add = parser.add_argument
    add("machine", help="as libtpu names it: v4:4x4x4, v5e:8x8, v5p:4x4x4, v6e:4x4, ...")
    add("--no-wrap", action="store_true", help="no dimension closes to a ring, as in slices smaller than a pod")
    add("--fail", action="append", default=[], metavar="CABLE", help="a failed cable: 0,1 or 2,x+; may be repeated")
    add("--in-chip", type=int, metavar="N", help="capacity of the link within a chip of two devices (default 6)")
    add("--kind", action="append", choices=KINDS, help="only this kind; may be repeated")
    add("--program", action="append", choices=PROGRAMS, help="only this program; may be repeated")
    add("--chunk-bytes", type=_size, default=16384, help="of what a rank has for another (default 16384)")
    add("--dtype", type=_dtype, default="bfloat16", help="of the elements (default bfloat16)")
    add("--tiled", action="store_true", help="chunks are arrays of rows of 128 elements, whole tiles, not vectors")
    add("--time-limit", type=float, default=10.0, metavar="SECONDS", help="of the planner (default 10)")
    add("--limit", type=float, default=120.0, metavar="SECONDS", help="after which a program is given up (default 120)")
    add("--format", choices=["text", "json"], default="text", help="json: an object with a list of rows")
    add("--one", nargs=3, help=argparse.SUPPRESS)
    return parser


def _size(text: str) -> int:
    size = int(text)
    if size < 1 or size % 512:
        raise argparse.ArgumentTypeError(f"a chunk is a multiple of 512 bytes, not {text}")
    return size


def _dtype(text: str) -> str:
    try:
        return str(jnp.dtype(text).name)
    except TypeError as error:
        raise argparse.ArgumentTypeError(f"{text} is no type of elements: bfloat16, float32, int8, ...") from error


def _report(options: argparse.Namespace) -> int:
    failed = [[int(end) if end.lstrip("-").isdigit() else end for end in cable.split(",")] for cable in options.fail]
    question = Question(
        options.machine,
        not options.no_wrap,
        failed,
        options.in_chip,
        options.chunk_bytes,
        options.dtype,
        options.tiled,
        options.time_limit,
    )
    rows: list[dict[str, Any]] = []
    for row in _rows(question, options):
        if options.format == "text":
            if not rows:
                print("kind           program      " + "  ".join(COLUMNS))
            print(_line(row), flush=True)
        rows.append(row)
    if options.format == "json":
        print(json.dumps({**dataclasses.asdict(question), "rows": rows}, indent=1))
    return 4 if any("error" in row for row in rows) else 0


def _rows(question: Question, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for kind in options.kind or KINDS:
        for program in options.program or PROGRAMS:
            # XLA cannot be told of a failed cable.
            if not (question.failed and program.startswith("xla")):
                yield {"kind": kind, "program": program, **_asked(question, kind, program, options.limit)}


def _asked(question: Question, kind: str, program: str, limit: float) -> dict[str, Any]:
    """Asks in a process of its own: libtpu aborts on what it refuses, and compiles without end."""
    one = ["--one", json.dumps(dataclasses.asdict(question)), kind, program, question.machine]
    call = [sys.executable, "-m", "collsynth.jax.report", *one]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, timeout=limit, env={**os.environ, **ENVIRONMENT}, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not compiled in {limit:g} s"}
    answers = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and answers:
        found: dict[str, Any] = json.loads(answers[-1])
        return found
    said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    if done.returncode == 2:
        raise UsageError(next((line for line in said if line.startswith("error: ")), said[-1]).removeprefix("error: "))
    return {"error": said[-1]}


def _line(row: dict[str, Any]) -> str:
    cells = [row["error"]] if "error" in row else [cell(row).rjust(len(name)) for name, cell in COLUMNS.items()]
    return f"{row['kind']:<14} {row['program']:<12} " + "  ".join(cells)


if __name__ == "__main__":
    sys.exit(main())
