"""The code that an entry brings: its own plugin, or another version of a plugin. This module finds its file, its import folders
and its hash.
"""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import arena
from arena import ArenaError, Registry, load_plugins
from arena.api.match import Program
from arena.api.processes import PythonProcess
from arena.api.spec import PluginPlace, PythonFile
from arena_isolation.revisions import GIT, revision, taken_out

Told = Mapping[bytes, Mapping[str, Any]]
"""The answers of a process that describes a plugin; the keys are the requests."""
Described = Mapping[tuple[str, ...], Told]
"""The answers about several plugins. The key consists of the plugin, its code, the isolation, and the plugins that were loaded
with it.
"""
MARK = 8
"""The number of digits of a code hash that are shown."""
LAID_OUT = ".laid-out"
"""The marker file in a folder into which arena has unpacked one submission completely. An author can put such a file into a
folder of his own, so it gives no right to read anything.
"""
BYTECODE = "__pycache__"
"""The folders with compiled Python files. Python may run such a file in place of the source, even if the two differ."""
OURS = Path(arena.__file__).parents[1]
"""The folder from which arena itself is imported. Every version of a plugin plays with the current arena."""


@dataclass(frozen=True, slots=True)
class PluginVersion:
    """A version of a plugin, which the process of an agent loads instead of the current version."""

    text: str
    """The text in the spec: `git:` with a full commit hash, or the path of a file."""
    plugin: str
    """The file or the module to load. Its contents replace current code of the same name."""
    file: str
    """The file of the code, even if it is loaded as a module."""
    moved: tuple[str, str] | None
    """A folder in the import path, and its replacement; None if the path stays unchanged. If the first text is empty, the second
    text is put at the beginning of the path. The second text may contain several folders, joined as in PYTHONPATH.
    """
    code: str
    """The hash of the code and of the user's own files that it imports."""
    heuristics: frozenset[tuple[str, str]] = frozenset()
    """The heuristics of this version, each as (game, name)."""
    submitted: bool = False
    """True if this is the `plugin` of an entry. Then the process of the agent can read only the files of this plugin and of the
    game.
    """
    foreign: frozenset[str] = frozenset()
    """Files that belong to other entries or to the organiser. A sandbox does not show them, even if the plugin imports them."""
    sealed: bool = False
    """True if arena itself unpacked this version into a folder that has nothing else. Then the process of the agent can read the
    whole folder. Such a version does not change, and no process of arena reads it as Python once `code` is known.
    """

    @property
    def short(self) -> str:
        """The name in a label. It is the same whenever the spec is read, so it contains neither a branch nor `HEAD`."""
        return self.text[: len(GIT) + MARK] if self.text.startswith(GIT) else self.text

    @property
    def source(self) -> str:
        """The name of this version among other plugins."""
        return f"{Path(self.file).name}@{self.text}" if self.text.startswith(GIT) else self.text

    @property
    def mark(self) -> str:
        """The start of the hash, for display."""
        return self.code[:MARK]

    def origin(self, isolation: str) -> str:
        """Return a hash of the name in the spec, of every byte of the entry that its process may read, and of its isolation.

        Entries share what their own code computes only if all of this is the same. The same `code` is not enough, because it
        leaves out comments and the places of files.
        """
        whole = blake2b(f"{isolation}\n{self.submitted}\n{self.text}\n".encode(errors="surrogateescape"), digest_size=16)
        for file in sorted(readable_files(self)):
            whole.update(_pack(os.path.relpath(file, Path(self.file).parent), PythonFile.digest_bytes(file)))
        return whole.hexdigest()

    def files(self) -> set[Path]:
        """Return the file, the whole package around it, and the user's own files that they import."""
        return readable_files(self) if self.sealed else files_of(Path(self.file), moved_path(self.moved))

    def hash(self) -> str:
        """Return a hash of the current code; see `_hash`."""
        return self.code if self.sealed else _hash(Path(self.file), self.files())


@dataclass(frozen=True, slots=True)
class SharedCode:
    """Facts about the code of entries. Processes pass them on, so that others can read the same spec without asking again."""

    described: Described = field(default_factory=dict)
    """The answers of processes that have described plugins, so that no process needs to ask again."""
    versions: Mapping[tuple[str, bool, str], PluginVersion] = field(default_factory=dict)
    """Code that is not at the place that the spec names, because a node of a cluster keeps it in a separate folder.

    The key consists of the agent, whether the code is the `plugin` of the entry, and the text that names the code in the spec.
    """
    twins: Mapping[str, str] = field(default_factory=dict)
    """The plugins of the organiser that are the same file as the code of an entry. The key is the place where the code of the
    entry is now, and the value is the path of the organiser's plugin.
    """
    claims: Mapping[str, Told] = field(default_factory=dict)
    """Facts about plugins, by file, that the authors have claimed. No process is asked about these plugins. The facts have been
    validated.
    """


CODE = "code"
"""The name of the source of agents with their own code."""


