"""`arena show AGENT` lists the agent's heuristics, and `arena show --traits` lists the agents that need each trait."""

import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from click.testing import CliRunner
from pydantic import Field

from arena import Agent, Registry, UnknownName, load_plugins
from arena.api.games import HeuristicInfo, count_given
from arena.api.spec import Parameters
from arena.traits import Traits
from arena_catalog.catalogue import list_
from arena_catalog.show import _describe_type, explain_parameter, show

PLUGIN = """
from arena import Agent, Hints, hookimpl


class Blind(Agent):
    "Plays the first action."
    name = "blind"
    hints = Hints(uses_heuristic=False)
    def choose(self, game, state, search): return game.actions(state)[0]


class Seeing(Blind):
    "Derives from Blind, and may use a heuristic."
    name = "seeing"


@hookimpl
def arena_agents(): return [Blind, Seeing]
"""


def shown(name: str, *more: str) -> str:
    result = CliRunner().invoke(show, [name, *more])
    assert result.exit_code == 0
    return result.output


def test_the_heuristics_of_each_game_are_listed() -> None:
    """The list is also shown for agents that use a heuristic only optionally. Games that the agent cannot play are left out."""
    told = shown("alpha-beta")
    assert "    connect-four: centre, open-lines *\n" in told
    assert "    othello: corners-mobility *, discs\n" in told
    assert "sudoku" not in told
    solver = shown("a-star")
    assert "    sliding-tiles: linear-conflict, manhattan *, misplaced, pattern-db, walking-distance\n" in solver


def test_an_agent_that_uses_no_heuristic_is_described(tmp_path: Path) -> None:
    """The flag applies only to the class that sets it."""
    (tmp_path / "eyes.py").write_text(PLUGIN)
    assert "heuristics: not used" in shown("bfs")
    assert "heuristics: not used" in shown("blind", "--plugin", str(tmp_path / "eyes.py"))
    assert "tic-tac-toe: open-lanes *" in shown("seeing", "--plugin", str(tmp_path / "eyes.py"))


def test_a_description_is_the_whole_first_paragraph(tmp_path: Path) -> None:
    """`arena show` and `arena list` join its lines and leave out the second paragraph."""
    paragraph = "Plays the first\n    action.\n\n    It is slow."
    (tmp_path / "eyes.py").write_text(PLUGIN.replace('"Plays the first action."', f'"""{paragraph}"""'))
    plugin = ("--plugin", str(tmp_path / "eyes.py"))
    assert shown("blind", *plugin).startswith("agent blind\n  Plays the first action.\n  ")
    listed = CliRunner().invoke(list_, ["agents", *plugin]).output
    assert re.search(r"^blind .* Plays the first action\.$", listed, re.MULTILINE)


def test_a_part_without_a_docstring_leaves_no_empty_line(tmp_path: Path) -> None:
    (tmp_path / "eyes.py").write_text(PLUGIN.replace('"Plays the first action."', "pass"))
    assert re.match(r"agent blind\n  \S", shown("blind", "--plugin", str(tmp_path / "eyes.py")))


def test_traits_are_listed_with_the_agents_that_need_them(tmp_path: Path) -> None:
    """Each trait is listed with its condition, and agents of plugins are listed, too."""
    (tmp_path / "eyes.py").write_text(PLUGIN.replace('name = "blind"', 'name = "blind"\n    needs = frozenset({"genetic"})'))
    told = shown("--traits", "--plugin", str(tmp_path / "eyes.py"))
    assert [line for line in told.splitlines() if line[0] != " "] == list(Traits.WORDS)
    assert "\ngenetic\n  condition: the class defines crossover and mutate\n  needed by blind, genetic, seeing\n" in f"{told}\n"
    assert "\nmulti-player\n  condition: the game has another number of players\n  needed by no agent\n" in told


@pytest.mark.parametrize("words", [[], ["othello", "--traits"]])
def test_show_needs_a_name_or_traits(words: list[str]) -> None:
    """A call with both or with neither is a usage error."""
    result = CliRunner().invoke(show, words)
    assert result.exit_code == 2
    assert "expected a name, as in `arena show connect-four`, or --traits" in result.stderr


# Parameters and names


def test_every_parameter_of_a_built_in_part_is_explained() -> None:
    """The explanation is in a docstring or a `Field(description=...)`, for agents, games, heuristics and formats."""
    registry = load_plugins()
    own = [(key, value) for key, value in registry.items() if registry.sources[key].own and key[0] != "encoding"]
    bare = [
        (*key, name)
        for key, value in own
        for name in list(Parameters(value).known)[count_given(value) if HeuristicInfo.of(value) else 0 :]
        if not explain_parameter(value, name)
    ]
    assert len(own) > 100
    assert bare == []


