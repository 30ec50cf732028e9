"""Optional members of games and agents. An older plugin may use the name of such a member for something else.

A member with another type is ignored with a note, so that a plugin that loads today also loads with later versions. Only this
module decides which members are ignored.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from math import isfinite
from typing import Any, NamedTuple

from arena.agent import Agent, Hints
from arena.errors import abbreviate, call_foreign
from arena.game import Game, find_member, takes
from arena.limits import Limits
from arena.returns import is_number
from arena.traits import Traits

HEURISTIC = "heuristic"
"""A key of `Hints.proposed`, besides the traits. It stands for games that have a default heuristic."""
_COLOR = re.compile(r"#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-zA-Z]+")


class Member(NamedTuple):
    """One optional member: its default, a description of its type, and a test of the type."""

    default: Any
    expected: str
    test: Callable[[Any], bool]
    inherited: bool = True
    """False for a flag, which subclasses do not inherit."""

    def fits(self, given: Any) -> bool:
        """Return whether `given` has the right type; False if examining it raises an exception."""
        try:
            return self.test(given)
        except Exception:  # the value may be an object of the author, whose code may raise
            return False


def read_member(kind: type[Game] | type[Agent], name: str) -> Any:
    """Return the member `name` of a class of games or agents, or the default if the class uses the name for something else.

    Methods, and members of games, are inherited. A flag of an agent applies only to the class that sets it.
    """
    wanted = _members(kind)[name]
    given = _given(kind, name, wanted)
    return given if wanted.fits(given) else wanted.default


def needs_limit(agent: Agent, limits: Limits) -> bool:
    """Return what `Agent.needs_limit` returns; False if the agent does not define it or raises an exception."""
    method = read_member(type(agent), "needs_limit")
    return method is not None and call_foreign(lambda: bool(method.__get__(agent, type(agent))(limits)), lambda _: False)


def ask_refusal(agent: Agent, game: Game) -> str | None:
    """Return why an agent cannot play a game, from `Agent.refuses`; None if it can or does not define the method."""
    method = read_member(type(agent), "refuses")
    return None if method is None else method.__get__(agent, type(agent))(game)


def list_ignored(kind: type) -> Iterator[str]:
    """Yield a note for each member of a plugin's class that has the name of an optional member, but another type."""
    required = {one.name for one in fields(kind) if one.default is MISSING} if is_dataclass(kind) else set()
    for name, wanted in _members(kind).items():
        given = _given(kind, name, wanted)
        field = name in required  # the class may have no attribute for such a field, or a slot
        if not wanted.fits(given) or (field and given is wanted.default):
            got = "a field of a dataclass" if field else abbreviate(given)
            yield f"{name}: expected {wanted.expected}, got {got}, which is ignored"


def _members(kind: type) -> Mapping[str, Member]:
    return _OF_GAMES if issubclass(kind, Game) else _OF_AGENTS if issubclass(kind, Agent) else {}


def _given(kind: type, name: str, wanted: Member) -> Any:
    """Return an attribute as its class stores it; descriptors are not called."""
    return find_member(kind, name, wanted.default) if wanted.inherited else vars(kind).get(name, wanted.default)


def _takes_one(given: Any) -> bool:
    """Return whether a member is a method with one argument, or is missing."""
    return given is None or takes(given, 1)


def _method(name: str, parameters: str) -> Member:
    count = len(parameters.split(", ")) - 1
    default = vars(Game).get(name)
    return Member(default, f"a method {name}({parameters})", lambda given: given is default or takes(given, count))


def _are_hints(given: Any) -> bool:
    if not isinstance(given, Hints) or not isinstance(given.uses_heuristic, bool) or not isinstance(given.proposed, Mapping):
        return False
    known = {*Traits.WORDS, HEURISTIC}
    sound = all(word in known and type(priority) is int for word, priority in given.proposed.items())
    return sound and (isinstance(given.reference, bool) or given.reference in ("games", "puzzles"))


_OF_GAMES = {
    "board": Member(
        None,
        "the path of a JavaScript file or None",
        lambda given: given is None or (isinstance(given, str) and given.endswith((".js", ".mjs"))),
    ),
    "grid": Member(None, "a method grid(self, state)", _takes_one),
    "cells": _method("cells", "self, state, action"),
    "grid_colors": Member(
        {},
        "a mapping of marks to colours such as '#d33' or 'crimson'",
        lambda given: (
            isinstance(given, Mapping)
            and all(isinstance(mark, str) and isinstance(color, str) and _COLOR.fullmatch(color) for mark, color in given.items())
        ),
    ),
    "chance_outcomes": _method("chance_outcomes", "self, state"),
    "chance_stream": _method("chance_stream", "self, state"),
    "observation": _method("observation", "self, state, seat"),
    "resample": _method("resample", "self, observation, seat, rng"),
    "action_space": _method("action_space", "self"),
    "standing": _method("standing", "self, state"),
    "dialects": _method("dialects", "self"),
    "perfect_recall": Member(True, "True or False", lambda given: isinstance(given, bool)),
    "min_return": Member(-1.0, "a finite number", lambda given: is_number(given) and isfinite(given)),
    "default_moves": Member(
        None, "a positive whole number or None", lambda given: given is None or (type(given) is int and given > 0)
    ),
    "max_return": Member(1.0, "a number", is_number),
    "native": Member(False, "True or False", lambda given: isinstance(given, bool)),
}
_OF_AGENTS = {
    "hints": Member(
        Hints(),
        "an arena.Hints, with True, False, 'games' or 'puzzles' as reference and traits with whole numbers as proposed",
        _are_hints,
        inherited=False,
    ),
    "games": Member(
        frozenset(),
        "a frozenset of names of games",
        lambda given: isinstance(given, frozenset) and all(isinstance(name, str) for name in given),
    ),
    "needs_limit": Member(None, "a method needs_limit(self, limits)", _takes_one),
    "refuses": Member(None, "a method refuses(self, game)", _takes_one),
    "policy": Member(None, "a method policy(self, game, observation)", lambda given: given is None or takes(given, 2)),
    "copes": Member(frozenset(), "a set of texts such as {'chance'}", lambda given: isinstance(given, (set, frozenset))),
}
