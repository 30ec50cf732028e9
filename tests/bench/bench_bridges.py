"""The costs of a bridge: random plies through the bridge and through the library itself, both driven from Python in one run."""

import random
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest

from arena import Game

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

SHARE = 0.5
"""The bridge must make at least this share of open_spiel's own plies per second, in the median over the games."""
SECONDS = 0.1
ROUNDS = 3
LONGEST = 400
"""The maximum number of plies in a match."""
WITHOUT = {"bridge", "chat_game", "morpion_solitaire", "python_dynamic_routing"}
"""Games that are left out, because their plies take too long or are too few for a comparison."""


def plies(game: Game, rng: random.Random, until: float) -> int:
    """Play random matches until a time. Return the number of plies, including the outcomes of chance."""
    done = 0
    while process_time() < until:
        state = game.initial(rng)
        for _ in range(LONGEST):
            if game.is_terminal(state):
                break
            game.to_move(state)
            state = game.result(state, rng.choice(game.actions(state)))
            done += 1
    return done


def plies_theirs(spiel: Any, rng: random.Random, until: float) -> int:
    """Do the same with open_spiel's own state, which is changed in place."""
    done = 0
    while process_time() < until:
        state = spiel.new_initial_state()
        for _ in range(LONGEST):
            if state.is_terminal():
                break
            if state.is_simultaneous_node():
                chosen = [rng.choice(state.legal_actions(seat) or [0]) for seat in range(state.num_players())]
                state.apply_actions(chosen)
                done += len(chosen)
            elif state.is_chance_node():
                state.apply_action(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
                done += 1
            else:
                state.apply_action(rng.choice(state.legal_actions()))
                done += 1
    return done


def pace(play: Any, of: Any) -> float:
    """Return the number of plies per second of processor time."""
    began = process_time()
    done = play(of, random.Random(1), began + SECONDS)
    return float(done / (process_time() - began))


def test_a_ply_through_the_bridge_of_open_spiel(bench: "Bench") -> None:
    """For each game that can be played, the bridge and the library take turns, and the best of three rounds counts."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed", exc_type=ImportError)
    from arena_bridges.openspiel import OpenSpiel
    from arena_bridges.openspiel.library import load_game, with_python_games

    shares = {}
    for name in with_python_games().registered_names():
        try:
            game = OpenSpiel(game=name)
        except ValueError:
            continue
        if name not in WITHOUT:
            paces = [(pace(plies, game), pace(plies_theirs, load_game(name))) for _ in range(ROUNDS)]
            shares[name] = max(ours for ours, _ in paces) / max(theirs for _, theirs in paces)
    ordered = sorted(shares, key=shares.__getitem__)
    least, most = [f"{name} {shares[name]:.2f}" for name in (ordered[0], ordered[-1])]
    what = f"open_spiel, {len(shares)} games: random plies a second / its own"
    bench.at_least(SHARE, what, median(shares.values()), "x", ours=least, peer=most)
