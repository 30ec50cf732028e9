"""Test resampled states of small open_spiel games with hidden information, and the searches that use them."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from arena import run
from arena.errors import ArenaError
from arena.results.leaderboard import Leaderboard
from arena.testing import check_game
from arena.traits import Traits
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.state import Observation, State

DRAWS = 300


def make_state(text: str, plies: int, number: int) -> tuple[OpenSpiel, Any]:
    """Return a game and its state after some random actions."""
    game, rng = OpenSpiel(game=text), random.Random(number)
    state = game.initial(rng)
    for _ in range(plies):
        state = game.result(state, rng.choice(game.actions(state)))
    return game, state


@pytest.mark.parametrize("plies", [2, 4, 5])
@pytest.mark.parametrize("seat", [0, 1])
def test_resampled_states_agree_with_open_spiel(seat: int, plies: int) -> None:
    """open_spiel can resample Leduc poker. The opponent may hold 5 cards, or 4 after the public card."""
    game, state = make_state("leduc_poker", plies, 4)
    seen, rng = game.observation(state, seat), random.Random(0)
    ours = Counter(game.resample(seen, seat, rng).history for _ in range(DRAWS))
    theirs = Counter(tuple(state.spiel.resample_from_infostate(seat, rng.random).history()) for _ in range(DRAWS))
    assert set(ours) == set(theirs)
    fair = DRAWS / len(ours)
    assert sum((count - fair) ** 2 / fair for count in ours.values()) < 23.5  # 0.9999 of chi-square with 4 degrees of freedom


def test_hidden_bids_are_resampled_from_all_possible_bids() -> None:
    """In Goofspiel with three cards, bid 1 lost to 2 or 3, bid 2 lost to 3, or bid 3 beat 1 or 2."""
    game = OpenSpiel(game="goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    rng = random.Random(0)
    for mine, possible in ((0, {1, 2}), (1, {2}), (2, {0, 1})):
        state = game.result(game.initial(rng), mine)
        state = game.result(state, 2 if mine < 2 else 0)
        drawn = {game.resample(game.observation(state, 0), 0, rng).history[1] for _ in range(50)}
        assert drawn == possible


def test_liars_dice_is_resampled_uniformly() -> None:
    """open_spiel cannot resample this game. Each side of the opponent's die is equally likely, and the bids are public."""
    game, state = make_state("liars_dice", 4, 1)
    assert isinstance(state, State)
    seen, rng = game.observation(state, 0), random.Random(1)
    assert isinstance(seen, Observation)
    draws = 60
    found = Counter(game.resample(game.parse_state(game.format_state(seen)), 0, rng).history for _ in range(draws))
    assert {(own, *bids) for own, _, *bids in found} == {(state.history[0], *state.history[2:])}
    assert {die for _, die, *_ in found} == set(range(6))
    assert sum((count - draws / 6) ** 2 / (draws / 6) for count in found.values()) < 25.8  # as above, 5 degrees


@pytest.mark.parametrize("text", ["leduc_poker", "tiny_bridge_2p", "goofspiel(num_cards=4,imp_info=True)"])
def test_resampling_passes_the_conformance_checks(text: str) -> None:
    """The check has a long timeout, because the first call lists all states."""
    assert "secrets" in check_game(OpenSpiel(game=text), matches=1, patience=600.0)


@pytest.mark.proof
@pytest.mark.parametrize("agent", ["ismcts", "pimc"])
def test_searches_for_hidden_games_beat_random_play(agent: str, record_property: Callable[[str, object], None]) -> None:
    """In Leduc poker, the 95 % interval of the mean return is above 0."""
    searching = {"agent": agent, "rollouts": 60} | ({"worlds": 6} if agent == "pimc" else {})
    spec = {"game": {"name": "openspiel", "game": "leduc_poker"}, "agents": [searching, "random"], "rounds": 40, "seed": 1}
    results = run(spec)
    row = next(row for row in Leaderboard.of_results(results)[0].rows if row["agent"] == agent)
    assert row["failures"] == 0
    record_property("mean return at Leduc poker", f"at least {row['return_low']:.2f}")
    assert row["return_low"] > 0


@pytest.mark.parametrize("text", ["phantom_ttt", "gin_rummy", "dark_chess", "hearts"])
def test_agents_that_resample_are_refused_for_games_with_too_many_states(text: str) -> None:
    """Such games have no `resample`, because their states cannot be listed. The error comes before the first match."""
    assert "resample" not in Traits.of(OpenSpiel(game=text))
    with pytest.raises(ArenaError, match=r"ismcts cannot play .*needs resample"):
        run({"game": {"name": "openspiel", "game": text}, "agents": ["ismcts", "random"]})


def test_an_impossible_observation_is_refused() -> None:
    game = OpenSpiel(game="kuhn_poker")
    with pytest.raises(ValueError, match="seat 0 of kuhn_poker never observes '7'"):
        game.resample(Observation(0, (0,), "7", ((0, "Pass"), (1, "Bet"))), 0, random.Random(0))
