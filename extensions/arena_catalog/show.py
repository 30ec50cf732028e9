"""The command `show`: describes the games, agents, heuristics, encodings and formats that have a given name."""

import inspect
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from inspect import Parameter, isclass
from itertools import islice
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

import click

from arena import Agent, ArenaError, Format, Game, Hints, Registry, UnknownName, stats
from arena.api.cli import load, plugin_option, results_alone
from arena.api.errors import call_foreign, suggest
from arena.api.games import Abilities, BoundEncoding, HeuristicInfo, Traits, count_given, gives, make_default, own_columns, ranks
from arena.api.results import figures
from arena.api.search import search_engines
from arena.api.spec import Parameters, format_setting, source_line
from arena_catalog.board_files import BoardModule, load_board_module
from arena_catalog.catalogue import engine_lines, paragraph, summary, text_width
from arena_catalog.citations import EXAMPLE, STATISTICS, find_sources, sources_of
from arena_catalog.grids import read_colors


@click.command()
@click.argument("name", required=False)
@click.option("--traits", is_flag=True, help="Show all traits instead: how a game gets each one, and which agents need it.")
@click.option(
    "--cite", is_flag=True, help="Print the publications on which NAME is based as BibTeX; NAME can also be a statistic."
)
@plugin_option
def show(name: str | None, plugins: tuple[str, ...], *, traits: bool, cite: bool) -> int:
    """Show the parameters, traits and source of a game, an agent, a heuristic, an encoding or a format."""
    if traits == (name is not None):
        raise click.UsageError("expected a name, as in `arena show connect-four`, or --traits")
    if traits and cite:
        raise click.UsageError("--cite needs a name, as in `arena show --cite a-star`")
    with results_alone() as out:
        registry = load(plugins)
        width = text_width(out)
        if name is None:
            for trait, condition in Traits.WORDS.items():
                needing = sorted([name for name, agent in registry.agents.items() if trait in agent.needs])
                needed_by = paragraph(f"needed by {', '.join(needing) or 'no agent'}", width)
                print(trait, paragraph(f"condition: {condition}", width), needed_by, sep="\n", file=out)
            return 0
        if cite:
            if name in STATISTICS:
                sources = list(find_sources(STATISTICS[name]))
            elif name in dir(stats):
                sources = sources_of(getattr(stats, name))
            else:
                sources = [source for value in _find_named(registry, name) for source in sources_of(value)]
            entries = dict.fromkeys([source.bibtex() for source in sources])
            if not entries:
                raise ArenaError(f"the docstring of {name} names no publication; expected one such as {EXAMPLE!r}")
            print("\n\n".join(entries), file=out)
            return 0
        described = ["\n".join(_describe(registry, key, value, width)) for key, value in registry.named(name)]
        print("\n\n".join(described), file=out)
    return 0


def _find_named(registry: Registry, name: str) -> list[Any]:
    """Return the parts of plugins with a name. Raises ArenaError with a message that suggests similar names, and lists names
    of statistics, which `arena list` does not show.
    """
    try:
        return [value for _, value in registry.named(name)]
    except UnknownName:
        cited = [*STATISTICS, *[one for one in dir(stats) if sources_of(getattr(stats, one))]]
        near = suggest(name, [*cited, *[key[-1] for key, _ in registry.items()]])
        near = f"{near} " if near.startswith("did you mean") else ""
        raise ArenaError(
            f"unknown name {name!r}; {near}expected a game, agent, heuristic, encoding or format (`arena list` shows them; "
            f"--plugin FILE loads others), or one of the statistics: {', '.join(sorted(cited))}"
        ) from None


