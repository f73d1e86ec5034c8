"""Random calls of eight processes, some of which disagree: the same cases for all adapters, as dice with one seed fall
alike everywhere."""

import random

import numpy as np
from definitions import KINDS, ROOTED, expected, operand

import collsynth as cs

#: Names that NumPy and PyTorch share.
TYPES = ["float32", "float64", "int8", "int32", "int64", "uint8", "float16", "complex64"]
SHAPES = [(), (1,), (0,), (5,), (3, 2), (33,), (2, 1, 7), (257,)]


def machines(ranks):
    """Machines for as many processes: with failed cables, and with a dead rank that has no process or has one."""
    shapes = {4: (2, 2), 7: (4, 2), 8: (4, 2)}
    torus = cs.Torus(*shapes[ranks])
    if ranks == 7:
        return [torus.fail_rank(2), torus.fail_rank(7).fail_cable(0, 1)]
    return [torus, torus.fail_cable(0, 1), cs.Torus(ranks), *([torus.fail_rank(5)] if ranks == 8 else [])]


def make_plans(ranks):
    """One plan for each kind and some machine, in parts that seldom divide anything."""
    found = []
    for number, kind in enumerate(KINDS * 2):
        known = machines(ranks)
        root = 1 if kind in ROOTED else None
        found.append(cs.plan(known[number % len(known)], kind, parts=1 + number % 3, root=root))
    return found


def play(member, number, calls, seed, times):
    """Makes the calls of one process among those of a group, numbered in it; `calls` are functions of arrays by plan.

    Returns how many were right and how many refused. A process that is no member only throws the dice.
    """
    dice, right, refused = random.Random(seed), 0, 0
    for _ in range(times):
        at, dtype, shape = dice.randrange(len(calls)), dice.choice(TYPES), dice.choice(SHAPES)
        odd, way = dice.randrange(calls[0].processes), dice.choice(["right"] * 6 + ["shape", "type", "plan", "bad"])
        if not member:
            continue
        call = calls[at]
        x = operand(call.plan, np.int64, shape)
        mine = x[call.rank].astype(dtype)
        if way == "right":
            wanted = expected(call.plan, x.astype(dtype))[call.rank]
            found = call(mine)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted, f"{call.plan} {dtype} {shape}")
            right += 1
            continue
        if number == odd:
            if way == "shape":
                mine = np.zeros((*mine.shape, 3), dtype)
            elif way == "type":
                mine = mine.real.astype("int16")
            elif way == "plan":
                call = call.other
            else:
                mine = None
        try:
            call(mine)
        except cs.UsageError:
            refused += 1
        else:
            raise AssertionError(f"nobody refused: {way}, {call.plan}")
    return right, refused
