"""By default, `arena check` and `arena try` run an agent on a few games."""

from pathlib import Path

import pytest

from arena import load_plugins
from arena_catalog.catalogue import choose_games

PLUGIN = """
from arena import Agent, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Mine(TicTacToe):
    "The same game under another name."
    name = "mine"


class Anything(Agent):
    "Plays the first action of any game."
    name = "anything"
    needs = frozenset({"two-player", "zero-sum"})
    def choose(self, game, state, search): return game.actions(state)[0]


class Picky(Anything):
    "Plays only some games."
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
def test_check_and_try_choose_a_few_built_in_games_by_default(agent: str, names: list[str], tmp_path: Path) -> None:
    """The choice is the user's own game and three built-in ones, or all games that the agent names. All other games are listed
    as left out.
    """
    (tmp_path / "mine.py").write_text(PLUGIN)
    registry = load_plugins([tmp_path / "mine.py"])
    kind = registry.agent(agent)
    chosen, left_out = choose_games(registry, kind)
    assert list(chosen) == names
    assert {*chosen, *left_out} == set(registry.games_for(kind))
    assert not set(chosen) & set(left_out)
