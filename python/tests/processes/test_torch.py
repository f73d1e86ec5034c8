"""Plans over 8 processes of gloo: every kind equals its definition, DDP trains as without them."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="left out: PyTorch is not installed")
import random_calls  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
import torch_ranks  # noqa: E402
from definitions import KINDS, ROOTED  # noqa: E402

import collsynth as cs  # noqa: E402

RANKS = 8
TORUS = cs.Torus(2, 4).fail_cable(0, 2)


@pytest.fixture(scope="module", autouse=True)
def _processes_share_an_import():
    """PyTorch is imported once: processes are forked from one that has nothing else."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    mp.get_context("forkserver").set_forkserver_preload(["torch_ranks"])


def launch(body, *arguments, ranks=RANKS):
    """Runs `body(rank, ...)` in that many processes."""
    with tempfile.TemporaryDirectory() as folder:
        words = (ranks, f"file://{folder}/store", body, arguments)
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
    # A process for each live rank: rows are those of the processes.
    launch(torch_ranks.like_torch, plans(TORUS.fail_rank(5)), ranks=7)


def test_a_process_of_a_dead_rank_is_not_left_out():
    kinds = ("all_reduce", "all_to_all")
    launch(torch_ranks.dead_rank_with_a_process, [cs.plan(TORUS.fail_rank(5), kind, parts=2) for kind in kinds])


def small(*kinds, parts=3):
    """Plans for four processes."""
    return [cs.plan(cs.Torus(4).fail_cable(0, 1), kind, parts=parts) for kind in kinds]


def test_tensors_of_every_sort():
    launch(torch_ranks.tensors_of_every_sort, small("all_reduce", "all_gather"), ranks=4)


def test_ranks_that_disagree():
    other = small("all_reduce", parts=2)
    launch(torch_ranks.ranks_that_disagree, [*small("all_reduce"), *other, *small("all_gather")], ranks=4)


def test_random_calls_and_disagreements():
    """2,000 calls of each process with SYNTH_FULL, of which 800 disagree."""
    made = {ranks: random_calls.make_plans(ranks) for ranks in (4, 7, 8)}
    launch(torch_ranks.random_calls_of_all, made, 700 if os.environ.get("SYNTH_FULL") else 12)


def test_two_collectives_of_a_group():
    launch(torch_ranks.order_of_asynchronous_calls, small("all_reduce"), ranks=4)


def test_messages_of_others():
    launch(torch_ranks.messages_of_others, small("all_reduce"), ranks=4)


def test_groups_that_end():
    launch(torch_ranks.groups_that_end, small("all_reduce")[0])


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
    launch(torch_ranks.uneven, plan, chunk_rows, splits.tolist())


def test_training_is_the_same_with_the_hook():
    launch(torch_ranks.training, cs.plan(TORUS, "all_reduce", parts=8))
    launch(torch_ranks.training, cs.plan(TORUS.fail_rank(5), "all_reduce", parts=8), ranks=7)


def fully_shard_takes_plans():
    try:
        from torch.distributed.fsdp import FSDPModule
    except (ImportError, ValueError):
        # PyTorch 1.13 cannot even import it in Python 3.11.
        return False
    return hasattr(FSDPModule, "set_custom_all_gather")


@pytest.mark.skipif(
    not fully_shard_takes_plans(), reason=f"left out: fully_shard of PyTorch {torch.__version__} takes no plans"
)
def test_sharded_training_is_the_same():
    for torus, ranks in ((TORUS, 8), (TORUS.fail_rank(5), 7)):
        plans = [cs.plan(torus, kind, parts=2) for kind in ("all_gather", "reduce_scatter")]
        launch(torch_ranks.sharded_training, plans, ranks=ranks)


def test_a_wrong_number_of_processes():
    launch(torch_ranks.too_few, cs.plan(TORUS, "all_reduce"), ranks=2)
