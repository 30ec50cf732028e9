"""What a command says beside its result, on stderr, and whether with whole tracebacks."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins


def say(line: str) -> None:
    """Write a line to stderr."""
    print(line, file=sys.stderr)


def say_problems(registry: Registry) -> None:
    """Say which installed plugins were left out, and which members of classes are ignored, a line each."""
    for plugin in registry.plugins:
        if plugin.problem is not None:
            say(f"plugin {plugin.source} left out: {plugin.problem}")
        for note in plugin.notes:
            say(f"note: {note}")


def load(plugins: Iterable[str | Path]) -> Registry:
    """Load every plugin, and say what was left out."""
    registry = load_plugins(plugins)
    say_problems(registry)
    return registry


def tracebacks_wanted() -> bool:
    """Whether the user asked for whole tracebacks, by the option --traceback or the environment."""
    return os.environ.get("ARENA_TRACEBACK", "") not in ("", "0")
