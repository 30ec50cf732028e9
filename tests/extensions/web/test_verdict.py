"""The verdict of a leaderboard agrees with the tests of its pairs."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from arena import run
from arena.results.leaderboard import Leaderboard
from arena.stats import holm
from arena_web.live import describe_board
from arena_web.verdict import verdict

TIC = {"game": "tic-tac-toe", "seed": 1}
TWINS = [{"agent": "random", "label": f"twin {number}"} for number in range(7)]
TILES = {"name": "sliding-tiles", "shuffle": 12}


def play(spec: dict[str, Any], place: Path) -> Leaderboard:
    place.mkdir(exist_ok=True)
    run(spec, store=place / "board.db")
    (board,) = Leaderboard.load(place / "board.db")
    return board


def test_a_clear_winner_leads_all_others(tmp_path: Path) -> None:
    board = play({**TIC, "agents": ["greedy", "random"], "rounds": 60}, tmp_path)
    assert (
        verdict(board) == "greedy is first of 2, and its lead over all others is too large to be due to chance (95 % confidence)."
    )
    assert describe_board(board)["verdict"] == verdict(board)


def test_a_winner_of_all_games_leads_although_its_rating_is_open(tmp_path: Path) -> None:
    """The leaderboard shows `?`, because the interval has only one bound, but no `~`, because the test decides."""
    board = play({"game": {"name": "pig", "target": 20}, "agents": ["greedy", "random"], "rounds": 12, "seed": 1}, tmp_path)
    assert board.rows[0]["score"] == 1
    assert board.unrated == {"greedy", "random"}
    assert (
        verdict(board) == "greedy is first of 2, and its lead over all others is too large to be due to chance (95 % confidence)."
    )


def test_equal_agents_cannot_be_told_apart(tmp_path: Path) -> None:
    board = play({**TIC, "agents": TWINS, "rounds": 3}, tmp_path)
    first = board.rows[0]["agent"]
    assert verdict(board) == f"{first} is first of 7, but cannot be distinguished from any of the others."


def test_some_agents_that_are_not_distinguished_are_named_and_the_others_counted(tmp_path: Path) -> None:
    """Six agents are the same except for their names, and one is much weaker."""
    strong = [{"agent": "greedy", "label": f"strong {number}"} for number in range(6)]
    board = play({**TIC, "agents": [*strong, "random"], "rounds": 20, "openings": {"plies": 2}}, tmp_path)
    first, *near = [row["agent"] for row in board.rows[:6]]
    said = f"{first} is first of 7, but cannot be distinguished from {', '.join(near[:3])} and 2 others."
    assert verdict(board) == said


def test_a_hidden_rating_does_not_hide_a_significant_difference(tmp_path: Path) -> None:
    """The rating of the first agent is hidden, but tests distinguish it from two of its three rivals, so there were enough
    rounds.
    """
    board = play({**TIC, "agents": TWINS[:4], "rounds": 3}, tmp_path)
    names = [row["agent"] for row in board.rows]
    hidden = {"rating": None, "rating_low": None, "rating_high": None}
    first, *others = [{**row, **hidden, "rank": rank, "level_with": []} for rank, row in enumerate(board.rows, 1)]
    told = replace(board, rows=({**first, "level_with": names[3:]}, *others), unrated=frozenset(names))
    assert verdict(told) == f"{names[0]} is first of 4, but cannot be distinguished from {names[3]}."
    open_ = replace(told, rows=({**first, "level_with": names[1:]}, *others))
    assert verdict(open_) == (f"{names[0]} is first of 4, but too few complete rounds differ to rule out chance.")


def test_a_shared_first_rank_is_described(tmp_path: Path) -> None:
    board = play({**TIC, "agents": [*TWINS[:2], "greedy"], "rounds": 2}, tmp_path)
    rows = [{**row, "rank": rank} for rank, row in zip((1, 1, 3), board.rows, strict=True)]
    names = [row["agent"] for row in rows]
    said = str(verdict(replace(board, rows=tuple(rows))))
    assert said.startswith(f"{names[0]} shares rank 1 of 3 with {names[1]}, ")


def test_the_verdict_of_a_puzzle_uses_its_ranking(tmp_path: Path) -> None:
    """Two equal searches with different names are level. The blind search needs more nodes at every position, so it is behind."""
    agents = [{"agent": "a-star", "label": "one"}, {"agent": "a-star", "label": "two"}, "bfs"]
    board = play({"game": TILES, "agents": agents, "rounds": 20}, tmp_path)
    assert [row["solved"] for row in board.rows] == [1, 1, 1]
    assert (
        verdict(board)
        == "one shares rank 1 of 3 with two, and its lead over the others is too large to be due to chance (95 % confidence)."
    )
    board = play({"game": TILES, "agents": ["a-star", "bfs"], "rounds": 20}, tmp_path / "second")
    assert (
        verdict(board) == "a-star is first of 2, and its lead over all others is too large to be due to chance (95 % confidence)."
    )


def test_repeated_games_do_not_count(tmp_path: Path) -> None:
    board = play({**TIC, "agents": [{"agent": "minimax", "depth": 1}, {"agent": "minimax", "depth": 2}], "rounds": 4}, tmp_path)
    assert "too few complete rounds differ" in str(verdict(board))


@pytest.mark.parametrize(("game", "agents"), [("2048", ["greedy", "random"]), ("pig", ["random", "hold-at", "greedy"])])
def test_boards_ranked_by_returns_compare_returns_round_by_round(tmp_path: Path, game: str, agents: list[str]) -> None:
    """scipy computes sign-flip tests of the differences of rounds, corrected by Holm's method, to find the agents that are
    not distinguished from the first one.
    """
    limits = {"moves": 20} if game == "2048" else {}
    spec = {"game": game, "agents": agents, "rounds": 8, "limits": limits, **({"rank": "returns"} if game == "pig" else {})}
    results = run(spec, store=tmp_path / "board.db")
    (board,) = Leaderboard.load(tmp_path / "board.db")
    sums = {name: np.zeros(8) for name in agents}
    for _, _, pairing, record in results.played:
        for label, got in zip(record.labels, record.returns, strict=True):
            sums[label][pairing.round] += got
    pairs = list(combinations(agents, 2))
    flips = [
        stats.permutation_test((sums[one] - sums[two],), np.mean, permutation_type="samples", n_resamples=2**8).pvalue
        for one, two in pairs
    ]
    apart = {frozenset(both) for both, corrected in zip(pairs, holm(flips), strict=True) if corrected <= 0.05}
    first, *others = [row["agent"] for row in board.rows]
    near = [name for name in others if {first, name} not in apart]
    said = str(verdict(board))
    assert ("its lead over all others is too large" in said) == (near == [])
    assert all(name in said for name in near) or "any of the others" in said
