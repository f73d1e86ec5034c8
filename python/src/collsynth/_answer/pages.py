"""What there is to look at: machines and plans in notebooks, the page of `synth view`, and plots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .._errors import UsageError, of_system

if TYPE_CHECKING:
    from .._question.topology import Topology
    from .plan import Plan

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


#: Within a notebook, a page has no address to keep what is shown in.
_WITHOUT_ADDRESS = "<script>history.replaceState = () => {}</script>"


class Page:
    """A page to look at: a notebook shows it, `save` writes it. It needs neither network nor server."""

    def __init__(self, html: str) -> None:
        #: The whole page.
        self.html = html

    @classmethod
    def _of_file(
        cls, text: str, path: str | os.PathLike[str] | None, topology: Topology | Sequence[int] | None
    ) -> Page:
        """The page of a schedule or rank program file, on this machine if there is one; written to a path likewise."""
        from tempfile import TemporaryDirectory

        from .._command.asking import call, machine_file
        from .._question.topology import topology_of

        with TemporaryDirectory() as folder:
            machine = [] if topology is None else machine_file(topology_of(topology), folder)
            page = cls(call(["view", "-", *machine], {}, text, None, may_refute=True))
        if path is not None:
            page.save(path)
        return page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, which a browser opens. Raises `UsageError` if the name ends like another form."""
        _write(path, self.html, (".html", ".htm"))

    def __repr__(self) -> str:
        title = self.html.partition("<title>")[2].partition("</title>")[0]
        return f"<Page: {title}, {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        framed = self.html.replace("<head>", f"<head>{_WITHOUT_ADDRESS}", 1)
        return f'<iframe srcdoc="{escape(framed)}" style="width: 100%; height: 720px; border: 0"></iframe>'


class Picture:
    """A drawing: a notebook shows it, `save` writes it."""

    def __init__(self, svg: str) -> None:
        #: The drawing, as SVG.
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG file. Raises `UsageError` if the name ends like another form."""
        _write(path, self.svg, (".svg",))

    def __repr__(self) -> str:
        return f"<Picture: SVG of {len(self.svg)} characters>"

    def _repr_svg_(self) -> str:
        return self.svg


def _write(path: Any, text: str, endings: tuple[str, ...]) -> None:
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"path is where to write it, not {path!r}")
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in endings:
        wanted = os.path.splitext(name)[0] + endings[0]
        raise UsageError(f"path is {name!r}: {endings[0]} is written here", f"write to {wanted!r}")
    try:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise of_system(error.errno or 0, name, "write") from None
