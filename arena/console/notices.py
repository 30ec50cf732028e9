"""Notices of a command on stderr, beside its result on stdout."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins

if TYPE_CHECKING:
    from arena.spec import Spec


def say(line: str) -> None:
    """Write a line to stderr."""
    print(line, file=sys.stderr)


def say_problems(registry: Registry) -> None:
    """Write a line to stderr for each installed plugin that was left out, and for each member of a class that is ignored."""
    for plugin in registry.plugins:
        if plugin.problem is not None:
            say(f"plugin {plugin.source} left out: {plugin.problem}")
        for note in plugin.notes:
            say(f"note: {note}")


def say_notes(spec: "Spec", *, quiet: bool = False) -> None:
    """Write the plugins that were left out and, unless `quiet`, the notes of a spec to stderr."""
    from arena.schedule.runner import isolation_notes  # a spec has loaded them already; otherwise they are not needed
    from arena.spec.positions import repeat_notes

    say_problems(spec.registry)
    for note in () if quiet else (*spec.notes, *repeat_notes(spec.boards), *isolation_notes(spec)):
        say(f"note: {note}")


def load(plugins: Iterable[str | Path]) -> Registry:
    """Load every plugin, and write those that were left out to stderr."""
    registry = load_plugins(plugins)
    say_problems(registry)
    return registry


def tracebacks_wanted() -> bool:
    """Return whether the user asked for whole tracebacks, by the option --traceback or by ARENA_TRACEBACK."""
    return os.environ.get("ARENA_TRACEBACK", "") not in ("", "0")
