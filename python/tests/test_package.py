"""The package: what an import costs in modules, and the pages that show how to use it."""

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


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md", "README.md"])
def test_pages_run(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    if page == "README.md" and not blocks:
        pytest.skip("the page has no Python")
    assert blocks
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
