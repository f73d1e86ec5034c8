"""Proven collective schedules for tori with failed links.

>>> import collsynth as cs
>>> plan = cs.plan(cs.Torus(4, 4).fail_cable(2, 3), "all_to_all", parts="auto", time_limit=5)
>>> plan.steps, plan.steps_bound
(4, 4)

What runs plans is in `collsynth.jax`, `collsynth.torch` and `collsynth.mpi`, each with its own requirements.
"""

from typing import TYPE_CHECKING

from ._answer.pages import Page, Picture
from ._answer.plan import COPY, REDUCE, Plan, Program, load
from ._answer.verdict import Verdict, Violation, verify
from ._collsynth import __version__
from ._command import bounds, command, command_json, compare, export, import_, pareto, polish
from ._command.answers import Comparison, Pareto
from ._command.jobs import PlannedJob, load_job, plan_job
from ._errors import (
    CallFailed,
    Error,
    FileError,
    Impossible,
    NoSuchFile,
    Refuted,
    Stopped,
    Unreadable,
    UsageError,
)
from ._planning import plan, planners
from ._question.groups import Blocks
from ._question.topology import Link, Topology, Torus
from ._survey import Job, Outcome, survey

if TYPE_CHECKING:
    from . import jax as jax
    from . import mpi as mpi
    from . import torch as torch
else:

    def __getattr__(name: str) -> object:
        # `cs.jax` imports JAX, when it is first named.
        if name in ("jax", "mpi", "torch"):
            import importlib

            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "COPY",
    "REDUCE",
    "Blocks",
    "CallFailed",
    "Comparison",
    "Error",
    "FileError",
    "Impossible",
    "Job",
    "Link",
    "NoSuchFile",
    "Outcome",
    "Page",
    "Pareto",
    "Picture",
    "Plan",
    "PlannedJob",
    "Program",
    "Refuted",
    "Stopped",
    "Topology",
    "Torus",
    "Unreadable",
    "UsageError",
    "Verdict",
    "Violation",
    "__version__",
    "bounds",
    "command",
    "command_json",
    "compare",
    "export",
    "import_",
    "load",
    "load_job",
    "pareto",
    "plan",
    "plan_job",
    "planners",
    "polish",
    "survey",
    "verify",
]
