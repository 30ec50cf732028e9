"""The search engines in this process. Plugins add them to run the inner loops of searches in another form, such as compiled."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter, process_time
from typing import Any

from arena.lazy import find_plugins, list_blocked
from arena.parts import SearchEngine
from arena.search import Search

PLAIN = "ARENA_PLAIN"
"""The environment variable that is set to 1 if every search must run uncompiled."""
COMPILE = "ARENA_COMPILE"
"""The environment variable that is set to `always` if everything that can be compiled is compiled before the first match."""
_engines: dict[str, SearchEngine] = {}
_complete = False
"""Whether the installed plugins have been loaded."""


def add_search_engine(engine: SearchEngine) -> None:
    """Use an engine in this process from now on. It replaces an engine with the same name."""
    _engines[engine.name] = engine


def note_installed() -> None:
    """Note that the installed plugins have been loaded, so that decisions need not load them."""
    global _complete  # noqa: PLW0603 - a fact about the whole process
    _complete = True


def search_engines() -> list[SearchEngine]:
    """Return the engines of the plugins that are loaded. If none is loaded, as in a script, load the installed plugins."""
    if not _complete:
        for name, point in find_plugins().items():
            with suppress(Exception):  # commands report faults of a plugin
                for engine in () if name in list_blocked() else getattr(point.load(), "arena_search_engines", list)():
                    add_search_engine(engine)
        note_installed()
    return list(_engines.values())


def find_loop(search: Search, loop: str, options: dict[str, Any]) -> Any:
    """Return the loop for a decision from the first engine that has one; None if the agent must run its own loop."""
    if not _complete:  # for example in a script that calls `arena.play`
        began, used = perf_counter(), process_time()
        search_engines()
        search._meter.pause(perf_counter() - began, process_time() - used)  # noqa: SLF001 - not charged to the agent
    for engine in _engines.values():
        found = engine.find_loop(search, loop, options)
        if found is not None:
            return found
    return None


def compiles_first() -> bool:
    """Return whether everything that can be compiled is compiled before the first match, so that no cache decides how it runs."""
    return os.environ.get(COMPILE) == "always"


@contextmanager
def running(*, plain: bool, compiled: bool) -> Iterator[None]:
    """Run all searches `plain`, or compile all that can be compiled before the first match, inside the block.

    This applies to this process and to processes that it starts. If both are false, the environment decides.
    """
    before = {name: os.environ.pop(name, None) for name in (PLAIN, COMPILE) if plain or compiled}
    if plain:
        os.environ[PLAIN] = "1"
    if compiled:
        os.environ[COMPILE] = "always"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
