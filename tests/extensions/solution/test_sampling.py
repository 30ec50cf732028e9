"""Exploitability that is estimated from samples has a 95 % interval."""

import random
from statistics import fmean
from typing import Any

import pytest

from arena_games.kuhn_poker import KuhnPoker
from arena_solution.best_response import nash_gap, sampled_gap
from arena_solution.sequence_form import sequence_form
from tests.extensions.solution.dealt_games import Dealt, draw_policy


def test_the_interval_contains_the_exploitability_of_the_policy() -> None:
    """The policy has 100 samples at each observation. Of 40 intervals of 95 %, 38 are expected to contain the value; the test
    needs 37.
    """
    held = 0
    for seed in range(40):
        game, rng = Dealt(seed=seed), random.Random(seed)
        policy, form = draw_policy(game, rng), sequence_form(game)
        exact = nash_gap(form, lambda seat, observation: policy[seat, observation]).exploitability  # noqa: B023
        samples = {key: rng.choices(range(len(odds)), odds, k=100) for key, odds in policy.items()}
        found = sampled_gap(form, samples)
        assert 0 <= found.low <= found.exploitability <= found.high
        held += found.low - 1e-9 <= exact <= found.high + 1e-9
    assert held >= 37


def test_the_estimate_is_not_biased_upwards() -> None:
    """An equilibrium of Kuhn (1950), mixed with a twentieth of random play, loses 0.0168. An estimate from all samples at once
    would be 0.036.
    """
    game = KuhnPoker()
    form = sequence_form(game, game.initial(random.Random()))
    bets = {"J?:": 0.2, "Q?:": 0, "K?:": 0.6, "J?:pb": 0, "Q?:pb": 0.2 + 1 / 3, "K?:pb": 1}
    bets |= {"?J:p": 1 / 3, "?Q:p": 0, "?K:p": 1, "?J:b": 0, "?Q:b": 1 / 3, "?K:b": 1}

    def play(_: int, observation: Any) -> list[float]:
        bet = 0.95 * bets[game.format_state(observation)] + 0.025
        return [bet if action == "bet" else 1 - bet for action in game.actions(observation)]

    exact = nash_gap(form, play).exploitability
    assert exact == pytest.approx(0.0168, abs=1e-4)
    places = [(seat, here.observation) for seat, sets in enumerate(form.information_sets) for here in sets]
    found = []
    for seed in range(25):
        rng = random.Random(seed)
        found.append(sampled_gap(form, {place: rng.choices((0, 1), play(*place), k=100) for place in places}))
    mean = fmean([gap.exploitability for gap in found])
    assert mean == pytest.approx(exact, abs=0.007)
    assert all(gap.low <= gap.exploitability <= gap.high for gap in found)


def test_a_deterministic_agent_needs_one_sample() -> None:
    """The interval is the exact value."""
    game, form = Dealt(seed=3), sequence_form(Dealt(seed=3))
    policy: dict[Any, list[float]] = {
        key: [1.0] + [0.0] * (len(odds) - 1) for key, odds in draw_policy(game, random.Random(1)).items()
    }
    exact = nash_gap(form, lambda seat, observation: policy[seat, observation])
    found = sampled_gap(form, {key: [0] for key in policy})
    assert (found.low, found.exploitability, found.high) == (exact.exploitability,) * 3
    assert found.value == pytest.approx(exact.value)
