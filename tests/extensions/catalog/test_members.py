"""Members of plugins that have the name of an optional member of arena, but a different type or signature, are ignored."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from arena import Agent, Game, Hints, load_plugins, play, run
from arena.configured import parameters_of
from arena.game import gives
from arena.spec import load_spec
from arena.traits import Abilities
from arena_catalog.board_files import BoardModule, load_board_module
from arena_catalog.grids import find_grid_fault, read_colors
from tests.conftest import Arena, arena_in

GAME = """
from functools import cached_property
from arena import Agent, Game, hookimpl


class Pebbles(Game):
    "Take one or two pebbles; who takes the last one wins."
    name = "pebbles"
    {member}

    def initial(self, rng): return (5, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, 1 - state[1])
    def returns(self, state): return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)
    def render(self, state): return "o " * state[0] + "left"


@hookimpl
def arena_games():
    return [Pebbles]
"""
ODD = {
    "a board that is a number": ("board", "board = 8"),
    "a method": ("board", "def board(self, state): return state[0]"),
    "a property": ("board", "board = property(lambda self: self.heap)"),
    "a value that is kept": ("board", "board = cached_property(lambda self: [[0]])"),
    "a grid with coordinates": ("grid", "def grid(self, row, column): return '.'"),
    "a grid without a state": ("grid", "def grid(self): return []"),
    "a grid that is no method": ("grid", "grid = (3, 3)"),
    "a class": ("grid", "class grid: pass"),
    "cells of another kind": ("cells", "def cells(self, state): return []"),
    "one colour": ("grid_colors", "grid_colors = 'red'"),
    "colours of numbers": ("grid_colors", "grid_colors = {1: '#d33'}"),
    "what is no colour": ("grid_colors", "grid_colors = {'x': 'url(#a)'}"),
}


@pytest.mark.parametrize("words", ODD)
def test_a_plugin_member_of_an_unexpected_type_is_ignored(tmp_path: Path, words: str) -> None:
    """The plugin loads and keeps its own member, its matches are played and checked, and the game is shown as text."""
    name, written = ODD[words]
    (tmp_path / "pebbles.py").write_text(GAME.format(member=written))
    game = load_plugins([tmp_path / "pebbles.py"]).game("pebbles")
    assert name in vars(game)
    assert (load_board_module(game), read_colors(game)) == (BoardModule(), {})
    assert not gives(game, "grid")
    assert not gives(game, "cells")
    assert play(game(), ["random", "greedy"]).termination == "normal"


def test_a_plugin_member_of_an_unexpected_type_does_not_affect_commands(tmp_path: Path, invoke: Arena) -> None:
    (tmp_path / "pebbles.py").write_text(GAME.format(member="board = 8"))
    (tmp_path / "cup.yaml").write_text("{game: pebbles, rounds: 1, agents: [random, greedy], plugins: [pebbles.py]}")
    ran = invoke("run", "cup.yaml")
    assert ran.returncode == 0, ran.stderr
    shown = invoke("show", "pebbles", "--plugin", "pebbles.py")
    assert (shown.returncode, "  board:" in shown.stdout, "  grid:" in shown.stdout) == (0, False, False)


@pytest.mark.process
@pytest.mark.parametrize("words", ["a board that is a number", "a grid with coordinates"])
def test_check_ignores_a_plugin_member_of_an_unexpected_type(tmp_path: Path, words: str) -> None:
    (tmp_path / "pebbles.py").write_text(GAME.format(member=ODD[words][1]))
    checked = arena_in(tmp_path)("check", "pebbles.py", "--matches", "2")
    assert (checked.returncode, "grid" in checked.stdout) == (0, False), checked.stdout


def test_attributes_of_an_instance_are_not_checked_for_their_type(tmp_path: Path) -> None:
    """Only members of the class are checked."""
    (tmp_path / "pebbles.py").write_text(GAME.format(member="def __init__(self): self.board, self.grid = [1], (2, 2)"))
    registry = load_plugins([tmp_path / "pebbles.py"])
    assert registry.game("pebbles")().grid == (2, 2)  # type: ignore[comparison-overlap]
    assert not gives(registry.game("pebbles"), "grid")


REQUIRED = """
from dataclasses import dataclass, field
from arena import Agent, Game, hookimpl
{game}
@dataclass(slots={slots})
class Counted(Pebbles):
    "Heaps of its own."
    board: int
    grid: tuple[int, int]
    grid_colors: dict[str, int] = field(default_factory=dict)
    heap: int = 5

    def __hash__(self): return 1


