"""The command new: the first file of a plugin."""

from collections.abc import Sequence
from pathlib import Path

from arena.console.notices import load
from arena.console.output import results_alone
from arena.scaffold import write


def new(kind: str, name: str, *, game: str | None, package: bool, plugins: Sequence[str]) -> int:
    """Write a file or a package into the working directory, print what was written, and what to do next."""
    with results_alone() as out:
        registry = load(plugins)
        written = write(kind, name, Path(), registry, game=game, package=package)
        print(*[f"wrote {file}" for file in written], sep="\n", file=out)
        print(f"next: arena try {written[0]}", file=out)
        if package:
            print(f"then: pip install --editable {name}", file=out)
    return 0
