"""What this package brings to arena."""

from collections.abc import Callable, Sequence
from typing import Any

from arena import Game, hookimpl
from arena_games.linear_conflict import LinearConflict
from arena_games.pattern_db import PatternDB
from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from arena_games.walking_distance import WalkingDistance


@hookimpl
def arena_games() -> Sequence[type[Game]]:
    """The built-in games."""
    return [TicTacToe, SlidingTiles]


@hookimpl
def arena_heuristics() -> Sequence[Callable[..., Any]]:
    """The built-in heuristics."""
    return [OpenLanes, Manhattan, Misplaced, LinearConflict, WalkingDistance, PatternDB]
