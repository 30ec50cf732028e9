"""The spec of a ladder. It has the keys of a tournament except `rounds` and `format`, and additional keys for submissions and for
the hidden positions of a puzzle.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import time
from math import inf
from os import PathLike
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from arena import ArenaError, Limits, Puzzle, Spec, SpecError
from arena.api.match import canonical
from arena.api.results import figures
from arena.api.spec import MAX_ENTRIES, Document, Faults, SpecKeys, load_spec
from arena_ladder.roster import RESERVED_NAMES, ROSTER_SUFFIX, Person, read_roster
from arena_web.api import Feedback

OPEN = "open"
"""The value of `authors` with which everyone can register."""
Kind = Literal["python", "zip", "program"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Count = Annotated[int, Field(ge=1, le=1_000_000)]
REFUSED_KEYS = ("rounds", "format", "orders", "challengers", "test", "replays")
"""The keys of a tournament that choose its matches. They are not allowed in a ladder, which chooses its matches itself."""
SECRET = "secret"  # noqa: S105 - a word in specs, not a password
"""The value of `seed` for which a seed is drawn and kept secret."""
SPEC_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
"""The pattern for the name of a spec that is hosted together with others."""
FOR_TWO = "a ladder is for two-player games or for puzzles; all its games must be of the same kind"
NO_RATINGS = "a ladder for a puzzle has no ratings; remove this key"
Effort = Literal["seconds", "nodes"]
"""The amount that decides between two solutions with the same cost."""
PERIODS = {"hour": 3600.0, "day": 24 * 3600.0, "week": 7 * 24 * 3600.0}
"""The lengths of the periods after which positions are added, in seconds."""
DEFAULT_INTERVAL = 40.0
OPENING_PLIES = 2
"""The default number of random opening plies in games without chance. Without them, the same games would be repeated, and repeats
add no information.
"""


Moment = Annotated[AwareDatetime, Field(strict=False)]


class LateKeys(BaseModel):
    """Submissions after the deadline."""

    model_config = ConfigDict(extra="forbid", strict=True)

    until: Moment = Field(description="The time until which late submissions are accepted, with a time zone.")
    penalty: Annotated[FiniteFloat, Field(ge=0, le=1)] = Field(
        0.0,
        description="Share of its points that a late version loses. The lowest mark has 1 point, the next one 2, ...",
    )


class SubmissionKeys(BaseModel):
    """The rules for submissions: authors, sizes, numbers, and versions that stay in play."""

    model_config = ConfigDict(extra="forbid", strict=True)

    authors: Annotated[str, Field(min_length=1)] = Field(
        OPEN, description="A roster as CSV, a file with one name per line, or open."
    )
    names: Literal["ids", "pseudonyms"] = Field(
        "ids", description="The names of authors in tables, pages and files: their ids and teams, or random pseudonyms."
    )
    per_day: Count = Field(10, description="Maximum number of submissions per author in 24 hours.")
    keep: Count = Field(2, description="Number of the most recent versions of an agent that keep playing.")
    agents: Count = Field(10, description="Maximum number of agents per author that play at the same time.")
    size_kb: Annotated[int, Field(ge=1, le=100_000)] = Field(
        256, description="Maximum size of a submission in KiB, before and after unpacking."
    )
    kinds: Annotated[list[Kind], Field(min_length=1)] = Field(
        list(KINDS), description="The kinds of files that authors may submit."
    )
    packages: list[str] | None = Field(
        None,
        description="The packages that Python code may import besides the standard library; default: all installed packages.",
    )
    install: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None,
        description="The command with which authors install arena; default: pip with the wheel that the ladder serves.",
    )
    opens: Moment | None = Field(None, description="The time from which submissions are accepted, with a time zone.")
    closes: Moment | None = Field(None, description="The deadline, with a time zone.")
    late: LateKeys | None = Field(None, description="Accepts late submissions; by default, none are accepted after the deadline.")


class UntilKeys(BaseModel):
    """The accuracy of the ratings after which no more matches are played."""

    model_config = ConfigDict(extra="forbid", strict=True)

    interval: Annotated[FiniteFloat, Field(gt=0, le=10_000)] | None = Field(
        None, description="The half-width of every interval, in Elo. The default is 40, or none with `marks`."
    )
    time: Moment | None = Field(None, description="Time after which no match starts, with a time zone.")
    marks: Literal["decided"] | None = Field(None, description="`decided`: play ends when all marks are decided.")


class MarkKeys(BaseModel):
    """How marks are decided. All other keys of `marks` are names of marks, with their baselines."""

    model_config = ConfigDict(extra="forbid", strict=True)

    margin: Annotated[FiniteFloat, Field(gt=0, le=400)] = Field(
        20.0, description="A lead over a baseline in Elo. It is an error if an agent with this lead or more misses the mark."
    )
    error: Annotated[FiniteFloat, Field(gt=0, lt=0.5)] = Field(
        0.05, description="Maximum probability that any mark in the whole class is wrong."
    )
    counts: Literal["best", "last"] = Field("best", description="The active version of an author that counts.")
    size: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None,
        description="The number of authors among whom the error probability is divided; default: the number in the file.",
    )


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a course, in ascending order."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    """The label of the baseline for each mark."""
    margin: float
    error: float
    counts: Literal["best", "last"]
    size: int
    closes: float = inf
    """The deadline, in seconds since 1970. Versions that are handed in later are late."""
    penalty: float = 0.0
    """Share of its points that a late version loses."""
    effort: Effort | None = None
    """The amount that decides between solutions of equal cost; None for a game of two seats."""

    @property
    def terms(self) -> str:
        """Return everything on which decisions depend, as text. Stored decisions with other terms do not count."""
        of_puzzle = [] if self.effort is None else [self.effort]
        return canonical([self.labels, self.margin, self.error, self.size, *of_puzzle])


class RequestKeys(BaseModel):
    """Limits on requests, so that one client cannot block all others."""

    model_config = ConfigDict(extra="forbid", strict=True)

    per_second: Annotated[FiniteFloat, Field(gt=0, le=100_000)] = Field(
        100.0,
        description="Maximum requests per second for each address and each author. Static files of the pages do not count.",
    )
    burst: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        3000,
        description="Number of requests in a burst before the rate applies, for example when a class opens the page.",
    )
    open: Annotated[int, Field(ge=1, le=380)] = Field(
        360, description="Maximum number of open requests per address. Each open page with standings counts as one."
    )


def _read_time_of_day(text: Any) -> time:
    with suppress(ValueError):
        if isinstance(text, str) and (found := time.fromisoformat(text)).tzinfo is not None:
            return found
    raise ValueError("a time of day with a time zone, such as 02:00+01:00")


class FeedbackKeys(BaseModel):
    """The nightly review, from which authors get feedback."""

    model_config = ConfigDict(extra="forbid", strict=True)

    at: Annotated[time, BeforeValidator(_read_time_of_day)] = Field(
        description="The time of day when the review begins, with a time zone, such as 02:00+01:00."
    )
    seconds: Annotated[int, Field(ge=1, le=12 * 3600)] = Field(
        600, description="Maximum duration of a review. No matches are played during a review."
    )


class PositionKeys(BaseModel):
    """The hidden positions of a puzzle. Their number grows during the term."""

    model_config = ConfigDict(extra="forbid", strict=True)

    file: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="A file with the positions, relative to the spec; default: positions are drawn at random."
    )
    start: Count = Field(20, description="The number of hidden positions at the beginning of the term.")
    more: Annotated[int, Field(ge=0, le=1_000_000)] = Field(20, description="The number of positions that each period adds.")
    every: Literal["hour", "day", "week"] = Field("day", description="The length of a period: hour, day or week.")
    most: Count = Field(
        200, description="Maximum number of positions, including those for marks that are undecided after the deadline."
    )

    def bound_by(self, spec: Spec) -> "PositionKeys":
        """Return these keys. If the spec has a file of positions, `most` is at most the number of positions in this file."""
        texts = spec.boards[0].positions.texts
        return self if texts is None else self.model_copy(update={"most": min(self.most, len(texts))})

    def count(self, seconds: float) -> int:
        """Return the number of positions when the term has lasted for `seconds`."""
        return min(self.most, self.start + self.more * max(0, int(seconds // PERIODS[self.every])))


@dataclass(frozen=True, slots=True)
class SolverRules:
    """The rules of a ladder for a puzzle."""

    positions: PositionKeys
    effort: Effort


LADDER_KEYS: Mapping[str, type[BaseModel]] = {
    "submissions": SubmissionKeys,
    "until": UntilKeys,
    "requests": RequestKeys,
    "feedback": FeedbackKeys,
}
"""The keys that a tournament does not have. The model of each key checks its parts."""
EFFORT = "effort"
"""The key for the amount that decides between solutions of equal cost."""
MARKS = "marks"
"""The key for marks. The mapping below it has options and baselines."""


@dataclass(frozen=True, slots=True)
class LadderSpec:
    """A valid ladder: the games, the rules for submissions, and the goal of the ratings."""

    spec: Spec
    """The tournament of the house agents. Each season adds the agents of authors to its document."""
    submissions: SubmissionKeys
    interval: float
    """The target half-width of the intervals, in Elo. When all intervals are this narrow, no more matches are played."""
    people: tuple[Person, ...] | None
    """The authors that may submit agents; None if everyone may register."""
    anchor: str | None
    """The label of the agent whose rating is 0; None for a puzzle."""
    requests: RequestKeys
    """The limits on requests."""
    feedback: FeedbackKeys | None = None
    """The nightly review; None if there is none."""
    marks: Marks | None = None
    """The marks of a course; None if the ladder does not give marks."""
    rates: bool = True
    """True if matches are played to narrow the intervals; False if play ends when the marks are decided."""
    ends: float = inf
    """The moment after which no match begins, in seconds since 1970."""
    solvers: SolverRules | None = None
    """The rules for a puzzle; None for games of two seats."""

    @property
    def authors(self) -> tuple[str, ...] | None:
        """The ids of the authors that may submit agents; None if everyone may register."""
        return None if self.people is None else tuple([person.id for person in self.people])

    @property
    def room(self) -> int:
        """Return the number of submissions that can be in play in addition to the agents of the host."""
        house = {seat.label for board in self.spec.boards for seat in board.seats}
        return max(0, MAX_ENTRIES - len(house))

    @property
    def store(self) -> FilePath:
        """Return the default path of the store, which is beside the results of tournaments and named after the file."""
        return store_of(self.spec.document.name)


def store_of(file: str | PathLike[str]) -> FilePath:
    """Return the default path of the store of a spec."""
    return FilePath("results") / f"{FilePath(file).stem}.db"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the spec of a ladder, with which editors complete and check keys."""
    schema = SpecKeys.model_json_schema()
    keys, shared = schema["properties"], schema["$defs"]
    for key in REFUSED_KEYS:
        del keys[key]
    models: dict[str, type[BaseModel]] = {**LADDER_KEYS, MARKS: MarkKeys, "positions": PositionKeys}
    for key, model in models.items():
        part = model.model_json_schema()
        shared |= part.pop("$defs", {})
        shared[model.__name__] = part
        own = {"$ref": f"#/$defs/{model.__name__}"}
        keys[key] = {"anyOf": [own, *keys[key]["anyOf"]]} if key in keys else own
    shared[MarkKeys.__name__]["additionalProperties"] = {"type": ["string", "object"]}  # a mark and its baseline
    keys[EFFORT] = {"enum": list(get_args(Effort))}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "The spec of a ladder"}


