"""The programs that a report compares, and what each moves by the compiler's account."""

from __future__ import annotations

import functools
import math
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ... import Torus
from ..._errors import UsageError
from .. import collective, pallas, plan, torus_of
from .._grain import LINKS
from .._permutes import PermuteCollective
from ._hlo import Program

KINDS = ["all_to_all", "all_gather", "reduce_scatter", "all_reduce"]
#: Ours, as permutes and as a kernel; XLA's own, over all devices and along one axis after the other.
PROGRAMS = ["permutes", "kernel", "xla", "xla by axis"]

#: What is read from the text of a program; None where there is none.
MOVED = ["loops", "hbm_bytes", "permutes", "farthest", "under_way", "sent_bytes", "sent_over_needed"]

#: Without these, libtpu looks for a TPU, and for the machine it is part of.
ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
}

Shard = Callable[..., Any]


@dataclass(frozen=True)
class Question:
    """What is asked about a machine."""

    #: As libtpu names it, `v5p:4x4x4`.
    machine: str
    #: Do dimensions longer than two close to rings?
    wrap: bool
    #: Failed cables, each as `fail_cable` takes it.
    failed: list[list[Any]]
    #: The capacity of the link within a chip of two devices, if it is not `torus_of`'s.
    in_chip: int | None
    #: Of what a rank has for another; `tiled`: as rows of 128 elements, else as a vector.
    chunk_bytes: int
    dtype: str
    tiled: bool
    #: Of the planner, in seconds.
    time_limit: float


