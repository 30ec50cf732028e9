"""The search engines of this process: other forms of the inner loops of searches, which plugins give."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from time import perf_counter, process_time
from typing import Any

from arena.parts import SearchEngine
from arena.search import Search

PLAIN = "ARENA_PLAIN"
"""The environment variable that is 1 if every search must run plain."""
_engines: dict[str, SearchEngine] = {}
_complete = False
"""Whether the installed plugins have been loaded."""


def add_search_engine(engine: SearchEngine) -> None:
    """Use an engine in this process from now on; it replaces one of the same name."""
    _engines[engine.name] = engine


def note_installed() -> None:
    """Note that the installed plugins have been loaded, so that no decision looks for them."""
    global _complete  # noqa: PLW0603 - it is the process that has loaded them
    _complete = True


def search_engines() -> list[SearchEngine]:
    """Return the engines of the plugins that are loaded; if none has been, as in a script, of the installed ones."""
    if not _complete:
        for point in entry_points(group="arena"):
            with suppress(Exception):  # commands report the faults of a plugin
                for engine in getattr(point.load(), "arena_search_engines", list)():
                    add_search_engine(engine)
        note_installed()
    return list(_engines.values())


def find_loop(search: Search, loop: str, options: dict[str, Any]) -> Any:
    """Return the loop of the first engine that gives one for a decision; None if the agent must run its own."""
    if not _complete:  # as in a script that calls `arena.play`
        began, used = perf_counter(), process_time()
        search_engines()
        search._meter.pause(perf_counter() - began, process_time() - used)  # noqa: SLF001 - it is not the agent's time
    for engine in _engines.values():
        found = engine.find_loop(search, loop, options)
        if found is not None:
            return found
    return None


@contextmanager
def running_plain(*, wanted: bool) -> Iterator[None]:
    """Use no search engine for a while, in this process and in those that it starts, if that is `wanted`."""
    before = os.environ.get(PLAIN)
    if wanted:
        os.environ[PLAIN] = "1"
    try:
        yield
    finally:
        if wanted and before is None:
            del os.environ[PLAIN]
