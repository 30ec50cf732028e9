"""Random play of games with chance, compared with the same games of open_spiel in C++. Python code drives both in one run."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from arena import CHANCE, Game
from arena_games.backgammon import Backgammon
from arena_games.kuhn_poker import KuhnPoker
from arena_games.pig import Pig

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

LONG = 100_000
GAMES: dict[str, tuple[Game, str, int, float]] = {
    "kuhn-poker": (KuhnPoker(), "kuhn_poker", 2000, 0.8),
    "pig": (Pig(), f"pig(horizon={LONG})", 60, 0.8),
    "backgammon": (Backgammon(), f"backgammon(scoring_type=winloss_scoring,max_player_turns={LONG})", 10, 0.1),
}
"""Each game, its name in open_spiel, the number of matches per round, and the required share of open_spiel's plies per second."""


def drawn(outcomes: Sequence[tuple[Any, float]], rng: random.Random) -> Any:
    """Draw an outcome of chance by its probability."""
    left = rng.random()
    for outcome, probability in outcomes:
        left -= probability
        if left < 0:
            return outcome
    return outcomes[-1][0]


def play(game: Game, matches: int) -> int:
    """Play random matches. Return the number of plies, including the outcomes of chance."""
    rng, plies = random.Random(1), 0
    for _ in range(matches):
        state = game.initial(rng)
        while not game.is_terminal(state):
            chance = game.to_move(state) == CHANCE
            state = game.result(state, drawn(game.chance_outcomes(state), rng) if chance else rng.choice(game.actions(state)))
            plies += 1
    return plies


def play_theirs(spiel: Any, matches: int) -> int:
    """Do the same with open_spiel's game."""
    rng, plies = random.Random(1), 0
    for _ in range(matches):
        state = spiel.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(drawn(state.chance_outcomes(), rng))
            else:
                state.apply_action(rng.choice(state.legal_actions()))
            plies += 1
    return plies


@pytest.mark.parametrize("name", GAMES)
def test_random_play_keeps_up_with_open_spiel(bench: "Bench", name: str) -> None:
    """Compare the plies per second. Both sides play the same number of matches, but each counts its own plies."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed", exc_type=ImportError)
    game, theirs, matches, bound = GAMES[name]
    spiel = pyspiel.load_game(theirs)
    plies, peer_plies = play(game, matches), play_theirs(spiel, matches)
    timings = bench.in_turns(lambda: play(game, matches), lambda: play_theirs(spiel, matches), rounds=10)
    ours, peer = [f"{count / seconds:,.0f}/s" for count, seconds in zip((plies, peer_plies), timings.best, strict=True)]
    bench.at_least(
        bound, f"{name}: random plies a second / open_spiel's", plies / peer_plies / timings.ratio, "x", ours=ours, peer=peer
    )
