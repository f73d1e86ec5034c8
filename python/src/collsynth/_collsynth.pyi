from _typeshed import SupportsGetItem
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Final, SupportsIndex, final

__all__ = ["__version__", "Job", "Lowered", "Machine", "Schedule", "check_plan", "collective_name", "holding", "job_holding", "judge", "judge_file", "planners", "quantity", "synth_call", "synth_main", "synthesize"]

__version__: Final[str]

@final
class Job:
    """
    A job that holds.
    """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes that file, whole or not at all; `.gz`: compressed.
        """
    def schedules(self, /) -> list[Schedule]:
        """
        The schedules, each of which holds by itself.
        """
    def to_json(self, /) -> str:
        """
        The file that the command writes.
        """

@final
class Lowered:
    """
    A rank program that holds.
    """
    @property
    def figures(self, /) -> str:
        """
        The figures, as JSON.
        """
    @property
    def text(self, /) -> str:
        """
        The figures for people.
        """
    def to_json(self, /) -> str:
        """
        The file that `synth lower` writes.
        """

@final
class Machine:
    """
    A machine: ranks, directed links, and what failed.
    """
    def boxes(self, /, extents: SupportsGetItem[int, SupportsIndex]) -> list[list[int]]:
        """
        The ranks of each box of these extents, on a torus that they divide.
        """
    def describe(self, /) -> str:
        """
        The machine in a few words.
        """
    def fail(self, /, stated: str, both: bool) -> Machine:
        """
        The same with a link failed; with `both`, the whole cable.
        """
    def fail_rank(self, /, rank: str) -> Machine:
        """
        The same with a rank failed.
        """
    def fail_switch(self, /, stated: str, period: str | None) -> Machine:
        """
        The same with a switch between cells dead; of no period, cells of 4 ranks along every dimension.
        """
    @staticmethod
    def graph(ranks: SupportsIndex, links: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex, SupportsIndex]]) -> Machine:
        """
        An explicit graph of directed links: from, to, capacity.
        """
    @property
    def links(self, /) -> list[tuple[int, int, int, str | None, bool]]:
        """
        Every directed link: from, to, capacity, direction, alive.
        """
    @property
    def live_ranks(self, /) -> list[int]:
        """
        The ranks that did not fail.
        """
    @staticmethod
    def parse(text: str, name: str) -> Machine:
        """
        The machine of a topology file, or of a file of ours that states one.
        """
    def rank(self, /, text: str) -> int:
        """
        The rank of this number or these coordinates.
        """
    @property
    def rank_count(self, /) -> int:
        """
        The number of ranks, failed ones included.
        """
    def spanned(self, /, text: str) -> list[list[int]]:
        """
        The ranks of each group that these dimensions span (`xy`: the planes), on a torus.
        """
    def table(self, /) -> str:
        """
        The machine with all its links, for people.
        """
    def to_json(self, /) -> str:
        """
        The same text as `synth topology --format json`.
        """
    @staticmethod
    def torus(extents: SupportsGetItem[int, SupportsIndex], wrap: SupportsGetItem[int, bool], capacity: SupportsGetItem[int, SupportsIndex]) -> Machine:
        """
        A torus; empty lists: the defaults.
        """
    @property
    def torus_shape(self, /) -> tuple[list[int], list[bool], list[int]] | None:
        """
        Extents, wrap and capacity of a torus.
        """

@final
class Schedule:
    """
    A verified schedule, in the explicit or in the compact form.
    """
    def chunk_label(self, /, chunk: SupportsIndex) -> str:
        """
        What a chunk is called: `2>3` or `2>3.1`.
        """
    @property
    def collective(self, /) -> tuple[str, int, int | None]:
        """
        Kind, parts and root of the collective; in groups, the root is a place among the members.
        """
    def compact(self, /) -> Schedule:
        """
        The same as a pattern and exceptions.
        """
    @property
    def demand(self, /) -> list[int] | None:
        """
        The chunk counts of an all-to-allv, row by row.
        """
    def expanded(self, /) -> Schedule:
        """
        The same with every move stated.
        """
    @property
    def figures(self, /) -> str:
        """
        The figures of the summary, as JSON.
        """
    @property
    def form(self, /) -> str:
        """
        The form: `explicit` or `compact`.
        """
    @property
    def groups(self, /) -> tuple[list[list[int]], bool] | None:
        """
        The members of each group, in their order, and whether other ranks may relay.
        """
    @property
    def headline(self, /) -> str:
        """
        The collective, its groups and the machine in a few words.
        """
    @property
    def is_expanded(self, /) -> bool:
        """
        Is every move stated, or was it expanded?
        """
    def lower(self, /, barriers: str, in_place: bool, slots: SupportsIndex | None) -> Lowered:
        """
        The program of each rank.
        """
    @property
    def machine(self, /) -> Machine:
        """
        The machine.
        """
    def moves(self, /) -> bytes:
        """
        Every chunk move: step, from, to, chunk, op (0: copy, 1: reduce), 5 numbers of 32 bits each.
        """
    def renumbered(self, /) -> tuple[Schedule, list[int]]:
        """
        The same schedule among the live ranks alone, numbered without gaps, and the number that each had before.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes that file, whole or not at all; `.gz`: compressed.
        """
    def slot_moves(self, /) -> list[bytes]:
        """
        Slots of input, output and scratch, 3 numbers of 32 bits for each rank; every chunk move with the slots it reads
        and writes; the copies before the first step. See `slots`.
        """
    @property
    def steps_bound(self, /) -> int:
        """
        The lower bound on the steps.
        """
    @property
    def stopped(self, /) -> str:
        """
        Why planning stopped: finished, time limit or interrupted.
        """
    @property
    def text(self, /) -> str:
        """
        The summary for people.
        """
    def to_json(self, /) -> str:
        """
        The file that the command writes.
        """
    @property
    def volume(self, /) -> tuple[int, int]:
        """
        The volume as a numerator and a denominator.
        """
    @property
    def volume_bound(self, /) -> tuple[int, int] | None:
        """
        The lower bound on the volume, likewise.
        """
    @property
    def widths(self, /) -> list[int]:
        """
        The width of each step.
        """

def check_plan(machine: Machine, words: SupportsGetItem[int, str], demand: SupportsGetItem[int, SupportsIndex] | None) -> None:
    """
    The same as far as it takes no planning: nothing, or the error.
    """

def collective_name(text: str) -> str:
    """
    The name of a collective: `all_reduce` for `AllReduce`, `all-reduce` or `allreduce`.
    """

def holding(name: str, text: str) -> Schedule:
    """
    The schedule in a text, once it is known to hold.
    """

def job_holding(name: str, text: str) -> Job:
    """
    The job in a text, once it is known to hold.
    """

def judge(name: str, text: str, judging: Mapping[str, object], machine: Machine | None) -> tuple[int, str]:
    """
    Judges a text; returns the verdict (0, 1 or 2) and what it says as JSON.
    """

def judge_file(path: str | PathLike[str], judging: Mapping[str, object], machine: Machine | None) -> tuple[int, str]:
    """
    Judges a file, gzip included; likewise.
    """

def planners() -> list[str]:
    """
    The names of all planners.
    """

def quantity(kind: str, text: str) -> float:
    """
    A quantity as people write it: `bytes` (64KiB), `seconds` (1us) or `bandwidth` (50GB/s, in bytes per second).
    """

def synth_call(words: SupportsGetItem[int, str], input: str, threads: SupportsIndex | None, progress: Callable[[str, str, int, int], object] | None) -> tuple[int, str, str]:
    """
    The same within this process: `input` is its standard input. Returns the exit code, and what it printed to standard
    output and to standard error.
    """

def synth_main(words: SupportsGetItem[int, str]) -> int:
    """
    Runs the command `synth` with these words, the first of them its name; returns the exit code.
    """

def synthesize(machine: Machine, words: SupportsGetItem[int, str], demand: SupportsGetItem[int, SupportsIndex] | None, stated: SupportsGetItem[int, str] | None, threads: SupportsIndex | None, progress: Callable[[str, str, int, int], object] | None) -> Schedule:
    """
    Plans what the words of `synth plan` ask for on a machine, and has the plan judged. A demand, row by row, goes with
    the words `--demand -`; `stated` are the words that state the machine, if it has any.
    """
