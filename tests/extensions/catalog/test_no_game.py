"""Why an agent can play no game: the report names what the author can change."""

from pathlib import Path

import pytest

import arena
from arena_catalog.catalogue import explain_no_game

FILE = """
from arena import Agent, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Dudo(TicTacToe):
    name = "dudo"


class Bluffer(Agent):
    name = "bluffer"
    games = frozenset({GAME})
    NEEDS

    def choose(self, game, state, search):
        return game.actions(state)[0]


@hookimpl
def arena_games():
    return [Dudo]


@hookimpl
def arena_agents():
    return [Bluffer]
"""


def explain(folder: Path, game: str, needs: str = "") -> str:
    file = folder / f"{game or 'any'}.py"
    file.write_text(FILE.replace("{GAME}", f'{{"{game}"}}' if game else "").replace("NEEDS", needs))
    registry = arena.load_plugins([str(file)])
    return explain_no_game(registry, registry.agent("bluffer"))


def test_the_error_for_an_agent_that_lacks_traits_of_its_game_says_what_to_write(tmp_path: Path) -> None:
    """`arena.play` refuses the agent with the same words."""
    told = explain(tmp_path, "kuhn-poker")
    assert told.startswith("bluffer cannot play kuhn-poker: kuhn-poker has chance and hidden-information; ")
    assert 'write copes = frozenset({"chance", "hidden-information"}) in class Bluffer' in told
    agent = arena.load_plugins([str(tmp_path / "kuhn-poker.py")]).agent("bluffer")
    with pytest.raises(arena.ArenaError) as refused:
        arena.play("kuhn-poker", [agent(), "random"])
    assert str(refused.value) == told


def test_the_error_names_the_game_that_lacks_a_trait_or_the_required_traits(tmp_path: Path) -> None:
    needs = 'needs = frozenset({"single-player", "zero-sum"})'
    assert explain(tmp_path, "tic-tac-toe", needs).startswith("bluffer cannot play tic-tac-toe: needs single-player; ")
    assert explain(tmp_path, "", needs).startswith("no game fits: the agent needs single-player, zero-sum; `arena list games`")


def test_a_misspelt_game_of_the_same_file_is_suggested(tmp_path: Path) -> None:
    """A comparison of the words alone would prefer `sudoku` to `dudo`."""
    with pytest.raises(arena.ArenaError, match=r"^unknown game 'dodu'; did you mean 'dudo', which .*dodu\.py defines\?$"):
        explain(tmp_path, "dodu")
    with pytest.raises(arena.ArenaError, match="unknown game 'otello'; did you mean 'othello'"):
        explain(tmp_path, "otello")
