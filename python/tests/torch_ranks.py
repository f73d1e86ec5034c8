"""What `test_torch.py` runs in every process of a group."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from definitions import expected, operand
from torch.nn.parallel import DistributedDataParallel

import collsynth as cs
from collsynth import torch as ct
from collsynth.torch.backend import register_backend

#: A process that waits for longer is lost.
TIMEOUT = timedelta(seconds=120)


def rank(number, ranks, store, body, backend, plans, arguments):
    """Process `number` of a group: gloo, or the backend of these plans."""
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    if backend != "gloo":
        register_backend(plans, backend)
    dist.init_process_group(backend, init_method=store, rank=number, world_size=ranks, timeout=TIMEOUT)
    try:
        body(number, *arguments)
        dist.barrier()
    finally:
        dist.destroy_process_group()


def tensor(array, dtype):
    """By way of lists: an old PyTorch does not know a new NumPy."""
    return torch.tensor(array.tolist(), dtype=dtype)


def refused(call, words):
    """The call is refused with these words."""
    found = None
    try:
        call()
    except cs.UsageError as error:
        found = str(error)
    assert words in (found or "nothing was refused")


def every_kind(_, plans):
    for plan in plans:
        run = ct.Collective(plan)
        x = operand(plan, trailing=(3, 5))
        for dtype in (torch.float32, torch.bfloat16, torch.int32):
            result = run(tensor(x[run.rank], dtype))
            assert result.dtype == dtype
            assert torch.equal(result, tensor(expected(plan, x)[run.rank], dtype)), plan


def like_torch(rank, plans):
    ranks = dist.get_world_size()
    run = {plan.collective: ct.Collective(plan) for plan in plans}
    x = torch.arange(16.0) * (rank + 1)
    ours = torch.empty(16)
    ct.all_to_all_single(ours, x, run["all_to_all"])
    # gloo has no all_to_all in every version: a row from each gathered operand.
    gathered = [torch.empty(16) for _ in range(ranks)]
    dist.all_gather(gathered, x)
    assert torch.equal(ours, torch.cat([one[2 * rank : 2 * rank + 2] for one in gathered]))
    whole = torch.empty(ranks * 16)
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
    refused(lambda: ct.all_reduce(ours, run["all_gather"]), "for all_gather")
    refused(lambda: ct.all_to_all_single(ours, torch.zeros(9), run["all_to_all"]), "multiple")
    refused(lambda: ct.all_to_all_single(ours, x, run["all_to_all"], input_split_sizes=[16]), "not for all_to_allv")


def calls_in_groups(rank, plans):
    """Splits and rows are those of the members of the largest group; a relay keeps what it has."""
    run = {plan.collective: ct.Collective(plan) for plan in plans}
    groups = plans[0].groups
    mine = next((group for group in groups if rank in group), None)
    place = 0 if mine is None else mine.index(rank)
    x = torch.arange(8.0) + 100 * rank
    ours = torch.empty(8)
    ct.all_to_all_single(ours, x, run["all_to_all"])
    rows = [torch.arange(8.0)[2 * place : 2 * place + 2] + 100 * member for member in mine or []]
    assert torch.equal(ours, torch.cat([*rows, torch.zeros(2 * (4 - len(rows)))]))
    whole = torch.empty(32)
    ct.all_gather_into_tensor(whole, x, run["all_gather"])
    rows = [torch.arange(8.0) + 100 * member for member in mine or []]
    assert torch.equal(whole, torch.cat([*rows, torch.zeros(8 * (4 - len(rows)))]))
    ours = x.clone()
    ct.all_reduce(ours, run["all_reduce"])
    assert torch.equal(ours, x if mine is None else sum(rows))
    ours = x.clone()
    ct.broadcast(ours, run["broadcast"])
    assert torch.equal(ours, x if mine is None else rows[1])
    refused(lambda: ct.all_to_all_single(ours, torch.zeros(9), run["all_to_all"]), "4 members of a group")


def messages(splits, rank, width=3):
    """The tensors of an all-to-all with these splits, a row for each origin: element (origin, dest, row, column)."""

    def message(origin, dest):
        rows = int(splits[origin][dest])
        count = torch.arange(rows * width, dtype=torch.float32).reshape(rows, width)
        return 10000 * origin + 1000 * dest + count

    ranks = range(len(splits))
    sent = torch.cat([message(rank, dest) for dest in ranks])
    return sent, torch.cat([message(origin, rank) for origin in ranks])


def uneven(rank, plan, chunk_rows, splits, exchange):
    """Splits of every size that fits the demand, from nothing to all of it."""
    x, wanted = messages(splits, rank)
    outgoing, incoming = [int(n) for n in splits[rank]], [int(row[rank]) for row in splits]
    y = torch.full_like(wanted, -1)
    if exchange == "calls":
        run = ct.Collective(plan)
        kept = {"output_split_sizes": incoming, "input_split_sizes": outgoing, "chunk_rows": chunk_rows}
        ct.all_to_all_single(y, x, run, **kept)
        more = torch.zeros(len(x) + 1, 3)
        refused(lambda: ct.all_to_all_single(y, more, run, **kept), f"of {len(more)} rows")
        too_many = kept | {"input_split_sizes": [n + 100 for n in outgoing]}
        refused(lambda: ct.all_to_all_single(y, x, run, **too_many), "has room for")
    else:
        dist.all_to_all_single(y, x, incoming, outgoing)
    assert torch.equal(y, wanted)


def counted(start, kind, ran):
    return lambda x: ran.append(kind) or start(x)


def registered(rank, plans):
    """The calls of torch.distributed run the plans, and give what the definitions say."""
    group = dist.distributed_c10d._get_default_group()
    ran = []
    for (kind, _), run in group._plans.items():
        run.start = counted(run.start, kind, ran)
    by_kind = {plan.collective: plan for plan in plans}
    ranks = dist.get_world_size()

    def operands(kind, dtype=torch.float32):
        plan = by_kind[kind]
        live = plan.topology.live_ranks
        me = rank if ranks == plan.topology.ranks else live[rank]
        x = operand(plan, trailing=(4,))
        y = tensor(expected(plan, x)[me], dtype)
        mine = tensor(x[me], dtype)
        rows = live if ranks == len(live) else list(range(ranks))
        return (mine[rows] if x.ndim == 3 else mine), (y[rows] if y.ndim == 2 and len(y) != ranks else y)

    for dtype in (torch.float32, torch.int64):
        x, wanted = operands("all_reduce", dtype)
        dist.all_reduce(x)
        assert torch.equal(x, wanted)
    work = dist.all_reduce(x := operands("all_reduce")[0], async_op=True)
    work.wait()
    assert torch.equal(x, operands("all_reduce")[1])
    x, wanted = operands("broadcast")
    root = group_root(by_kind["broadcast"], ranks)
    dist.broadcast(x, root)
    assert torch.equal(x, wanted)
    x, wanted = operands("reduce")
    before = x.clone()
    dist.reduce(x, root)
    assert torch.equal(x, wanted if rank == root else before)
    x, wanted = operands("all_gather")
    y = torch.empty(ranks, 4)
    dist.all_gather(list(y), x)
    assert torch.equal(y, wanted)
    y = torch.empty(ranks * 4)
    dist.all_gather_into_tensor(y, x)
    assert torch.equal(y.view(ranks, 4), wanted)
    x, wanted = operands("gather")
    y = torch.empty(ranks, 4)
    dist.gather(x, list(y) if rank == root else None, root)
    assert rank != root or torch.equal(y, wanted)
    x, wanted = operands("scatter")
    y = torch.empty(4)
    dist.scatter(y, list(x) if rank == root else None, root)
    assert torch.equal(y, wanted)
    x, wanted = operands("reduce_scatter")
    dist.reduce_scatter(y, list(x))
    assert torch.equal(y, wanted)
    dist.reduce_scatter_tensor(y, x.reshape(-1))
    assert torch.equal(y, wanted)
    x, wanted = operands("all_to_all")
    y = torch.empty(ranks * 4)
    dist.all_to_all_single(y, x.reshape(-1))
    assert torch.equal(y.view(ranks, 4), wanted)
    assert sorted(set(ran)) == sorted({key[0] for key in group._plans} - {"all_to_allv"})
    # What no plan is for is gloo's: a maximum, another root, a smaller group, messages of the user's.
    count = len(ran)
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, dist.ReduceOp.MAX)
    assert x.item() == ranks - 1
    x = torch.tensor([float(rank)])
    dist.broadcast(x, 1)
    assert x.item() == 1
    pair = dist.new_group([0, 1])
    if rank < 2:
        x = torch.ones(1)
        dist.all_reduce(x, group=pair)
        assert x.item() == 2
        peer = torch.tensor([float(rank)])
        (dist.send if rank == 0 else dist.recv)(peer, 1 - rank)
        assert peer.item() == 0
    assert len(ran) == count


def left_to_gloo(rank):
    """A plan leaves a dead rank out; a group that has a process for it does not."""
    assert not dist.distributed_c10d._get_default_group()._plans
    x = torch.tensor([float(rank)])
    dist.all_reduce(x)
    assert x.item() == sum(range(dist.get_world_size()))


def group_root(plan, ranks):
    return plan.root if ranks == plan.topology.ranks else plan.topology.live_ranks.index(plan.root)


def losses(rank, run, group=None):
    """Those of a small training within a group of processes, with a hook if a plan is given."""
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    model = DistributedDataParallel(layers, process_group=group, bucket_cap_mb=0.002)
    if run is not None:
        model.register_comm_hook(run, ct.ddp_hook)
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


def same_training(ours, theirs):
    assert max(abs(one - other) for one, other in zip(ours, theirs, strict=True)) < 1e-6
    assert ours[-1] < ours[0] / 2


def training(rank, plan):
    same_training(losses(rank, ct.Collective(plan)), losses(rank, None))


def training_in_groups(rank, plan, odd):
    """Each group for itself: the hook averages its gradients, as DDP in a group of torch.distributed does."""
    handles = [dist.new_group(sorted(group)) for group in plan.groups]
    mine = next(handle for handle, group in zip(handles, plan.groups, strict=True) if rank in group)
    same_training(losses(rank, ct.Collective(plan), mine), losses(rank, None, mine))
    run = ct.Collective(odd)
    refused(lambda: ct.ddp_hook(run, None), "ranks [4] are in no group")


def training_on_the_backend(rank, store):
    """DDP as ever: the backend's all_reduce runs the plan. Beside it, the same over gloo."""
    group = dist.distributed_c10d._get_default_group()
    run, calls = group._plans["all_reduce", None], []
    start = run.start
    run.start = lambda x: calls.append(x.numel()) or start(x)
    ours = losses(rank, None)
    assert len(calls) >= 20
    dist.barrier()
    theirs = over_gloo(rank, store)
    same_training(ours, theirs)


def over_gloo(rank, store):
    """The losses without the backend."""
    ranks = dist.get_world_size()
    dist.destroy_process_group()
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks, timeout=TIMEOUT)
    return losses(rank, None)


def too_few(_, plan):
    refused(lambda: ct.Collective(plan), "2 processes for 8 ranks")
