"""Plans in JAX: a collective of `shard_map`, made of one `ppermute` for each direction in use in each step."""

from __future__ import annotations

from typing import Any

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


def collective(plan: Plan, axis_names: AxisNames, sums_in: Any = None) -> PermuteCollective:
    """The collective of a plan, for the shards of `shard_map` along these axes of the mesh.

    Sums are kept in the type `sums_in`, and sent in the operand's; unless stated, both are the operand's.
    """
    return PermuteCollective(plan, axis_names, sums_in)
