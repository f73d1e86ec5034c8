"""A user's program under type checkers at their strictest, against the installed package: right and wrong."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

#: Every line is wrong, in a way that an editor should show. (Names of collectives are taken in any spelling: any text.)
WRONG = """\
import collsynth as cs
cs.plan("4x4")
cs.plan(cs.Torus(4, 4), max_steps="few")
cs.plan(cs.Torus(4, 4), planer="template")
cs.plan(cs.Torus(4, 4), parts=1.5)
cs.export(cs.plan((4, 4)), 7)
cs.plan((4, 4)).lower(barriers="globally")
cs.plan((4, 4)).step
cs.verify(cs.Torus(4, 4))
cs.Torus(4, 4).fail_cable("0,1")
cs.pareto((4, 4), format="svg")
cs.survey([(cs.Torus(4, 4), "all_gather")])
cs.plan((4, 4)).view(3)
"""


def mypy(program: Path) -> str:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("left out: mypy is not installed")
    line = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", ""]
    # JAX types little of itself.
    line += ["--untyped-calls-exclude=jax", program.name]
    return subprocess.run(line, cwd=program.parent, capture_output=True, text=True, timeout=300, check=False).stdout


def pyright(program: Path) -> str:
    # Beside this Python, or on the path; it may have to fetch itself.
    command = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")
    if command is None or subprocess.run([command, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("left out: pyright is not installed")
    # What JAX leaves untyped is unknown to a strict check.
    mode = "standard" if program.name == "typed_jax.py" else "strict"
    (program.parent / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": mode}))
    line = [command, "--pythonpath", sys.executable, program.name]
    done = subprocess.run(line, cwd=program.parent, capture_output=True, text=True, timeout=300, check=False)
    return "\n".join(re.findall(r"^.*- (?:error|warning): .*", done.stdout, re.MULTILINE))


CHECKERS = pytest.mark.parametrize("checker", [mypy, pyright])


@CHECKERS
@pytest.mark.parametrize(("name", "needs"), [("typed_program.py", "numpy"), ("typed_jax.py", "jax")])
def test_a_program_is_typed(checker, name, needs, tmp_path):
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"left out: {needs} is not installed")
    assert checker(Path(shutil.copy(TESTS / name, tmp_path))) == ""


@CHECKERS
def test_mistakes_are_found(checker, tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    found = {int(number) for number in re.findall(r"wrong\.py:(\d+)", checker(program))}
    assert found == set(range(2, len(WRONG.splitlines()) + 1))


@pytest.mark.parametrize("name", ["typed_program.py", "typed_jax.py"])
def test_it_runs(name, tmp_path):
    if name == "typed_jax.py" and importlib.util.find_spec("jax") is None:
        pytest.skip("left out: jax is not installed")
    line = [sys.executable, str(TESTS / name), str(tmp_path)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
