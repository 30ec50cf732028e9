"""Test Othello against published counts and games, and against a naive implementation that checks squares one by one."""

import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.othello import Othello, corners_mobility, discs
from tests.games.game_tree import levels

# Leaves after n plies on 8x8: A. Bik, Perft for Reversi, aartbik.blogspot.com, February 2009.
PERFT = [1, 4, 12, 56, 244, 1396, 8200, 55092, 390216]
# Games on 4x4 after a fixed first move, and the winner: reversi-nxn.blogspot.com, March and July 2008.
GAMES_4X4, VALUE_4X4 = 15_015, -1

# W. D. Smith on the math-fun list: 64 to 0 (empty squares go to the winner) with 23 passes of black. Black's moves have
# capitals, and passes are left out.
WIPE_OUT = (
    "F5 d6 C4 g5 D7 c7 H5 d8 B8 b7 B6 a7 b5 A6 a5 b4 B3 c6 E8 f8 C8 a8 e7 a4 b2 A2 c2 D2 d1 e2 F2 c5 c3 a1 a3 e6 d3 f6 F7 f1 "
    "g2 H2 e3 F4 b1 g1 c1 e1 g8 g7 f3 h1 h3 h4 h6"
)
# H. Takizawa, Othello is solved, arXiv 2310.19387, figure 1: perfect play ends in a draw.
PERFECT = (
    "f5 d6 c3 d3 c4 f4 f6 f3 e6 e7 d7 c5 b6 d8 c6 c7 d2 b5 a5 a6 a7 g5 e3 b4 c8 g6 g4 c2 e8 d1 f7 e2 g3 h4 f1 e1 f2 g1 b1 f8 "
    "g8 b3 h3 b2 h5 b7 a3 a4 a1 a2 c1 h2 h1 g2 b8 a8 g7 h8 h7 h6"
)
# J. Feinstein, Amenor wins World 6x6 championships, 1993: perfect play on 6x6. Each square has the number of its move.
PERFECT_6X6 = """
28  9  8  7 31 32
22 14  1  4 17 16
27 13  .  .  6 15
19  2  .  .  5 12
24 23  3 10 26 29
21 18 20 11 25 30
"""


@pytest.mark.parametrize("plies", [5, pytest.param(8, marks=pytest.mark.proof)])
def test_perft_counts_on_8x8_agree_with_published_ones(plies: int) -> None:
    assert [sum(level.values()) for level in levels(Othello(), plies)] == PERFT[: plies + 1]


def test_x_loses_on_4x4_with_the_known_number_of_games() -> None:
    """All games are counted, with passes and early ends. The four first moves are mirror images, hence the factor 4."""
    game = Othello(size=4)
    found = list(levels(game, 40))
    assert sum(ways for level in found for state, ways in level.items() if game.is_terminal(state)) == 4 * GAMES_4X4
    value: dict[Any, float] = {}
    for level in reversed(found):
        for state in level:
            better = min if game.to_move(state) else max
            known = [value[game.result(state, action)] for action in game.actions(state)]
            value[state] = better(known) if known else game.returns(state)[0]
    assert value[game.initial(random.Random(0))] == VALUE_4X4


def replay(game: Othello, moves: list[str]) -> tuple[Any, list[str]]:
    """Play a game noted without passes. Return its end and the movers: X or o for a disc, `-` for a pass of x and `=` of o."""
    state, movers = game.initial(random.Random(0)), []
    for move in moves:
        while game.actions(state) == ("pass",):
            movers.append("-="[game.to_move(state)])
            state = game.result(state, "pass")
        movers.append("Xo"[game.to_move(state)])
        state = game.result(state, game.parse_action(state, move))
    assert game.is_terminal(state)
    return state, movers


def counts(game: Othello, state: Any) -> tuple[int, int]:
    text = game.format_state(state)[:-2]
    return text.count("x"), text.count("o")


