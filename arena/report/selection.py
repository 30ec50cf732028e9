"""Selects the matches that a report carries if it cannot carry them all."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from arena.match.record import FAULTS
from arena.report.evidence import Evidence, MatchSummary

FAILED, DECISIVE, OTHER = range(3)
"""The ranks of matches: lost by a fault, void or unsolved; decisive or solved; draws."""


class Chosen(NamedTuple):
    """A match of a board."""

    board: int
    match: MatchSummary


class _Turn(NamedTuple):
    """The sort key of a match: ranks after each other, in each all pairings of all boards in turn."""

    rank: int
    turn: int
    board: int
    place: int


def chosen(boards: Sequence[Evidence], most: int, positions: int) -> list[Chosen]:
    """At most so many matches, with at most so many positions in all: the failures first, then the decisive ones.

    Failures take half of the room, and what the others leave of the rest, so that there is always something else to see.
    """
    failed, others = _in_turn(boards)
    first = _within(failed, most // 2, positions // 2)
    places, room = most - len(first), positions - _positions(first)
    second = _within(others, places, room)
    more = _within(failed[len(first) :], places - len(second), room - _positions(second))
    return [*first, *more, *second]


def _within(wanted: Sequence[Chosen], most: int, positions: int) -> list[Chosen]:
    """The first of them, for as long as there is room."""
    kept: list[Chosen] = []
    for one in wanted[: max(0, most)]:
        positions -= _positions([one])
        if positions < 0:
            break
        kept.append(one)
    return kept


def _positions(matches: Sequence[Chosen]) -> int:
    return sum(one.match.positions for one in matches)


def _in_turn(boards: Sequence[Evidence]) -> tuple[list[Chosen], list[Chosen]]:
    """The failures, and the others, each in the order in which they are taken."""
    seen: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
    turns: list[tuple[_Turn, MatchSummary]] = []
    for evidence in boards:
        for match in sorted(evidence.matches, key=lambda match: match.place):
            rank = rank_of(match)
            group = (evidence.number, rank, match.seats)
            turns.append((_Turn(rank, seen[group], evidence.number, match.place), match))
            seen[group] += 1
    turns.sort(key=lambda item: item[0])
    failed = [Chosen(turn.board, match) for turn, match in turns if turn.rank == FAILED]
    return failed, [Chosen(turn.board, match) for turn, match in turns[len(failed) :]]


def rank_of(match: MatchSummary) -> int:
    """FAILED, DECISIVE or OTHER."""
    if match.void or match.termination in FAULTS or match.solved is False:
        return FAILED
    return DECISIVE if match.solved or len(set(match.returns)) > 1 else OTHER