def ask(question: Question, kind: str, program: str) -> dict[str, Any]:
    """Compiles a program for a machine that need not be there, and says what it moves. Bytes and seconds."""
    os.environ.update(ENVIRONMENT)
    devices, coords = _devices(question)
    extents = [extent for extent in (max(axis) + 1 for axis in zip(*coords, strict=True)) if extent > 1]
    torus = torus_of(devices, wrap=None if question.wrap else False, in_chip=question.in_chip)
    for cable in question.failed:
        torus = torus.fail_cable(*cable)
    by_axis = program == "xla by axis"
    axes = tuple(f"d{place}" for place in range(len(extents))) if by_axis else ("ranks",)
    mesh = Mesh(np.array(devices).reshape(extents[::-1] if by_axis else [-1]), axes)
    spec, length = PartitionSpec(axes), question.chunk_bytes // jnp.dtype(question.dtype).itemsize
    chunk = (length // 128, 128) if question.tiled else (length,)
    ranks = len(devices)
    shape = {"all_gather": chunk, "all_reduce": (ranks * chunk[0], *chunk[1:])}.get(kind, (ranks, *chunk))
    known: dict[str, Any] = {}
    if program in ("permutes", "kernel"):
        run, tables, known = _ours(question, kind, program, torus, shape)
        operands = [((ranks, *shape), question.dtype), (tables.shape, "int32")]
    else:
        run = _by_axis(kind, axes, extents) if by_axis else _whole(kind)
        operands = [((ranks, *shape), question.dtype)]
    structs = [jax.ShapeDtypeStruct(*one, sharding=NamedSharding(mesh, spec)) for one in operands]
    shard = jax.shard_map(lambda x, *t: run(x[0], *t)[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    mapped, began = jax.jit(shard), time.monotonic()
    lowered = mapped.lower(*structs)
    between = time.monotonic()
    compiled: Any = lowered.compile()
    done = time.monotonic()
    needed = known.pop("needed_bytes", None)
    found = {**known, "lower_seconds": round(between - began, 2), "compile_seconds": round(done - between, 2)}
    try:
        text = compiled.as_text()
    except jax.errors.JaxRuntimeError:
        # JAX cannot print what XLA's own collectives become on TPU7x. Ours it must.
        if known:
            raise
        text = None
    moved = dict.fromkeys(MOVED) if text is None else _moved(Program(text), coords, question.wrap, needed)
    memory = compiled.memory_analysis()
    return {
        **found,
        "counted_bytes": int(compiled.cost_analysis()["bytes accessed"]),
        **moved,
        "temporary_bytes": memory.temp_size_in_bytes,
        "code_bytes": memory.generated_code_size_in_bytes,
    }


def _devices(question: Question) -> tuple[list[Any], list[tuple[int, ...]]]:
    """The devices of a machine in the order of ranks, and their coordinates: on a chip, then along the dimensions."""
    from jax.experimental import topologies

    extents = [int(number) for number in re.findall(r"\d+", question.machine.partition(":")[2])]
    if not extents:
        raise UsageError(f"a machine is named like v5p:4x4x4, not {question.machine!r}")
    rings = {"wrap": tuple(extent > 2 for extent in [*extents, 1, 1][:3])} if question.wrap else {}
    try:
        found = topologies.get_topology_desc(platform="tpu", topology_name=question.machine, **rings)
    except Exception as error:
        raise UsageError(f"libtpu knows no machine {question.machine}: {str(error).splitlines()[0]}") from error
    devices: list[Any] = list(found.devices)
    devices.sort(key=lambda device: (*reversed(device.coords), device.core_on_chip))
    return devices, [(device.core_on_chip, *device.coords) for device in devices]


def _ours(
    question: Question, kind: str, program: str, torus: Torus, shape: tuple[int, ...]
) -> tuple[Shard, Any, dict[str, Any]]:
    generation = question.machine.partition(":")[0]
    bandwidth = None if generation in LINKS else LINKS["v5p"]
    planned = plan(
        torus,
        kind,
        shape,
        question.dtype,
        machine=generation,
        bandwidth=bandwidth,
        time_limit=question.time_limit,
    )
    run = collective(planned, "ranks") if program == "permutes" else pallas.collective(planned, "ranks")
    known: dict[str, Any] = {
        "steps": planned.steps,
        "volume": str(planned.volume),
        "volume_bound": str(planned.bound),
        "parts": run._plan_tables.parts,
    }
    if isinstance(run, PermuteCollective):
        chunk = math.prod(shape) * jnp.dtype(question.dtype).itemsize / run._plan_tables.first[1]
        chunks = sum(int(one.amount.max()) for step in run._placed.steps for one in step.exchanges)
        known["needed_bytes"] = chunk * chunks
    return run, run.tables, known


def _whole(kind: str) -> Shard:
    """XLA's own collective over all devices."""
    found: Shard = {
        "all_to_all": lambda x: lax.all_to_all(x, "ranks", 0, 0),
        "all_gather": lambda x: lax.all_gather(x, "ranks"),
        "reduce_scatter": lambda x: lax.psum_scatter(x, "ranks"),
        "all_reduce": lambda x: lax.psum(x, "ranks"),
    }[kind]
    return found


def _by_axis(kind: str, axes: tuple[str, ...], extents: list[int]) -> Shard:
    """XLA's own collectives along one axis after the other.

    Rows are whole tiles, without which XLA has no reduce_scatter.
    """

    def scattered(x: Any) -> Any:
        return functools.reduce(lambda x, axis: lax.psum_scatter(x, axis, tiled=True), axes, x)

    def gathered(x: Any) -> Any:
        return functools.reduce(lambda x, axis: lax.all_gather(x, axis, tiled=True), reversed(axes), x)

    def exchanged(x: Any) -> Any:
        x = x.reshape(*reversed(extents), *x.shape[1:])
        for place, axis in enumerate(axes):
            x = lax.all_to_all(x, axis, place, place, tiled=True)
        return x.reshape(-1, *x.shape[len(axes) :])

    found: Shard = {
        "all_to_all": lambda x: exchanged(x.reshape(x.shape[0], -1, 128)).reshape(x.shape),
        "all_gather": lambda x: gathered(x.reshape(-1, 128)).reshape(-1, *x.shape),
        "reduce_scatter": lambda x: scattered(x.reshape(-1, 128)).reshape(x.shape[1:]),
        "all_reduce": lambda x: gathered(scattered(x.reshape(-1, 128))).reshape(x.shape),
    }[kind]
    return found


def _moved(program: Program, coords: list[tuple[int, ...]], wrap: bool, needed: float | None) -> dict[str, Any]:
    """What a compiled program moves, by its text. `needed`: what its permutes would send without any padding."""
    spans = [max(axis) + 1 for axis in zip(*coords, strict=True)]

    def cables(start: int, end: int) -> int:
        gaps = [abs(one - other) for one, other in zip(coords[start], coords[end], strict=True)]
        return sum(min(gap, span - gap) if wrap else gap for gap, span in zip(gaps, spans, strict=True))

    permutes = program.permutes
    sent = sum(one.size * one.times for one in permutes)
    over = round(sent / needed, 3) if needed else None
    farthest = max((cables(*pair) for one in permutes for pair in one.pairs), default=0)
    count = sum(one.times for one in permutes)
    figures = [program.has_loops, program.traffic, count, farthest, program.under_way, sent, over]
    return dict(zip(MOVED, figures, strict=True))