def load_ladder(file: str | PathLike[str], *, plugins: tuple[str, ...] = ()) -> LadderSpec:
    """Read and check the spec of a ladder. Raises SpecError with all faults and their places."""
    document = Document.read(file)
    faults = Faults(document)
    own: dict[str, Any] = {}
    for key, model in LADDER_KEYS.items():
        given = document.values.get(key)
        absent = given is None and model is FeedbackKeys
        own[key] = None if absent else faults.check((key,), model, {} if given is None else given, model.model_fields)
    for key in REFUSED_KEYS:
        if key in document.values:
            faults.add((key,), "a ladder chooses its matches itself; remove this key", key=True)
    known = [*(key for key in SpecKeys.model_fields if key not in REFUSED_KEYS), *LADDER_KEYS, MARKS, EFFORT]
    for key in document.values:
        if key not in known and key not in REFUSED_KEYS:
            faults.add_unknown(key, known)
    if document.values.get("isolation") == "none":
        message = "the code of authors runs in its own process; expected sandbox, the default, or process"
        faults.add(("isolation",), message)
    submissions: Any = own["submissions"]
    authors = None if submissions is None else _read_authors(document, submissions, faults)
    options = _read_marks(document, faults)
    until: Any = own["until"]
    if until is not None and until.marks is not None and MARKS not in document.values:
        faults.add(("until", "marks"), "no marks are defined; add `marks` with the baselines")
    if submissions is not None:
        _check_times(submissions, faults)
    if options is not None and options.size is None and authors is None:
        faults.add((MARKS,), "expected `size`, the number of authors, because anyone can register")
    given = document.values.get("positions")
    hidden: Any = given if isinstance(given, dict) else {}  # a list or a file contains the positions of a game of two seats
    positions: Any = faults.check(("positions",), PositionKeys, hidden, PositionKeys.model_fields)
    effort: Any = faults.check((EFFORT,), Effort, document.values.get(EFFORT, "seconds"), ())
    faults.stop_if_any()
    requests: Any = own["requests"]
    places: dict[str, int] = {}
    if options is not None:
        document, places = _add_baselines(document)
    spec = _load_house(document, plugins)
    solvers = SolverRules(positions.bound_by(spec), effort) if _check_solvers(spec, document) else None
    marks = None
    if options is not None:
        penalty = 0.0 if submissions.late is None else submissions.late.penalty
        deadline = inf if submissions.closes is None else submissions.closes.timestamp()
        marks = _make_marks(
            spec,
            options,
            places,
            closes=deadline,
            penalty=penalty,
            size=options.size or len({person.team or person.id for person in authors or ()}),
        )
        marks = replace(marks, effort=None if solvers is None else solvers.effort)
    house = [seat.label for seat in spec.boards[0].seats]
    anchor = None if solvers is not None else document.values.get("anchor") or house[0]
    rates = until.marks is None or until.interval is not None
    interval = DEFAULT_INTERVAL if until.interval is None else until.interval
    ends = inf if until.time is None else until.time.timestamp()
    if own["feedback"] is not None and not spec.registry.parts.get(Feedback.kind):
        faults.add(("feedback",), "no installed plugin reviews matches; remove this key")
        faults.stop_if_any()
    return LadderSpec(spec, submissions, interval, authors, anchor, requests, own["feedback"], marks, rates, ends, solvers)


