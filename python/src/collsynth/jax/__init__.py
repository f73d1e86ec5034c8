"""Plans in JAX: a collective of `shard_map`, made of one `ppermute` for each direction in use in each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import UsageError
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


def collective(
    plan: Plan,
    axis_names: AxisNames,
    sums_in: Any = None,
    *,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> PermuteCollective:
    """The collective of a plan, for the shards of `shard_map` along these axes of the mesh.

    Sums are kept in the type `sums_in`, and sent in the operand's; unless stated, both are the operand's.
    `axis_index_groups` are those of JAX's own collectives, by `lax.axis_index(axis_names)`: they must be the groups of
    the plan. What a plan for them is called with is `groups=axis_index_groups`.

    Raises `UsageError` for groups that are not the plan's, each with its members in this order.
    """
    found = PermuteCollective(plan, axis_names, sums_in)
    if axis_index_groups is not None:
        stated = [[int(rank) for rank in np.ravel(group)] for group in axis_index_groups]
        if sorted(stated) != sorted(plan.groups or [list(range(plan.topology.ranks))]):
            of = f"groups {plan.groups}" if plan.groups else "no groups"
            hint = f"cs.plan(..., groups={stated}) plans for them"
            raise UsageError(f"axis_index_groups are {stated}, but the plan is for {of}", hint)
    return found
