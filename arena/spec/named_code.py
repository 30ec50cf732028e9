"""Lists the code that a spec names. Loading a spec runs this code, so the spec of a store is checked before it is loaded."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from os.path import realpath
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
    given = values.get("plugins")
    texts = [one for one in given if isinstance(one, str) and one] if isinstance(given, list) else []
    listed = [PluginPlace.locate(document.folder, name) for name in texts]
    found: dict[str, str | None] = {PluginPlace(name).real: name for name in (*plugins, *listed)}
    folder = realpath(document.folder)
    for key, value in _find_code(values.get("agents"), keys):
        found[f"{key} {_join_words(value)} in {folder}"] = None
    positions = values.get("positions")
    for one in positions.values() if isinstance(positions, dict) else [positions]:
        if one is not None and not isinstance(one, list):
            found[f"positions {_join_words(one)} in {folder}"] = None
    return found


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
