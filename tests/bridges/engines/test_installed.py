"""GNU Go and Stockfish on the rules of open_spiel, where they are installed: their rules are those of the game."""

import os
import random
import shutil
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from arena.match.record import Record
from arena.plugins.sources import load_plugins
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_bridges.dialects import Gtp, Uci, dialect_of

AREA = [
    "--mode",
    "gtp",
    "--chinese-rules",
    "--positional-superko",
    "--never-resign",
    "--capture-all-dead",
    "--play-out-aftermath",
]
"""What has GNU Go agree with area scoring in which every stone on the board lives."""


@pytest.fixture
def installed(missing: Any) -> Any:
    """A finder of programs; a test is skipped where one is not installed."""

    def installed(name: str) -> str:
        found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/games")
        if found is None:
            missing("engines", f"there is no {name}: apt-get install {name}")
            raise AssertionError
        return found

    return installed


@pytest.fixture(autouse=True, scope="module")
def _open_spiel() -> None:
    pytest.importorskip("pyspiel")


def played(game: str, *agents: Any, **values: Any) -> list[Record]:
    """All matches of a spec on a game of open_spiel."""
    spec = load_spec({"game": {"name": "openspiel", "game": game}, "agents": agents, **values})
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]


Board = dict[int, int]


def near(point: int, size: int) -> list[int]:
    """The points beside a point."""
    row, column = divmod(point, size)
    steps = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def region(board: Board, point: int, size: int) -> tuple[set[int], set[int | None]]:
    """The points of one kind that hang together with a point, and the kinds beside them; None is an empty point."""
    found, beside, queue = {point}, set(), [point]
    while queue:
        for other in near(queue.pop(), size):
            if board.get(other) != board.get(point):
                beside.add(board.get(other))
            elif other not in found:
                found.add(other)
                queue.append(other)
    return found, beside


def put(board: Board, point: int, color: int, size: int) -> None:
    """Put a stone, and take those of the other color that have no liberty left."""
    board[point] = color
    for other in near(point, size):
        chain, beside = region(board, other, size)
        if board.get(other) == 1 - color and None not in beside:
            for stone in chain:
                del board[stone]


def numbered(text: str, size: int) -> int:
    """The point of `B d4`, counted along the rows from a1; size * size for a pass. There is no column i."""
    vertex = text.split()[1].lower()
    return size * size if vertex == "pass" else (int(vertex[1:]) - 1) * size + "abcdefghjklmnopqrst".index(vertex[0])


def tromp_taylor(actions: Sequence[int], size: int, komi: float) -> float:
    """Black's area over white's and komi: stones, and empty regions that reach one color alone."""
    board: Board = {}
    for ply, action in enumerate(actions):
        if action < size * size:
            put(board, action, ply % 2, size)
    area = {0: 0, 1: 0}
    for point in range(size * size):
        owners = {board[point]} if point in board else region(board, point, size)[1]
        if len(owners) == 1 and None not in owners:
            area[owners.pop() or 0] += 1
    return area[0] - area[1] - komi


def test_gnu_go_wins_go_by_the_agreed_score(installed: Any) -> None:
    """On 9x9 in either color against random play; the result is that of Tromp and Taylor, counted here apart."""
    engine = {"agent": {"command": [installed("gnugo"), *AREA, "--seed", "1"], "protocol": "gtp"}, "options": {"level": 1}}
    records = played("go(board_size=9,komi=7.5)", engine, "random", rounds=1)
    assert [(one.termination, one.message) for one in records] == [("normal", None)] * 2
    assert [one.returns for one in records] == [(1.0, -1.0), (-1.0, 1.0)]
    for record in records:
        score = tromp_taylor([numbered(action, 9) for action in record.actions], 9, 7.5)
        assert (score > 0) == (record.returns[0] > 0), score


def test_gnu_go_goes_on_from_a_position(installed: Any) -> None:
    """A position is told play by play, with captures: white's stone in the corner is taken before."""
    plays = "1 0 5 24 25"  # on 5x5: B b1, W a1, B a2, which takes it, W e5, B passes
    engine = {"agent": {"command": [installed("gnugo"), *AREA, "--seed", "1"], "protocol": "gtp"}, "options": {"level": 1}}
    records = played("go(board_size=5,komi=0.5)", engine, "random", positions=[plays])
    assert {one.termination for one in records} == {"normal"}


def test_stockfish_plays_the_chess_of_open_spiel(installed: Any) -> None:
    """To the mate of a player at random, in either color."""
    engine = {"agent": {"command": [installed("stockfish")], "protocol": "uci"}, "limits": {"nodes": 300}}
    records = played("chess", engine, "random", rounds=1)
    assert [one.termination for one in records] == ["normal"] * 2
    assert [one.returns for one in records] == [(1.0, -1.0), (-1.0, 1.0)]


def test_every_action_is_written_and_read_back() -> None:
    """In random matches of go and chess; vertices and moves are told apart."""
    kind = load_plugins().game("openspiel")
    for name, protocol in (("go(board_size=9)", "gtp"), ("chess", "uci")):
        game, rng = kind(game=name), random.Random(1)
        dialect = dialect_of(game, protocol)
        assert isinstance(dialect, (Gtp, Uci))
        write = dialect.vertex if isinstance(dialect, Gtp) else dialect.move
        assert write is not None
        assert dialect.action is not None
        state = game.initial(rng)
        while not game.is_terminal(state) and len(state.history) < 60:
            actions = game.actions(state)
            texts = [write(state, action) for action in actions]
            assert [dialect.action(state, text) for text in texts] == actions
            state = game.result(state, rng.choice(actions))
