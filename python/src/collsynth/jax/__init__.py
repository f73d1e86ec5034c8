"""Plans in JAX: a collective of `shard_map`, made of one `ppermute` for each direction in use in each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._answer.plan import Plan
from ._collective import Array, AxisNames, Collective
from ._grain import plan
from ._mesh import device_order, make_mesh, torus_of
from ._permutes import PermuteCollective

if TYPE_CHECKING:
    from .._question.groups import Groups

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
    axis_index_groups: Groups | None = None,
) -> PermuteCollective:
    """The collective of a plan, for the shards of `shard_map` along these axes of the mesh.

    Sums are kept in the type `sums_in`, and sent in the operand's; unless stated, both are the operand's.
    `axis_index_groups` are those that JAX's own collectives take, members by `lax.axis_index(axis_names)`. Plan for
    them with `groups=axis_index_groups`; a plan without groups is for one of all ranks.

    Raises `UsageError` for groups other than the plan's, or with their members in another order; at the call, if
    `sums_in` does not hold every element of the operand.
    """
    return PermuteCollective(plan, axis_names, sums_in, axis_index_groups)
