"""Writes the tables of commands, spec keys, games, agents, heuristics, encodings, formats and names: `make reference`.

Each table stands between two comments of its page. Its rows come from the registry, the commands and the schema of a spec.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

import arena.api
from arena import Registry, load_plugins
from arena.api.games import own_columns
from arena.cli import cli
from arena.commands import OTHER_COMMANDS
from arena.spec import json_schema
from arena_records import tidy
from arena_records.report_key import list_taken

REFERENCE = Path(__file__).parent / "reference"
BUILT_IN = ("fairarena:builtin-", "fairarena:pairings")
"""The sources of all names that need no extra. The bridges are listed by hand on the page."""
KEYS_IN = {"agents": "Entry", "limits": "MatchLimits", "openings": "OpeningKeys", "draw": "DrawKeys", "resign": "ResignKeys"}
"""For these keys, the definition in the schema that has the keys below them. Other keys have a definition of the same name."""


def _name(text: str) -> str:
    return f"`{text}`"


def _summarize(value: Any) -> str:
    """Return the first sentence of a docstring. Characters that would end a cell are escaped."""
    return _first_sentence(inspect.getdoc(value) or "")


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[^A-Z]\.) (?=[A-Z])", paragraph, maxsplit=1)[0].replace("|", "\\|")  # "L. Allis" ends no sentence


def _parameters(value: Any) -> str:
    found = [one for one in inspect.signature(value).parameters.values() if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    texts = [one.name if one.default is one.empty else f"{one.name}={one.default!r}" for one in found]
    return ", ".join([_name(text.replace("|", "\\|")) for text in texts]) or "none"


def _built_in(registry: Registry, kind: str) -> Iterator[tuple[str, ...]]:
    for key, source in registry.sources.items():
        if key[0] == kind and source.name.startswith(BUILT_IN):
            yield key[1:]


def games(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every game and puzzle."""
    yield "game", "parameters", "description"
    for (name,) in _built_in(registry, "game"):
        yield _name(name), _parameters(registry.games[name]), _summarize(registry.games[name])


