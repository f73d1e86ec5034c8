"""Plans: the same as the command's, exact figures, interruption, and what is refused."""

import json
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import numpy as np
import pytest

import collsynth as cs

DEAD = cs.Torus(4, 4).fail_cable(2, 3)
KINDS = ["all_to_all", "all_gather", "reduce_scatter", "all_reduce", "barrier", "all_reduce_gathered"]
ROOTED = ["broadcast", "reduce", "scatter", "gather"]


def of_command(plan: cs.Plan) -> str:
    """What the command that a plan names writes."""
    words = plan.origin["command"].split()
    return subprocess.run([*words, "-q"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", KINDS + ROOTED)
def test_the_same_bytes_as_the_command(kind):
    plan = cs.plan(DEAD, kind, root=5 if kind in ROOTED else None, seed=3)
    assert plan.to_json() == of_command(plan)


@pytest.mark.parametrize(
    "options",
    [
        {"parts": "auto"},
        {"parts": 3, "max_steps": 6, "planner": "negotiated"},
        {"message_bytes": "64KiB", "alpha": "1us", "bandwidth": "50GB/s"},
        {"message_bytes": 1 << 20, "alpha": 2e-6, "bandwidth": 12.5e9, "parts": 2},
        {"planner": "smt", "minimize": "steps", "threads": 1, "time_limit": "1min"},
    ],
    ids=str,
)
def test_options_are_those_of_the_command(options):
    small = cs.Torus(3, 3).fail_link(0, 1).fail_rank(8)
    plan = cs.plan(small, **options)
    assert plan.to_json() == of_command(plan)


def test_figures_are_exact():
    plan = cs.plan(cs.Torus(4, 4, 4).fail_cable(2, 3), parts="auto")
    assert (plan.steps, plan.steps_bound, plan.parts) == (6, 6, 31)
    assert plan.volume == plan.bound == Fraction(1024, 31)
    assert plan.gap == 0
    whole = cs.plan(cs.Torus(4, 4, 4).fail_cable(2, 3))
    assert (whole.volume, whole.gap) == (34, Fraction(34 * 31, 1024) - 1)
    assert sum(whole.widths) == 34
    assert "34" in repr(whole)
    assert "<svg" in whole._repr_html_()


def test_moves_are_those_of_the_file():
    plan = cs.plan(DEAD, "all_reduce", parts=2)
    moves = []
    for number, step in enumerate(plan.to_dict()["steps"], start=1):
        for transfer in step["transfers"]:
            op = {"copy": cs.COPY, "reduce": cs.REDUCE}[transfer.get("op", "copy")]
            moves += [(number, transfer["from"], transfer["to"], chunk, op) for chunk in transfer["chunks"]]
    assert plan.moves.dtype.names == ("step", "from", "to", "chunk", "op")
    assert plan.moves.tolist() == moves
    assert {cs.COPY, cs.REDUCE} == set(np.unique(plan.moves["op"]))


def test_threads_and_seeds_change_no_byte():
    one = cs.plan(DEAD, threads=1)
    assert one == cs.plan(DEAD, threads=2)
    assert hash(one) == hash(cs.plan(DEAD))


def test_files(tmp_path):
    plan = cs.plan(DEAD)
    for name in ("plain.json", "packed.json.gz"):
        plan.save(tmp_path / name)
        assert cs.load(tmp_path / name) == plan
    assert cs.load(plan.to_dict()) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan
    with pytest.raises(cs.UsageError, match=r"\.json is written here, not \.csv"):
        plan.save(tmp_path / "plan.csv")


@pytest.mark.parametrize("options", [{}, {"barriers": "neighbor"}, {"barriers": "global", "slots": 9}])
def test_lowering_is_the_command_s(tmp_path, options):
    plan = cs.plan(DEAD)
    plan.save(tmp_path / "plan.json")
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    program = plan.lower(**options)
    assert program.to_json() == cs.command("lower", tmp_path / "plan.json", "-q", *words)
    assert cs.verify(program).holds
    assert program.figures["ranks"] == 16


@pytest.mark.parametrize("spelling", ["AllReduce", "all-reduce", "ALLREDUCE"])
def test_collectives_are_taken_in_any_spelling(spelling):
    plan = cs.plan(DEAD, spelling)
    assert plan == cs.plan(DEAD, "all_reduce")
    assert plan.collective == "all_reduce"


@pytest.mark.parametrize(
    ("word", "meant"), [("psum", "did you mean all_reduce?"), ("everything", "there are all_to_all")]
)
def test_other_collectives_are_refused(word, meant):
    with pytest.raises(cs.UsageError, match=re.escape(meant)):
        cs.plan(DEAD, word)


def test_live_ranks_without_gaps():
    plan, was = cs.plan(cs.Torus(4, 4).fail_rank(3)).renumbered()
    assert was == [rank for rank in range(16) if rank != 3]
    assert plan.topology.ranks == 15
    assert cs.verify(plan).holds


def test_demands():
    demand = np.arange(16).reshape(4, 4) % 3
    plan = cs.plan(cs.Torus(4), "all_to_allv", demand=demand)
    assert np.array_equal(plan.demand, demand)
    assert plan.collective == "all_to_allv"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"collective": "all_to_some"}, cs.UsageError, "no collective is called `all_to_some`; there are all_to_all"),
        ({"planner": "magic"}, cs.UsageError, "no planner is called `magic`"),
        ({"planner": "ring", "collective": "barrier"}, cs.UsageError, "does not apply"),
        ({"root": 3}, cs.UsageError, "has no root"),
        ({"collective": "all_to_allv"}, cs.UsageError, "needs a demand"),
        ({"collective": "all_to_allv", "demand": [[1]]}, cs.UsageError, "16 ranks"),
        ({"collective": "all_to_allv", "demand": [[1, 2]]}, cs.UsageError, "square"),
        ({"collective": "all_to_allv", "demand": [[2**30] * 16] * 16}, cs.UsageError, "more than 4294967295 chunks"),
        ({"demand": np.ones((16, 16), int)}, cs.UsageError, "no demand matrix"),
        ({"parts": 0}, cs.UsageError, "'0' for parts: write a number, 1 or more, or `auto`"),
        ({"parts": "some"}, cs.UsageError, "'some' for parts: write a number, 1 or more, or `auto`"),
        ({"parts": 2**31}, cs.UsageError, "chunks to deliver"),
        ({"steps": 3, "max_steps": 3}, cs.UsageError, "exclude"),
        ({"alpha": 1e-6}, cs.UsageError, "alpha goes with message_bytes"),
        ({"message_bytes": "64kib", "alpha": 0, "bandwidth": 1}, cs.UsageError, "did you mean 64KiB"),
        ({"time_limit": -1}, cs.UsageError, "not negative"),
        ({"width": 7}, cs.UsageError, "for planner smt"),
        ({"collective": "barrier", "parts": 5}, cs.UsageError, "barrier is not cut in parts"),
        (
            {"collective": "barrier", "message_bytes": 8, "alpha": 0, "bandwidth": 1},
            cs.UsageError,
            "barrier has no bytes",
        ),
        (
            {"steps": 9, "planner": "smt", "minimize": "volume"},
            cs.UsageError,
            "steps and minimize exclude each other",
        ),
        ({"threads": 0}, cs.UsageError, "between 1 and"),
        ({"threads": 1_000_000}, cs.UsageError, "between 1 and 65535"),
        ({"max_steps": 65536}, cs.UsageError, r"'65536' for max_steps: 65536 is not in 1\.\.=65535"),
        ({"seed": -1}, cs.UsageError, "seed"),
        ({"progress": 3}, cs.UsageError, "progress is a function, not 3"),
        ({"collective": 3}, cs.UsageError, "collective is a name, such as 'all_reduce', not 3"),
        ({"planner": "Negotiate"}, cs.UsageError, "no planner is called `Negotiate`; did you mean negotiated"),
        ({"planner": 3}, cs.UsageError, "planner is a word, such as .*, not 3"),
        ({"planner": ["ring"]}, cs.UsageError, "planner is a word, such as .*, not .'ring'."),
        (
            {"planner": "smt", "minimize": "steeps"},
            cs.UsageError,
            "no objective is called `steeps`; did you mean steps",
        ),
        ({"planner": "smt", "smt_backend": 3}, cs.UsageError, "smt_backend is a word, not 3"),
        ({"planner": "smt", "smt_backend": "c3"}, cs.UsageError, "no backend is called `c3`; there are cadical, z3"),
        ({"seed": "x"}, cs.UsageError, "'x' for seed: write a whole number"),
        ({"seed": 0.5}, cs.UsageError, "seed is a whole number, not 0.5"),
        ({"steps": [3]}, cs.UsageError, r"steps is a whole number, not \[3\]"),
        ({"steps": True}, cs.UsageError, "steps is a whole number, not True"),
        ({"steps": False}, cs.UsageError, "steps is a whole number, not False"),
        ({"seed": False}, cs.UsageError, "seed is a whole number, not False"),
        ({"planner": False}, cs.UsageError, "planner is a word"),
        ({"threads": True}, cs.UsageError, "threads is a whole number, not True"),
        ({"message_bytes": 1000.7}, cs.UsageError, "message_bytes is a whole number of bytes, not 1000.7"),
        ({"form": "compat"}, cs.UsageError, "'compat' for form"),
        ({"time_limit": [1]}, cs.UsageError, "time_limit is a number, or text such as '30s'"),
        ({"time_limit": "soon"}, cs.UsageError, "'soon' for time_limit"),
        ({"demand": 3}, cs.UsageError, "demand is a matrix"),
        ({"collective": "broadcast", "root": [1, 0]}, cs.UsageError, "a tuple of coordinates"),
        ({"collective": "broadcast", "root": 16}, cs.UsageError, "out of range"),
        ({"planner": "ring", "collective": "all_reduce"}, cs.UsageError, "hint: leave planner out: `auto` chooses"),
        ({"steps": 3}, cs.Impossible, "impossible"),
    ],
    ids=str,
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message) as raised:
        cs.plan(DEAD, **options)
    assert raised.value.exit_code == (3 if error is cs.Impossible else 2)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_network_in_two():
    cut = cs.Topology.mesh(4).fail_cable(1, 2)
    with pytest.raises(cs.Impossible, match="not connected") as raised:
        cs.plan(cut)
    assert raised.value.hint.startswith(".fail_rank([2, 3]) takes")
    kept = cut.fail_rank([2, 3])
    assert cs.plan(kept).topology.live_ranks == [0, 1]