def shared_code(shared: Mapping[str, Any]) -> SharedCode:
    """Return the part about the code of entries from `Spec.shared` or `SpecReader.shared`."""
    found: SharedCode = shared.get(CODE) or SharedCode()
    return found


@cache
def list_needed_plugins(*games: str, agent: str | None = None) -> tuple[str, ...] | None:
    """Return the names of the installed plugins that an agent needs for some games. These are the plugins with the games, with
    heuristics for them, with search engines, and with the `agent` (None for an agent with its own code). None stands for all
    installed plugins.

    The process of an agent loads no others, because that would take most of its time to start.
    """
    installed = load_plugins(environ=False).sources
    if not all(("game", name) in installed for name in games):
        return None  # a plugin with a game of its own may use anything
    needed = {key for key in installed if key[0] == "search-engine" or (key[0] in ("game", "heuristic") and key[1] in games)}
    needed |= {key for key in installed if key == ("agent", agent)}
    return tuple(sorted({installed[key].name.rpartition(":")[2] for key in needed}))


@cache
def list_installed_code(agent: str | None = None) -> frozenset[Path]:
    """Return the user's own files of the installed plugins that a process may load in a sandbox: of those that define anything
    but agents, and of the one that defines `agent`. Packages in site-packages are left out, because every sandbox shows them.
    """
    registry = load_plugins(environ=False)
    wanted = {source for key, source in registry.sources.items() if key[0] != "agent" or key[1] == agent}
    files = [plugin.file for plugin in registry.plugins if plugin.source in wanted and plugin.file and not plugin.source.own]
    return frozenset([found for file in files if PythonFile(Path(file)).is_own() for found in list_package(Path(file))])


def list_plugin_code(plugin: str) -> set[Path]:
    """Return what a sandbox shows of a plugin of the organiser: its file, or the files of its package that are not hidden, and
    the Python files of the user that they import.
    """
    place = PluginPlace(plugin)
    if place.is_file:
        return {Path(plugin)} | PythonFile(Path(plugin)).find_imported()
    file = getattr(sys.modules.get(plugin), "__file__", None)
    return list_package(Path(file)) if file is not None and PythonFile(Path(file)).is_own() else set()


def list_package(file: Path) -> set[Path]:
    """Return the files of the package around a module that are not hidden, and the Python files of the user that they import. A
    folder without hidden files stands for all of its files.
    """
    found = files_of(file, PythonProcess.import_path())
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return found if top == file else {one for one in found if not one.is_relative_to(top)} | set(_list_visible(top))


def _list_visible(folder: Path) -> Iterator[Path]:
    if not any(one.name.startswith(".") for one in folder.rglob("*")):
        yield folder
        return
    for one in folder.iterdir():
        if not one.name.startswith("."):
            yield from _list_visible(one) if one.is_dir() and not one.is_symlink() else (one,)


class NoVersion(ArenaError):
    """A version, or the plugin of an entry, is not available. The message gives the reason."""


def version_of(registry: Registry, agent: str, text: str, folder: Path) -> PluginVersion:
    """Return a version of the plugin that defines `agent`. `text` is `git:REVISION`, or the path of a Python file relative to
    `folder`.

    None of its code is run. Raises NoVersion or RevisionError if it is not available.
    """
    current: Path | None = None
    module: str | None = None
    source = registry.sources.get(("agent", agent))
    if source is not None:
        if source.own:
            raise NoVersion(f"{agent} comes with arena; only your own plugins can have versions")
        plugin = next(one for one in registry.plugins if one.source == source)
        current = Path(plugin.file or source.name)
        if source.asked and not PluginPlace(source.name).is_file:
            module = source.name
        elif not source.asked:
            loaded = list(sys.modules.items())
            module = next((name for name, one in loaded if getattr(one, "__file__", None) == str(current)), None)
    if current is None and text.startswith(GIT):
        raise NoVersion(f"no plugin defines {agent!r} now, so its file is unknown; give the file of that version instead")
    return version_beside(current, text, folder, module)


def version_beside(current: Path | None, text: str, folder: Path, module: str | None = None) -> PluginVersion:
    """Do as `version_of` does, for a plugin with the file `current`. If `module` is given, the version is loaded by this
    name.
    """
    if current is None or not text.startswith(GIT):
        place = _python_file(text, folder, f"a Python file, or {GIT}REVISION such as {GIT}HEAD~1")
        moved = (
            None if PythonFile(place).stands_alone() else ("", str(place.parent))
        )  # the folder of the file comes first, as with `python FILE`
        return PluginVersion(text, str(place), str(place), moved, _hash(place, files_of(place, moved_path(moved))))
    found = revision(text.removeprefix(GIT), current)
    file = taken_out(found, current, alone=True)
    if module is None and PythonFile(file).stands_alone() and "__file__" not in file.read_text(errors="replace"):
        return PluginVersion(found.text, str(file), str(file), None, _hash(file, files_of(file, ())))
    file = taken_out(found, current, alone=False)
    root = found.root.resolve()
    tree = Path(str(file).removesuffix(current.resolve().relative_to(root).as_posix()))
    moved = (str(root), str(tree))
    return PluginVersion(found.text, module or str(file), str(file), moved, _hash(file, files_of(file, moved_path(moved))))