def _describe(registry: Registry, key: tuple[str, ...], value: Any, width: int) -> Iterator[str]:
    yield " ".join(key)
    if text := summary(value):
        yield paragraph(text, width, hanging="  ")
    if isclass(value) and issubclass(value, Game):
        yield from _game_lines(registry, key[1], value, width)
    if isclass(value) and issubclass(value, Agent):
        yield from _agent_lines(registry, value, width)
    if isclass(value) and issubclass(value, Format):
        yield from _format_lines(value, width)
    info = HeuristicInfo.of(value)
    if info is not None:
        claims = [word for word, claimed in (("admissible", info.admissible), ("consistent", info.consistent)) if claimed]
        yield f"  of {info.game}; claims: {', '.join(claims) or 'nothing'}"
        game = make_default(registry.games[info.game]) if info.game in registry.games else None
        if game is not None:
            yield from [f"  {line}" for line in engine_lines(game, value)]
    if (encoded := BoundEncoding.info_of(value)) is not None:
        shape = "depends on the parameters" if callable(encoded.shape) else encoded.shape
        yield f"  of {encoded.game}; shape: {shape}; values from {encoded.low:g} to {encoded.high:g}"
    given = count_given(value) if info else 1 if encoded else 0
    parameters = list(Parameters(value).known.values())[given:] if info or isclass(value) else []
    yield "  parameters:" if parameters else "  parameters: none"
    for parameter in parameters:
        try:
            takes = _describe_type(Parameters(value).adapter(parameter.name).json_schema()) or "anything"
        except Exception:  # JSON Schema cannot express this type
            takes = str(parameter.annotation)
        default = "needed" if parameter.default is Parameter.empty else f"default {format_setting(parameter.default)}"
        yield f"    {parameter.name}: {takes}; {default}"
        if explanation := explain_parameter(value, parameter.name):
            yield paragraph(explanation, width, indent="      ", hanging="      ")
    yield f"  from {registry.sources[key]}, {source_line(value) or 'unknown file'}"
    others = namesakes(key, value, Path.cwd())
    for file in others[:MAX_NAMESAKES]:
        hint = f"to use that file, pass only it with --plugin {quote(str(file))}"
        yield f"  NOT from {file}, which seems to define the same name; {hint}"
    if len(others) > MAX_NAMESAKES:
        yield f"  NOT from {len(others) - MAX_NAMESAKES} other files, which seem to define the same name"


def explain_parameter(kind: Any, name: str) -> str:
    """Return the explanation of a parameter: its `Field(description=...)`, or else the sentences of the docstring that contain
    its name in backticks. If a class has no such sentence, its base classes are searched. Empty without any explanation.

    >>> class Bold(arena.Agent):
    ...     \"\"\"Attacks at once. It looks `depth` plies ahead.\"\"\"
    ...     def __init__(self, *, depth: int = 2) -> None: ...
    >>> explain_parameter(Bold, "depth")
    'It looks `depth` plies ahead.'
    """
    with suppress(Exception):  # JSON Schema cannot express every type
        schema = Parameters(kind).adapter(name).json_schema()
        found = [text for one in (schema, *schema.get("anyOf", ())) if (text := one.get("description"))]
        if found and "$ref" not in schema:
            return str(found[0])
    mention = re.compile(rf"`{re.escape(name)}(`|: )")
    for one in inspect.getmro(kind) if isclass(kind) else [kind]:
        text = " ".join((one.__doc__ or "").split())
        if sentences := [sentence for sentence in _SENTENCE_END.split(text) if mention.search(sentence)]:
            return " ".join(sentences[:MAX_SENTENCES])
    return ""


