"""The page of a run shows the expected number of matches."""

from types import SimpleNamespace
from typing import Any

import pytest

from arena_web.live import expected_total


def board(size: int, games: int = 0, *, likely: float | None = None, pairs: int = 0, exact: bool = False) -> Any:
    """Return the parts of a board that are read. `likely` is the expected number of pairs of its sequential test."""
    forecast = None if likely is None else SimpleNamespace(likely=likely)
    return SimpleNamespace(
        sheet=SimpleNamespace(size=size, exact=exact), games=games, test=SimpleNamespace(forecast=forecast, counts=[0, pairs])
    )


@pytest.mark.parametrize(
    ("boards", "total"),
    [
        ([board(60, 12, exact=True), board(10, exact=True)], 70),
        ([board(1000, 20, likely=35.2, pairs=10)], 20 + 2 * 26),
        ([board(60, 20, likely=35.2, pairs=10)], 60),
        ([board(1000, 80, likely=35.2, pairs=40)], 80),
        ([board(1000, 80)], 80),
    ],
)
def test_a_sequential_test_needs_two_games_for_each_further_pair(boards: list[Any], total: int) -> None:
    assert expected_total(boards) == total