def agents(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every agent."""
    yield "agent", "needs", "options", "description"
    for (name,) in _built_in(registry, "agent"):
        agent = registry.agents[name]
        yield _name(name), ", ".join(sorted(agent.needs)) or "nothing", _parameters(agent), _summarize(agent)


def heuristics(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every heuristic; a star marks the default of its game."""
    yield "game", "heuristic", "description"
    for game, name in _built_in(registry, "heuristic"):
        default = " *" if registry.games[game].default_heuristic == name else ""
        yield _name(game), f"{_name(name)}{default}", _summarize(registry.heuristics[game, name])


def encodings(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every encoding."""
    yield "game", "encoding", "description"
    for game, name in _built_in(registry, "encoding"):
        yield _name(game), _name(name), _summarize(registry.encodings[game, name])


def formats(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every format."""
    yield "format", "for", "description"
    for (name,) in _built_in(registry, "format"):
        kind = registry.formats[name].kind
        yield _name(name), "puzzles" if kind == "puzzle" else "games", _summarize(registry.formats[name])


def commands(_registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every command of this distribution, with its options."""
    yield "command", "what it does", "options"
    for name, command in sorted(cli.commands.items()):
        if name in OTHER_COMMANDS:
            continue
        options = [max(one.opts, key=len) for one in command.params if isinstance(one, click.Option) and not one.hidden]
        shown = ", ".join([_name(option) for option in options if option not in ("--help", "--traceback")])
        yield _name(f"arena {name}"), command.get_short_help_str(200), shown


def keys(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every key of a spec. The keys below another key follow it."""
    schema = json_schema(registry)
    yield "key", "meaning"
    yield from _keys(schema["$defs"], schema["properties"], "")


def _keys(definitions: Mapping[str, Any], properties: Mapping[str, Any], above: str) -> Iterator[Iterable[str]]:
    for name, found in properties.items():
        meaning = str(found.get("description", "")).replace("|", "\\|")
        yield _name(f"{above}{name}"), meaning
        inner = definitions.get(KEYS_IN.get(name, f"{name.title()}Keys"))
        if inner is not None and not (above and name == "limits"):  # the limits are listed only once
            yield from _keys(definitions, inner["properties"], f"{above}{name}.")


def report_names(_registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading, a row for every column of data frames, and a row for every name that only formulas can use."""
    yield "column", "leaderboards", "number", "meaning"
    kinds = {"puzzle": "puzzles", "score": "games of one seat", "versus": "games of several seats"}
    for name, boards, meaning, is_number in tidy.COLUMNS:
        by_seat = boards == "versus" and (not name or name.endswith("_"))
        shown = ", ".join([_name(f"{name}{seat}") for seat in tidy.seat_names(2)]) + ", ..." if by_seat else _name(name)
        yield shown, ", ".join([kinds[kind] for kind in boards.split()]) or "all", "yes" if is_number else "no", meaning
    for name, meaning in tidy.OWN.items():
        yield _name(name), "all", "only in `columns`", meaning


def taken_names(registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading, and rows with the names that a column of `report` may not have."""
    known = {name for name, _, _, _ in tidy.COLUMNS} | tidy.OWN.keys()
    own = {part.column.key for part in registry.parts["column"].values()}
    own |= {column.key for kind in registry.formats.values() for column in own_columns(kind)}
    yield "columns of", "names"
    yield "leaderboards", ", ".join(map(_name, sorted(list_taken(registry) - known - own)))
    yield "plugins and formats that come with arena", ", ".join(map(_name, sorted(own - known)))


def names(module: str, _registry: Registry) -> Iterator[Iterable[str]]:
    """Yield the heading and a row for every name in a module that extensions may import."""
    yield "name", "meaning"
    found = import_module(module)
    imports = [
        one for one in ast.walk(ast.parse(Path(str(found.__file__)).read_text("utf-8"))) if isinstance(one, ast.ImportFrom)
    ]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    for name in sorted(found.__all__):
        text = _text_below(homes.get(name, module), name) or inspect.getdoc(getattr(found, name)) or ""
        yield _name(name), _first_sentence(text)


def _text_below(module: str, name: str) -> str | None:
    """Return the docstring below the assignment of a name in its module; None if there is none."""
    for node, after in pairwise(ast.parse(Path(str(import_module(module).__file__)).read_text("utf-8")).body):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == name and isinstance(after, ast.Expr):
            return str(ast.literal_eval(after.value))
    return None


SURFACE = ("arena.stats", *[f"arena.api.{module.name}" for module in iter_modules(arena.api.__path__)])
"""The modules that extensions may import in addition to `arena` itself."""
TABLES: Mapping[str, Mapping[str, Callable[[Registry], Iterable[Iterable[str]]]]] = {
    "builtin.md": {
        "games": games,
        "agents": agents,
        "heuristics": heuristics,
        "encodings": encodings,
        "formats": formats,
    },
    "cli.md": {"commands": commands},
    "spec.md": {"report names": report_names, "taken names": taken_names, "keys": keys},
    "extension-api.md": {module: partial(names, module) for module in SURFACE},
}
"""The tables of each page. The key is the word in the comments around the table."""


def write_tables(name: str, text: str, registry: Registry) -> str:
    """Return the text of a page with its tables written anew. Raises ValueError if the page has no place for one."""
    for word, rows in TABLES[name].items():
        heading, *body = [list(row) for row in rows(registry)]
        lines = [heading, ["---"] * len(heading), *body]
        table = "".join([f"| {' | '.join(line)} |\n" for line in lines])
        begin, end = f"<!-- {word}: written by make reference -->\n", f"<!-- end of {word} -->\n"
        place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not place.search(text):
            raise ValueError(f"{name}: expected the lines {begin.strip()} and {end.strip()}")
        made = f"{begin}\n{table}\n{end}"
        text = place.sub(lambda _, made=made: made, text)
    return text


if __name__ == "__main__":
    REGISTRY = load_plugins(environ=False)
    for NAME in TABLES:
        PAGE = REFERENCE / NAME
        PAGE.write_text(write_tables(NAME, PAGE.read_text("utf-8"), REGISTRY), "utf-8")
