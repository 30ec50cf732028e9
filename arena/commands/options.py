"""Options that several commands share."""

import os
from collections.abc import Callable
from math import isfinite
from typing import Any

import click
from click.core import ParameterSource

from arena.console.project import add_project, no_project_option
from arena.secret import is_digits

Callback = Callable[..., Any]
"""A function that becomes a command."""

SEED = click.IntRange(0, 2**63 - 1)


class Number(click.FloatRange):
    """The type of all options that are numbers with a fraction: it refuses infinity and NaN, which Click accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Raises BadParameter if it is not finite or not in the range."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"expected a finite number, got {value!r}", param, ctx)
        return number


class RunSeed(click.ParamType[int | str]):
    """A number, or the 32 hexadecimal digits of a seed that was secret."""

    name = "number|digits"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number or the digits. Raises BadParameter for anything else."""
        if isinstance(value, str) and is_digits(value.lower()):
            return value.lower()
        if isinstance(value, str) and not value.lstrip("+-").isdecimal():
            self.fail(f"expected a whole number, or the 32 hexadecimal digits of a secret seed, got {value!r}", param, ctx)
        return SEED.convert(value, param, ctx)


def plugin_option(command: Callback) -> Callback:
    """Add `--plugin` and `--no-project`. The command gets the plugins of the project file and of `--plugin`."""
    text = "Load a plugin; may be repeated."
    names = ("--plugin", "plugins")
    option = click.option(*names, multiple=True, metavar="FILE|MODULE", callback=add_project, help=text)
    return option(no_project_option(command))


def is_given(parameter: str) -> bool:
    """Return whether the command line sets a parameter, such as `plugins`, which a project file may also set."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def workers_for(asked: int | None, matches: int) -> int:
    """Return the number of worker processes: `asked` or, if it is None, one per core; in either case at most `matches`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(asked or cores, matches))
