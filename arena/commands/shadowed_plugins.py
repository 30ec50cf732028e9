"""The classic of plugin authors: an edit shows no effect, because another copy of the code is what was loaded."""

import inspect
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

LARGEST = 1 << 20
"""Bytes of a file that is looked into."""
MOST = 200
"""Files that are looked into."""


def namesakes(key: tuple[str, ...], value: Any, folder: Path) -> list[Path]:
    """Files in `folder`, or in a folder in it, that seem to define the same thing, but are not what was loaded.

    They are told by their text: a line `name = "..."` or a decorator `@heuristic("...")` with the name of `key`.
    """
    loaded = source_file(value)
    written = re.compile(rf"""^\s*name\b[^=\n]*=\s*["']{re.escape(key[-1])}["']""", re.MULTILINE)
    if key[0] == "heuristic":
        written = re.compile(rf"""@heuristic\(\s*["']{re.escape(key[-1])}["']""")
    return [file for file in _sources(folder) if file.resolve() != loaded and written.search(_text(file))]


def source_file(value: Any) -> Path | None:
    """The file that a class or a function is written in; None where nobody knows."""
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return None
    return Path(file).resolve() if file else None


def _sources(folder: Path) -> Iterator[Path]:
    """Python files of a folder and of the folders in it."""
    yield from islice((file for pattern in ("*.py", "*/*.py") for file in sorted(folder.glob(pattern)) if file.is_file()), MOST)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace") if file.stat().st_size <= LARGEST else ""
    except OSError:
        return ""
