"""Processor time in the opponent's turn, at each isolation that promises to prevent it, and with the honest twin."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.api.processes import ProcessTree
from arena.errors import ArenaError
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_isolation.control_group import new_group, own_folders
from arena_isolation.family_clock import FamilyClock
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.extensions.isolation.conftest import played
from tests.hostile.conftest import stop_agents_by
from tests.players import PLAYERS

pytestmark = pytest.mark.load
PLUGIN = '''
"""An agent that leaves children burning, one that works for its move, and one that burns threads."""
import os, threading, time
from arena import Agent, hookimpl

def burn():
    while True: pass

class Burns(Agent):
    """Leaves 50 children that never rest, each in a session of its own."""
    name = "burns"
    burning = False
    def choose(self, game, state, search):
        for _ in range(0 if self.burning else 50):
            if os.fork() == 0:
                os.setsid()
                burn()
        Burns.burning = True
        return next(iter(game.actions(state)))

class Works(Agent):
    """Needs some processor time for a move, and stays far below its limit where it gets it."""
    name = "works"
    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
    def choose(self, game, state, search):
        until = time.process_time() + self.seconds
        while time.process_time() < until: pass
        return next(iter(game.actions(state)))

class Crowds(Agent):
    """Keeps its own processor busy by children, so that its own short work takes long."""
    name = "crowds"
    def choose(self, game, state, search):
        for _ in range(30):
            if os.fork() == 0: burn()
        until = time.process_time() + 0.04
        while time.process_time() < until: pass
        return next(iter(game.actions(state)))

class Threads(Agent):
    """Lets three children think beside it, and has them end before it answers."""
    name = "threads"
    def choose(self, game, state, search):
        children = [os.fork() for _ in range(3)]
        until = time.process_time() + 0.15
        while time.process_time() < until: pass
        if 0 in children: os._exit(0)
        for child in children: os.waitpid(child, 0)
        return next(iter(game.actions(state)))

class Reads(Agent):
    """Sees its limit and stops in time, by the clock of its own process."""
    name = "reads"
    def choose(self, game, state, search):
        until = time.process_time() + search.limits.cpu_seconds
        while time.process_time() < until: pass
        return next(iter(game.actions(state)))

class Counts(Agent):
    """A thread of it counts on in everybody's turn; each move tells how far it came since the last, in its depth."""
    name = "counts"
    ticks, seen = 0, None
    def count(self):
        while True:
            self.ticks += 1
            time.sleep(0.001)
    def choose(self, game, state, search):
        if self.seen is None:
            threading.Thread(target=self.count, daemon=True).start()
        came = 0 if self.seen is None else self.ticks - self.seen
        action = next(iter(game.actions(state)))
        search.report(action, depth=came)
        self.seen = self.ticks
        return action

