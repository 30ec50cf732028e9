"""A spec file as plain values, with the line and column of each value.

The syntax is YAML 1.2 with the core schema: `no` and `1:30` are text, `012` is the number 12, and `1e5` is a number. There are no
merge keys and no dates. Duplicate keys are faults, and so are tags that are not in the core schema. Limits keep aliases from
expanding a small file without bound; files that are too large or too deeply nested are refused.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path as FilePath
from typing import Any, ClassVar, cast

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from arena.errors import SpecError, SpecFault, listing

MAX_FILE_BYTES = 1 << 20
"""The largest file in bytes; a larger one is refused without reading it."""
MAX_VALUES = 100_000
"""The most values in a file, with aliases expanded."""
MAX_NODES = 2 * MAX_VALUES
"""The largest number of keys and values in a file. They are counted before the whole file is in memory."""
MAX_CHARACTERS = 4 << 20
"""The most characters in the values of a file, with aliases expanded."""
MAX_DIGITS = 1000
"""The most digits that an integer may have."""
MAX_NESTING = 50
"""The most levels to which values may be nested."""

Path = tuple[str | int, ...]
"""The place of a value: the keys and indices that lead to it from the top level."""
Place = tuple[int, int]
"""Line and column, counted from 1; (0, 0) if unknown."""

NOWHERE: Place = (0, 0)
UNWRITTEN = "<spec>"
"""The name of a spec that does not come from a file."""

_TOO_DEEP = f"nested deeper than {MAX_NESTING} levels"


@dataclass(frozen=True, slots=True)
class Document:
    """A spec as it was written: plain values and their places."""

    DATABASE_SUFFIXES: ClassVar = (".db", ".sqlite", ".sqlite3")
    """Suffixes of files that are always taken for stores."""

    name: str
    """Its name in messages: the path of the file as the user wrote it."""
    values: dict[str, Any]
    folder: FilePath
    """The folder to which relative paths in the file refer."""
    places: Mapping[Path, Place] = field(default_factory=dict)
    keys: Mapping[Path, Place] = field(default_factory=dict)
    faults: tuple[SpecFault, ...] = ()
    """Syntax faults, such as duplicate keys, after which the rest of the file could still be read."""

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Return the place of a value, or of its key if `key` is true. A missing value has the place of the value around it."""
        if key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return NOWHERE

    @classmethod
    def read(cls, file: str | PathLike[str]) -> "Document":
        """Read a spec file. Raises SpecError if its syntax is so wrong that other faults cannot be found."""
        name = fspath(file)
        path = FilePath(file)
        text = _read(name, path)
        if path.suffix == ".py":
            shown = shlex.quote(name)
            tried = f"`arena try {shown}` tries its agents and games, and `arena run SPEC --plugin {shown}` uses them in a spec"
            raise _fault(name, f"this is a Python file, and not a spec in YAML; {tried}")
        return cls.parse(name, text, path.resolve().parent)

    @classmethod
    def parse(cls, name: str, text: str, folder: FilePath) -> "Document":
        """Parse the text of a spec. Raises SpecError if its syntax is so wrong that other faults cannot be found."""
        if len(text) > MAX_CHARACTERS:
            raise _fault(name, f"expected at most {MAX_CHARACTERS:,} characters of YAML, got {len(text):,}")
        try:
            return _Composed(name, text).document(folder)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = (mark.line + 1, mark.column + 1) if mark else NOWHERE
            reason = ", ".join(filter(None, [error.context, error.problem])) or "not YAML"
            raise _fault(name, f"not YAML: {reason}", place) from error
        except ReaderError as error:
            message = f"not YAML: the character U+{error.character:04X} is not allowed"
            raise _fault(name, message, _place_after(text[: error.position])) from error
        except (ValueError, OverflowError) as error:  # PyYAML passes the number of an escape sequence to `chr`
            raise _fault(name, f"not YAML: an escape sequence stands for no character ({error})") from error

    @staticmethod
    def is_database(path: str | PathLike[str]) -> bool:
        """Return whether a file is a SQLite database, as every store is; False if it cannot be read.

        One sign of three is enough, so that the damage of a file is described and the file is not taken for something else: its
        name, the start of its header, or a part of a store's schema.
        """
        try:
            if not FilePath(path).is_file():  # opening a pipe would block
                return False
            with FilePath(path).open("rb") as stream:
                head = stream.read(_SCHEMA_BYTES)
        except (OSError, ValueError):
            return False
        alike = sum(map(int.__eq__, head, _DATABASE))
        return FilePath(path).suffix in Document.DATABASE_SUFFIXES or alike >= len(_DATABASE) - 2 or _STORE_INDEX in head


