"""Run by `test_mpi.py` on every rank: one is killed at a random moment, the others say how their calls ended."""

import os
import random
import signal
import sys
import threading
import time

import numpy as np
from definitions import expected, operand
from mpi4py import MPI

import collsynth as cs
from collsynth.mpi import collective

LIMIT = 3.0


def main(seed):
    comm = MPI.COMM_WORLD
    dice = random.Random(seed)
    torus = cs.Torus(2, 2).fail_cable(0, 1)
    runs = [collective(cs.plan(torus, kind, parts=2), timeout=LIMIT) for kind in ("all_reduce", "all_to_all")]
    victim, after = dice.randrange(comm.size), dice.random() * 0.5
    sizes = [1, 1000, 100_000]
    operands = [[operand(run.plan, np.float32, (size,)) for size in sizes] for run in runs]
    wanted = [[expected(run.plan, x)[comm.rank] for x in xs] for run, xs in zip(runs, operands, strict=True)]
    comm.Barrier()
    if comm.rank == victim:
        killer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGKILL))
        killer.daemon = True
        killer.start()
    while True:
        which, size = dice.randrange(2), dice.randrange(3)
        began = time.monotonic()
        try:
            found = runs[which](operands[which][size][comm.rank])
        except cs.CallFailed:
            took = time.monotonic() - began
            try:
                runs[which](operands[which][size][comm.rank])
                ending = "called again"
            except cs.UsageError:
                ending = "raised" if took < LIMIT + 20 else f"late: {took}"
            break
        if not np.array_equal(found, wanted[which][size]):
            ending = "wrong"
            break
    print(f"{ending}", flush=True)
    # MPI cannot be finalized without the victim.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
