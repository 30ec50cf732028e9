"""The hooks that a plugin may implement.

A hook that brings objects returns a list. It takes no argument, except for `arena_board_columns`, and is called once, when the
plugin is loaded. Instead of a list of games, agents, heuristics, encodings or formats, it may return a mapping from their names
to their places, such as `{"hex": "arena_games.hex:Hex"}`. The object is then imported and checked when it is first used. The
name of a heuristic or an encoding is a tuple with the name of its game, as in `("hex", "resistance")`.

A hook for an event or a choice gets facts about it; an implementation names the facts that it needs as its parameters. These
hooks are called for the installed plugins and for the plugins that the user names on the command line or in `ARENA_PLUGINS`,
not for those that a spec names.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pluggy

from arena.agent import Agent
from arena.format import Format
from arena.game import Game

PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True)
class Part:
    """The base class for objects with a name that plugins add, other than games, agents, heuristics, encodings and formats. The
    registry holds them by kind and name.
    """

    kind: ClassVar[str]
    name: str


PARTS = {
    "arena_agent_sources": "arena.spec.source:AgentSource",
    "arena_board_columns": "arena.schedule.board_columns:BoardColumn",
    "arena_comparisons": "arena.results.readers:Comparison",
    "arena_corrections": "arena.schedule.runner:Correction",
    "arena_exports": "arena.results.readers:Export",
    "arena_isolations": "arena.spec.isolation:Isolation",
    "arena_search_engines": "arena.search_engines:SearchEngine",
}
"""The class of the parts that each hook returns. It is named as in an entry point, because it lives beside the code that uses it,
and is imported when a plugin implements the hook."""


@hookspec
def arena_games() -> Iterable[type[Game]] | Mapping[str, str]:  # type: ignore[empty-body]
    """Return classes of games and puzzles, or their places by name."""


@hookspec
def arena_agents() -> Iterable[type[Agent]] | Mapping[str, str]:  # type: ignore[empty-body]
    """Return classes of agents, or their places by name."""


@hookspec
def arena_heuristics() -> Iterable[Callable[..., Any]] | Mapping[tuple[str, str], str]:  # type: ignore[empty-body]
    """Return functions and classes decorated with `arena.heuristic`, or their places by game and name."""


@hookspec
def arena_encodings() -> Iterable[Callable[..., Any]] | Mapping[tuple[str, str], str]:  # type: ignore[empty-body]
    """Return functions and classes decorated with `arena.encoding`, or their places by game and name."""


@hookspec
def arena_formats() -> Iterable[type[Format]] | Mapping[str, str]:  # type: ignore[empty-body]
    """Return classes of tournament formats, or their places by name."""


@hookspec
def arena_exports() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return file formats (`arena.api.results.Export`) for `arena export` and for the page that `arena compare` writes."""


@hookspec
def arena_board_columns(spec: Any, records: Iterable[tuple[Any, Any]]) -> Iterable[Part]:  # type: ignore[empty-body]
    """Return columns for boards (`arena.api.results.BoardColumn`), with their cells.

    It is called when a run ends, also for plugins that only the spec names. If the run has no store, it is called when a caller
    first asks for a board. `spec` is the `arena.Spec` of the run.

    `records` yields each match of the run that was not void, as its record and its place in the schedule. It can be iterated
    several times; every time, the matches are read from the store. The cells are kept in the store. If a plugin raises an
    exception, its columns are left out, and a remark gives the reason.

    It is also called once when the plugin is loaded, so that a spec can name its columns. Then `spec` is None and `records` is
    empty, and the cells of the columns are not read.
    """


@hookspec
def arena_comparisons() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return quantities (`arena.api.results.Comparison`) by which `arena compare --by NAME` can compare agents."""


@hookspec
def arena_corrections() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return methods (`arena.api.run.Correction`) that remove the luck of chance from the returns of matches."""


@hookspec
def arena_isolations() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return isolations (`arena.api.match.Isolation`): kinds of places in which agents run apart from arena, as in a process."""


@hookspec
def arena_search_engines() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return search engines (`arena.api.search.SearchEngine`).

    They run the inner loops of searches in another form, for example compiled.
    """


@hookspec
def arena_agent_sources() -> Iterable[Part]:  # type: ignore[empty-body]
    """Return agent sources (`arena.api.spec.AgentSource`).

    They are ways to get the agent of an entry that does not name an agent in the registry.
    """


@hookspec
def arena_add_hookspecs(manager: Any) -> None:
    """Add hooks of an extension, which other plugins may then implement: `manager.add_part_hook` or `manager.add_hookspecs`.

    It is also called if the plugin is blocked, so that plugins that implement these hooks can still be loaded.
    """


@hookspec
def arena_add_options(command: Any) -> None:
    """Add options to `arena run`, by `command.params.append(click.Option(...))`. Other hooks find their values in `run.options`.

    It is called only if the command line has an option that is unknown without plugins, or asks for help.
    """


@hookspec(firstresult=True)
def arena_play_matches(run: Any) -> Any:
    """Return a context manager that yields the players of a run, or None if the plugin does not play it.

    `run` is an `arena.api.run.StartedRun`, and the players are an `arena.api.run.Players`. It is called once, before the store is
    opened. If several plugins return players, pluggy takes the first one. Without players, arena plays in processes of its own.
    ArenaError and click.UsageError end the run before its first match.
    """


@hookspec
def arena_run_started(run: Any) -> None:
    """Called once before the first match of a run, in the process that owns the store. `run` is an `arena.api.run.StartedRun`."""


@hookspec
def arena_match_finished(match: Any, record: Any) -> None:
    """Called when a match (`arena.api.run.Scheduled`) has been stored with its record (`arena.Record`).

    This includes void matches, but not the matches that the store held already. Matches are told in the order in which they end.
    `match.number` is the place of the match in the schedule, `match.board` the index of its board, and `match.pairing` has its
    round and its seats.
    """


@hookspec
def arena_run_finished(results: Any) -> None:
    """Called once after the last match of a run, with its `arena.Results`, but not if the run was interrupted."""
