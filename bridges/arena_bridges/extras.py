"""The libraries that bridges need; each is an extra."""

import importlib
from types import ModuleType

from arena import ArenaError
from arena.api.cli import install_command


class MissingExtra(ArenaError):
    """The library of a bridge is not installed."""


def library(module: str, extra: str) -> ModuleType:
    """Return the module of a library. If it is missing, MissingExtra names the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the library is installed, but one of its dependencies is missing
        raise MissingExtra(f"{module.partition('.')[0]} is not installed: {install_command(extra)}") from error
