"""The default notation of states."""

import enum
import random
import re
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, strategies as st

import arena
from arena import Game
from arena.errors import SpecError
from arena.match.replay import Step
from arena.notation import NoNotation, read, write
from arena.spec import load_spec
from arena_games.tic_tac_toe import TicTacToe


class Mark(enum.Enum):
    """A plain enumeration."""

    EMPTY = "."
    CROSS = "x"


class Rank(enum.IntEnum):
    """An enumeration of numbers."""

    ACE = 1
    KING = 13


class Rights(enum.Flag):
    """An enumeration of flags, which can be combined."""

    NONE = 0
    SHORT = 1
    LONG = 2


class Place(NamedTuple):
    """A named tuple."""

    row: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A dataclass with a value that follows from the others."""

    place: Place
    mark: Any = Mark.EMPTY
    doubled: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "doubled", 2 * self.place.row)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A dataclass that contains the others."""

    cells: tuple[Cell, ...]
    seen: frozenset[Any] = frozenset()

    class Side(enum.Enum):
        """An enumeration inside of another class."""

        LEFT = 0


class Other:
    """A class whose values have no notation."""


class Rules:
    """A game has its values from this module."""


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.binary(max_size=3)
)
MEMBERS = st.sampled_from([*Mark, *Rank, *Rights, Rights.SHORT | Rights.LONG, *Table.Side])
PLACES = st.builds(Place, st.integers(), st.integers())
CELLS = st.builds(Cell, PLACES, MEMBERS)
SETS = st.frozensets(st.one_of(PLAIN, MEMBERS, PLACES, CELLS, st.frozensets(PLAIN, max_size=2)), max_size=4)
VALUES = st.recursive(
    st.one_of(PLAIN, MEMBERS, PLACES, CELLS, SETS, st.builds(Table, cells=st.lists(CELLS, max_size=2).map(tuple), seen=SETS)),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)
BARE = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3).map(tuple))


@given(value=VALUES)
def test_each_value_survives_a_round_trip(value: Any) -> None:
    text = write(value, Rules)
    found = read(text, Rules)
    assert (found, type(found)) == (value, type(value))
    assert "\n" not in text
    assert write(found, Rules) == text


@given(value=BARE)
def test_a_literal_is_written_as_python_writes_it(value: Any) -> None:
    assert write(value, Rules) == repr(value)


def test_the_notation_of_a_value_is_the_python_code_that_creates_it() -> None:
    cell = Cell(Place(1), Mark.CROSS)
    assert write(cell, Rules) == "Cell(place=Place(row=1, column=0), mark=Mark.CROSS)"
    assert write((Rank.KING, Rights(3), Table.Side.LEFT), Rules) == "(Rank.KING, Rights(3), Table.Side.LEFT)"
    assert read("Cell(Place(1), Mark('x'))", Rules) == cell


@pytest.mark.parametrize(
    "values",
    [
        (0, 8, 16, 1),
        ((0, 8), (8, 0), (16, 3)),
        (frozenset({0, 8}), frozenset({8}), frozenset()),
        (Rank.KING, Rank.ACE, None),
        (1, "1", (1,)),
    ],
)
def test_a_set_is_always_written_in_the_same_order(values: tuple[Any, ...]) -> None:
    """The iteration order of a set depends on its history, and for strings also on the process."""
    assert len({write(frozenset(order), Rules) for order in permutations(values)}) == 1
    assert write(frozenset({10, 9}), Rules) == "frozenset({9, 10})"