def _check_times(rules: SubmissionKeys, faults: Faults) -> None:
    """Report a fault if the times for submissions are in a wrong order."""
    opens, closes, late = rules.opens, rules.closes, rules.late
    if opens is not None and closes is not None and opens >= closes:
        faults.add(("submissions", "closes"), "expected a time after `opens`")
    if late is not None and (closes is None or late.until <= closes):
        faults.add(("submissions", "late"), "expected `until` to be later than `closes`")


def _check_solvers(spec: Spec, document: Document) -> bool:
    """Return True for a ladder of puzzles. Raises SpecError for keys that do not fit the games, and for a missing time limit."""
    faults = Faults(document)
    values = document.values
    if not isinstance(spec.boards[0].game, Puzzle):
        if isinstance(values.get("positions"), dict):
            faults.add(("positions",), "only the hidden positions of a puzzle grow; expected a list or a file")
        if EFFORT in values:
            faults.add((EFFORT,), "only solvers of puzzles are compared by their effort; remove this key", key=True)
        faults.stop_if_any()
        return False
    if not isinstance(values.get("positions", {}), dict):
        expected = "{start: 20, more: 20, every: day, most: 200}"
        own = "to use your own positions, add `file: FILE` there"
        faults.add(("positions",), f"the positions of a puzzle stay hidden; expected settings such as {expected}; {own}")
    if "seed" in values and values["seed"] != SECRET:
        faults.add(("seed",), "the hidden positions are derived from the seed, so it must stay unknown; remove this key")
    if "anchor" in values:
        faults.add(("anchor",), NO_RATINGS, key=True)
    if "feedback" in values:
        faults.add(("feedback",), "it shows positions, and the positions of a puzzle are hidden; remove this key", key=True)
    if isinstance(values.get("until"), dict) and "interval" in values["until"]:
        faults.add(("until", "interval"), NO_RATINGS, key=True)
    if any(limits.seconds is None for limits in list_limits(spec)):
        faults.add(("limits",), "expected `seconds`, because the search for a solution may never end")
    faults.stop_if_any()
    return True


