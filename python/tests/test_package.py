"""The package: what an import costs in modules, the command in the wheel, and the pages that show how to use it."""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import collsynth as cs

ROOT = Path(os.environ.get("SYNTH_ROOT", Path(__file__).parents[2]))


def test_an_import_loads_neither_numpy_nor_an_adapter():
    program = (
        "import sys, collsynth; print([name for name in ('numpy', 'jax', 'torch', 'mpi4py') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_wheel_installs_the_command(tmp_path):
    # Not the first `synth` of the path, which could be another one.
    command = Path(sysconfig.get_path("scripts")) / "synth"
    assert "collsynth" in {script.dist.name for script in entry_points(name="synth") if script.dist is not None}
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"synth {cs.__version__}\n"
    plan = tmp_path / "plan.json"
    subprocess.run([command, "--torus", "3x2", "-q", "-o", plan], check=True)
    assert cs.load(plan).steps == 2
    assert subprocess.run([command, "verify", plan], capture_output=True, check=False).returncode == 0


PAGES = {
    "README.md": None,
    "python/README.md": None,
    "docs/use/python.md": None,
    "docs/use/python-jax.md": "jax",
    "docs/use/python-ddp.md": "torch",
}


@pytest.mark.parametrize("page", PAGES)
def test_pages_run(page, tmp_path):
    needs = PAGES[page]
    if needs is not None and importlib.util.find_spec(needs) is None:
        pytest.skip(f"left out: {needs} is not installed")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    line = [sys.executable, program]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
