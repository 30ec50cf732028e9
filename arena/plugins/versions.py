"""Another version of a plugin, beside the current one: its file, where it imports from, and a hash of its code."""

import os
import sys
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from arena.errors import ArenaError
from arena.match.match import GIT, PluginVersion
from arena.plugins.dependencies import imported, sources, stands_alone
from arena.plugins.registry import Registry
from arena.plugins.revisions import revision, taken_out
from arena.plugins.sources import is_file
from arena.plugins.syntax import parsed
from arena.processes.child import import_path

OURS = Path(__file__).parents[2]
"""The folder that arena itself is imported from: every version plays with the arena of now."""


class NoVersion(ArenaError):
    """A version cannot be had; the message says why."""


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
        return _of_file(text, folder)
    found = revision(text.removeprefix(GIT), current)
    file = taken_out(found, current, alone=True)
    if module is None and stands_alone(file) and "__file__" not in file.read_text(errors="replace"):
        return PluginVersion(found.text, str(file), str(file), None, code_of(file, ()))
    file = taken_out(found, current, alone=False)
    root = found.root.resolve()
    tree = Path(str(file).removesuffix(current.resolve().relative_to(root).as_posix()))
    moved = (str(root), str(tree))
    return PluginVersion(found.text, module or str(file), str(file), moved, code_of(file, moved_path(moved)))


def moved_path(moved: tuple[str, str] | None) -> list[str]:
    """The import path of this process with one folder, and those below it, in another place; those that are not there stay.

    Where the first is empty, the other comes before all.
    """
    path = import_path()
    if moved is None:
        return path
    if not moved[0]:
        return [moved[1], *path]
    before, now = Path(moved[0]), Path(moved[1])
    return [str(_moved(Path(entry).resolve(), before, now) or entry) for entry in path]


def code_of(file: Path, path: Sequence[str]) -> str:
    """A hash of the code of a file and of the user's own files that it imports from the folders of `path`, found by reading.

    Comments, docstrings, and the name and place of the file itself change nothing.
    """
    whole = blake2b(parsed(file).digest, digest_size=16)
    for name, digest in sorted([(one.name, parsed(one).digest) for one in files_of(file, path) - {file}]):
        whole.update(f"{name}\n".encode(errors="surrogateescape") + digest)
    return whole.hexdigest()


def files_of(file: Path, path: Sequence[str]) -> set[Path]:
    """A file, the whole package that it lies in, and what of the user's own they import from the folders of `path`."""
    top = file
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    own = {file} if top == file else set(sources(top))
    return own | {found for one in own for found in imported(one, list(path) or None)}


def _of_file(text: str, folder: Path) -> PluginVersion:
    file = folder / text
    if not file.is_file():
        raise NoVersion(f"no such file: {file}; expected a Python file, or {GIT}REVISION such as {GIT}HEAD~1")
    if file.suffix != ".py":
        raise NoVersion(f"{text} is not a Python file; expected a name that ends in .py")
    place = Path(os.path.realpath(file))
    moved = None if stands_alone(place) else ("", str(place.parent))  # its own folder first, as with `python FILE`
    return PluginVersion(text, str(place), str(place), moved, code_of(place, moved_path(moved)))


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
