"""When a process dies, every other one raises in time, and no number is wrong."""

import os
import queue
import tempfile

import pytest

torch = pytest.importorskip("torch", reason="left out: PyTorch is not installed")
import torch.multiprocessing as mp  # noqa: E402
import torch_killed  # noqa: E402

import collsynth as cs  # noqa: E402

RANKS = 4
TIMES = 100 if os.environ.get("SYNTH_FULL") else 6


def test_a_killed_process():
    torus = cs.Torus(2, 2).fail_cable(0, 1)
    plans = [cs.plan(torus, kind, parts=2) for kind in ("all_reduce", "all_to_all")]
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["torch_killed"])
    for seed in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            outcomes = context.Queue()
            processes = [
                context.Process(
                    target=torch_killed.process,
                    args=(number, RANKS, f"file://{folder}/store", plans, seed, outcomes),
                    daemon=True,
                )
                for number in range(RANKS)
            ]
            for one in processes:
                one.start()
            found = []
            try:
                while len(found) < RANKS - 1:
                    found.append(outcomes.get(timeout=torch_killed.LIMIT + 60))
            except queue.Empty:
                pass
            for one in processes:
                one.join(20)
            codes = sorted(one.exitcode for one in processes if one.exitcode is not None)
            for one in processes:
                one.kill()
            assert [text for _, text, _ in found] == ["raised"] * (RANKS - 1), (seed, found, codes)
            assert max(took for *_, took in found) < torch_killed.LIMIT + 10, (seed, found)
            # Nobody was aborted.
            assert codes == [-9] + [0] * (RANKS - 1), (seed, codes)