@dataclass
class Cites(Agent):
    "Plays the first action."
    hints: str
    refuses: list[str]
    name = "cites"

    def choose(self, game, state, search): return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Cites]


@hookimpl
def arena_games():
    return [Counted]
"""


@pytest.mark.parametrize("slots", [False, True])
def test_a_required_field_of_a_dataclass_stays_required(tmp_path: Path, slots: bool) -> None:
    """Arena adds no default to a field without one, whatever its name. Members with such names are ignored."""
    (tmp_path / "counted.py").write_text(REQUIRED.format(game=GAME.partition("@hookimpl")[0].format(member=""), slots=slots))
    registry = load_plugins([tmp_path / "counted.py"])
    game, agent = registry.game("pebbles"), registry.agent("cites")
    parameters = [*parameters_of(game).values(), *parameters_of(agent).values()]
    assert [one.name for one in parameters if one.default is one.empty] == ["board", "grid", "hints", "refuses"]
    assert (load_board_module(game), gives(game, "grid"), read_colors(game)) == (BoardModule(), False, {})
    assert (Hints.of(agent), gives(agent, "refuses")) == (Hints(), False)
    made: Any = game
    with pytest.raises(TypeError, match="board"):
        made()
    spec = {
        "game": {"name": "pebbles", "board": 8, "grid": [3, 3]},
        "agents": ["random", {"agent": "cites", "hints": "Knuth 1975", "refuses": ["yes"]}],
        "rounds": 1,
    }
    assert {record.termination for record in run(load_spec(spec, plugins=[str(tmp_path / "counted.py")])).records} == {"normal"}


def test_members_of_the_expected_type_are_accepted() -> None:
    class Drawn(Game):
        name = "drawn"
        board = "boards/drawn.js"
        grid_colors = MappingProxyType({"x": "#d33", "": "gold", "o": "#00AAff"})

        @staticmethod
        def grid(state: Any) -> list[list[str]]:
            return [["x"]]

    drawn: Any = Drawn
    assert read_colors(drawn) == {"x": "#d33", "": "gold", "o": "#00AAff"}
    derived: Any = type("Derived", (Drawn,), {})
    assert gives(derived, "grid")


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([["", "x"], ["o", "12345678"]], None),
        ((("x",),), None),
        ([["x", "o"], ["x"]], "rows of 1 and 2 cells"),
        ([], "rows of no cells"),
        ([[], []], "rows of 0 cells"),
        ([["x", 1]], "the cell 1"),
        ([["123456789"]], "the cell '123456789'"),
        (["xo", "ox"], "['xo', 'ox']"),
        ("xo", "'xo'"),
        (None, "None"),
        ([["x"] * 64] * 64, None),
        ([["x"] * 65] * 64, "64 rows of 65 cells"),
    ],
)
def test_a_grid_must_consist_of_rows_of_short_texts(cells: object, fault: str | None) -> None:
    assert find_grid_fault(cells) == fault


@pytest.mark.parametrize("given", ["press h for a hint", Hints])
def test_hints_of_an_agent_with_an_unexpected_type_are_ignored(given: Any) -> None:
    assert Hints.of(type("Cites", (Agent,), {"name": "cites", "hints": given})) == Hints()


def test_hints_of_an_agent_are_not_inherited() -> None:
    class Strong(Agent):
        name = "strong"
        hints = Hints(reference=True, proposed=MappingProxyType({"two-player": 9}))

    class Mine(Strong):
        name = "mine"

    assert Hints.of(Strong) == Hints(reference=True, proposed={"two-player": 9})
    assert Hints.of(Mine) == Hints()


@pytest.mark.parametrize("given", [3, "othello", ("othello",), frozenset({1}), property(lambda self: frozenset({"go"}))])
def test_games_of_an_agent_must_be_a_set_of_names(given: Any) -> None:
    """Any other value is ignored, and the agent plays every game. A plugin with a text or a list is refused."""
    kind: type[Agent] = type("Collector", (Agent,), {"name": "collector", "games": given, "choose": lambda *_: None})
    assert Abilities(kind).games == frozenset()
    for names in (frozenset({"go"}), {"go"}):
        named = type("Specialist", (kind,), {"games": names})
        assert Abilities(named).games == frozenset({"go"})
