"""Code that an entry brings, a plugin of its own or a version of one: its file, where it imports from, and a hash of it."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import arena
from arena import ArenaError
from arena.api.match import Program
from arena.api.spec import Registry, is_file
from arena.plugins.dependencies import find_imported, find_sources, stands_alone
from arena.plugins.syntax import SUFFIX, parse_file
from arena.processes.child import import_path
from arena_isolation.revisions import GIT, revision, taken_out

Described = Mapping[tuple[str, ...], Mapping[bytes, Mapping[str, Any]]]
"""The answers of processes that describe plugins, by request; the key is the plugin, its code, and what it was loaded with."""
MARK = 8
"""Digits of a hash of code that are shown."""
LAID_OUT = ".laid-out"
"""A file in a folder that holds nothing but one plugin and what belongs to it."""
OURS = Path(arena.__file__).parents[1]
"""The folder that arena itself is imported from: every version plays with the arena of now."""


@dataclass(frozen=True, slots=True)
class PluginVersion:
    """Another version of a plugin, which the process of an agent loads in place of the current one."""

    text: str
    """What it is in the spec: `git:` with a whole commit, or the path of a file."""
    plugin: str
    """The file or the module to load; what it brings takes the place of what has the same name."""
    file: str
    """The file whose code it is, also where a module is loaded."""
    moved: tuple[str, str] | None
    """A folder of the import path and the one that stands in its place; None where all stays.

    Where the first is empty, the other comes before all; it may be several, joined as in PYTHONPATH.
    """
    code: str
    """A hash of its code, and of the user's own files that it imports."""
    heuristics: frozenset[tuple[str, str]] = frozenset()
    """The heuristics that it brings, each as (game, name)."""
    submitted: bool = False
    """Whether it is the `plugin` of an entry: then its process gets none of the user's files but its own and the game's."""

    @property
    def short(self) -> str:
        """What to call it in a label: the same wherever and whenever the spec is read, so no branch and no `HEAD`."""
        return self.text[: len(GIT) + MARK] if self.text.startswith(GIT) else self.text

    @property
    def source(self) -> str:
        """What to call it beside other plugins."""
        return f"{Path(self.file).name}@{self.text}" if self.text.startswith(GIT) else self.text

    @property
    def mark(self) -> str:
        """The start of its hash, by which people know it."""
        return self.code[:MARK]

    def files(self) -> set[Path]:
        """Return its file, the package that it lies in, and what of the user's own they import."""
        return files_of(Path(self.file), moved_path(self.moved))

    def hash(self) -> str:
        """Return a hash of the code as it is now; see `_hash`."""
        return _hash(Path(self.file), self.files())


@dataclass(frozen=True, slots=True)
class SharedCode:
    """What processes that read a spec tell each other of the code that its entries bring."""

    described: Described = field(default_factory=dict)
    """The answers of processes that described plugins, so that nobody need ask again."""
    versions: Mapping[tuple[str, bool, str], PluginVersion] = field(default_factory=dict)
    """Code that does not lie where the spec says, since a node of a cluster has it in a folder of its own.

    The key is the agent, whether it is the `plugin` of the entry, and its text in the spec.
    """
    twins: Mapping[str, str] = field(default_factory=dict)
    """The plugins of the organiser that are the same file as the code of an entry, by the place of the latter."""


CODE = "code"
"""The name of the source of agents with code of their own."""


def shared_code(shared: Mapping[str, Any]) -> SharedCode:
    """Return what `Spec.shared`, or `SpecReader.shared`, holds of code of entries."""
    found: SharedCode = shared.get(CODE) or SharedCode()
    return found


class NoVersion(ArenaError):
    """A version, or the plugin of an entry, cannot be had; the message says why."""


def version_of(registry: Registry, agent: str, text: str, folder: Path) -> PluginVersion:
    """Return the version `text` of the plugin that brings `agent`: `git:REVISION`, or a Python file by its path from `folder`.

    Nothing of it is run. NoVersion or RevisionError says why it cannot be had.
    """
    current, module = _current(registry, agent)
    if current is None and text.startswith(GIT):
        raise NoVersion(f"no plugin brings {agent!r} now, so nobody knows its file; name the file of that version instead")
    return version_beside(current, text, folder, module)


