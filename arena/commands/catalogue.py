"""What there is: the commands list, show, matrix and plugins. Each writes its result to stdout and returns the exit code."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter, isclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from arena.agent import Agent, chooses, solves
from arena.commands.shadowed_plugins import namesakes
from arena.configured import parameters_of
from arena.console.notices import load, say
from arena.console.output import results_alone, room
from arena.errors import UnknownName, describe
from arena.game import Game
from arena.heuristic import info_of
from arena.plugins.contract import source_line
from arena.plugins.members import gives_grid, member
from arena.plugins.registry import Plugin, Registry
from arena.plugins.sources import survey
from arena.results.layout import crossing, fits, folded, table
from arena.spec.labels import shown
from arena.spec.parameters import adapters
from arena.traits import TRAITS, listed, refusal, traits
from arena.views import board_module

Key = tuple[str, ...]
WIDTH = 110


def list_kind(kind: str, *, plugins: Sequence[str]) -> int:
    """Print a table of all games, agents, heuristics or formats."""
    with results_alone() as out:
        registry = load(plugins)
        rows: list[list[str]]
        if kind == "games":
            headings = ["Game", "Traits", "What it is"]
            rows = [[name, listed(_class_traits(game)), _summary(game)] for name, game in registry.games.items()]
        elif kind == "agents":
            headings = ["Agent", "Needs", "What it does"]
            rows = [[name, listed(agent.needs) or "any", _summary(agent)] for name, agent in registry.agents.items()]
        elif kind == "heuristics":
            headings = ["Heuristic", "Game", "What it says"]
            rows = [[name, game, _summary(found)] for (game, name), found in registry.heuristics.items()]
        else:
            headings = ["Format", "For", "What it plays"]
            rows = [[name, found.kind, _summary(found)] for name, found in registry.formats.items()]
        rows.sort(key=lambda row: (row[1], row[0]) if kind == "heuristics" else (row[0],))
        print(table(headings, rows, width=room(out)), file=out)
    return 0


def show(name: str, *, plugins: Sequence[str]) -> int:
    """Print what is known of everything of that name."""
    with results_alone() as out:
        registry = load(plugins)
        found = named(registry, name)
        width = min(WIDTH, room(out) or WIDTH)
        print("\n\n".join(["\n".join(_described(registry, key, value, width)) for key, value in found]), file=out)
    return 0


def matrix(*, plugins: Sequence[str]) -> int:
    """Print agents against games: `yes`, or what is missing, which a narrow terminal has no room for."""
    with results_alone() as out:
        registry = load(plugins)
        games = []
        for name, game in sorted(registry.games.items()):
            try:
                games.append(game())
            except Exception as error:
                say(f"game {name} left out: it cannot be made without parameters: {describe(error)}")
        agents, names = sorted(registry.agents.items()), [game.name for game in games]
        marks = [[_mark(agent, game) for game in games] for _, agent in agents]
        width = room(out)
        narrow = width is not None and not fits(
            ["", *names], [[name, *line] for (name, _), line in zip(agents, marks, strict=True)], width
        )
        if narrow:
            marks = [["yes" if mark == "yes" else "-" for mark in line] for line in marks]
        print(crossing([name for name, _ in agents], names, marks, width=width), file=out)
        if narrow:
            print(
                folded(
                    "\n- : a trait is missing that the agent needs; `arena list agents` and `arena list games` tell them.", width
                ),
                file=out,
            )
    return 0


def list_plugins(*, plugins: Sequence[str]) -> int:
    """Print every plugin: its version, its file, and what it brought, or its fault; 2 where one that was asked for has one."""
    with results_alone() as out:
        found = survey(plugins).plugins
        width = min(WIDTH, room(out) or WIDTH)
        print("\n\n".join(["\n".join(_plugin(plugin, width)) for plugin in found]), file=out)
    return 2 if any(plugin.source.asked and plugin.problem is not None for plugin in found) else 0


def everything(registry: Registry) -> list[tuple[Key, Any]]:
    """All that the plugins brought, with the keys of `Registry.sources`."""
    return [(key, registry.value(key)) for key in registry.sources if key not in registry.withdrawn]


def named(registry: Registry, name: str) -> list[tuple[Key, Any]]:
    """Everything of one name; UnknownName with the nearest names."""
    found = [(key, value) for key, value in everything(registry) if key[-1] == name]
    if not found:
        raise UnknownName("game, agent, heuristic or format", name, [key[-1] for key, _ in everything(registry)])
    return found


def made(game: type[Game]) -> Game | None:
    """A game with its default parameters, None where it cannot be made without being told some."""
    try:
        return game()
    except Exception:
        return None


# Descriptions


def _described(registry: Registry, key: Key, value: Any, width: int) -> Iterator[str]:
    yield " ".join(key)
    yield f"  {_summary(value)}"
    if isclass(value) and issubclass(value, Game):
        yield from _game_lines(registry, key[1], value, width)
    if isclass(value) and issubclass(value, Agent):
        yield from _agent_lines(registry, value, width)
    info = info_of(value)
    if info is not None:
        claims = [word for word, claimed in (("admissible", info.admissible), ("consistent", info.consistent)) if claimed]
        yield f"  of {info.game}; claims: {', '.join(claims) or 'nothing'}"
    parameters = list(parameters_of(value).values())[1 if info is not None else 0 :] if isclass(value) else []
    yield "  parameters:" if parameters else "  parameters: none"
    for parameter in parameters:
        yield f"    {parameter_line(value, parameter)}"
    yield f"  from {registry.sources[key]}, {source_line(value) or 'unknown file'}"
    for file in namesakes(key, value, Path.cwd()):
        yield f"  NOT from {file}, which seems to define it too; to use that file, uninstall the other and add --plugin {file}"


def _game_lines(registry: Registry, name: str, game: type[Game], width: int) -> Iterator[str]:
    yield f"  traits: {listed(_class_traits(game)) or 'unknown without parameters'}"
    yield f"  heuristics: {', '.join(registry.heuristics_of(name)) or 'none'}; default {game.default_heuristic or 'none'}"
    yield from _pictures(game)
    board = made(game)
    fit = [agent for agent, kind in sorted(registry.agents.items()) if board is not None and refusal(kind, board) is None]
    yield from wrap(
        f"agents: {', '.join(fit) or 'none'}", width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def _pictures(game: type[Game]) -> Iterator[str]:
    """Lines on the board and the grid of a game, where it gives them."""
    file = member(game, "board")
    if file is not None:
        fault = board_module(game).note
        yield f"  board: {file}" if fault is None else f"  note: {fault}"
    if gives_grid(game):
        colors = ", ".join([f"{mark or 'empty'} {color}" for mark, color in member(game, "grid_colors").items()])
        yield f"  grid: cells as text{f'; colors: {colors}' if colors else ''}"


def _agent_lines(registry: Registry, agent: type[Agent], width: int) -> Iterator[str]:
    does = [word for word, can in (("chooses actions", chooses(agent)), ("solves puzzles", solves(agent))) if can]
    wants = "; wants a heuristic" if agent.wants_heuristic else ""
    yield f"  {' and '.join(does)}; needs: {listed(agent.needs) or 'nothing'}{wants}"
    reference, weights = member(agent, "reference"), member(agent, "proposed")
    if reference:
        yield f"  reference: {'games, puzzles' if reference is True else reference}"
    if weights:
        yield f"  proposed: {', '.join([f'{word} {weight}' for word, weight in weights.items()])}"
    fit = [name for name, game in sorted(registry.games.items()) if (board := made(game)) and refusal(agent, board) is None]
    yield from wrap(
        f"games: {', '.join(fit) or 'none'}", width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def parameter_line(constructor: Any, parameter: Parameter) -> str:
    """One parameter: its name, what it takes, and its default."""
    try:
        takes = _takes(adapters(constructor)[parameter.name].json_schema())
    except Exception:  # a hint that JSON Schema cannot say
        takes = str(parameter.annotation)
    default = "needed" if parameter.default is Parameter.empty else f"default {shown(parameter.default)}"
    return f"{parameter.name}: {takes or 'anything'}; {default}"


def _takes(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in words: `whole number from 1 to 500, or none`."""
    if "anyOf" in schema:
        return ", or ".join([_takes(choice) for choice in schema["anyOf"]])
    if "$ref" in schema:
        return "mapping"
    if "enum" in schema or "const" in schema:
        return " or ".join(map(str, schema.get("enum", [schema.get("const")])))
    word = _WORDS.get(schema.get("type", ""), schema.get("type", ""))
    low, high = schema.get("minimum"), schema.get("maximum")
    more, less = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    bounds = ((low, "from {}"), (more, "above {}"), (high, "to {}"), (less, "below {}"))
    return " ".join([word, *[text.format(bound) for bound, text in bounds if bound is not None]])


_WORDS = {
    "integer": "whole number",
    "string": "text",
    "null": "none",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}


def _summary(value: Any) -> str:
    return next(iter((value.__doc__ or "").strip().splitlines()), "")


def _class_traits(game: type[Game]) -> frozenset[str]:
    board = made(game)
    return frozenset() if board is None else traits(board)


def _mark(agent: type[Agent], game: Game) -> str:
    if refusal(agent, game) is None:
        return "yes"
    missing = agent.needs - traits(game)
    return f"needs {listed(missing)}" if missing else f"needs {TRAITS[0]}"


def _plugin(plugin: Plugin, width: int) -> Iterator[str]:
    yield str(plugin.source)
    yield f"  file: {plugin.file or 'unknown'}"
    if plugin.problem is not None:
        yield f"  left out: {plugin.problem}"
        return
    for kind in ("game", "agent", "heuristic", "format"):
        names = [name.removeprefix(f"{kind} ") for name in plugin.names if name.startswith(f"{kind} ")]
        if names:
            yield from wrap(
                f"{kind}s: {', '.join(names)}", width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
            )
    if not plugin.names:
        yield "  brings nothing"
    yield from [f"  note: {note}" for note in plugin.notes]