MAX_SENTENCES = 2
"""The largest number of sentences that explain a parameter."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])(?<!\b[A-Z]\. )")


def _game_lines(registry: Registry, name: str, kind: type[Game], width: int) -> Iterator[str]:
    unknown = ["unknown without parameters"]
    game = make_default(kind, lambda error: unknown.append(f"unknown, {error}") if isinstance(error, ArenaError) else None)
    yield f"  traits: {unknown[-1] if game is None else str(Traits.of(game))}"
    yield f"  heuristics: {', '.join(registry.heuristics_of(name)) or 'none'}; default {kind.default_heuristic or 'none'}"
    yield f"  encodings: {', '.join(registry.encodings_of(name)) or 'none'}"
    module = load_board_module(kind)
    if module != BoardModule():
        yield f"  board: {kind.board}" if module.note is None else f"  note: {module.note}"
    if gives(kind, "grid"):
        text = ", ".join([f"{mark or 'empty'} {color}" for mark, color in read_colors(kind).items()])
        yield f"  grid: cells as text{f'; colors: {text}' if text else ''}"
        drawn = "" if game is None else call_foreign(lambda: game.render(game.initial(random.Random(0))), lambda _: "")
        yield from [f"    {line}" for line in drawn.splitlines()]
    if game is not None:
        yield from [f"  {line}" for line in engine_lines(game)]
    fit = [] if game is None else sorted(registry.agents_for(game))
    yield paragraph(f"agents: {', '.join(fit) or 'none'}", width)


def _agent_lines(registry: Registry, agent: type[Agent], width: int) -> Iterator[str]:
    does = [
        word for word, can in (("chooses actions", Abilities(agent).chooses), ("solves puzzles", Abilities(agent).solves)) if can
    ]
    wants = "; wants a heuristic" if agent.wants_heuristic else ""
    yield f"  {figures.listing(does)}; needs: {str(Traits(agent.needs)) or 'nothing'}{wants}"
    made = make_default(agent, lambda _: None)
    for engine in search_engines() if made is not None else ():
        if (loop := engine.loop_of(made)) is not None:
            yield f"  {engine.name}: by the engine {loop}, if the rules of the game and the heuristic are compiled"
    hints, games = Hints.of(agent), registry.games_for(agent)
    if hints.reference:
        able = {"puzzles" if game.players == 1 else "games" for game in games.values()}
        kinds = sorted(able if hints.reference is True else {str(hints.reference)})
        yield f"  `arena try` compares new agents with it on {figures.listing(kinds)}"
    if hints.proposed:
        words = [{"heuristic": "a heuristic"}.get(word, f"the trait {word}") for word in hints.proposed]
        yield f"  a default opponent in `arena play` for games with {figures.listing(words, 'or')}"
    yield paragraph(f"games: {', '.join(sorted(games)) or 'none'}", width)
    if not (agent.wants_heuristic or hints.uses_heuristic):
        yield "  heuristics: not used"
        return
    known = {name: names for name in sorted(games) if (names := registry.heuristics_of(name))}
    yield "  heuristics, * is the default:" if known else "  heuristics: none for these games"
    for name, names in known.items():
        text = ", ".join([f"{one} *" if one == games[name].default_heuristic else one for one in names])
        yield from wrap(f"{name}: {text}", width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)


def _format_lines(format_: type[Format], width: int) -> Iterator[str]:
    order = "the format itself" if ranks(format_) else "solved share" if format_.kind == "puzzle" else format_.ranked_by
    yield f"  for {'puzzles' if format_.kind == 'puzzle' else 'games'}; boards are ranked by {order}"
    yield "  columns:" if own_columns(format_) else "  columns: the standard ones"
    for column in own_columns(format_):
        text = f"{column.key}: {column.heading}{f', {column.description}' if column.description else ''}"
        yield from wrap(text, width, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)


def _describe_type(schema: Mapping[str, Any]) -> str:
    """Describe a JSON Schema in words, such as `whole number from 1 to 500, or none`."""
    if "anyOf" in schema:
        return ", or ".join([_describe_type(choice) for choice in schema["anyOf"]])
    if "$ref" in schema:
        return "mapping"
    if "enum" in schema or "const" in schema:
        return figures.listing([*map(str, schema.get("enum", [schema.get("const")]))], "or")
    word = _WORDS.get(schema.get("type", ""), schema.get("type", ""))
    given = [schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")]
    low, more, high, less = [f"{one:,.0f}" if one is not None and one == round(one) else one for one in given]
    if low is not None and high is not None:
        return f"{word} from {low} to {high}"
    bounds = ((low, "from {}"), (more, "above {}"), (high, "up to {}"), (less, "below {}"))
    return f"{word} {figures.listing([text.format(bound) for bound, text in bounds if bound is not None])}".rstrip()


_WORDS = {
    "integer": "whole number",
    "string": "text",
    "null": "none",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}


# Shadowed plugins: a file nearby defines the name, but another copy was loaded, so edits of that file have no effect

MAX_FILE_BYTES = 1 << 20
"""The maximum size of a file that is read."""
MAX_NAMESAKES = 3
"""The largest number of files with the same name that are listed."""
MAX_FILES = 200
"""The maximum number of files that are read."""


def namesakes(key: tuple[str, ...], value: Any, folder: Path) -> list[Path]:
    """Return files in `folder` and its subfolders that seem to define the object `value`, but were not loaded.

    Such a file contains a line `name = "..."` or, for a heuristic, a decorator `@heuristic("...")` with the name in `key`.
    """
    loaded = source_file(value)
    written = re.compile(rf"""^[ \t]*name\b[^=\n]*=\s*["']{re.escape(key[-1])}["']""", re.MULTILINE)
    if key[0] == "heuristic":
        written = re.compile(rf"""@heuristic\(\s*["']{re.escape(key[-1])}["']""")
    files = (file for pattern in ("*.py", "*/*.py") for file in sorted(folder.glob(pattern)) if file.is_file())
    found = []
    for file in islice(files, MAX_FILES):
        with suppress(OSError):
            small = file.stat().st_size <= MAX_FILE_BYTES
            if file.resolve() != loaded and small and written.search(file.read_text("utf-8", "replace")):
                found.append(file)
    return found


def source_file(value: Any) -> Path | None:
    """Return the file that defines a class or a function; None when no file is known."""
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return None
    return Path(file).resolve() if file else None