def _read_marks(document: Document, faults: Faults) -> MarkKeys | None:
    """Read the options for marks; None if the spec has no marks, or if the options have a fault."""
    given = document.values.get(MARKS)
    if given is None:
        return None
    if not isinstance(given, dict):
        faults.add((MARKS,), "expected a baseline for each mark, such as {pass: greedy}")
        return None
    names = [name for name in given if name not in MarkKeys.model_fields]
    for name in names:
        if not isinstance(name, str) or not is_name(name):
            faults.add((MARKS, str(name)), f"not a valid mark name; expected {NAME}", key=True)
    if not names:
        faults.add((MARKS,), "expected at least one baseline, such as {pass: greedy}")
    options = {name: value for name, value in given.items() if name in MarkKeys.model_fields}
    found: MarkKeys | None = faults.check((MARKS,), MarkKeys, options, MarkKeys.model_fields)
    return found


def _add_baselines(document: Document) -> tuple[Document, dict[str, int]]:
    """Add the baselines to the house agents of a document. Return the new document, and for each mark the place of its baseline
    among these agents.
    """
    agents = document.values.get("agents")
    agents = list(agents) if isinstance(agents, list) else []
    places: dict[str, int] = {}
    for name, entry in document.values[MARKS].items():
        if name in MarkKeys.model_fields:
            continue
        wanted = {"agent": entry} if isinstance(entry, str) else entry
        for place, other in enumerate(agents):
            known = {"agent": other} if isinstance(other, str) else other
            if known == wanted or (isinstance(known, dict) and isinstance(entry, str) and known.get("label") == entry):
                places[name] = place
                break
        else:
            places[name] = len(agents)
            agents.append(entry)
    return replace(document, values={**document.values, "agents": agents}), places


