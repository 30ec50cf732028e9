"""The commands list, plugins and matrix, and descriptions of games and agents."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from textwrap import wrap
from typing import IO, Any

import click

from arena import Agent, ArenaError, Game, Registry
from arena.api.cli import distribution, load, plugin_option, results_alone, room, say
from arena.api.errors import call_foreign, describe
from arena.api.games import bind, find_refusal, find_traits, find_uncoped, join_traits, make_default, read_games
from arena.api.results import crossing, fits, folded, table
from arena.api.search import search_engines
from arena.api.spec import Plugin, survey

MAX_TEXT_COLUMNS = 110
"""The maximum width of text for people, in columns; also the width if the output is not a terminal."""


def text_width(out: IO[str]) -> int:
    """Return the width of text for people."""
    return min(MAX_TEXT_COLUMNS, room(out) or MAX_TEXT_COLUMNS)


def paragraph(text: str, width: int, indent: str = "  ", hanging: str = "    ") -> str:
    """`text` on lines of `width` columns, the first after `indent`, the others after `hanging`; names are not broken."""
    return "\n".join(wrap(text, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False))


def summary(value: Any) -> str:
    """The first line of a docstring; empty without one."""
    return next(iter((value.__doc__ or "").strip().splitlines()), "")


def traits_of(kind: type[Game]) -> str:
    """The traits of a game with its default parameters, joined by commas; empty if the game needs parameters."""
    game = make_default(kind)
    return "" if game is None else join_traits(find_traits(game))


def engine_lines(game: Game, heuristic: Any = None) -> Iterator[str]:
    """Yield the facts of search engines about a game, with a heuristic if one is given, for example `compiled: by ...`."""
    evaluation = None if heuristic is None else call_foreign(lambda: bind(heuristic, game), lambda _: None)
    for engine in search_engines():
        if (text := engine.describe(game, evaluation)) is not None:
            yield f"{engine.name}: {text}"


def default_games(registry: Registry, names: Sequence[str]) -> list[Game]:
    """The games of these names with their default parameters; raises ArenaError if one is unknown or needs parameters."""
    games = []
    for name in dict.fromkeys(names):
        try:
            games.append(registry.game(name)())
        except TypeError as error:
            raise ArenaError(f"--game {name}: it cannot be made without parameters: {error}") from error
    return games


# arena list

HEADINGS = {
    "games": ["Game", "Traits", "What it is"],
    "agents": ["Agent", "Needs", "What it does"],
    "heuristics": ["Heuristic", "Game", "What it says"],
    "encodings": ["Encoding", "Game", "What it tells"],
    "formats": ["Format", "For", "What it plays"],
}


@click.command("list")
@click.argument("kind", type=click.Choice([*HEADINGS]))
@plugin_option
def list_(kind: str, plugins: tuple[str, ...]) -> int:
    """List what the plugins brought."""
    with results_alone() as out:
        registry = load(plugins)

        def describe_needs(agent: type[Agent]) -> str:
            games = read_games(agent)
            return f"{' and '.join(sorted(games))} alone" if games else join_traits(agent.needs) or "any"

        rows = {
            "games": lambda: [[name, traits_of(game), summary(game)] for name, game in registry.games.items()],
            "agents": lambda: [[name, describe_needs(agent), summary(agent)] for name, agent in registry.agents.items()],
            "heuristics": lambda: [[name, game, summary(found)] for (game, name), found in registry.heuristics.items()],
            "encodings": lambda: [[name, game, summary(found)] for (game, name), found in registry.encodings.items()],
            "formats": lambda: [[name, found.kind, summary(found)] for name, found in registry.formats.items()],
        }[kind]()
        rows.sort(key=lambda row: (row[1], row[0]) if kind in ("heuristics", "encodings") else (row[0],))
        print(table(HEADINGS[kind], rows, width=room(out)), file=out)
    return 0


# arena plugins

BUILT_IN = "builtin-"
"""The prefix of the built-in plugins, which are listed first."""


@click.command()
@plugin_option
def plugins(plugins: tuple[str, ...]) -> int:
    """Show every plugin, what it brought, and what is wrong with it."""
    with results_alone() as out:
        registry, width = survey(plugins), text_width(out)
        found = sorted(registry.plugins, key=lambda plugin: not plugin.source.name.startswith(f"{distribution()}:{BUILT_IN}"))
        print("\n\n".join(["\n".join(_plugin_lines(plugin, registry.parts, width)) for plugin in found]), file=out)
    return 2 if any(plugin.source.asked and plugin.problem is not None for plugin in found) else 0


def _plugin_lines(plugin: Plugin, parts: Iterable[str], width: int) -> Iterator[str]:
    yield str(plugin.source)
    yield f"  file: {plugin.file or 'unknown'}"
    if plugin.problem is not None:
        yield f"  left out: {plugin.problem}"
        return
    for kind in ("game", "agent", "heuristic", "encoding", "format", *parts):
        names = [name.removeprefix(f"{kind} ") for name in plugin.names if name.startswith(f"{kind} ")]
        if names:
            yield paragraph(f"{kind}s: {', '.join(names)}", width)
    if not plugin.names:
        yield "  brings nothing"
    yield from [f"  note: {note}" for note in plugin.notes]


# arena matrix

YES, COMPILED = "yes", "yes *"


@click.command()
@plugin_option
def matrix(plugins: tuple[str, ...]) -> int:
    """Show which agent can play which game, or which trait is missing."""
    with results_alone() as out:
        registry = load(plugins)

        def note_left_out(name: str, error: Exception) -> None:
            if not isinstance(error, ArenaError):  # such as a missing library, which is reported when the game is used
                say(f"game {name} left out: it cannot be made without parameters: {describe(error)}")

        boards = [make_default(kind, partial(note_left_out, name)) for name, kind in sorted(registry.games.items())]
        games = [board for board in boards if board is not None]
        agents, names = sorted(registry.agents.items()), [game.name for game in games]
        engines = {game.name: {loop for engine in search_engines() for loop in engine.loops_for(game)} for game in games}
        marks = [
            [describe_obstacle(agent, game) or (COMPILED if _engine(agent) in engines[game.name] else YES) for game in games]
            for _, agent in agents
        ]
        width = room(out)
        labelled = [[name, *line] for (name, _), line in zip(agents, marks, strict=True)]
        notes = list(_compiled_notes(agents, games, marks))
        narrow = width is not None and not fits(["", *names], labelled, width)
        if narrow:
            marks = [[mark if mark in (YES, COMPILED) else "-" for mark in line] for line in marks]
        print(crossing([name for name, _ in agents], names, marks, width=width), file=out)
        if narrow:
            notes.append("- : a trait is missing that the agent needs; `arena list agents` and `arena list games` tell them.")
        if notes:
            print("", *[folded(note, width) for note in notes], sep="\n", file=out)
    return 0


def _engine(agent: type[Agent]) -> str | None:
    made = make_default(agent, lambda _: None)
    return None if made is None else next((loop for one in search_engines() if (loop := one.loop_of(made)) is not None), None)


def _compiled_notes(
    agents: Sequence[tuple[str, type[Agent]]], games: Sequence[Game], marks: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Explain the mark of compiled searches, and why other games lack it."""
    if any(COMPILED in line for line in marks):
        yield f"{COMPILED} : compiled where the extra fast is installed and the heuristic compiles, too; see `arena show`."
    engines = [number for number, (_, agent) in enumerate(agents) if _engine(agent) is not None]
    for place, game in enumerate(games):
        if any(marks[number][place] == YES for number in engines):
            reasons = [reason for engine in search_engines() if (reason := engine.why_plain(game)) is not None]
            yield from [f"{game.name} runs plain: {reason}" for reason in reasons]


def describe_obstacle(agent: type[Agent], game: Game) -> str | None:
    """Return why an agent cannot play a game, in a few words that agents share; None if it can."""
    if find_refusal(agent, game) is None:
        return None
    games = read_games(agent)
    if games and game.name not in games:
        return f"plays {' and '.join(sorted(games))} alone"
    missing = agent.needs - find_traits(game)
    unknown = find_uncoped(agent, game)
    return f"needs {join_traits(missing)}" if missing else f"no {join_traits(unknown)}" if unknown else "needs single-player"