@pytest.mark.parametrize("value", [Other(), (1, Other()), frozenset({Other}), range(3)])
def test_values_of_other_types_have_no_notation(value: Any) -> None:
    with pytest.raises(NoNotation):
        write(value, Rules)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "__import__('os').getcwd()",
            "expected a Python literal, or a dataclass, named tuple or enumeration of the game instead",
        ),
        ("Other()", "instead of Other, got 'Other()'"),
        ("open('x')", "instead of open"),
        ("Place.__init__", "expected a Python literal"),
        ("Mark.__members__", "expected one of EMPTY, CROSS of Mark"),
        ("Mark.CIRCLE", "expected one of EMPTY, CROSS of Mark, got 'Mark.CIRCLE'"),
        ("Mark('o')", "Mark: expected the arguments value"),
        ("Mark('New', 'A B')", "Mark: expected the arguments value, got"),
        ("Place()", "Place: expected the arguments row, column"),
        ("Place(*[1])", "expected a Python literal"),
        ("Place(**{'row': 1})", "Place: expected the arguments row, column"),
        ("Cell(1)", "Cell: expected the arguments place, mark"),
        ("frozenset(1)", "expected a Python literal"),
        ("{[]: 1}", "expected a Python literal"),
        ("(1", "expected a Python literal, got '(1'"),
        ("x", "expected a Python literal"),
        ("[0 for _ in ()]", "expected a Python literal"),
        ("(" * 300, "expected a Python literal"),
    ],
)
def test_invalid_notation_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)):
        read(text, Rules)


GAME = """
import enum
import re
from dataclasses import dataclass
from arena import Game, hookimpl

class Mark(enum.Enum):
    CROSS = 0
    CIRCLE = 1

@dataclass(frozen=True)
class Heap:
    stones: frozenset
    mover: Mark = Mark.CROSS

class Gathering(Game):
    name = "gathering"

    def initial(self, rng):
        return Heap(frozenset("abcdefg"[: rng.randint(4, 7)]))

    def to_move(self, state):
        return state.mover.value

    def actions(self, state):
        return sorted(state.stones)[:3]

    def result(self, state, action):
        return Heap(frozenset(stone for stone in state.stones if stone > action), Mark(1 - state.mover.value))

    def returns(self, state):
        return (1, -1) if state.mover is Mark.CIRCLE else (-1, 1)

@hookimpl
def arena_games():
    return [Gathering]
"""


def test_states_in_notation_can_be_positions(tmp_path: Path) -> None:
    (tmp_path / "gathering.py").write_text(GAME)
    text = "Heap(stones=frozenset({'a', 'b', 'c', 'd'}), mover=Mark.CIRCLE)"
    values: dict[str, Any] = {
        "game": "gathering",
        "plugins": [str(tmp_path / "gathering.py")],
        "agents": ["random", "minimax"],
        "positions": ["Heap(frozenset('abcd'), Mark.CIRCLE)".replace("'abcd'", "['d', 'c', 'b', 'a']")],
    }
    results = arena.run(values)
    record = results.records[0]
    assert (record.position, len(results.records)) == (text, 2)
    game = results.spec.boards[0].game
    assert game.format_state(game.parse_state(text)) == text
    first, *_, last = Step.follow(game, record)
    assert (game.format_state(first.state), game.is_terminal(last.state)) == (text, True)
    with pytest.raises(SpecError, match=r"positions\[0\].*Heap: expected the arguments stones, mover"):
        load_spec({**values, "positions": ["Heap()"]})


class Written(NamedTuple):
    square: int

    def __str__(self) -> str:
        return f"square {self.square}"


class Chosen(NamedTuple):
    squares: frozenset[str]


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (7, "7"),
        ("e4", "e4"),
        ((1, "a"), "(1, 'a')"),
        (Written(3), "square 3"),
        (frozenset("dbca"), "frozenset({'a', 'b', 'c', 'd'})"),
        (Chosen(frozenset("dbca")), "Chosen(squares=frozenset({'a', 'b', 'c', 'd'}))"),
    ],
)
def test_the_default_notation_of_actions_does_not_depend_on_hashes(action: Any, text: str) -> None:
    """`str` writes a frozenset in the order of hashes, which differ between processes."""

    class Picks(TicTacToe):
        def actions(self, state: Any) -> Any:
            return [action]

        format_action = Game.format_action

    game = Picks()
    assert game.format_action(game.initial(random.Random(0)), action) == text
    assert game.parse_action(game.initial(random.Random(0)), text) is action
