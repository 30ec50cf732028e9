"""Collects the code and the data files of a spec, and decides where each file is in the bundle.

Files in the folder of the spec keep their paths relative to this folder, so the paths in the spec stay valid. A file from any
other folder is put into a numbered folder, so that a bundle does not contain the names of the author's folders.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version as version_of
from pathlib import Path, PurePosixPath
from typing import Any

from arena import ArenaError, Spec
from arena.api.cli import distribution
from arena.api.match import Seat
from arena.api.processes import PythonProcess
from arena.api.spec import Parameters, PluginPlace, PythonFile
from arena_bundle.layout import OUTSIDE, TOURNAMENT, Code, Version
from arena_isolation.versions import PluginVersion, moved_path, seal_submission, version_in

SKIPPED_FOLDER = "__pycache__"
OWN_PLACE = re.compile(rb"\b__file__\b")
"""How code names its own file, usually in order to find other files."""


class CodeFiles:
    """The code and the data files of a spec."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.folder = spec.document.folder.resolve()
        self.files: dict[str, Path] = {}
        """For each path in the bundle, the path of the file on this machine."""
        self.notes: list[str] = []
        self.data: dict[str, Path] = {}
        """The data files that options name, by the texts in the spec."""
        self.code = Code()
        self._folders: dict[Path, str] = {self.folder: TOURNAMENT}
        self._imports = [Path(entry).resolve() for entry in PythonProcess.import_path()]
        for plugin in PluginPlace.list_asked(spec.plugins):
            self._add_plugin(plugin)
        self._add_installed()
        for board in spec.boards:
            files = Parameters(type(board.game)).find_files(board.parameters, self.folder)
            for name, path in files.items():
                self._add_data(str(board.parameters[name]), Path(path))
            for seat in board.seats:
                self._add_seat(seat)
        found = [self._place(entry) for entry in self._imports if any(entry.is_relative_to(root) for root in self._folders)]
        used = {str(above) for name in self.files for above in PurePosixPath(name).parents}
        self.code.folders = [place for place in dict.fromkeys(found) if place in used]

    def add_data(self, given: Path) -> None:
        """Add a file that the code reads by itself, or all files in a folder."""
        for file in self._files_below(given.resolve()):
            self._add(file)

    def list_readers(self) -> list[str]:
        """Return the files of code that name `__file__`. They may read data files beside them, which arena does not know."""
        return [name for name, file in sorted(self.files.items()) if file.suffix == ".py" and OWN_PLACE.search(file.read_bytes())]

    def _place(self, file: Path) -> str:
        """Return the path that a file or folder gets in the bundle. It must be in a known folder."""
        root = max([entry for entry in self._folders if file.is_relative_to(entry)], key=lambda entry: len(entry.parts))
        return (PurePosixPath(self._folders[root]) / file.relative_to(root).as_posix()).as_posix()

    def _add(self, file: Path) -> str:
        """Add a file and return its path in the bundle."""
        file = file.resolve()
        if not file.is_relative_to(self.folder):
            above = [entry for entry in (*self._folders, *self._imports) if file.is_relative_to(entry)]
            root = max(above, key=lambda entry: len(entry.parts), default=file.parent)
            self._folders.setdefault(root, f"{OUTSIDE}/{len(self._folders) - 1}")
        name = self._place(file)
        self.files[name] = file
        return name

    def _add_plugin(self, plugin: str) -> None:
        place = PluginPlace(plugin)
        if not place.is_file:
            self._add_package(plugin)
            self.code.plugins.append(plugin)
            return
        file = Path(place.real)
        beside = self._files_below(file.parent) if file.name == "__init__.py" else ()  # a package
        for other in (*beside, *PythonFile(file).find_imported()):
            self._add(other)
        self.code.plugins.append(self._add(file))

    def _add_package(self, module: str) -> None:
        """Add the files of the package that contains a module."""
        file = Path(getattr(sys.modules[module], "__file__", None) or "")
        top = file.parent if "." in module or file.name == "__init__.py" else None
        while top is not None and (top.parent / "__init__.py").is_file():
            top = top.parent
        root = (file if top is None else top).resolve().parent
        self._folders.setdefault(root, f"{OUTSIDE}/{len(self._folders) - 1}")
        if root not in self._imports:
            self._imports.append(root)
        for one in [file] if top is None else self._files_below(top):
            self._add(one)
            for other in PythonFile(one).find_imported() if one.suffix == ".py" else ():
                self._add(other)

    def _add_installed(self) -> None:
        """Add the plugins that the spec uses and that were installed as packages, except for the plugins of arena itself."""
        registry = self.spec.registry
        keys: set[tuple[str, ...]] = set()
        for board in self.spec.boards:
            keys |= {("game", board.name), ("format", board.format.name)}
            keys |= {("agent", seat.agent) for seat in board.seats}
            keys |= {("heuristic", board.name, seat.heuristic) for seat in board.seats if seat.heuristic is not None}
        used = {registry.sources[key] for key in keys if key in registry.sources}
        for plugin in registry.plugins:
            if plugin.source in used and not plugin.source.asked and not plugin.source.own and plugin.file is not None:
                named = [name for name, one in list(sys.modules.items()) if getattr(one, "__file__", None) == plugin.file]
                for module in named[:1]:
                    self._add_package(module)
                    self.code.installed[module] = plugin.source.name

    def _add_seat(self, seat: Seat) -> None:
        for text, path in seat.files:
            self._add_data(text, Path(path))
        program = seat.program
        version = None if program is None else version_in(program)
        if version is not None:
            self._add_version(seat.agent, version)
        for word in () if program is None or program.command is None else program.command:
            file = self.folder / word
            if file.is_file() and not os.path.isabs(word):  # noqa: PTH117 - a word is not always a path
                self.code.programs[word] = self._add(file)
                for other in PythonFile(file).find_beside():
                    self._add(other)

    def _add_version(self, agent: str, version: PluginVersion) -> None:
        if any((one.agent, one.code) == (agent, version.code) for one in self.code.versions):
            return
        moved = [] if version.moved is None else [Path(one).resolve() for one in version.moved[1].split(os.pathsep)]
        for root in moved:
            if not root.is_relative_to(self.folder):
                self._folders.setdefault(root, f"{OUTSIDE}/{len(self._folders) - 1}")
        file = self._add(Path(version.file))
        for other in version.files():
            self._add(other)
        path = [Path(entry).resolve() for entry in moved_path(version.moved)]
        first = [entry for entry in path if any(entry.is_relative_to(root) for root in moved)]
        plugin = file if version.plugin == version.file else version.plugin
        text = version.text if not os.path.isabs(version.text) else os.path.relpath(file, TOURNAMENT)  # noqa: PTH117
        self.code.versions.append(
            Version(
                agent=agent,
                submitted=version.submitted,
                text=text,
                plugin=plugin,
                file=file,
                folders=[self._place(entry) for entry in first] or None,
                code=version.code,
                sealed=version.sealed and seal_submission(Path(version.file)).code == version.code,
            )
        )

    def _add_data(self, text: str, path: Path) -> None:
        if not path.resolve().is_relative_to(self.folder) or os.path.isabs(text):  # noqa: PTH117
            self.notes.append(
                f"{text} is not in the folder of the spec, so matches that need it cannot be replayed from this bundle; "
                "move it into that folder and use a relative path"
            )
            return
        self.data[text] = path
        for file in self._files_below(path):
            self._add(file)

    def document_values(self) -> dict[str, Any]:
        """Return the keys of the spec. Paths of its plugins, and other absolute paths, are replaced by paths in the bundle."""
        places = {str(place): os.path.relpath(name, TOURNAMENT) for name, place in self.files.items()}

        def replace(value: Any, key: str = "") -> Any:
            if isinstance(value, Mapping):
                return {name: replace(one, name) for name, one in value.items()}
            if isinstance(value, list):
                return [replace(one, key) for one in value]
            if not isinstance(value, str) or key not in ("plugins", "plugin", "version"):
                return value
            if key == "plugins":  # a link is packed as the file that it leads to
                return places.get(PluginPlace(PluginPlace.locate(self.folder, value)).real, value)
            return places.get(os.path.realpath(value), value) if os.path.isabs(value) else value  # noqa: PTH117

        return {key: replace(value, key) for key, value in self.spec.document.values.items()}

    def _files_below(self, place: Path) -> Iterator[Path]:
        """Yield a file, or all files in a folder and its subfolders, sorted. Hidden files are skipped, with a note.

        Raises ArenaError if the folder contains a link to a place outside it, or anything else that is not a file.
        """
        if not place.is_dir():
            yield place
            return
        hidden: list[str] = []
        for folder, below, names in os.walk(place):
            found = sorted([name for name in (*below, *names) if name != SKIPPED_FOLDER])
            hidden += [str(Path(folder, name).relative_to(place)) for name in found if name.startswith(".")]
            below[:] = [name for name in sorted(below) if name in found and not name.startswith(".")]
            for one in [Path(folder, name) for name in found if not name.startswith(".")]:
                if not Path(os.path.realpath(one)).is_relative_to(place.resolve()):
                    raise ArenaError(
                        f"{one} links to a file outside {place}, which a bundle cannot contain; replace it with a copy"
                    )
                if one.is_symlink() and one.is_dir():
                    raise ArenaError(f"{one} is a link to a folder, which a bundle cannot contain; replace it with a copy")
                if not one.is_dir():
                    if not one.is_file():
                        raise ArenaError(f"{one} is not a regular file (a broken link, a pipe or a device); remove it")
                    yield one
        if hidden:
            shown = ", ".join(hidden[:5]) + (", ..." if len(hidden) > 5 else "")
            self.notes.append(
                f"the bundle does not contain the hidden files and folders in {place.name}: {shown}; if the code reads one "
                "of them, "
                "add the file with --data"
            )


