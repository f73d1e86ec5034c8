"""docs/results/tpu.md: what programs for TPUs move, by Google's compiler.

    python tpu_page.py docs/results/tpu.md

holds the page to what this build gives; with SYNTH_UPDATE_RESULTS it writes the page. Seconds are not in it: they are
those of a machine.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

#: By title: what the report is asked.
TABLES = {
    "v5p:4x4x4": ["v5p:4x4x4"],
    "v5p:4x4x4, one cable failed": ["v5p:4x4x4", "--fail", "0,1"],
    "v5p:4x4x4, chunks that are whole tiles": ["v5p:4x4x4", "--tiled"],
    "v5p:4x4x4, chunks of 1 MiB": ["v5p:4x4x4", "--chunk-bytes", "1048576"],
    "v5p:8x8x8, one cable failed": ["v5p:8x8x8", "--fail", "0,1", "--kind", "all_to_all", "--program", "permutes"],
    "v5e:8x8, one cable failed": ["v5e:8x8", "--no-wrap", "--fail", "0,1"],
    "v6e:4x4": ["v6e:4x4", "--no-wrap"],
    "v4:2x2x2, two devices a chip": ["v4:2x2x2"],
    "TPU7x 2x2x2, two devices a chip": ["tpu7x:2x2x2"],
}
HEAD = """# On TPUs

What a collective moves on a TPU, by Google's compiler for it (JAX 0.10.2, libtpu 0.0.52), which needs no TPU. Nothing
here has run on one, and nothing here is a time. `SYNTH_UPDATE_RESULTS=1 .ci/tpu` writes this page; without the
variable, `.ci/tpu` holds this build to it. [JAX](../use/python-jax.md#what-a-tpu-would-move) says what each figure
means, and how much of it is real.

Chunks, what a rank has for another, are vectors of 16 KiB of bfloat16 unless stated. MB are millions of bytes, of one
device. *counted*: bytes accessed as the compiler counts them; *HBM*: our estimate of what passes through HBM (a
kernel's own copies are in neither); *sent/needed*: what permutes send over what the plan says. `permutes` and `kernel`
are ours, `xla` is XLA's own over all devices, and `xla by axis` its own along one axis after the other; XLA cannot be
told of a failed cable. A + stands where a loop is counted as one turn, a - where JAX cannot print a program (TPU7x).
In our programs, each permute sends over one cable.
"""
COLUMNS = ["counted MB", "HBM MB", "sent MB", "sent/needed", "permutes", "steps", "parts", "temporary MB", "code MB"]


def cells(row):
    """The figures of a row, as text."""

    def megabytes(name):
        return "-" if row[name] is None else f"{row[name] / 1e6:.1f}"

    sent = [megabytes("sent_bytes"), f"{row['sent_over_needed']:.2f}"] if row["sent_over_needed"] else ["-", "-"]
    return [
        megabytes("counted_bytes") + ("+" if row["loops"] else ""),
        megabytes("hbm_bytes"),
        *sent,
        str(row["permutes"] or "-"),
        str(row.get("steps", "-")),
        str(row.get("parts", "-")),
        megabytes("temporary_bytes"),
        megabytes("code_bytes"),
    ]


def table(title, arguments):
    """A section of the page."""
    # Limits that are not reached, so that a busy machine gives the same.
    limits = ["--time-limit", "120", "--limit", "900"]
    call = [sys.executable, "-m", "collsynth.jax.report", *arguments, *limits, "--format", "json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(call)}: {done.stderr or done.stdout}")
    lines = [f"\n## {title}\n", f"`python -m collsynth.jax.report {' '.join(arguments)}`\n"]
    lines += ["| kind | program | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|"]
    for row in json.loads(done.stdout)["rows"]:
        assert row["program"].startswith("xla") or row["farthest"] <= 1, "a permute crosses more than one cable"
        assert (row["sent_over_needed"] or 1) <= 1.05, "more is sent than the plan says"
        lines.append("| " + " | ".join([f"`{row['kind']}`", row["program"], *cells(row)]) + " |")
    return lines


def main():
    """Writes the page, or compares it."""
    path = pathlib.Path(sys.argv[1])
    # Two at a time, as these are other processes.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tables = list(pool.map(table, TABLES, TABLES.values()))
    page = "\n".join([HEAD, *(line for lines in tables for line in lines)]) + "\n"
    if os.environ.get("SYNTH_UPDATE_RESULTS"):
        path.write_text(page)
    elif path.read_text() != page:
        path.with_suffix(".new").write_text(page)
        subprocess.run(["diff", "-u", path, path.with_suffix(".new")], check=False)
        path.with_suffix(".new").unlink()
        sys.exit(f"{path.name} is not what this build gives: SYNTH_UPDATE_RESULTS=1 .ci/tpu writes it")


main()
