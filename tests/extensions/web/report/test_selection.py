"""The choice of matches for a page obeys laws that hold for any results."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from arena_web.report.carried import FAILED, choose_matches, rank_of
from arena_web.report.evidence import Evidence, MatchSummary, read

KINDS = st.sampled_from(["won", "drawn", "fault", "void", "solved", "unsolved", "answered"])
PLAYED = st.lists(st.tuples(KINDS, st.integers(0, 60), st.integers(0, 3)), max_size=60)


@pytest.fixture(scope="module")
def board(played: Path) -> Evidence:
    return read(played / "cup.db").boards[0]


def match(place: int, kind: str, moves: int, pairing: int) -> MatchSummary:
    solved = {"solved": True, "answered": True, "unsolved": False}.get(kind)
    returns = (0.0, 0.0) if kind == "drawn" else (1.0, -1.0)
    reason = {"fault": "exception", "void": "void", "unsolved": "gave-up"}.get(kind, "normal")
    cost = None if solved is None or kind == "answered" else 1.0
    return MatchSummary(place, place, (pairing,), returns, reason, None, solved, moves, cost, (), 0, False)  # type: ignore[arg-type]


@given(PLAYED, st.integers(0, 70), st.integers(0, 6000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_matches_are_limited_and_failures_come_first(
    board: Evidence, made: list[tuple[str, int, int]], most: int, positions: int
) -> None:
    matches = [match(place, *one) for place, one in enumerate(made)]
    kept = [one.match for one in choose_matches([replace(board, matches=tuple(matches))], most, positions)]
    ranks = [rank_of(one) for one in kept]
    assert len(kept) <= most
    assert sum(one.positions for one in kept) <= positions
    assert len({one.place for one in kept}) == len(kept)
    assert ranks == sorted(ranks)
    if positions >= sum(one.positions for one in matches) * 2:
        assert len(kept) == min(most, len(matches))
        failed = sum(rank_of(one) == FAILED for one in matches)
        assert ranks.count(FAILED) == min(failed, max(most // 2, most - (len(matches) - failed)))


def test_every_pairing_gets_a_share_of_the_listed_matches(board: Evidence) -> None:
    """There are a thousand matches of one pairing and three of another. The list has room for six: the last three of each
    pairing, the newest first.
    """
    matches = [match(place, "won", 5, 0) for place in range(1000)] + [match(1000 + k, "won", 5, 1) for k in range(3)]
    kept = choose_matches([replace(board, matches=tuple(matches))], 6, 10_000)
    assert [one.match.place for one in kept] == [1002, 999, 1001, 998, 1000, 997]


def test_an_answer_of_a_solver_counts_as_two_positions() -> None:
    """The steps of a solver are not in the record."""
    assert match(0, "answered", 50_000, 0).positions == 2
    assert match(0, "won", 30, 0).positions == 31
