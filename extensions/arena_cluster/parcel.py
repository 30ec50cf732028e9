"""Parcels. A parcel is the description of a tournament that is sent to a node in one piece: the spec, its files, and other
requirements.
"""

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
from arena.api.match import Program
from arena.api.run import Fingerprint
from arena.api.spec import Document, PluginPlace, PythonFile
from arena_cluster.entry_code import EntryCode, File, entry_code, file_of, is_laid_out
from arena_isolation.agent_process import AgentLost, AgentProcess, NoAgentProcess
from arena_isolation.sandbox import SandboxError

PLAYING = ("arena", "arena_cluster", "arena_compiled", "arena_isolation", "arena_pairings", "arena_solution")
"""The packages that a node needs for playing matches, in addition to the plugins."""

PLUGINS_FOLDER = "plugins"
"""The folder in a parcel that has the plugins. Each plugin is in a separate folder, because two plugins may have the
same name.
"""


class Parcel(NamedTuple):
    """A tournament, packed for a node."""

    document: Document
    seed: int | str
    plugins: Sequence[str]
    """The plugins to load in addition to the installed ones, in order. Each is a path in the folder of the parcel, or a
    module.
    """
    files: Sequence[File]
    organiser: Mapping[str, str]
    """The plugins that are sent: a mapping from their places at the coordinator to their paths in the folder of the parcel."""
    entries: EntryCode
    fingerprints: Mapping[str, Fingerprint]
    """The fingerprints of every plugin and program that the spec uses. Files that are sent are listed by their paths in the
    parcel.
    """
    starting: Sequence[bool]
    """For every program in the spec, whether it starts at the coordinator."""


def pack_parcel(spec: Spec, code: Mapping[str, Fingerprint] | None = None) -> bytes:
    """Pack the parcel for a spec. `code` contains the fingerprints of the code that plays; by default they are computed now.

    Raises ClusterError if something cannot be sent.
    """
    places = PluginPlace.list_asked(spec.plugins)
    plugins, sent = [], []
    for number, place in enumerate(places):
        if PluginPlace(place).is_file:
            name = f"{PLUGINS_FOLDER}/{number}/{Path(place).name}"
            sent.append(file_of(name, Path(place), f"plugin {place}"))
            plugins.append(name)
        else:
            plugins.append(place)
    inside = {place: name for place, name in zip(places, plugins, strict=True) if place != name}
    found = _rename_fingerprints(spec, Fingerprint.take_all(spec) if code is None else code, inside)
    entries, brought = entry_code(spec)
    values = {key: value for key, value in spec.document.values.items() if key != "plugins"}  # all plugins are in `plugins`
    document = replace(spec.document, values=values, folder=Path(), places={}, keys={}, faults=())
    files = [*sent, *_files_of_programs(spec), *_files_of_options(spec), *brought]
    parcel = Parcel(document, spec.seed, plugins, files, inside, entries, found, starting(spec))
    return zlib.compress(pickle.dumps(parcel, pickle.HIGHEST_PROTOCOL), 6)


def _rename_fingerprints(spec: Spec, code: Mapping[str, Fingerprint], inside: Mapping[str, str]) -> dict[str, Fingerprint]:
    """Return fingerprints under the names of the files in a parcel, instead of the names of the files here. Fingerprints of the
    code of an entry keep their names, even if entries share the code.
    """
    versions = [(seat.agent, seat.program.version) for board in spec.boards for seat in board.seats if seat.program]
    own = {(version.source, f"agent {agent} {version.mark}") for agent, version in versions if version is not None}
    names = {PluginPlace(place).real: name for place, name in inside.items()}
    found: dict[str, Fingerprint] = {}
    for name, fingerprint in code.items():
        for key, digest in fingerprint.hashes.items():
            within = name if (name, key) in own else names.get(PluginPlace(name).real, name)
            known = found.get(within)
            found[within] = Fingerprint(fingerprint.version, {**(known.hashes if known else {}), key: digest})
    return found


def unpack_parcel(data: bytes) -> Parcel:
    """Unpack a parcel. Unpickling is safe because the parcel comes from the coordinator, which can run any code on a
    node anyway.
    """
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
    """Return the versions that must be the same on all machines. `arena source` is a hash of the code of the packages
    in PLAYING.
    """
    whole = blake2b(digest_size=8)
    for name in PLAYING:
        found = find_spec(name)
        for place in map(Path, (found and found.submodule_search_locations) or ()):
            for file in sorted(place.rglob("*.py")):
                whole.update(f"{name} {file.relative_to(place)} ".encode() + file.read_bytes())
    return {"arena": __version__, "Python": platform.python_version(), "arena source": whole.hexdigest()}


def _files_of_programs(spec: Spec) -> list[File]:
    """Return the files that commands name by paths below the folder of the spec. If such a file is a Python file, the files that
    it imports from its own folder are included.

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
                for file in {place, *PythonFile(place).find_beside()}:
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
    """Return, for every program in a spec, whether it starts here. Each program is started, and stopped after its
    first answer.
    """
    return [start_fault(*one) is None for one in programs(spec)]


def programs(spec: Spec) -> Iterator[Starting]:
    """Yield every program in a spec once, in an order that depends only on the spec.

    Self-contained programs are left out: all their files are sent, and the node must not be refused because such an entry does
    not start.
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
    """Return the reason why a program does not start here; None if it does."""
    try:
        AgentProcess(program, memory_mb, isolation).end()
    except AgentLost as gone:
        return gone.message
    except (NoAgentProcess, SandboxError) as error:
        return str(error)
    return None
