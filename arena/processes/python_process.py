"""Python processes that arena starts: their import path, their pipes, and the names of the signals that end them."""

import os
import signal
import sys
from typing import BinaryIO


class PythonProcess:
    """Functions for Python processes that arena starts: some for the parent process, some for the process itself."""

    @staticmethod
    def import_path() -> list[str]:
        """Return the folders and archives from which modules are imported, as absolute paths.

        The empty entry, through which an interactive Python and a notebook import from the working folder, becomes that
        folder.
        """
        return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - `resolve` would follow links

    @staticmethod
    def environment() -> dict[str, str]:
        """Return an environment in which another Python process can import the same modules."""
        return {**os.environ, "PYTHONPATH": os.pathsep.join(PythonProcess.import_path())}

    @staticmethod
    def signal_name(number: int) -> str:
        """Return the usual name of a signal."""
        try:
            return signal.Signals(number).name
        except ValueError:
            return f"signal {number}"

    @staticmethod
    def take_pipes() -> tuple[BinaryIO, BinaryIO]:
        """Return stdin and stdout of this process, and hide both from plugins.

        After that, plugins read nothing from stdin, and their output goes to stderr.
        """
        requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return requests, replies
