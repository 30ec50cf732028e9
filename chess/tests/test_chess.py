"""The rules of chess through arena's interface: published counts, known endings, and the conformance kit."""

import random
import subprocess
import sys
from typing import Any

import pytest

from arena import load_plugins, play
from arena.api.games import bind
from arena.testing import check_game, check_heuristic
from arena_chess.game import Chess

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def perft(game: Chess, state: Any, depth: int) -> int:
    """The number of positions after `depth` plies."""
    if depth == 1:
        return len(game.actions(state))
    return sum([perft(game, game.result(state, action), depth - 1) for action in game.actions(state)])


def after(game: Chess, moves: str, fen: str | None = None) -> Any:
    """The position after moves in standard algebraic notation."""
    state = game.parse_state(fen or game.fen)
    for text in moves.split():
        state = game.result(state, game.parse_action(state, text))
    return state


# Chess Programming Wiki, Perft Results: the initial position, and position 2 of P. McKenzie, Kiwipete.
@pytest.mark.parametrize(
    ("fen", "counts"),
    [(None, [20, 400, 8_902, 197_281]), (KIWIPETE, [48, 2_039, 97_862])],
    ids=["start", "kiwipete"],
)
def test_known_perft_counts(fen: str | None, counts: list[int]) -> None:
    """The numbers of positions after one ply, after two plies and so on agree with published ones."""
    game = Chess() if fen is None else Chess(fen=fen)
    start = game.initial(random.Random(0))
    assert [perft(game, start, depth) for depth in range(1, len(counts) + 1)] == counts


def test_the_conformance_kit(chess: Chess) -> None:
    """The game and its heuristic pass the conformance kit."""
    check_game(Chess, matches=2)
    check_heuristic(load_plugins().heuristic("chess", "material"), Chess, matches=2)


ENDINGS = [
    ("f3 e5 g4 Qh4", None, (-1.0, 1.0)),  # fool's mate
    ("e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7", None, (1.0, -1.0)),  # scholar's mate
    # S. Loyd's shortest stalemate, in ten moves
    ("e3 a5 Qh5 Ra6 Qxa5 h5 h4 Rah6 Qxc7 f6 Qxd7+ Kf7 Qxb7 Qd3 Qxb8 Qh7 Qxc8 Kg6 Qe6", None, (0.0, 0.0)),
    ("Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", None, (0.0, 0.0)),  # the start for the third time
    ("Kxh2", "7k/8/8/8/8/8/7p/6K1 w - - 0 1", (0.0, 0.0)),  # two bare kings
    ("Kb1", "7k/8/8/8/8/8/6R1/K7 w - - 99 80", (0.0, 0.0)),  # fifty moves of each side
    ("Ra8", "6k1/5ppp/8/8/8/8/8/R6K w - - 99 80", (1.0, -1.0)),  # a mate by the last of these moves takes precedence
]


@pytest.mark.parametrize(("moves", "fen", "returns"), ENDINGS)
def test_known_endings(chess: Chess, moves: str, fen: str | None, returns: tuple[float, float]) -> None:
    """The game is over after the last move, and not before."""
    *before, _ = moves.split()
    assert not chess.is_terminal(after(chess, " ".join(before), fen))
    end = after(chess, moves, fen)
    assert chess.is_terminal(end)
    assert not chess.actions(end)
    assert tuple(chess.returns(end)) == returns


def test_a_text_tells_what_counts_for_repetitions(chess: Chess) -> None:
    """After two knights have moved out and back once, the text differs from that of the start: a second time is a draw."""
    once = after(chess, "Nf3 Nf6 Ng1 Ng8")
    assert chess.format_state(once) == f"{chess.fen} moves g1f3 g8f6 f3g1 f6g8"
    assert chess.parse_state(chess.format_state(once)) == once != chess.initial(random.Random(0))
    played = after(chess, "e4 e5 Nf3")
    assert chess.format_state(played) == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 moves g1f3"


def test_castling_en_passant_and_promotion_are_read_in_both_notations(chess: Chess) -> None:
    """Actions are UCI's moves; standard algebraic notation is also read."""
    castling = after(chess, "e4 e5 Nf3 Nc6 Bc4 Bc5")
    assert chess.parse_action(castling, "O-O") == "e1g1"
    passing = after(chess, "e4 a6 e5 d5")
    assert chess.parse_action(passing, "exd6") == "e5d6"
    promoting = chess.parse_state("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    assert chess.parse_action(promoting, "a8=N") == "a7a8n"
    with pytest.raises(ValueError, match=r"expected one of .*e2e4 \(e4\).*; got 'e5'"):
        chess.parse_action(chess.initial(random.Random(0)), "e5")


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no position of chess: no white king, no black king, empty"),
        ("hello", "hello"),
        ("K6k/8/8/8/8/8/8/8 x - - 0 1", "turn"),
    ],
)
def test_a_fen_that_is_no_position_is_refused(fen: str, message: str) -> None:
    """The message gives the reason."""
    with pytest.raises(ValueError, match=message):
        Chess(fen=fen)


def test_material_is_counted_by_the_worth_that_shannon_gave(chess: Chess) -> None:
    """The value is 0 at the start. A queen for a rook is a lead of four pawns, and the value is tanh 0.4."""
    value = bind(load_plugins().heuristic("chess", "material"), chess, {})
    assert value(chess.initial(random.Random(0)), 0) == 0
    ahead = chess.parse_state("1k5r/8/8/8/8/8/8/K5Q1 w - - 0 1")
    assert value(ahead, 0) == pytest.approx(0.99 * 0.379948962)
    assert value(ahead, 1) == -value(ahead, 0)


def test_a_search_mates_in_one(chess: Chess) -> None:
    """Alpha-beta with the heuristic `material` plays from a position given as text, as in any other game."""
    record = play("chess", ["alpha-beta", "random"], position="6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", limits={"depth": 2})
    assert (record.actions, record.returns) == (("a1a8",), (1.0, -1.0))


def test_python_chess_is_imported_where_it_is_needed() -> None:
    """Every command of arena imports this plugin, so the import must not load python-chess, which takes long."""
    code = "import sys, arena; arena.load_plugins().games['chess'](); print('chess' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_position_may_be_a_line_of_epd(chess: Chess) -> None:
    """Four fields, then opcodes as in the Bratko-Kopec test: `hmvc` and `fmvn` are the counters, and the others are notes."""
    board = "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - -"
    for line, counters in (
        (f'{board} bm Qd1+; id "BK moves 01";', "0 1"),
        (f"{board} hmvc 7; fmvn 31; bm Qd1+;", "7 31"),
        (board, "0 1"),
    ):
        assert chess.format_state(chess.parse_state(line)) == f"{board} {counters}"
    with pytest.raises(ValueError, match="read as EPD, because opcodes follow its four fields"):
        chess.parse_state(f"{board} bm Qh9;")
