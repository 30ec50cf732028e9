"""Reads a spec in a process of its own, and none of its plugins in the server: `python -m arena_web.spec_check`."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arena import ArenaError
from arena.api.cli import say
from arena.api.run import python_environment, signal_name
from arena.api.spec import load_spec

EXIT_FAULTS = 2
"""The exit code where the spec has faults, which are on stderr."""


def check_spec(path: Path, plugins: Sequence[str]) -> None:
    """Raise ArenaError with the faults of a spec, or where a plugin ends the process that reads it."""
    command = [sys.executable, "-P", "-m", __name__, str(path), *plugins]
    done = subprocess.run(command, env=python_environment(), stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - this file
    said = done.stderr.rstrip("\n")
    if done.returncode < 0:
        raise ArenaError(f"{path}: the process that read it was ended by {signal_name(-done.returncode)}")
    if done.returncode:
        raise ArenaError(said)
    if said:
        say(said)


def main() -> int:
    """Load the spec that the first word names, with the plugins that follow; return the exit code."""
    path, *plugins = sys.argv[1:]
    try:
        load_spec(Path(path), plugins=tuple(plugins))
    except ArenaError as error:
        print(error, file=sys.stderr)
        return EXIT_FAULTS
    return 0


if __name__ == "__main__":
    sys.exit(main())
