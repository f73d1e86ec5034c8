"""What `test_torch.py` runs in every process of a group."""

import os
import threading
from datetime import timedelta

import numpy as np
import random_calls
import torch
import torch.distributed as dist
from definitions import expected, operand
from torch.nn.parallel import DistributedDataParallel

import collsynth as cs
from collsynth import torch as ct

#: A process that waits for longer is lost.
TIMEOUT = timedelta(seconds=120)


def rank(number, ranks, store, body, arguments):
    """Process `number` of a group over gloo."""
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=store, rank=number, world_size=ranks, timeout=TIMEOUT)
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
    x = torch.arange(7.0 * ranks) * (rank + 1)
    ours, theirs = torch.empty_like(x), torch.empty_like(x)
    ct.all_to_all_single(ours, x, group=run["all_to_all"])
    # gloo has no all_to_all in every version: a row from each gathered operand.
    gathered = [torch.empty_like(x) for _ in range(ranks)]
    dist.all_gather(gathered, x)
    assert torch.equal(ours, torch.cat([one[7 * rank : 7 * rank + 7] for one in gathered]))
    whole = torch.empty(ranks * len(x))
    work = ct.all_gather_into_tensor(whole, x, run["all_gather"], async_op=True)
    shard = torch.empty(7)
    ct.reduce_scatter_tensor(shard, x, dist.ReduceOp.SUM, run["reduce_scatter"])
    assert work.wait(timedelta(seconds=60))
    assert work.is_completed()
    assert work.is_success()
    assert work.result()[0] is whole
    assert torch.equal(whole, torch.cat(gathered))
    assert torch.equal(shard, sum(gathered)[7 * rank : 7 * rank + 7])
    # The input is a part of the output.
    inside = torch.zeros(ranks * 3)
    inside[3 * rank : 3 * rank + 3] = rank + 1
    ct.all_gather_into_tensor(inside, inside[3 * rank : 3 * rank + 3], group=run["all_gather"])
    assert torch.equal(inside, torch.arange(1.0, ranks + 1).repeat_interleave(3))
    ours, theirs = x.clone(), x.clone()
    ct.all_reduce(ours, group=run["all_reduce"])
    dist.all_reduce(theirs)
    assert torch.equal(ours, theirs)
    root = run["broadcast"]._ranks().index(3)
    ours, theirs = x.clone(), x.clone()
    ct.broadcast(ours, root, group=run["broadcast"])
    dist.broadcast(theirs, root)
    assert torch.equal(ours, theirs)
    refused(lambda: ct.all_reduce(ours, group=run["all_gather"]), "for all_gather")
    refused(lambda: ct.all_to_all_single(ours, torch.zeros(9), group=run["all_to_all"]), "multiple")
    splits = {"input_split_sizes": [len(x)], "group": run["all_to_all"]}
    refused(lambda: ct.all_to_all_single(ours, x, **splits), "not for all_to_allv")
    refused(lambda: ct.all_reduce(ours, dist.ReduceOp.MAX, run["all_reduce"]), "op is ReduceOp.SUM")
    refused(lambda: ct.all_reduce(ours, run["all_reduce"]), "pass group=")
    refused(lambda: ct.all_reduce(ours), "group is a collsynth.torch.Collective")
    refused(
        lambda: ct.broadcast(ours, (root + 1) % ranks, run["broadcast"]), f"the root of this plan is process {root}"
    )
    refused(lambda: ct.all_to_all_single(torch.tensor(1.0), torch.tensor(1.0), group=run["all_to_all"]), "no scalars")
    refused(lambda: ct.all_gather_into_tensor(whole.int(), x, run["all_gather"]), "the output is torch.int32")
    refused(lambda: ct.all_gather_into_tensor(whole[1:], x, run["all_gather"]), "elements, and")
    assert "all_gather on a" in repr(run["all_gather"])


def tensors_of_every_sort(_, plans):
    """Gradients, inference, layouts, types and views."""
    add, gather = (ct.Collective(plan) for plan in plans)
    ranks = dist.get_world_size()
    total = float(ranks * (ranks + 1) // 2)
    mine = float(dist.get_rank() + 1)
    parameter = torch.nn.Parameter(torch.full((3,), mine))
    with torch.no_grad():
        ct.all_reduce(parameter, group=add)
    assert parameter.tolist() == [total] * 3
    refused(lambda: add(parameter), "no gradient flows")
    assert not add(parameter.detach()).requires_grad
    with torch.inference_mode():
        made_there = torch.full((3,), mine)
        ct.all_reduce(made_there, group=add)
        assert made_there.tolist() == [total] * 3
        assert gather(made_there).shape == (ranks, 3)
    assert add(torch.full((3,), mine)).tolist() == [total] * 3
    strided = torch.full((4, 6), mine)[::2, 1::3]
    ct.all_reduce(strided, group=add)
    assert strided.tolist() == [[total] * 2] * 2
    # A conjugate is a view whose memory holds something else.
    conjugate = torch.full((2,), complex(mine, 1)).conj()
    assert add(conjugate).tolist() == [complex(total, -ranks)] * 2
    refused(lambda: add(torch.eye(3).to_sparse()), "plans move dense tensors")
    refused(lambda: add([1.0]), "is a tensor, not list")
    refused(lambda: add(torch.zeros(3, device="meta")), "on the CPU")
    for name in ("uint16", "uint32", "uint64", "float8_e4m3fn", "float16", "bool", "complex64"):
        if hasattr(torch, name):
            x = torch.tensor([1, 0, 1]).to(getattr(torch, name))
            assert torch.equal(gather(x).view(torch.uint8), x.view(torch.uint8).expand(ranks, -1))
    if hasattr(torch, "float8_e4m3fn"):
        refused(lambda: add(torch.zeros(3).to(torch.float8_e4m3fn)), "no addition")
    for size in (0, 1, 2):
        assert add(torch.full((size,), mine)).tolist() == [total] * size
    assert add(torch.tensor(mine)).item() == total
    # One element is contiguous whatever its stride.
    one = torch.full((1, 2), mine)[:, 0]
    assert one.stride() == (2,)
    assert add(one).tolist() == [total]
    ct.all_reduce(one, group=add)
    assert one.tolist() == [total]
    ct.all_gather_into_tensor(torch.empty(ranks * 2)[::2], torch.full((1, 2), mine)[:, 1], group=gather)
    nothing = torch.empty(0, 3)
    ct.all_reduce(nothing, group=add)
    assert nothing.shape == (0, 3)


def ranks_that_disagree(rank, plans):
    """Whatever differs, every process hears of it, and the next call is right."""
    add, other, gather = (ct.Collective(plan) for plan in plans)
    ranks = dist.get_world_size()
    odd = rank == 1

    def next_call_is_right():
        assert add(torch.ones(5)).tolist() == [float(ranks)] * 5

    calls = [
        lambda: add(torch.ones(6 if odd else 5)),
        lambda: add(torch.ones(5, dtype=torch.int32 if odd else torch.float32)),
        lambda: (other if odd else add)(torch.ones(5)),
        lambda: (gather if odd else add)(torch.ones(5)),
    ]
    for call in calls:
        refused(call, "do not make the same call: process 1 calls")
        next_call_is_right()
    # One that refuses by itself.
    refused(lambda: add([1] if odd else torch.ones(5)), "is a tensor" if odd else "process 1 refused this call")
    next_call_is_right()
    # Results have no place in an expanded tensor.
    expanded = torch.ones(1).expand(3) if odd else torch.ones(3)
    words = "is expanded: some of its elements are one" if odd else "process 1 refused this call"
    refused(lambda: ct.all_reduce(expanded, group=add), words)
    next_call_is_right()
    refused(
        lambda: ct.all_reduce(torch.ones(3), op="sum" if odd else dist.ReduceOp.SUM, group=add),
        "ReduceOp.SUM, not 'sum'" if odd else "process 1 refused this call",
    )
    next_call_is_right()
    # One that lacks the memory.
    ready = add._ready

    def out_of_memory(call):
        raise MemoryError

    add._ready = out_of_memory if odd else ready
    found = None
    try:
        add(torch.ones(3))
    except (MemoryError, cs.UsageError) as error:
        found = error
    assert isinstance(found, MemoryError if odd else cs.UsageError)
    assert odd or "process 1 refused this call" in str(found)
    add._ready = ready
    next_call_is_right()


class Adapted:
    """A collective as a function of NumPy's arrays."""

    def __init__(self, plan, group):
        self.plan, self.processes, self.run = plan, dist.get_world_size(group), ct.Collective(plan, group)
        self.rank, self.other = self.run.rank, None

    def __call__(self, x):
        if x is None:
            return self.run(None)
        found = self.run(tensor(x, getattr(torch, str(x.dtype))).reshape(x.shape))
        return np.array(found.tolist(), str(found.dtype).removeprefix("torch.")).reshape(tuple(found.shape))


def random_calls_of_all(rank, plans, times):
    """On the world, on two halves at once, and on seven of eight."""
    groups = [None, dist.new_group([0, 1, 2, 3]), dist.new_group([4, 5, 6, 7]), dist.new_group(list(range(7)))]
    members = [range(8), range(4), range(4, 8), range(7)]
    for seed, (group, inside) in enumerate(zip(groups, members, strict=True)):
        if rank in inside:
            calls = [Adapted(plan, group) for plan in plans[len(inside)]]
            for at, call in enumerate(calls):
                call.other = calls[(at + 1) % len(calls)]
            right, refused = random_calls.play(True, dist.get_rank(group), calls, seed, times)
            assert right + refused == times


def order_of_asynchronous_calls(rank, plans):
    """On two Collectives of a group, the default one stated or not: they share its connections and its thread."""
    one, other = ct.Collective(plans[0]), ct.Collective(plans[0], dist.group.WORLD)
    before = threading.active_count()
    for _ in range(20):
        x, y = torch.full((7,), 4.0), torch.full((7,), 400.0)
        works = [ct.all_reduce(x, group=one, async_op=True), ct.all_reduce(y, group=other, async_op=True)]
        z = other(torch.ones(3))
        for work in works:
            work.wait()
        ranks = dist.get_world_size()
        assert (x[0], y[0], z[0]) == (4 * ranks, 400 * ranks, ranks)
    assert threading.active_count() <= before + 1


def messages_of_others(rank, plans):
    """A pending message of the user's, with the tags that plans have, is not touched."""
    run, peer = ct.Collective(plans[0]), rank ^ 1
    for tag in (0, 1):
        kept = torch.zeros(3)
        pending = [dist.irecv(kept, peer, tag=tag), dist.isend(torch.full((3,), float(rank)), peer, tag=tag)]
        assert run(torch.ones(3)).tolist() == [float(dist.get_world_size())] * 3
        for work in pending:
            work.wait()
        assert kept.tolist() == [float(peer)] * 3


def groups_that_end(rank, plan):
    """Groups of four in turn: nothing of them stays, and a Collective of one that has ended is refused."""
    run, threads = None, None
    for turn in range(6):
        members = [0, 1, 2, 3] if turn % 2 else [7, 5, 6, 4]
        group = dist.new_group(members)
        if rank in members:
            run = ct.Collective(plan, group)
            assert run(torch.ones(5)).tolist() == [4.0] * 5
            run.start(torch.ones(5)).wait()
            dist.destroy_process_group(group)
            refused(lambda run=run: run(torch.ones(5)), "its process group has ended")
        else:
            refused(lambda group=group: ct.Collective(plan, group), "this process is not in the group")
        del group
        if turn == 1:
            threads = threading_count()
    assert threading_count() <= threads


def threading_count():
    """The threads of this process, those of gloo too."""
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else threading.active_count()


def calls_in_groups(rank, plans):
    """Splits and rows are those of the members of the largest group; a relay keeps what it has."""
    run = {plan.collective: ct.Collective(plan) for plan in plans}
    groups = plans[0].groups
    mine = next((group for group in groups if rank in group), None)
    place = 0 if mine is None else mine.index(rank)
    x = torch.arange(8.0) + 100 * rank
    ours = torch.empty(8)
    ct.all_to_all_single(ours, x, group=run["all_to_all"])
    rows = [torch.arange(8.0)[2 * place : 2 * place + 2] + 100 * member for member in mine or []]
    assert torch.equal(ours, torch.cat([*rows, torch.zeros(2 * (4 - len(rows)))]))
    whole = torch.empty(32)
    ct.all_gather_into_tensor(whole, x, run["all_gather"])
    rows = [torch.arange(8.0) + 100 * member for member in mine or []]
    assert torch.equal(whole, torch.cat([*rows, torch.zeros(8 * (4 - len(rows)))]))
    ours = x.clone()
    ct.all_reduce(ours, group=run["all_reduce"])
    assert torch.equal(ours, x if mine is None else sum(rows))
    ours = x.clone()
    ct.broadcast(ours, group=run["broadcast"])
    assert torch.equal(ours, x if mine is None else rows[1])
    refused(lambda: ct.all_to_all_single(ours, torch.zeros(9), group=run["all_to_all"]), "4 members of a group")


def messages(splits, rank, width=3):
    """The tensors of an all-to-all with these splits, a row for each origin: element (origin, dest, row, column)."""

    def message(origin, dest):
        rows = int(splits[origin][dest])
        count = torch.arange(rows * width, dtype=torch.float32).reshape(rows, width)
        return 10000 * origin + 1000 * dest + count

    ranks = range(len(splits))
    sent = torch.cat([message(rank, dest) for dest in ranks])
    return sent, torch.cat([message(origin, rank) for origin in ranks])


def uneven(rank, plan, chunk_rows, splits):
    """Splits of every size that fits the demand, from nothing to all of it."""
    x, wanted = messages(splits, rank)
    outgoing, incoming = [int(n) for n in splits[rank]], [int(row[rank]) for row in splits]
    y = torch.full_like(wanted, -1)
    run = ct.Collective(plan)
    kept = {"output_split_sizes": incoming, "input_split_sizes": outgoing, "chunk_rows": chunk_rows, "group": run}
    ct.all_to_all_single(y, x, **kept)
    assert torch.equal(y, wanted)
    more = torch.zeros(len(x) + 1, 3)
    refused(lambda: ct.all_to_all_single(y, more, **kept), f"of {len(more)} rows")
    halves = kept | {"input_split_sizes": [n + 0.5 for n in outgoing]}
    refused(lambda: ct.all_to_all_single(y, x, **halves), "input splits are whole numbers of rows")
    too_many = kept | {"input_split_sizes": [n + 100 for n in outgoing]}
    refused(lambda: ct.all_to_all_single(y, x, **too_many), "has room for")
    # A receiver that expects a row less than is sent.
    sender = next(at for at, row in enumerate(splits) if row[1])
    if rank == 1:
        incoming = [n - (at == sender) for at, n in enumerate(incoming)]
        y = torch.empty(sum(incoming), 3)
    words = f"process {sender} sends {splits[sender][1]} rows to process 1, which expects {splits[sender][1] - 1}"
    refused(lambda: ct.all_to_all_single(y, x, **kept | {"output_split_sizes": incoming}), words)


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


def dead_rank_with_a_process(_, plans):
    """It would be left out: what is in place or trains is refused at every process."""
    add, exchange = (ct.Collective(plan) for plan in plans)
    refused(lambda: ct.all_reduce(torch.ones(3), group=add), "rank 5 is dead in this plan")
    refused(lambda: ct.all_to_all_single(torch.ones(8), torch.ones(8), group=exchange), "rank 5 is dead in this plan")
    refused(lambda: ct.ddp_hook(add, None), "would train with nobody")


def too_few(_, plan):
    refused(lambda: ct.Collective(plan), "2 processes for 8 ranks")
    refused(lambda: ct.Collective(None), "made of a plan, not of NoneType")


def sharded(rank, plans, group):
    """The losses of a model that is fully sharded: by the plans, or by gloo."""
    from torch.distributed.fsdp import fully_shard

    from collsynth.torch.fsdp import use_plans

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),)) if group is None else group
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    if plans:
        runs = [ct.Collective(plan) for plan in plans]
        refused(lambda: use_plans(torch.nn.Linear(2, 2), *runs), "no module is fully sharded")
        use_plans(model, *runs)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    x = torch.randn(32, 20, generator=torch.Generator().manual_seed(rank))
    y = x[:, :3].sum(dim=1, keepdim=True)
    found = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def sharded_training(rank, plans):
    same_training(sharded(rank, plans, None), sharded(rank, [], None))
