"""Plans over 8 processes of gloo: every kind equals its definition, DDP trains as without them."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="left out: PyTorch is not installed")
import torch.multiprocessing as mp  # noqa: E402
import torch_ranks  # noqa: E402
from definitions import KINDS, ROOTED  # noqa: E402

import collsynth as cs  # noqa: E402
from collsynth.torch.backend import can_register, register_backend  # noqa: E402

RANKS = 8
TORUS = cs.Torus(2, 4).fail_cable(0, 2)
needs_backends = pytest.mark.skipif(
    not can_register(), reason=f"left out: PyTorch {torch.__version__} takes no backends written in Python"
)


@pytest.fixture(scope="module", autouse=True)
def _processes_share_an_import():
    """PyTorch is imported once: processes are forked from one that has nothing else."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    mp.get_context("forkserver").set_forkserver_preload(["torch_ranks"])


def launch(body, *arguments, ranks=RANKS, backend="gloo", plans=()):
    """Runs `body(rank, ...)` in that many processes."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = tuple(f"file://{folder}/again" if one == "STORE" else one for one in arguments)
        words = (ranks, f"file://{folder}/store", body, backend, plans, arguments)
        mp.start_processes(torch_ranks.rank, words, nprocs=ranks, start_method="forkserver")


def plans(torus=TORUS, parts=2):
    return [cs.plan(torus, kind, parts=parts, root=3 if kind in ROOTED else None) for kind in KINDS]


def test_every_kind_equals_its_definition():
    launch(torch_ranks.every_kind, plans())


def test_a_dead_rank_has_a_process_or_none():
    wanted = plans(TORUS.fail_rank(5))
    launch(torch_ranks.every_kind, wanted[:4])
    launch(torch_ranks.every_kind, wanted, ranks=7)


def test_calls_equal_those_of_torch():
    launch(torch_ranks.like_torch, plans())


#: Of two sizes, out of order; rank 4 relays, or stands by.
GROUPS = [[2, 0, 1], [7, 3, 6, 5]]


def in_groups(torus, kinds=KINDS):
    return [cs.plan(torus, kind, parts=2, groups=GROUPS, root=1 if kind in ROOTED else None) for kind in kinds]


def test_groups_equal_their_definition():
    launch(torch_ranks.every_kind, in_groups(TORUS))


def test_groups_with_a_dead_rank():
    wanted = in_groups(TORUS.fail_rank(6), ["all_to_all", "all_reduce", "reduce_scatter"])
    launch(torch_ranks.every_kind, wanted)
    launch(torch_ranks.every_kind, wanted, ranks=7)


def test_calls_in_groups():
    launch(torch_ranks.calls_in_groups, in_groups(TORUS, ["all_to_all", "all_gather", "all_reduce", "broadcast"]))


def test_training_in_groups():
    rows, odd = (cs.plan(TORUS, "all_reduce", parts=8, groups=groups) for groups in ("y", GROUPS))
    launch(torch_ranks.training_in_groups, rows, odd)


DEMAND = np.random.default_rng(3).integers(0, 4, (RANKS, RANKS))
# A rank that sends and receives nothing forwards all the same.
DEMAND[2], DEMAND[:, 2] = 0, 0


@pytest.mark.parametrize("chunk_rows", [1, 5])
def test_uneven_splits(chunk_rows):
    plan = cs.plan(TORUS, "all_to_allv", demand=DEMAND)
    splits = np.random.default_rng(4).integers(0, DEMAND * chunk_rows + 1)
    launch(torch_ranks.uneven, plan, chunk_rows, splits.tolist(), "calls")


def test_training_is_the_same_with_the_hook():
    launch(torch_ranks.training, cs.plan(TORUS, "all_reduce", parts=8))


def test_a_wrong_number_of_processes():
    launch(torch_ranks.too_few, cs.plan(TORUS, "all_reduce"), ranks=2)


def of_backend(torus=TORUS):
    """One plan for each call of torch.distributed."""
    return [plan for plan in plans(torus) if plan.collective != "all_reduce_gathered"]


@needs_backends
@pytest.mark.parametrize("ranks", [8, 7])
def test_a_registered_backend(ranks):
    wanted = of_backend(TORUS if ranks == 8 else TORUS.fail_rank(5))
    launch(torch_ranks.registered, wanted, ranks=ranks, backend="synth", plans=wanted)


@needs_backends
def test_a_plan_without_a_rank_is_not_for_a_group_with_it():
    launch(torch_ranks.left_to_gloo, backend="synth", plans=[cs.plan(TORUS.fail_rank(5), "all_reduce")])


@needs_backends
def test_uneven_splits_over_the_backend():
    plan = cs.plan(TORUS, "all_to_allv", demand=DEMAND)
    splits = np.random.default_rng(5).integers(0, DEMAND + 1)
    launch(torch_ranks.uneven, plan, 1, splits.tolist(), "backend", backend="synth", plans=[plan])


@needs_backends
def test_training_is_the_same_over_the_backend():
    launch(torch_ranks.training_on_the_backend, "STORE", backend="synth", plans=[cs.plan(TORUS, "all_reduce", parts=8)])


@needs_backends
def test_plans_that_no_backend_can_have():
    with pytest.raises(cs.UsageError, match="two plans for all_reduce"):
        register_backend([cs.plan(TORUS, "all_reduce"), cs.plan(TORUS, "all_reduce_gathered")], "twice")
    with pytest.raises(cs.UsageError, match="among all processes, not in groups"):
        register_backend([cs.plan(TORUS, "all_reduce", groups="y")], "grouped")
    with pytest.raises(cs.UsageError, match="barrier"):
        register_backend([cs.plan(TORUS, "barrier")], "barriers")
