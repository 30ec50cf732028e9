"""Descriptions of what plugins bring, for the commands that list and show it."""

from collections.abc import Sequence
from textwrap import wrap
from typing import IO, Any

from arena.compiled.edition import why_plain
from arena.configured import with_defaults
from arena.console.output import room
from arena.errors import ArenaError, foreign
from arena.game import Game
from arena.heuristic import bind
from arena.plugins.registry import Registry
from arena.traits import listed, traits

WIDTH = 110
"""Columns of text for people where the output is no terminal, and the most on a wide one."""


def text_width(out: IO[str]) -> int:
    """The columns that text for people may take."""
    return min(WIDTH, room(out) or WIDTH)


def paragraph(text: str, width: int, indent: str = "  ", hanging: str = "    ") -> str:
    """`text` on lines of `width` columns, the first behind `indent`, the others behind `hanging`; no name is broken."""
    return "\n".join(wrap(text, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False))


def summary(value: Any) -> str:
    """The first line of a docstring; empty if there is none."""
    return next(iter((value.__doc__ or "").strip().splitlines()), "")


def traits_of(kind: type[Game]) -> str:
    """The traits of a game with its default parameters, joined by commas; empty if it cannot be made without others."""
    game = with_defaults(kind)
    return "" if game is None else listed(traits(game))


def compiled_text(game: Game, heuristic: Any = None) -> str:
    """Return a word on whether searches of a game compile, with a heuristic if one is given, and why not."""
    evaluation = None if heuristic is None else foreign(lambda: bind(heuristic, game), lambda _: None)
    reason = why_plain(game, evaluation)
    return "by the extra fast" if reason is None else f"no, {reason}"


def default_games(registry: Registry, names: Sequence[str]) -> list[Game]:
    """The games of these names with their default parameters; ArenaError if one is unknown or needs others."""
    games = []
    for name in dict.fromkeys(names):
        try:
            games.append(registry.game(name)())
        except TypeError as error:
            raise ArenaError(f"--game {name}: it cannot be made without parameters: {error}") from error
    return games
