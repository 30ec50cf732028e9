"""The interval of an exploitability that is known from samples."""

import random
from typing import Any

import pytest

from arena_solution.best_response import nash_gap
from arena_solution.sampling import sampled_gap
from arena_solution.sequence_form import sequence_form
from tests.extensions.solution.dealt_games import Dealt, drawn


def test_the_interval_holds_the_exploitability_of_the_policy_itself() -> None:
    """In at least 37 of 40 games with 100 samples at each observation: 38 are expected of 95 %."""
    held = 0
    for seed in range(40):
        game, rng = Dealt(seed=seed), random.Random(seed)
        policy, form = drawn(game, rng), sequence_form(game)
        exact = nash_gap(form, lambda seat, observation: policy[seat, observation]).exploitability  # noqa: B023
        samples = {key: rng.choices(range(len(odds)), odds, k=100) for key, odds in policy.items()}
        found = sampled_gap(form, samples)
        assert 0 <= found.low <= found.exploitability <= found.high
        held += found.low - 1e-9 <= exact <= found.high + 1e-9
    assert held >= 37


def test_an_agent_that_always_plays_the_same_needs_one_sample() -> None:
    """Then the interval is the exact value."""
    game, form = Dealt(seed=3), sequence_form(Dealt(seed=3))
    policy: dict[Any, list[float]] = {key: [1.0] + [0.0] * (len(odds) - 1) for key, odds in drawn(game, random.Random(1)).items()}
    exact = nash_gap(form, lambda seat, observation: policy[seat, observation])
    found = sampled_gap(form, {key: [0] for key in policy})
    assert (found.low, found.exploitability, found.high) == (exact.exploitability,) * 3
    assert found.value == pytest.approx(exact.value)
