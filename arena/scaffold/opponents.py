"""The game that the files of a new plugin name."""

from typing import NamedTuple

from arena.errors import ArenaError
from arena.game import Puzzle
from arena.plugins.registry import Registry

FIRST = "tic-tac-toe"
"""The first game of a new agent if none is named."""


class Opponent(NamedTuple):
    """A game by its name, and whether it is a puzzle."""

    name: str
    puzzle: bool


def opponent(kind: str, game: str | None, registry: Registry) -> Opponent:
    """The game that was named, or FIRST; UnknownName if no plugin brings it, ArenaError if a new plugin has or needs none."""
    if kind in ("game", "puzzle"):
        if game is not None:
            raise ArenaError(f"--game {game}: a new {kind} belongs to no other game; leave it out")
        return Opponent("", False)
    if game is None and kind == "heuristic":
        raise ArenaError(f"a heuristic belongs to a game; expected --game with one of {', '.join(sorted(registry.games))}")
    named = game or FIRST
    return Opponent(named, issubclass(registry.game(named), Puzzle))
