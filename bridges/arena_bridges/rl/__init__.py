"""Games as environments for reinforcement learning, and learned policies as agents."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from arena import Agent, Game, hookimpl
from arena_bridges.extras import library

__all__ = ["aec_env", "arena_agents", "gym_env", "parallel_env"]

AnyGame = Game | str | Mapping[str, Any]
Opponent = Agent | str | Mapping[str, Any]
AnyEncoding = str | Callable[..., Any] | None


@hookimpl
def arena_agents() -> Mapping[str, str]:
    """Return the agent that plays a learned policy."""
    return {"policy": "arena_bridges.rl.policy:Policy"}


def aec_env(game: AnyGame, encoding: AnyEncoding = None, *, moves: int | None = None, render_mode: str | None = None) -> Any:
    """Return a game as a `pettingzoo.AECEnv`, with agents `player_0`, `player_1` and so on.

    `game` is an instance, a name, or a mapping with `name` and parameters. `encoding` is a name, or an object decorated with
    `encoding`; the default is the first encoding of the game, or the bytes of its text if it has none. An observation is
    `{"observation": ..., "action_mask": ...}`; action k is the k-th of `action_space`, or of the legal actions of a game without
    one. Chance is drawn from the seed of `reset`. The reward is 0.0 before the end, and then the return of the seat. After
    `moves` decisions (by default, the limit of a match), the play is truncated, and the reward is the result so far. An illegal
    action ends the play: its seat loses, and its info contains `illegal`. `render_mode` is "ansi" or None. Raises MissingExtra if
    PettingZoo is not installed, and ValueError or ArenaError for invalid arguments.
    """
    library("pettingzoo", "rl")
    from arena_bridges.rl.coder import make_game
    from arena_bridges.rl.environments import TurnEnvironment

    return TurnEnvironment(make_game(game), encoding, moves, render_mode)


def parallel_env(game: AnyGame, encoding: AnyEncoding = None, *, moves: int | None = None, render_mode: str | None = None) -> Any:
    """Return a game as a `pettingzoo.ParallelEnv`. All seats that move at the same time act in one step.

    `game`, `encoding`, `moves` and `render_mode` are the same as in `aec_env`, and so are observations, rewards and illegal
    actions. A seat that is not to move has a mask of zeros, and its action is ignored. In a game with turns, one seat acts in
    each step.
    """
    library("pettingzoo", "rl")
    from arena_bridges.rl.coder import make_game
    from arena_bridges.rl.environments import JointEnvironment

    return JointEnvironment(make_game(game), encoding, moves, render_mode)


def gym_env(
    game: AnyGame,
    encoding: AnyEncoding = None,
    *,
    opponents: Sequence[Opponent | Sequence[Opponent]] = (),
    seat: int | Literal["random"] = 0,
    moves: int | None = None,
    render_mode: str | None = None,
) -> Any:
    """Return a puzzle, or one `seat` of a game, as a `gymnasium.Env` with `action_masks()`.

    `opponents` play the other seats in their order. Each opponent is an instance of an agent, a name, or a mapping with `agent`,
    options, `limits` and `heuristic`, as in a spec. Names and mappings make a new agent for every play. A list among the
    opponents is a pool, from which one opponent is drawn for each play. A warning names opponents that may search without end
    because they have no limit. With "random", `seat` is drawn for each play; the info of `reset` contains it. `game`, `encoding`,
    `moves` and `render_mode` are the same as in `aec_env`, and so are observations, rewards and illegal actions. Raises
    MissingExtra if Gymnasium is not installed, and ValueError for a wrong number of opponents.
    """
    library("gymnasium", "rl")
    from arena_bridges.rl.coder import make_game
    from arena_bridges.rl.single import SeatEnvironment

    return SeatEnvironment(make_game(game), encoding, opponents, seat, moves, render_mode)
