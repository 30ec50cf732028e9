"""Encodings: the promises of the decorator, the checks of `arena check`, and the built-in encodings."""

import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from arena import Game, PluginError, State, UnknownName, encoding, load_plugins
from arena.encodings import bind_encoding, encodings_of
from arena.game import CHANCE, gives
from arena.testing import Violation, check_encoding
from arena_games.kuhn_poker import KuhnPoker
from arena_games.tic_tac_toe import TicTacToe

REGISTRY = load_plugins(environ=False)
OWN = {key: value for key, value in REGISTRY.encodings.items() if value.__module__.startswith("arena_games")}

SMALLER: dict[str, Any] = {
    "prisoners-dilemma": {"turns": 9, "noise": 0.1},
    "sudoku": {"box": 2},
    "connect-four": {"rows": 4, "columns": 5},
}


def games() -> dict[str, Game]:
    return {
        name: kind(**SMALLER.get(name, {})) for name, kind in REGISTRY.games.items() if kind.__module__.startswith("arena_games")
    }


def encoded(name: str, which: str, text: str, seat: int, **parameters: Any) -> list[float]:
    game = REGISTRY.game(name)(**parameters)
    return list(bind_encoding(which, game).encode(game.parse_state(text), seat))


def test_every_built_in_game_has_an_encoding() -> None:
    assert {game for game, _ in OWN} == set(games())


@pytest.mark.parametrize(("game", "name"), OWN)
def test_built_in_encodings_pass_the_checks(game: str, name: str) -> None:
    assert check_encoding(OWN[game, name], games()[game], matches=1) == ("shape", "range", "repeats", "randomness")


