"""Devices as a torus: their order by rank, the torus that they are, and a mesh along its dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh
from numpy.typing import NDArray

from .._errors import UsageError
from .._question.topology import Topology, Torus, topology_of

#: The names of the first dimensions, as in the directions of links; the others are d6, d7, ...
LETTERS = "xyzwvu"
#: What helps where devices have no coordinates.
STATED = "state the torus yourself, as in cs.Torus(4, 2)"
#: How many links between chips the one between the two devices of a chip is worth, by `device_kind`. TPU7x: Google
#: Cloud's page of it, "Dual-chiplet architecture". v4: its devices share an HBM of 1200 GB/s, of which a copy each way
#: at 300 GB/s takes all; a link carries 50 GB/s.
IN_CHIP = {"TPU v4": 6, "TPU7x": 6}


def device_order(topology: Topology | Sequence[int], devices: Sequence[Any] | None = None) -> list[Any]:
    """The devices by rank: rank r of a torus is the device whose `coords` are the coordinates of r.

    Coordinates count from the least among the devices; dimensions in which all agree are left out. Chips with several
    cores have the core as their first coordinate. Without it, neighbors of a mesh need not be neighbors of the machine.
    The devices of failed ranks may be missing: then the live ranks are in order, as in a renumbered plan.
    Raises `UsageError` if the devices do not fill the torus.
    """
    torus = topology_of(topology)
    if not isinstance(torus, Torus):
        raise UsageError("only the ranks of a torus have coordinates")
    found = _devices(devices)
    coordinates, spans = _box(found)
    extents = [extent for extent in torus.extents if extent > 1]
    strides = np.cumprod([1, *extents[:-1]]) if len(extents) == len(spans) else np.zeros(len(spans), np.int64)
    ranks = coordinates @ strides[: len(spans)]
    if spans != extents or sorted(ranks.tolist()) not in ([*range(torus.ranks)], torus.live_ranks):
        shape = "x".join(map(str, spans))
        raise UsageError(f"{len(found)} devices at coordinates {shape} are no {torus}: state the torus so")
    return [found[index] for index in np.argsort(ranks)]


def torus_of(
    devices: Sequence[Any] | None = None,
    *,
    wrap: bool | Sequence[bool] | None = None,
    in_chip: int | None = None,
) -> Torus:
    """The torus that the TPU devices are, by their `coords` and `core_on_chip`: `device_order` fits its ranks.

    Coordinates do not tell which dimensions close to rings: `wrap` does, as in `Torus` (unless stated, extents of 3 and
    more do). On a slice that is smaller than the pod in a dimension, state False for it.

    Where a chip has two devices, they are the first dimension, and the link between them has the capacity `in_chip`:
    unless stated, 6 on v4 and TPU7x, and 1 elsewhere.

    Raises `UsageError` if devices have no coordinates, as on a CPU, or if one is missing.
    """
    found = _devices(devices)
    coordinates, spans = _box(found)
    capacity = None
    if len({_core(device) for device in found}) > 1:
        known = IN_CHIP.get(getattr(found[0], "device_kind", ""), 1)
        capacity = [known if in_chip is None else in_chip, *[1] * (len(spans) - 1)]
    elif in_chip is not None:
        raise UsageError(f"in_chip={in_chip} is about chips with two devices, and these have one each")
    places = {tuple(one) for one in coordinates.tolist()}
    missing = [place for place in np.ndindex(*spans) if place not in places]
    if missing:
        shape = ", ".join(map(str, spans)) + (f", capacity={capacity}" if capacity else "")
        raise UsageError(
            f"{len(missing)} of {math.prod(spans)} devices are missing, the first at {missing[0]}",
            f"state them as failed, as in cs.Torus({shape}).fail_rank({missing[0]})",
        )
    return Torus(*(spans or [1]), wrap=wrap, capacity=capacity)


def make_mesh(
    torus: Topology | Sequence[int],
    axis_names: str | Sequence[str] | None = None,
    *,
    devices: Sequence[Any] | None = None,
    axis_types: Any = None,
) -> Mesh:
    """A mesh with an axis for each dimension of a torus, in the order in which ranks count: the last dimension first.

    `Torus(4, 2)` is a mesh of shape (2, 4) with axes ("y", "x"), on which `collective(plan, mesh.axis_names)` runs a
    plan for it. `axis_names` are other names, from the slowest dimension to the first; one name alone is an axis of all
    ranks. A graph, such as that of a renumbered plan, has one axis ("ranks").

    TPU devices stand at the place of their coordinates (`device_order`); devices without coordinates in the order
    given, the first as rank 0. `axis_types` are those of `Mesh`.

    Raises `UsageError` if the devices do not fill the torus, or if the axes have the names of its dimensions in another
    order.
    """
    topology = topology_of(torus, "torus")
    extents = list(reversed(topology.extents)) if isinstance(topology, Torus) else [topology.ranks]
    dimensions = tuple(reversed([_dimension(dim) for dim in range(len(extents))]))
    usual = dimensions if isinstance(topology, Torus) else ("ranks",)
    names = usual if axis_names is None else names_of(axis_names)
    shape = [topology.ranks] if len(names) == 1 else extents
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise UsageError(f"axis_names are {len(extents)} distinct names for a {topology}, or one, not {names}")
    if len(names) > 1 and names != dimensions and set(names) == set(dimensions):
        raise UsageError(f"axis_names {names}: the slowest dimension comes first, as in {dimensions}")
    found = _devices(devices)
    if isinstance(topology, Torus) and all(_has_coordinates(device) for device in found):
        found = device_order(topology, found)
    elif devices is None:
        found = found[: topology.ranks]
    if len(found) != topology.ranks:
        hint = (
            f"before JAX starts, XLA_FLAGS=--xla_force_host_platform_device_count={topology.ranks} gives a CPU as many"
        )
        raise UsageError(f"{len(found)} devices for {topology.ranks} ranks", hint if _on_cpu(found) else None)
    return Mesh(np.array(found, dtype=object).reshape(shape), names, axis_types=axis_types)


def names_of(axis_names: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several, as a tuple."""
    if isinstance(axis_names, str):
        return (axis_names,)
    if not isinstance(axis_names, Sequence):
        raise UsageError(f"axis_names are the names of axes of a mesh, as in ('y', 'x'), not {axis_names!r}")
    return tuple(axis_names)


