"""The verdict of a board says no more than its intervals do, held against them by brute force."""

from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.results.leaderboard import Leaderboard
from arena_web.live import describe_board
from arena_web.verdict import verdict

pytestmark = pytest.mark.process

TIC = {"game": "tic-tac-toe", "seed": 1}
TWINS = [{"agent": "random", "label": f"twin {number}"} for number in range(7)]
TILES = {"name": "sliding-tiles", "shuffle": 12}


def play(spec: dict[str, Any], place: Path) -> Leaderboard:
    run(spec, store=place / "board.db")
    (board,) = Leaderboard.load(place / "board.db")
    return board


def overlapping(board: Leaderboard, low: str, high: str) -> list[str]:
    """The entries whose intervals reach that of the first."""
    first, *others = board.rows
    return [row["agent"] for row in others if row[high] >= first[low]]


def test_a_clear_winner_is_ahead_of_all_others(tmp_path: Path) -> None:
    board = play({**TIC, "agents": ["greedy", "random"], "rounds": 60}, tmp_path)
    assert overlapping(board, "rating_low", "rating_high") == []
    assert verdict(board) == "greedy is first of 2, and its lead over all others is more than chance (95 %)."
    assert describe_board(board)["verdict"] == verdict(board)


def test_equal_agents_cannot_be_told_apart(tmp_path: Path) -> None:
    board = play({**TIC, "agents": TWINS, "rounds": 3}, tmp_path)
    assert len(overlapping(board, "rating_low", "rating_high")) == 6
    first = board.rows[0]["agent"]
    assert verdict(board) == (
        f"{first} is first of 7, but cannot be told apart from any of the others: their 95 % intervals overlap."
    )


def test_some_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    strong = [{"agent": "greedy", "label": f"strong {number}"} for number in range(6)]
    board = play({**TIC, "agents": [*strong, "random"], "rounds": 4, "openings": {"plies": 2}}, tmp_path)
    near = overlapping(board, "rating_low", "rating_high")
    assert len(near) == 5
    assert verdict(board) == (
        f"{board.rows[0]['agent']} is first of 7, but cannot be told apart from {', '.join(near[:3])} and 2 others: "
        "their 95 % intervals overlap."
    )


@pytest.mark.parametrize("agents", [["a-star", "random"], ["a-star", "ida-star", "random"]])
def test_puzzles_go_by_the_solved_share(tmp_path: Path, agents: list[str]) -> None:
    board = play({"game": TILES, "agents": agents, "rounds": 20, "limits": {"moves": 30}}, tmp_path)
    near = overlapping(board, "solved_low", "solved_high")
    assert len(near) == len(agents) - 2
    assert ("its lead over all others" in str(verdict(board))) == (len(agents) == 2)


def test_games_that_only_repeat_each_other_say_nothing(tmp_path: Path) -> None:
    board = play({**TIC, "agents": [{"agent": "minimax", "depth": 1}, {"agent": "minimax", "depth": 2}], "rounds": 4}, tmp_path)
    assert "too few different games" in str(verdict(board))


@pytest.mark.parametrize(("game", "agents"), [("2048", ["greedy", "random"]), ("pig", ["random", "hold-at", "greedy"])])
def test_boards_by_returns_go_by_their_intervals(tmp_path: Path, game: str, agents: list[str]) -> None:
    limits = {"moves": 20} if game == "2048" else {}
    spec = {"game": game, "agents": agents, "rounds": 6, "limits": limits, **({"rank": "returns"} if game == "pig" else {})}
    board = play(spec, tmp_path)
    near = overlapping(board, "return_low", "return_high")
    said = str(verdict(board))
    assert ("its lead over all others is more than chance" in said) == (near == [])
    assert all(name in said for name in near) or "any of the others" in said
