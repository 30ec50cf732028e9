"""What a Python process that is started from here imports: the same as this one, in whatever folder it runs."""

import os
import sys


def import_path() -> list[str]:
    """The folders and archives that modules are imported from, as whole paths.

    The empty entry, by which an interactive Python, `python -c` and a notebook import from the working folder, is that folder.
    """
    return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - links stay as they are called


def python_environment() -> dict[str, str]:
    """The variables of this process for another Python that is to import the same."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(import_path())}
