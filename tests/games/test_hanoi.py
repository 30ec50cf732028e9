"""Test the Tower of Hanoi against known solution lengths, and the heuristic against breadth-first search."""

import random

import pytest

import arena
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.hanoi import Hanoi, HanoiPatterns
from tests.games.game_tree import distances

# Lengths for 1, 2, ... discs on four pegs: J. Frame, B. Stewart, 1941, proven by T. Bousch, 2014; OEIS A007664.
FOUR_PEGS = [1, 3, 5, 9, 13, 17, 25, 33, 41, 49]


@pytest.mark.parametrize("most", [6, pytest.param(10, marks=pytest.mark.proof)])
def test_four_pegs_need_the_frame_stewart_number_of_moves(most: int) -> None:
    towers = [Hanoi(discs=discs) for discs in range(1, most + 1)]
    assert [distances(game, game.goal)[(0,) * game.discs] for game in towers] == FOUR_PEGS[:most]


def test_three_pegs_need_two_to_the_n_minus_one_moves() -> None:
    towers = [Hanoi(discs=discs, pegs=3) for discs in range(1, 8)]
    assert [distances(game, game.goal)[(0,) * game.discs] for game in towers] == [2**discs - 1 for discs in range(1, 8)]


@pytest.mark.parametrize(
    ("discs", "pegs", "partition"), [(5, 4, "3-2"), (5, 4, "1-4"), (4, 4, "4"), (5, 3, "2-2-1"), (4, 5, None)]
)
def test_pattern_databases_are_admissible_and_consistent(discs: int, pegs: int, partition: str | None) -> None:
    """All states are compared. If all discs are in one set, the estimate is the distance."""
    puzzle = Hanoi(discs=discs, pegs=pegs)
    known, estimate = distances(puzzle, puzzle.goal), HanoiPatterns(puzzle, partition=partition)
    assert len(known) == pegs**discs
    for state, distance in known.items():
        value = estimate(state)
        assert value == distance if partition in (None, str(discs)) else value <= distance
        assert all(abs(value - estimate(puzzle.result(state, action))) <= 1 for action in puzzle.actions(state))


def test_a_set_counts_only_the_moves_of_its_own_discs() -> None:
    """With sets of single discs, every disc away from the goal counts one move."""
    puzzle = Hanoi(discs=6)
    estimate, rng = HanoiPatterns(puzzle, partition="1-1-1-1-1-1"), random.Random(2)
    for state in [puzzle.initial(rng) for _ in range(50)]:
        assert estimate(state) == sum(peg != 3 for peg in state)


def test_a_star_solves_the_tower_with_the_fewest_moves() -> None:
    heuristic = {"name": "pattern-db", "partition": "2-4"}
    record = arena.play({"name": "hanoi", "discs": 6, "start": "tower"}, "a-star", heuristics=heuristic)
    assert (record.position, len(record.actions)) == ("6 5 4 3 2 1 / - / - / -", 17)


def test_notation_names_pegs_and_discs() -> None:
    puzzle = Hanoi(discs=4)
    state = puzzle.parse_state("4 3/2 1/-/-")
    assert state == (1, 1, 0, 0)
    assert [puzzle.format_action(state, action) for action in puzzle.actions(state)] == ["ac", "ad", "ba", "bc", "bd"]
    assert puzzle.format_state(puzzle.result(state, puzzle.parse_action(state, "ba"))) == "4 3 1 / 2 / - / -"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3 2 1 / -", "4 pegs"),
        ("1 2 3 / - / - / -", "peg a has a disc on a smaller one"),
        ("3 2 / - / - / -", "each disc from 1 to 3"),
        ("3 2 1 / 1 / - / -", "each disc from 1 to 3"),
        ("3 2 x / - / - / -", "numbers of discs"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Hanoi(discs=3).parse_state(text)


@pytest.mark.parametrize(("partition", "reason"), [("3-3", "add up to 7"), ("7-x", "add up to 7"), ("0-7", "add up to 7")])
def test_an_invalid_partition_is_refused(partition: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        HanoiPatterns(Hanoi(), partition=partition)
    with pytest.raises(ValueError, match="too large"):
        HanoiPatterns(Hanoi(discs=20), partition="11-9")


@pytest.mark.parametrize("settings", [{"discs": 3}, {"discs": 4, "pegs": 3, "start": "tower"}])
def test_the_conformance_checks_pass(settings: dict[str, int], registry: Registry) -> None:
    game = registry.game("hanoi")(**settings)
    check_game(game, matches=1)
    check_heuristic("pattern-db", game, matches=1)
