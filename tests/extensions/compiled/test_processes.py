"""Agents in processes of their own run compiled, say so, and keep what they compile of their own plugins to themselves."""

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Record
from arena.spec import load_spec
from arena_compiled import cache
from arena_compiled.boards import compile_boards
from arena_compiled.memory import LOADING_BYTES

NIM = '''
from arena import Game, hookimpl

class Piles(Game):
    """Whoever takes the last match wins."""

    name = "piles"

    def initial(self, rng):
        return (9, 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return range(1, min(3, state[0]) + 1)

    def result(self, state, action):
        return (state[0] - action, 1 - state[1])

    def returns(self, state):
        return (1, -1) if state[1] == 1 else (-1, 1)

@hookimpl
def arena_games():
    return [Piles]
'''
OWN = '''
from arena import heuristic, hookimpl
from arena_agents.full_width import Minimax

class Mine(Minimax):
    """Looks at every line."""

    name = "mine"

@heuristic("remainder", game="piles")
def remainder(game, state, player):
    """Whoever faces a multiple of four loses."""
    return 0.9 if (state[0] % 4 == 0) == (state[1] != player) else -0.9

@hookimpl
def arena_agents():
    return [Mine]

@hookimpl
def arena_heuristics():
    return [remainder]
'''
TABLE = """
game: {{name: tic-tac-toe, rows: 3, columns: 4}}
rounds: 1
agents: [{{agent: alpha-beta, depth: 3, isolation: {isolation}}}, random]
"""
ENTRY = """
plugins: [piles.py]
game: piles
rounds: 1
agents: [{{agent: mine, depth: 2, heuristic: remainder, plugin: own.py, isolation: {isolation}}}, random]
"""


@pytest.fixture
def sandbox(missing: Callable[[str, str], None]) -> str:
    """The word for an isolation by bubblewrap, where it works."""
    found = shutil.which("bwrap")
    if found is None or subprocess.run([found, "--unshare-all", "--ro-bind", "/", "/", "true"], check=False).returncode:
        missing("sandbox", "bubblewrap does not run here")
    return "sandbox"


@pytest.fixture
def entry(tmp_path: Path, compiling: None) -> Callable[[str], Path]:
    """Write a spec with an entry that brings a plugin of its own."""

    def entry(isolation: str) -> Path:
        (tmp_path / "piles.py").write_text(NIM)
        (tmp_path / "own.py").write_text(OWN)
        (tmp_path / "spec.yaml").write_text(ENTRY.format(isolation=isolation))
        return tmp_path / "spec.yaml"

    return entry


def played(spec: Path) -> Sequence[Record]:
    return arena.run(spec).records


def without_clock(records: Sequence[Record]) -> list[Any]:
    return [record.timeless() for record in records]


