"""Notices of a command, which go to stderr so that stdout holds only its result."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from arena.console.output import erase_live_line
from arena.errors import PluginError, escape_controls
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.whole_files import cache_folder, describe_cache_fault

if TYPE_CHECKING:
    from arena.spec import Spec


def say(line: str) -> None:
    """Write a line to stderr. It may name a file, so characters that a terminal would interpret are escaped."""
    erase_live_line()
    print(escape_controls(line), file=sys.stderr)


def say_problems(registry: Registry) -> None:
    """Write a line to stderr for each installed plugin that could not be loaded, and for each note about one."""
    for plugin in registry.plugins:
        if plugin.problem is not None and not plugin.blocked:
            say(f"plugin {plugin.source} left out: {plugin.problem}")
        for note in plugin.notes:
            say(f"note: {note}")


def say_notes(spec: "Spec", *, quiet: bool = False) -> None:
    """Write to stderr which plugins could not be loaded and, unless `quiet` is true, the notes about a spec."""
    from arena.schedule.runner import isolation_notes, speed_notes  # imported here, because only commands with a spec need it
    from arena.spec.positions import repeat_notes

    say_problems(spec.registry)
    if not quiet and (fault := describe_cache_fault(cache_folder() / "compiled")):
        say(f"note: {fault}")
    for note in () if quiet else (*spec.notes, *repeat_notes(spec.boards), *isolation_notes(spec), *speed_notes(spec)):
        say(f"note: {note}")


def load(plugins: Iterable[str | Path], broken: list[PluginError] | None = None) -> Registry:
    """Load plugins, and write to stderr which ones could not be loaded. For `broken`, see `load_plugins`."""
    registry = load_plugins(plugins, broken=broken)
    say_problems(registry)
    return registry


def tracebacks_wanted() -> bool:
    """Return whether the user asked for full tracebacks, with the option --traceback or with the variable ARENA_TRACEBACK."""
    return os.environ.get("ARENA_TRACEBACK", "") not in ("", "0")
