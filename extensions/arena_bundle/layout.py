"""The layout of a bundle, which is a zip archive. docs/reference/bundle.md describes it."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from arena import ArenaError, Decision, Pairing, Record
from arena.api.errors import abbreviate
from arena.api.results import BoardInfo
from arena.api.run import Fingerprint, Scheduled
from arena.api.spec import explain_faults, stop_at_fault
from arena.api.store import Run
from arena_records.record_types import RECORD_TYPES, Count, Text

FORMAT = "fairarena-bundle"
VERSION = 1
"""The version of the layout, which is in the manifest. A bundle with a newer version is refused."""

MANIFEST = "manifest.json"
SIGNATURE = "manifest.json.sig"
SPEC = "tournament/spec.json"
RUN = "run.json"
RECORDS = "records.jsonl"
BOARDS = "boards.json"
PRINTED = "boards.txt"
ENVIRONMENT = "environment.json"
CITATION = "CITATION.cff"
ALWAYS = (SPEC, RUN, RECORDS, BOARDS, PRINTED, ENVIRONMENT, CITATION)
"""The files that every bundle has in addition to the manifest."""
TOURNAMENT, OUTSIDE = "tournament", "outside"
"""The folder for files from the folder of the spec, and the folder for files from other folders."""
SUBMISSIONS = f"{TOURNAMENT}/submissions"
"""The folder for the submissions to a ladder. Each has a folder with one file: what was handed in, which may be an archive."""
STORE_NAME = "store.db"
"""The name that stands in the printed boards instead of the path of the store."""

DRAWN = "secret"
"""What a spec gives as its seed if the seed is drawn when the run starts."""


MAX_JSON_PARTS = 4_000_000
"""The largest number of commas and opening brackets in a JSON text, and so of its values, which take some 100 bytes each."""


class NoBundle(ArenaError):
    """A file is not a bundle, is not safe to unpack, or was made by a newer version of arena."""


class Contradiction(ArenaError):
    """A part of a bundle contradicts the rest of the bundle."""

    EXIT_CODE = 1


class Strict(BaseModel):
    """Values that must have exactly the right types, without unknown keys."""

    model_config = ConfigDict(strict=True, extra="forbid")


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Strict):
    """The list of all files, with their hashes."""

    format: Literal["fairarena-bundle"]
    version: int
    arena: str
    """The version of arena that made the bundle."""
    files: dict[str, Digest]
    """The SHA-256 of each file in the bundle, except for the manifest and its signature."""
    left_out: dict[str, Digest]
    """The SHA-256 of each file of code or data that is not in the bundle."""
    without: Literal["code", "code of a ladder"] | None
    """The kind of files that were left out; None if the bundle contains the code."""


class Version(Strict):
    """The code of an entry with the key `plugin` or `version`. Paths are relative to the top of the bundle."""

    agent: str
    submitted: bool
    text: str
    plugin: str
    file: str
    folders: list[str] | None
    """The folders from which the code is imported first; None if it needs none."""
    code: str
    sealed: bool = False
    """Whether the hash `code` covers all files in the folder of `file`, including data files; so it is for new submissions."""


class Code(Strict):
    """How the spec finds its code in the bundle. Paths are relative to the top of the bundle."""

    plugins: list[str] = []
    """The plugins to load, as files or as names of modules."""
    installed: dict[str, str] = {}
    """The modules of plugins that were installed as packages, each with the name of the plugin."""
    folders: list[str] = []
    """The folders from which modules are imported."""
    versions: list[Version] = []
    programs: dict[str, str] = {}
    """The files of programs: for each word of a command in the spec that names a file, the path of the file."""


class RunData(Strict):
    """One call of `arena run`."""

    hash: str
    plugins: dict[str, tuple[str | None, str]]
    """For each plugin, its version, and the hashes of the parts of the plugin that were used."""
    versions: dict[str, str]
    secret: str | None
    commitment: str | None
    revealed: str | None
    started: str
    ended: str | None
    idle: bool = False
    """Whether the run added no match."""


class RunFile(Strict):
    """The content of `run.json`."""

    name: str
    document: str
    """The file name of the spec."""
    seed: int | str
    ladder: bool
    submissions: dict[str, Digest]
    """On a ladder: the SHA-256 of each submission, by its label."""
    boards: list[dict[str, Any]]
    runs: list[RunData]
    code: Code


class Environments(Strict):
    """The content of `environment.json`."""

    runs: list[dict[str, str]]
    """The distinct environments of the runs, see `Run.list_environments`."""
    libraries: dict[str, str]
    """The versions of packages, by name."""


def read_json(text: bytes, what: str) -> Any:
    """Return the values of a JSON text. Raises NoBundle if it is not valid JSON, or would need far more memory than text."""
    if (parts := sum(map(text.count, (b",", b"[", b"{")))) > MAX_JSON_PARTS:
        raise NoBundle(f"{what} has too many values: expected at most {MAX_JSON_PARTS:,} commas and brackets, got {parts:,}")

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a JSON number")

    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, count in Counter([key for key, _ in pairs]).items() if count > 1)
            raise ValueError(f"the key {abbreviate(twice)} occurs twice in the same object")
        return found

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=take)
    except RecursionError:
        raise NoBundle(f"{what} is not JSON that arena reads: its values are nested too deeply") from None
    except ValueError as error:
        digits = sys.get_int_max_str_digits()
        fault = f"a number has more than {digits:,} digits" if "set_int_max_str_digits" in str(error) else str(error)
        raise NoBundle(f"{what} is not JSON: {fault}") from None


def write_json(value: Any) -> bytes:
    """Return a value as the text of a JSON file. Equal values give equal texts."""
    return (json.dumps(value, indent=1, sort_keys=True, allow_nan=False, default=str) + "\n").encode()


Place = tuple[int, int, int, tuple[int, ...]]
"""The place of a match: its number in the schedule, its board, its round, and the entries in its seats."""


class Line(NamedTuple):
    """A match and its places in the schedule."""

    record: Record
    places: list[Scheduled]


_RECORD_KEYS = tuple([key for key in Record._fields if key not in ("traceback", "transcript", "parameters")])
_HINT: Any = tuple.__class_getitem__(
    (
        *[Count | Text if key == "seed" else RECORD_TYPES[key] for key in _RECORD_KEYS],
        Annotated[list[tuple[Count, Count, Count, tuple[Count, ...]]], Field(min_length=1)],
    )
)
_ROW: TypeAdapter[tuple[Any, ...]] = TypeAdapter(_HINT)


def write_line(record: Record, places: list[Scheduled]) -> bytes:
    """Return a match as a line of `records.jsonl`."""
    values = {key: getattr(record, key) for key in _RECORD_KEYS}
    plain = [(one.number, one.board, one.pairing.round, one.pairing.seats) for one in places]
    return json.dumps({**values, "places": plain}, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def list_repeated(record: Record) -> dict[str, Any]:
    """Return what a replay of a match by the same version of arena gives again: also expanded states and marks of fallbacks,
    which `Record.timeless` leaves out.
    """
    decisions = [{key: value for key, value in one.as_dict().items() if key != "seconds"} for one in record.decisions]
    return {**record.timeless(), "decisions": decisions}


def read_line(text: bytes, number: int) -> Line:
    """Parse a line of `records.jsonl` as a match. Raises Contradiction if a value has the wrong type."""
    what = f"{RECORDS}:{number}"
    values = read_json(text, what)
    if not isinstance(values, dict) or values.keys() != {*_RECORD_KEYS, "places"}:
        raise Contradiction(f"{what}: expected the keys {', '.join(_RECORD_KEYS)} and places")
    if isinstance(used := values["decisions"], list):  # bundles of earlier versions do not mark fallbacks
        values = {**values, "decisions": [[*one, False] if isinstance(one, list) and len(one) == 8 else one for one in used]}
    row = [values[key] for key in (*_RECORD_KEYS, "places")]
    try:
        *found, places = stop_at_fault(_ROW).validate_python(row)
    except ValidationError as error:
        (index, *inside), message = explain_faults(error, row)[0]
        key = (*_RECORD_KEYS, "places")[int(index)]
        raise Contradiction(f"{what}: {key}{''.join([f'[{part}]' for part in inside])}: {message}") from None
    known = dict(zip(_RECORD_KEYS, found, strict=True))
    if len(known["id"]) != 32 or set(known["id"]) - set("0123456789abcdef"):
        raise Contradiction(f"{what}: id: expected 32 hexadecimal digits, got {abbreviate(known['id'])}")
    for key in ("returns", "adjusted"):
        known[key] = None if known[key] is None else tuple(map(float, known[key]))
    known["decisions"] = tuple(map(Decision._make, known["decisions"]))
    record = Record(**known, traceback=None)
    return Line(record, [Scheduled(place, board, Pairing(turn, seats)) for place, board, turn, seats in places])


Model = TypeVar("Model", bound=BaseModel)


def read_model(model: type[Model], values: Any, what: str) -> Model:
    """Return the values of a file as an object. Raises NoBundle if a value has the wrong type."""
    try:
        found: Model = stop_at_fault(_adapter(model)).validate_json(json.dumps(values))
    except ValidationError as error:
        where, message = explain_faults(error, values)[0]
        raise NoBundle(": ".join(filter(None, [what, ".".join(map(str, where)), message]))) from None
    except ValueError as error:
        raise NoBundle(f"{what}: {error}") from None
    return found


@cache
def _adapter(model: type[Model]) -> TypeAdapter[Model]:
    return TypeAdapter(model)


def is_seed_of(values: Mapping[str, Any], seed: int | str | None, *, secret: bool) -> bool:
    """Return whether the keys of a spec have the seed of its run. A seed that is or was secret may be missing in the spec."""
    given = values.get("seed")
    if secret:
        return given is None or given == DRAWN
    return seed == 0 if given is None else type(given) is int and given == seed


def runs_of(file: RunFile, values: Mapping[str, Any]) -> Iterator[Run]:
    """Yield the runs in `run.json`, ready to be put into a store. `values` are the keys of the spec.

    Only the last run has boards.

    Raises Contradiction if a board cannot be read.
    """
    for number, one in enumerate(file.runs, 1):
        last = number == len(file.runs)
        try:
            boards = BoardInfo.from_json(json.dumps(file.boards)) if last else []
        except ValueError as error:
            raise Contradiction(f"{RUN}: a board cannot be read: {error}") from None
        spec = {"name": file.document, "values": dict(values) if last else {}, "folder": ".", "plugins": []}
        run = Run(
            name=file.name,
            hash=one.hash,
            seed=file.seed,
            spec=spec,
            boards=boards,
            plugins={name: Fingerprint.of(version, text) for name, (version, text) in one.plugins.items()},
            versions=one.versions,
            secret=one.secret,
            revealed=one.revealed,
            started=one.started,
            ended=one.ended,
            idle=one.idle,
        )
        if run.commitment != one.commitment:
            raise Contradiction(f"{RUN}: the secret seed does not have the hash {one.commitment}")
        yield run
