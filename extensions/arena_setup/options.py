"""Options of commands that take a game and its agents from the command line."""

from collections.abc import Callable
from typing import Any

import click

from arena import Limits
from arena.api.cli import plugin_option, seed_option

Callback = Callable[..., Any]
"""A function that becomes a command."""


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
    click.option("--nodes", type=click.IntRange(1, Limits.MAX_COUNT), help="The same as --limits nodes=N."),
    click.option("--seconds", type=click.FloatRange(0, 10**7, min_open=True), help="The same as --limits seconds=S."),
)


def _add_options(command: Callback, *options: Callable[[Callback], Callback]) -> Callback:
    for option in reversed(options):
        command = option(command)
    return command
