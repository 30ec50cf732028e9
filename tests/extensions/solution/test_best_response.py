"""Best responses and exploitability against a twin that tries every pure strategy, and against published values."""

import random
from typing import Any

import pytest

from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_solution.best_response import best_response, expected_returns, nash_gap, realization
from arena_solution.sequence_form import sequence_form
from tests.extensions.solution.dealt_games import Dealt, drawn, paid, pure

GAMES = [Dealt(seed=seed) for seed in range(12)] + [Dealt(seed=seed, seats=3, zero_sum=False) for seed in range(6)]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.players}-{game.order}-{game.choices}")
def test_nothing_that_a_seat_may_do_is_better_than_its_best_response(game: Dealt) -> None:
    """For every seat: the best of all pure strategies, and a plan that reaches it; values where all keep to the policy."""
    policy = drawn(game, random.Random(str(game.order)))
    form = sequence_form(game)
    gap = nash_gap(form, lambda seat, observation: policy[seat, observation])
    assert gap.value == pytest.approx(paid(game, policy))
    best = [max(paid(game, other)[seat] for other in pure(game, policy, seat)) for seat in range(game.players)]
    assert gap.best == pytest.approx(best)
    assert gap.exploitability == pytest.approx(sum(best) / game.players - sum(paid(game, policy)) / game.players)
    for seat in range(game.players):
        plans: list[Any] = [realization(form, one, lambda s, o: policy[s, o]) for one in range(game.players)]
        plans[seat] = best_response(form, seat, plans)[1]
        assert expected_returns(form, plans)[seat] == pytest.approx(best[seat])


# Of open_spiel 1.6, `exploitability.exploitability(game, UniformRandomPolicy(game))`.
UNIFORM = {KuhnPoker(): 0.4583333333, LeducPoker(): 2.3736111111, LiarsDice(sides=4): 0.655060}


@pytest.mark.parametrize("game", UNIFORM, ids=lambda game: game.name)
def test_uniform_play_loses_to_a_best_response_what_is_known(game: Any) -> None:
    """To the digits that are published."""
    form = sequence_form(game)

    def uniformly(_: int, observation: Any) -> list[float]:
        actions = game.actions(observation)
        return [1 / len(actions)] * len(actions)

    assert nash_gap(form, uniformly).exploitability == pytest.approx(UNIFORM[game], abs=1e-6)
