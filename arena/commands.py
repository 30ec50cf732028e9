"""What the commands do. Each writes its result to stdout, everything else to stderr, and returns the exit code."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter, getsourcefile, isclass
from typing import IO, Any

from arena.agent import Agent, chooses, solves
from arena.configured import parameters_of
from arena.errors import ArenaError, PluginError, SpecError, UnknownName
from arena.game import Game
from arena.heuristic import info_of
from arena.output import results_alone
from arena.plugins import HOOKS, Registry, is_file, load_plugins
from arena.spec import json_schema, load_spec
from arena.spec.labels import shown
from arena.spec.parameters import adapters
from arena.tables import table
from arena.testing import check_agent, check_game, check_heuristic
from arena.traits import TRAITS, listed, refusal, traits

Plugins = Sequence[str]


def validate(specs: Iterable[str], *, plugins: Plugins) -> int:
    """Print every fault of every spec on stderr; 2 where there is one."""
    code = 0
    with results_alone() as out:
        for spec in specs:
            try:
                ready = load_spec(spec, plugins=plugins)
            except SpecError as error:
                _say(str(error))
                code = 2
            else:
                matches = sum(board.size for board in ready.boards)
                print(f"{spec}: no faults, {matches:,} matches", file=out)
    return code


def list_kind(kind: str, *, plugins: Plugins) -> int:
    """Print a table of all games, agents, heuristics or formats."""
    with results_alone() as out:
        registry = _load(plugins)
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
        print(table(headings, sorted(rows, key=lambda row: (row[1], row[0]) if kind == "heuristics" else (row[0],))), file=out)
    return 0


def show(name: str, *, plugins: Plugins) -> int:
    """Print what is known of everything of that name."""
    with results_alone() as out:
        registry = _load(plugins)
        found = _everything(registry, name)
        if not found:
            raise UnknownName("game, agent, heuristic or format", name, _names(registry))
        print("\n\n".join([_described(registry, key, value) for key, value in found]), file=out)
    return 0


def matrix(*, plugins: Plugins) -> int:
    """Print agents against games: `yes`, or what is missing."""
    with results_alone() as out:
        registry = _load(plugins)
        games = [made for _, game in sorted(registry.games.items()) if (made := _made(game)) is not None]
        rows = [[name, *[_mark(agent, game) for game in games]] for name, agent in sorted(registry.agents.items())]
        print(table(["", *[game.name for game in games]], rows), file=out)
    return 0


def list_plugins(*, plugins: Plugins) -> int:
    """Print every plugin with what it brought or why it was left out."""
    with results_alone() as out:
        registry = load_plugins(plugins)
        rows = [
            [plugin.source.name, plugin.source.version or "-", plugin.problem or ", ".join(plugin.names) or "nothing"]
            for plugin in registry.plugins
        ]
        print(table(["Plugin", "Version", "Brings"], rows), file=out)
    return 0


def schema() -> int:
    """Print the JSON Schema of a spec."""
    with results_alone() as out:
        print(json.dumps(json_schema(), indent=2), file=out)
    return 0


def check(target: str, *, seed: int, matches: int, plugins: Plugins) -> int:
    """Check what a plugin file brings, or what a name stands for; 1 where a check fails."""
    with results_alone() as out:
        asked = [*plugins, target] if is_file(target) else list(plugins)
        registry = _load(asked)
        if is_file(target):
            brought = [key for key, source in registry.sources.items() if source.name == target]
            found = [(key, value) for key, value in _all(registry) if key in brought]
            if not found:
                raise PluginError(target, f"brings nothing; expected one of the hooks {', '.join(HOOKS)}")
        else:
            found = _everything(registry, target)
            if not found:
                raise UnknownName("game, agent or heuristic", target, _names(registry))
        failed = sum([not _passes(registry, key, value, seed, matches, out) for key, value in found])
    return 1 if failed else 0


# Checks


def _passes(registry: Registry, key: tuple[str, ...], value: Any, seed: int, matches: int, out: IO[str]) -> bool:
    name = " ".join(key)
    try:
        passed = _checked(registry, key, value, seed, matches)
    except AssertionError as error:
        print(f"{name}: FAILED\n{error}", file=out)
        return False
    except ArenaError as error:
        print(f"{name}: FAILED\n  {error}", file=out)
        return False
    print(f"{name}: ok ({', '.join(passed)})", file=out)
    return True


def _checked(registry: Registry, key: tuple[str, ...], value: Any, seed: int, matches: int) -> Sequence[str]:
    if key[0] == "game":
        return check_game(value, seed=seed, matches=matches)
    if key[0] == "agent":
        fitting = [game for kind in registry.games.values() if (game := _made(kind)) and not refusal(value, game)]
        if not fitting:
            raise ArenaError(f"no game fits: it needs {listed(value.needs)}")
        each = max(1, matches // 5)
        return [passed for game in fitting for passed in check_agent(value, game, seed=seed, matches=each, registry=registry)]
    if key[0] == "heuristic":
        return check_heuristic(value, registry.game(key[1]), seed=seed, matches=matches)
    return ["it loads"]


# Descriptions


def _described(registry: Registry, key: tuple[str, ...], value: Any) -> str:
    lines = [" ".join(key), f"  {_summary(value)}"]
    if isclass(value) and issubclass(value, Game):
        lines.append(f"  traits: {listed(_class_traits(value)) or 'unknown without parameters'}")
        lines.append(f"  heuristics: {', '.join(registry.heuristics_of(key[1])) or 'none'}; default {value.default_heuristic}")
    if isclass(value) and issubclass(value, Agent):
        does = [word for word, can in (("chooses actions", chooses(value)), ("solves puzzles", solves(value))) if can]
        lines.append(f"  {' and '.join(does)}; needs: {listed(value.needs) or 'nothing'}")
    info = info_of(value)
    if info is not None:
        claims = [word for word, claimed in (("admissible", info.admissible), ("consistent", info.consistent)) if claimed]
        lines.append(f"  of {info.game}; claims: {', '.join(claims) or 'nothing'}")
    skipped = 1 if info is not None else 0
    made: Any = value
    parameters = list(parameters_of(made).values())[skipped:] if isclass(value) else []
    lines += [f"  {_parameter(made, parameter)}" for parameter in parameters]
    lines.append(f"  from {registry.sources[key]}, {_file(value)}")
    return "\n".join(lines)


def _parameter(constructor: Any, parameter: Parameter) -> str:
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


def _file(value: Any) -> str:
    try:
        return getsourcefile(value) or "unknown file"
    except TypeError:
        return "unknown file"


def _made(game: type[Game]) -> Game | None:
    """A game with its default parameters, None where it cannot be made without being told some."""
    try:
        return game()
    except Exception:
        return None


def _class_traits(game: type[Game]) -> frozenset[str]:
    made = _made(game)
    return frozenset() if made is None else traits(made)


def _mark(agent: type[Agent], game: Game) -> str:
    if refusal(agent, game) is None:
        return "yes"
    missing = agent.needs - traits(game)
    return f"needs {listed(missing)}" if missing else f"needs {TRAITS[0]}"


def _all(registry: Registry) -> list[tuple[tuple[str, ...], Any]]:
    tables: tuple[tuple[str, dict[str, Any]], ...] = (
        ("game", registry.games),
        ("agent", registry.agents),
        ("format", registry.formats),
    )
    found: list[tuple[tuple[str, ...], Any]] = [((kind, name), value) for kind, known in tables for name, value in known.items()]
    return [*found, *[(("heuristic", *key), value) for key, value in registry.heuristics.items()]]


def _everything(registry: Registry, name: str) -> list[tuple[tuple[str, ...], Any]]:
    return [(key, value) for key, value in _all(registry) if key[-1] == name]


def _names(registry: Registry) -> list[str]:
    return [key[-1] for key, _ in _all(registry)]


def _load(plugins: Plugins) -> Registry:
    registry = load_plugins(plugins)
    _say_problems(registry)
    return registry


def _say_problems(registry: Registry) -> None:
    for plugin in registry.plugins:
        if plugin.problem is not None:
            _say(f"plugin {plugin.source} left out: {plugin.problem}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
