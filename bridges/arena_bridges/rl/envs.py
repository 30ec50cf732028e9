"""Importing this module registers every game and puzzle with Gymnasium, under names such as `arena/connect-four-v0`.

`gymnasium.make("arena_bridges.rl.envs:arena/connect-four-v0")` imports the module automatically. Keyword arguments go to
`gym_env`.
"""

from collections.abc import Sequence
from typing import Any

from gymnasium import register, registry

from arena import load_plugins
from arena_bridges.rl import AnyGame, Opponent, gym_env
from arena_bridges.rl.coder import make_game


def make_environment(game: AnyGame, opponents: Sequence[Opponent | Sequence[Opponent]] | None = None, **keywords: Any) -> Any:
    """Return the environment from `gym_env` for a game, by default with random opponents. `keywords` are arguments of `gym_env`.

    All other keyword arguments are parameters of the game.
    """
    own = {name: keywords.pop(name) for name in ("encoding", "seat", "moves", "render_mode") if name in keywords}
    rules = make_game({"name": game, **keywords}) if isinstance(game, str) else make_game(game)
    return gym_env(rules, opponents=["random"] * (rules.players - 1) if opponents is None else opponents, **own)


for _name in load_plugins().games:
    if f"arena/{_name}-v0" not in registry:
        register(f"arena/{_name}-v0", entry_point=make_environment, kwargs={"game": _name}, disable_env_checker=False)
