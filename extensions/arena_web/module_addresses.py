"""Addresses of JavaScript modules of plugins: those that a plugin process has read, and no others, can be asked for."""

from hashlib import blake2b
from typing import Any

from arena_web.views import served

MAX_MODULES = 64
"""Modules that are kept; of more than that the latest."""


class ModuleAddresses:
    """A table of sources by a hash of their text. No address is a path, so none leads to another file."""

    def __init__(self) -> None:
        self._sources: dict[str, bytes] = {}

    def put(self, told: dict[str, Any], key: str) -> None:
        """Replace the source at a key, in the answer of a plugin process, by its address; None stays None."""
        if not isinstance(told.get(key), str):
            told[key] = None
            return
        source = served(told[key]).encode("utf-8", "replace")
        name = f"{blake2b(source, digest_size=16).hexdigest()}.js"
        self._sources.pop(name, None)
        self._sources[name] = source
        while len(self._sources) > MAX_MODULES:
            del self._sources[next(iter(self._sources))]
        told[key] = f"/modules/{name}"

    def get(self, name: str) -> bytes | None:
        """Return the source at an address; None if there is none."""
        return self._sources.get(name)
