"""Test Connect Four against published counts and values, and against a naive implementation that checks cells one by one."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import Centre, OpenLines
from tests.games.game_tree import levels

# Positions of the 7x6 board after n plies: J. Tromp, OEIS A212693.
POSITIONS = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]
# Complete games on a board of 4 columns and 3 rows: R. Jehn, OEIS A342329.
GAMES = 356_232
# Positions of the 4x4 board, and its value: J. Tromp, John's Connect Four Playground, tromp.github.io/c4/c4.html.
POSITIONS_4X4, VALUE_4X4 = 161_029, 0

Board = list[list[str]]


@pytest.mark.parametrize("plies", [6, pytest.param(8, marks=pytest.mark.proof)])
def test_position_counts_agree_with_oeis(plies: int) -> None:
    """Position counts are OEIS A212693. There are 7^n sequences of n plies up to 6; of 7 plies, 7 would overfill a column."""
    numbers, sequences = [], []
    for level in levels(ConnectFour(), plies):
        numbers.append(len(level))
        sequences.append(sum(level.values()))
    assert numbers == POSITIONS[: plies + 1]
    assert sequences[:8] == [1, 7, 49, 343, 2401, 16807, 117649, 7**7 - 7][: plies + 1]


def test_the_number_of_games_on_a_small_board_agrees_with_oeis() -> None:
    """OEIS A342329 counts every complete game on 4 columns and 3 rows, whether it ends with a line or a full board."""
    game = ConnectFour(rows=3, columns=4)
    assert sum(ways for level in levels(game, 12) for state, ways in level.items() if game.is_terminal(state)) == GAMES


@pytest.mark.proof
def test_four_by_four_is_a_draw_with_the_known_number_of_positions() -> None:
    """All positions of the 4x4 board are solved from the last ply back."""
    game = ConnectFour(rows=4, columns=4)
    found = list(levels(game, 16))
    assert sum(map(len, found)) == POSITIONS_4X4
    value: dict[Any, float] = {}
    for level in reversed(found):
        for state in level:
            better = min if game.to_move(state) else max
            known = [value[game.result(state, action)] for action in game.actions(state)]
            value[state] = better(known) if known else game.returns(state)[0]
    assert value[game.initial(random.Random(0))] == VALUE_4X4


def drop(board: Board, column: int, mark: str) -> None:
    """Place a mark in the lowest empty cell of a column, counted from 1. The first row of a board is its top row."""
    next(row for row in reversed(board) if row[column - 1] == ".")[column - 1] = mark


@cache
def lines(rows: int, columns: int, length: int) -> list[list[tuple[int, int]]]:
    """Return the cells of every line of a board."""
    found = []
    for row, column in product(range(rows), range(columns)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))[: 4 if length > 1 else 1]:
            line = [(row + down * k, column + right * k) for k in range(length)]
            if all(0 <= r < rows and 0 <= c < columns for r, c in line):
                found.append(line)
    return found


def wins(board: Board, length: int, mark: str) -> bool:
    return any(all(board[r][c] == mark for r, c in line) for line in lines(len(board), len(board[0]), length))


sizes = st.tuples(st.integers(1, 7), st.integers(1, 8)).flatmap(lambda s: st.tuples(st.just(s), st.integers(1, max(s))))


@settings(max_examples=50, deadline=None)
@given(sizes, st.integers(0, 2**32))
def test_random_games_agree_with_a_naive_implementation(size: tuple[tuple[int, int], int], seed: int) -> None:
    """The seat, actions, results, ends, returns and threats of every position are compared, on boards of any size."""
    (rows, columns), length = size
    game, rng = ConnectFour(rows=rows, columns=columns, in_a_row=length), random.Random(seed)
    state = game.initial(rng)
    board = [["."] * columns for _ in range(rows)]
    for ply in range(rows * columns + 1):
        won = [wins(board, length, mark) for mark in "xo"]
        open_columns = [column for column in range(1, columns + 1) if board[0][column - 1] == "."]
        assert game.format_state(state) == "/".join(map("".join, board))
        assert game.parse_state(game.format_state(state)) == state
        assert game.is_terminal(state) == (any(won) or not open_columns)
        for seat, mark in enumerate("xo"):
            expected = []
            for column in [] if any(won) else open_columns:
                after = [row[:] for row in board]
                drop(after, column, mark)
                if wins(after, length, mark):
                    expected.append(column)
            assert list(game.threats(state, seat)) == expected
        if game.is_terminal(state):
            assert not game.actions(state)
            assert list(game.returns(state)) == [won[0] - won[1], won[1] - won[0]]
            return
        assert game.to_move(state) == ply % 2
        assert list(game.actions(state)) == open_columns
        action = rng.choice(open_columns)
        state = game.result(state, action)
        drop(board, action, "xo"[ply % 2])
    pytest.fail("the game does not end with a full board")


def draw_positions(game: ConnectFour, games: int) -> Iterator[Any]:
    """Yield the unfinished positions of random games."""
    for seed in range(games):
        rng = random.Random(seed)
        state = game.initial(rng)
        while not game.is_terminal(state):
            yield state
            state = game.result(state, rng.choice(game.actions(state)))


@pytest.mark.parametrize(("rows", "columns", "length"), [(6, 7, 4), (5, 4, 3), (7, 8, 5), (3, 9, 6), (4, 4, 2)])
def test_open_lines_counts_lines_by_powers_of_three(rows: int, columns: int, length: int) -> None:
    """A line with k stones, all of one side, counts 3^(k-1). The sum is divided by 10 * 3^(in_a_row - 2)."""
    game = ConnectFour(rows=rows, columns=columns, in_a_row=length)
    evaluate, every = OpenLines(game), lines(rows, columns, length)
    for state in draw_positions(game, 8):
        board = game.format_state(state).split("/")
        total = 0
        for line in every:
            cells = [board[r][c] for r, c in line]
            if ("x" in cells) != ("o" in cells):
                total += (1 if "x" in cells else -1) * 3 ** (length - cells.count(".") - 1)
        expected = max(-0.99, min(0.99, total / (10 * 3.0 ** (length - 2))))
        assert evaluate(state, 0) == pytest.approx(expected)
        assert evaluate(state, 1) == pytest.approx(-expected)


@pytest.mark.parametrize(("columns", "weights"), [(7, [1, 2, 3, 4, 3, 2, 1]), (6, [1, 2, 3, 3, 2, 1])])
def test_centre_weighs_stones_by_the_distance_from_the_nearer_edge(columns: int, weights: list[int]) -> None:
    """The columns count 1, 2, 3 and so on from either edge."""
    game = ConnectFour(columns=columns)
    evaluate = Centre(game)
    for state in draw_positions(game, 10):
        total = 0
        for row in game.format_state(state).split("/"):
            total += sum(weight * ((cell == "x") - (cell == "o")) for weight, cell in zip(weights, row, strict=True))
        assert evaluate(state, 0) == pytest.approx(0.99 * total / (6 * sum(weights)))
        assert evaluate(state, 1) == -evaluate(state, 0)


def test_threats_are_the_winning_columns() -> None:
    """The threats are the end of a row of three, the top of a column, and the gap in a row."""
    game = ConnectFour()
    state = game.parse_state("......./......./......./x....../x....../xoo.o..")
    assert list(game.threats(game.parse_state("......./......./......./......./......./xxx.ooo"), 0)) == [4]
    assert list(game.threats(state, 0)) == [1]
    assert list(game.threats(state, 1)) == [4]
    assert not game.is_quiet(state)
    assert game.is_quiet(game.initial(random.Random(0)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "6 rows of 7"),
        ("......./......./......./......./.......", "6 rows of 7"),
        ("......./......./......./......./......./........", "6 rows of 7"),
        ("......./......./......./......./......./...y...", "'y'"),
        ("......./......./......./......./...x.../.......", "column 4 has a stone above an empty cell"),
        ("......./......./......./......./......./xx.....", "as many x as o or one more, got 2 and 0"),
        ("......./......./......./......./......./o......", "as many x as o or one more, got 0 and 1"),
        ("......./......./......./......./oooo.../xxxx...", "both sides have 4 in a row"),
        ("......./......./......./......./ooo..../xxxx..o", "after a win in .*: o cannot have moved last"),
        ("......./......./......./......./xx...../ooooxxx", "after a win in .*: x cannot have moved last"),
        ("......./......./x.....x/xo....x/xo...ox/xoo.oox", "x already had a line before its last stone"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The reasons are wrong sizes, wrong marks, floating stones, wrong numbers, two winners, and play after a win."""
    with pytest.raises(ValueError, match=reason):
        ConnectFour().parse_state(text)


