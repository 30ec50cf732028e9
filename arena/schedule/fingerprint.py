"""The code that a spec uses: versions of plugins, and hashes of classes, of programs, and of the files that options name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os.path import isfile
from pathlib import Path
from typing import NamedTuple

from arena.errors import CodeChanged
from arena.match.match import OwnCode, Seat
from arena.plugins.dependencies import PythonFile, find_required
from arena.plugins.registry import Source
from arena.plugins.syntax import parse_file
from arena.spec import Board, Spec

PROGRAM = "program"
"""The key of the hash of a program."""
CONTENT = "content"
"""The key for the hash of a file that an option names, such as weights. A folder in its path is added to the key."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The version of a plugin, or None if unknown, and the hashes of the parts that a spec uses."""

    version: str | None
    hashes: Mapping[str, str]
    """The hashes by part, for example `agent greedy`, `heuristic sliding-tiles manhattan`, PROGRAM or CONTENT."""

    @property
    def text(self) -> str:
        """Return the hashes as the text that a store keeps."""
        return ", ".join([f"{key}={found}" for key, found in self.hashes.items()])

    @classmethod
    def of(cls, version: str | None, text: str) -> "Fingerprint":
        """Return the fingerprint from a text in a store."""
        parts = [part.rpartition("=") for part in text.split(", ")]
        return cls(version, {key: found for key, _, found in parts})

    @classmethod
    def take_all(cls, spec: Spec) -> dict[str, "Fingerprint"]:
        """Return the fingerprints of all plugins, programs and files that a spec uses; the keys are the names of their
        sources.

        The hash of a class covers its file and all files that it imports, if they are in its own package or belong to the user,
        without comments and docstrings. The hash of a program covers each file that its command names, and for Python files also
        their imports from the same folder. The hash of a file that an option names, such as weights, covers every byte. Python
        itself, installed packages, arena, and other files that are not code are not covered.
        """
        versions: dict[str, str | None] = {}
        hashes: dict[str, dict[str, str]] = {}
        for part in sorted(_parts(spec), key=lambda part: (part.source.name, part.key)):
            versions[part.source.name] = part.source.version
            hashes.setdefault(part.source.name, {})[part.key] = part.hash()
        return {name: cls(versions[name], found) for name, found in hashes.items()}

    @staticmethod
    def hash_files(files: Iterable[Path]) -> str:
        """Return the hash of a part with these files, which covers their names and contents without comments and docstrings."""
        whole = blake2b(digest_size=16)
        for name, digest in sorted([(file.name, parse_file(file).digest) for file in files]):
            whole.update(f"{name}\n".encode(errors="surrogateescape") + digest)
        return whole.hexdigest()

    @staticmethod
    def is_trusted(spec: Spec) -> bool:
        """Return whether all code that a spec uses comes with arena, in every process.

        This includes agents in their own processes: outside a sandbox, such an agent can kill its parent process.
        """
        return all(part.file or (part.source.own and not part.command) for part in _parts(spec))


class Part(NamedTuple):
    """Code that plays: a class or heuristic of a plugin, a program, or a file that an option names."""

    source: Source
    key: str
    """For example `agent greedy`, `heuristic sliding-tiles manhattan`, PROGRAM or CONTENT."""
    module: str = ""
    """The module that contains it; empty for a program or a file."""
    command: tuple[str, ...] = ()
    folder: str = ""
    version: OwnCode | None = None
    """The code that its entry brings along, if any."""
    file: str = ""
    """The absolute path of a file or folder that an option names."""

    def files(self) -> set[Path]:
        """The files that its hash covers."""
        if self.version is not None:
            return self.version.files()
        if self.file:
            place = Path(self.file)
            return {one for one in place.rglob("*") if one.is_file()} if place.is_dir() else {place}
        if not self.command:
            return find_required(self.module)
        named = [place for word in self.command if isfile(place := Path(self.folder, word))]  # noqa: PTH113
        return {one for file in named for one in (file, *PythonFile(file).find_beside())}

    def hash(self) -> str:
        """The hash of its current code. If the entry uses another version, the hash does not depend on the folder."""
        if self.version is not None:
            return self.version.hash()
        return Fingerprint.hash_files(self.files())


def parts_of(spec: Spec, board: Board, seats: Iterable[Seat]) -> Iterator[Part]:
    """Yield all code that plays when `seats` meet on a `board` of a `spec`, except built-in formats, which belong to arena."""
    keys: list[tuple[str, ...]] = [("game", board.name), ("format", board.format.name)]
    for seat in seats:
        version = seat.version
        if version is None:
            keys.append(("agent", seat.agent))
        else:
            yield Part(Source(version.source), f"agent {seat.agent} {version.mark}", version=version)
        if seat.heuristic is not None and not (version and (board.name, seat.heuristic) in version.heuristics):
            keys.append(("heuristic", board.name, seat.heuristic))
        if seat.program is not None and seat.program.command is not None:
            command = seat.program.command
            yield Part(Source(" ".join(command)), PROGRAM, command=command, folder=seat.program.folder)
        yield from _option_files(seat)
    for key in keys:
        source = spec.registry.sources.get(key)
        if source is not None and not (key[0] == "format" and source.own):
            yield Part(source, " ".join(key), getattr(spec.registry.value(key), "__module__", None) or "")


def _option_files(seat: Seat) -> Iterator[Part]:
    for text, file in seat.files:
        folder = text.rpartition("/")[0].replace(", ", ",")  # with a comma and a space, the key would end here in a store
        yield Part(Source(text), f"{CONTENT} in {folder}" if folder else CONTENT, file=file)


def _parts(spec: Spec) -> Iterable[Part]:
    return dict.fromkeys([part for board in spec.boards for part in parts_of(spec, board, board.seats)])


def check_unchanged(before: Mapping[str, Fingerprint], now: Mapping[str, Fingerprint]) -> None:
    """Raise CodeChanged if the code of a plugin has changed."""
    _refuse([name for name, found in before.items() if name in now and now[name].hashes != found.hashes])


def check_files(before: Mapping[str, Fingerprint], seats: Iterable[Seat]) -> None:
    """Raise CodeChanged if a file that an option names has changed, because the next agent would read the new content."""
    parts = {part for seat in seats for part in _option_files(seat) if part.source.name in before}
    _refuse(sorted({part.source.name for part in parts if before[part.source.name].hashes.get(part.key) != part.hash()}))


def _refuse(changed: Sequence[str]) -> None:
    if changed:
        raise CodeChanged(
            f"{', '.join(changed)} changed during the run, so the run was stopped. The matches so far used the old code: restore "
            "it and run the same command again, or play all matches again with --fresh"
        )
