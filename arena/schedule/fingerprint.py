"""What code a spec plays with: the version and a hash of the source of every plugin that it uses."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from arena.errors import CodeChanged
from arena.plugins.dependencies import beside, imported, sources
from arena.plugins.registry import OWN, Registry, Source
from arena.spec import Board, Spec


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The version of a plugin, None where it has none, and a hash of its source."""

    version: str | None
    hash: str


def fingerprints(spec: Spec) -> dict[str, Fingerprint]:
    """The fingerprint of every plugin and program that a spec uses, by the name of its source.

    A plugin in a package counts with all Python files of the package, a single file alone, a program with every word of its
    command that names a file; each with what it imports, but for Python itself and installed packages.
    """
    found: dict[str, set[Path]] = {}
    versions: dict[str, str | None] = {}
    for source, used in _used(spec):
        found.setdefault(source.name, set()).update(_files(used))
        versions[source.name] = source.version
    for name, files in found.items():
        if not name.startswith(OWN):
            files |= {one for file in list(files) for one in imported(file)}
    for words, folder in _commands(spec):
        files = found.setdefault(" ".join(words), set())
        for file in [place for word in words if (place := folder / word).is_file()]:
            files |= {file, *beside(file)}
        versions.setdefault(" ".join(words), None)
    return {name: Fingerprint(versions[name], _hash(files)) for name, files in sorted(found.items())}


def check_unchanged(before: Mapping[str, Fingerprint], now: Mapping[str, Fingerprint]) -> None:
    """CodeChanged where the source of anything is another now."""
    changed = [name for name, found in before.items() if name in now and now[name].hash != found.hash]
    if changed:
        raise CodeChanged(
            f"{', '.join(changed)} changed while the run was going on, so it was ended; what was played so far was played with "
            "it as it was: put it back and run the same command again, or run it with --fresh"
        )


def trusted(spec: Spec) -> bool:
    """Tell whether all that plays came with arena, in whatever process.

    An agent in a process of its own is no exception: it knows its parent, and may kill it unless it sits in a sandbox.
    """
    return not any(_commands(spec)) and all(source.own for source, _ in _used(spec))


def _used(spec: Spec) -> Iterator[tuple[Source, Any]]:
    for board in spec.boards:
        for key in _keys(board):
            source = spec.registry.sources.get(key)
            if source is not None and not (key[0] == "format" and source.own):  # that would be all of arena
                yield source, _value(spec.registry, key)


def _keys(board: Board) -> Iterator[tuple[str, ...]]:
    yield "game", board.name
    yield "format", board.format.name
    for seat in board.seats:
        if seat.heuristic is not None:
            yield "heuristic", board.name, seat.heuristic
        yield "agent", seat.agent


def _value(registry: Registry, key: tuple[str, ...]) -> Any:
    tables: dict[str, Mapping[Any, Any]] = {
        "game": registry.games,
        "agent": registry.agents,
        "heuristic": registry.heuristics,
        "format": registry.formats,
    }
    return tables[key[0]][key[1] if len(key) == 2 else key[1:]]


def _commands(spec: Spec) -> Iterator[tuple[tuple[str, ...], Path]]:
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is not None and seat.program.command is not None:
                yield seat.program.command, Path(seat.program.folder)


def _files(used: Any) -> list[Path]:
    module = sys.modules.get(getattr(used, "__module__", None) or "")
    top = sys.modules.get(module.__name__.partition(".")[0]) if module else None
    folders = list(getattr(top, "__path__", []))
    if folders:
        return [file for folder in folders for file in sources(Path(folder))]
    place = getattr(module, "__file__", None)
    return [Path(place)] if place else []


def _hash(files: set[Path]) -> str:
    whole = blake2b(digest_size=16)
    for file in sorted(files):
        content = file.read_bytes()
        whole.update(f"{file.name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()
