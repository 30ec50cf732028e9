"""Nobody gains by burning processor time in the opponent's turn, at each isolation that promises so, and with the honest twin."""

import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.isolation import agent_process
from arena.match.record import Record
from arena.processes.control_group import new_group
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule, identity_of
from arena.spec import load_spec
from tests.conftest import Missing

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
        self.burning = True
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

class Counts(Agent):
    """A thread of it counts on in everybody's turn; each move tells how far it came since the last, in its depth."""
    name = "counts"
    def __init__(self) -> None:
        self.ticks, self.seen = 0, None
        threading.Thread(target=self.count, daemon=True).start()
    def count(self):
        while True:
            self.ticks += 1
            time.sleep(0.001)
    def choose(self, game, state, search):
        came = 0 if self.seen is None else self.ticks - self.seen
        action = next(iter(game.actions(state)))
        search.report(action, depth=came)
        self.seen = self.ticks
        return action

@hookimpl
def arena_agents(): return [Burns, Works, Counts]
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
    """An isolation, with agents stilled by a control group, or by signals as where none can be made."""
    isolation, way = request.param
    if isolation == "sandbox":
        request.getfixturevalue("missing_sandbox")
    if way == "signals":
        monkeypatch.setattr(agent_process, "new_group", lambda *_: None)
    elif (group := new_group()) is None:
        pytest.skip("no control group can be made here")
    else:
        group.remove()
    return str(isolation)


@pytest.fixture
def missing_sandbox(missing: Missing) -> None:
    line = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "true"]
    if not shutil.which("bwrap") or subprocess.run(line, check=False).returncode:
        missing("sandbox", "bubblewrap does not run here")


def played(values: dict[str, Any]) -> list[Record]:
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as runner:
        return [runner.play(scheduled) for scheduled in Schedule(spec).take(10**6)]


@pytest.mark.parametrize("stilled", CASES, indirect=True, ids="-".join)
def test_children_that_burn_take_no_time_from_the_opponent(plugin: str, stilled: str) -> None:
    """50 of them would make a move of 0.05 s take 1.3 s on two processors; with a limit of 0.2 s the honest agent keeps it."""
    limits = {"seconds": 0.2, "moves": 6}
    records = played({**SPEC, "agents": ["burns", "works"], "isolation": stilled, "limits": limits, "plugins": [plugin]})
    assert "works" not in [record.labels[record.seat] for record in records if record.seat is not None]
    assert max(len(record.decisions) for record in records) >= 2  # the honest one has decided while the other had its children


@pytest.mark.parametrize("stilled", CASES, indirect=True, ids="-".join)
@pytest.mark.parametrize("pondering", [False, True], ids=["still", "pondering"])
def test_a_thread_counts_on_only_where_the_spec_lets_it(plugin: str, stilled: str, pondering: bool) -> None:
    """It counts a thousand times a second; a turn of the other takes 0.15 s of processor time."""
    spec = {**SPEC, "agents": ["counts", {"agent": "works", "seconds": 0.15}], "isolation": stilled, "limits": {"moves": 4}}
    for record in played({**spec, "plugins": [plugin], **({"pondering": True} if pondering else {})}):
        seat = record.labels.index("counts")
        came = [decision.depth or 0 for decision in record.decisions if decision.seat == seat][1:]
        assert came
        assert min(came) > 40 if pondering else max(came) < 40


def test_pondering_is_part_of_an_id_only_where_it_is_allowed() -> None:
    """An id of before the key is that of a spec which does not give it, and of one that says false."""

    def ids(**more: Any) -> list[str]:
        spec = load_spec({**SPEC, "agents": ["random", "greedy"], "seed": 7, **more})
        return [identity_of(spec, scheduled) for scheduled in Schedule(spec).take(9)]

    assert ids() == ids(pondering=False) == ["7ab5d122f5f43638dd8a9f61393caca0", "a20031ff9fd572a7168b9c9324227885"]
    assert not {*ids()} & {*ids(pondering=True)}
