"""The state of reading a spec, with the faults found so far."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from arena.errors import (
    ArenaError,
    Interrupted,
    PluginError,
    SpecError,
    SpecFault,
    UnknownName,
    cut,
    describe_unmade,
    escape_line,
)
from arena.plugins.registry import Registry
from arena.secret import Seed
from arena.spec.document import Document, Path
from arena.spec.parameters import UNKNOWN_KEY, Report, add_hints, check_value, explain_unknown, make_adapter
from arena.spec.sweep import Variant
from arena.tracking import Postponed
from arena.version import hint_at_distribution

LADDER_KEYS = frozenset({"feedback", "marks", "requests", "submissions", "until"})
"""Keys that only the spec of a ladder has."""

MAX_FAULTS_PER_KEY = 20
"""The number of faults of a key at the top of a spec that are listed; the others are counted."""
MAX_MESSAGE_CHARACTERS = 1_000
"""The maximum length of the message of a fault, in characters."""


def format_path(path: Path) -> str:
    """Return a path as people write it, for example `agents[2].depth`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return escape_line(text)


@dataclass(slots=True)
class Faults:
    """The faults found so far in one document."""

    document: Document
    found: dict[SpecFault, None] = field(default_factory=dict)
    """The faults in the order in which they were found, each only once."""
    noted: int = 0
    """The number of noted faults, including repeated ones. If it changes while a part is read, the part has a fault."""

    cause: BaseException | None = None
    """The first exception raised by code of an author, for a full traceback."""

    _groups: dict[tuple[str, str], list[SpecFault]] = field(default_factory=dict)
    """The first faults of each file and each key at the top of the spec, and the last one. All unknown keys are one group."""
    _more: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many faults of each group are not in `found`."""

    def __post_init__(self) -> None:
        for fault in self.document.faults:
            self._note(fault)

    def add(self, path: Path, message: str, *, key: bool = False, cause: BaseException | None = None) -> None:
        """Report a fault at the value of a path, or at its key if `key` is true. `cause` is an exception from the author's
        code.
        """
        self.cause = self.cause or cause
        line, column = self.document.place(path, key=key)
        self._note(SpecFault(self.document.name, line, column, format_path(path), escape_line(message)))

    def add_unknown(self, key: Any, known: Iterable[str]) -> None:
        """Report that a key of the spec is unknown, and name the most similar known ones."""
        value = self.document.values.get(key) if isinstance(self.document.values, dict) else None
        hint = f"only specs of ladders have this key; {hint_at_distribution('ladder')}"
        if len(self._groups.get((self.document.name, UNKNOWN_KEY), ())) > MAX_FAULTS_PER_KEY:
            hint = ""  # this message is only counted, and the search for similar names takes long
        elif key not in LADDER_KEYS:
            hint = explain_unknown(str(key), known, value=value)
        self.add((key,), f"{UNKNOWN_KEY}; {hint}", key=True)

    def check(self, path: Path, hint: Any, value: Any, known: Iterable[str]) -> Any:
        """Return a value, converted by its type hint; None if it has faults. For unknown keys, faults suggest `known` ones."""

        def report(where: Path, message: str) -> None:
            self.add(where, message, key=message.startswith(UNKNOWN_KEY))

        return check_value(make_adapter(hint), value, path, add_hints(report, known))

    def add_at(self, file: str, line: int, where: Path, message: str) -> None:
        """Report a fault in another file, which the spec names."""
        self._note(SpecFault(escape_line(file), line, 1 if line else 0, format_path(where), escape_line(message)))

    def _note(self, fault: SpecFault) -> None:
        """Record a fault. Of many faults of one key, only the first are kept, because a list of positions may have
        millions.
        """
        self.noted += 1
        fault = replace(fault, message=cut(fault.message, MAX_MESSAGE_CHARACTERS))
        top = re.split(r"[.\[]", fault.where)[0]
        key = fault.file, UNKNOWN_KEY if fault.where == top and fault.message.startswith(UNKNOWN_KEY) else top
        group = self._groups.setdefault(key, [])
        if fault in self.found:
            return
        if len(group) < MAX_FAULTS_PER_KEY:
            self.found[fault] = None
            group.append(fault)
        else:
            self._more[key] += 1
            group[MAX_FAULTS_PER_KEY:] = [fault]

    def stop_if_any(self) -> None:
        """Raise SpecError with all faults if there are any."""
        lasts = {key: self._groups[key][-1] for key in self._more}
        more = [
            replace(
                last,
                where="" if key[1] == UNKNOWN_KEY else key[1],
                message=f"{self._more[key]:,} more errors; the last one is here",
            )
            for key, last in lasts.items()
        ]
        if self.found:
            raise SpecError([*self.found, *more]) from self.cause


@dataclass(slots=True)
class SpecReader:
    """The state that all parts of the reader share: the values, the plugins, and the faults."""

    document: Document
    values: dict[str, Any]
    """The top-level keys of the spec. If a value has the wrong type, it is None here and its fault is noted."""
    registry: Registry
    faults: Faults
    seed: Seed = 0
    plugins: tuple[str, ...] = ()
    """Plugins that are loaded in addition to the installed ones."""
    games: tuple[str, ...] = ()
    """The names of the spec's games, without unknown ones."""
    stand_ins: list[Any] = field(default_factory=list)
    """For each game that has a fault in its parameters, its `Rules` with default parameters, with which other parts are
    checked."""
    notes: list[str] = field(default_factory=list)
    lines: dict[Path, list[str]] = field(default_factory=dict)
    """The positions in separate files, by the paths of the values that name the files."""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """Data that agent sources got from another process that has read this spec, by the name of the source."""
    sources: dict[str, Any] = field(default_factory=dict)
    """The readers of agent sources (`SourceReader`) that entries have needed so far, by name. The function that reads the spec
    closes them."""

    @property
    def several(self) -> bool:
        """Whether the spec lists several games. If so, an entry need not be able to play all of them."""
        return isinstance(self.values.get("games"), list)

    def report(self, path: Path, message: str) -> None:
        """Report a fault at a value, or at its key if the key is unknown."""
        self.faults.add(path, message, key=message.startswith(UNKNOWN_KEY))

    def below(self, path: Path, variant: Variant | None = None) -> Report:
        """Return a function like `report` for paths relative to `path`. Values from a sweep keep their places in the file."""

        def report(inner: Path, message: str) -> None:
            swept_key = variant is not None and inner in variant.origins and message.startswith(UNKNOWN_KEY)
            self.report((*path, *(variant.origin(inner) if variant and not swept_key else inner)), message)

        return report

    def note(self, text: str) -> None:
        """Add a note for the user, which is shown before the run starts."""
        if text not in self.notes:
            self.notes.append(text)

    def remark(self, path: Path, text: str) -> None:
        """Add a note about a key of the spec, with its place. Unlike a fault, it does not prevent the run."""
        self.note(str(SpecFault(self.document.name, *self.document.place(path, key=True), format_path(path), escape_line(text))))

    def is_mapping(self, path: Path) -> bool:
        """Return whether the file has a mapping at a path, and not just a name."""
        value: Any = self.document.values
        for part in path:
            value = value[part]
        return isinstance(value, dict)

    def known(self, find: Callable[[str], Any], name: str, path: Path, *, key: bool = False) -> Any:
        """Return the result of `find` for a name. If it fails, note the fault, at the key if `key` is true, and return None."""
        try:
            return find(name)
        except UnknownName as error:
            self.unknown(path, str(error), key=key)
        except PluginError as error:
            self.faults.add(path, str(error), key=key)
        return None

    def unknown(self, path: Path, message: str, *, key: bool = False) -> None:
        """Report that a name is unknown, and list the plugins that were left out, because one of them may define it."""
        self.faults.add(path, message, key=key)
        for plugin in self.registry.plugins:
            if plugin.problem is not None:
                self.faults.add((), f"plugin {plugin.source} left out: {plugin.problem}")

    def made(self, kind: Callable[..., Any], parameters: Mapping[str, Any], path: Path) -> Any:
        """Create an instance of a plugin's class; None if this raised an exception, which is noted. Warnings become notes.

        If expensive work is postponed, the result is a stand-in that must not be called.
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
            return unbuilt
        except BaseException as error:  # a mistake in a plugin may raise any exception
            expected = isinstance(error, (ArenaError, ValueError))
            self.faults.add(path, describe_unmade(error), cause=None if expected else error)
        return None


def unbuilt(*_: Any) -> Any:
    """Stand in for a heuristic before its tables are built, because that is postponed."""
    raise RuntimeError("a heuristic was called before its tables were built; load the spec without postponing them")


def drop_keys(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a mapping without some of its keys."""
    return {key: value for key, value in values.items() if key not in keys}
