"""Python processes of arena: their import path, their pipes, and the names of the signals that end them."""

import os
import signal
import sys
from typing import BinaryIO


def import_path() -> list[str]:
    """Return the folders and archives from which modules are imported, as absolute paths.

    The empty entry, by which an interactive Python, `python -c` and a notebook import from the working folder, becomes that
    folder.
    """
    return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - links stay as they are called


def python_environment() -> dict[str, str]:
    """Return the environment for another Python process with the same imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(import_path())}


def signal_name(number: int) -> str:
    """Return the usual name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout of this process, and hide them from plugins from now on.

    Plugins then read nothing, and their output goes to stderr.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, replies
