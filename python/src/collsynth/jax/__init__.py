"""Plans in JAX: a collective of `shard_map`, made of one `ppermute` for each direction in use in each step."""

from __future__ import annotations

from .._plan import Plan
from ._collective import Array, AxisNames, Collective
from ._grain import plan
from ._mesh import device_order, make_mesh, torus_of
from ._permutes import PermuteCollective

__all__ = [
    "Array",
    "AxisNames",
    "Collective",
    "PermuteCollective",
    "collective",
    "device_order",
    "make_mesh",
    "plan",
    "torus_of",
]


def collective(plan: Plan, axis_names: AxisNames) -> PermuteCollective:
    """The collective of a plan, for the shards of `shard_map` along these axes of the mesh."""
    return PermuteCollective(plan, axis_names)
