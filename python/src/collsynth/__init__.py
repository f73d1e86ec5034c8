"""Proven collective schedules for tori with failed links.

>>> import collsynth as cs
>>> plan = cs.plan(cs.Torus(4, 4).fail_cable(2, 3), "all_to_all", parts="auto", time_limit=5)
>>> plan.steps, plan.steps_bound
(4, 4)

What runs plans is in `collsynth.jax`, `collsynth.torch` and `collsynth.mpi`, each with its own requirements.
"""

from ._collsynth import __version__
from ._command import bounds, command, command_json, compare, export, import_, pareto, polish
from ._errors import CallFailed, Error, Impossible, Refuted, Stopped, Unreadable, UsageError
from ._groups import Blocks
from ._plan import COPY, REDUCE, Plan, Program, load, plan, planners
from ._survey import Job, Outcome, survey
from ._topology import Link, Topology, Torus
from ._verdict import Verdict, Violation, verify

__all__ = [
    "COPY",
    "REDUCE",
    "Blocks",
    "CallFailed",
    "Error",
    "Impossible",
    "Job",
    "Link",
    "Outcome",
    "Plan",
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
    "pareto",
    "plan",
    "planners",
    "polish",
    "survey",
    "verify",
]
