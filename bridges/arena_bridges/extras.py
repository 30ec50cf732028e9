"""The libraries of the bridges, which are extras."""

import importlib
from types import ModuleType

from arena import ArenaError
from arena.version import install_command


class MissingExtra(ArenaError):
    """A bridge was used whose library is not installed."""


def library(module: str, extra: str) -> ModuleType:
    """Return the module of a library; MissingExtra with the command that installs it if it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the library is there, and something that it needs is not
        raise MissingExtra(f"{module.partition('.')[0]} is not installed: {install_command(extra)}") from error
