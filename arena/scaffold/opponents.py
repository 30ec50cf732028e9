"""The game that the files of a new plugin name."""

from typing import NamedTuple

from arena.errors import ArenaError
from arena.game import Puzzle
from arena.plugins.proposals import first_game
from arena.plugins.registry import Registry


class Opponent(NamedTuple):
    """A game by its name, and whether it is a puzzle."""

    name: str
    puzzle: bool


def opponent(kind: str, game: str | None, registry: Registry) -> Opponent:
    """The game that was named, or the first; UnknownName if no plugin brings it, ArenaError if a new plugin has or needs none."""
    if kind in ("game", "puzzle"):
        if game is not None:
            raise ArenaError(f"--game {game}: a new {kind} belongs to no other game; leave it out")
        return Opponent("", False)
    if game is None and kind == "heuristic":
        raise ArenaError(f"a heuristic belongs to a game; expected --game with one of {', '.join(sorted(registry.games))}")
    named = game or first_game(registry, puzzle=False)
    if named is None:
        raise ArenaError("there is no game to try an agent on; `arena plugins` tells what became of the plugins")
    return Opponent(named, issubclass(registry.game(named), Puzzle))
