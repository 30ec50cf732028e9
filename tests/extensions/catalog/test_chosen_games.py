"""The games on which `arena check` and `arena try` put an agent if nobody names one."""

from pathlib import Path

import pytest

from arena import load_plugins
from arena_catalog.catalogue import choose_games

PLUGIN = """
from arena import Agent, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Mine(TicTacToe):
    "Under another name."
    name = "mine"


class Anything(Agent):
    "Plays the first action of any game."
    name = "anything"
    needs = frozenset({"two-player", "zero-sum"})
    def choose(self, game, state, search): return game.actions(state)[0]


class Picky(Anything):
    "Names its games."
    name = "picky"
    games = frozenset({"nim", "hex", "kalah", "othello"})


@hookimpl
def arena_games(): return [Mine]


@hookimpl
def arena_agents(): return [Anything, Picky]
"""


@pytest.mark.parametrize(
    ("agent", "names"),
    [("anything", ["mine", "tic-tac-toe", "connect-four", "othello"]), ("picky", ["othello", "nim", "hex", "kalah"])],
)
def test_few_built_in_games_are_chosen(agent: str, names: list[str], tmp_path: Path) -> None:
    """The user's own game, and three built-in ones; or all that the agent names. No game is lost without its name."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    registry = load_plugins([tmp_path / "mine.py"])
    kind = registry.agent(agent)
    chosen, left_out = choose_games(registry, kind)
    assert list(chosen) == names
    assert {*chosen, *left_out} == set(registry.games_for(kind))
    assert not set(chosen) & set(left_out)
