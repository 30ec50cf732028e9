"""Crowds and chains of processes, which may not think in the turn of another."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.match.record import Record
from arena.processes.process_tree import ProcessTree
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.store import Store
from tests.eventually import eventually
from tests.hostile.conftest import stop_agents_by
from tests.other_user import run_as_other_user
from tests.players import PLAYERS

pytestmark = pytest.mark.process
PLUGIN = '''
import ctypes, mmap, os, signal, struct, tempfile, time
from arena import Agent, hookimpl

SUBREAPER, SHARE_MEMORY = 36, 0x100 | signal.SIGCHLD  # of prctl(2), and CLONE_VM of clone(2)

class Honest(Agent):
    """Has as many idle processes as it may."""
    name = "honest"
    children = ()
    def choose(self, game, state, search):
        if not self.children:
            self.children = range(20)
            for _ in self.children:
                if os.fork() == 0: time.sleep(600)
        return next(iter(game.actions(state)))

class Crowd(Agent):
    """A helper that arena has not seen starts 1,500 processes, most of them after the answer."""
    name = "crowd"
    def choose(self, game, state, search):
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        pause = ctypes.cast(library.pause, ctypes.c_void_p)
        library.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
        stacks = library.mmap(None, 1500 << 13, 3, 0x22, -1, 0)
        begun, begin = os.pipe()
        if os.fork() == 0:
            os.setsid()
            for number in range(1500):
                library.clone(pause, stacks + (number + 1 << 13) - 64, SHARE_MEMORY, None)
                if number == 80: os.write(begin, b"x")
            time.sleep(600)
        os.read(begun, 1)
        return next(iter(game.actions(state)))

class Chain(Agent):
    """Each link of a chain starts the next and ends. A process that ignores it adopts the links, so their time is lost."""
    name = "chain"
    answered = None
    def begin(self, chains):
        file = tempfile.TemporaryFile()
        file.truncate(4096)
        self.shared = mmap.mmap(file.fileno(), 4096)  # when the agent has answered, how many links came late, and whether to end
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
            os.setsid()
            for _ in range(chains):
                if os.fork() == 0: self.link()
            while not self.read(2): time.sleep(0.01)
            os._exit(0)
    def read(self, place):
        return struct.unpack_from("d", self.shared, 8 * place)[0]
    def write(self, place, value):
        struct.pack_into("d", self.shared, 8 * place, value)
    def link(self):
        while True:
            began = time.monotonic()
            if 0.3 < began - self.read(0) < 0.6: self.write(1, self.read(1) + 1)
            while time.monotonic() < began + 0.0003: pass
            if self.read(2) or os.fork(): os._exit(0)
    def choose(self, game, state, search):
        action = next(iter(game.actions(state)))
        if self.answered is None:
            self.answered = time.monotonic()
            self.begin(2)
        else:
            search.report(action, depth=int(self.read(1)))
        self.write(1, 0)
        self.write(0, time.monotonic())
        return action

class Lack(Chain):
    """Keeps its processor busy by such links, and wants the time back for which it waits."""
    name = "lack"
    def choose(self, game, state, search):
        self.begin(4)
        end = time.monotonic() + 1.5
        while time.monotonic() < end: pass
        self.write(2, 1)
        return next(iter(game.actions(state)))

@hookimpl
def arena_agents(): return [Honest, Crowd, Chain, Lack]
'''
CASES = [(isolation, way) for isolation in ("process", "sandbox") for way in ("group", "signals")]


def values_of(folder: Path, name: str, isolation: str, **more: Any) -> dict[str, Any]:
    (folder / "chains.py").write_text(PLUGIN)
    agents = [{"agent": name, "isolation": isolation}, {"agent": "sleeper", "seconds": 0.7}]
    plugins = ["chains.py", str(PLAYERS)]
    return {"game": "tic-tac-toe", "rounds": 1, "agents": agents, "limits": {"moves": 4}, "plugins": plugins, **more}


@pytest.fixture(params=CASES, ids="-".join)
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An isolation, with agents that a control group stops, or signals if none can be made."""
    isolation, way = request.param
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    stop_agents_by(way, monkeypatch)
    return str(isolation)