@hookimpl
def arena_agents(): return [Burns, Works, Crowds, Threads, Reads, Counts]
'''
SPEC: dict[str, Any] = {"game": "connect-four", "rounds": 1}
CASES = [(isolation, way) for isolation in ("process", "sandbox") for way in ("group", "signals")]


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    file = tmp_path / "burns.py"
    file.write_text(PLUGIN)
    return str(file)


@pytest.fixture
def stilled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An isolation, with agents stilled by a control group, or by signals if no control group can be created."""
    isolation, way = request.param
    stop_agents_by(way, monkeypatch)
    return str(isolation)


@pytest.fixture
def load(one_core: int) -> Iterator[None]:
    """Three processes of others are busy on that core."""
    command = [sys.executable, "-S", "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(3)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
@pytest.mark.parametrize("stilled", CASES[:3], indirect=True, ids="-".join)
def test_busy_children_take_no_time_from_the_opponent(plugin: str, stilled: str) -> None:
    """With 50 of them, a move of 0.05 s would take 1.3 s on two cores. The limit is 0.2 s."""
    limits = {"seconds": 0.2, "moves": 6}
    records = played({**SPEC, "agents": ["burns", "works"], "isolation": stilled, "limits": limits, "plugins": [plugin]})
    assert "works" not in [record.labels[record.seat] for record in records if record.seat is not None]
    assert max(len(record.decisions) for record in records) >= 2  # the honest one has decided while the other had its children


@pytest.mark.parametrize(
    ("stilled", "pondering"), [*[(case, False) for case in CASES[:3]], (CASES[0], True)], indirect=["stilled"], ids=str
)
def test_a_thread_continues_only_if_pondering_is_allowed(plugin: str, stilled: str, pondering: bool) -> None:
    """It counts a thousand times a second. The opponent's turn takes 0.15 s of CPU time."""
    spec = {**SPEC, "agents": ["counts", {"agent": "works", "seconds": 0.15}], "isolation": stilled, "limits": {"moves": 4}}
    for record in played({**spec, "plugins": [plugin], **({"pondering": True} if pondering else {})}):
        seat = record.labels.index("counts")
        came = [decision.depth or 0 for decision in record.decisions if decision.seat == seat][1:]
        assert came
        assert min(came) > 40 if pondering else max(came) < 40


@pytest.mark.parametrize("stilled", [("process", "signals"), ("sandbox", "group")], indirect=True, ids="-".join)
def test_waiting_for_a_core_does_not_count_as_the_agents_time(plugin: str, stilled: str, load: None) -> None:
    """With a quarter of a core, 0.15 s of computation takes 0.6 s. The record includes the waiting time."""
    limits = {"seconds": 0.3, "moves": 2}
    agents = [{"agent": "works", "seconds": 0.15, "label": label} for label in ("one", "other")]
    records = played({**SPEC, "agents": agents, "isolation": stilled, "limits": limits, "plugins": [plugin]})
    assert [record.termination for record in records] == ["move-limit"] * 2, [(r.message, r.timing, r.decisions) for r in records]
    for record in records:
        assert record.timing is not None
        for seat, lack in enumerate(record.timing["lack_of_cpu"]):
            took = sum(decision.seconds for decision in record.decisions if decision.seat == seat)
            assert 0.1 < lack < took + 0.05  # two clocks
            over = [decision.seconds - 0.375 for decision in record.decisions if decision.seat == seat]  # a quarter to answer
            forgiven = record.timing.get("forgiven", [0.0, 0.0])[seat]
            assert forgiven == pytest.approx(sum(max(0.0, one) for one in over), abs=1e-5)


def test_a_sleep_beyond_the_limit_is_a_timeout_on_a_busy_machine(load: None) -> None:
    """Only waits for a core, before and after the sleep, do not count."""
    agents = [{"agent": "sleeper", "seconds": 0.3}, "random"]
    records = played({**SPEC, "agents": agents, "limits": {"seconds": 0.2, "moves": 2}, "plugins": [str(PLAYERS)]})
    assert [(record.termination, record.labels[record.seat or 0]) for record in records] == [("timeout", "sleeper")] * 2


@pytest.mark.parametrize("stilled", [("process", "group"), ("process", "signals")], indirect=True, ids="-".join)
@pytest.mark.parametrize("name", ["sleeper", "crowds"])
def test_time_in_which_an_agent_delays_itself_counts_against_its_limit(
    plugin: str, stilled: str, one_core: int, name: str
) -> None:
    limits = {"seconds": 0.1, "cpu_seconds": 100, "moves": 2}
    plugins = [plugin, str(PLAYERS)]
    records = played({**SPEC, "agents": [name, "random"], "isolation": stilled, "limits": limits, "plugins": plugins})
    assert [record.termination for record in records] == ["timeout"] * 2
    for record in records:
        assert record.seat == record.labels.index(name)
        assert record.timing is not None
        lack = record.timing.get("lack_of_cpu", [0.0, 0.0])[record.seat]
        assert lack + record.timing["cpu_seconds"][record.seat] < record.decisions[-1].seconds + 0.05  # on one core


@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
@pytest.mark.parametrize("stilled", CASES[:3], indirect=True, ids="-".join)
def test_processor_time_includes_all_processes(plugin: str, stilled: str) -> None:
    """Four processes with 0.15 s each exceed 0.3 s."""
    agents = ["threads", "reads"]
    limits = {"cpu_seconds": 0.3, "moves": 2}
    records = played({**SPEC, "agents": agents, "isolation": stilled, "limits": limits, "plugins": [plugin]})
    for record in records:
        assert record.termination == "timeout"
        assert record.seat == record.labels.index("threads")
        assert record.message == "a decision used more than its limit of 0.3 CPU seconds"
        assert record.timing is not None
        used = dict(zip(record.labels, record.timing["cpu_seconds"], strict=True))
        assert 0.4 < used["threads"] < 0.9
        assert 0.1 < record.timing["overrun"] < 0.6
        if record.seat == 1:
            assert 0.25 < used["reads"] < 0.4


@pytest.mark.parametrize("stored", [False, True])
def test_a_search_stops_at_its_limit_of_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: bool) -> None:
    """The game stops an agent that never checks its limits."""
    limited = {"agent": "alpha-beta", "limits": {"cpu_seconds": 0.05}}
    spec = {**SPEC, "agents": [limited, "greedy"], "limits": {"moves": 6}}
    monkeypatch.setenv("ARENA_PLAIN", "1")  # a board has no times of decisions that ran in different ways
    results = run(spec, store=tmp_path / "cup.db" if stored else None)
    (board,) = Leaderboard.of_results(results)
    rows = {row["agent"]: row for row in board.rows}
    used = [record.timing["cpu_seconds"][record.labels.index("alpha-beta")] for *_, record in results.played if record.timing]
    assert rows["alpha-beta"]["failures"] == 0
    assert rows["alpha-beta"]["cpu_per_move"] == pytest.approx(sum(used) / 6)
    assert 0.02 < rows["alpha-beta"]["cpu_per_move"] < 0.15
    assert rows["greedy"]["cpu_per_move"] is None
    assert "CPU s/move" in render(results, [board])


def groups_left() -> list[str]:
    """The control groups of agents whose creator has ended."""
    found = [path for folder in own_folders().values() for path in folder.glob("arena-*") if path.is_dir()]
    return [str(path) for path in found if not Path(f"/proc/{path.name.split('-')[1]}").exists()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_leaves_no_control_group(plugin: str, tmp_path: Path, number: int) -> None:
    if (group := new_group()) is None:
        pytest.skip("a control group cannot be created here")
    group.remove()
    agents = ["burns", {"agent": "works", "seconds": 0.5}]
    spec = {**SPEC, "agents": agents, "isolation": "process", "plugins": [plugin], "rounds": 50}
    (tmp_path / "cup.json").write_text(json.dumps(spec))
    words = [sys.executable, "-m", "arena", "run", "cup.json", "--no-store", "--workers", "2"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        eventually(lambda: marked(running.pid))
        time.sleep(1)
        running.send_signal(number)
        assert running.wait(DEADLINE_SECONDS) != 0
    eventually(lambda: not groups_left(), groups_left)


def marked(parent: int) -> list[str]:
    """The control groups that children of a process have made."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [str(path) for folder in own_folders().values() for child in children for path in folder.glob(f"arena-{child}-*")]


def test_pondering_is_part_of_an_id_only_if_allowed() -> None:
    def ids(**more: Any) -> list[str]:
        spec = load_spec({**SPEC, "agents": ["random", "greedy"], "seed": 7, **more})
        return [scheduled.match_id(spec) for scheduled in Schedule(spec).take(9)]

    assert ids() == ids(pondering=False) == ["7c035749c598fd9ada8e7f61bbf44c2d", "d731e46dfa9e1c578ac8837f462d21fb"]
    assert not {*ids()} & {*ids(pondering=True)}


def test_a_limit_of_processor_time_is_part_of_an_id_only_if_given() -> None:
    def seats(limits: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
        spec = load_spec({**SPEC, "agents": ["random", "greedy"], "limits": limits, **more})
        return [(seat.isolation, seat.identity) for seat in spec.boards[0].seats]

    assert "cpu_seconds" not in str(seats({"nodes": 5}))
    assert seats({"cpu_seconds": 1}) == seats({"cpu_seconds": 1.0})
    assert {isolation for isolation, _ in seats({"cpu_seconds": 1})} == {"process"}
    with pytest.raises(ArenaError, match="a limit of CPU seconds needs isolation: process or sandbox"):
        seats({"cpu_seconds": 1}, isolation="none")


def test_a_thread_that_waits_for_its_core_is_detected(one_core: int) -> None:
    """With the policy SCHED_IDLE, it yields to the busy process for many samples. Neither that process nor a sleeping one
    waits.
    """
    idle = "import os; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))"
    programs = {"busy": "while True: pass", "queues": f"{idle}\nwhile True: pass", "sleeps": "import time; time.sleep(600)"}
    with ExitStack() as stack:
        clocks = {}
        for name, program in programs.items():
            process = stack.enter_context(subprocess.Popen([sys.executable, "-S", "-c", program]))
            stack.callback(process.kill)
            clocks[name] = FamilyClock(ProcessTree(process.pid, ProcessTree.OF_AGENT, name), None)
            stack.callback(clocks[name].close)
            if name == "queues":
                eventually(lambda: os.sched_getscheduler(process.pid) == os.SCHED_IDLE, pause=0.01)  # noqa: B023
            clocks[name].begin()
        seen = dict.fromkeys(clocks, 0)
        for _ in range(30):
            time.sleep(0.05)
            for name, clock in clocks.items():
                seen[name] += clock.stands_in_queue()
    assert seen["queues"] > 5 > max(seen["busy"], seen["sleeps"])
