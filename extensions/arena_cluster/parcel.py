"""The description of a tournament for a node, in one piece: the spec, its files, and its other requirements."""

import os
import pickle
import platform
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from arena import Spec, __version__
from arena.api.errors import EXTENSIONS
from arena.api.match import Program
from arena.api.run import Fingerprint, take_fingerprints
from arena.api.spec import Document, find_beside, is_file, list_asked, resolve_place
from arena_cluster.entry_code import EntryCode, File, entry_code, file_of, is_laid_out
from arena_isolation.agent_process import AgentLost, AgentProcess, NoAgentProcess
from arena_isolation.sandbox import SandboxError

PLUGINS_FOLDER = "plugins"
"""Folder in a parcel for plugins. Each is in a separate folder, because two plugins may have the same name."""


class Parcel(NamedTuple):
    """A tournament for a node."""

    document: Document
    seed: int | str
    plugins: Sequence[str]
    """Plugins beside the installed ones, in order: paths in the folder of the parcel, or modules."""
    files: Sequence[File]
    organiser: Mapping[str, str]
    """Sent plugins: their places at the coordinator, mapped to their paths in the folder of the parcel."""
    entries: EntryCode
    fingerprints: Mapping[str, Fingerprint]
    """Fingerprints of every plugin and program that the spec uses. Sent files are listed under their paths in the parcel."""
    starting: Sequence[bool]
    """For every program of the spec, whether it starts at the coordinator."""


def pack_parcel(spec: Spec, code: Mapping[str, Fingerprint] | None = None) -> bytes:
    """Pack the parcel of a spec. `code` are the fingerprints of the playing code, by default of its current state.

    Raises ClusterError if something cannot be sent.
    """
    places = list_asked(spec.plugins)
    plugins, sent = [], []
    for number, place in enumerate(places):
        if is_file(place):
            name = f"{PLUGINS_FOLDER}/{number}/{Path(place).name}"
            sent.append(file_of(name, Path(place), f"plugin {place}"))
            plugins.append(name)
        else:
            plugins.append(place)
    inside = {place: name for place, name in zip(places, plugins, strict=True) if place != name}
    found = _rename_fingerprints(spec, take_fingerprints(spec) if code is None else code, inside)
    entries, brought = entry_code(spec)
    values = {key: value for key, value in spec.document.values.items() if key != "plugins"}  # they are all in `plugins`
    document = replace(spec.document, values=values, folder=Path(), places={}, keys={}, faults=())
    files = [*sent, *_files_of_programs(spec), *_files_of_options(spec), *brought]
    parcel = Parcel(document, spec.seed, plugins, files, inside, entries, found, starting(spec))
    return zlib.compress(pickle.dumps(parcel, pickle.HIGHEST_PROTOCOL), 6)


def _rename_fingerprints(spec: Spec, code: Mapping[str, Fingerprint], inside: Mapping[str, str]) -> dict[str, Fingerprint]:
    """Rename fingerprints to the names within a parcel. Code of an entry keeps the entry's name, even if others share it."""
    versions = [(seat.agent, seat.program.version) for board in spec.boards for seat in board.seats if seat.program]
    own = {(version.source, f"agent {agent} {version.mark}") for agent, version in versions if version is not None}
    names = {resolve_place(place): name for place, name in inside.items()}
    found: dict[str, Fingerprint] = {}
    for name, fingerprint in code.items():
        for key, digest in fingerprint.hashes.items():
            within = name if (name, key) in own else names.get(resolve_place(name), name)
            known = found.get(within)
            found[within] = Fingerprint(fingerprint.version, {**(known.hashes if known else {}), key: digest})
    return found


def unpack_parcel(data: bytes) -> Parcel:
    """Unpack a parcel. It comes from the coordinator, which can run any code on a node anyway."""
    parcel: Parcel = pickle.loads(zlib.decompress(data))  # noqa: S301 - see above
    return parcel


def lay_out(parcel: Parcel, folder: Path) -> None:
    """Write the files of a parcel into a folder."""
    for file in parcel.files:
        place = folder / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        if file.executable:
            place.chmod(place.stat().st_mode | stat.S_IXUSR)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions that must be the same on all machines. `arena source` is a hash of the core and its extensions."""
    whole = blake2b(digest_size=8)
    for name in ("arena", *(f"arena_{name}" for name in EXTENSIONS)):
        found = find_spec(name)
        for place in map(Path, (found and found.submodule_search_locations) or ()):
            for file in sorted(place.rglob("*.py")):
                whole.update(f"{name} {file.relative_to(place)} ".encode() + file.read_bytes())
    return {"arena": __version__, "Python": platform.python_version(), "arena source": whole.hexdigest()}


def _files_of_programs(spec: Spec) -> list[File]:
    """Return the files that commands name by paths below the folder of the spec, with the neighbouring imports of Python files.

    Files in other places must already exist on the node.
    """
    found: dict[str, File] = {}
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is None or seat.program.command is None:
                continue
            for word in seat.program.command:
                place = Path(seat.program.folder, word)
                name = os.path.normpath(word)
                if Path(word).is_absolute() or name.startswith("..") or not place.is_file():
                    continue
                for file in {place, *find_beside(place)}:
                    sent = os.path.normpath(Path(name).parent / file.relative_to(place.parent))
                    found[sent] = file_of(sent, file, f"program {word}")
    return list(found.values())


def _files_of_options(spec: Spec) -> list[File]:
    """Return the files, such as weights, that options name by paths below the folder of the spec.

    Files in other places must already exist on the node.
    """
    found: dict[str, File] = {}
    for text, file in dict.fromkeys(named for board in spec.boards for seat in board.seats for named in seat.files):
        top, name = Path(file), os.path.normpath(text)
        if Path(text).is_absolute() or name.startswith("..") or top != spec.document.folder.absolute() / text:
            continue
        for place in [top] if top.is_file() else sorted(one for one in top.rglob("*") if one.is_file()):
            sent = os.path.normpath(Path(name) / place.relative_to(top))
            found[sent] = file_of(sent, place, f"file {text}")
    return list(found.values())


Starting = tuple[Program, int | None, str]
"""A program, its memory limit in MiB, and its isolation."""


def starting(spec: Spec) -> list[bool]:
    """Return for every program of a spec, in order, whether it starts here. Each is started, and stopped after its first
    answer.
    """
    return [start_fault(*one) is None for one in programs(spec)]


def programs(spec: Spec) -> Iterator[Starting]:
    """Yield the programs of a spec, each once, in an order that follows from the spec.

    Self-contained programs are left out. All their files are sent, and an entry that refuses to start there must not make the
    node refused.
    """
    seen = set()
    for board in spec.boards:
        for seat in board.seats:
            program = seat.program
            if program is not None and program.command is not None and not any(map(is_laid_out, program.command)):
                key = (program.command, seat.limits.memory_mb, seat.isolation)
                if key not in seen:
                    seen.add(key)
                    yield program, seat.limits.memory_mb, seat.isolation


def start_fault(program: Program, memory_mb: int | None, isolation: str) -> str | None:
    """Return why a program does not start here; None if it does."""
    try:
        AgentProcess(program, memory_mb, isolation).end()
    except AgentLost as gone:
        return gone.message
    except (NoAgentProcess, SandboxError) as error:
        return str(error)
    return None
