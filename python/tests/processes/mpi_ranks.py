"""Run by `test_mpi.py` on every rank: the collectives of plans beside those of the MPI library."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import random_calls
from definitions import KINDS, ROOTED, expected, operand
from mpi4py import MPI

import collsynth as cs
from collsynth.mpi import collective


def refused(call, words):
    """The call is refused with these words."""
    found = None
    try:
        call()
    except cs.UsageError as error:
        found = str(error)
    assert words in (found or "nothing was refused"), found


def shared(comm, *arguments, **named):
    """A plan that rank 0 makes."""
    return comm.bcast(cs.plan(*arguments, **named) if not comm.rank else None)


def arrays_of_every_sort(comm):
    """Types, shapes, views, and what is refused at every process."""
    torus = cs.Torus(4, 4).fail_cable(2, 3)
    add, gather = (collective(shared(comm, torus, kind, parts=3)) for kind in ("all_reduce", "all_gather"))
    ranks = comm.size
    for dtype in ("bool", "i1", "u2", ">f4", ">i8", "f2", "c8", "M8[s]", "S3", [("a", "i2"), ("b", "f8")]):
        x = np.arange(7).astype(dtype) if not isinstance(dtype, list) else np.zeros(7, dtype)
        y = gather(x)
        assert y.dtype == x.dtype
        assert y.flags.c_contiguous
        assert (y == x).all()
    late = collective(shared(comm, cs.Torus(comm.size).fail_rank(1), "all_gather"))
    for dtype, zero in (("S3", b""), ("U2", ""), ("V3", np.zeros((), "V3"))):
        x = np.full(2, b"abc", "S3").view("V3") if dtype == "V3" else np.full(2, "1", dtype)
        found = late(x)
        assert comm.rank == 1 or (found[1] == zero).all()
        assert comm.rank == 1 or (found[0] == x).all()
    gathered = collective(shared(comm, cs.Torus(comm.size), "all_reduce_gathered"))
    for dtype in (">i4", ">f8", "m8[s]"):
        assert (gathered(np.arange(7).astype(dtype)) == ranks * np.arange(7).astype(dtype)).all()
    for dtype in (">f4", "c8", "u2", "m8[s]"):
        x = np.arange(7).astype(dtype)
        assert (add(x) == ranks * x).all()
        assert add(x).dtype == x.dtype
    for shape in ((), (0,), (1,), (2,), (5, 3)):
        assert (add(np.ones(shape)) == np.full(shape, ranks)).all()
    strided = np.arange(24.0).reshape(4, 6)[::2, ::-3]
    assert (add(strided) == ranks * strided).all()
    assert (add(np.asfortranarray(strided)) == ranks * strided).all()
    assert (add([1.0, 2.0]) == [ranks, 2.0 * ranks]).all()
    out = np.empty(3)
    assert add(np.ones(3), out=out) is out
    assert (out == ranks).all()
    with np.errstate(all="raise"):
        gather(np.full(3, 6e4, np.float16))
    refused(lambda: add(np.ma.masked_array([1, 2])), "no masks")
    refused(lambda: add(np.array([None])), "Python objects")
    refused(lambda: add(np.zeros(3, "M8[s]")), "no addition")
    refused(lambda: add(np.array(["ab", "c"])), "no addition")
    refused(lambda: gathered(np.array([b"ab"])), "no addition")
    refused(lambda: add(np.ones(3), MPI.MAX), "op is MPI.SUM")
    refused(lambda: add(np.ones(3), out=np.ones(4)), "out is a contiguous array")
    assert "all_reduce on a" in repr(add)
    with collective(add.plan) as freed:
        assert freed(1) == ranks
    refused(lambda: freed(1), "it was freed")


def processes_that_disagree(comm):
    """Every process hears of it, and the next call is right."""
    torus, odd = cs.Torus(4, 4), comm.rank == 3
    add, again, other = (
        shared(comm, torus, kind, parts=parts)
        for kind, parts in (("all_reduce", 2), ("all_reduce", 3), ("reduce_scatter", 1))
    )
    run = collective(add)
    for x in (np.ones(3 if odd else 5), np.ones(5, np.int64 if odd else float), [1, 2] if odd else [1.0, 2.0]):
        refused(lambda x=x: run(x), "do not make the same call: process 3 calls")
        assert run(1) == comm.size
    for plan in (again, other):
        mixed = collective(plan if odd else add)
        refused(lambda mixed=mixed: mixed(np.ones(16)), "process 3 calls")
    rows = collective(other)
    refused(lambda: rows(np.ones(3 if odd else 16)), "takes (16, ...)" if odd else "process 3 refused this call")
    assert rows(np.ones(16)) == comm.size


class Adapted:
    """A collective, and another of the same communicator whose plan differs."""

    def __init__(self, plan, comm):
        self.plan, self.processes, self.run = plan, comm.size, collective(plan, comm)
        self.rank, self.other = self.run.rank, None

    def __call__(self, x):
        return self.run([object()] if x is None else x)


def random_calls_of_all(comm):
    """On eight processes in any order, on two fours at once, and on seven."""
    times = 700 if os.environ.get("SYNTH_FULL") else 10
    halves = comm.Split(comm.rank // 8, -comm.rank)
    for seed, size in enumerate((8, 4, 7)):
        inside = halves if size == 8 else halves.Split(halves.rank // size, halves.rank * 3 % 8)
        if inside.size == size:
            plans = shared_plans(inside, size)
            calls = [Adapted(plan, inside) for plan in plans]
            for at, call in enumerate(calls):
                # Of another plan: its communicator is another, and so only its call is made on the same one.
                call.other = Disagreeing(calls[(at + 1) % len(calls)], call)
            right, refused = random_calls.play(True, inside.rank, calls, seed, times)
            assert right + refused == times


class Disagreeing:
    """A call with another plan on the communicator of this one."""

    def __init__(self, other, call):
        self.plan, self.run, self.call = other.plan, other.run, call

    def __call__(self, x):
        own, self.run.comm = self.run.comm, self.call.run.comm
        try:
            return self.run(x)
        finally:
            self.run.comm = own


def shared_plans(inside, size):
    return inside.bcast(random_calls.make_plans(size) if inside.rank == 0 else None)


def messages_of_others(comm):
    """Pending messages of the user's, with the tags that plans have, are not touched; nor are other threads' calls."""
    plan, peer = shared(comm, cs.Torus(4, 4), "all_reduce", parts=3), comm.rank ^ 1
    run = collective(plan)
    for tag in (0, 1):
        kept = np.zeros(3)
        pending = [comm.Irecv(kept, peer, tag), comm.Isend(np.full(3, 1000.0 + comm.rank), peer, tag)]
        assert (run(np.ones(3)) == comm.size).all()
        MPI.Request.Waitall(pending)
        assert (kept == 1000 + peer).all()
    if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
        runs = [collective(plan) for _ in range(2)]

        def often(number):
            return all((runs[number](np.full(5, number + 1.0)) == comm.size * (number + 1)).all() for _ in range(10))

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(often, range(2))) == [True, True]


def orders_of_processes(comm):
    """Reversed, permuted, two halves at once, all but one."""

    def check(inside, torus):
        for kind in ("all_reduce", "all_to_all", "gather"):
            plan = shared(inside, torus, kind, parts=2, root=1 if kind == "gather" else None)
            with collective(plan, inside) as run:
                x = operand(plan, np.int32)
                np.testing.assert_array_equal(run(x[run.rank]), expected(plan, x)[run.rank])

    check(comm.Split(0, -comm.rank), cs.Torus(4, 4))
    check(comm.Split(0, comm.rank * 7 % 16), cs.Torus(4, 4).fail_cable(0, 1))
    check(comm.Split(comm.rank % 2, comm.rank), cs.Torus(4, 2).fail_cable(0, 1))
    part = comm.Split(0 if comm.rank < 7 else MPI.UNDEFINED)
    if part != MPI.COMM_NULL:
        check(part, cs.Torus(4, 2).fail_rank(2))


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
    random_calls_of_all(comm)
    arrays_of_every_sort(comm)
    processes_that_disagree(comm)
    messages_of_others(comm)
    orders_of_processes(comm)
    if comm.rank == 0:
        print(f"{compared} compared among {comm.size}", file=sys.stderr)


if __name__ == "__main__":
    main()
