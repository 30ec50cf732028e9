"""The tile game: random, greedy and lookahead against exact chances by an absorbing Markov chain over all 181,440 states."""

from math import sqrt

import pytest

from arena import run

ROUNDS = 150
SIGMAS = 4.0
"""A share outside this many standard errors of its exact chance comes once in 16,000 correct samples; the seed is fixed."""

EXACT = {
    20: {"random": 0.0969, "greedy": 0.7478, "lookahead": 0.8820},
    50: {"random": 0.0225, "greedy": 0.2988, "lookahead": 0.5038},
    100: {"random": 0.0052, "greedy": 0.0749, "lookahead": 0.2165},
}
"""Chance of being solved within 1000 moves from n random moves, ties at random, replies of length two for lookahead."""


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [20, 50, 100])
def test_shares_agree_with_the_exact_chances(shuffle: int) -> None:
    """Each measured share lies within four standard errors of the exact chance."""
    results = run(
        {
            "game": {"name": "sliding-tiles", "shuffle": shuffle},
            "rounds": ROUNDS,
            "seed": 7,
            "limits": {"moves": 1000},
            "agents": ["random", "greedy", "lookahead"],
        }
    )
    for agent, chance in EXACT[shuffle].items():
        solved = [record.solved for record in results.records if record.labels == (agent,)]
        assert len(solved) == ROUNDS
        error = sqrt(chance * (1 - chance) / ROUNDS)
        assert abs(sum(map(bool, solved)) / ROUNDS - chance) <= SIGMAS * error
