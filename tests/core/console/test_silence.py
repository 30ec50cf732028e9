"""The line about a match that takes long."""

import io
import time
from pathlib import Path

import pytest

from arena.console.progress import Progress
from arena.schedule.runner import Turns
from arena.spec import load_spec
from arena.tournament.run import Monitor, RunSettings, play_tournament
from tests.players import PLAYERS

pytestmark = pytest.mark.process

SLOW = """
import time
from arena import Agent, hookimpl


class Slow(Agent):
    "Plays the first action, and thinks for long about the sixth ply of the match: its third."
    name = "slow"
    needs = frozenset({"two-player"})

    def __init__(self):
        self.asked = 0

    def choose(self, game, state, search):
        self.asked += 1
        if self.asked == 3:
            time.sleep(0.8)
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Slow]
"""


class Watching(Monitor):
    """Counts matches and decisions on the line of a run."""

    watches = True

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress.note)
        self._progress = progress

    def watch(self, turns: Turns) -> None:
        self._progress.watch(turns)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_slow_decision_is_reported_with_its_match_agent_and_ply(workers: int, tmp_path: Path) -> None:
    """In the second match, the slow agent has the second seat, so its third decision is ply 6."""
    (tmp_path / "slow.py").write_text(SLOW)
    spec = load_spec(
        {"game": "connect-four", "rounds": 1, "agents": ["last", "slow"]},
        plugins=[str(tmp_path / "slow.py"), str(PLAYERS)],
    )
    stream = io.StringIO()
    with Progress(spec.boards, spec.size, stream, silence=0.4) as progress:
        play_tournament(spec, None, RunSettings(workers=workers, guarded=workers > 1), Watching(progress))
    told = "no match has finished for {}: slow is at ply {} of {}, round 1 of connect-four"
    lines = stream.getvalue().splitlines()
    expected = [(5, "slow - last"), (6, "last - slow")]
    advice = "; its decisions have no time limit: Ctrl-C stops the run, "
    advice += "and `limits: {seconds: 10}` in the spec sets one"
    assert all(line.endswith(advice) for line in lines)
    assert {line.removesuffix(advice).partition(": ")[2] for line in lines} == {
        told.format("", *one).partition(": ")[2] for one in expected
    }
    assert all(line.startswith("no match has finished for ") for line in lines)


def test_nothing_is_reported_while_matches_finish() -> None:
    spec = load_spec({"game": "tic-tac-toe", "rounds": 20, "agents": ["random", "greedy"]})
    stream = io.StringIO()
    with Progress(spec.boards, spec.size, stream, silence=5.0) as progress:
        play_tournament(spec, None, RunSettings(), Watching(progress))
    with Progress(spec.boards, spec.size, stream, silence=0.1):
        time.sleep(0.3)
    assert stream.getvalue() == ""
