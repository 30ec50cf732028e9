"""The hooks that a plugin may implement. Each takes no argument and returns an iterable."""

from collections.abc import Callable, Iterable
from typing import Any

import pluggy

from arena.agent import Agent
from arena.format import Format
from arena.game import Game
from arena.parts import AgentSource, BoardColumn, Comparison, Executor, Export, Isolation, SearchEngine

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


@hookspec
def arena_executors() -> Iterable[Executor]:  # type: ignore[empty-body]
    """Return ways to play tournaments elsewhere, each with an option of `arena run`."""


@hookspec
def arena_exports() -> Iterable[Export]:  # type: ignore[empty-body]
    """Return formats of `arena export` and of the page of `arena compare`."""


@hookspec
def arena_columns() -> Iterable[BoardColumn]:  # type: ignore[empty-body]
    """Return columns of boards that are computed from the matches of a run."""


@hookspec
def arena_comparisons() -> Iterable[Comparison]:  # type: ignore[empty-body]
    """Return measures of `arena compare --by NAME`."""


@hookspec
def arena_isolations() -> Iterable[Isolation]:  # type: ignore[empty-body]
    """Return isolated places in which agents may run."""


@hookspec
def arena_search_engines() -> Iterable[SearchEngine]:  # type: ignore[empty-body]
    """Return other forms of the inner loops of searches."""


@hookspec
def arena_agent_sources() -> Iterable[AgentSource]:  # type: ignore[empty-body]
    """Return ways in which an entry of a spec gets its agent, beside its name in the registry."""
