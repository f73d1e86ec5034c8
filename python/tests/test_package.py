"""The package: an import, the command in the wheel, the pages and notebooks of its use, its words and its types."""

import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path
from typing import get_args

import pytest

import collsynth as cs
from collsynth import _collsynth
from collsynth._errors import in_python
from collsynth._question import names

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


def ran(line):
    """Runs a program of a page as a reader does: in the folder of the project, JAX as it comes."""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def skip_without(needs):
    if needs is not None and importlib.util.find_spec(needs) is None:
        pytest.skip(f"left out: {needs} is not installed")


@pytest.mark.parametrize("page", PAGES)
def test_pages_run(page, tmp_path):
    skip_without(PAGES[page])
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    ran([sys.executable, program])


#: Runs the code cells of a notebook one after the other, in plain Python, and asks what the last line of each shows.
NOTEBOOK = """
import ast, json, sys

names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
            rich = [getattr(value, name)() for name in ("_repr_html_", "_repr_svg_") if hasattr(value, name)]
            print(cell["id"], "shows", (rich or [repr(value)])[0][:60])
"""


def test_notebooks_run():
    skip_without("jax")
    notebooks = sorted((ROOT / "examples").glob("*.ipynb"))
    assert [path.name for path in notebooks] == ["dead_link.ipynb"]
    for path in notebooks:
        notebook = json.loads(path.read_text())
        assert notebook["nbformat"] == 4
        assert not any(cell.get("outputs") for cell in notebook["cells"]), "clear the outputs: they go out of date"
        shown = ran([sys.executable, "-c", NOTEBOOK, path])
        for what in ("shows <p>4x2 torus", "shows <iframe", "shows <svg", "shows <pre>all_to_all", "shows Array("):
            assert what in shown


def listed(command):
    """The options that the help of a command lists, as Python has them: what each takes, and what is said of it."""
    text = cs.command(command, "--help")
    options = re.split(r"^ +(?:-\w, )?--(?=[a-z])", text, flags=re.MULTILINE)[1:]
    read = (re.match(r"([a-z-]+)(?: <(.*?)>)?", option).groups("") for option in options)
    return {name.replace("-", "_"): (takes, text) for (name, takes), text in zip(read, options, strict=True)}


def words(command, option):
    """The words that an option may have."""
    _, text = listed(command)[option]
    return re.findall(r"^ +- ([a-z-]+):", text, re.MULTILINE) or re.findall(r"`([a-z0-9]+)`", text)


#: The machine and the groups, which calls state otherwise; what only writes and prints; and what is not for Python.
ELSEWHERE = {
    *("torus", "topology", "names", "fail", "fail_link", "fail_rank", "fail_box"),
    *("fail_switch", "period", "wrap", "twist", "slice", "capacity"),
    *("collective", "groups", "group", "blocks", "relays", "format", "output", "quiet", "help"),
    *("job", "proof", "sweep", "paper", "plot", "to", "from", "schedule"),
}
#: The types of options by what the command takes, or by their names.
TYPES = {
    "": "bool",
    "N": "int | None",
    "N|auto": 'int | Literal["auto"] | None',
    "N,..|auto": 'int | Sequence[int] | Literal["auto"] | None',
    "SIZE": "Bytes | None",
    "SIZE,..|FROM..TO": "Bytes | Sequence[Bytes] | None",
    "TIME": "Seconds | None",
    "RATE": "Rate | None",
    "RATE|DIM=RATE,..": "Rate | Mapping[str, Rate] | None",
    "RANK": "Rank | None",
    "demand": "Demand | str | os.PathLike[str] | None",
    "planner": "Planner | str | None",
    "planners": "Sequence[Planner | str] | str | None",
    "baseline": "Planner | str | None",
    "minimize": "Minimize | None",
    "smt_backend": "SmtBackend | None",
    "form": "Form | None",
}
#: What takes the options of a command, and their class.
CALLS = {
    "plan": ("plan", "PlanOptions"),
    "bound": ("bounds", "BoundOptions"),
    "pareto": ("pareto", "ParetoOptions"),
    "compare": ("compare", "CompareOptions"),
    "polish": ("polish", "PolishOptions"),
}


