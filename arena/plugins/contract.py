"""Checks a plugin when it is loaded, so that its faults do not first appear in the middle of a match."""

import inspect
import re
from collections.abc import Callable, Container, Sequence
from difflib import get_close_matches
from functools import cache
from inspect import isabstract, isclass
from typing import Any

from arena.agent import Agent
from arena.columns import ROW_KEYS, STYLES, Column
from arena.configured import parameters_of
from arena.encodings import encoding_info_of
from arena.errors import abbreviate, describe, listing, suggest
from arena.format import Format, own_columns
from arena.game import Game, Puzzle, find_member, takes
from arena.heuristics import NO_HEURISTIC, HeuristicInfo, count_given
from arena.hookspecs import Part
from arena.traits import Abilities

NAME = re.compile(r"[a-z0-9-]+")
"""The pattern of a name in the registry."""
KEY = re.compile(r"[a-z][a-z0-9_]*")
RESERVED = {
    "agent": {"agent", "command", "heuristic", "isolation", "label", "limits", "waits"},
    "format": {"name"},
    "game": {"name"},
    "heuristic": {"name"},
}
"""Keys that have another meaning in a spec. A parameter with such a name could never be set."""


KINDS = {
    "arena_games": "game",
    "arena_agents": "agent",
    "arena_heuristics": "heuristic",
    "arena_encodings": "encoding",
    "arena_formats": "format",
}
"""The kinds of the objects that hooks bring, other than parts."""


class Unfit(Exception):
    """A plugin breaks a rule for plugins."""


def describe_fault(error: BaseException) -> str:
    """Return why a plugin cannot be used, in one line."""
    return str(error) if isinstance(error, Unfit) else describe(error)


def check_value(
    hook: str, part: type[Part] | None, value: Any, implementation: Callable[..., Any]
) -> tuple[tuple[str, ...], Any]:
    """Return an object that the implementation of a hook has brought, with its kind and name as the key.

    `part` is the class of the parts that the hook brings; None for the other hooks. Raises Unfit if the object breaks a rule.
    """
    if hook == "arena_heuristics":
        info = HeuristicInfo.of(value)
        if info is None:
            expected = "functions or classes decorated with @heuristic"
            raise Unfit(f"{hook} returned {abbreviate(value)}; expected {expected} ({locate(implementation)})")
        _check_name("heuristic", info.name, value)
        if info.name == NO_HEURISTIC:
            raise Unfit(f"heuristic {info.name} ({locate(value)}): name: in a spec, {NO_HEURISTIC} stands for no heuristic")
        _check_parameters("heuristic", info.name, value, skip=count_given(value))
        _check_call("heuristic", info.name, value, ("state", "player=0"))
        return ("heuristic", info.game, info.name), value
    if hook == "arena_encodings":
        return _check_encoding(value, implementation)
    if part is not None:
        if not isinstance(value, part):
            raise Unfit(f"{hook} returned {abbreviate(value)}; expected objects of {part.__name__} ({locate(implementation)})")
        _check_name(part.kind, value.name, value)
        if part.kind == "column":
            _check_board_column(f"column {value.name}", implementation, value)
        return (part.kind, value.name), value
    kind = KINDS[hook]
    base: type = {"game": Game, "agent": Agent, "format": Format}[kind]
    if not isclass(value) or not issubclass(value, base):
        raise Unfit(
            f"{hook} returned {abbreviate(value)}; expected classes derived from {base.__name__} ({locate(implementation)})"
        )
    name = getattr(value, "name", None)
    _check_name(kind, name, value)
    if isabstract(value):
        raise Unfit(f"{kind} {name} ({locate(value)}) lacks {', '.join(sorted(getattr(value, '__abstractmethods__', ())))}")
    _check_parameters(kind, name, value)
    for kin in (Agent, Game, Puzzle):
        if issubclass(value, kin):
            _check_methods(kind, name, value, kin)
    if issubclass(value, Agent):
        _check_agent(value)
    if issubclass(value, Game):
        _check_variable(value, "players", "a number of seats", lambda given: type(given) is int and given > 0)
        _check_variable(value, "zero_sum", "True or False", lambda given: isinstance(given, bool))
        _check_variable(value, "default_heuristic", "a name or None", lambda given: given is None or isinstance(given, str))
    if issubclass(value, Format):
        _check_format(value)
    return (kind, str(name)), value


