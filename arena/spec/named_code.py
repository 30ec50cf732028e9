"""The code that a spec names. Whoever loads a spec runs it, so of a store's spec it is looked at before."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from os.path import realpath
from typing import Any

from arena.plugins.sources import beside, real_place
from arena.spec.document import Document


def named_code(document: Document, plugins: Sequence[str] = ()) -> dict[str, str | None]:
    """Return the plugins, programs and files that loading a spec would read, by where they are.

    `plugins` are those that were asked for beside it. The value is the plugin as `--plugin` takes it, None for what is none: a
    program, another version of a plugin, a file of positions. Nothing is opened.
    """
    values = document.values
    listed = [beside(document.folder, name) for name in _texts(values.get("plugins"))]
    found: dict[str, str | None] = {real_place(name): name for name in (*plugins, *listed)}
    folder = realpath(document.folder)
    for key, value in _entries(values.get("agents")):
        found[f"{key} {_words(value)} in {folder}"] = None
    positions = values.get("positions")
    if positions is not None and not isinstance(positions, list):
        found[f"positions {_words(positions)} in {folder}"] = None
    return found


_CODE = ("command", "plugin", "version")
"""The keys of an entry, or of its `agent`, that name code."""


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of entries that names code, at whatever depth, such as in a sweep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _CODE:
                yield key, inner
            else:
                yield from _entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


def _words(value: Any) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []
