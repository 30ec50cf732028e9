"""Prepares the code that entries bring, so that nodes can load it: chooses the files to send, and where a node puts them.

Each version has a separate folder, in which its files have the same relative paths as at the coordinator. So a file finds the
same files beside it, no entry finds the code of another entry, and messages about files do not depend on the node.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from arena import Spec
from arena.api.games import read_whole
from arena.api.match import Seat
from arena.api.spec import PluginPlace
from arena_cluster.engine import ClusterError
from arena_isolation.command import COMMAND
from arena_isolation.versions import (
    CODE,
    LAID_OUT,
    Described,
    PluginVersion,
    SharedCode,
    Told,
    moved_path,
    readable_files,
    shared_code,
    version_in,
)

ENTRIES_FOLDER = "entries"
"""The folder for the code of entries in a parcel (the description of a tournament that is sent to a node)."""
MAX_FILE_BYTES = 32 << 20
"""The maximum size in bytes of one file that is sent, and of all data of an entry."""
MAX_DATA_FILES = 1000
"""The maximum number of data files of an entry."""


class File(NamedTuple):
    """A file to send."""

    name: str
    """The path in the folder of the parcel."""
    original: str
    """The path at the coordinator."""
    content: bytes
    executable: bool


class SentVersion(NamedTuple):
    """The plugin of an entry, or another version of a plugin, in a parcel."""

    agent: str
    version: PluginVersion
    """The version as it is at the coordinator."""
    folder: str
    """The folder for the version in the parcel."""
    path: tuple[str, ...]
    """The folders at the coordinator from which the version imports, in order."""

    def move_to(self, parcel: Path) -> PluginVersion:
        """Return the version as it is in a parcel that was written into the folder `parcel`."""
        version, base = self.version, parcel / self.folder
        file = f"{base}{version.file}"
        plugin = file if version.plugin == version.file else version.plugin
        moved = ("", os.pathsep.join([f"{base}{entry}" for entry in self.path])) if self.path else None
        foreign = frozenset([f"{base}{one}" for one in version.foreign])
        return replace(version, file=file, plugin=plugin, moved=moved, foreign=foreign)


class EntryCode(NamedTuple):
    """All code that the entries of a spec bring."""

    versions: Sequence[SentVersion]
    programs: Mapping[str, str]
    """Self-contained programs: a mapping from their paths at the coordinator to their paths in the parcel."""
    described: Described
    """Descriptions of plugins. With them, a node need not ask the plugins again."""


def file_of(name: str, place: Path, what: str) -> File:
    """Return a file to send. Raises ClusterError if it cannot be sent."""
    hint = "install it on every machine"
    try:
        if place.is_dir():
            raise ClusterError(f"{what} cannot be sent to the cluster: it is a folder; install it on every machine as a package")
        size = place.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ClusterError(
                f"{what} cannot be sent to the cluster: it has {size:,} bytes, and at most {MAX_FILE_BYTES:,} are sent; {hint}"
            )
        return File(name, str(place.resolve()), read_whole(place, MAX_FILE_BYTES), os.access(place, os.X_OK))
    except OSError as error:
        raise ClusterError(f"{what} cannot be sent to the cluster: {error.strerror}; {hint}") from error
    except ValueError as error:
        raise ClusterError(f"{what} cannot be sent to the cluster: {error}; {hint}") from error


def entry_code(spec: Spec) -> tuple[EntryCode, list[File]]:
    """Return the code that the entries of a spec bring, and its files."""
    versions, files = _versions(spec)
    programs: dict[str, str] = {}
    for seat in [seat for board in spec.boards for seat in board.seats if seat.program is not None]:
        assert seat.program is not None
        for word in [word for word in seat.program.command or () if is_laid_out(word) and word not in programs]:
            folder = f"{ENTRIES_FOLDER}/program-{len(programs)}"
            programs[word] = f"{folder}{word}"
            files += [_file(folder, one, seat.label) for one in _below(Path(word).parent)]
    complete = {(one.version.plugin, one.version.code) for one in versions if one.version.sealed}
    known = {key: told for key, told in shared_code(spec.shared).described.items() if key[2] == "sandbox" or key[:2] in complete}
    return EntryCode(versions, programs, known), files


def _versions(spec: Spec) -> tuple[list[SentVersion], list[File]]:
    """Return the plugins that entries bring and the other versions of plugins, each of them once, and their files."""
    seats: dict[tuple[str, PluginVersion], list[Seat]] = {}
    for seat in [seat for board in spec.boards for seat in board.seats]:
        version = None if seat.program is None else version_in(seat.program)
        if version is not None:
            seats.setdefault((seat.agent, version), []).append(seat)
    versions: list[SentVersion] = []
    files: list[File] = []
    for number, ((agent, version), using) in enumerate(seats.items()):
        folder = f"{ENTRIES_FOLDER}/{number}"
        code = {file.absolute() for file in version.files()}
        sent = {*code, *readable_files(version)}
        if all(seat.isolation == "sandbox" for seat in using):
            sent -= {Path(one) for one in version.foreign}
        else:
            others = [Path(other.file) for _, other in seats if other.file != version.file]
            sent.update(_data(version, spec.document.folder.resolve(), others))
        files += [_file(folder, one, using[0].label) for one in sorted(sent)]
        path = []  # the folders from which the version imports files that are sent
        own = None if version.moved is None else Path(version.moved[1])
        beside = [file for file in code if str(file) != version.file]
        for entry in moved_path(version.moved):
            moved = own is not None and Path(entry).is_relative_to(own)
            if moved or any(file.is_relative_to(entry) for file in beside):
                path.append(entry)
        versions.append(SentVersion(agent, version, folder, tuple(path)))
    return versions, files


def is_laid_out(word: str) -> bool:
    """Return True if a word is the full path of a file in a self-contained folder, which has only this file and the files that it
    needs.
    """
    try:
        return os.path.isabs(word) and Path(word).is_file() and (Path(word).parent / LAID_OUT).is_file()  # noqa: PTH117
    except (OSError, ValueError):  # not a path
        return False


def share_code(code: EntryCode, parcel: Path, plugins: Mapping[str, str]) -> dict[str, Any]:
    """Return, in the form of `Spec.shared`, the facts about the code that are needed to read the spec after the parcel has been
    unpacked.

    `plugins` maps the places of the organiser's plugins at the coordinator to their places on the node.
    """
    here = [(sent, sent.move_to(parcel)) for sent in code.versions]
    home = {PluginPlace(place).real: PluginPlace(name).real for place, name in plugins.items()}
    moved = SharedCode(
        _move_descriptions(code, parcel, plugins),
        {(sent.agent, sent.version.submitted, sent.version.text): version for sent, version in here},
        {version.file: home[sent.version.file] for sent, version in here if sent.version.file in home},
    )
    return {CODE: moved, COMMAND: {word: str(parcel / name) for word, name in code.programs.items()}}


def _move_descriptions(code: EntryCode, parcel: Path, plugins: Mapping[str, str]) -> Described:
    """Return the descriptions of plugins. Their keys have the paths in the unpacked parcel, from which processes load the
    plugins.
    """
    names = {PluginPlace(place).absolute: PluginPlace(name).absolute for place, name in plugins.items()}
    found: dict[tuple[str, ...], Told] = {}
    for sent in code.versions:
        home, here = sent.version.plugin, sent.move_to(parcel).plugin
        for (plugin, digest, isolation, *others), told in code.described.items():
            if (plugin, digest) == (home, sent.version.code):
                key = (here, digest, isolation, *[names.get(one, one) for one in others])
                found[key] = told
    return found


def _file(folder: str, place: Path, label: str) -> File:
    """Return a file of an entry with its path at the coordinator. Symbolic links keep their own names."""
    return file_of(f"{folder}{place}", place, f"{place.name} of {label}")._replace(original=str(place))


def _data(version: PluginVersion, spec: Path, others: Iterable[Path]) -> list[Path]:
    """Return the data files of a version: the files in its folder, which it may read when it plays outside a sandbox. The result
    is empty if the folder does not belong to the version alone, or if the files are too large.

    A folder belongs to a version alone if it is the folder of a revision, or if it is below `spec` (the folder of the spec) and
    neither it nor its subfolders contain any of the `others`.
    """
    revision = version.moved is not None and version.moved[0]
    folder = (Path(version.file).parent if version.moved is None else Path(version.moved[1])).resolve()
    if not revision and (spec == folder or not folder.is_relative_to(spec)):
        return []
    if any(other.resolve().is_relative_to(folder) for other in others):
        return []
    found, size = [], 0
    for one in _below(folder):
        size += one.stat().st_size
        found.append(one)
        if size > MAX_FILE_BYTES or len(found) > MAX_DATA_FILES:
            return []
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders, except hidden folders, virtual environments, compiled Python files, and
    links that lead out of the folder.
    """
    top = folder.resolve()
    for place, below, files in os.walk(folder):
        left_out = [name for name in below if name == "__pycache__" or name[0] == "." or Path(place, name, "pyvenv.cfg").exists()]
        below[:] = [name for name in below if name not in left_out]
        found = [Path(place, name) for name in files]
        yield from [one for one in found if one.is_file() and one.resolve().is_relative_to(top)]