def _devices(devices: Sequence[Any] | None) -> list[Any]:
    found = list(jax.devices()) if devices is None else list(np.asarray(devices, dtype=object).flat)
    if not found:
        raise UsageError("no devices are given")
    return found


def _has_coordinates(device: Any) -> bool:
    return getattr(device, "coords", None) is not None


def _core(device: Any) -> int:
    return getattr(device, "core_on_chip", None) or 0


def _on_cpu(devices: Sequence[Any]) -> bool:
    return all(getattr(device, "platform", None) == "cpu" for device in devices)


def _box(devices: Sequence[Any]) -> tuple[NDArray[np.int64], list[int]]:
    """The coordinates of devices in the dimensions in which they differ, from 0, and the extents of the box."""
    if not all(_has_coordinates(device) for device in devices):
        raise UsageError("these devices have no coordinates: only those of a TPU do", STATED)
    coordinates = np.array([(_core(device), *device.coords) for device in devices], np.int64)
    if len(np.unique(coordinates, axis=0)) != len(devices):
        raise UsageError("two devices have the same coordinates")
    coordinates -= coordinates.min(axis=0)
    spans = coordinates.max(axis=0) + 1
    return coordinates[:, spans > 1], spans[spans > 1].tolist()


def _dimension(dim: int) -> str:
    return LETTERS[dim] if dim < len(LETTERS) else f"d{dim}"
