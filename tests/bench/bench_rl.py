"""Environments, as ratios within one run: ours and PettingZoo's own for the same game."""

import random
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from arena_bridges.rl import aec_env

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

PLAYS = 100


def plays(env: Any) -> int:
    """Play at random like a learning agent, with an observation, a reward and a mask at each step. Return the number of steps."""
    rng, steps = random.Random(1), 0
    for seed in range(PLAYS):
        env.reset(seed=seed)
        while env.agents:
            seen, _, over, cut, _ = env.last()
            env.step(None if over or cut else rng.choice(seen["action_mask"].nonzero()[0]))
            steps += 1
    return steps


@pytest.mark.parametrize(("game", "theirs"), [("tic-tac-toe", "tictactoe_v3"), ("connect-four", "connect_four_v3")])
@pytest.mark.parametrize("wrapped", [True, False], ids=["env", "raw_env"])
def test_a_step_is_as_fast_as_one_of_pettingzoo(game: str, theirs: str, wrapped: bool, bench: "Bench") -> None:
    """Both play the same game at random: ours with all checks, PettingZoo's as `env`, with wrappers, or as `raw_env`, without."""
    pytest.importorskip("pygame")
    module = import_module(f"pettingzoo.classic.{theirs}")
    other, ours = (module.env if wrapped else module.raw_env)(), aec_env(game)
    steps = plays(ours), plays(other)
    timings = bench.in_turns(lambda: plays(ours), lambda: plays(other), rounds=10)
    ratio = timings.ratio * steps[1] / steps[0]
    mine, its = [f"{seconds / number * 1e6:.1f} us" for seconds, number in zip(timings.best, steps, strict=True)]
    what = f"{game}: a step / one of {theirs} {'env' if wrapped else 'raw_env'}"
    bench.at_most(1.0, what, ratio, "x", ours=mine, theirs=its)