def test_the_seat_sees_its_own_pieces_first() -> None:
    x, o = [1, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert encoded("tic-tac-toe", "planes", "x../.o./..x", 0) == x + o
    assert encoded("tic-tac-toe", "planes", "x../.o./..x", 1) == o + x


def test_the_first_row_of_an_encoding_is_the_top_row_of_the_board() -> None:
    text = ".../.../o../xx."
    assert encoded("connect-four", "planes", text, 1, rows=4, columns=3, in_a_row=3) == [
        *(int(mark == "o") for mark in text if mark != "/"),
        *(int(mark == "x") for mark in text if mark != "/"),
    ]


def test_othello_encodes_the_legal_moves_of_the_seat_to_move() -> None:
    """At the standard start, x may play d3, c4, f5 and e6, and it is not o's turn."""
    game = REGISTRY.game("othello")()
    state = game.initial(random.Random(0))
    bound = bind_encoding("planes", game)
    assert bound.shape == (3, 8, 8)
    legal = [list(bound.encode(state, seat))[128:] for seat in (0, 1)]
    assert [place for place, flag in enumerate(legal[0]) if flag] == [2 * 8 + 3, 3 * 8 + 2, 4 * 8 + 5, 5 * 8 + 4]
    assert not any(legal[1])


def test_a_sudoku_has_a_plane_for_each_digit_and_one_of_empty_cells() -> None:
    planes = encoded("sudoku", "planes", "1..." + "." * 12, 0, box=2)
    assert planes[:4] == [1, 0, 0, 0]  # a 1 stands there, and nowhere else in the row
    assert planes[16:20] == [0, 1, 1, 1]
    assert planes[64:] == [0] + [1] * 15


def test_hidden_cards_do_not_change_an_encoding() -> None:
    game = KuhnPoker()
    bound = bind_encoding("features", game)
    both = [game.parse_state(text) for text in ("QJ:pb", "QK:pb")]
    assert len({tuple(bound.encode(game.observation(state, 0), 0)) for state in both}) == 1
    assert len({tuple(bound.encode(game.observation(state, 1), 1)) for state in both}) == 2


def test_all_states_of_tic_tac_toe_have_different_planes() -> None:
    """There are 5,478 reachable states."""
    game = TicTacToe()
    encode = bind_encoding("planes", game).encode
    seen = {(0, 0)}
    frontier: list[Any] = [(0, 0)]
    while frontier:
        state = frontier.pop()
        after = {game.result(state, action) for action in game.actions(state)} - seen
        seen |= after
        frontier += after
    assert len({tuple(encode(state, 0)) for state in seen}) == len(seen) == 5478


@pytest.mark.parametrize("name", sorted(set(games()) - {"2048", "pig"}))
def test_encodings_distinguish_observations(name: str) -> None:
    """The observations occur at the turns of a seat in random play. 2048 also has the score, and pig has scores above the
    target.
    """
    game = games()[name]
    seen: dict[Any, Any] = {}
    encode = bind_encoding(next(iter(encodings_of(game))), game).encode
    for number in range(6):
        rng = random.Random(number)
        state = game.initial(rng)
        for _ in range(60):
            if game.is_terminal(state):
                break
            seat = game.to_move(state)
            if seat != CHANCE:
                observation = game.observation(state, seat)
                assert seen.setdefault((seat, tuple(encode(observation, seat))), _told(name, observation)) == _told(
                    name, observation
                )
            state = game.result(state, rng.choice(list(game.actions(state))))


def _told(name: str, observation: Any) -> Any:
    """Return an observation without irrelevant parts: the order of earlier events, and the suits of Leduc poker."""
    if name == "goofspiel":
        turns, prize = getattr(observation, "state", observation)
        return prize, frozenset((won, order) for won, _, order in turns)
    if name == "leduc-poker":
        return [card[0] for card in observation[0]], observation[1:]
    if name == "hearts":
        return observation.hands, observation.points, frozenset(observation.played)
    return observation


@pytest.mark.parametrize(
    ("name", "count"),
    {
        "tic-tac-toe": 9,
        "connect-four": 5,
        "othello": 65,
        "sliding-tiles": 8,
        "n-queens": 8,
        "sudoku": 64,
        "pancake": 9,
        "nim": 16,
        "gomoku": 225,
        "hex": 49,
        "kalah": 6,
        "dots-and-boxes": 24,
        "breakthrough": 2 * 7 * (8 + 7 + 7),
        "hanoi": 12,
        "top-spin": 12,
        "rubik-2x2": 6,
        "grid-path": 8,
        "sokoban": 72,
        "checkers": 2 * 49 + 2 * 36,
        "pig": 2,
        "hearts": 52,
    }.items(),
)
def test_action_spaces_contain_every_action_once(name: str, count: int) -> None:
    space = list(games()[name].action_space())
    assert len(set(space)) == len(space) == count


def test_every_game_but_backgammon_has_an_action_space() -> None:
    """In backgammon, four moves of a double from 25 points are more than 100,000 actions."""
    assert {name for name, game in games().items() if not gives(game, "action_space")} == {"backgammon"}


def bad_shape(game: Game, observation: State, seat: int) -> list[float]:
    return [0.0] * 4


def bad_range(game: Game, observation: State, seat: int) -> list[float]:
    return [2.0, 0.0, 0.0]


def not_a_number(game: Game, observation: State, seat: int) -> list[float]:
    return [float("nan"), 0.0, 0.0]


def at_random(game: Game, observation: State, seat: int) -> list[float]:
    return [random.random(), 0.0, 0.0]


class Counts:
    def __init__(self, game: Game) -> None:
        self.calls = 0

    def __call__(self, observation: State, seat: int) -> list[float]:
        self.calls += 1
        return [1 / self.calls, 0.0, 0.0]


@pytest.mark.parametrize(
    ("bad", "check"),
    [(bad_shape, "shape"), (bad_range, "range"), (not_a_number, "range"), (at_random, "repeats"), (Counts, "repeats")],
)
def test_the_check_finds_wrong_encodings(bad: Callable[..., Any], check: str) -> None:
    encodings = dict(encodings_of(TicTacToe()))
    try:
        wrong = encoding("wrong", game="tic-tac-toe", shape=(3,))(bad)
        with pytest.raises(Violation) as caught:
            check_encoding(wrong, TicTacToe(), matches=1)
        assert caught.value.finding.check == check
    finally:
        known = encodings_of(TicTacToe())
        known.pop("wrong")  # type: ignore[attr-defined]
        assert known == encodings


def test_nested_lists_and_arrays_are_accepted() -> None:
    numpy = pytest.importorskip("numpy")

    def nested(game: Game, observation: State, seat: int) -> list[list[int]]:
        return [[seat, 0], [0, 1]]

    for given in (nested, lambda game, observation, seat: numpy.eye(2)):
        target = encoding("square", game="no-such-game", shape=(2, 2))(given)

        class Named(TicTacToe):
            name = "no-such-game"

        assert "shape" in check_encoding(target, Named(), matches=1)


@pytest.mark.parametrize(
    ("shape", "low", "high", "message"),
    [((3, 0), 0, 1, "shape: expected a tuple"), ("38", 0, 1, "shape: expected a tuple"), ((3,), 1, 1, "low below high")],
)
def test_an_invalid_shape_or_range_is_refused(shape: Any, low: float, high: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encoding("odd", game="tic-tac-toe", shape=shape, low=low, high=high)


def test_an_unknown_encoding_and_another_game_are_refused() -> None:
    with pytest.raises(UnknownName, match="unknown encoding of tic-tac-toe 'plane'; did you mean 'planes'"):
        bind_encoding("plane", TicTacToe())
    with pytest.raises(ValueError, match="expected an encoding of kuhn-poker"):
        bind_encoding(OWN["tic-tac-toe", "planes"], KuhnPoker())


PLUGIN = """
from arena import encoding, hookimpl

{decorator}
def corners({parameters}):
    return [1.0 if observation[seat] & 1 else 0.0]

@hookimpl
def arena_encodings():
    return [corners]
"""
GOOD = '@encoding("corner", game="tic-tac-toe", shape=(1,), low=0.0, high=1.0)'


def write(folder: Path, decorator: str = GOOD, parameters: str = "game, observation, seat") -> str:
    file = folder / "corner_plugin.py"
    file.write_text(PLUGIN.format(decorator=decorator, parameters=parameters))
    return str(file)


def test_a_plugin_adds_an_encoding(tmp_path: Path, arena: Callable[..., Any]) -> None:
    file = write(tmp_path)
    assert "ok      range: numbers are finite" in arena("check", file).stdout
    assert "of tic-tac-toe; shape: (1,); values from 0 to 1" in arena("show", "corner", "--plugin", file).stdout
    listed = arena("list", "encodings", "--plugin", file).stdout.splitlines()
    assert [line.split()[:2] for line in listed if line.startswith("corner ")] == [["corner", "tic-tac-toe"]]
    registry = load_plugins([file])
    assert registry.encodings_of("tic-tac-toe") == ["planes", "corner"]
    with pytest.raises(UnknownName, match="unknown encoding of tic-tac-toe 'conrer'; did you mean 'corner'"):
        registry.encoding("tic-tac-toe", "conrer")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decorator": ""}, "expected functions or classes decorated with @encoding"),
        ({"parameters": "observation"}, "expected (game, observation, seat), got (observation)"),
        ({"decorator": GOOD.replace("(1,)", "(0,)")}, "shape: expected a tuple of positive whole numbers"),
        ({"decorator": GOOD.replace("corner", "Corner!")}, "name: expected lowercase letters"),
    ],
)
def test_a_plugin_with_an_invalid_encoding_is_refused(changed: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=re.escape(message)):
        load_plugins([write(tmp_path, **changed)])


def test_seats_and_shapes_follow_the_parameters() -> None:
    for rows, columns in product((3, 4), (3, 5)):
        assert bind_encoding("planes", TicTacToe(rows=rows, columns=columns)).shape == (2, rows, columns)
