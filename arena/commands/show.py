"""The command show: a description of everything that has one name."""

import inspect
import re
from collections.abc import Iterator, Mapping
from inspect import Parameter, isclass
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from arena.agent import Agent, Hints, chooses, solves
from arena.commands.catalogue import engine_lines, paragraph, summary, text_width
from arena.commands.options import plugin_option
from arena.configured import make_default, parameters_of
from arena.console.notices import load
from arena.console.output import results_alone
from arena.encoding import encoding_info_of
from arena.errors import ArenaError
from arena.format import Format, own_columns, ranks
from arena.game import Game
from arena.heuristic import info_of
from arena.plugins.board_files import load_board_module
from arena.plugins.contract import source_line
from arena.plugins.members import gives_grid, read_member
from arena.plugins.registry import Key, Registry
from arena.search_engines import search_engines
from arena.spec.labels import format_setting
from arena.spec.parameters import make_adapters
from arena.traits import TRAITS, find_traits, join_traits


@click.command()
@click.argument("name", required=False)
@click.option("--traits", is_flag=True, help="Show every trait instead: what gives it to a game, and which agents need it.")
@plugin_option
def show(name: str | None, plugins: tuple[str, ...], *, traits: bool) -> int:
    """Show what is known of a game, an agent, a heuristic, an encoding or a format."""
    if traits == (name is not None):
        raise click.UsageError("expected a name, as in `arena show connect-four`, or --traits")
    with results_alone() as out:
        registry = load(plugins)
        width = text_width(out)
        if name is None:
            for trait, given_by in TRAITS.items():
                needing = sorted([name for name, agent in registry.agents.items() if trait in agent.needs])
                needed_by = paragraph(f"needed by {', '.join(needing) or 'no agent'}", width)
                print(trait, paragraph(f"given by {given_by}", width), needed_by, sep="\n", file=out)
            return 0
        described = ["\n".join(_describe(registry, key, value, width)) for key, value in registry.named(name)]
        print("\n\n".join(described), file=out)
    return 0


def _describe(registry: Registry, key: Key, value: Any, width: int) -> Iterator[str]:
    yield " ".join(key)
    yield f"  {summary(value)}"
    if isclass(value) and issubclass(value, Game):
        yield from _game_lines(registry, key[1], value, width)
    if isclass(value) and issubclass(value, Agent):
        yield from _agent_lines(registry, value, width)
    if isclass(value) and issubclass(value, Format):
        yield from _format_lines(value, width)
    info = info_of(value)
    if info is not None:
        claims = [word for word, claimed in (("admissible", info.admissible), ("consistent", info.consistent)) if claimed]
        yield f"  of {info.game}; claims: {', '.join(claims) or 'nothing'}"
        game = make_default(registry.games[info.game]) if info.game in registry.games else None
        if game is not None:
            yield from [f"  {line}" for line in engine_lines(game, value)]
    if (encoded := encoding_info_of(value)) is not None:
        shape = "depends on the parameters" if callable(encoded.shape) else encoded.shape
        yield f"  of {encoded.game}; shape: {shape}; values from {encoded.low:g} to {encoded.high:g}"
    parameters = list(parameters_of(value).values())[1 if info or encoded else 0 :] if isclass(value) else []
    yield "  parameters:" if parameters else "  parameters: none"
    for parameter in parameters:
        yield f"    {_parameter_line(value, parameter)}"
    yield f"  from {registry.sources[key]}, {source_line(value) or 'unknown file'}"
    for file in namesakes(key, value, Path.cwd()):
        yield f"  NOT from {file}, which seems to define it too; to use that file, uninstall the other and add --plugin {file}"


def _game_lines(registry: Registry, name: str, kind: type[Game], width: int) -> Iterator[str]:
    unknown = ["unknown without parameters"]
    game = make_default(kind, lambda error: unknown.append(f"unknown, {error}") if isinstance(error, ArenaError) else None)
    yield f"  traits: {unknown[-1] if game is None else join_traits(find_traits(game))}"
    yield f"  heuristics: {', '.join(registry.heuristics_of(name)) or 'none'}; default {kind.default_heuristic or 'none'}"
    yield f"  encodings: {', '.join(registry.encodings_of(name)) or 'none'}"
    yield from _pictures(kind)
    if game is not None:
        yield from [f"  {line}" for line in engine_lines(game)]
    fit = [] if game is None else sorted(registry.agents_for(game))
    yield paragraph(f"agents: {', '.join(fit) or 'none'}", width)