def test_a_last_stone_may_complete_two_lines() -> None:
    """A row of seven is a legal position if the middle stone came last."""
    game = ConnectFour()
    state = game.parse_state("......./......./......./......./ooo.ooo/xxxxxxx")
    assert game.is_terminal(state)
    assert list(game.returns(state)) == [1, -1]


def test_notation_counts_columns_from_one_and_rows_from_the_top() -> None:
    """x moves if both sides have equally many stones."""
    game = ConnectFour()
    state = game.result(game.result(game.initial(random.Random(0)), 4), 4)
    assert game.format_state(state) == "......./......./......./......./...o.../...x..."
    assert game.parse_state(" ......./......./......./......./...O.../...X...\n") == state
    assert list(game.actions(state)) == [1, 2, 3, 4, 5, 6, 7]
    assert game.parse_action(state, "7") == 7
    assert game.to_move(state) == 0
    assert game.render(state).splitlines()[-2:] == [". . . x . . .", "1 2 3 4 5 6 7"]
    with pytest.raises(ValueError, match="expected one of 1, 2"):
        game.parse_action(state, "8")


def test_a_line_longer_than_the_board_is_refused() -> None:
    """Such a game could not be won."""
    with pytest.raises(ValueError, match="in_a_row: expected at most 5"):
        ConnectFour(rows=5, columns=4, in_a_row=6)


@pytest.mark.parametrize("board", [{}, {"rows": 4, "columns": 5}, {"rows": 1, "columns": 5, "in_a_row": 3}, {"in_a_row": 1}])
def test_the_conformance_checks_pass(board: dict[str, int], registry: Registry) -> None:
    game = registry.game("connect-four")(**board)
    assert game.default_heuristic == "open-lines"
    check_game(game, matches=3)
    for name in ("open-lines", "centre"):
        check_heuristic(name, game, matches=3)
