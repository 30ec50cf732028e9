"""Finds shadowed plugins: a nearby file defines the name, but another copy was loaded, so that edits have no effect."""

import inspect
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

LARGEST = 1 << 20
"""The most bytes of a file that is read."""
MOST = 200
"""The most files that are read."""


def namesakes(key: tuple[str, ...], value: Any, folder: Path) -> list[Path]:
    """Files in `folder` and its subfolders that seem to define the same thing, but were not loaded.

    Recognised by their text: a line `name = "..."` or a decorator `@heuristic("...")` with the name of `key`.
    """
    loaded = source_file(value)
    written = re.compile(rf"""^\s*name\b[^=\n]*=\s*["']{re.escape(key[-1])}["']""", re.MULTILINE)
    if key[0] == "heuristic":
        written = re.compile(rf"""@heuristic\(\s*["']{re.escape(key[-1])}["']""")
    return [file for file in _sources(folder) if file.resolve() != loaded and written.search(_text(file))]


def source_file(value: Any) -> Path | None:
    """The file that defines a class or a function; None if there is none."""
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return None
    return Path(file).resolve() if file else None


def _sources(folder: Path) -> Iterator[Path]:
    """Python files of a folder and its subfolders, at most MOST."""
    yield from islice((file for pattern in ("*.py", "*/*.py") for file in sorted(folder.glob(pattern)) if file.is_file()), MOST)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace") if file.stat().st_size <= LARGEST else ""
    except OSError:
        return ""