def test_the_shortest_game_ends_after_nine_moves_without_a_disc_of_o() -> None:
    game = Othello()
    state, movers = replay(game, ["f5", "d6", "c5", "f4", "e7", "f6", "g5", "e6", "e3"])
    assert "".join(movers) == "XoXoXoXoX"
    assert counts(game, state) == (13, 0)
    assert list(game.returns(state)) == [1, -1]


def test_a_game_with_23_forced_passes_is_played_as_published() -> None:
    """x passes 23 times and o never. Each move belongs to the side given by the publication."""
    game = Othello()
    moves = WIPE_OUT.split()
    state, movers = replay(game, moves)
    assert movers.count("-") == 23
    assert [mover for mover in movers if mover != "-"] == ["X" if move[0].isupper() else "o" for move in moves]
    assert counts(game, state)[0] == 0
    assert list(game.returns(state)) == [-1, 1]


def test_perfect_play_ends_as_published() -> None:
    """The result is a draw on 8x8, and 16 to 20 on 6x6."""
    game = Othello()
    state, _ = replay(game, PERFECT.split())
    assert counts(game, state) == (32, 32)
    assert list(game.returns(state)) == [0, 0]
    small = Othello(size=6)
    squares = [f"{column}{row}" for row in "123456" for column in "abcdef"]
    order = dict(zip(PERFECT_6X6.split(), squares, strict=True))
    state, _ = replay(small, [order[str(number)] for number in range(1, 33)])
    assert counts(small, state) == (16, 20)
    assert list(small.returns(state)) == [-1, 1]


Board = list[list[str]]


def find_flips(board: Board, row: int, column: int, mark: str) -> list[tuple[int, int]]:
    """Return the squares that a disc would flip, by a walk in eight directions."""
    size, other = len(board), "o" if mark == "x" else "x"
    found: list[tuple[int, int]] = []
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            walked = []
            r, c = row + down, column + right
            while 0 <= r < size and 0 <= c < size and board[r][c] == other:
                walked.append((r, c))
                r, c = r + down, c + right
            if 0 <= r < size and 0 <= c < size and board[r][c] == mark:
                found += walked
    return found


def find_placements(board: Board, mark: str) -> dict[str, tuple[int, int]]:
    """Return the legal squares for a disc, row by row."""
    cells = [(r, c) for r in range(len(board)) for c in range(len(board)) if board[r][c] == "."]
    return {f"{'abcdefgh'[c]}{r + 1}": (r, c) for r, c in cells if find_flips(board, r, c, mark)}


def start(size: int) -> Board:
    board = [["."] * size for _ in range(size)]
    middle = size // 2
    board[middle - 1][middle - 1] = board[middle][middle] = "o"
    board[middle - 1][middle] = board[middle][middle - 1] = "x"
    return board


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([4, 6, 8]), st.integers(0, 2**32))
def test_random_games_agree_with_a_naive_implementation(size: Any, seed: int) -> None:
    """The actions, results, passes, ends, returns and both heuristics of every position of a game are compared."""
    game, rng = Othello(size=size), random.Random(seed)
    state, board, seat = game.initial(rng), start(size), 0
    while True:
        mark = "xo"[seat]
        assert game.format_state(state) == f"{'/'.join(map(''.join, board))} {mark}"
        assert game.parse_state(game.format_state(state)) == state
        each = [find_placements(board, one) for one in "xo"]
        marks = "".join(map("".join, board))
        more = marks.count("x") - marks.count("o")
        assert game.is_terminal(state) == (not each[0] and not each[1])
        if game.is_terminal(state):
            assert not game.actions(state)
            assert list(game.returns(state)) == [(more > 0) - (more < 0), (more < 0) - (more > 0)]
            return
        assert game.to_move(state) == seat
        assert list(game.actions(state)) == (list(each[seat]) or ["pass"])
        check_values(game, state, board, [len(one) for one in each])
        action = rng.choice(game.actions(state))
        state = game.result(state, action)
        if action != "pass":
            row, column = each[seat][action]
            for r, c in [*find_flips(board, row, column, mark), (row, column)]:
                board[r][c] = mark
        seat = 1 - seat


