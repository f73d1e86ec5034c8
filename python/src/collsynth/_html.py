"""Machines and plans for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._plan import Plan
    from ._topology import Topology

#: Larger machines are described in words only.
MOST_RANKS = 512
#: Pixels between ranks.
PITCH = 22


def machine_svg(topology: Topology) -> str:
    """The machine as a drawing: planes of x and y side by side, failures in red; no links between planes."""
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
    for rank in range(topology.ranks):
        x, y = place(rank)
        color = "#369" if rank in live else "#d22"
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{color}"><title>rank {rank}</title></circle>')
    width, height = PITCH * ((wide + 1) * (topology.ranks // plane) + 1), PITCH * (high + 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def plan_html(plan: Plan) -> str:
    """The figures of a plan and its machine."""
    return f"<pre>{escape(str(plan))}</pre>{machine_svg(plan.topology)}"
