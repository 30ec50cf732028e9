"""Test GNU Go and Stockfish, if they are installed, against the rules of open_spiel."""

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
"""Options for area scoring, with every stone on the final board alive."""


@pytest.fixture
def installed(missing: Any) -> Any:
    """Return a function that finds a program, and skips the test if the program is not installed."""

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


def play_all(game: str, *agents: Any, **values: Any) -> list[Record]:
    """Play all matches of a spec on a game of open_spiel."""
    spec = load_spec({"game": {"name": "openspiel", "game": game}, "agents": agents, **values})
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]


Board = dict[int, int]


def list_neighbors(point: int, size: int) -> list[int]:
    """Return the points beside a point."""
    row, column = divmod(point, size)
    steps = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def find_region(board: Board, point: int, size: int) -> tuple[set[int], set[int | None]]:
    """Return the connected points of the same kind as a point, and the kinds beside them. None is an empty point."""
    found, beside, queue = {point}, set(), [point]
    while queue:
        for other in list_neighbors(queue.pop(), size):
            if board.get(other) != board.get(point):
                beside.add(board.get(other))
            elif other not in found:
                found.add(other)
                queue.append(other)
    return found, beside


def place_stone(board: Board, point: int, color: int, size: int) -> None:
    """Place a stone, and remove stones of the other color without liberties."""
    board[point] = color
    for other in list_neighbors(point, size):
        chain, beside = find_region(board, other, size)
        if board.get(other) == 1 - color and None not in beside:
            for stone in chain:
                del board[stone]


def parse_point(text: str, size: int) -> int:
    """Return the point of a play such as `B d4`, counted in rows from a1 without a column i, or size * size for a pass."""
    vertex = text.split()[1].lower()
    return size * size if vertex == "pass" else (int(vertex[1:]) - 1) * size + "abcdefghjklmnopqrst".index(vertex[0])


def tromp_taylor(actions: Sequence[int], size: int, komi: float) -> float:
    """Return the lead of black after komi by area: stones, and empty regions that reach only one color."""
    board: Board = {}
    for ply, action in enumerate(actions):
        if action < size * size:
            place_stone(board, action, ply % 2, size)
    area = {0: 0, 1: 0}
    for point in range(size * size):
        owners = {board[point]} if point in board else find_region(board, point, size)[1]
        if len(owners) == 1 and None not in owners:
            area[owners.pop() or 0] += 1
    return area[0] - area[1] - komi


def test_gnu_go_wins_under_area_scoring(installed: Any) -> None:
    """GNU Go plays each color on 9x9 against random play. The test counts the score by the Tromp-Taylor rules."""
    engine = {"agent": {"command": [installed("gnugo"), *AREA, "--seed", "1"], "protocol": "gtp"}, "options": {"level": 1}}
    records = play_all("go(board_size=9,komi=7.5)", engine, "random", rounds=1)
    assert [(one.termination, one.message) for one in records] == [("normal", None)] * 2
    assert [one.returns for one in records] == [(1.0, -1.0), (-1.0, 1.0)]
    for record in records:
        score = tromp_taylor([parse_point(action, 9) for action in record.actions], 9, 7.5)
        assert (score > 0) == (record.returns[0] > 0), score


def test_gnu_go_plays_on_from_a_position(installed: Any) -> None:
    """A position is sent as a sequence of moves, with captures: black has captured the white stone in the corner."""
    plays = "1 0 5 24 25"  # on 5x5: B b1, W a1, B a2, which takes it, W e5, B passes
    engine = {"agent": {"command": [installed("gnugo"), *AREA, "--seed", "1"], "protocol": "gtp"}, "options": {"level": 1}}
    records = play_all("go(board_size=5,komi=0.5)", engine, "random", positions=[plays])
    assert {one.termination for one in records} == {"normal"}


def test_stockfish_mates_a_random_player_with_either_color(installed: Any) -> None:
    engine = {"agent": {"command": [installed("stockfish")], "protocol": "uci"}, "limits": {"nodes": 300}}
    records = play_all("chess", engine, "random", rounds=1)
    assert [one.termination for one in records] == ["normal"] * 2
    assert [one.returns for one in records] == [(1.0, -1.0), (-1.0, 1.0)]


def test_every_action_survives_a_round_trip_through_its_text() -> None:
    """The actions are vertices and moves from random matches of Go and chess."""
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
