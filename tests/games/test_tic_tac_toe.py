"""Test tic-tac-toe against published counts, and against a naive implementation that checks cells one by one."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from arena_games.tic_tac_toe import OpenLanes, TicTacToe

# Published counts of sequences of n plies, which end with a win, and of the results of complete games.
SEQUENCES = [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
X_WINS, O_WINS, DRAWS = 131_184, 77_904, 46_080
REACHABLE = 5_478


def test_the_game_tree_has_the_known_size() -> None:
    """Perft counts, results of games and the number of states agree with published counts."""
    game = TicTacToe()
    level: dict[Any, int] = {game.initial(None): 1}  # type: ignore[arg-type]
    sizes, ends, states = [], {1.0: 0, -1.0: 0, 0.0: 0}, 0
    while level:
        sizes.append(sum(level.values()))
        states += len(level)
        after: dict[Any, int] = {}
        for state, ways in level.items():
            if game.is_terminal(state):
                ends[game.returns(state)[0]] += ways
            for action in game.actions(state):
                successor = game.result(state, action)
                after[successor] = after.get(successor, 0) + ways
        level = after
    assert sizes == SEQUENCES
    assert sum(sizes) == 549_946
    assert (ends[1.0], ends[-1.0], ends[0.0]) == (X_WINS, O_WINS, DRAWS)
    assert states == REACHABLE


def has_line(cells: list[list[str]], mark: str, length: int) -> bool:
    """Return whether a walk from some cell in one of four directions finds a line."""
    rows, columns = len(cells), len(cells[0])
    for row, column in product(range(rows), range(columns)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [(row + down * k, column + right * k) for k in range(length)]
            if all(0 <= r < rows and 0 <= c < columns and cells[r][c] == mark for r, c in line):
                return True
    return False


boards = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.integers(1, max(size)),
        st.lists(st.sampled_from("xo."), min_size=size[0] * size[1], max_size=size[0] * size[1]),
    )
)


@settings(max_examples=50, deadline=None)
@given(boards)
def test_lines_and_threats_agree_with_a_naive_implementation(board: tuple[tuple[int, int], int, list[str]]) -> None:
    """The boards have any size. The naive implementation searches every direction."""
    (rows, columns), length, marks = board
    cells = [marks[row * columns : (row + 1) * columns] for row in range(rows)]
    game = TicTacToe(rows=rows, columns=columns, in_a_row=length)
    bits = list(game._bit.values())
    x = sum(bit for bit, mark in zip(bits, marks, strict=True) if mark == "x")
    o = sum(bit for bit, mark in zip(bits, marks, strict=True) if mark == "o")
    won = [has_line(cells, mark, length) for mark in "xo"]
    assert game.is_terminal((x, o)) == (any(won) or "." not in marks)
    if won[0] != won[1]:
        assert list(game.returns((x, o))) == ([1, -1] if won[0] else [-1, 1])
    for seat, mark in enumerate("xo"):
        expected = []
        for number, old in enumerate(marks, 1):
            if old == "." and not any(won):
                row, column = divmod(number - 1, columns)
                cells[row][column] = mark
                if has_line(cells, mark, length):
                    expected.append(number)
                cells[row][column] = "."
        assert list(game.threats((x, o), seat)) == expected


def test_a_state_is_quiet_if_neither_side_can_win_with_one_move(open_positions: list[Any]) -> None:
    """In every position, the test looks for lanes with two equal marks and an empty cell."""
    game = TicTacToe()
    lanes = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for state in open_positions:
        marks = game.format_state(state).replace("/", "")
        counts = ["".join(sorted(marks[cell] for cell in lane)) for lane in lanes]
        assert game.is_quiet(state) == (".xx" not in counts and ".oo" not in counts)


def test_open_lanes_is_the_documented_weighted_count(open_positions: list[Any]) -> None:
    """The value is (3 P2 + P1 - 3 O2 - O1) / 10. In four reachable positions it reaches 1 and is clipped."""
    game = TicTacToe()
    evaluate = OpenLanes(game)
    lanes = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    tens = 0
    for state in open_positions:
        marks = game.format_state(state).replace("/", "")
        counts = ["".join(sorted(marks[cell] for cell in lane)) for lane in lanes]
        total = 3 * counts.count(".xx") + counts.count("..x") - 3 * counts.count(".oo") - counts.count("..o")
        tens += abs(total) == 10
        expected = max(-0.99, min(0.99, total / 10))
        assert evaluate(state, 0) == pytest.approx(expected)
        assert evaluate(state, 1) == pytest.approx(-expected)
    assert tens == 4


def test_open_lanes_on_four_in_a_row_counts_powers_of_three() -> None:
    """A lane with k marks counts 3^(k-1), and the sum is divided by 10 * 3."""
    game = TicTacToe(rows=4, columns=4, in_a_row=4)
    evaluate = OpenLanes(game)
    state = game.parse_state("xxx./ooo./..../....")
    # The first row counts 9 for x, the second 9 for o; of the other lanes, only the diagonal with one o is open.
    assert evaluate(state, 0) == pytest.approx((9 - 9 - 1) / 30)


def test_the_default_is_three_by_three_and_parameters_make_gomoku() -> None:
    """15x15 with five in a row ends with the fifth stone."""
    assert (TicTacToe().rows, TicTacToe().columns, TicTacToe().in_a_row) == (3, 3, 3)
    game = TicTacToe(rows=15, columns=15, in_a_row=5)
    state = game.initial(None)  # type: ignore[arg-type]
    for action in (113, 1, 129, 2, 145, 3, 161, 4):
        state = game.result(state, action)
    assert not game.is_terminal(state)
    assert list(game.threats(state, 0)) == [97, 177]
    assert list(game.threats(state, 1)) == [5]
    assert list(game.returns(game.result(state, 177))) == [1, -1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("xo./...", "3 rows of 3"),
        ("xo.a/.../...", "3 rows of 3"),
        ("xoz/.../...", "'z'"),
        ("xx./.../...", "as many x as o"),
        ("xxx/ooo/...", "both sides"),
        ("xxx/oo./o..", "after a win"),
        ("", "3 rows of 3"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The reasons are wrong sizes, wrong marks and impossible positions."""
    with pytest.raises(ValueError, match=reason):
        TicTacToe().parse_state(text)


def test_notation_numbers_cells_from_one_row_by_row() -> None:
    """x moves if both sides have equally many marks. Cell 5 is the centre."""
    game = TicTacToe()
    state = game.parse_state("x../.o./...")
    assert game.to_move(state) == 0
    assert list(game.actions(state)) == [2, 3, 4, 6, 7, 8, 9]
    assert game.format_state(game.result(state, game.parse_action(state, "9"))) == "x../.o./..x"
    with pytest.raises(ValueError, match="expected one of 2, 3"):
        game.parse_action(state, "5")


def test_a_line_longer_than_the_board_is_refused() -> None:
    """Such a game could not be won."""
    with pytest.raises(ValueError, match="in_a_row: expected at most 4"):
        TicTacToe(rows=3, columns=4, in_a_row=5)