def list_libraries(code: CodeFiles | None) -> dict[str, str]:
    """Return the versions of the packages that arena needs, and of the packages that the code in a bundle imports.

    If games or agents of the spec come from a bridge, which connects arena to another library, the packages that this bridge
    needs are included.
    """
    wanted, extras = set[str](), {""}
    if code is not None:
        registry, boards = code.spec.registry, code.spec.boards
        used: list[type | None] = [registry.games.get(board.name) for board in boards]
        used += [registry.agents.get(seat.agent) for board in boards for seat in board.seats]
        extras |= {
            one.__module__.split(".")[1] for one in used if one is not None and one.__module__.startswith("arena_bridges.")
        }
        owners = packages_distributions()
        files = [file for file in code.files.values() if file.suffix == ".py"]
        imported = {
            one.module.partition(".")[0] for file in files for one in PythonFile.parse_file(file).imports if not one.level
        }
        wanted |= {owner for name in imported for owner in owners.get(name, ())} - {distribution()}
    for line in requires(distribution()) or ():
        name, extra = re.match(r"[\w.-]+", line), re.search(r"extra == ['\"]([\w-]+)", line)
        if name is not None and (extra[1] if extra else "") in extras:
            wanted.add(name[0])
    found: dict[str, str] = {}
    for one in sorted(wanted):
        with suppress(PackageNotFoundError):
            found[one] = version_of(one)
    return found
