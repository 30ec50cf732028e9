"""The hooks that a plugin may implement. Each takes no argument and returns an iterable."""

from collections.abc import Callable, Iterable
from typing import Any

import pluggy

from arena.agent import Agent
from arena.format import Format
from arena.game import Game

PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def arena_games() -> Iterable[type[Game]]:  # type: ignore[empty-body]
    """Return classes of games and puzzles."""


@hookspec
def arena_agents() -> Iterable[type[Agent]]:  # type: ignore[empty-body]
    """Return classes of agents."""


@hookspec
def arena_heuristics() -> Iterable[Callable[..., Any]]:  # type: ignore[empty-body]
    """Return functions and classes decorated with `arena.heuristic`."""


@hookspec
def arena_encodings() -> Iterable[Callable[..., Any]]:  # type: ignore[empty-body]
    """Return functions and classes decorated with `arena.encoding`."""


@hookspec
def arena_formats() -> Iterable[type[Format]]:  # type: ignore[empty-body]
    """Return classes of tournament formats."""
