"""The pytest plugin in the test suites of made-up authors, each run by a pytest of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

Called = subprocess.CompletedProcess[str]


PLUGIN = """
from arena import Agent, Game, hookimpl

class First(Agent):
    name = "first"
    needs = frozenset({"two-player"})
    def __init__(self, *, last: bool = False):
        self.last = last
    def choose(self, game, state, search):
        return game.actions(state)[-1 if self.last else 0]

class Wild(First):
    name = "wild"
    def choose(self, game, state, search):
        import random
        return random.choice(game.actions(state))

class Stuck(First):
    name = "stuck"
    def choose(self, game, state, search):
        while True: pass

class Heap(Game):
    name = "heap"
    def __init__(self, *, stones: int = 7):
        self.stones = stones
    def initial(self, rng): return (self.stones, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2, 3) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, 1 - state[1])
    def returns(self, state): return (1, -1) if state[1] == 1 else (-1, 1)

@hookimpl
def arena_agents(): return [First, Wild, Stuck]

@hookimpl
def arena_games(): return [Heap]
"""
TESTS = """
import pytest
from arena import play

@pytest.mark.arena(agent="first")
def test_by_name(): pass

@pytest.mark.arena(game="heap")
def test_a_game(arena_game):
    assert arena_game.stones == 7

@pytest.mark.arena(game={"name": "heap", "stones": 9}, agent={"agent": "first", "last": True})
def test_with_parameters(arena_game, arena_agent):
    assert arena_game.stones == 9
    assert arena_agent.last
    assert play(arena_game, [arena_agent, "random"]).termination == "normal"

@pytest.mark.arena(agent="wild")
def test_that_must_fail():
    raise SystemError("the body never runs")

@pytest.mark.arena(agent="stuck", patience=0.5)
def test_that_does_not_answer(): pass

@pytest.mark.arena(agnet="wild")
def test_a_word_that_is_none(): pass

def test_without_a_marker(arena_agent): pass

@pytest.mark.arena(agent="frist")
def test_a_wrong_name(): pass
"""


def test_fixtures_and_the_marker_work_in_a_test_suite_of_an_author(tmp_path: Path, called: Callable[..., Called]) -> None:
    """Three tests pass. The others fail, each with a message that says why: an agent uses the global random generator, an
    agent does not answer within the patience of the marker, and some words and names are wrong.
    """
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "test_suite.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\narena_plugins = plugin.py\n")
    ended = called("pytest", "-q", "-p", "no:cacheprovider", "-W", "error")
    assert "4 failed, 3 passed, 1 error" in ended.stdout, ended.stdout
    assert "wild on heap: the agent uses the global random generator" in ended.stdout
    assert "stuck on heap: Stuck.choose does not return" in ended.stdout
    assert f"plugin.py:{PLUGIN.splitlines().index('        while True: pass') + 1}" in ended.stdout
    assert "the body never runs" not in ended.stdout
    assert "expected keyword arguments from game, agent, heuristic, seed, matches, patience, check; got agnet" in ended.stdout
    assert "expected @pytest.mark.arena(agent=...) or the ini option arena_agent" in ended.stdout
    assert "unknown agent 'frist'; did you mean 'first'?" in ended.stdout
    assert "extensions/arena_check/" not in ended.stdout  # none of our frames


def test_a_test_suite_that_does_not_use_arena_is_not_affected(tmp_path: Path, called: Callable[..., Called]) -> None:
    """Only the module of the pytest plugin is imported, and no fixture name conflicts."""
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_other():\n    assert not [name for name in sys.modules if name.startswith('arena.spec')]\n"
    )
    ended = called("pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "--strict-markers")
    assert "1 passed" in ended.stdout, ended.stdout
