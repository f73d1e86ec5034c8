"""Machines and plans for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._plan import Plan
    from ._topology import Topology

#: Larger machines are described in words only.
MOST_RANKS = 512
#: Of groups, in turn; the first is also that of ranks without groups. None is the red of failures.
COLORS = ("#369", "#e90", "#397", "#a5c", "#863", "#0ac", "#884", "#667")
#: Pixels between ranks.
PITCH = 22


def machine_svg(topology: Topology, groups: list[list[int]] | None = None) -> str:
    """The machine as a drawing: planes of x and y side by side, failures in red; no links between planes.

    With groups, ranks have the colors of theirs; those in none are hollow.
    """
    shape = topology._machine.torus_shape
    if shape is None or topology.ranks > MOST_RANKS:
        return ""
    wide, high = shape[0][0], shape[0][1] if len(shape[0]) > 1 else 1
    plane = wide * high

    def place(rank: int) -> tuple[int, int]:
        x = rank % wide + (wide + 1) * (rank // plane)
        return PITCH * (x + 1), PITCH * (rank % plane // wide + 1)

    parts = []
    for link in topology.links:
        # A link and its opposite are drawn as one, unless only one of them failed; others would cross the drawing.
        (x0, y0), (x1, y1) = place(link.start), place(link.end)
        near = abs(x0 - x1) + abs(y0 - y1) == PITCH and link.start // plane == link.end // plane
        if near and (link.start < link.end or not link.alive):
            color = "#999" if link.alive else "#d22"
            parts.append(f'<path d="M{x0} {y0}L{x1} {y1}" stroke="{color}"/>')
        elif not near and not link.alive:
            # A dead link that closes a ring or leaves the plane: a red stub at either end.
            parts.append(f'<circle cx="{x0}" cy="{y0}" r="8" fill="none" stroke="#d22"/>')
    live = set(topology.live_ranks)
    group_of = {rank: number for number, group in enumerate(groups or []) for rank in group}
    for rank in range(topology.ranks):
        x, y = place(rank)
        title, color = f"rank {rank}", COLORS[group_of.get(rank, 0) % len(COLORS)]
        if groups is not None:
            title += f", group {group_of[rank]}" if rank in group_of else ", in no group"
        ring = "" if groups is None or rank in group_of else ' fill-opacity="0"'
        color = color if rank in live else "#d22"
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="5" fill="{color}" stroke="{color}"{ring}><title>{title}</title></circle>'
        )
    width, height = PITCH * ((wide + 1) * (topology.ranks // plane) + 1), PITCH * (high + 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def plan_html(plan: Plan) -> str:
    """The figures of a plan and its machine."""
    return f"<pre>{escape(str(plan))}</pre>{machine_svg(plan.topology, plan.groups)}"