def submission(text: str, folder: Path, others: Collection[Path], foreign: Iterable[Path] = ()) -> PluginVersion:
    """Return the plugin of an entry by its path `text` relative to `folder`. None of its code is run. Raises NoVersion if it is
    not available.

    The plugin may import from its own folder, unless one of `others`, the plugins of other entries, is in that folder or below
    it. In that case, the plugin consists of its file alone, so that no entry gets the code of another entry. In a sandbox, it
    cannot read any of the `foreign` files, even if it imports them.
    """
    file = _python_file(text, folder, "a Python file, by its path relative to the spec")
    shared = any(other != file and other.is_relative_to(file.parent) for other in others)
    moved = None if shared or PythonFile(file).stands_alone() else ("", str(file.parent))
    version = PluginVersion(text, str(file), str(file), moved, "", submitted=True)
    unseen = frozenset([os.path.realpath(one) for one in foreign]) - {str(file)}
    imported = {str(one) for one in version.files() if os.path.realpath(one) in unseen}
    return replace(version, code=version.hash(), foreign=frozenset(imported))


def seal_submission(file: Path, code: str | None = None) -> PluginVersion:
    """Return the plugin in a folder that contains nothing else. `code` is its hash; if it is not given, it is computed from the
    files: from the code as in `submission`, and from every byte of the other files in the folder, such as weights.
    """
    version = PluginVersion(str(file), str(file), str(file), ("", str(file.parent)), code or "", submitted=True, sealed=True)
    if code is not None:
        return version
    imported = files_of(file, moved_path(version.moved))
    return replace(version, code=_hash(file, imported, readable_files(version) - imported))


def readable_files(version: PluginVersion) -> set[Path]:
    """Return the files that a version may read in a sandbox. If it is the plugin of an entry, these are the files in its own
    folder.

    A sealed version may read its folder as a whole, including data files such as weights. Links that lead out of the folder are
    left out, and so are compiled Python files, because they need not belong to the source beside them.
    """
    if not version.submitted:
        return version.files()
    file = Path(version.file)
    if version.sealed:
        found = {one for one in file.parent.rglob("*") if one.name != LAID_OUT and BYTECODE not in one.parts and one.is_file()}
    else:
        found = set() if version.moved is None else {one for one in version.files() if str(one) not in version.foreign}
    folder = file.parent.resolve()
    return {file} | {one for one in found if one.resolve().is_relative_to(folder)}


def moved_path(moved: tuple[str, str] | None) -> list[str]:
    """Return the import path of this process, in which one folder and its subfolders are replaced (see `PluginVersion.moved`).
    Subfolders that do not exist at the new place stay unchanged.

    If the first text in `moved` is empty, the folders in the second one are put at the beginning.
    """
    path = PythonProcess.import_path()
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


def _hash(file: Path, files: set[Path], others: Collection[Path] = ()) -> str:
    """Return a hash of the code in a file and in the files that it imports. The files are found by reading the code.

    Comments, docstrings, and the name and the place of the file do not change the hash. Of `others`, which are files in the
    folder of `file`, it covers the places and every byte.
    """
    whole = blake2b(PythonFile.parse_file(file).digest, digest_size=16)
    for name, digest in sorted([(one.name, PythonFile.parse_file(one).digest) for one in files - {file}]):
        whole.update(_pack(name, digest))
    for name, digest in sorted([(str(one.relative_to(file.parent)), PythonFile.digest_bytes(one)) for one in others]):
        whole.update(_pack(name, digest))
    return whole.hexdigest()


def _pack(name: str, digest: bytes) -> bytes:
    """Return the name of a file and its digest, so that no two lists of files give the same bytes."""
    unbroken = name.replace("\n", "\0")  # no name of a file has a zero
    return f"{unbroken}\n".encode(errors="surrogateescape") + digest


def files_of(file: Path, path: Sequence[str]) -> set[Path]:
    """Return a file, its whole package, and the user's own files that they import from the folders of `path`."""
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    own = {file} if top == file else set(PythonFile.find_sources(top))
    return own | {found for one in own for found in PythonFile(one).find_imported(list(path) or None)}


def _python_file(text: str, folder: Path, expected: str) -> Path:
    """Return the real path of a Python file. Raises NoVersion if there is none."""
    file = folder / text
    if not os.path.isfile(file):  # noqa: PTH113 - accepts names that no file can have
        raise NoVersion(f"no such file: {file}; expected {expected}")
    if file.suffix != ".py":
        raise NoVersion(f"{text} is not a Python file; expected a name that ends in .py")
    return Path(os.path.realpath(file))


def version_in(program: Program) -> PluginVersion | None:
    """Return the code that the process of a program loads; None if it has no code of its own."""
    assert program.version is None or isinstance(program.version, PluginVersion)
    return program.version
