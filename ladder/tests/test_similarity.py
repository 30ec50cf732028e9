"""Similar agents: code that was copied is found although names were changed, and moves beyond what strength explains."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena_ladder import similarity
from arena_ladder.similarity import compare_moves, is_long, mark_code, mark_moves
from arena_ladder.similarity_process import simplify


def compare_code(texts: Sequence[str], given: Sequence[str] = ()) -> Any:
    """Compare code, whose tokens are found in this process."""
    simple, own = ([simplify(text) if is_long(text) else None for text in one] for one in (texts, given))
    return similarity.compare_code(simple, own)


AGENTS = Path(__file__).parents[2] / "agents" / "arena_agents"
OWN = ["simple", "mcts", "tree_search", "dilemma", "star2", "solved_game", "population_search", "local_search", "best_first"]


def test_a_copy_with_other_names_is_found_and_independent_code_is_not() -> None:
    """The class consists of the built-in agents, and of a copy with renamed variables and without comments."""
    texts = [(AGENTS / f"{name}.py").read_text() for name in OWN if (AGENTS / f"{name}.py").exists()]
    copied = re.sub(r"\b(state|search|game|value|node)\b", r"my_\1", re.sub(r"#.*", "", texts[1]))
    shares = compare_code([*texts, copied])
    assert shares[1, len(texts)] > 0.9
    assert np.argwhere(np.triu(mark_code(shares), 1)).tolist() == [[1, len(texts)]]


def test_code_that_every_author_received_does_not_count() -> None:
    """Two authors start with the same file. Only the parts that they wrote are compared."""
    given = (AGENTS / "mcts.py").read_text()
    one, other = ((AGENTS / f"{name}.py").read_text() for name in ("simple", "dilemma"))
    # The fingerprints depend on the hashes of strings, which differ from process to process: 0.86 to 0.88, and 0.31 to 0.42.
    assert compare_code([given + one, given + other])[0, 1] > 0.8
    assert compare_code([given + one, given + other], [given])[0, 1] <= compare_code([one, other])[0, 1] < 0.5
    assert np.isnan(compare_code(["x = 1", given])[0, 1]), "too short to be compared"


def count_by_hand(moves: Any, strengths: Sequence[float], one: int, other: int) -> tuple[int, int, float]:
    """Return the same counts, computed position by position."""
    order = sorted(range(len(moves)), key=lambda row: (strengths[row], row))
    shared = equal = 0
    expected = 0.0
    for column in range(moves.shape[1]):
        if min(moves[one, column], moves[other, column]) < 0:
            continue
        shared += 1
        equal += moves[one, column] == moves[other, column]
        agreeing = number = 0
        for own in (one, other):
            for row in range(len(moves)):
                is_near = abs(order.index(row) - order.index(own)) <= 5
                if row not in (one, other) and is_near and moves[row, column] >= 0:
                    number += 1
                    agreeing += moves[row, column] == moves[own, column]
        expected += (agreeing + 0.5) / (number + 1)
    return shared, equal, expected


def test_expected_agreement_equals_a_count_by_hand() -> None:
    """The count covers all pairs of a small class with missing data."""
    rng = np.random.default_rng(7)
    moves, strengths = rng.integers(-1, 3, (13, 20)), rng.normal(size=13)
    shared, equal, expected, _ = compare_moves(moves, [*strengths])
    for one in range(13):
        for other in range(13):
            if one != other:
                found = (shared[one, other], equal[one, other], expected[one, other])
                assert found == pytest.approx(count_by_hand(moves, [*strengths], one, other))


@pytest.mark.parametrize("seed", range(2))
def test_a_copy_is_marked_but_agreement_of_strong_authors_is_not(seed: int) -> None:
    """Stronger authors play the best move more often. A weak copy agrees more than its strength explains."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.3, 0.95, 40)
    best = rng.random((40, 400)) < quality[:, None]
    moves = np.where(best, 0, rng.integers(1, 7, (40, 400)))
    found = compare_moves(moves, [*quality])
    shared, equal, expected, _ = found
    assert equal[38, 39] / shared[38, 39] > 0.8, "they agree, because both find the best move"
    assert expected[38, 39] == pytest.approx(equal[38, 39], rel=0.12)
    assert not mark_moves(*found).any()
    moves[11] = np.where(rng.random(400) < 0.8, moves[5], moves[11])
    assert np.argwhere(np.triu(mark_moves(*compare_moves(moves, [*quality])), 1)).tolist() == [[5, 11]]
