"""Options of commands that take a game and its agents from the command line."""

from collections.abc import Callable
from typing import Any

import click

from arena import Limits
from arena.api.cli import Number, plugin_option

Callback = Callable[..., Any]
"""A function that becomes a command."""


def seed_option(text: str) -> Callable[[Callback], Callback]:
    """Return the option `--seed`, which is 0 by default and has the help `text`."""
    return click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help=text)


def limits_option(text: str) -> Callable[[Callback], Callback]:
    """Return the option `--limits`, with the help `text`. If it is repeated, its value has all words, joined by commas."""

    def join(_context: click.Context, _option: click.Parameter, words: tuple[str, ...]) -> str | None:
        return ",".join(words) if words else None

    return click.option("--limits", multiple=True, callback=join, metavar="KEY=VALUE", help=text)


def match_options(command: Callback) -> Callback:
    """Add the options of `play` and `solve`: the board, the heuristic, the budget, and how fast positions follow each other."""
    delay = click.option("--delay", type=Number(0, 3600), metavar="S", help="Seconds between two positions.")
    return _add_options(command, *_BOARD, delay, plugin_option)


def board_options(command: Callback) -> Callback:
    """Add the options for a match that is not shown: the board, the heuristic and the budget."""
    return _add_options(command, *_BOARD, plugin_option)


def set_option(text: str) -> Callable[[Callback], Callback]:
    """Return the option `--set` for parameters of a game, with the help `text`."""
    return click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help=text)


_BOARD = (
    set_option("A parameter of the game, such as rows=4; may be repeated."),
    seed_option("Seed of the position and all other random numbers."),
    click.option("--position", metavar="TEXT", help="Start from this position, in the game's notation."),
    click.option(
        "--heuristic", metavar="NAME", help="The heuristic of agents that do not set one, such as gap or pattern-db:tokens=4."
    ),
    limits_option("Limits per decision, such as nodes=1000,depth=4; may be repeated. `none` removes all limits."),
    click.option("--nodes", type=click.IntRange(1, Limits.MAX_COUNT), help="The same as --limits nodes=N."),
    click.option("--seconds", type=Number(0, 10**7, min_open=True), help="The same as --limits seconds=S."),
)


def _add_options(command: Callback, *options: Callable[[Callback], Callback]) -> Callback:
    for option in reversed(options):
        command = option(command)
    return command