def make_document(values: Mapping[Any, Any]) -> Document:
    """Return a mapping as a document, with the plain values that a file would contain. SpecError if a key is not text."""
    return Document(UNWRITTEN, _make_plain(values, 0), FilePath.cwd())


def _make_plain(value: Any, depth: int) -> Any:
    if depth > MAX_NESTING:
        raise _fault(UNWRITTEN, _TOO_DEEP)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise _fault(UNWRITTEN, f"expected text as a key, got {key!r}")
        return {key: _make_plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_plain(inner, depth + 1) for inner in value]
    return fspath(value) if isinstance(value, PathLike) else value


def _read(name: str, path: FilePath) -> str:
    try:
        if path.is_dir():
            raise _fault(name, "is a directory; expected a YAML file")
        if Document.is_database(path):
            raise _fault(name, f"is a store, not a spec; `arena leaderboard {shlex.quote(name)}` shows it")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise _fault(name, f"has {size:,} bytes; expected a spec of at most {MAX_FILE_BYTES:,}")
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)  # the size of a pipe is unknown
    except FileNotFoundError as error:
        raise _fault(name, "no such file") from error
    except (OSError, ValueError) as error:
        raise _fault(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise _fault(name, f"expected a spec of at most {MAX_FILE_BYTES:,} bytes")
    return decode_text(name, data)


_DATABASE = b"SQLite format 3\0"
"""The first bytes of every SQLite database."""
_STORE_INDEX = b"CREATE INDEX place_of_record ON place (record)"
"""A part of the schema of every store."""
_SCHEMA_BYTES = 1 << 16
"""The schema is in the first bytes of a store, because it is written before any match."""


def decode_text(name: str, data: bytes) -> str:
    """Return the text of a file. Raises SpecError with line and column if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _fault(name, "not text: expected UTF-8", _place_after(error.object[: error.start].decode())) from error


def _place_after(text: str) -> Place:
    lines = re.split(r"\r\n|\r|\n", text)
    return len(lines), len(lines[-1]) + 1


def _fault(name: str, message: str, place: Place = NOWHERE) -> SpecError:
    return SpecError([SpecFault(name, *place, "", message)])


class _CoreLoader(Reader, Scanner, Parser, Composer, BaseResolver):
    """PyYAML's reader with the core schema of YAML 1.2; PyYAML itself uses YAML 1.1."""

    def __init__(self, name: str, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self.file = name
        self.depth = self.nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a value, unless there are too many, or it is nested so deeply that Python's stack might overflow."""
        self.nodes += 1
        if self.nodes > MAX_NODES and parent is not None:
            raise _fault(self.file, f"expected at most {MAX_VALUES:,} values", _place(parent))
        if self.depth > MAX_NESTING + 1 and parent is not None:
            raise _fault(self.file, _TOO_DEEP, _place(parent))
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_NULL = re.compile(r"(?:null|Null|NULL|~|)$")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")
_TAG = "tag:yaml.org,2002:"
for _name, _pattern, _first in (
    ("null", _NULL, ["~", "n", "N", ""]),
    ("bool", _BOOL, list("tTfF")),
    ("int", _INT, list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
):
    _CoreLoader.add_implicit_resolver(_TAG + _name, _pattern, _first)

_EXACT = 1 << 53


def _parse_number(text: str) -> int | float:
    value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    whole = "." not in text and abs(value) < _EXACT and value == int(value)
    return int(value) if whole else value


_SCALARS: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "null": (_NULL, lambda _: None),
    "bool": (_BOOL, lambda text: text.lower() == "true"),
    "int": (_INT, lambda text: int(text, 0 if text.startswith(("0o", "0x")) else 10)),
    "float": (_FLOAT, _parse_number),
}


class _Composed:
    """Turns the node graph of a file into plain values."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.places: dict[Path, Place] = {}
        self.keys: dict[Path, Place] = {}
        self.faults: list[SpecFault] = []
        self.values = 0
        self.characters = 0

    def document(self, folder: FilePath) -> Document:
        root = _CoreLoader(self.name, self.text).get_single_node()
        if root is None:
            raise _fault(self.name, "is empty; expected at least the keys game and agents")
        if not isinstance(root, yaml.MappingNode):
            kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
            raise _fault(self.name, f"expected keys such as game and agents at the top, got {kind}", _place(root))
        values = self.plain(root, (), ())
        return Document(self.name, values, folder, self.places, self.keys, tuple(self.faults))

    def plain(self, node: yaml.Node, path: Path, above: tuple[int, ...]) -> Any:
        self.values += 1
        if self.values > MAX_VALUES:
            raise _fault(self.name, f"expected at most {MAX_VALUES:,} values with aliases expanded", _place(node))
        if id(node) in above or len(above) > MAX_NESTING:
            message = "the alias contains itself" if id(node) in above else _TOO_DEEP
            raise _fault(self.name, message, _place(node))
        self.places[path] = _place(node)
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, self.characters_of(node))
        self.check_tag(node)
        inside = (*above, id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, (*path, number), inside) for number, item in enumerate(node.value)]
        pairs = self.pairs(cast(yaml.MappingNode, node), path)
        return {key: self.plain(value, (*path, key), inside) for key, value in pairs}

    def pairs(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, yaml.Node]]:
        first: dict[str, Place] = {}
        for key_node, value in node.value:
            key = self.key(key_node)
            if key in first:
                line, column = first[key]
                self.fault(key_node, f"duplicate key {key!r}, first given at {line}:{column}")
                continue
            first[key] = _place(key_node)
            self.keys[(*path, key)] = _place(key_node)
            yield key, value

    def key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise _fault(self.name, "expected a word as a key", _place(node))
        key = self.characters_of(node)
        self.scalar(node, key)  # a tag of a key must fit, too, although keys are always text
        if key == "<<" and not node.style:
            self.fault(node, "YAML 1.2 has no merge keys; write the keys out")
        return key

    def scalar(self, node: yaml.ScalarNode, text: str) -> Any:
        self.check_tag(node)
        kind = node.tag.removeprefix(_TAG)
        if kind not in _SCALARS:
            return text
        pattern, convert = _SCALARS[kind]
        if kind == "int" and len(text) > MAX_DIGITS:
            self.fault(node, f"expected an integer of at most {MAX_DIGITS} digits, got {len(text)}")
        elif pattern.match(text):
            return convert(text)
        else:
            self.fault(node, f"expected {kind}, got {text[:40]!r}")
        return None

    def characters_of(self, node: yaml.ScalarNode) -> str:
        self.characters += len(node.value)
        if self.characters > MAX_CHARACTERS:
            raise _fault(self.name, f"expected at most {MAX_CHARACTERS:,} characters with aliases expanded", _place(node))
        units: bytes = node.value.encode("utf-16", "surrogatepass")
        try:
            return units.decode("utf-16")  # two escapes may be one character, as in JSON
        except UnicodeDecodeError:
            self.fault(node, "not valid text: an escape sequence is half of a surrogate pair")
            return units.decode("utf-16", "replace")

    def check_tag(self, node: yaml.Node) -> None:
        kind = node.tag.removeprefix(_TAG) if node.tag else ""
        if kind not in (*_FITTING[type(node)], "!", ""):
            fitting = listing([f"!!{name}" for name in _FITTING[type(node)]], "or")
            written = f"!!{kind}" if kind != node.tag else kind
            self.fault(node, f"expected no tag here except {fitting}, got {written[:40]!r}; leave it out")

    def fault(self, node: yaml.Node, message: str) -> None:
        self.faults.append(SpecFault(self.name, *_place(node), "", message))


_FITTING: dict[type[yaml.Node], tuple[str, ...]] = {
    yaml.ScalarNode: (*_SCALARS, "str"),
    yaml.SequenceNode: ("seq",),
    yaml.MappingNode: ("map",),
}


def _place(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1
