"""`arena show AGENT` says which heuristics it can be given, `arena show --traits` who needs what."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.traits import Traits
from arena_catalog.catalogue import list_
from arena_catalog.show import show

PLUGIN = """
from arena import Agent, Hints, hookimpl


class Blind(Agent):
    "Plays the first action."
    name = "blind"
    hints = Hints(uses_heuristic=False)
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


def test_a_description_is_the_whole_first_paragraph(tmp_path: Path) -> None:
    """In `arena show` and in `arena list`, however its lines are broken; the second paragraph is left out."""
    paragraph = "Plays the first\n    action.\n\n    It is slow."
    (tmp_path / "eyes.py").write_text(PLUGIN.replace('"Plays the first action."', f'"""{paragraph}"""'))
    plugin = ("--plugin", str(tmp_path / "eyes.py"))
    assert shown("blind", *plugin).startswith("agent blind\n  Plays the first action.\n  ")
    listed = CliRunner().invoke(list_, ["agents", *plugin]).output
    assert re.search(r"^blind .* Plays the first action\.$", listed, re.MULTILINE)


def test_the_traits_are_listed_with_those_who_need_them(tmp_path: Path) -> None:
    """Each with what gives it; agents of plugins are among those that need it."""
    (tmp_path / "eyes.py").write_text(PLUGIN.replace('name = "blind"', 'name = "blind"\n    needs = frozenset({"genetic"})'))
    told = shown("--traits", "--plugin", str(tmp_path / "eyes.py"))
    assert [line for line in told.splitlines() if line[0] != " "] == list(Traits.WORDS)
    assert "\ngenetic\n  condition: the class defines crossover and mutate\n  needed by blind, genetic, seeing\n" in f"{told}\n"
    assert "\nmulti-player\n  condition: the game has another number of players\n  needed by no agent\n" in told


@pytest.mark.parametrize("words", [[], ["othello", "--traits"]])
def test_either_a_name_or_the_traits(words: list[str]) -> None:
    """Neither and both are wrong, with what is expected."""
    result = CliRunner().invoke(show, words)
    assert result.exit_code == 2
    assert "expected a name, as in `arena show connect-four`, or --traits" in result.stderr
