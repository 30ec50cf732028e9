"""`arena show AGENT` says which heuristics it can be given."""

from pathlib import Path

from click.testing import CliRunner

from arena.commands.show import show

PLUGIN = """
from arena import Agent, hookimpl


class Blind(Agent):
    "Plays the first action."
    name = "blind"
    uses_heuristic = False
    def choose(self, game, state, search): return game.actions(state)[0]


class Seeing(Blind):
    "Derives from it, and may ask."
    name = "seeing"


@hookimpl
def arena_agents(): return [Blind, Seeing]
"""


def shown(name: str, *more: str) -> str:
    result = CliRunner().invoke(show, [name, *more])
    assert result.exit_code == 0
    return result.output


def test_the_heuristics_of_each_game_are_listed() -> None:
    """For an agent that can do without, too; games that it cannot play are left out."""
    told = shown("alpha-beta")
    assert "    connect-four: centre, open-lines *\n" in told
    assert "    othello: corners-mobility *, discs\n" in told
    assert "sudoku" not in told
    solver = shown("a-star")
    assert "    sliding-tiles: linear-conflict, manhattan *, misplaced, pattern-db, walking-distance\n" in solver


def test_an_agent_that_uses_none_says_so(tmp_path: Path) -> None:
    """The flag holds for the class that sets it alone."""
    (tmp_path / "eyes.py").write_text(PLUGIN)
    assert "heuristics: it uses none" in shown("bfs")
    assert "heuristics: it uses none" in shown("blind", "--plugin", str(tmp_path / "eyes.py"))
    assert "tic-tac-toe: open-lanes *" in shown("seeing", "--plugin", str(tmp_path / "eyes.py"))
