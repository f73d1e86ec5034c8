"""Plans over 8 processes of gloo: every kind equals its definition, DDP trains as without the hook."""

import os
import tempfile

import pytest

torch = pytest.importorskip("torch", reason="left out: PyTorch is not installed")
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from definitions import KINDS, ROOTED, expected, operand  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import collsynth as cs  # noqa: E402
from collsynth import torch as ct  # noqa: E402

RANKS = 8
TORUS = cs.Torus(2, 4).fail_cable(0, 2)


def launch(body, *arguments, ranks=RANKS):
    """Runs `body(rank, ...)` in that many processes."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_rank, (ranks, f"file://{folder}/store", body, arguments), nprocs=ranks)


def _rank(rank, ranks, store, body, arguments):
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks)
    try:
        body(rank, *arguments)
        dist.barrier()
    finally:
        dist.destroy_process_group()


def plans(torus=TORUS, parts=2):
    return [cs.plan(torus, kind, parts=parts, root=3 if kind in ROOTED else None) for kind in KINDS]


def tensor(array, dtype):
    """By way of lists: an old PyTorch does not know a new NumPy."""
    return torch.tensor(array.tolist(), dtype=dtype)


def every_kind(rank, wanted):
    for plan in wanted:
        run = ct.Collective(plan)
        x = operand(plan, trailing=(3, 5))
        for dtype in (torch.float32, torch.bfloat16, torch.int32):
            result = run(tensor(x[run.rank], dtype))
            assert result.dtype == dtype
            assert torch.equal(result, tensor(expected(plan, x)[run.rank], dtype)), plan


def test_every_kind_equals_its_definition():
    launch(every_kind, plans())


def test_a_dead_rank_has_a_process_or_none():
    wanted = plans(TORUS.fail_rank(5))
    launch(every_kind, wanted[:4])
    launch(every_kind, wanted, ranks=7)


def like_torch(rank):
    run = {plan.collective: ct.Collective(plan) for plan in plans()}
    x = torch.arange(16.0) * (rank + 1)
    ours, theirs = torch.empty(16), torch.empty(16)
    ct.all_to_all_single(ours, x, run["all_to_all"])
    # gloo has no all_to_all in every version: a row from each gathered operand.
    gathered = [torch.empty(16) for _ in range(RANKS)]
    dist.all_gather(gathered, x)
    assert torch.equal(ours, torch.cat([one[2 * rank : 2 * rank + 2] for one in gathered]))
    whole = torch.empty(RANKS * 16)
    work = ct.all_gather_into_tensor(whole, x, run["all_gather"], async_op=True)
    shard = torch.empty(2)
    ct.reduce_scatter_tensor(shard, x, run["reduce_scatter"])
    assert work.wait()
    assert work.is_completed()
    assert torch.equal(whole, torch.cat(gathered))
    assert torch.equal(shard, sum(gathered)[2 * rank : 2 * rank + 2])
    ours, theirs = x.clone(), x.clone()
    ct.all_reduce(ours, run["all_reduce"])
    dist.all_reduce(theirs)
    assert torch.equal(ours, theirs)
    ours, theirs = x.clone(), x.clone()
    ct.broadcast(ours, run["broadcast"])
    dist.broadcast(theirs, 3)
    assert torch.equal(ours, theirs)
    with pytest.raises(cs.UsageError, match="for all_gather"):
        ct.all_reduce(ours, run["all_gather"])
    with pytest.raises(cs.UsageError, match="multiple"):
        ct.all_to_all_single(ours, torch.zeros(9), run["all_to_all"])


def test_calls_equal_those_of_torch():
    launch(like_torch)


def training(rank, plan):
    """The losses of both models are equal, step by step."""

    def losses(hook):
        torch.manual_seed(1)
        layers = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
        model = DistributedDataParallel(layers, bucket_cap_mb=0.002)
        if hook:
            model.register_comm_hook(ct.Collective(plan), ct.ddp_hook)
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        data = torch.Generator().manual_seed(rank)
        x = torch.randn(32, 20, generator=data)
        y = x[:, :3].sum(dim=1, keepdim=True)
        found = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    ours, theirs = losses(True), losses(False)
    assert max(abs(one - other) for one, other in zip(ours, theirs, strict=True)) < 1e-6
    assert ours[-1] < ours[0] / 2


def test_training_is_the_same_with_the_hook():
    launch(training, cs.plan(TORUS, "all_reduce", parts=8))


def test_a_wrong_number_of_processes():
    launch(too_few, ranks=2)


def too_few(rank):
    with pytest.raises(cs.UsageError, match="2 processes for 8 ranks"):
        ct.Collective(cs.plan(TORUS, "all_reduce"))
