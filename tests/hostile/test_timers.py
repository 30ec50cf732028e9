"""An agent whose timers continue it while it is stopped is found by its processor time."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.match.record import Record
from arena.schedule.runner import MatchRunner, isolation_notes
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.store import Store
from arena_isolation import agent_start
from arena_isolation.stopped_family import StoppedFamily
from arena_isolation.system_calls import filter_pipe
from tests.eventually import DEADLINE_SECONDS
from tests.hostile.conftest import stop_agents_by
from tests.other_user import run_as_other_user

pytestmark = [pytest.mark.process, pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))]
PLUGIN = '''
"""Agents that tell how many milliseconds of processor time they have used since their last answer, as their depth."""
import ctypes, os, signal, subprocess, sys, threading, time
from arena import Agent, hookimpl

class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 48)]

class Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("again_s", "again_ns", "first_s", "first_ns")]

def continue_by_timers():
    signal.signal(signal.SIGCONT, lambda *_: None)  # Linux does not renew a timer whose signal is ignored
    library = ctypes.CDLL(None, use_errno=True)
    for number in range(8):
        timer, event = ctypes.c_void_p(), Event(None, signal.SIGCONT, 0, b"")
        if library.timer_create(1, ctypes.byref(event), ctypes.byref(timer)):
            return  # they are refused
        pause = 1_500_000 * (number + 1)
        if library.timer_settime(timer, 0, ctypes.byref(Times(0, pause, 0, pause)), None):
            raise OSError(ctypes.get_errno(), "timer_settime")

def think():
    while True: pass

class Plain(Agent):
    """Answers, and is idle."""
    name = "plain"
    answered = None
    def begin(self): ...
    def choose(self, game, state, search):
        if self.answered is None:
            self.begin()
            self.answered = time.process_time()
        action = next(iter(game.actions(state)))
        search.report(action, depth=int(1000 * (time.process_time() - self.answered)))
        self.answered = time.process_time()
        return action

class Timers(Plain):
    """A thread thinks on after the answer."""
    name = "timers"
    def begin(self):
        continue_by_timers()
        threading.Thread(target=think, daemon=True).start()

class Threads(Plain):
    """A thread would think on, and does nothing against the stop."""
    name = "threads"
    def begin(self):
        threading.Thread(target=think, daemon=True).start()

class Helpers(Plain):
    """Children in sessions of their own think, each continued by its timers."""
    name = "helpers"
    def begin(self):
        for _ in range(2):
            ready, tell = os.pipe()
            if os.fork() == 0:
                os.setsid()
                continue_by_timers()
                os.write(tell, b"x")
                think()
            os.read(ready, 1)  # before that, a stop would be for good

class Watches(Agent):
    """Ends its turn when the processes of arena have used `most` seconds of processor time in it, or after `seconds`."""
    name = "watches"
    def __init__(self, most: float = 0.3, seconds: float = 0.4):
        self.most, self.seconds = most, seconds
    def choose(self, game, state, search):
        import psutil
        def used():
            return sum([sum(one.cpu_times()[:4]) for one in psutil.Process().children(recursive=True) if one.is_running()])
        first = len(game.actions(state)) == 9  # the rival has not begun to think
        end, most = time.monotonic() + (0 if first else self.seconds), used() + self.most
        while time.monotonic() < end:
            try:
                if used() > most:
                    break
            except psutil.NoSuchProcess:
                pass
            time.sleep(0.02)
        return next(iter(game.actions(state)))

@hookimpl
def arena_agents(): return [Plain, Timers, Threads, Helpers, Watches]
'''


@pytest.fixture(params=["signals", "group"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How agents are stopped: by a control group, or by signals if none can be made."""
    stop_agents_by(request.param, monkeypatch)
    return str(request.param)


