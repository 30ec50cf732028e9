"""The hooks that a plugin may implement. A hook takes no arguments and returns an iterable."""

from collections.abc import Callable, Iterable
from typing import Any

import pluggy

from arena.agent import Agent
from arena.format import Format
from arena.game import Game
from arena.parts import AgentSource, BoardColumn, Comparison, Correction, Executor, Export, Isolation, SearchEngine

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
    """Return executors, which play tournaments elsewhere. Each adds an option to `arena run`."""


@hookspec
def arena_exports() -> Iterable[Export]:  # type: ignore[empty-body]
    """Return file formats for `arena export` and for the page that `arena compare` writes."""


@hookspec
def arena_columns() -> Iterable[BoardColumn]:  # type: ignore[empty-body]
    """Return columns for boards, which are computed from the matches of a run."""


@hookspec
def arena_comparisons() -> Iterable[Comparison]:  # type: ignore[empty-body]
    """Return quantities by which `arena compare --by NAME` can compare agents."""


@hookspec
def arena_corrections() -> Iterable[Correction]:  # type: ignore[empty-body]
    """Return methods that remove the luck of chance from the returns of matches."""


@hookspec
def arena_isolations() -> Iterable[Isolation]:  # type: ignore[empty-body]
    """Return isolations: kinds of places in which agents run apart from arena, such as processes."""


@hookspec
def arena_search_engines() -> Iterable[SearchEngine]:  # type: ignore[empty-body]
    """Return search engines, which run the inner loops of searches in another form, for example compiled."""


@hookspec
def arena_agent_sources() -> Iterable[AgentSource]:  # type: ignore[empty-body]
    """Return agent sources: ways to get the agent of an entry that does not name an agent in the registry."""