def _make_marks(spec: Spec, options: MarkKeys, places: Mapping[str, int], size: int, closes: float, penalty: float) -> Marks:
    """Return the marks with the labels of their baselines. Raises SpecError if they do not fit the games or the agents."""
    faults = Faults(spec.document)
    seats = spec.boards[0].seats
    if len(spec.boards) > 1:
        faults.add((MARKS,), "marks need exactly one game; create a separate ladder for each game")
    if len(seats) != len(spec.document.values["agents"]):
        faults.add((MARKS,), "every entry of `agents` must be one agent, without lists of values")
    if len(set(places.values())) < len(places):
        faults.add((MARKS,), "every mark needs its own baseline")
    faults.stop_if_any()
    labels = tuple([seats[place].label for place in places.values()])
    return Marks(tuple(places), labels, options.margin, options.error, options.counts, size, closes, penalty)


RESERVED_PATHS = ("api", "health", "modules", "static")
"""The first parts of paths that do not belong to a ladder, if several are hosted together."""


SPEC_SUFFIXES = (".yaml", ".yml")


def list_assignments(folder: FilePath) -> list[FilePath]:
    """Return the specs in a folder of ladders, sorted by name. Raises ArenaError if there are none, or for an unusable name."""
    found = sorted([file for file in folder.iterdir() if file.suffix in SPEC_SUFFIXES])
    if not found:
        raise ArenaError(f"{folder}: expected specs of ladders, such as {folder}/connect-four.yaml")
    names = [file.stem for file in found]
    for file in found:
        if not SPEC_NAME.fullmatch(file.stem) or file.stem in RESERVED_PATHS or names.count(file.stem) > 1:
            allowed = f"use lowercase letters, digits and dashes, but not the names {', '.join(RESERVED_PATHS)}"
            raise ArenaError(f"{file}: its name becomes part of the address of a ladder; {allowed}; use each name only once")
    return found


def find_sharing(ladder: LadderSpec) -> list[FilePath]:
    """Return the default stores of the other ladders in the folder of a spec that have the same authors. Some may not exist.

    Raises SpecError if a ladder with a store has a spec that cannot be read.
    """
    own = FilePath(ladder.spec.document.name)
    if ladder.people is None:
        return []
    found = []
    for file in sorted(own.parent.iterdir()):
        if file.suffix not in SPEC_SUFFIXES or file.name == own.name:
            continue
        store = store_of(file)
        try:
            if _read_people(file) == ladder.people:
                found.append(store)
        except SpecError:
            if store.is_file():
                raise
    return found


def _read_people(file: FilePath) -> tuple[Person, ...] | None:
    """Read only the authors of a spec, without its plugins. Raises SpecError if this is not possible."""
    document = Document.read(file)
    faults, given = Faults(document), document.values.get("submissions")
    submissions: Any = faults.check(("submissions",), SubmissionKeys, {} if given is None else given, SubmissionKeys.model_fields)
    people = None if submissions is None else _read_authors(document, submissions, faults)
    faults.stop_if_any()
    return people