def _pictures(kind: type[Game]) -> Iterator[str]:
    """The board and the grid of a game, if it gives them, or the fault of its board."""
    file, colors = read_member(kind, "board"), read_member(kind, "grid_colors").items()
    if file is not None:
        fault = load_board_module(kind).note
        yield f"  board: {file}" if fault is None else f"  note: {fault}"
    if gives_grid(kind):
        text = ", ".join([f"{mark or 'empty'} {color}" for mark, color in colors])
        yield f"  grid: cells as text{f'; colors: {text}' if text else ''}"


def _agent_lines(registry: Registry, agent: type[Agent], width: int) -> Iterator[str]:
    does = [word for word, can in (("chooses actions", chooses(agent)), ("solves puzzles", solves(agent))) if can]
    wants = "; wants a heuristic" if agent.wants_heuristic else ""
    yield f"  {' and '.join(does)}; needs: {join_traits(agent.needs) or 'nothing'}{wants}"
    made = make_default(agent, lambda _: None)
    for engine in search_engines() if made is not None else ():
        if (loop := engine.loop_of(made)) is not None:
            yield f"  {engine.name}: by the engine {loop}, where the rules of the game and the heuristic are"
    hints: Hints = read_member(agent, "hints")
    if hints.reference:
        yield f"  reference: {'games, puzzles' if hints.reference is True else hints.reference}"
    if hints.proposed:
        yield f"  proposed: {', '.join([f'{word} {priority}' for word, priority in hints.proposed.items()])}"
    games = registry.games_for(agent)
    yield paragraph(f"games: {', '.join(sorted(games)) or 'none'}", width)
    if agent.wants_heuristic or hints.uses_heuristic:
        yield from _estimates(registry, games, width)
    else:
        yield "  heuristics: it uses none"


def _estimates(registry: Registry, games: Mapping[str, Game], width: int) -> Iterator[str]:
    """The heuristics that an agent can be given, game by game, the default one marked."""
    known = {name: names for name in sorted(games) if (names := registry.heuristics_of(name))}
    yield "  heuristics, * is the default:" if known else "  heuristics: none for these games"
    for name, names in known.items():
        text = ", ".join([f"{one} *" if one == games[name].default_heuristic else one for one in names])
        yield from wrap(f"{name}: {text}", width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)


def _format_lines(format_: type[Format], width: int) -> Iterator[str]:
    order = "the format itself" if ranks(format_) else "solved share" if format_.kind == "puzzle" else format_.ranked_by
    yield f"  for {'puzzles' if format_.kind == 'puzzle' else 'games'}; boards are ranked by {order}"
    yield "  columns:" if own_columns(format_) else "  columns: the usual ones"
    for column in own_columns(format_):
        text = f"{column.key}: {column.heading}{f', {column.description}' if column.description else ''}"
        yield from wrap(text, width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)


def _parameter_line(constructor: Any, parameter: Parameter) -> str:
    """One parameter: its name, its type, its default, and the description that its author gave it by `Field`."""
    description = ""
    try:
        schema = make_adapters(constructor)[parameter.name].json_schema()
        takes, description = _describe_type(schema), schema.get("description", "")
    except Exception:  # a hint that JSON Schema cannot say
        takes = str(parameter.annotation)
    default = "needed" if parameter.default is Parameter.empty else f"default {format_setting(parameter.default)}"
    return f"{parameter.name}: {takes or 'anything'}; {default}{f'; {description}' if description else ''}"


def _describe_type(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in words, such as `whole number from 1 to 500, or none`."""
    if "anyOf" in schema:
        return ", or ".join([_describe_type(choice) for choice in schema["anyOf"]])
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


# Shadowed plugins: a nearby file defines the name, but another copy was loaded, so that edits have no effect

MAX_FILE_BYTES = 1 << 20
"""Larger files are not read."""
MAX_FILES = 200
"""Files that are read."""


def namesakes(key: tuple[str, ...], value: Any, folder: Path) -> list[Path]:
    """Files in `folder` and its subfolders that seem to define the same thing, but were not loaded.

    Recognised by their text: a line `name = "..."` or a decorator `@heuristic("...")` with the name of `key`.
    """
    loaded = source_file(value)
    written = re.compile(rf"""^\s*name\b[^=\n]*=\s*["']{re.escape(key[-1])}["']""", re.MULTILINE)
    if key[0] == "heuristic":
        written = re.compile(rf"""@heuristic\(\s*["']{re.escape(key[-1])}["']""")
    files = (file for pattern in ("*.py", "*/*.py") for file in sorted(folder.glob(pattern)) if file.is_file())
    return [file for file in islice(files, MAX_FILES) if file.resolve() != loaded and written.search(_read_text(file))]


def source_file(value: Any) -> Path | None:
    """The file that defines a class or a function; None if there is none."""
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return None
    return Path(file).resolve() if file else None


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace") if file.stat().st_size <= MAX_FILE_BYTES else ""
    except OSError:
        return ""
