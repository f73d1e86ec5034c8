"""Run by `test_mpi.py` on every rank: the collectives of plans beside those of the MPI library."""

import sys

import numpy as np
from definitions import KINDS, ROOTED, expected, operand
from mpi4py import MPI

import collsynth as cs
from collsynth.mpi import collective


def of_library(kind, x, comm, root):
    ranks, result = comm.Get_size(), None
    if kind == "all_to_all":
        comm.Alltoall(x, result := np.empty_like(x))
    elif kind == "all_gather":
        comm.Allgather(x, result := np.empty((ranks, *x.shape), x.dtype))
    elif kind == "reduce_scatter":
        comm.Reduce_scatter_block(x, result := np.empty_like(x[0]))
    elif kind.startswith("all_reduce"):
        comm.Allreduce(x, result := np.empty_like(x))
    elif kind == "broadcast":
        comm.Bcast(result := x.copy(), root)
    elif kind == "reduce":
        comm.Reduce(x, result := np.zeros_like(x), root=root)
    elif kind == "scatter":
        comm.Scatter(x, result := np.empty_like(x[0]), root)
    elif kind == "gather":
        comm.Gather(x, result := np.zeros((ranks, *x.shape), x.dtype), root)
    return result


def main():
    comm = MPI.COMM_WORLD
    torus, root, compared = cs.Torus(4, 4).fail_cable(2, 3), 5, 0
    for kind in KINDS:
        plan = comm.bcast(
            cs.plan(torus, kind, parts=2, root=root if kind in ROOTED else None) if not comm.rank else None
        )
        run = collective(plan)
        for dtype in (np.float32, np.int64, np.complex128):
            x = operand(plan, dtype, (3, 7))[comm.rank]
            np.testing.assert_array_equal(run(x), of_library(kind, x, comm, root), f"{kind} {dtype}")
            compared += 1
        x = operand(plan, np.float16, ())
        np.testing.assert_array_equal(run(x[comm.rank]), expected(plan, x)[comm.rank], kind)
    # A dead rank: its process stands by, or there is none.
    plan = cs.plan(torus.fail_rank(7), "all_reduce")
    x = operand(plan)
    np.testing.assert_array_equal(collective(plan)(x[comm.rank]), expected(plan, x)[comm.rank])
    live = comm.Split(comm.rank == 7)
    if comm.rank != 7:
        rank = plan.topology.live_ranks[live.rank]
        np.testing.assert_array_equal(collective(plan, live)(x[rank]), expected(plan, x)[rank])
    # Groups of two sizes, beside the library's collectives on communicators of theirs; other ranks relay.
    groups = [[3, 0, 1, 2, 4], [9, 15, 12, 7, 8, 10, 13]]
    mine = next((group for group in groups if comm.rank in group), None)
    place = 0 if mine is None else mine.index(comm.rank)
    inside = comm.Split(MPI.UNDEFINED if mine is None else groups.index(mine), place)
    for kind in KINDS:
        root = 2 if kind in ROOTED else None
        plan = comm.bcast(cs.plan(torus, kind, groups=groups, parts=2, root=root) if not comm.rank else None)
        x = operand(plan, np.int64, (3,))
        result = collective(plan)(x[comm.rank])
        np.testing.assert_array_equal(result, expected(plan, x)[comm.rank], kind)
        if mine is not None:
            size = len(mine)
            own = np.ascontiguousarray(x[comm.rank, :size] if x.ndim == 3 else x[comm.rank])
            theirs = of_library(kind, own, inside, root)
            np.testing.assert_array_equal(result[:size] if result.ndim == 2 else result, theirs, kind)
        compared += 1
    if comm.rank == 0:
        print(f"{compared} compared among {comm.size}", file=sys.stderr)


if __name__ == "__main__":
    main()
