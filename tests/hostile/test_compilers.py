"""The compiler of an entry runs the entry's code, so it must not run while a rival has its turn."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_isolation import sandbox
from arena_isolation.agent_process import AgentProcess
from tests.hostile.conftest import lying_compiler

HONEST = """
import time
from arena import Agent, hookimpl

class Thinker(Agent):
    name = "thinker"
    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Thinker]
"""
THINK = """
def think():
    until, busy = time.time() + 1.5, []
    while time.time() < until:
        if not busy or time.time() > busy[-1] + 0.005:
            busy.append(time.time())
    return {"book.module": base64.b64encode(json.dumps(busy).encode()).decode()}
"""
THINKER = HONEST.replace("@hookimpl", f"{THINK}{lying_compiler('think()')}\n@hookimpl")
RIVAL = """
import time
from pathlib import Path
from arena import Agent, hookimpl

class Rival(Agent):
    name = "rival"
    def choose(self, game, state, search):
        began = time.time()
        time.sleep(0.3)
        with Path({turns!r}).open("a") as file:
            file.write(f"{{began}} {{time.time()}}\\n")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Rival]
"""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], list[Record]]:
    """Play eight matches of an agent with its own code against a rival that thinks, in this process."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))

    def play(code: str, isolation: str) -> list[Record]:
        (tmp_path / "thinker.py").write_text(code)
        (tmp_path / "rival.py").write_text(RIVAL.format(turns=str(tmp_path / "turns")))
        spec = load_spec(
            {
                "game": {"name": "tic-tac-toe", "rows": 1, "columns": 3, "in_a_row": 3},
                "plugins": [str(tmp_path / "rival.py")],
                "rounds": 4,
                "limits": {"seconds": 20},
                "agents": [{"agent": "thinker", "plugin": str(tmp_path / "thinker.py"), "isolation": isolation}, "rival"],
            }
        )
        with closing(MatchRunner(spec)) as runner:
            return [runner.play(match) for match in Schedule(spec).take(10**6)]

    return play


def books() -> Iterator[list[float]]:
    """Yield the times at which the compilers of entries were busy."""
    for file in sandbox.private_folder("x").parent.glob("*/book.module"):
        yield json.loads(file.read_bytes())


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
def test_the_compiler_of_an_entry_does_not_run_in_the_turn_of_a_rival(
    eager: None,
    starts: list[AgentProcess],
    play: Callable[[str, str], list[Record]],
    isolation: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """The agent claims that all its decisions run uncompiled. It gets one compiler, between two matches."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    records = play(THINKER, isolation)
    assert [record.termination for record in records] == ["normal"] * 8
    assert len(starts) == 1
    (busy,) = books()
    assert busy[-1] - busy[0] > 1, "the compiler did not think at all"
    turns = [tuple(map(float, line.split())) for line in (tmp_path / "turns").read_text().splitlines()]
    assert len(turns) == 12  # in a row of three, the first to move moves twice
    assert not [time for time in busy for began, ended in turns if began <= time <= ended]


def test_no_compiler_is_started_for_an_agent_without_a_search(
    eager: None, starts: list[AgentProcess], play: Callable[[str, str], list[Record]]
) -> None:
    assert [record.termination for record in play(HONEST, "process")] == ["normal"] * 8
    assert not starts
    assert not list(books())
