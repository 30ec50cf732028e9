"""The libraries of the bridges, which are extras."""

import importlib
from types import ModuleType

from arena import ArenaError
from arena.api.cli import install_command


class MissingExtra(ArenaError):
    """The library of a bridge is not installed."""


def library(module: str, extra: str) -> ModuleType:
    """Return the module of a library; raises MissingExtra with the command that installs it if it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the library is installed, but one of its dependencies is missing
        raise MissingExtra(f"{module.partition('.')[0]} is not installed: {install_command(extra)}") from error