def version_beside(current: Path | None, text: str, folder: Path, module: str | None = None) -> PluginVersion:
    """Do as `version_of` does, for a plugin whose file is `current`, loaded by its name where that is a `module`."""
    if current is None or not text.startswith(GIT):
        place = _python_file(text, folder, f"a Python file, or {GIT}REVISION such as {GIT}HEAD~1")
        moved = None if stands_alone(place) else ("", str(place.parent))  # its own folder first, as with `python FILE`
        return PluginVersion(text, str(place), str(place), moved, _hash(place, files_of(place, moved_path(moved))))
    found = revision(text.removeprefix(GIT), current)
    file = taken_out(found, current, alone=True)
    if module is None and stands_alone(file) and "__file__" not in file.read_text(errors="replace"):
        return PluginVersion(found.text, str(file), str(file), None, _hash(file, files_of(file, ())))
    file = taken_out(found, current, alone=False)
    root = found.root.resolve()
    tree = Path(str(file).removesuffix(current.resolve().relative_to(root).as_posix()))
    moved = (str(root), str(tree))
    return PluginVersion(found.text, module or str(file), str(file), moved, _hash(file, files_of(file, moved_path(moved))))


def submission(text: str, folder: Path, others: Collection[Path]) -> PluginVersion:
    """Return the plugin that an entry brings by its path `text` from `folder`. Nothing of it is run. NoVersion.

    It may import from its own folder, unless one of `others`, the plugins of other entries, lies in there or below: then it is
    its file alone, so that no entry gets the code of another.
    """
    file = _python_file(text, folder, "a Python file by its path from the spec")
    shared = any(other != file and other.is_relative_to(file.parent) for other in others)
    moved = None if shared or stands_alone(file) else ("", str(file.parent))
    version = PluginVersion(text, str(file), str(file), moved, "", submitted=True)
    return replace(version, code=version.hash())


def readable_files(version: PluginVersion) -> set[Path]:
    """Those of its files that a version may read in a sandbox: of the plugin of an entry what lies in its own folder.

    A folder that was laid out for the plugin alone may be read whole, data files such as weights included.
    """
    if not version.submitted:
        return version.files()
    file = Path(version.file)
    if (file.parent / LAID_OUT).is_file():
        return {one for one in file.parent.rglob("*") if one.is_file()}
    found = set() if version.moved is None else version.files()
    return {file} | {one for one in found if one.resolve().is_relative_to(file.parent)}


def moved_path(moved: tuple[str, str] | None) -> list[str]:
    """The import path of this process with one folder, and those below it, in another place; those that are not there stay.

    Where the first is empty, the other, or the others in a row, come before all.
    """
    path = import_path()
    if moved is None:
        return path
    if not moved[0]:
        return [*moved[1].split(os.pathsep), *path]
    before, now = Path(moved[0]), Path(moved[1])
    return [str(_moved(Path(entry).resolve(), before, now) or entry) for entry in path]


def _hash(file: Path, files: set[Path]) -> str:
    """A hash of the code of a file and of others that it imports, found by reading.

    Comments, docstrings, and the name and place of the file itself change nothing.
    """
    whole = blake2b(parse_file(file).digest, digest_size=16)
    for name, digest in sorted([(one.name, parse_file(one).digest) for one in files - {file}]):
        whole.update(f"{name}\n".encode(errors="surrogateescape") + digest)
    return whole.hexdigest()


def files_of(file: Path, path: Sequence[str]) -> set[Path]:
    """A file, the whole package that it lies in, and what of the user's own they import from the folders of `path`."""
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    own = {file} if top == file else set(find_sources(top))
    return own | {found for one in own for found in find_imported(one, list(path) or None)}


def _python_file(text: str, folder: Path, expected: str) -> Path:
    """The real place of a Python file; NoVersion where there is none."""
    file = folder / text
    if not os.path.isfile(file):  # noqa: PTH113 - takes a name that no file can have
        raise NoVersion(f"no such file: {file}; expected {expected}")
    if file.suffix != SUFFIX:
        raise NoVersion(f"{text} is not a Python file; expected a name that ends in {SUFFIX}")
    return Path(os.path.realpath(file))


def _current(registry: Registry, agent: str) -> tuple[Path | None, str | None]:
    """The file of the plugin that brings an agent now, and its module where it is loaded by that; None where none brings it."""
    source = registry.sources.get(("agent", agent))
    if source is None:
        return None, None
    if source.own:
        raise NoVersion(f"{agent} comes with arena; versions are for plugins of your own")
    plugin = next(one for one in registry.plugins if one.source == source)
    file = Path(plugin.file or source.name)
    if source.asked and is_file(source.name):
        return file, None
    name = next((name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None) == str(file)), None)
    return file, source.name if source.asked else name


def _moved(entry: Path, before: Path, now: Path) -> Path | None:
    if entry == OURS or not entry.is_relative_to(before):
        return None
    there = now / entry.relative_to(before)
    return there if there.exists() else None


def version_in(program: Program) -> PluginVersion | None:
    """Return the code of its own that the process of a program loads; None if it has none."""
    assert program.version is None or isinstance(program.version, PluginVersion)
    return program.version
