"""Compares the versions, plugins and programs of a node with those of a parcel: only equal ones play equal matches."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.cluster.parcel import Parcel, programs, start_fault, versions
from arena.errors import ArenaError
from arena.isolation.sandbox import SandboxError
from arena.plugins.sources import load_plugins
from arena.schedule.fingerprint import fingerprints
from arena.schedule.runner import check_sandbox
from arena.spec import Spec


class Disagrees(ArenaError):
    """A node has something else than the coordinator; the message names it."""


def check_versions(wanted: Mapping[str, str]) -> None:
    """Disagrees where arena or Python are not the coordinator's."""
    here = versions()
    for name in ("arena", "Python"):
        if here[name] != wanted.get(name):
            raise Disagrees(f"{name} {here[name]} there, {wanted.get(name)} here; install the same on both")
    if here != wanted:
        raise Disagrees(f"arena {here['arena']} there and here, but its source differs; install the same on both")


def check_installed(parcel: Parcel) -> None:
    """Disagrees where an installed plugin that the spec uses is missing, or of another version. Before the spec is loaded."""
    there = {plugin.source.name: plugin for plugin in load_plugins(environ=False).plugins}
    for name, wanted in parcel.fingerprints.items():
        if wanted.version is None:
            continue
        found = there.get(name)
        if found is None:
            raise Disagrees(f"plugin {name} {wanted.version} is not installed there; install it on every machine")
        if found.problem is not None:
            raise Disagrees(f"plugin {name} cannot be loaded there: {found.problem}")
        if found.source.version != wanted.version:
            raise Disagrees(
                f"plugin {name}: version {found.source.version} there, {wanted.version} here; install the same on both"
            )


def check_isolation(spec: Spec) -> None:
    """Disagrees where an agent wants a sandbox, and there is none that holds."""
    try:
        check_sandbox(spec)
    except SandboxError as error:
        raise Disagrees(f"agents play in a sandbox, and there is none there: {error}") from error


def check_sources(spec: Spec, parcel: Parcel, folder: Path) -> None:
    """Disagrees where the source of anything that the spec uses differs; the parcel lies in a folder."""
    wanted = parcel.fingerprints
    inside = {str(folder / name): name for name in parcel.organiser.values()} | _commands(spec)
    there = {inside.get(name, name): found for name, found in fingerprints(spec).items()}
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there or name not in wanted:
            raise Disagrees(f"{name} is used {'here' if name in wanted else 'there'} alone; install the same plugins on both")
        if there[name].version != wanted[name].version:
            raise Disagrees(f"{name}: version {there[name].version} there, {wanted[name].version} here; install the same on both")
        if there[name].hashes != wanted[name].hashes:
            raise Disagrees(f"{name} differs from the one here, by the hash of its source; install the same on both")


def _commands(spec: Spec) -> dict[str, str]:
    """The commands of programs that were sent along, as they are here: what they are at the coordinator."""
    home = {here: word for word, here in spec.moved.programs.items()}
    found = [seat.program.command for board in spec.boards for seat in board.seats if seat.program and seat.program.command]
    return {" ".join(command): " ".join([home.get(word, word) for word in command]) for command in found}


def check_programs(spec: Spec, wanted: Sequence[bool]) -> None:
    """Disagrees where a program does not start that starts at the coordinator, `wanted` being what `starting` said there.

    It may read files from beside it, which are not sent along: without this its agent would lose every match by a crash.
    """
    for one, starts in zip(programs(spec), wanted, strict=True):
        fault = start_fault(*one) if starts else None
        if fault is not None:
            command = " ".join(one[0].command or ())
            raise Disagrees(
                f"{command} starts here and not there: {fault}; what it reads beside its own file is not sent along: "
                "put all into one file, or install it on every machine"
            )
