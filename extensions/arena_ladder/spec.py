"""The spec of a ladder: the keys of a tournament without `rounds` and `format`, and those of submissions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from arena import SpecError
from arena.api.cli import suggest
from arena.api.spec import Spec, load_spec
from arena.secret import SECRET
from arena.spec.document import Document, Path, read_document
from arena.spec.model import Count, SpecKeys
from arena.spec.parameters import UNKNOWN_KEY, add_hints, check_value, make_adapter
from arena.spec.reader import Faults

OPEN = "open"
"""What `authors` says where anybody may register."""
Kind = Literal["python", "zip", "program"]
KINDS: tuple[Kind, ...] = get_args(Kind)
REFUSED_KEYS = ("rounds", "format", "orders", "challengers", "test", "replays")
"""Keys of a tournament that say which matches are played: a ladder chooses them itself."""
FOR_TWO = "a ladder is for games of two seats, and neither for puzzles nor for games of one seat"
OPENING_PLIES = 2
"""Random plies of an opening where a spec says nothing, in games without chance: games that repeat others tell nothing."""


class SubmissionKeys(BaseModel):
    """Who may hand in what, and how much of it stays in play."""

    model_config = ConfigDict(extra="forbid", strict=True)

    authors: Annotated[str, Field(min_length=1)] = Field(OPEN, description="A file with a name a line, or open.")
    per_day: Count = Field(10, description="Submissions of an author in 24 hours.")
    keep: Count = Field(2, description="Versions of an agent that stay in play, the latest ones.")
    size_kb: Annotated[int, Field(ge=1, le=100_000)] = Field(256, description="KiB of a submission, and of what is in a zip.")
    kinds: Annotated[list[Kind], Field(min_length=1)] = Field(list(KINDS), description="What may be handed in.")


class UntilKeys(BaseModel):
    """When nothing is left to learn."""

    model_config = ConfigDict(extra="forbid", strict=True)

    interval: Annotated[FiniteFloat, Field(gt=0, le=10_000)] = Field(
        40.0, description="The half-width of every interval, in Elo."
    )


LADDER_KEYS: Mapping[str, type[BaseModel]] = {"submissions": SubmissionKeys, "until": UntilKeys}
"""The keys that a tournament has not."""


@dataclass(frozen=True, slots=True)
class LadderSpec:
    """A ladder without faults: what is played, who may hand in what, and when it rests."""

    spec: Spec
    """The house agents, as a tournament; the agents of authors are added to its document."""
    submissions: SubmissionKeys
    interval: float
    """The half-width of every interval at which nothing is played any more, in Elo."""
    authors: tuple[str, ...] | None
    """The names of those who may hand in agents; None where anybody may register."""
    anchor: str
    """The label of the agent whose rating is 0."""

    @property
    def store(self) -> FilePath:
        """The store where none is named: beside results of tournaments, by the name of the file."""
        return FilePath("results") / f"{FilePath(self.spec.document.name).stem}.db"


def load_ladder(file: str | PathLike[str], *, plugins: tuple[str, ...] = ()) -> LadderSpec:
    """Read and check the spec of a ladder; SpecError has all faults, each with its place."""
    document = read_document(file)
    faults = Faults(document)
    own = {key: _read_key(document, key, faults) for key in LADDER_KEYS}
    for key in REFUSED_KEYS:
        if key in document.values:
            faults.add((key,), "a ladder chooses its matches itself; leave it out", key=True)
    known = [*(key for key in SpecKeys.model_fields if key not in REFUSED_KEYS), *LADDER_KEYS]
    for key in document.values:
        if key not in known and key not in REFUSED_KEYS:
            faults.add((key,), f"{UNKNOWN_KEY}; {suggest(str(key), known)}", key=True)
    if document.values.get("isolation") == "none":
        message = "what authors hand in runs in a process of its own; expected sandbox, the default, or process"
        faults.add(("isolation",), message)
    submissions: Any = own["submissions"]
    authors = None if submissions is None else _read_authors(document, submissions, faults)
    faults.stop_if_any()
    until: Any = own["until"]
    spec = _load_house(document, plugins)
    house = [seat.label for seat in spec.boards[0].seats]
    return LadderSpec(spec, submissions, until.interval, authors, document.values.get("anchor") or house[0])


def _read_key(document: Document, key: str, faults: Faults) -> Any:
    """The value of a key that a tournament has not, with its defaults; None after its faults."""
    model = LADDER_KEYS[key]

    def report(path: Path, message: str) -> None:
        faults.add(path, message, key=message.startswith(UNKNOWN_KEY))

    given = document.values.get(key)
    return check_value(make_adapter(model), {} if given is None else given, (key,), add_hints(report, model.model_fields))


def _read_authors(document: Document, submissions: SubmissionKeys, faults: Faults) -> tuple[str, ...] | None:
    """The names in the file of authors; None where anybody may register, and after a fault."""
    if submissions.authors == OPEN:
        return None
    path = document.folder / submissions.authors
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        faults.add(("submissions", "authors"), f"{path} cannot be read: {reason}; expected a file with a name a line, or open")
        return None
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    for name in names:
        if not is_author(name):
            faults.add(("submissions", "authors"), f"{path}: {name!r} is no name of an author; expected {AUTHOR}")
    if not names:
        faults.add(("submissions", "authors"), f"{path} names nobody; write a name a line, or say open")
    return tuple(dict.fromkeys(names))


NAME = "1 to 40 small letters, digits and dashes, a letter first"
RESERVED_NAMES = ("admin", "ladder")
"""Whom the audit log names beside authors."""
AUTHOR = f"{NAME}, and neither {RESERVED_NAMES[0]} nor {RESERVED_NAMES[1]}"


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of an author or of an agent."""
    return (
        0 < len(text) <= 40 and text.isascii() and text[0].isalpha() and text == text.lower() and text.replace("-", "0").isalnum()
    )


def is_author(text: str) -> bool:
    """Tell whether a text can be the name of an author."""
    return is_name(text) and text not in RESERVED_NAMES


def _load_house(document: Document, plugins: tuple[str, ...]) -> Spec:
    """The tournament of the house agents: where the spec says nothing, with a secret seed, in sandboxes, with short openings."""
    faults = Faults(document)
    try:
        spec = load_spec_of(document, document.values, plugins)
    except SpecError as error:
        if all(fault.where != "format" for fault in error.faults):
            raise
        faults.add(("game",) if "game" in document.values else ("games",), FOR_TWO)
        raise SpecError(faults.found) from error
    for board in spec.boards:
        if board.kind != "versus" or board.game.players != 2:
            faults.add(("game",) if "game" in document.values else ("games",), f"{board.name}: {FOR_TWO}")
        for seat in board.seats:
            if seat.isolation == "sandbox" and seat.waits:
                message = (
                    f"{seat.label} waits for something outside, and a sandbox has no network; add isolation: none to its entry"
                )
                faults.add(("agents",), message)
    faults.stop_if_any()
    drawn = "openings" not in document.values and "positions" not in document.values
    if drawn and any(not board.has_chance for board in spec.boards):
        opened = {**document.values, "openings": {"plies": OPENING_PLIES}}
        return load_spec_of(document, opened, plugins)
    return spec


def load_spec_of(document: Document, values: Mapping[str, Any], plugins: tuple[str, ...]) -> Spec:
    """The tournament that a ladder's keys make."""
    kept = {key: value for key, value in values.items() if key not in LADDER_KEYS}
    told = {"seed": SECRET, "isolation": "sandbox", **kept, "format": "round-robin", "rounds": 1}
    if "positions" in told:
        del told["rounds"]
    return load_spec(replace(document, values=told))
