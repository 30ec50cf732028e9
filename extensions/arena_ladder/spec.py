"""The spec of a ladder: the keys of a tournament except `rounds` and `format`, plus the keys for submissions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from arena import Spec, SpecError
from arena.api.spec import (
    Count,
    Document,
    Faults,
    SpecKeys,
    load_spec,
    read_document,
)

OPEN = "open"
"""Value of `authors` that lets everyone register."""
Kind = Literal["python", "zip", "program"]
KINDS: tuple[Kind, ...] = get_args(Kind)
REFUSED_KEYS = ("rounds", "format", "orders", "challengers", "test", "replays")
"""Keys of a tournament that choose its matches. A ladder chooses its matches itself."""
FOR_TWO = "a ladder is for games of two seats, and neither for puzzles nor for games of one seat"
OPENING_PLIES = 2
"""Default number of random opening plies in games without chance. Repeated games add no information."""


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
"""Keys that a tournament does not have."""


@dataclass(frozen=True, slots=True)
class LadderSpec:
    """A valid ladder: the games, the rules of submissions, and the goal of the ratings."""

    spec: Spec
    """The house agents, as a tournament. The agents of authors are added to its document."""
    submissions: SubmissionKeys
    interval: float
    """Target half-width of the intervals, in Elo. When all intervals are this narrow, nothing more is played."""
    authors: tuple[str, ...] | None
    """Names of the authors who may submit agents; None if everyone may register."""
    anchor: str
    """The label of the agent whose rating is 0."""

    @property
    def store(self) -> FilePath:
        """Default store: beside the results of tournaments, named after the file."""
        return FilePath("results") / f"{FilePath(self.spec.document.name).stem}.db"


def load_ladder(file: str | PathLike[str], *, plugins: tuple[str, ...] = ()) -> LadderSpec:
    """Read and check the spec of a ladder. SpecError lists all faults, each with its place."""
    document = read_document(file)
    faults = Faults(document)
    own: dict[str, Any] = {}
    for key, model in LADDER_KEYS.items():
        given = document.values.get(key)
        own[key] = faults.check((key,), model, {} if given is None else given, model.model_fields)
    for key in REFUSED_KEYS:
        if key in document.values:
            faults.add((key,), "a ladder chooses its matches itself; leave it out", key=True)
    known = [*(key for key in SpecKeys.model_fields if key not in REFUSED_KEYS), *LADDER_KEYS]
    for key in document.values:
        if key not in known and key not in REFUSED_KEYS:
            faults.add_unknown(key, known)
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


def _read_authors(document: Document, submissions: SubmissionKeys, faults: Faults) -> tuple[str, ...] | None:
    """Read the names from the file of authors; None if everyone may register, and after a fault."""
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
"""Names in the audit log that do not belong to authors."""
AUTHOR = f"{NAME}, and neither {RESERVED_NAMES[0]} nor {RESERVED_NAMES[1]}"


def is_name(text: str) -> bool:
    """Return whether a text can be the name of an author or of an agent."""
    return (
        0 < len(text) <= 40 and text.isascii() and text[0].isalpha() and text == text.lower() and text.replace("-", "0").isalnum()
    )


def is_author(text: str) -> bool:
    """Return whether a text can be the name of an author."""
    return is_name(text) and text not in RESERVED_NAMES


def _load_house(document: Document, plugins: tuple[str, ...]) -> Spec:
    """Return the tournament of the house agents. By default it has a secret seed, sandboxes and short openings."""
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
    """Return the tournament that the keys of a ladder describe."""
    kept = {key: value for key, value in values.items() if key not in LADDER_KEYS}
    told = {"seed": "secret", "isolation": "sandbox", **kept, "format": "round-robin", "rounds": 1}
    if "positions" in told:
        del told["rounds"]
    return load_spec(replace(document, values=told))