def values_of(folder: Path, name: str, isolation: str, seconds: float) -> dict[str, Any]:
    """Return a spec in which an agent plays against one that waits until it has used processor time, for at most `seconds`."""
    (folder / "timers.py").write_text(PLUGIN)
    return {
        "game": "tic-tac-toe",
        "rounds": 1,
        "seed": 0,
        "agents": [{"agent": name, "isolation": isolation}, {"agent": "watches", "seconds": seconds}],
        "limits": {"moves": 4},
        "plugins": [str(folder / "timers.py")],
    }


def play(folder: Path, name: str, isolation: str, seconds: float = 0.4) -> list[Record]:
    values = values_of(folder, name, isolation, seconds)
    with closing(MatchRunner(load_spec(values))) as runner:
        return [runner.play(scheduled) for scheduled in Schedule(load_spec(values)).take(10**6)]


def thoughts(record: Record) -> list[int]:
    """Return the milliseconds of processor time that the agent with timers has used before each of its decisions."""
    seat = record.labels.index("timers")
    return [decision.depth or 0 for decision in record.decisions if decision.seat == seat]


@pytest.mark.parametrize("name", ["timers", "helpers"])
@pytest.mark.parametrize("sandbox", ["process", "sandbox"])
def test_an_agent_that_computes_in_the_turn_of_another_loses(
    name: str, sandbox: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """An agent is stopped only once here, so it computes for 0.3 s."""
    if sandbox == "sandbox":
        request.getfixturevalue("bubblewrap")
    monkeypatch.setattr(agent_start, "new_group", lambda *_: None)
    monkeypatch.setattr(agent_start, "group_filter", lambda: None)  # timers are not refused
    monkeypatch.setattr(agent_start, "filter_pipe", lambda **_: filter_pipe(frozen=True, metered=True))
    monkeypatch.setattr(StoppedFamily, "look", lambda family: family._list(family._stops) if family._due else None)
    for record in play(tmp_path, name, sandbox, DEADLINE_SECONDS):
        assert (record.termination, record.seat) == ("timeout", record.labels.index(name)), record
        assert "computed during another agent's turn" in str(record.message)


@pytest.mark.parametrize("sandbox", ["process", "sandbox"])
def test_an_agent_cannot_continue_to_compute_with_timers(
    sandbox: str, way: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It loses, or it computed for less than 0.06 s during the 0.4 s of its opponent: 20 ms before the second stop, and 20 ms
    after it.
    """
    if sandbox == "sandbox":
        request.getfixturevalue("bubblewrap")
    for record in play(tmp_path, "timers", sandbox):
        assert max(thoughts(record)) < 60, record
        assert record.termination == "move-limit" or (way == "signals" and "another agent's turn" in str(record.message)), record


@pytest.mark.parametrize("name", ["plain", "threads"])
@pytest.mark.parametrize("sandbox", ["process", "sandbox"])
def test_an_agent_that_can_be_stopped_does_not_lose(
    name: str, sandbox: str, way: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if sandbox == "sandbox":
        request.getfixturevalue("bubblewrap")
    assert [record.termination for record in play(tmp_path, name, sandbox)] == ["move-limit"] * 2


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_a_note_reports_a_missing_control_group(isolation: str, way: str) -> None:
    agent_start.groups_work.cache_clear()
    values = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "isolation": isolation}
    try:
        words = "a control group cannot be created"
        told = [note for note in isolation_notes(load_spec(values)) if words in note]
        assert len(told) == (way == "signals")
        assert not [note for note in isolation_notes(load_spec({**values, "pondering": True})) if words in note]
    finally:
        agent_start.groups_work.cache_clear()


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_an_unprivileged_user_without_control_groups_is_protected(
    isolation: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The user 65534 cannot create a control group."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    values = values_of(tmp_path, "timers", isolation, 0.4)
    done = run_as_other_user(tmp_path, values | {"plugins": ["timers.py"]})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("a control group cannot be created here") == 1, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        for record, _ in store.records():
            assert max(thoughts(record)) < 60, record
