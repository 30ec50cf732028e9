"""The folder of a duel: every version of the agent that has played, and a store for every pair of versions that have met."""

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from arena import ArenaError
from arena_isolation.versions import MARK, PluginVersion, files_of, moved_path, version_beside

_KEPT = re.compile(r"(\d+)-([0-9a-f]{32})")
_STORE = re.compile(r"(\d+)-v(\d+)-v(\d+)\.db")


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version of an agent, as the folder has it."""

    number: int
    """From 1, in the order in which versions were first seen."""
    code: str
    """The hash of its code."""
    file: Path
    origin: str
    """Where it came from: the file, or `git:` with a commit."""
    kept: str
    """When, in UTC."""

    @property
    def name(self) -> str:
        """Its short name, `v3`."""
        return f"v{self.number}"

    @property
    def told(self) -> str:
        """Its name, its hash and where it came from."""
        return f"{self.name} ({self.code[:MARK]}, {self.origin})"


@dataclass(frozen=True, slots=True)
class VersionFolder:
    """The folder of the duels of one agent."""

    path: Path
    file: str
    """The name of the agent's file."""

    def versions(self) -> list[KeptVersion]:
        """Every version, the oldest first."""
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
        """Return a version as the folder has it; where it is new, its code is copied, so that later edits do not change it."""
        known = self.versions()
        for one in known:
            if one.code == version.code:
                return one
        number = 1 + max((one.number for one in known), default=0)
        place = self.path / "versions" / f"{number}-{version.code}"
        part = place.with_name(f".{place.name}")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for file, name in _copies(version, self.file):
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, part / name)
        (part / "origin").write_text(f"{origin}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n")
        part.rename(place)
        return self.versions()[-1]

    def named(self, word: str) -> KeptVersion | None:
        """The version that is called `v3`, or whose hash begins so (4 digits or more); None if there is none."""
        for one in self.versions():
            if word == one.name or (len(word) >= 4 and one.code.startswith(word)):
                return one
        return None

    def stores(self) -> Iterator[tuple[int, int, int, Path]]:
        """Yield the number of every duel, those of its two versions, the new one first, and its store, the oldest first."""
        found = [(match, place) for place in self.path.glob("*.db") if (match := _STORE.fullmatch(place.name))]
        for match, place in sorted(found, key=lambda one: int(one[0][1])):
            yield int(match[1]), int(match[2]), int(match[3]), place

    def store(self, new: KeptVersion, old: KeptVersion) -> Path:
        """Return the store of the next duel."""
        number = 1 + max((number for number, *_ in self.stores()), default=0)
        return self.path / f"{number:03}-{new.name}-{old.name}.db"


def current_version(file: Path) -> PluginVersion:
    """The version that a file is now. ArenaError where there is no such file."""
    return version_beside(file, file.name, file.parent)


def _copies(version: PluginVersion, name: str) -> Iterator[tuple[Path, Path]]:
    """The files of a version and where each goes: its own, what it imports by the names that it imports it by, its data.

    Data are files in its folder that it names, if it looks for its folder at all.
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
    """The folder of an agent's duels: `asked`, or `duel-AGENT` beside its file; without a name the one that is there, if any.

    ArenaError where there are several.
    """
    if asked is not None:
        return VersionFolder(Path(asked), file.name)
    if agent is not None:
        return VersionFolder(file.parent / f"duel-{agent}", file.name)
    found = [place for place in sorted(file.parent.glob("duel-*")) if list(place.glob(f"versions/*/{file.name}"))]
    if len(found) > 1:
        names = ", ".join(place.name.removeprefix("duel-") for place in found)
        raise ArenaError(f"expected duels of one agent beside {file}, got those of {names}; name one by --agent")
    return VersionFolder(found[0] if found else file.parent / "duel-AGENT", file.name)
