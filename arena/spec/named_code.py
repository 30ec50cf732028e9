"""Lists the code that a spec names. Loading a spec runs this code, so the spec of a store is checked before it is loaded."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from os.path import realpath, sep
from pathlib import Path
from typing import Any

from arena.plugins.registry import Registry
from arena.plugins.sources import PluginPlace
from arena.spec.document import Document
from arena.spec.source import code_keys


def list_named_code(document: Document, plugins: Sequence[str], registry: Registry) -> dict[str, str | None]:
    """Return the plugins, programs and other files that would be read when a spec is loaded; the keys are their paths.

    `plugins` were requested in addition to the plugins of the `document`. The agent sources in `registry` declare which keys of
    an entry name code. The value for a path is the plugin in the form that `--plugin` accepts, or None for a program, another
    version of a plugin, or a file with positions. No file is opened.
    """
    values = document.values
    keys = code_keys(registry)
    listed = [PluginPlace.locate(document.folder, name) for name in _list_plugins(document)]
    found: dict[str, str | None] = {PluginPlace(name).real: name for name in (*plugins, *listed)}
    folder = realpath(document.folder)
    for key, value in _find_code(values.get("agents"), keys):
        found[f"{key} {_join_words(value)} in {folder}"] = None
    positions = values.get("positions")
    for one in positions.values() if isinstance(positions, dict) else [positions]:
        if one is not None and not isinstance(one, list):
            found[f"positions {_join_words(one)} in {folder}"] = None
    return found


def follow_moved_plugins(document: Document, plugins: Sequence[str], allowed: Collection[str]) -> tuple[Document, Sequence[str]]:
    """Return a `document` and the `plugins` of its run, with the paths that plugin files have now.

    A plugin file has moved if it is not in `allowed`, but exactly one file in `allowed` has its name, because a store and its
    plugins have been copied to another folder. If the file still has its path relative to the spec, the spec has moved, too.
    """
    folder = document.folder
    for name in _list_plugins(document):
        now = _find_moved(PluginPlace.locate(folder, name), allowed)
        if now is not None and now.endswith(f"{sep}{name}"):
            folder = Path(now.removesuffix(f"{sep}{name}"))
            break
    moved = {name: _find_moved(PluginPlace.locate(folder, name), allowed) or name for name in _list_plugins(document)}
    values = {**document.values, "plugins": [*moved.values()]} if moved else document.values
    return replace(document, values=values, folder=folder), [_find_moved(name, allowed) or name for name in plugins]


def _list_plugins(document: Document) -> list[str]:
    given = document.values.get("plugins")
    return [one for one in given if isinstance(one, str) and one] if isinstance(given, list) else []


def _find_moved(plugin: str, allowed: Collection[str]) -> str | None:
    """Return the file in `allowed` to which a plugin file has been moved; None if it has not."""
    place = PluginPlace(plugin)
    if not place.is_file or place.real in allowed:
        return None
    found = [one for one in allowed if Path(one).is_absolute() and Path(one).name == Path(place.real).name]
    return found[0] if len(found) == 1 else None


def _find_code(value: Any, keys: Collection[str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in keys:
                yield key, inner
            else:
                yield from _find_code(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from _find_code(inner, keys)


def _join_words(value: Any) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)
