"""A process of a group over gloo is killed at a random moment: run by `test_torch_killed.py` in every process."""

import os
import random
import signal
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import collsynth as cs
from collsynth import torch as ct

#: Seconds after which no process waits for a call any more.
LIMIT = 6


def process(number, ranks, store, plans, seed, outcomes):
    """Calls until one fails, and says how it ended. The victim dies."""
    torch.set_num_threads(1)
    group_limit = timedelta(seconds=LIMIT)
    dist.init_process_group("gloo", init_method=store, rank=number, world_size=ranks, timeout=group_limit)
    dice = random.Random(seed)
    victim, after, way = dice.randrange(ranks), dice.random() * 0.4, dice.choice(["blocking", "wait", "ddp"])
    if number == victim:
        killer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGKILL))
        killer.daemon = True
        killer.start()
    outcomes.put((number, *outcome(number, plans, dice, way)))


def outcome(number, plans, dice, way):
    """`raised`, or what went wrong, and the seconds that the last call took."""
    try:
        add, exchange = (ct.Collective(plan) for plan in plans)
    except cs.CallFailed:
        # gloo has a time limit of its own for connecting.
        return "raised", 0.0
    began = time.monotonic()
    try:
        ranks = dist.get_world_size()
        train = training(add) if way == "ddp" else None
        while True:
            size = dice.choice([1, 1000, 300_000])
            began = time.monotonic()
            if train is not None:
                train()
            elif way == "wait":
                x = torch.full((size,), number + 1.0)
                work = ct.all_reduce(x, group=add, async_op=True)
                work.wait()
                if not (x == ranks * (ranks + 1) / 2).all():
                    return "wrong sums", 0.0
            else:
                x = torch.arange(ranks).repeat_interleave(size) + 100 * number
                y = torch.empty_like(x)
                ct.all_to_all_single(y, x, group=exchange)
                if not torch.equal(y, number + 100 * torch.arange(ranks).repeat_interleave(size)):
                    return "wrong rows", 0.0
    except RuntimeError as error:
        took = time.monotonic() - began
        # DDP has connections of its own: when they are the first to hear of the death, the next call hears of it too.
        if way == "ddp" and not failed(add, cs.UsageError, cs.CallFailed):
            return f"called again after {error}", took
        # What cannot be called any more says so at once.
        if not failed(add, cs.UsageError):
            return f"called twice after {error}", took
        return "raised", took


def failed(add, *errors):
    """Whether a call raises one of these."""
    try:
        add(torch.ones(3))
    except errors:
        return True
    return False


def training(add):
    """A step of DDP with the hook."""
    model = DistributedDataParallel(torch.nn.Linear(100, 100), bucket_cap_mb=0.01)
    model.register_comm_hook(add, ct.ddp_hook)

    def step():
        model(torch.ones(3, 100)).sum().backward()

    return step
