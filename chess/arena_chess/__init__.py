"""Chess for fairarena, with the rules from python-chess.

It is a separate distribution because python-chess has the licence GPL.
"""

from collections.abc import Callable, Iterable
from typing import Any

from arena import Game, hookimpl


@hookimpl
def arena_games() -> Iterable[type[Game]]:
    """Return chess."""
    from arena_chess.game import Chess

    return [Chess]


@hookimpl
def arena_heuristics() -> Iterable[Callable[..., Any]]:
    """Return the heuristic `material`."""
    from arena_chess.material import material

    return [material]
