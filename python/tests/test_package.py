"""The package: what an import costs in modules, and the pages that show how to use it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("SYNTH_ROOT", Path(__file__).parents[2]))


def test_an_import_loads_neither_numpy_nor_an_adapter():
    program = (
        "import sys, collsynth; print([name for name in ('numpy', 'jax', 'torch', 'mpi4py') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


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
