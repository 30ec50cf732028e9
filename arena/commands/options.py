"""Options of several commands."""

import os
from collections.abc import Callable
from typing import Any

import click

from arena.limits import MAX_COUNT
from arena.secret import is_digits

Callback = Callable[..., Any]
"""A function that becomes a command."""

SEED = click.IntRange(0, 2**63 - 1)


class RunSeed(click.ParamType[int | str]):
    """A number, or the 32 hexadecimal digits of a seed that was secret."""

    name = "number|digits"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number or the digits; BadParameter for anything else."""
        if isinstance(value, str) and is_digits(value.lower()):
            return value.lower()
        if isinstance(value, str) and not value.lstrip("+-").isdecimal():
            self.fail(f"expected a whole number, or the 32 hexadecimal digits of a secret seed, got {value!r}", param, ctx)
        return SEED.convert(value, param, ctx)


plugin_option = click.option("--plugin", "plugins", multiple=True, metavar="FILE|MODULE", help="Load a plugin; may be repeated.")


def workers_for(asked: int | None, matches: int) -> int:
    """The number of processes that play: as asked for, else one a core; never more than there are matches."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(asked or cores, matches))


def seed_option(text: str) -> Callable[[Callback], Callback]:
    """`--seed`, 0 by default, with its help text."""
    return click.option("--seed", type=SEED, default=0, show_default=True, help=text)


def games_option(text: str) -> Callable[[Callback], Callback]:
    """`--game`, which may be repeated, with its help text."""
    return click.option("--game", "games", multiple=True, metavar="NAME", help=text)


def match_options(command: Callback) -> Callback:
    """Add the options of `play` and `solve`: the board, the heuristic, the budget, and how fast positions follow each other."""
    delay = click.option("--delay", type=click.FloatRange(0, 3600), metavar="S", help="Seconds between two positions.")
    return _add_options(command, *_BOARD, delay, plugin_option)


def board_options(command: Callback) -> Callback:
    """Add the options of a match without a viewer: the board, the heuristic, the budget."""
    return _add_options(command, *_BOARD, plugin_option)


_BOARD = (
    click.option(
        "--set", "given", multiple=True, metavar="KEY=VALUE", help="A parameter of the game, as rows=4; may be repeated."
    ),
    seed_option("For the position and everything else random."),
    click.option("--position", metavar="TEXT", help="Start from there, in the game's notation."),
    click.option("--heuristic", metavar="NAME", help="For every agent that has none of its own."),
    click.option("--limits", metavar="KEY=VALUE", help="Of a decision, as nodes=1000,depth=4; none lifts them."),
    click.option("--nodes", type=click.IntRange(1, MAX_COUNT), help="The same as --limits nodes=N."),
    click.option("--seconds", type=click.FloatRange(0, 10**7, min_open=True), help="The same as --limits seconds=S."),
)


def _add_options(command: Callback, *options: Callable[[Callback], Callback]) -> Callback:
    for option in reversed(options):
        command = option(command)
    return command
