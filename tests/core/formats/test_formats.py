"""The formats of the core, and openings, on the results of real tournaments."""

from collections import Counter
from typing import Any

import pytest

import arena
from arena import Outcomes, Pairing
from arena.errors import SpecError

FIELD: list[Any] = ["random", "greedy", {"agent": "lookahead", "depth": 1}, {"agent": "lookahead", "depth": 2}, "type-a-plus"]
SPEC: dict[str, Any] = {"game": "tic-tac-toe", "agents": FIELD, "openings": {"plies": 2}, "seed": 3}


def test_a_gauntlet_pairs_challengers_with_the_others() -> None:
    """Two challengers and three other entries make 6 pairs, with two games from each of four positions."""
    results = arena.run({**SPEC, "format": "gauntlet", "challengers": 2, "rounds": 4})
    assert len(results.records) == 6 * 2 * 4 == results.spec.boards[0].size
    assert {frozenset(one.pairing.seats) for one in results.played} == {frozenset((a, b)) for a in (0, 1) for b in (2, 3, 4)}
    assert Counter(one.pairing.seats for one in results.played) == dict.fromkeys(
        [(a, b) for a in range(5) for b in range(5) if (a < 2) != (b < 2)], 4
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"format": "gauntlet", "challengers": 0}, "challengers: expected at least 1, got 0"),
        ({"format": "gauntlet", "challengers": 5}, "gauntlet needs at least 6"),
        ({"format": {"name": "gauntlet", "challengers": 1}, "challengers": 1}, "challengers: given twice"),
        ({"openings": {"plies": 0}}, "openings.plies: expected at least 1"),
        (
            {"openings": {"plies": 9}},
            "openings.plies: tic-tac-toe: every opening of 9 plies that was drawn ends the game tic-tac-toe",
        ),
        ({"openings": {"ply": 2}}, "openings.ply: unknown key"),
        ({"game": "sliding-tiles", "agents": ["random"]}, "openings: sliding-tiles is a puzzle; openings are for games"),
    ],
)
def test_invalid_keys_of_a_format_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        arena.run({**SPEC, **more})
    assert words in str(caught.value)


def test_luck_is_the_return_minus_the_adjusted_return() -> None:
    """Luck is 0 for void matches and for matches without adjusted returns."""
    outcomes = Outcomes()
    lucky, plain, void = (Pairing(round_, (0, 1)) for round_ in range(3))
    outcomes.add(lucky, (1.0, -1.0), adjusted=(0.25, -0.25))
    outcomes.add(plain, (1.0, -1.0))
    outcomes.add(void, None)
    assert [[outcomes.luck(pairing, seat) for seat in (0, 1)] for pairing in (lucky, plain, void)] == [
        [0.75, -0.75],
        [0, 0],
        [0, 0],
    ]