def test_progress_and_other_threads_run():
    seen, ticks, done = [], [], threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        hard = cs.Torus(4, 4).fail_cable(0, 1)
        plan = cs.plan(hard, planner="smt", time_limit=2, parts=3, progress=lambda *report: seen.append(report))
        assert plan.stopped == "time limit"
    except cs.Stopped:
        pass
    finally:
        done.set()
        ticking.join()
    assert seen
    assert all(len(report) == 4 for report in seen)
    assert len(ticks) > 20


def test_errors_of_the_callback_are_raised():
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cs.plan(cs.Torus(4, 4).fail_cable(0, 1), planner="smt", parts=3, time_limit=60, progress=fail)


def test_ctrl_c_interrupts_planning():
    program = "import collsynth as cs; print('go', flush=True); cs.plan(cs.Torus(5, 5), planner='smt', parts=3)"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "go\n"
    time.sleep(1)
    os.kill(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert child.returncode not in (0, None)


def test_verdicts_and_plans_are_json():
    plan = cs.plan(DEAD)
    assert json.loads(plan.to_json()) == plan.to_dict()
    assert plan.figures["verified"] is True


def test_a_tuple_is_a_torus():
    assert cs.plan((4, 4), "all_gather") == cs.plan([4, 4], "all_gather") == cs.plan(cs.Torus(4, 4), "all_gather")
    for other in ("4x4", 16, None, (), {4}):
        with pytest.raises(cs.UsageError, match="topology is a machine, such as"):
            cs.plan(other)
    with pytest.raises(cs.UsageError, match="an extent is a whole number, not 'x'"):
        cs.plan((4, "x"))


def test_planners_are_taken_in_any_spelling():
    assert cs.plan(DEAD, planner="NEGOTIATED") == cs.plan(DEAD, planner="negotiated")
    assert cs.plan(cs.Torus(4, 4), planner="DimRotation").planner == "dim_rotation"


def test_who_planned_it_and_what_it_takes(tmp_path):
    plan = cs.plan(DEAD, "all_reduce", message_bytes="1MiB", alpha="1us", bandwidth="50GB/s")
    assert plan.planner == plan.origin["planner"] == plan.figures["planner"]
    assert plan.time == pytest.approx(plan.steps * 1e-6 + float(plan.volume) * 2**20 / 50e9)
    plan.save(tmp_path / "plan.json")
    read = cs.load(tmp_path / "plan.json")
    assert (read.planner, read.time) == (plan.planner, None)
    foreign = plan.to_dict()
    del foreign["origin"]
    assert cs.load(foreign).planner is None


def test_plans_and_programs_are_drawn(tmp_path):
    plan = cs.plan(DEAD, "all_gather")
    for drawn in (plan, plan.lower()):
        page = drawn.view(tmp_path / "page.html")
        assert page.html == (tmp_path / "page.html").read_text() == cs.command("view", "-", text=drawn.to_json())
        assert "all_gather" in repr(page)
        shown = page._repr_html_()
        assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
        # An attribute: nothing in it ends it.
        assert shown.count('"') == 4
        # On a machine with one more failure: what breaks, and the command that plans anew.
        broken = drawn.view(tmp_path / "broken.html", topology=DEAD.fail_cable(4, 5))
        assert '"verdict":"refuted"' in broken.html
        anew = "synth --torus 4x4 --fail 2,3,x --fail 4,5,x --collective all_gather"
        assert f'"elsewhere":{{"anew":"{anew}","machine":"4x4 torus with 2 failed cables"}}' in broken.html
        assert drawn.view(topology=DEAD).html.count('"verdict":"holds"') == 1
    with pytest.raises(cs.UsageError, match=r"path is 'page.pdf': \.html is written here"):
        plan.view("page.pdf")
    with pytest.raises(cs.UsageError, match="cannot write"):
        plan.view(tmp_path / "nowhere" / "page.html")
    with pytest.raises(cs.UsageError, match="path is where to write it, not 3"):
        plan.view(3)
    with pytest.raises(cs.UsageError, match=r"^it is for 16 ranks, and the machine has 4"):
        plan.view(topology=(2, 2))
    # A tuple is a torus.
    assert '"verdict":"holds"' in cs.plan((2, 2)).view(topology=(2, 2)).html


#: Presses everything in the frame, and writes down what fails.
PRESSED = """<!DOCTYPE html><body>FRAME<pre></pre><script>
addEventListener("load", () => setTimeout(() => {
  const { contentWindow: within, contentDocument: page } = document.querySelector("iframe");
  const failed = [], before = page.body.innerText, buttons = page.querySelectorAll("button");
  within.addEventListener("error", (event) => failed.push(event.message));
  for (const button of buttons) button.click();
  const changed = page.body.innerText !== before ? "changed" : "as before";
  document.querySelector("pre").textContent = [buttons.length > 9 ? "many" : "few", changed, ...failed].join(" ");
}, 1000));
</script>"""


def test_a_page_works_in_the_frame_of_a_notebook(tmp_path):
    browser = os.environ.get("CHROMIUM", "chromium")
    if shutil.which(browser) is None:
        pytest.skip("left out: there is no Chromium")
    frame = tmp_path / "frame.html"
    frame.write_text(PRESSED.replace("FRAME", cs.plan(DEAD).view()._repr_html_()))
    line = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    line += ["--virtual-time-budget=8000", "--dump-dom", frame.as_uri()]
    shown = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.findall(r"<pre>(.*?)</pre>", shown, re.DOTALL)[-1] == "many changed"


@pytest.mark.parametrize("read", [cs.load, cs.verify, cs.Topology.load, lambda path: cs.import_(path, "sccl")])
def test_a_file_that_is_not_there(read, tmp_path):
    for path in (tmp_path / "nowhere.json", str(tmp_path / "nowhere.json")):
        with pytest.raises(cs.NoSuchFile, match=r"cannot read .*nowhere\.json: No such file") as raised:
            read(path)
        assert isinstance(raised.value, cs.UsageError)
        assert isinstance(raised.value, FileNotFoundError)
        assert (raised.value.filename, raised.value.errno, raised.value.exit_code) == (str(path), 2, 2)
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    with pytest.raises(cs.FileError, match="directory") as raised:
        read(tmp_path)
    assert isinstance(raised.value, OSError)
    assert not isinstance(raised.value, FileNotFoundError)


def test_a_folder_that_is_not_there(tmp_path):
    plan, job = cs.plan((2, 2)), cs.plan_job((2, 2), [{"collective": "barrier"}])
    for write, name in ((plan.save, "p.json"), (job.save, "j.json.gz"), (plan.view, "p.html")):
        with pytest.raises(cs.NoSuchFile, match=r"cannot write .*nowhere.*: No such file") as raised:
            write(tmp_path / "nowhere" / name)
        assert isinstance(raised.value, FileNotFoundError)
        assert raised.value.filename == str(tmp_path / "nowhere" / name)
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize("read", [cs.load, cs.load_job, cs.verify])
def test_a_text_is_no_path(read):
    with pytest.raises(cs.UsageError, match=r"by its path, not by its text\nhint: json.loads\(text\) is") as raised:
        read(cs.plan((2, 2)).to_json())
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("read", [cs.load, cs.verify])
def test_what_is_no_file(read):
    for other in (3, None, [1]):
        with pytest.raises(cs.UsageError, match="a file is a path, its bytes or its object, not"):
            read(other)


def test_every_object_says_what_it_is(tmp_path):
    plan = cs.plan(DEAD, "all_gather")
    wrong = plan.to_dict()
    del wrong["steps"][0]["transfers"][0]
    outcome = next(cs.survey([(2, 2)]))
    said = {
        "all_gather on a 4x4 torus with 1 failed cable": plan,
        "all_gather among 16 ranks": plan.lower(),
        "barriers global": plan.lower(barriers="global"),
        "plan holds": cs.verify(plan),
        "object is refuted, D001 2x": cs.verify(wrong),
        "4x4 torus with 1 failed cable": DEAD,
        "graph of 2 ranks": cs.Topology.graph(2, [(0, 1), (1, 0)]),
        "Blocks(2, 2)": cs.Blocks(2, 2),
        "Job(topology=<Torus: 2x2": outcome.job,
        "plan=<Plan: all_to_all": outcome,
        "'points': [": cs.pareto((2, 2), parts=[1]),
        "SVG": cs.pareto((2, 2), parts=[1]).plot(),
    }
    for words, thing in said.items():
        assert words in repr(thing)
        assert " object at 0x" not in repr(thing)
        assert len(repr(thing)) < 4000


def test_sizes_may_be_large():
    for size in (2**32, 2.0**32, np.int64(2**32)):
        assert cs.plan((2, 2), message_bytes=size) == cs.plan((2, 2), message_bytes="4GiB")


def test_the_command_of_a_plan_writes_its_file(tmp_path):
    path = tmp_path / "my machine.json"
    path.write_text(DEAD.to_json())
    plan = cs.plan(cs.Topology.load(path), "all_gather")
    assert cs.command(*shlex.split(plan.origin["command"])[1:], "-q") == plan.to_json()


def test_a_pickle_keeps_what_planning_told():
    plan = cs.plan(cs.Torus(4, 4).fail_cable(0, 1), "all_gather", planner="smt", message_bytes="1MiB", time_limit=60)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(plan))))
    assert (again, again.stopped, again.time, again.planner) == (plan, plan.stopped, plan.time, "smt")
    assert (again.figures, str(again)) == (plan.figures, str(plan))
    assert again.time is not None
    assert again.compact().time == plan.time


@pytest.mark.parametrize(("ring", "groups", "parts"), [(6, [[1, 2, 3]], 2), (8, [[0, 1]], 3), (8, [[0, 1]], 4)])
def test_sums_in_small_groups_of_a_ring(ring, groups, parts):
    assert cs.verify(cs.plan((ring,), "all_reduce", groups=groups, parts=parts)).holds
