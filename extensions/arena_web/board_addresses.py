"""Addresses of the modules that draw boards: what a desk has read, and nothing else, can be asked for."""

from hashlib import blake2b
from typing import Any

from arena_web.views import served

MAX_MODULES = 64
"""Modules that are kept; of more than that the latest."""


class BoardAddresses:
    """A table of sources by a hash of their text. No address is a path, so none leads to another file."""

    def __init__(self) -> None:
        self._sources: dict[str, bytes] = {}

    def put(self, game: dict[str, Any]) -> None:
        """Replace the source of the board, in what a desk tells of a game, by its address; None stays None."""
        if not isinstance(game.get("board"), str):
            game["board"] = None
            return
        source = served(game["board"]).encode("utf-8", "replace")
        name = f"{blake2b(source, digest_size=16).hexdigest()}.js"
        self._sources.pop(name, None)
        self._sources[name] = source
        while len(self._sources) > MAX_MODULES:
            del self._sources[next(iter(self._sources))]
        game["board"] = f"/boards/{name}"

    def get(self, name: str) -> bytes | None:
        """Return the source at an address; None where there is none."""
        return self._sources.get(name)