def check_values(game: Othello, state: Any, board: Board, mobility: list[int]) -> None:
    """Compare both heuristics with their documented sums."""
    marks = "".join(map("".join, board))
    more = (marks.count("x") - marks.count("o")) / (marks.count("x") + marks.count("o"))
    corners = [board[r][c] for r in (0, -1) for c in (0, -1)]
    share = 0.7 * (corners.count("x") - corners.count("o")) / 4 + 0.3 * (mobility[0] - mobility[1]) / sum(mobility)
    for seat, sign in enumerate((1, -1)):
        assert discs(game, state, seat) == pytest.approx(sign * 0.99 * more)
        assert corners_mobility(game, state, seat) == pytest.approx(sign * 0.99 * share)


def count_leaves(board: Board, seat: int, plies: int) -> int:
    """Return the perft count by the naive implementation."""
    if plies == 0:
        return 1
    mark = "xo"[seat]
    found = find_placements(board, mark)
    if not found:
        return count_leaves(board, 1 - seat, plies - 1) if find_placements(board, "xo"[1 - seat]) else 0
    total = 0
    for row, column in found.values():
        after = [cells[:] for cells in board]
        for r, c in [*find_flips(board, row, column, mark), (row, column)]:
            after[r][c] = mark
        total += count_leaves(after, 1 - seat, plies - 1)
    return total


def test_perft_counts_on_6x6_agree_with_a_naive_implementation() -> None:
    game = Othello(size=6)
    expected = [count_leaves(start(6), 0, plies) for plies in range(6)]
    assert [sum(level.values()) for level in levels(game, 5)] == expected


def test_the_start_and_the_notation() -> None:
    """x moves first, on d3, c4, f5 or e6. A square is a letter from the left and a row from the top."""
    game = Othello()
    state = game.initial(random.Random(0))
    assert game.format_state(state) == "......../......../......../...ox.../...xo.../......../......../........ x"
    assert list(game.actions(state)) == ["d3", "c4", "f5", "e6"]
    after = game.result(state, game.parse_action(state, "D3"))
    assert game.format_state(after) == "......../......../...x..../...xx.../...xo.../......../......../........ o"
    assert game.parse_action(after, "c5") == "c5"
    assert game.render(after).splitlines()[::9] == ["  a b c d e f g h", "o to move, x 4, o 1"]
    with pytest.raises(ValueError, match="expected one of c3, e3, c5, got 'pass'"):
        game.parse_action(after, "pass")


def test_a_pass_is_legal_only_if_no_disc_can_be_placed() -> None:
    """The only disc of o outflanks no disc, and x can still capture it."""
    game = Othello(size=4)
    state = game.parse_state(".oxx/xxxx/xxxx/.x.. o")
    assert list(game.actions(state)) == ["pass"]
    assert not game.is_terminal(state)
    after = game.result(state, "pass")
    assert game.format_state(after) == ".oxx/xxxx/xxxx/.x.. x"
    assert list(game.actions(after)) == ["a1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the side to move"),
        ("..../.ox./.xo./....", "the side to move"),
        ("..../.ox./.xo./.... y", "the side to move"),
        ("..../.ox./.xo. x", "4 rows of 4"),
        ("..../.ox./.xo./..... x", "4 rows of 4"),
        ("..../.oz./.xo./.... x", "'z'"),
        ("..../.ox./.x../.... x", "middle, got c3 empty"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The reasons are a missing side to move, wrong sizes, wrong marks and an empty middle."""
    with pytest.raises(ValueError, match=reason):
        Othello(size=4).parse_state(text)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_conformance_checks_pass(size: int, registry: Registry) -> None:
    game = registry.game("othello")(size=size)
    assert game.default_heuristic == "corners-mobility"
    check_game(game, matches=5)
    for name in ("discs", "corners-mobility"):
        check_heuristic(name, game, matches=5)