def check_named(hook: str, name: Any, place: Any, implementation: Callable[..., Any]) -> tuple[str, ...]:
    """Return the key of an object that the implementation of a hook brings by its name and place. Raises Unfit if either of them
    is none.

    >>> check_named("arena_heuristics", ("nim", "nim-sum"), "arena_games.nim:NimSum", print)
    ('heuristic', 'nim', 'nim-sum')
    """
    kind = KINDS[hook]
    owned = kind in ("heuristic", "encoding")
    names = name if owned else (name,)
    whole = isinstance(names, tuple) and len(names) == 1 + owned and all(isinstance(one, str) for one in names)
    if not whole or not NAME.fullmatch(names[-1]):
        expected = f"the name of a game and of its {kind}" if owned else f"the name of the {kind}"
        raise Unfit(f"{hook} returned a mapping with the key {name!r}; expected {expected} ({locate(implementation)})")
    if not isinstance(place, str) or not all(place.partition(":")):
        expected = "a place such as 'package.module:Object'"
        raise Unfit(f"{hook} returned {abbreviate(place)} for {name!r}; expected {expected} ({locate(implementation)})")
    return (kind, *names)


def describe_unregistered(plugin: object) -> str | None:
    """Return what a module defines for arena without a hook that returns it, and the hook to add; None if there is no such thing.

    >>> from types import ModuleType
    >>> module = ModuleType("mine")
    >>> module.Mine = type("Mine", (Agent,), {"__module__": "mine", "choose": print})
    >>> describe_unregistered(module)
    'has the agent class Mine, but no hook that returns it; add: @hookimpl def arena_agents(): return [Mine]'
    """
    kinds: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
        ("agent class", "arena_agents", lambda value: isclass(value) and issubclass(value, Agent)),
        ("game class", "arena_games", lambda value: isclass(value) and issubclass(value, Game)),
        ("format class", "arena_formats", lambda value: isclass(value) and issubclass(value, Format)),
        ("heuristic", "arena_heuristics", lambda value: HeuristicInfo.of(value) is not None),
        ("encoding", "arena_encodings", lambda value: encoding_info_of(value) is not None),
    )
    for noun, hook, found in kinds:
        own = [value for value in vars(plugin).values() if getattr(value, "__module__", None) == getattr(plugin, "__name__", "")]
        names = [value.__name__ for value in dict.fromkeys(filter(callable, own)) if found(value) and not isabstract(value)]
        if names:
            plural = "es" if noun.endswith("class") else "s"
            return (
                f"has the {noun}{plural if len(names) > 1 else ''} {listing(names)}, but no hook that returns "
                f"{'them' if len(names) > 1 else 'it'}; add: @hookimpl def {hook}(): return [{', '.join(names)}]"
            )
    return None


def _check_encoding(value: Any, implementation: Callable[..., Any]) -> tuple[tuple[str, ...], Any]:
    info = encoding_info_of(value)
    if info is None:
        expected = "functions or classes decorated with @encoding"
        raise Unfit(f"arena_encodings returned {abbreviate(value)}; expected {expected} ({locate(implementation)})")
    _check_name("encoding", info.name, value)
    _check_call("encoding", info.name, value, ("observation", "seat"))
    return ("encoding", info.game, info.name), value


def _check_name(kind: str, name: object, value: object) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        called = getattr(value, "__name__", None) or repr(value)
        raise Unfit(f"{kind} {called} ({locate(value)}): name: expected lowercase letters, digits and dashes, got {name!r}")


def _check_parameters(kind: str, name: object, value: Callable[..., Any], *, skip: int = 0) -> None:
    for parameter in sorted({*list(parameters_of(value))[skip:]} & RESERVED[kind]):
        raise Unfit(f"{kind} {name}: a parameter may not be called {parameter!r}, because specs already use this key")


def _check_format(format_: type[Format]) -> None:
    name, kind = f"format {format_.name}", getattr(format_, "kind", None)
    if kind not in ("versus", "puzzle"):
        raise Unfit(f"{name} ({locate(format_)}): kind: expected versus or puzzle, got {kind!r}")
    taken = set(ROW_KEYS)
    for column in own_columns(format_):
        _check_column(name, format_, " columns:", column, taken)
        taken.add(column.key)


def _check_board_column(name: str, implementation: object, part: Any) -> None:
    _check_column(name, implementation, "", part.column, ROW_KEYS)
    if (part.amount is None) == (part.cells is None):
        raise Unfit(f"{name} ({locate(implementation)}): expected either an amount or cells, not both")


def _check_column(name: str, source: object, part: str, column: Column, taken: Container[str]) -> None:
    """Refuse a column if rows use its key for something else, or if its style is unknown."""
    if not KEY.fullmatch(str(column.key)) or column.key in taken:
        raise Unfit(
            f"{name} ({locate(source)}):{part} expected an unused key of lowercase letters, digits and _, got {column.key!r}"
        )
    if column.style not in STYLES:
        raise Unfit(f"{name} ({locate(source)}):{part} unknown style {column.style!r}; {suggest(str(column.style), STYLES)}")