def class_of_options(command):
    """The class of the options of a command, written as its help has them."""
    call, name = CALLS[command]
    lines = [f"class {name}(TypedDict, total=False):", f'    """The options of `{call}`."""', ""]
    options = {name: takes for name, (takes, _) in listed(command).items() if name not in ELSEWHERE}
    # The threads that Python calls it on.
    options.setdefault("threads", "N")
    lines += [f"    {name}: {TYPES.get(name) or TYPES[takes]}" for name, takes in options.items()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("command", CALLS)
def test_options_are_those_that_the_command_lists(command):
    """`SYNTH_UPDATE_STUBS=1` writes them."""
    path = ROOT / "python/src/collsynth/_question/names.py"
    call, name = CALLS[command]
    meant, text = class_of_options(command), path.read_text()
    there = re.search(rf"^class {name}\(.*?\n(?=\n\n)", text, re.MULTILINE | re.DOTALL)[0]
    if os.environ.get("SYNTH_UPDATE_STUBS"):
        path.write_text(text.replace(there, meant))
    else:
        assert there == meant
    # What `help` shows.
    shown = inspect.signature(getattr(cs, call)).parameters
    assert set(getattr(names, name).__annotations__) <= set(shown)
    assert {shown[one].default for one in getattr(names, name).__annotations__} <= {None, False}
    assert shown["relays"].default if "relays" in shown else call == "polish"
    assert inspect.signature(cs.survey).parameters["relays"].default


def test_options_of_conversions_are_those_that_the_command_lists():
    ours = {*names.ExportOptions.__annotations__, *names.ImportOptions.__annotations__}
    assert ours == (set(listed("convert")) - ELSEWHERE) | {"collective", "output", "threads"}


def test_words_are_those_of_the_compiled_module():
    assert get_args(names.Planner) == ("auto", *cs.planners())
    with pytest.raises(cs.UsageError) as raised:
        _collsynth.collective_name("everything")
    assert get_args(names.Kind) == tuple(raised.value.message.partition("there are ")[2].split(", "))
    for literal, command, option in (
        (names.ExportFormat, "convert", "to"),
        (names.ImportFormat, "convert", "from"),
        (names.Barriers, "lower", "barriers"),
        (names.Form, "plan", "form"),
        (names.Plotted, "compare", "plot"),
        (names.Minimize, "plan", "minimize"),
        (names.SmtBackend, "plan", "smt_backend"),
    ):
        assert get_args(literal) == tuple(words(command, option)), option


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("--fail-rank 0 takes", ".fail_rank(0) takes"),
        ("--fail-rank 0,12 takes", ".fail_rank([0, 12]) takes"),
        ("out of the collective with --fail-rank", "out of the collective with .fail_rank"),
        ("--fail 2,3", ".fail_cable(2, 3)"),
        ("allow more time with --time-limit", "allow more time with time_limit"),
        ("try --parts auto", 'try parts="auto"'),
        ("`synth verify` says more", "`cs.verify` says more"),
        ("`synth bound` says why", "`cs.bounds` says why"),
        ("`synth explain D004` says more", '`cs.command("explain", "D004")` says more'),
        ("`synth convert --to csv` writes", '`cs.export(plan, "csv")` writes'),
        ("`synth convert --to goal` writes", '`cs.command("convert", "--to", "goal")` writes'),
        ("`synth convert --from msccl FILE` judges it", '`cs.import_(FILE, "msccl")` judges it'),
        ("invalid value 'x' for '--to <TO>'\n\nFor more information, try '--help'.", "invalid value 'x' for to"),
        ("rank 3 -- and a dash-ed word", "rank 3 -- and a dash-ed word"),
    ],
)
def test_messages_are_in_the_words_of_python(command, python):
    assert in_python(command) == python


def test_the_command_keeps_its_words():
    with pytest.raises(cs.Impossible) as raised:
        cs.command("plan", "--torus", "4", "--wrap", "no", "--fail", "1,2")
    assert raised.value.hint.startswith("--fail-rank 2,3 takes")


def test_modules_that_run_plans_come_when_they_are_named():
    program = "import sys, collsynth as cs; cs.jax; print('collsynth.jax' in sys.modules)"
    skip_without("jax")
    assert ran([sys.executable, "-c", program]) == "True\n"
    with pytest.raises(AttributeError, match="has no attribute 'jacks'"):
        cs.jacks  # noqa: B018


#: Programs of a user, typed as their authors would.
PROGRAMS = Path(__file__).parent / "programs"

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
    assert checker(Path(shutil.copy(PROGRAMS / name, tmp_path))) == ""


@CHECKERS
def test_mistakes_are_found(checker, tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    found = {int(number) for number in re.findall(r"wrong\.py:(\d+)", checker(program))}
    assert found == set(range(2, len(WRONG.splitlines()) + 1))


@pytest.mark.parametrize("name", ["typed_program.py", "typed_jax.py"])
def test_a_typed_program_runs(name, tmp_path):
    if name == "typed_jax.py" and importlib.util.find_spec("jax") is None:
        pytest.skip("left out: jax is not installed")
    line = [sys.executable, str(PROGRAMS / name), str(tmp_path)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
