"""Intransitive cycles."""

from arena.stats.cycles import beats, cycles
from arena.stats.observations import Pair, WinDrawLoss

CLEAR = [Pair.of(1, 0)] * 9 + [Pair.of(0, 1)]
EVEN = [Pair.of(1, 0)] * 6 + [Pair.of(0, 1)] * 5


def test_rock_paper_scissors_is_a_cycle() -> None:
    lost = [Pair(pair.backward, pair.forward) for pair in CLEAR]
    pairings = {("rock", "scissors"): CLEAR, ("scissors", "paper"): CLEAR, ("rock", "paper"): lost}
    assert cycles(beats(pairings)) == (("paper", "rock", "scissors"),)


def test_a_cycle_with_a_lead_that_is_not_significant_is_not_reported() -> None:
    """One of the three leads is only six pairs to five."""
    assert cycles(beats({("a", "b"): CLEAR, ("b", "c"): CLEAR, ("c", "a"): EVEN})) == ()
    assert beats({("a", "b"): [Pair(WinDrawLoss(wins=40), WinDrawLoss(losses=40))]}) == {"a": frozenset(), "b": frozenset()}


def test_longer_cycles_are_found_if_there_are_no_shorter_ones() -> None:
    ring = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("d"), "d": frozenset("a")}
    assert cycles(ring) == (("a", "b", "c", "d"),)
    assert cycles({**ring, "c": frozenset("de"), "e": frozenset("f"), "f": frozenset("a")}) == (("a", "b", "c", "d"),)
    assert cycles({"a": frozenset("b"), "b": frozenset()}) == ()


def test_all_cycles_of_three_are_listed_once() -> None:
    """In a ring of five, each agent beats the next two."""
    ring = {str(k): frozenset({str((k + 1) % 5), str((k + 2) % 5)}) for k in range(5)}
    found = cycles(ring)
    assert len(found) == len(set(map(frozenset, found))) == 5
    assert all(three[1] in ring[three[0]] and three[2] in ring[three[1]] and three[0] in ring[three[2]] for three in found)
    assert len(cycles(ring, most=2)) == 2


def test_games_without_their_pair_are_ignored() -> None:
    assert beats({("a", "b"): [Pair(WinDrawLoss(wins=1), WinDrawLoss())] * 20}) == {"a": frozenset(), "b": frozenset()}
