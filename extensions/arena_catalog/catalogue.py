"""The commands `list`, `plugins` and `matrix`, and descriptions of games and agents."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import cleandoc
from textwrap import wrap
from typing import IO, Any

import click

from arena import Agent, ArenaError, Game, Registry, UnknownName, load_plugins
from arena.api.cli import Terminal, distribution, load, plugin_option, results_alone, say
from arena.api.errors import call_foreign, describe, describe_unmade
from arena.api.games import Abilities, Traits, bind, make_default
from arena.api.results import TextTable, figures
from arena.api.search import search_engines
from arena.api.spec import Parameters, Plugin

MAX_TEXT_COLUMNS = 110
"""The maximum width, in columns, of text that people read. This is also the width if the output is not a terminal."""


def text_width(out: IO[str]) -> int:
    """Return the width, in columns, of text that people read."""
    return min(MAX_TEXT_COLUMNS, Terminal(out).room or MAX_TEXT_COLUMNS)


def paragraph(text: str, width: int, indent: str = "  ", hanging: str = "    ") -> str:
    """Return `text` in lines of `width` columns. The first line begins with `indent`, the others with `hanging`. Lines are not
    broken at hyphens, because names contain hyphens.
    """
    return "\n".join(wrap(text, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False))


def summary(value: Any) -> str:
    """Return the first paragraph of a docstring, as one line; an empty text if there is none."""
    return " ".join(cleandoc(value.__doc__ or "").partition("\n\n")[0].split())


def traits_of(kind: type[Game]) -> str:
    """Return the traits of a game with its default parameters, joined by commas; empty if the game needs parameters."""
    game = make_default(kind)
    return "" if game is None else str(Traits.of(game))


def engine_lines(game: Game, heuristic: Any = None) -> Iterator[str]:
    """Yield a line from each search engine about a game and, if it is given, a heuristic. An example is `compiled: by ...`."""
    evaluation = None if heuristic is None else call_foreign(lambda: bind(heuristic, game), lambda _: None)
    for engine in search_engines():
        if (text := engine.describe(game, evaluation)) is not None:
            yield f"{engine.name}: {text}"


MAX_BUILT_IN_GAMES = 3
"""The maximum number of built-in games on which `arena check` and `arena try` test an agent, unless `--game` names games."""


def choose_games(registry: Registry, agent: type[Agent]) -> tuple[dict[str, Game], list[str]]:
    """Return the games on which an agent is tested by default, and the names of the built-in games that are left out.

    Games from plugins that the user names come first. If the agent declares the games that it plays, no built-in game is left
    out.
    """
    playable, sources = registry.games_for(agent), registry.sources
    ordered = sorted(playable, key=lambda name: not sources["game", name].asked)
    built_in = [] if Abilities(agent).games else [name for name in ordered if sources["game", name].own]
    left_out = built_in[MAX_BUILT_IN_GAMES:]
    return {name: playable[name] for name in ordered if name not in left_out}, left_out


MIN_LIKENESS_BESIDE = 0.4
"""A game in the file of an agent is suggested for an unknown name from this similarity on, which is less than for other games."""


def explain_no_game(registry: Registry, agent: type[Agent]) -> str:
    """Return why an agent can play none of the games in a registry.

    Raises ArenaError if a game that it names is unknown, or cannot be created here, for example because a library is missing.
    """

    def refuse(error: Exception) -> None:  # required parameters are no reason
        if isinstance(error, ArenaError):
            raise error

    names = sorted(Abilities(agent).games)
    source = next((registry.sources["agent", key].name for key, kind in registry.agents.items() if kind is agent), None)
    beside = [name for name in registry.games if registry.sources["game", name].name == source]
    for name in names:
        if name not in registry.games and (near := get_close_matches(name, beside, n=1, cutoff=MIN_LIKENESS_BESIDE)):
            raise UnknownName("game", name, (), hint=f"did you mean {near[0]!r}, which {source} defines?")
    named = [make_default(registry.game(name), refuse) for name in names]
    reasons = [reason for game in named if game is not None and (reason := Abilities(agent).find_refusal(game)) is not None]
    needs = f": the agent needs {Traits(agent.needs)}" if agent.needs else ""
    return "; ".join(reasons) or f"no game fits{needs}; `arena list games` shows the traits of all games"


def make_game(registry: Registry, name: str, values: Mapping[str, Any]) -> Game:
    """Return a game with these parameters, which are validated as in a spec. Raises ArenaError if they do not fit."""
    kind = registry.game(name)
    found = read_parameters(kind, values, name)
    made: Any = call_foreign(lambda: kind(**found), lambda error: ArenaError(f"{name}: {describe_unmade(error)}"))
    if isinstance(made, ArenaError):
        raise made
    game: Game = made
    return game


def read_parameters(target: Callable[..., Any], values: Mapping[str, Any], what: str, *, skip: int = 0) -> dict[str, Any]:
    """Return the parameters of a game or a heuristic, read as in a spec, with defaults. Raises ArenaError with all faults, each
    after `what`. `skip` is the number of leading parameters that arena sets.
    """
    faults = list[str]()

    def note(path: tuple[str | int, ...], message: str) -> None:
        faults.append(": ".join(filter(None, [what, ".".join(map(str, path)), message])))

    found = Parameters(target).validate(values, (), note, skip=skip)
    if found is None:
        raise ArenaError("\n".join(faults))
    return found


def default_games(registry: Registry, names: Sequence[str]) -> list[Game]:
    """Return the games with these names and their default parameters; raises ArenaError if one is unknown or needs parameters."""
    games = []
    for name in dict.fromkeys(names):
        try:
            games.append(registry.game(name)())
        except TypeError as error:
            raise ArenaError(f"--game {name}: the game cannot be created without parameters: {error}") from error
    return games


# arena list

HEADINGS = {
    "games": ["Game", "Traits", "Description"],
    "agents": ["Agent", "Needs", "Description"],
    "heuristics": ["Heuristic", "Game", "Description"],
    "encodings": ["Encoding", "Game", "Description"],
    "formats": ["Format", "For", "Description"],
}


@click.command("list")
@click.argument("kind", metavar=f"[{'|'.join(HEADINGS)}|WORD]", required=False)
@plugin_option
def list_(kind: str | None, plugins: tuple[str, ...]) -> int:
    """List the games, agents, heuristics, encodings or formats of all plugins; without a word, all of them.

    Any other WORD lists everything with this word in its name or its description, such as `backtracking` or `MRV`.
    """
    with results_alone() as out:
        registry = load(plugins)
        matching = None if kind is None or kind in HEADINGS else registry.described(kind)
        if matching == [] and get_close_matches(str(kind), HEADINGS):
            raise UnknownName("word", kind, HEADINGS)
        if matching == []:
            registry.named(str(kind))  # raises UnknownName, which suggests similar names

        def describe_needs(agent: type[Agent]) -> str:
            games = Abilities(agent).games
            return f"{figures.listing(sorted(games))} only" if games else str(Traits(agent.needs)) or "any"

        second: dict[str, Callable[[tuple[str, ...], Any], str]] = {
            "games": lambda _, game: traits_of(game),
            "agents": lambda _, agent: describe_needs(agent),
            "heuristics": lambda key, _: key[1],
            "encodings": lambda key, _: key[1],
            "formats": lambda _, found: str(found.kind),
        }
        tables = []
        for one in [kind] if kind in HEADINGS else HEADINGS:
            found = [(key, value) for key, value in registry.items() if f"{key[0]}s" == one]
            listed = [(key, value) for key, value in found if matching is None or key in matching]
            rows = [[key[-1], second[one](key, value), summary(value)] for key, value in listed]
            rows.sort(key=lambda row: row[1::-1] if one in ("heuristics", "encodings") else row[:1])
            if rows or matching is None:
                tables.append(TextTable(HEADINGS[one], rows).text(width=Terminal(out).room))
        print("\n\n".join(tables), file=out)
    return 0


# arena plugins

BUILT_IN = "builtin-"
"""The prefix of the built-in plugins, which are listed first."""


@click.command()
@plugin_option
def plugins(plugins: tuple[str, ...]) -> int:
    """Show every plugin, its parts and its errors."""
    with results_alone() as out:
        registry, width = load_plugins(plugins, strict=False), text_width(out)
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
        yield "  adds nothing"
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
            if not isinstance(error, ArenaError):  # an ArenaError, such as a missing library, is reported when the game is used
                say(f"game {name} is left out, because it cannot be created without parameters: {describe(error)}")

        boards = [make_default(kind, partial(note_left_out, name)) for name, kind in sorted(registry.games.items())]
        games = [board for board in boards if board is not None]
        agents, names = sorted(registry.agents.items()), [game.name for game in games]
        engines = {game.name: {loop for engine in search_engines() for loop in engine.loops_for(game)} for game in games}
        marks = [
            [describe_obstacle(agent, game) or (COMPILED if _engine(agent) in engines[game.name] else YES) for game in games]
            for _, agent in agents
        ]
        width = Terminal(out).room
        labelled = [[name, *line] for (name, _), line in zip(agents, marks, strict=True)]
        notes = list(_compiled_notes(agents, games, marks))
        narrow = width is not None and not TextTable(["", *names], labelled).fits(width)
        if narrow:
            marks = [[mark if mark in (YES, COMPILED) else "-" for mark in line] for line in marks]
        print(TextTable.crossing([name for name, _ in agents], names, marks, width=width), file=out)
        if narrow:
            notes.append(
                "- : the game lacks a trait that the agent needs; `arena list agents` and `arena list games` show the traits."
            )
        if notes:
            print("", *[TextTable.fold(note, width) for note in notes], sep="\n", file=out)
    return 0


def _engine(agent: type[Agent]) -> str | None:
    made = make_default(agent, lambda _: None)
    return None if made is None else next((loop for one in search_engines() if (loop := one.loop_of(made)) is not None), None)


def _compiled_notes(
    agents: Sequence[tuple[str, type[Agent]]], games: Sequence[Game], marks: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield lines that explain the mark for compiled searches, and why some games do not have it."""
    if any(COMPILED in line for line in marks):
        yield f"{COMPILED} : compiled if the extra `fast` is installed and the heuristic compiles as well; see `arena show`."
    engines = [number for number, (_, agent) in enumerate(agents) if _engine(agent) is not None]
    for place, game in enumerate(games):
        if any(marks[number][place] == YES for number in engines):
            reasons = [reason for engine in search_engines() if (reason := engine.why_plain(game)) is not None]
            yield from [f"{game.name} is not compiled: {reason}" for reason in reasons]


def describe_obstacle(agent: type[Agent], game: Game) -> str | None:
    """Return the reason why an agent cannot play a game; None if it can. The reason does not name the agent, so that agents with
    the same reason can be listed together.
    """
    if Abilities(agent).find_refusal(game) is None:
        return None
    games = Abilities(agent).games
    if games and game.name not in games:
        return f"plays only {figures.listing(sorted(games))}"
    missing = agent.needs - Traits.of(game)
    unknown = Abilities(agent).find_uncoped(game)
    return f"needs {Traits(missing)}" if missing else f"no {unknown}" if unknown else "needs single-player"
