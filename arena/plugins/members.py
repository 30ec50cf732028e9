"""Optional members of games and agents whose names an older plugin may already use for something of its own.

A member of another shape is ignored with a note: a plugin that loads today loads tomorrow. This is the one place that decides it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import getattr_static, isclass, signature
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.errors import shown
from arena.game import Game
from arena.traits import TRAITS

LONGEST_MARK = 8
"""Characters of a mark of a grid."""
MOST_CELLS = 4096
"""Cells of a grid: 64 by 64."""
GRID = f"rows of equal length, each a list of texts of at most {LONGEST_MARK} characters, and at most {MOST_CELLS:,} cells"
HEURISTIC = "heuristic"
"""The key of `Agent.proposed` for games that have a default heuristic, beside the traits."""
_COLOR = re.compile(r"#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-zA-Z]+")


class Member(NamedTuple):
    """One optional member: its default, its shape in words, and the test for it."""

    default: Any
    expected: str
    test: Callable[[Any], bool]

    def fits(self, given: Any) -> bool:
        """Tell whether `given` has the shape; False for what raises when it is looked at."""
        try:
            return self.test(given)
        except Exception:  # the author's own, which has worked until now
            return False


def member(kind: type[Game] | type[Agent], name: str) -> Any:
    """Return the member `name` of a class of games or agents; the default if the class has something else of that name.

    Members of games are inherited. A flag of an agent holds for the class that sets it alone: a derived class is another agent.
    """
    wanted = _members(kind)[name]
    given = _given(kind, name, wanted.default)
    return given if wanted.fits(given) else wanted.default


def gives_grid(kind: type[Game]) -> bool:
    """Tell whether the author of a game has written `grid`."""
    return member(kind, "grid") is not None


def ignored(kind: type) -> Iterator[str]:
    """Yield a note for every member of a plugin's class that has the name of an optional one, but not its shape."""
    required = {one.name for one in fields(kind) if one.default is MISSING} if is_dataclass(kind) else set()
    for name, wanted in _members(kind).items():
        given = _given(kind, name, wanted.default)
        field = name in required  # which leaves no attribute in the class, or a slot
        if not wanted.fits(given) or (field and given is wanted.default):
            got = "a field of a dataclass" if field else shown(given)
            yield f"{name}: expected {wanted.expected}, got {got}, which is ignored"


def grid_fault(cells: Any) -> str | None:
    """Return the fault of what `grid` has returned, as a message shows it; None for rows of short texts."""
    if not _listed(cells) or not all(map(_listed, cells)):
        return shown(cells)
    lengths = sorted({len(row) for row in cells})
    if len(lengths) != 1 or lengths[0] == 0:
        return f"rows of {' and '.join(map(str, lengths)) or 'no'} cells"
    if len(cells) * lengths[0] > MOST_CELLS:
        return f"{len(cells):,} rows of {lengths[0]:,} cells"
    odd = [mark for row in cells for mark in row if not isinstance(mark, str) or len(mark) > LONGEST_MARK]
    return f"the cell {shown(odd[0])}" if odd else None


def _members(kind: type) -> Mapping[str, Member]:
    return _OF_GAMES if issubclass(kind, Game) else _OF_AGENTS if issubclass(kind, Agent) else {}


def _given(kind: type, name: str, default: Any) -> Any:
    """The attribute of a class, whatever it is; descriptors are not called."""
    return getattr_static(kind, name, default) if issubclass(kind, Game) else vars(kind).get(name, default)


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_grid(given: Any) -> bool:
    """Whether a member can be called with one state, or is not there."""
    if given is None:
        return True
    function = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
    if isclass(function) or not callable(function):
        return False
    signature(function).bind(*[None] * (1 if isinstance(given, staticmethod) else 2))  # raises if it cannot be called so
    return True


def _are_colors(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(mark, str) and isinstance(color, str) and _COLOR.fullmatch(color) for mark, color in given.items()
    )


def _are_weights(given: Any) -> bool:
    known = {*TRAITS, HEURISTIC}
    return isinstance(given, Mapping) and all(word in known and type(weight) is int for word, weight in given.items())


_OF_GAMES = {
    "board": Member(
        None,
        "the path of a JavaScript file or None",
        lambda given: given is None or (isinstance(given, str) and given.endswith((".js", ".mjs"))),
    ),
    "grid": Member(None, "a method grid(self, state)", _is_grid),
    "grid_colors": Member({}, "a mapping of marks to colours such as '#d33' or 'crimson'", _are_colors),
}
_OF_AGENTS = {
    "reference": Member(
        False,
        "True, False, 'games' or 'puzzles'",
        lambda given: isinstance(given, bool) or (isinstance(given, str) and given in ("games", "puzzles")),
    ),
    "proposed": Member({}, "a mapping of traits to whole numbers", _are_weights),
    "uses_heuristic": Member(True, "True or False", lambda given: isinstance(given, bool)),
}
