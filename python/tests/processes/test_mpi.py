"""Plans over MPI: 16 ranks, beside the library's own collectives; and a survey over the processes of a job."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="left out: there is no mpirun"),
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="left out: mpi4py is not installed"),
]


def mpirun(ranks, *words):
    line = ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, *words]
    done = subprocess.run(line, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_every_kind_equals_the_library():
    assert "36 compared among 16" in mpirun(16, "mpi_ranks.py").stderr


def test_a_killed_process():
    """Every other one raises in time, and no number is wrong."""
    for seed in range(100 if os.environ.get("SYNTH_FULL") else 3):
        line = ["mpirun", "--enable-recovery", "--oversubscribe", "-n", "4", sys.executable, "mpi_killed.py", str(seed)]
        done = subprocess.run(line, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=120, check=False)
        # Lines of several processes may run together.
        assert "".join(done.stdout.split()) == "raised" * 3, (seed, done.stdout, done.stderr)


def test_a_survey_over_the_processes_of_a_job():
    assert mpirun(3, "-m", "mpi4py.futures", "mpi_survey.py").stdout == "6 planned\n"
