"""All that a node has to know of a tournament, in one piece: the spec, its files, and what else must be there."""

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

from arena import __version__
from arena.api.match import Program
from arena.api.run import Fingerprint, take_fingerprints
from arena.api.spec import Document, Spec, is_file, resolve_place
from arena.errors import EXTENSIONS
from arena.plugins.dependencies import find_beside
from arena.plugins.sources import list_asked
from arena.secret import Seed
from arena_cluster.entry_code import EntryCode, File, entry_code, file_of, is_laid_out
from arena_isolation.agent_process import AgentLost, AgentProcess, NoAgentProcess
from arena_isolation.sandbox import SandboxError

PLUGINS_FOLDER = "plugins"
"""The folder in a parcel for plugins; each lies in a folder of its own, since two may have one name."""


class Parcel(NamedTuple):
    """A tournament for a node."""

    document: Document
    seed: Seed
    plugins: Sequence[str]
    """Plugins beside the installed ones, in order: paths in the folder of the parcel, or modules."""
    files: Sequence[File]
    organiser: Mapping[str, str]
    """Plugins that go along, by their places at the coordinator: their paths in the folder of the parcel."""
    entries: EntryCode
    fingerprints: Mapping[str, Fingerprint]
    """Of every plugin and program that the spec uses; those of files that go along under their paths in the parcel."""
    starting: Sequence[bool]
    """For every program of the spec whether it starts at the coordinator."""


def pack_parcel(spec: Spec, code: Mapping[str, Fingerprint] | None = None) -> bytes:
    """The parcel of a spec; ClusterError where something cannot be sent along. `code` is what plays, by default as it is now."""
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
    """Fingerprints by names within a parcel; the code of an entry is called as the entry calls it, whoever else has its file."""
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
    """The parcel again. It comes from the coordinator, who may run what he likes on a node anyway."""
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
    """Return the versions that must be the same everywhere; `arena source` is a hash of the core and its extensions."""
    whole = blake2b(digest_size=8)
    for name in ("arena", *(f"arena_{name}" for name in EXTENSIONS)):
        found = find_spec(name)
        for place in map(Path, (found and found.submodule_search_locations) or ()):
            for file in sorted(place.rglob("*.py")):
                whole.update(f"{name} {file.relative_to(place)} ".encode() + file.read_bytes())
    return {"arena": __version__, "Python": platform.python_version(), "arena source": whole.hexdigest()}


def _files_of_programs(spec: Spec) -> list[File]:
    """The files that commands name by paths below the folder of the spec, with what Python files import from beside them.

    What lies elsewhere must be there already.
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
    """The files that options name by paths below the folder of the spec, such as weights; what lies elsewhere must be there."""
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
"""A program, its limit of memory in MiB, and where it runs."""


def starting(spec: Spec) -> list[bool]:
    """For every program of a spec, in order, whether it starts here. Each is started once, and ended when it has said hello."""
    return [start_fault(*one) is None for one in programs(spec)]


def programs(spec: Spec) -> Iterator[Starting]:
    """The programs of a spec, each once, in an order that follows from the spec.

    Programs that were laid out are missing: all that they read is sent along, and no node is refused because of an entry that
    chooses not to start there.
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
    """The reason why a program does not start here; None if it does."""
    try:
        AgentProcess(program, memory_mb, isolation).end()
    except AgentLost as gone:
        return gone.message
    except (NoAgentProcess, SandboxError) as error:
        return str(error)
    return None
