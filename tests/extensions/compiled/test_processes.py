"""Agents in other processes run compiled and report it. The compiled code of an entry's plugin is used only for this entry."""

import fcntl
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_compiled import cache, seam
from arena_compiled.boards import compile_boards
from arena_compiled.memory import LOADING_BYTES
from arena_isolation import own_compiler
from arena_isolation.own_compiler import OwnSearch
from arena_isolation.remote import RemotePlayers
from arena_isolation.sandbox import private_folder
from arena_isolation.versions import PluginVersion
from tests.eventually import DEADLINE_SECONDS

pytestmark = pytest.mark.usefixtures("compiler")

NIM = '''
from arena import Game, hookimpl

class Piles(Game):
    """The player who takes the last match wins."""

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
    """Minimax under another name."""

    name = "mine"

@heuristic("remainder", game="piles")
def remainder(game, state, player):
    """The player who faces a multiple of four loses."""
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
seed: 0
rounds: 1
agents: [{{agent: mine, depth: 2, heuristic: remainder, plugin: own.py, isolation: {isolation}}}, random]
"""


@pytest.fixture
def entry(tmp_path: Path, compiling: None) -> Callable[[str], Path]:
    """Return a function that writes a spec with an entry that has its own plugin."""

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
def test_the_process_of_an_agent_loads_the_compiled_code_of_the_run_and_reports_it(
    compiling: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """This holds for time limits, too: loading the code is not a part of the agent's time. `--plain` applies in the process as
    well.
    """
    text = TABLE.format(isolation=isolation).replace("rounds: 1", "rounds: 1\nlimits: {seconds: 60}")
    (tmp_path / "spec.yaml").write_text(text)
    fast = played(tmp_path / "spec.yaml")
    assert compiled(fast) == [True, True]
    monkeypatch.setenv("ARENA_PLAIN", "1")
    plain = played(tmp_path / "spec.yaml")
    assert compiled(plain) == [False, False]
    assert without_clock(fast) == without_clock(plain)


def test_a_run_without_compiled_code_uses_plain_python(compiling: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_COMPILE", "never")
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "nothing"))
    (tmp_path / "spec.yaml").write_text(TABLE.format(isolation="process"))
    assert compiled(played(tmp_path / "spec.yaml")) == [False, False]
    notes: list[str] = []
    compile_boards(load_spec(tmp_path / "spec.yaml"), notes.append)
    assert notes == [
        "alpha-beta(open-lanes) on tic-tac-toe is not compiled: its code is not in the cache, and ARENA_COMPILE=never"
    ]


class Stage:
    """A runner that plays the matches of a spec one at a time, and can call the entry's compiler between two matches."""

    def __init__(self, spec: Path) -> None:
        ready = load_spec(spec)
        self.runner = MatchRunner(ready)
        self.left = list(Schedule(ready).take(10**6))

    def play(self) -> Record:
        return self.runner.play(self.left.pop(0))

    @property
    def search(self) -> OwnSearch:
        """Return the search of the entry's plugin."""
        (search,) = self.pool.compiler._searches.values()
        return search

    @property
    def pool(self) -> RemotePlayers:
        (pool,) = self.runner._pools.values()
        assert isinstance(pool, RemotePlayers)
        return pool

    def compile(self) -> str | None:
        assert self.search.wanted
        self.pool.compiler.compile(self.search, wait=True)
        return self.search.failure

    def close(self) -> None:
        self.runner.close()


@pytest.fixture
def impatient(entry: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that writes a spec with an entry that is compiled after its first plain decision, with empty caches."""

    def write(isolation: str, extra: str = "", limits: str = "{}") -> Path:
        spec = entry(isolation)
        monkeypatch.setenv("ARENA_CACHE", str(spec.parent / "cache"))
        monkeypatch.delenv("ARENA_COMPILE")
        monkeypatch.setattr(seam, "COMPILE_AFTER_CPU_SECONDS", 0.0)
        cache.folder().mkdir(parents=True)
        spec.with_name("own.py").write_text(OWN + extra)
        spec.write_text(ENTRY.format(isolation=isolation).replace("rounds: 1", f"rounds: 3\nlimits: {limits}"))
        return spec

    return write


TRESPASSING = """
import os
from pathlib import Path
HELD = bytearray(60 << 20)
kept = Path(os.environ["ARENA_CACHE"])
for folder in (kept / "compiled", *kept.with_name("cache-private").glob("*")):
    assert folder.is_dir()
    try:
        (folder / "mine").write_text("")
    except OSError:
        continue
    raise SystemExit(f"{folder} is not closed")
"""


@pytest.mark.parametrize(
    ("isolation", "extra", "limits"),
    [("process", "", "{}"), ("sandbox", TRESPASSING, "{memory_mb: 230, seconds: 50}")],
    ids=["process", "sandbox"],
)
def test_the_plugin_of_an_entry_is_compiled_between_matches_only_for_this_entry(
    impatient: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, isolation: str, extra: str, limits: str
) -> None:
    """The compiler's process may take more memory than the agent has left, at no cost for the agent. The code is in a folder
    that no other entry can read and the sandbox cannot write. A damaged file in the folder is replaced.
    """
    spec = impatient(isolation, extra, limits)
    private = cache.folder().parent.with_name("cache-private")
    monkeypatch.setattr(own_compiler, "MAX_COMPILE_SECONDS", 600.0)  # the machine may be busy
    with monkeypatch.context() as patch:
        patch.setenv("ARENA_PLAIN", "1")
        plain = without_clock(played(spec))
    with closing(Stage(spec)) as stage:
        records = [stage.play()]
        assert stage.compile() is None
        records += [stage.play(), stage.play()]
    assert compiled(records) == [False, True, True]
    assert without_clock(records) == plain[:3]
    (module,) = private.glob("*/*")
    assert not list(cache.folder().iterdir())
    with closing(Stage(spec)) as stage:  # another run has the code from its first decision on
        assert compiled([stage.play()]) == [True]
        assert not stage.search.settled
    if isolation == "sandbox":
        whole = module.read_bytes()
        module.write_bytes(whole[:-1] + b"\1")
        with closing(Stage(spec)) as stage:
            records = [stage.play()]
            assert stage.compile() is None
            records += [stage.play()]
        assert compiled(records) == [False, True]
        assert module.read_bytes() == whole


IN_THE_COMPILER = """
import sys
if "arena_isolation.compile_host" in sys.orig_argv:
    {line}
"""


@pytest.mark.parametrize(
    ("isolation", "line", "failure"),
    [
        ("process", "while True: pass", "compiling took over 2 s"),
        ("sandbox", "while True: pass", "compiling took over 2 s"),
        ("sandbox", "import os; os.kill(os.getpid(), 9)", "compiling failed: its process was killed by SIGKILL"),
        ("sandbox", "bytearray(1 << 40)", "compiling failed: cannot be created: "),
        ("sandbox", "import os; os.write(3, b'nothing\\n'), os.write(4, b'nothing\\n')", "compiling failed: "),
    ],
    ids=["process hangs", "hangs", "is killed", "takes memory", "lies"],
)
def test_a_failing_compiler_does_not_affect_the_agent(
    impatient: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, isolation: str, line: str, failure: str
) -> None:
    """The plugin fails only in the compiler. Play continues plain, and the run gives the reason. A lock that no process holds
    is free.
    """
    monkeypatch.setattr(own_compiler, "MAX_COMPILE_SECONDS", 2.0 if "while" in line else 60.0)
    with closing(Stage(impatient(isolation, IN_THE_COMPILER.format(line=line), "{memory_mb: 300}"))) as stage:
        records = [stage.play()]
        code = stage.search.program.version
        assert isinstance(code, PluginVersion)
        folder = private_folder(code.origin(isolation))
        folder.parent.mkdir(exist_ok=True)
        folder.with_name(f"{folder.name}.lock").touch()
        found = stage.compile()
        assert found is not None
        assert found.startswith(failure), found
        records += [stage.play()]
    assert [record.termination for record in records] == ["normal"] * 2
    assert compiled(records) == [False] * 2
    assert found in ((records[1].timing or {})["plain_reason"])
    assert not list(folder.glob("*"))


def test_a_run_does_not_wait_for_the_compiler_of_an_entry(impatient: Callable[..., Path]) -> None:
    """Another process holds the lock during the whole run, so the matches continue without the code."""
    with closing(Stage(impatient("process"))) as stage:
        code = next(seat.version for seat in stage.runner.spec.boards[0].seats if seat.version is not None)
        assert isinstance(code, PluginVersion)
        folder = private_folder(code.origin("process"))
        file = folder.with_name(f"{folder.name}.lock")
        file.parent.mkdir()
        with file.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            records = [stage.play(), stage.play()]
            assert stage.search.wanted
            assert not list(folder.glob("*"))
    assert compiled(records) == [False, False]


def test_a_run_reports_code_of_entries_that_cannot_be_compiled(entry: Callable[[str], Path]) -> None:
    """The entry's process finds the reason: its heuristic has a statement that cannot be compiled."""
    spec = entry("process")
    notes: list[str] = []
    compile_boards(load_spec(spec), notes.append)
    assert notes == []
    spec.with_name("own.py").write_text(OWN.replace("    return 0.9", "    assert game\n    return 0.9"))
    compile_boards(load_spec(spec), notes.append)
    assert len(notes) == 1
    assert notes[0].startswith("mine on piles is not compiled: ")
    assert notes[0].endswith("own.py:13: Assert cannot be compiled: leave it out")


@pytest.mark.parametrize(("memory", "runs"), [(70, False), (400, True)])
def test_compiled_code_under_a_memory_limit_runs_if_it_fits(compiling: None, tmp_path: Path, memory: int, runs: bool) -> None:
    """A Python process that has imported arena takes some 35 MiB, and the library that loads code takes 55 MiB."""
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


def test_arrays_grow_up_to_the_memory_limit() -> None:
    """The array would grow from 16 MiB to 8 GiB under a limit of 160 MiB. The search gets an exception, and the process goes
    on.
    """
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] in (resource.RLIM_INFINITY, -1)
    done = subprocess.run([sys.executable, "-c", GROWING], capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS)
    assert done.stdout == "its memory limit is too small for a compiled search True\n", done.stderr
    assert LOADING_BYTES > 55 << 20
