"""Games as environments for learners, and learned policies as agents."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from arena import Agent, Game, hookimpl
from arena_bridges.extras import library
from arena_bridges.rl.policy import Policy

__all__ = ["Policy", "aec_env", "arena_agents", "gym_env", "parallel_env"]

AnyGame = Game | str | Mapping[str, Any]
Opponent = Agent | str | Mapping[str, Any]
AnyEncoding = str | Callable[..., Any] | None


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The agent that plays a learned policy."""
    return [Policy]


def aec_env(game: AnyGame, encoding: AnyEncoding = None, *, moves: int | None = None, render_mode: str | None = None) -> Any:
    """Return a game as a `pettingzoo.AECEnv`, with agents `player_0`, `player_1` and so on.

    `game` is an instance, a name, or a mapping with `name` and parameters. `encoding` is a name or a decorated object; without it
    the first of the game is taken, else the bytes of its text. An observation is `{"observation": ..., "action_mask": ...}`;
    action k is the k-th of `action_space`, or of the legal actions of a game without one. Chance is drawn from the seed of
    `reset`. The reward is 0.0 until the end, then the return of the seat; after `moves` decisions, by default as in a match, play
    is truncated, and the reward is the standing. An illegal action ends the play: its seat loses, and its info says `illegal`.
    `render_mode` is "ansi" or None. Raises MissingExtra without PettingZoo, and ValueError or ArenaError for invalid arguments.
    """
    library("pettingzoo", "rl")
    from arena_bridges.rl.coder import make_game
    from arena_bridges.rl.environments import TurnEnvironment

    return TurnEnvironment(make_game(game), encoding, moves, render_mode)


def parallel_env(game: AnyGame, encoding: AnyEncoding = None, *, moves: int | None = None, render_mode: str | None = None) -> Any:
    """Return a game as a `pettingzoo.ParallelEnv`: all seats that move at once act in one step.

    `game`, `encoding`, `moves` and `render_mode` are the same as in `aec_env`, and so are observations, rewards and illegal
    actions. A seat that is not to move has a mask of zeros, and its action is ignored: in a game with turns, one seat acts in
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

    `opponents` play the other seats in their order: instances, names, or mappings with `agent`, options, `limits` and
    `heuristic`, as in a spec; all but instances are constructed again for every play. A list among them is a pool, from which
    each play draws one. A warning names opponents that have no limit and may search for ever. The `seat` "random" is drawn for
    each play; the info of `reset` has it. `game`, `encoding`, `moves` and `render_mode` are the same as in `aec_env`, and so are
    observations, rewards and illegal actions. Raises MissingExtra without Gymnasium, and ValueError for a wrong number of
    opponents.
    """
    library("gymnasium", "rl")
    from arena_bridges.rl.coder import make_game
    from arena_bridges.rl.single import SeatEnvironment

    return SeatEnvironment(make_game(game), encoding, opponents, seat, moves, render_mode)