def compiled(records: Sequence[Record]) -> list[bool]:
    return [bool((record.timing or {}).get("compiled")) for record in records]


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_the_code_of_the_run_is_loaded_and_told(
    request: pytest.FixtureRequest, compiling: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """With limits of time, too: to load code is not the agent's time. `--plain` holds in the process as well."""
    if isolation == "sandbox":
        request.getfixturevalue("sandbox")
    text = TABLE.format(isolation=isolation).replace("rounds: 1", "rounds: 1\nlimits: {seconds: 5}")
    (tmp_path / "spec.yaml").write_text(text)
    fast = played(tmp_path / "spec.yaml")
    assert compiled(fast) == [True, True]
    monkeypatch.setenv("ARENA_PLAIN", "1")
    plain = played(tmp_path / "spec.yaml")
    assert compiled(plain) == [False, False]
    assert without_clock(fast) == without_clock(plain)


def test_without_the_code_it_plays_plain(compiling: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_COMPILE", "never")
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "nothing"))
    (tmp_path / "spec.yaml").write_text(TABLE.format(isolation="process"))
    assert compiled(played(tmp_path / "spec.yaml")) == [False, False]
    notes: list[str] = []
    compile_boards(load_spec(tmp_path / "spec.yaml"), notes.append)
    assert notes == ["alpha-beta(open-lanes) on tic-tac-toe runs plain: its code is not in the cache, and ARENA_COMPILE=never"]


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_the_plugin_of_an_entry_is_compiled_by_its_own_process_for_itself(
    request: pytest.FixtureRequest, entry: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """Between two matches, once its plain decisions have taken long enough."""
    if isolation == "sandbox":
        request.getfixturevalue("sandbox")
    spec = entry(isolation)
    monkeypatch.setenv("ARENA_CACHE", str(spec.parent / "cache"))
    cache.folder().mkdir(parents=True)
    monkeypatch.delenv("ARENA_COMPILE")
    slow = OWN.replace(
        "    return 0.9", "    waste = 0\n    for number in range(600_000):\n        waste += number & 3\n    return 0.9"
    )
    spec.with_name("own.py").write_text(slow)
    spec.write_text(ENTRY.format(isolation=isolation).replace("rounds: 1", "rounds: 12"))
    fast = played(spec)
    ran = compiled(fast)
    assert (ran[0], ran[-1]) == (False, True)
    assert ran == sorted(ran)
    monkeypatch.setenv("ARENA_PLAIN", "1")
    assert without_clock(fast) == without_clock(played(spec))
    assert not list(cache.folder().iterdir())


def test_a_run_says_what_its_entries_cannot_compile(entry: Callable[[str], Path]) -> None:
    """What the process of the entry itself finds; here its heuristic has a line that numbers alone cannot say."""
    spec = entry("process")
    notes: list[str] = []
    compile_boards(load_spec(spec), notes.append)
    assert notes == []
    spec.with_name("own.py").write_text(OWN.replace("    return 0.9", "    assert game\n    return 0.9"))
    compile_boards(load_spec(spec), notes.append)
    assert len(notes) == 1
    assert notes[0].startswith("mine on piles runs plain: ")
    assert notes[0].endswith("own.py:13: Assert cannot be compiled: leave it out")


@pytest.mark.parametrize(("memory", "runs"), [(70, False), (400, True)])
def test_under_a_limit_of_memory_compiled_code_runs_if_there_is_room(
    compiling: None, tmp_path: Path, memory: int, runs: bool
) -> None:
    """A process of Python with arena in it has some 35 MiB, and the library that loads code takes 55."""
    text = TABLE.format(isolation="process").replace("rounds: 1", f"rounds: 1\nlimits: {{memory_mb: {memory}}}")
    (tmp_path / "spec.yaml").write_text(text)
    records = played(tmp_path / "spec.yaml")
    assert [record.termination for record in records] == ["normal"] * 2
    assert compiled(records) == [runs] * 2
    notes: list[str] = []
    compile_boards(load_spec(tmp_path / "spec.yaml"), notes.append)
    assert [" MiB, and compiled code takes " in note for note in notes] == [True] * (not runs)


GROWING = """
import resource, sys
from arena_compiled.loop import Loop
from arena_compiled.memory import Memory, headroom, require
from arena.counting import GoPlain

assert headroom() == float("inf")
resource.setrlimit(resource.RLIMIT_DATA, (160 << 20, 160 << 20))
memory = Memory((("table", "words"),), {"table": 1 << 20})
memory.grow({"table": 2 << 20})
try:
    memory.grow({"table": 1 << 30})
except GoPlain as why:
    print(why, len(memory["table"]) == 2 << 20)
"""


def test_arrays_grow_as_far_as_there_is_memory() -> None:
    """From 16 MiB to 8 GiB under a limit of 160: the search is told, and the process lives."""
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] in (resource.RLIM_INFINITY, -1)
    done = subprocess.run([sys.executable, "-c", GROWING], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "its limit of memory is too small for a compiled search True\n", done.stderr
    assert LOADING_BYTES > 55 << 20
