"""The default limits of a command never replace an action of an agent by a random one."""

from dataclasses import replace
from pathlib import Path
from sys import stderr, stdout
from time import monotonic

from arena import load_plugins, run
from arena.match.referee import play_match
from arena.spec import load_spec
from arena_check.check_process import CheckProgress, SharedNote
from arena_check.trial_board import GAME_NODES, TrialBoard
from arena_duel.duel import DuelOptions, duel
from arena_setup.match_setup import MatchSetup, match_of
from arena_tune.terms import Asked, read_terms

SLOW = f"""
from arena import Agent, hookimpl

class Slow(Agent):
    name = "slow"
    def __init__(self, *, most: int = 0) -> None:
        pass
    def choose(self, game, state, search):
        actions = game.actions(state)
        for _ in range({GAME_NODES[1] + 1}):
            game.result(state, actions[0])
        return actions[0]

@hookimpl
def arena_agents():
    return [Slow]
"""
"""This agent plays the first action after more states than `arena try` allows for a decision, and reports no action before."""


def test_play_and_solve_replace_an_action_only_if_the_user_sets_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    setup = MatchSetup("tic-tac-toe", limits={"nodes": 100}, patient=True, plugins=(str(file),))
    record = play_match(match_of(setup.load(["slow", "slow"])))
    assert (record.fallbacks, record.actions) == (0, ("1", "2", "3", "4", "5", "6", "7"))
    own = play_match(match_of(setup.load(["slow", "slow:limits={nodes: 50}"])))
    assert own.fallbacks == sum(decision.seat == 1 for decision in own.decisions) > 0, "the entry sets its own limits"
    named = play_match(match_of(replace(setup, patient=False).load(["slow", "slow"])))
    assert named.fallbacks == len(named.decisions)


def test_try_never_replaces_an_action_of_an_agent(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    registry, note = load_plugins((file,)), SharedNote.new()
    board = TrialBoard(registry, str(file), (str(file),), 0, stdout, monotonic(), CheckProgress(note, stderr))
    spec = board.spec(registry.game("tic-tac-toe")(), ["slow", "random"])
    assert (
        sum(
            match.record.fallbacks for match in run(load_spec({**spec.document.values, "rounds": 1}, plugins=(str(file),))).played
        )
        > 0
    )
    assert sum(match.record.fallbacks for match in run(spec).played) == 0
    note.close()


def test_duel_and_tune_set_no_default_limits_for_games(tmp_path: Path) -> None:
    """A solver has a default limit, because many puzzles are too hard. A solver's missing solution is never replaced by a
    random move.
    """
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    given = duel.make_context("duel", ["slow.py"]).params
    assert DuelOptions(**given).limits_given == {}
    asked = Asked(str(file), None, "tic-tac-toe", ("most=0..3",), None, None, None, ())
    assert "limits" not in read_terms(asked).keys
    assert "limits" not in read_terms(replace(asked, game="sliding-tiles")).keys, "the agent chooses its moves one by one"
    solver = Asked("a-star", None, "sliding-tiles", ("weight=1..2",), None, None, None, ())
    assert read_terms(solver).keys["limits"] == {"nodes": 20_000}
