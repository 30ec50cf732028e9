"""A spec while it is being read: what is known so far, and the faults found so far."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.errors import ArenaError, Interrupted, PluginError, SpecError, SpecFault, UnknownName, describe, escape_line
from arena.plugins.registry import Registry
from arena.secret import Seed
from arena.spec.document import Document, Path
from arena.spec.parameters import UNKNOWN_KEY, Report
from arena.spec.sweep import Variant
from arena.tracking import Postponed

if TYPE_CHECKING:
    from arena.spec.source import SourceReader


def format_path(path: Path) -> str:
    """A path as people write it: `agents[2].depth`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return escape_line(text)


@dataclass(slots=True)
class Faults:
    """The faults found so far in one document."""

    document: Document
    found: dict[SpecFault, None] = field(default_factory=dict)
    """In the order in which they were found, each once."""
    noted: int = 0
    """How often a fault was noted, those that were known already too: so a reader knows whether its part is sound."""

    cause: BaseException | None = None
    """The first of the exceptions of an author's code, for whoever asks for tracebacks."""

    def __post_init__(self) -> None:
        self.found.update(dict.fromkeys(self.document.faults))

    def add(self, path: Path, message: str, *, key: bool = False, cause: BaseException | None = None) -> None:
        """Note a fault at the value of a path, or with `key` at the key itself, and what an author's code has raised there."""
        self.cause = self.cause or cause
        line, column = self.document.place(path, key=key)
        self._note(SpecFault(self.document.name, line, column, format_path(path), escape_line(message)))

    def add_at(self, file: str, line: int, where: Path, message: str) -> None:
        """Note a fault in another file that the spec names."""
        self._note(SpecFault(escape_line(file), line, 1 if line else 0, format_path(where), escape_line(message)))

    def _note(self, fault: SpecFault) -> None:
        self.found.setdefault(fault)
        self.noted += 1

    def stop_if_any(self) -> None:
        """Raise SpecError with all faults, if there are any."""
        if self.found:
            raise SpecError(self.found) from self.cause


@dataclass(slots=True)
class SpecReader:
    """What every part of the reader needs: the values, the plugins, and a place for faults."""

    document: Document
    values: dict[str, Any]
    """The spec's own keys; a value of the wrong type is None here, its fault is noted."""
    registry: Registry
    faults: Faults
    seed: Seed = 0
    plugins: tuple[str, ...] = ()
    """What was loaded beside the installed plugins."""
    games: tuple[str, ...] = ()
    """The games of the spec that exist."""
    notes: list[str] = field(default_factory=list)
    lines: list[str] | None = None
    """The positions that a file beside the spec gives."""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """What sources of agents handed on from another process that read this spec, by their names."""
    sources: "dict[str, SourceReader]" = field(default_factory=dict)
    """The readers of sources of agents that entries needed so far, by their names; whoever reads the spec closes them."""

    @property
    def several(self) -> bool:
        """Whether the spec lists games, so that an entry need not fit all of them."""
        return isinstance(self.values.get("games"), list)

    def report(self, path: Path, message: str) -> None:
        """Note a fault at a value; one of an unknown key at the key."""
        self.faults.add(path, message, key=message.startswith(UNKNOWN_KEY))

    def below(self, path: Path, variant: Variant | None = None) -> Report:
        """A reporter for paths counted from `path`, swept values traced back to where they stand."""

        def report(inner: Path, message: str) -> None:
            swept_key = variant is not None and inner in variant.origins and message.startswith(UNKNOWN_KEY)
            self.report((*path, *(variant.origin(inner) if variant and not swept_key else inner)), message)

        return report

    def note(self, text: str) -> None:
        """Remember what the user should know before the run starts."""
        if text not in self.notes:
            self.notes.append(text)

    def is_mapping(self, path: Path) -> bool:
        """Return whether the file has a mapping at a path, and not just a name."""
        value: Any = self.document.values
        for part in path:
            value = value[part]
        return isinstance(value, dict)

    def known(self, find: Callable[[str], Any], name: str, path: Path, *, key: bool = False) -> Any:
        """What `find` finds under a name; None after its fault has been noted, with `key` at the key of the path."""
        try:
            return find(name)
        except UnknownName as error:
            self.unknown(path, str(error), key=key)
        except PluginError as error:
            self.faults.add(path, str(error), key=key)
        return None

    def unknown(self, path: Path, message: str, *, key: bool = False) -> None:
        """Note that a name is unknown, and which plugins were left out, since one of them may have it."""
        self.faults.add(path, message, key=key)
        for plugin in self.registry.plugins:
            if plugin.problem is not None:
                self.faults.add((), f"plugin {plugin.source} left out: {plugin.problem}")

    def made(self, kind: Callable[..., Any], parameters: Mapping[str, Any], path: Path) -> Any:
        """An instance of a plugin's class; None after whatever it raised has been noted. Its warnings become notes.

        If its long work is postponed, it is a function that must not be called.
        """
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = kind(**parameters)
            for warning in caught:
                self.note(f"{format_path(path)}: {warning.message}")
            return made
        except Interrupted:
            raise
        except Postponed:
            return _unbuilt
        except (ArenaError, ValueError) as error:  # in words of its own, such as those of a library that is not installed
            self.faults.add(path, str(error) or describe(error))
        except BaseException as error:  # a plugin's own fault, whatever it raises
            self.faults.add(path, f"cannot be made: {describe(error)}", cause=error)
        return None


def _unbuilt(*_: Any) -> Any:
    raise RuntimeError("a heuristic whose tables were not built is asked; load the spec without postponing them")


def drop_keys(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A mapping without some of its keys."""
    return {key: value for key, value in values.items() if key not in keys}
