"""The folder for the duels of an agent. It has a copy of every version that has played, and a store for every duel."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import ArenaError
from arena.api.cli import read_own_file
from arena.api.spec import PluginPlace
from arena.api.store import write_whole
from arena.clock import utc_now
from arena_isolation.versions import MARK, PluginVersion, files_of, moved_path, version_beside

_KEPT = re.compile(r"(\d+)-([0-9a-f]{32})")
TERMS = "terms.json"
"""The name of the file with the game and the plugins of the last duel."""
_STORE = re.compile(r"(\d+)-v(\d+)-v(\d+)\.db")


class SeveralFolders(ArenaError):
    """Several agents have duels beside a file, and the command line does not name one of them."""


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version of an agent, with a copy in the folder."""

    number: int
    """The number of the version, counted from 1 in the order in which versions were first seen."""
    code: str
    """Hash of the code."""
    file: Path
    origin: str
    """The origin of the code: the file, or `git:` with a commit."""
    kept: str
    """The time at which the copy was made, in UTC."""

    @property
    def name(self) -> str:
        """Short name, such as `v3`."""
        return f"v{self.number}"

    @property
    def told(self) -> str:
        """Return the name, the hash and the origin of the version, as text."""
        return f"{self.name} ({self.code[:MARK]}, {self.origin})"


@dataclass(frozen=True, slots=True)
class VersionFolder:
    """The folder for the duels of one agent."""

    path: Path
    file: str
    """Name of the agent's file."""

    def versions(self) -> list[KeptVersion]:
        """Return every version, the oldest first."""
        found = []
        for place in (self.path / "versions").glob("*"):
            match = _KEPT.fullmatch(place.name)
            if match and (place / self.file).is_file():
                text = ""
                with suppress(OSError):
                    text = (place / "origin").read_text()
                origin, _, kept = text.partition("\n")
                found.append(KeptVersion(int(match[1]), match[2], place / self.file, origin or "unknown", kept.strip()))
        return sorted(found, key=lambda one: one.number)

    def keep(self, version: PluginVersion, origin: str) -> KeptVersion:
        """Return the version with this code in the folder. If the version is new, its code is copied, so later edits do not
        change the copy.
        """
        known = self.versions()
        for one in known:
            if one.code == version.code:
                return one
        taken = [match for place in (self.path / "versions").glob("*") if (match := _KEPT.fullmatch(place.name))]
        number = 1 + max([int(match[1]) for match in taken], default=0)  # another file may have versions here, too
        place = self.path / "versions" / f"{number}-{version.code}"
        part = place.with_name(f".{place.name}")
        shutil.rmtree(part, ignore_errors=True)
        try:
            part.mkdir(parents=True)
            for file, name in _copies(version, self.file):
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, part / name)
            (part / "origin").write_text(f"{origin}\n{utc_now().isoformat(timespec='seconds')}\n")
            part.rename(place)
        except OSError as error:
            raise ArenaError(f"version {number} of {self.file} cannot be kept in {place.parent}: {error.strerror}") from error
        return self.versions()[-1]

    def named(self, word: str) -> KeptVersion | None:
        """Return the version that `word` names: by its name (such as `v3`), or by the first 4 or more digits of its hash. None if
        there is no such version.
        """
        for one in self.versions():
            if word == one.name or (len(word) >= 4 and one.code.startswith(word)):
                return one
        return None

    def stores(self) -> Iterator[tuple[int, int, int, Path]]:
        """Yield the number of every duel, the numbers of its two versions (the new one first), and its store. The oldest duel
        comes first.
        """
        found = [(match, place) for place in self.path.glob("*.db") if (match := _STORE.fullmatch(place.name))]
        for match, place in sorted(found, key=lambda one: int(one[0][1])):
            yield int(match[1]), int(match[2]), int(match[3]), place

    def remember(self, game: Mapping[str, Any], plugins: Iterable[str]) -> None:
        """Store the game and the plugins of a duel for the next one. Paths of files are relative to this folder."""
        names = [os.path.relpath(name, self.path) if PluginPlace(name).is_file else name for name in plugins]
        text = json.dumps({"game": dict(game), "plugins": names}, indent=2)
        write_whole(self.path / TERMS, f"{text}\n".encode())

    def recall(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the game and the plugins of the last duel; both are empty before the first duel.

        They are stored in the file TERMS, which names plugins with code that will run. So this file is read only if the user
        owns it.
        """
        text = read_own_file(self.path / TERMS)
        try:
            kept = {} if text is None else json.loads(text)
            plugins = [
                str(self.path / name) if name.endswith(".py") or os.sep in name else name for name in kept.get("plugins", [])
            ]
            return dict(kept.get("game", {})), tuple(os.path.normpath(name) for name in plugins)
        except (ValueError, TypeError, AttributeError) as error:
            raise ArenaError(f"{self.path / TERMS}: {error}; remove it, and use --game and --plugin") from error

    def store(self, new: KeptVersion, old: KeptVersion) -> Path:
        """Return the path for the store of the next duel."""
        number = 1 + max((number for number, *_ in self.stores()), default=0)
        return self.path / f"{number:03}-{new.name}-{old.name}.db"


def current_version(file: Path) -> PluginVersion:
    """Return the current version of a file. Raises ArenaError if the file does not exist."""
    return version_beside(file, file.name, file.parent)


def _copies(version: PluginVersion, name: str) -> Iterator[tuple[Path, Path]]:
    """Yield each file of a version with its destination. The files are the agent's file, the files that it imports (under the
    names of the imports), and its data files.

    Data files are files next to the agent's file whose names occur in its code. They are copied only if the code contains
    `__file__`, by which it finds its own folder.
    """
    file, path = Path(version.file), moved_path(version.moved)
    yield file, Path(name)
    for one in files_of(file, path) - {file}:
        above = [Path(entry) for entry in path if one.is_relative_to(entry)]
        yield one, one.relative_to(max(above, key=lambda entry: len(entry.parts), default=one.parent))
    text = file.read_text(errors="replace")
    if "__file__" in text:
        yield from [(one, Path(one.name)) for one in file.parent.iterdir() if one.is_file() and one != file and one.name in text]


def folder_of(file: Path, agent: str | None, asked: str | None) -> VersionFolder:
    """Return the folder for the duels of an agent: the folder `asked`, or `duel-AGENT` beside the file of the agent.

    If no agent is named, the existing folder is returned. Raises SeveralFolders if several exist.
    """
    if asked is not None:
        return VersionFolder(Path(asked), file.name)
    if agent is not None:
        return VersionFolder(file.parent / f"duel-{agent}", file.name)
    found = [place for place in sorted(file.parent.glob("duel-*")) if any(place.glob(f"**/versions/*/{file.name}"))]
    if len(found) > 1:
        names = ", ".join(place.name.removeprefix("duel-") for place in found)
        raise SeveralFolders(f"the folder of {file} has duels of several agents; choose one with --agent: {names}")
    return VersionFolder(found[0] if found else file.parent / "duel-AGENT", file.name)


def contests_of(folder: VersionFolder, file: Path) -> VersionFolder:
    """Return the folder for the contests of several variants of `file`, which is `best-of` in the folder of the duels."""
    return VersionFolder(folder.path / "best-of", file.name)
