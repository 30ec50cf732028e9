"""Code of an entry, which is its own plugin or a version of one: the file, its import folders, and its hash."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import arena
from arena import ArenaError, Registry
from arena.api.match import Program
from arena.api.processes import import_path
from arena.api.spec import find_imported, find_sources, is_file, parse_file, stands_alone
from arena_isolation.revisions import GIT, revision, taken_out

Told = Mapping[bytes, Mapping[str, Any]]
"""Answers of a process that describes a plugin, by request."""
Described = Mapping[tuple[str, ...], Told]
"""Answers about several plugins. The key is the plugin, its code, and the plugins loaded with it."""
MARK = 8
"""Number of displayed digits of a code hash."""
LAID_OUT = ".laid-out"
"""Marker file of a folder that contains only one plugin and its files."""
OURS = Path(arena.__file__).parents[1]
"""The folder that arena itself is imported from. Every version plays with the current arena."""


@dataclass(frozen=True, slots=True)
class PluginVersion:
    """Another version of a plugin, which the process of an agent loads in place of the current one."""

    text: str
    """Its text in the spec: `git:` with a whole commit, or the path of a file."""
    plugin: str
    """The file or the module to load. Its contents replace everything of the same name."""
    file: str
    """The file of its code, even if a module is loaded."""
    moved: tuple[str, str] | None
    """A folder of the import path and its replacement; None if the path stays unchanged.

    If the first is empty, the second comes before all others; it may be several folders, joined as in PYTHONPATH.
    """
    code: str
    """Hash of its code and of the user's own files that it imports."""
    heuristics: frozenset[tuple[str, str]] = frozenset()
    """Its heuristics, each as (game, name)."""
    submitted: bool = False
    """Whether it is the `plugin` of an entry. Then its process gets only its own and the game's files of the user."""
    sealed: bool = False
    """Whether arena itself unpacked it. Then it does not change, and no process of arena reads it once `code` is known."""

    @property
    def short(self) -> str:
        """Its name in a label. It is the same at every reading of the spec, so it contains no branch and no `HEAD`."""
        return self.text[: len(GIT) + MARK] if self.text.startswith(GIT) else self.text

    @property
    def source(self) -> str:
        """Its name beside other plugins."""
        return f"{Path(self.file).name}@{self.text}" if self.text.startswith(GIT) else self.text

    @property
    def mark(self) -> str:
        """The start of its hash, for display."""
        return self.code[:MARK]

    def files(self) -> set[Path]:
        """Return its file, its whole package, and the user's own files that they import."""
        return readable_files(self) if self.sealed else files_of(Path(self.file), moved_path(self.moved))

    def hash(self) -> str:
        """Return a hash of the current code; see `_hash`."""
        return self.code if self.sealed else _hash(Path(self.file), self.files())


@dataclass(frozen=True, slots=True)
class SharedCode:
    """Knowledge about entries' code that processes share when they read a spec."""

    described: Described = field(default_factory=dict)
    """Answers of processes that described plugins, so that they need not be asked again."""
    versions: Mapping[tuple[str, bool, str], PluginVersion] = field(default_factory=dict)
    """Code in another place than the spec says, because a node of a cluster has its own folder for it.

    The key is the agent, whether it is the `plugin` of the entry, and its text in the spec.
    """
    twins: Mapping[str, str] = field(default_factory=dict)
    """The organiser's plugins that are the same file as the code of an entry, keyed by the place of the entry's code."""
    claims: Mapping[str, Told] = field(default_factory=dict)
    """Facts about plugins that no process is asked about, by their files: an author's claims, checked and bounded."""


CODE = "code"
"""Name of the source of agents with their own code."""


def shared_code(shared: Mapping[str, Any]) -> SharedCode:
    """Return the part about entries' code of `Spec.shared` or `SpecReader.shared`."""
    found: SharedCode = shared.get(CODE) or SharedCode()
    return found


class NoVersion(ArenaError):
    """A version, or the plugin of an entry, is not available. The message gives the reason."""


