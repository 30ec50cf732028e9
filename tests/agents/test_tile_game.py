"""Compare solved shares of random, greedy and lookahead on the 8-puzzle with exact chances.

The chances come from an absorbing Markov chain over all 181,440 states.
"""

from collections.abc import Callable
from math import sqrt

import pytest

from arena import run

SIGMAS = 4.0
"""Tolerance in standard errors. A correct share differs by more once in 16,000 samples; the seed is fixed."""

EXACT = {
    20: {"random": 0.0969, "greedy": 0.7478, "lookahead": 0.8820},
    50: {"random": 0.0225, "greedy": 0.2988, "lookahead": 0.5038},
    100: {"random": 0.0052, "greedy": 0.0749, "lookahead": 0.2165},
}
"""The chance to solve a board of n random moves within 1,000 moves, with random ties; Lookahead looks two moves ahead."""


@pytest.mark.parametrize(
    ("shuffle", "rounds"), [(20, 15), *[pytest.param(shuffle, 600, marks=pytest.mark.proof) for shuffle in EXACT]]
)
def test_solved_shares_agree_with_exact_chances(
    shuffle: int, rounds: int, record_property: Callable[[str, object], None]
) -> None:
    results = run(
        {
            "game": {"name": "sliding-tiles", "shuffle": shuffle},
            "rounds": rounds,
            "seed": 7,
            "limits": {"moves": 1000},
            "agents": ["random", "greedy", "lookahead"],
        }
    )
    for agent, chance in EXACT[shuffle].items():
        solved = [record.solved for record in results.records if record.labels == (agent,)]
        assert len(solved) == rounds
        share = sum(map(bool, solved)) / rounds
        record_property(f"solved by {agent}", f"{share:.1%} of {rounds}, exactly {chance:.1%}")
        assert abs(share - chance) <= SIGMAS * sqrt(chance * (1 - chance) / rounds)