def test_a_parameter_is_explained_by_its_field_its_docstring_or_a_base_class() -> None:
    class Bold(Agent):
        """Attacks. It looks `depth` plies ahead. With `greed: 2`, it takes two. `greed` is 1 by default. `greed` ends here."""

        def __init__(
            self, *, depth: int = 2, greed: int = 1, pace: Annotated[int, Field(ge=1, description="Moves a day.")] | None = None
        ) -> None: ...

    class Bolder(Bold):
        """Attacks even more. Its `courage` is not a parameter."""

        def __init__(self, *, depth: int = 3, courage_of: int = 0) -> None: ...

    assert explain_parameter(Bold, "depth") == "It looks `depth` plies ahead."
    assert explain_parameter(Bold, "greed") == "With `greed: 2`, it takes two. `greed` is 1 by default."
    assert explain_parameter(Bold, "pace") == "Moves a day."
    assert explain_parameter(Bolder, "depth") == "It looks `depth` plies ahead."
    assert explain_parameter(Bolder, "courage_of") == ""


def test_show_explains_parameters_and_uses_no_internal_words() -> None:
    assert "    exploration: number from 0 to 1,000; default 1.414\n      `exploration` is the constant c of UCT" in shown("mcts")
    everything = "".join(shown(name) for name in sorted({key[-1] for key, _ in load_plugins().items() if key[0] != "encoding"}))
    assert not re.findall(r"^  (?:proposed|reference|hints):.*", everything, re.MULTILINE)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("first-choice hill climbing", "hill-climb"),
        ("stochastic-hill-climbing", "hill-climb"),
        ("MRV", "backtracking"),
        ("most-constrained variable", "backtracking"),
        ("minimum-remaining-values", "backtracking"),
        ("depth-first", "dfs"),
        ("breadth-first-search", "bfs"),
        ("dijkstra", "uniform-cost"),
        ("A* search", "a-star"),
        ("greedy-best-first", "best-first"),
        ("simulated-annealing", "annealing"),
        ("uct", "mcts"),
        ("monte carlo tree search", "mcts"),
        ("expectiminimax", "expectimax"),
        ("reversi", "othello"),
        ("8-puzzle", "sliding-tiles"),
        ("eight-queens", "n-queens"),
    ],
)
def test_agents_are_found_by_their_names_in_textbooks(word: str, name: str) -> None:
    """`arena list WORD` finds the name, and the message of `arena show WORD` suggests it."""
    listed = CliRunner().invoke(list_, [word])
    assert re.search(rf"^{name} ", listed.output, re.MULTILINE), listed.output
    assert f"did you mean {name!r}" in str(CliRunner().invoke(show, [word]).exception)


def test_both_names_of_sudoku_solvers_are_found() -> None:
    assert re.findall(r"^\S+", CliRunner().invoke(list_, ["forward checking"]).output, re.MULTILINE)[2] == "backtracking"
    with pytest.raises(UnknownName, match="unknown agent 'forward-checking'; did you mean 'backtracking'"):
        load_plugins().agent("forward-checking")


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("game", "chess", "the distribution fairarena-chess defines it: in a checkout of fairarena, run `pip install ./chess`"),
        ("agent", "stockfish", "write {agent: {command: [stockfish], protocol: uci}}"),
        ("agent", "gnugo", "write {agent: {command: [gnugo], protocol: gtp}}"),
        ("game", "go", "write {name: openspiel, game: go}"),
    ],
)
def test_names_of_other_distributions_and_programs_are_explained(kind: str, name: str, hint: str) -> None:
    registry = Registry()
    with pytest.raises(UnknownName) as caught:
        getattr(registry, kind)(name)
    assert str(caught.value).startswith(f"unknown {kind} {name!r}; ")
    assert hint in str(caught.value)


def test_the_message_names_the_distribution_that_contains_chess() -> None:
    """The name is a constant in the message, because the distribution is not installed."""
    text = (Path(__file__).parents[3] / "chess" / "pyproject.toml").read_text()
    assert 'name = "fairarena-chess"' in text
    assert 'chess = "arena_chess"' in text


@pytest.mark.parametrize(("word", "meant"), [("gams", "games"), ("agnts", "agents"), ("heuristcs", "heuristics")])
def test_a_misspelt_kind_is_suggested(word: str, meant: str) -> None:
    """A search among the names of all games and agents would suggest another name."""
    found = CliRunner().invoke(list_, [word])
    assert str(found.exception) == f"unknown word {word!r}; did you mean {meant!r}?"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, "whole number from 1 to 9"),
        ({"type": "integer", "minimum": 1}, "whole number from 1"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 400}, "number above 0 and up to 400"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, "number above 0 and below 0.5"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}, "number above 0 and up to 1,000,000,000"),
        ({"type": "string"}, "text"),
        ({"enum": ["a", "b", "c"]}, "a, b or c"),
    ],
)
def test_types_of_parameters_are_described_in_words(schema: dict[str, Any], text: str) -> None:
    assert _describe_type(schema) == text


@pytest.mark.parametrize(
    ("name", "kinds"), [("greedy", "games and puzzles"), ("alpha-beta", "games"), ("a-star", "puzzles"), ("mcts", "games")]
)
def test_show_lists_the_kinds_of_games_for_comparisons(name: str, kinds: str) -> None:
    assert f"  `arena try` compares new agents with it on {kinds}\n" in CliRunner().invoke(show, [name]).output