def version_of(registry: Registry, agent: str, text: str, folder: Path) -> PluginVersion:
    """Return the version `text` of the plugin that defines `agent`: `git:REVISION`, or a Python file by its path from `folder`.

    Nothing of it is run. Raises NoVersion or RevisionError if it is not available.
    """
    current: Path | None = None
    module: str | None = None
    source = registry.sources.get(("agent", agent))
    if source is not None:
        if source.own:
            raise NoVersion(f"{agent} comes with arena; versions are for plugins of your own")
        plugin = next(one for one in registry.plugins if one.source == source)
        current = Path(plugin.file or source.name)
        if source.asked and not is_file(source.name):
            module = source.name
        elif not source.asked:
            loaded = list(sys.modules.items())
            module = next((name for name, one in loaded if getattr(one, "__file__", None) == str(current)), None)
    if current is None and text.startswith(GIT):
        raise NoVersion(f"no plugin brings {agent!r} now, so nobody knows its file; name the file of that version instead")
    return version_beside(current, text, folder, module)


def version_beside(current: Path | None, text: str, folder: Path, module: str | None = None) -> PluginVersion:
    """Like `version_of`, for a plugin with the file `current`; loaded by its name if that is a `module`."""
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
    """Return the plugin of an entry by its path `text` from `folder`. Nothing of it is run. Raises NoVersion.

    It may import from its own folder, unless one of `others`, the plugins of other entries, lies in that folder or below. Then
    it is its file alone, so that no entry gets the code of another.
    """
    file = _python_file(text, folder, "a Python file by its path from the spec")
    shared = any(other != file and other.is_relative_to(file.parent) for other in others)
    moved = None if shared or stands_alone(file) else ("", str(file.parent))
    version = PluginVersion(text, str(file), str(file), moved, "", submitted=True)
    return replace(version, code=version.hash())


def seal_submission(file: Path, code: str | None = None) -> PluginVersion:
    """Return the plugin in a folder that contains nothing else. It is read for the hash of its code only if `code` is not
    given.
    """
    known = submission(str(file), file.parent, ()).code if code is None else code
    return PluginVersion(str(file), str(file), str(file), ("", str(file.parent)), known, submitted=True, sealed=True)


def readable_files(version: PluginVersion) -> set[Path]:
    """Return the files that a version may read in a sandbox. For an entry's plugin these are the files in its own folder.

    A folder that contains only the plugin may be read as a whole, including data files such as weights.
    """
    if not version.submitted:
        return version.files()
    file = Path(version.file)
    if (file.parent / LAID_OUT).is_file():
        return {one for one in file.parent.rglob("*") if one.is_file()}
    found = set() if version.moved is None else version.files()
    return {file} | {one for one in found if one.resolve().is_relative_to(file.parent)}


def moved_path(moved: tuple[str, str] | None) -> list[str]:
    """Return the import path of this process with one folder and its subfolders moved. Missing subfolders stay.

    If the first is empty, the other one (or several in a row) comes before all.
    """
    path = import_path()
    if moved is None:
        return path
    if not moved[0]:
        return [*moved[1].split(os.pathsep), *path]
    before, now = Path(moved[0]), Path(moved[1])
    found = []
    for entry in path:
        real = Path(entry).resolve()
        there = now / real.relative_to(before) if real != OURS and real.is_relative_to(before) else None
        found.append(str(there) if there is not None and there.exists() else entry)
    return found


def _hash(file: Path, files: set[Path]) -> str:
    """Return a hash of the code of a file and of the files that it imports, found by reading.

    Comments, docstrings, and the name and place of the file itself do not count.
    """
    whole = blake2b(parse_file(file).digest, digest_size=16)
    for name, digest in sorted([(one.name, parse_file(one).digest) for one in files - {file}]):
        whole.update(f"{name}\n".encode(errors="surrogateescape") + digest)
    return whole.hexdigest()


def files_of(file: Path, path: Sequence[str]) -> set[Path]:
    """Return a file, its whole package, and the user's own files that they import from the folders of `path`."""
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    own = {file} if top == file else set(find_sources(top))
    return own | {found for one in own for found in find_imported(one, list(path) or None)}


def _python_file(text: str, folder: Path, expected: str) -> Path:
    """Return the real path of a Python file. Raises NoVersion if there is none."""
    file = folder / text
    if not os.path.isfile(file):  # noqa: PTH113 - takes a name that no file can have
        raise NoVersion(f"no such file: {file}; expected {expected}")
    if file.suffix != ".py":
        raise NoVersion(f"{text} is not a Python file; expected a name that ends in .py")
    return Path(os.path.realpath(file))


def version_in(program: Program) -> PluginVersion | None:
    """Return the code that the process of a program loads; None if it uses no code of its own."""
    assert program.version is None or isinstance(program.version, PluginVersion)
    return program.version
