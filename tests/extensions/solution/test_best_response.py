"""Best responses and exploitability agree with brute force over all pure strategies, and with published values."""

import random
from typing import Any

import pytest

from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_solution.best_response import best_response, expected_returns, nash_gap, realization
from arena_solution.sequence_form import sequence_form
from tests.extensions.solution.dealt_games import Dealt, draw_policy, mean_payoffs, pure_strategies

GAMES = [Dealt(seed=seed) for seed in range(12)] + [Dealt(seed=seed, seats=3, zero_sum=False) for seed in range(6)]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.players}-{game.order}-{game.choices}")
def test_the_best_response_is_the_best_pure_strategy(game: Dealt) -> None:
    """For each seat, the value is the maximum over all pure strategies, and the returned plan reaches it."""
    policy = draw_policy(game, random.Random(str(game.order)))
    form = sequence_form(game)
    gap = nash_gap(form, lambda seat, observation: policy[seat, observation])
    assert gap.value == pytest.approx(mean_payoffs(game, policy))
    best = [max(mean_payoffs(game, other)[seat] for other in pure_strategies(game, policy, seat)) for seat in range(game.players)]
    assert gap.best == pytest.approx(best)
    assert gap.exploitability == pytest.approx(sum(best) / game.players - sum(mean_payoffs(game, policy)) / game.players)
    for seat in range(game.players):
        plans: list[Any] = [realization(form, one, lambda s, o: policy[s, o]) for one in range(game.players)]
        plans[seat] = best_response(form, seat, plans)[1]
        assert expected_returns(form, plans)[seat] == pytest.approx(best[seat])


# These are results of `exploitability.exploitability(game, UniformRandomPolicy(game))` of open_spiel 1.6.
UNIFORM = {KuhnPoker(): 0.4583333333, LeducPoker(): 2.3736111111, LiarsDice(sides=4): 0.655060}


@pytest.mark.parametrize("game", UNIFORM, ids=lambda game: game.name)
def test_the_exploitability_of_uniform_play_agrees_with_published_values(game: Any) -> None:
    form = sequence_form(game)

    def uniformly(_: int, observation: Any) -> list[float]:
        actions = game.actions(observation)
        return [1 / len(actions)] * len(actions)

    assert nash_gap(form, uniformly).exploitability == pytest.approx(UNIFORM[game], abs=1e-6)