def check_ladder(file: str, plugins: tuple[str, ...]) -> str:
    """Check the spec of a ladder for `arena validate`, and describe it. Raises SpecError with all faults."""
    read = load_ladder(file, plugins=plugins)
    authors = "open to everyone" if read.authors is None else figures.amount(len(read.authors), "author")
    marks = "" if read.marks is None else f", marks {', '.join(read.marks.names)}"
    return f"a ladder of {', '.join([board.title for board in read.spec.boards])}, {authors}{marks}"


def _read_authors(document: Document, submissions: SubmissionKeys, faults: Faults) -> tuple[Person, ...] | None:
    """Read the authors from their file; None if everyone may register, or if the file cannot be read."""
    if submissions.authors == OPEN:
        if submissions.names != "ids":
            faults.add(("submissions", "names"), "pseudonyms need a file of authors")
        return None
    path = document.folder / submissions.authors
    try:
        if path.suffix.lower() == ROSTER_SUFFIX:
            people, found = read_roster(path)
            for fault in found:
                faults.add_at(str(path), fault.line, ("submissions", "authors"), str(fault))
            return tuple(people)
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        faults.add(
            ("submissions", "authors"), f"{path} cannot be read: {reason}; expected a file with one name per line, or open"
        )
        return None
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    for name in names:
        if not is_author(name):
            faults.add(("submissions", "authors"), f"{path}: {name!r} is not a valid author name; expected {AUTHOR}")
    if not names:
        faults.add(("submissions", "authors"), f"{path} contains no names; write one name per line, or use open")
    return tuple([Person(name) for name in dict.fromkeys(names)])


NAME = "1 to 40 lowercase letters, digits and dashes, beginning with a letter"
AUTHOR = f"{NAME}, and neither {RESERVED_NAMES[0]} nor {RESERVED_NAMES[1]}"


def is_name(text: str) -> bool:
    """Return True if a text can be the name of an author or of an agent."""
    return (
        0 < len(text) <= 40 and text.isascii() and text[0].isalpha() and text == text.lower() and text.replace("-", "0").isalnum()
    )


def is_author(text: str) -> bool:
    """Return True if a text can be the name of an author."""
    return is_name(text) and text not in RESERVED_NAMES


def _load_house(document: Document, plugins: tuple[str, ...]) -> Spec:
    """Return the tournament of the house agents. By default it has a secret seed, sandboxes and, unless it is for puzzles, short
    openings.
    """
    faults = Faults(document)
    spec = load_spec_of(document, document.values, plugins)
    puzzle = isinstance(spec.boards[0].game, Puzzle)
    for board in spec.boards:
        if isinstance(board.game, Puzzle) != puzzle or not (puzzle or board.game.players == 2):
            faults.add(("game",) if "game" in document.values else ("games",), f"{board.name}: {FOR_TWO}")
        for seat in board.seats:
            if seat.isolation == "sandbox" and seat.waits:
                message = (
                    f"{seat.label} waits for an external service, but a sandbox has no network; add isolation: none to its entry"
                )
                faults.add(("agents",), message)
    faults.stop_if_any()
    drawn = not puzzle and "openings" not in document.values and "positions" not in document.values
    if drawn and any(not board.has_chance for board in spec.boards):
        opened = {**document.values, "openings": {"plies": OPENING_PLIES}}
        return load_spec_of(document, opened, plugins)
    return spec


def load_spec_of(document: Document, values: Mapping[str, Any], plugins: tuple[str, ...]) -> Spec:
    """Return the tournament that the keys of a ladder describe."""
    kept = {key: value for key, value in values.items() if key not in (*LADDER_KEYS, MARKS, EFFORT)}
    if isinstance(hidden := kept.get("positions"), dict):
        del kept["positions"]
        if hidden.get("file") is not None:
            kept["positions"] = hidden["file"]
    told = {"seed": SECRET, "isolation": "sandbox", **kept, "rounds": 1}
    if "positions" in told:
        del told["rounds"]
    return load_spec(replace(document, values=told))


def list_limits(spec: Spec) -> list[Limits]:
    """Return the limits of the submissions, which are those at the top level of the spec, and the limits of all house agents."""
    return [Limits.of(spec.document.values.get("limits")), *[seat.limits for board in spec.boards for seat in board.seats]]