def play(folder: Path, values: dict[str, Any]) -> list[Record]:
    (folder / "cup.json").write_text(json.dumps(values))
    spec = load_spec(folder / "cup.json")
    with closing(MatchRunner(spec)) as runner:
        return [runner.play(scheduled) for scheduled in Schedule(spec).take(10**6)]


def left() -> list[str]:
    """Return the processes of agents that this process has started, and their descendants."""
    mark, found = f"{ProcessTree.OF_AGENT}={os.getpid()}-".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def check_crowd(records: list[Record]) -> None:
    assert records
    for record in records:
        assert (record.termination, record.seat) == ("crash", record.labels.index("crowd")), record
        assert record.message == "started more than 64 processes"


def check_chain(records: list[Record]) -> None:
    """No link has begun 0.3 to 0.6 s after the answer of the agent, while its rival had its turn."""
    assert records
    for record in records:
        seat = record.labels.index("chain")
        depths = [decision.depth for decision in record.decisions if decision.seat == seat]
        assert depths[1:] in ([], [0]), record
        assert record.termination == "move-limit" or "computed during another agent's turn" in str(record.message), record


@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.promise(hole="crowd", isolation=("process", "sandbox"))
def test_an_agent_with_too_many_processes_loses(isolation: str, tmp_path: Path) -> None:
    """It starts 1,500 processes during its opponent's turn. No match is void, and the next match is played."""
    check_crowd(play(tmp_path, values_of(tmp_path, "crowd", isolation)))
    eventually(lambda: not left(), left)


def test_twenty_idle_children_are_not_a_fault(isolation: str, tmp_path: Path) -> None:
    records = play(tmp_path, values_of(tmp_path, "honest", isolation))
    assert [record.termination for record in records] == ["move-limit"] * 2
    eventually(lambda: not left(), left)


@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
def test_a_chain_of_short_processes_is_stopped(isolation: str, tmp_path: Path) -> None:
    """Each process lives for less than a millisecond, so no listing of processes finds it."""
    check_chain(play(tmp_path, values_of(tmp_path, "chain", isolation)))


@pytest.mark.parametrize("isolation", [CASES[1]], indirect=True, ids="-".join)
def test_a_chain_of_processes_continues_if_pondering_is_allowed(isolation: str, tmp_path: Path) -> None:
    """This shows that the test above would detect a chain that continues."""
    records = play(tmp_path, values_of(tmp_path, "chain", isolation, pondering=True))
    late = [decision.depth or 0 for record in records for decision in record.decisions if record.labels[decision.seat] == "chain"]
    assert max(late) > 20


@pytest.mark.promise(hole="start", isolation=("process", "sandbox"))
def test_an_agent_gains_no_time_by_many_short_processes(isolation: str, one_core: int, tmp_path: Path) -> None:
    """On one core, the agent waits for its own processes for more than a second."""
    limits = {"seconds": 0.3, "moves": 4}
    for record in play(
        tmp_path,
        values_of(
            tmp_path,
            "lack",
            isolation,
            limits=limits,
            agents=[{"agent": "lack", "isolation": isolation}, {"agent": "random", "isolation": "none"}],
        ),
    ):
        assert (record.termination, record.seat) == ("timeout", record.labels.index("lack")), record
        assert record.decisions[-1].seconds < 1.2 or record.labels[record.decisions[-1].seat] != "lack"


@pytest.mark.promise(hole="crowd", isolation=("process", "sandbox"))
@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
@pytest.mark.parametrize("name", ["crowd", "chain"])
@pytest.mark.parametrize("sandbox", ["process", "sandbox"])
def test_a_run_of_an_unprivileged_user_is_protected(
    name: str, sandbox: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The user 65534 cannot create a control group, and can have 1,024 open files."""
    if sandbox == "sandbox":
        request.getfixturevalue("bubblewrap")
    done = run_as_other_user(tmp_path, values_of(tmp_path, name, sandbox), files=1024)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        records = [record for record, _ in store.records()]
    assert len(records) == 2
    (check_crowd if name == "crowd" else check_chain)(records)