def _check_variable(game: type[Game], name: str, expected: str, fits: Callable[[Any], bool]) -> None:
    """Refuse a class variable of a wrong type. The value of a property cannot be checked here."""
    given = find_member(game, name)
    if not hasattr(type(given), "__get__") and not fits(given):
        raise Unfit(f"game {game.name} ({locate(game)}): {name}: expected {expected}, got {given!r}")


@cache
def _check_methods(kind: str, name: object, value: type, base: type) -> None:
    """Refuse methods that cannot be called like the methods of `base`."""
    for method, promised in vars(base).items():
        given = find_member(value, method)
        if method.startswith("_") or given is promised or not inspect.isfunction(promised) or not inspect.isfunction(given):
            continue
        wanted = promised.__code__.co_varnames[: promised.__code__.co_argcount]
        swapped = _are_swapped(given.__code__.co_varnames[: given.__code__.co_argcount], wanted)
        if swapped or not takes(given, len(wanted) - 1):
            expected = f"{method}({', '.join(wanted)})"
            got = f"{method}({', '.join(map(str, inspect.signature(given).parameters))})"
            raise Unfit(f"{kind} {name} ({locate(given)}): expected {expected}, got {got}{SWAPPED * swapped}")


SWAPPED = "; the arguments are swapped"


def _are_swapped(names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a function has all the arguments that arena gives, but in another order."""
    given = list(names[: len(wanted)])
    return given != list(wanted) and sorted(given) == sorted(wanted)


def _check_call(kind: str, name: str, value: Any, wanted: tuple[str, str]) -> None:
    """Refuse a heuristic or an encoding that cannot be called with the arguments in `wanted`."""
    given = find_member(value, "__call__") if isclass(value) else value
    before = "self" if isclass(value) else "game"
    if given is None:
        raise Unfit(f"{kind} {name} ({locate(value)}): expected a method __call__(self, {', '.join(wanted)}), got none")
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):
        return  # the signature is unknown, so it cannot be checked
    swapped = _are_swapped(list(signature.parameters), [before, *[word.partition("=")[0] for word in wanted]])
    try:
        signature.bind(None, None, 0)
        fits = not swapped
    except TypeError:
        fits = False
    if not fits:
        got = f"({', '.join(map(str, signature.parameters.values()))}){SWAPPED * swapped}"
        raise Unfit(f"{kind} {name} ({locate(given)}): expected ({before}, {', '.join(wanted)}), got {got}")


def _check_agent(agent: type[Agent]) -> None:
    if not Abilities(agent).chooses and not Abilities(agent).solves:
        own = [name for name in vars(agent) if not name.startswith("_")]
        meant = [
            f"did you mean {word} instead of {near[0]}?" for word in ("choose", "solve") if (near := get_close_matches(word, own))
        ]
        raise Unfit("; ".join([f"agent {agent.name} ({locate(agent)}) defines neither choose nor solve", *meant]))
    for name in ("choose", "solve"):
        method = getattr(agent, name)
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise Unfit(f"agent {agent.name} ({locate(agent)}): {name} is asynchronous; write `def {name}` without `async`")
        if inspect.isgeneratorfunction(method):
            raise Unfit(f"agent {agent.name} ({locate(agent)}): {name} is a generator; write `return` instead of `yield`")
    if not isinstance(agent.needs, (frozenset, set)) or not all(isinstance(word, str) for word in agent.needs):
        raise Unfit(f"agent {agent.name} ({locate(agent)}): needs: expected a frozenset of traits, got {agent.needs!r}")
    games = getattr(agent, "games", None)  # other values are not meant for arena
    if isinstance(games, (str, list, tuple)) and all(isinstance(name, str) for name in games):
        raise Unfit(f"agent {agent.name} ({locate(agent)}): games: expected a frozenset of names of games, got {games!r}")
    wrong = Abilities(agent).find_unknown_need()
    if wrong:
        raise Unfit(f"agent {agent.name} ({locate(agent)}) {wrong}")


def source_line(value: object) -> str | None:
    """Return the source of a class or a function as `file:line`; None if it is unknown."""
    try:
        return f"{inspect.getsourcefile(value)}:{inspect.getsourcelines(value)[1]}"  # type: ignore[arg-type]
    except (OSError, TypeError):
        return None


def locate(value: Any) -> str:
    """Return the source of a value as `file:line`, or its module if the line is unknown."""
    return source_line(value) or str(getattr(value, "__module__", "unknown file"))
