"""One call of `arena run`: the spec that was played, and the software that played it."""

import json
import platform
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, NotRequired, Self, TypeVar

from pydantic import AfterValidator, Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic reads the one of the standard library from Python 3.12 on

from arena.clock import utc_now
from arena.configured import settings
from arena.errors import ArenaError, SpecError, SpecFault, StoreError, cut, escape_line, listing
from arena.identity import canonical, key
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.schedule.board_info import BoardInfo
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, commitment, newest_digits
from arena.spec import Board, Spec, reload_spec
from arena.spec.document import MAX_NESTING, UNWRITTEN, Document, make_document
from arena.spec.model import OpeningKeys, ReportKeys
from arena.spec.named_code import follow_moved_plugins, list_named_code
from arena.spec.parameters import make_plain, read_json, read_value
from arena.store.rows import escape_surrogates
from arena.version import __version__

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Run:
    """The data about a run in a store. They suffice to show its boards without any plugin, and to load its spec again."""

    SOFTWARE: ClassVar = ("arena", "python", "numpy", "numba")
    """The parts of an environment that are shown on public web pages."""

    name: str
    hash: str
    """A hash of everything that determines the schedule. Runs with the same hash have the same matches in the same order."""
    seed: Seed | None
    """The seed; None while it is secret."""
    spec: Mapping[str, Any]
    """`values`, `name` and `folder` of the document, and the `plugins` that were requested."""
    boards: Sequence[BoardInfo]
    plugins: Mapping[str, Fingerprint]
    versions: Mapping[str, str]
    """The versions of the software, the machine and the commit; see `describe_environment`. Old stores have fewer."""
    secret: str | None = None
    """All parts of a secret seed, even before it is revealed. Only processes that play may use it."""
    revealed: str | None = None
    """The time at which the seed was revealed."""
    started: str = ""
    ended: str | None = None
    idle: bool = False
    """Whether the run ended without adding a match to the store, so that no match was played by its code."""
    shard: str | None = None
    """The shard that the run has completed, as in `2/5`; None for other runs."""
    first_record: int | None = None
    """The smallest number of a record that the run could add, so the records from there to the next run were played by its code.
    None if this is unknown, as for runs that were copied from another store.
    """
    accepted: bool = False
    """Whether the user has accepted the earlier matches as if they had been played by the code of this run."""

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Return the data about a run that is about to start.

        >>> from arena.api.spec import load_spec
        >>> run = Run.of(load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]}))
        >>> [board.title for board in run.boards], run.seed
        (['tic-tac-toe'], 0)
        """
        document = spec.document
        recipe = {"name": document.name, "values": document.values, "folder": str(document.folder), "plugins": list(spec.plugins)}
        return cls(
            name=spec.name,
            hash=key(canonical([_schedule(board) for board in spec.boards])),
            seed=None if spec.secret else newest_digits(spec.seed),
            secret=None if isinstance(spec.seed, int) else spec.seed,
            revealed=None if spec.secret or isinstance(spec.seed, int) else now(),
            spec=recipe,
            boards=[BoardInfo.of(board, spec.registry) for board in spec.boards],
            plugins=Fingerprint.take_all(spec),
            versions=describe_environment(),
        )

    def code(self) -> dict["CodeKey", str]:
        """The hashes of all code that plays in the run."""
        found: dict[CodeKey, list[str]] = {}
        for name, fingerprint in self.plugins.items():
            for part, one in fingerprint.hashes.items():
                found.setdefault(code_key(name, part), []).append(one)
        return {part: " ".join(sorted(hashes)) for part, hashes in found.items()}

    def load(self, allowed: Collection[str] = (), folder: Path | None = None) -> Spec:
        """Return the spec, ready to be played. If it now has faults, or if its boards differ from those of the run,
        SpecError is raised, as for a file. The spec is now in `folder`, if it is given. Plugin files may also have
        moved, see `follow_moved_plugins`.

        Raises ForeignCode if the spec names code that is not `allowed` (see `list_named_code`): a store may come from others.
        """
        document = self.document if folder is None else replace(self.document, folder=folder)
        document, asked = follow_moved_plugins(document, self.plugins_asked, allowed)
        named = _check_code(document, asked, allowed, load_plugins())
        plugins = [plugin for plugin in named.values() if plugin is not None]
        if plugins:  # they may add agent sources, with more keys that name code
            _check_code(document, asked, allowed, load_plugins(plugins))
        seed = self.seed if self.secret is None else self.secret
        spec = reload_spec(document, asked, 0 if seed is None else seed, secret=self.hidden)
        had, has = [
            listing([str(len(labels)) for labels in found])
            for found in ([board.labels for board in self.boards], [board.seats for board in spec.boards])
        ]
        if had != has:  # a plugin has changed, or a stranger has changed the spec in the store
            message = f"expected boards with as many entries as in the run ({had}), got {has}"
            raise SpecError([SpecFault(self.document.name, 0, 0, "agents", message)])
        return spec

    def board_of(self, game: str, place: Scheduled | None) -> int | None:
        """Return the index of the first board for a match of `game`, or of the one at `place` if given; None if none fits."""
        numbers = range(len(self.boards)) if place is None else [place.board]
        return next((number for number in numbers if self.boards[number].game["name"] == game), None)

    @staticmethod
    def list_mixed_plugins(runs: "Iterable[Run]") -> list[str]:
        """Return the plugins with code that differs between runs that have played matches."""
        first: dict[CodeKey, str] = {}
        played = [run for run in runs if not run.idle]
        return sorted({part[0] for run in played for part, found in run.code().items() if first.setdefault(part, found) != found})

    @staticmethod
    def list_first_records(runs: "Sequence[Run]") -> list[int] | None:
        """Return the number of the first record of each run, in ascending order; None if it is unknown which run played a match.

        A record was played by the last run whose number is not larger than that of the record.
        """
        firsts = [run.first_record for run in runs if run.first_record is not None]
        if len(firsts) < len(runs):
            return None
        for place in range(len(firsts) - 1, 0, -1):  # after matches were deleted, a later run may have taken over their numbers
            firsts[place - 1] = min(firsts[place - 1 : place + 1])
        return firsts

    @staticmethod
    def list_environments(runs: "Iterable[Run]") -> list[Mapping[str, str]]:
        """Return the distinct environments of some runs, in the order of their first use."""
        found: list[Mapping[str, str]] = []
        for run in runs:
            if run.versions not in found:
                found.append(run.versions)
        return found

    @staticmethod
    def list_changed_options(before: "Iterable[Run]", now: "Iterable[Run]") -> dict[str, list[str]]:
        """Return texts about changed options of entries that are in both `before` and `now`, and the keys of these entries.

        Such an entry has the same ids before and now, so a default has changed. New and removed options do not count.
        """
        known = _join_options(before)
        found: dict[str, list[str]] = {}
        for entry, options in _join_options(now).items():
            for option, value in options.items():
                old = known.get(entry, {}).get(option, value)
                if old != value:
                    found.setdefault(f"{option} was {cut(old)} and is {cut(value)}", []).append(entry)
        return found

    @property
    def document(self) -> Document:
        """The spec as it was written."""
        return Document(self.spec["name"], dict(self.spec["values"]), Path(self.spec["folder"]))

    @property
    def plugins_asked(self) -> list[str]:
        """The plugins that were loaded in addition to the installed ones."""
        return [name for name in self.spec["plugins"] if isinstance(name, str)]

    @property
    def hidden(self) -> bool:
        """Whether the seed is still secret."""
        return self.secret is not None and self.revealed is None

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""
        return None if self.secret is None else commitment(self.secret)


MAX_PLACE_CHARACTERS = 300
"""The most characters of a code path in a message."""
MAX_PLACES = 3
"""The most pieces of code that a message lists. A ladder may have hundreds."""


class ForeignCode(StoreError):
    """The spec in a store was not loaded, because it names code that the user has not allowed."""

    def __init__(self, missing: Mapping[str, str | None]) -> None:
        """`missing` holds the paths of the code, as `list_named_code` returns them."""
        places = [cut(place, MAX_PLACE_CHARACTERS) for place in missing]
        if len(places) > MAX_PLACES:
            places = [*places[:MAX_PLACES], f"and {len(places) - MAX_PLACES:,} more"]
        super().__init__(f"not loaded, because only the store names this code: {', '.join(places)}")
        self.missing = missing

    def options(self, document: Document) -> list[str]:
        """Return the command-line arguments that allow the code: `--plugin` options, or the spec if other code is missing."""
        if all(plugin is not None for plugin in self.missing.values()):
            return [word for plugin in self.missing.values() if plugin is not None for word in ("--plugin", plugin)]
        file = document.folder / Path(document.name).name
        return ["--spec", str(file) if document.name != UNWRITTEN else "FILE"]


def _check_code(
    document: Document, plugins: Sequence[str], allowed: Collection[str], registry: Registry
) -> dict[str, str | None]:
    """Return the code that a spec names. Raises ForeignCode if some of it is not allowed."""
    named = list_named_code(document, plugins, registry)
    missing = {place: plugin for place, plugin in named.items() if place not in allowed}
    if missing:
        raise ForeignCode(missing)
    return named


class Option(NamedTuple):
    """An option of a game, an agent or a heuristic."""

    kind: str
    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} of the {self.kind} {self.owner}"


def _join_options(runs: Iterable[Run]) -> dict[str, dict[Option, str]]:
    """Return the options of every entry, its game and its heuristic as canonical texts; the keys are the `entry_key` of each
    entry. Defaults are included.
    """
    found: dict[str, dict[Option, str]] = {}
    for board in [board for run in runs for board in run.boards]:
        for entry in board.settings:
            given = {("game", board.game["name"]): board.parameters, ("agent", entry["agent"]): entry["options"]}
            if entry["heuristic"] is not None:
                given["heuristic", entry["heuristic"]["name"]] = entry["heuristic"]["parameters"]
            found.setdefault(entry["key"], {}).update(
                {Option(*owner, name): canonical(value) for owner, values in given.items() for name, value in values.items()}
            )
    return found


CodeKey = tuple[str, str]
"""The name of a plugin without its folder, because paths differ between machines, and the name of a part of it."""


def code_key(source: str, part: str) -> CodeKey:
    """Return the key for the hash of one part of a plugin in `Run.code`."""
    return source.rpartition("/")[2], part


def describe_environment() -> dict[str, str]:
    """Return the versions of the software, the system, the machine and its processor, and the commit of the working directory.

    They do not contain names of hosts, users or folders. Unknown values are left out.
    """
    found = dict(_machine())
    with suppress(OSError, UnicodeDecodeError):  # this is not a repository
        if (commit := _read_commit(Path.cwd())) is not None:
            found["commit"] = commit
    return found


def _read_commit(folder: Path) -> str | None:
    """Return the commit that is checked out in a folder; None if it is unknown. Git itself takes longer than a short run."""
    git = next((found for around in (folder, *folder.parents) if (found := around / ".git").exists()), None)
    if git is None:
        return None
    if git.is_file():  # a worktree or a submodule
        git = git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()
    head = (git / "HEAD").read_text("utf-8").strip()
    if head.startswith("ref: "):
        name, shared = head.removeprefix("ref: "), git / "commondir"
        common = git / shared.read_text("utf-8").strip() if shared.is_file() else git
        if (common / name).is_file():
            head = (common / name).read_text("utf-8").strip()
        else:
            packed = (common / "packed-refs").read_text("utf-8").splitlines()
            head = next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), "")
    return head if COMMIT.fullmatch(head) else None


COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@cache
def _machine() -> tuple[tuple[str, str], ...]:
    found = {"arena": __version__, "python": platform.python_version()}
    for name in Run.SOFTWARE[2:]:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    lines = []
    with suppress(OSError):  # on a system without this file, `platform` starts a program that knows the name
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "") or platform.processor()
    found |= {"system": f"{platform.system()} {platform.release()}", "machine": platform.machine(), "processor": processor}
    return tuple([(name, text) for name, text in found.items() if text.strip()])


def _schedule(board: Board) -> list[Any]:
    """Return the values that determine the matches of a board. They do not depend on the folders of the spec and its plugins."""
    positions, format_ = board.positions, board.format
    where = [positions.name, positions.changed, positions.seed, positions.texts, positions.plies]
    moves = [seat.limits.moves for seat in board.seats]
    adjudication = [] if board.adjudication is None else [board.adjudication.identity]
    seats = [seat.identity for seat in board.seats]
    order = [] if format_.order_version == 1 else [["order", format_.order_version]]
    return [where, format_.name, make_plain(settings(format_)), asdict(board.field), seats, moves, *adjudication, *order]


def row_of(run: Run) -> tuple[Any, ...]:
    """Return a run as a row of the table, without its times. Raises ArenaError if it is too large."""
    plugins = {name: [found.version, found.text] for name, found in run.plugins.items()}
    extra = {IDLE: run.idle, SHARD: run.shard, FIRST_RECORD: run.first_record, ACCEPTED: run.accepted}
    recipe = {**run.spec, **{key: value for key, value in extra.items() if value}}
    spec, code, versions = (json.dumps(value, default=str) for value in (recipe, plugins, dict(run.versions)))
    seed = run.seed if isinstance(run.seed, int) else SECRET_SEED
    name, boards = escape_surrogates(run.name), boards_text(run.boards)
    for column, text in {"spec": spec, "boards": boards, "plugins": code, "versions": versions}.items():
        if len(text) > MAX_CELL_CHARACTERS:
            size, most = len(text) >> 20, MAX_CELL_CHARACTERS >> 20
            raise ArenaError(f"the run is too large for a store: its {column} take {size} MiB, and at most {most} MiB fit")
    return (name, run.hash, seed, spec, boards, code, versions, run.secret, run.commitment)


IDLE, SHARD, FIRST_RECORD, ACCEPTED = "idle", "shard", "first_record", "accepted"
"""The keys in the cell with the spec for the attributes of a run with the same names. Only runs with such a value have them."""
SECRET_SEED = -1
"""The seed in the row of a run with a secret seed."""
RUN = "name, hash, seed, spec, boards, plugins, versions, secret, commitment"
"""The columns of a run, as in `row_of`. The digest covers them."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def boards_text(boards: Sequence[BoardInfo]) -> str:
    """Return the boards of a run as a cell of its row. Surrogates are escaped, because no reader of JSON accepts them."""
    text = json.dumps([board.as_dict() for board in boards], default=str, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)


def run_of_row(row: Sequence[Any]) -> Run:
    """Return the run from a row with the columns started, ended, revealed, and RUN.

    Raises ValueError with the place of the first value that arena does not write. The row may come from a stranger, and a digest
    says nothing about that.
    """
    started, ended, revealed, name, hashed, number, spec, boards, plugins, versions, secret, _ = row
    cells = (name, hashed, number, spec, boards, plugins, versions, secret)
    read_value(_validators().cells, dict(zip(_Cells.__annotations__, (started, ended, revealed, *cells), strict=True)))
    if secret is None and number < 0:
        raise ValueError(f"seed: expected at least 0, got {number}")
    recipe = _read_cell("spec", spec, _read_recipe)
    idle, shard = recipe.pop(IDLE, False) is True, recipe.pop(SHARD, None)
    first_record, accepted = recipe.pop(FIRST_RECORD, None), recipe.pop(ACCEPTED, False) is True
    seed = number if secret is None else None if revealed is None else newest_digits(secret)
    codes = _read_cell("plugins", plugins, lambda text: read_json(_validators().plugins, text))
    return Run(
        name=name,
        hash=hashed,
        seed=seed,
        spec=recipe,
        boards=_read_cell("boards", boards, BoardInfo.from_json),
        plugins={source: Fingerprint.of(*found) for source, found in codes.items()},
        versions=_read_cell("versions", versions, lambda text: read_json(_validators().versions, text)),
        secret=secret,
        revealed=revealed,
        started=started,
        ended=ended,
        idle=idle,
        shard=shard,
        first_record=first_record,
        accepted=accepted,
    )


MAX_NAME_CHARACTERS = 1000
MAX_SECRET_CHARACTERS = 1 << 16
MAX_CELL_CHARACTERS = 1 << 24
"""The most characters of a cell with JSON. A board takes about 250 for each entry. Values may take twenty times as much memory as
their text.
"""
_DIGITS = "[0-9a-f]{32}"
_Text = Annotated[str, Field(max_length=MAX_CELL_CHARACTERS)]


def _check_moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or not 1970 <= moment.year < 9000:  # so that it is a time in every zone
        raise ValueError(f"expected a time such as {now()}")
    return text


def _check_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"expected printable text, got {cut(text)!r}")
    return text


_Moment = Annotated[str, AfterValidator(_check_moment)]


class _Cells(TypedDict):
    """The cells of a run. Cells with JSON are texts here."""

    started: _Moment
    ended: _Moment | None
    revealed: _Moment | None
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS), AfterValidator(_check_printable)]
    hash: Annotated[str, Field(max_length=64)]
    seed: int
    spec: _Text
    boards: _Text
    plugins: _Text
    versions: _Text
    secret: Annotated[str, Field(max_length=MAX_SECRET_CHARACTERS, pattern=f"^{_DIGITS}(,[0-9]{{1,9}}:{_DIGITS})*$")] | None


class _Recipe(TypedDict):
    """The cell with the spec. Texts may have surrogates, which stand for bytes of a path."""

    name: Any
    values: dict[Any, Any]
    folder: Any
    plugins: list[Any]
    idle: NotRequired[bool]
    shard: NotRequired[Annotated[str, Field(pattern=r"^[0-9]{1,9}/[0-9]{1,9}$")]]
    first_record: NotRequired[Annotated[int, Field(ge=1)]]
    accepted: NotRequired[bool]


class _Values(TypedDict):
    """The keys of a spec that are used although the spec is not loaded."""

    agents: NotRequired[list[Any]]
    limits: NotRequired[dict[str, Any] | None]
    openings: NotRequired[OpeningKeys | None]
    report: NotRequired[ReportKeys | None]


class _Validators(NamedTuple):
    cells: TypeAdapter[_Cells]
    recipe: TypeAdapter[_Recipe]
    values: TypeAdapter[_Values]
    plugins: TypeAdapter[dict[str, tuple[str | None, str]]]
    versions: TypeAdapter[dict[str, str]]


@cache
def _validators() -> _Validators:
    kinds: tuple[Any, ...] = (_Cells, _Recipe, _Values, dict[str, tuple[str | None, str]], dict[str, str])
    return _Validators(*[TypeAdapter(kind) for kind in kinds])


def _read_cell(column: str, text: str, read: Callable[[str], Value]) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{column}.{error}") from None


_LONE_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Matches surrogates that stand for no byte of a path."""


def _read_recipe(text: str) -> dict[str, Any]:
    try:
        recipe: Any = read_value(_validators().recipe, json.loads(text))
        make_document(recipe["values"])
    except (RecursionError, SpecError):
        raise ValueError(f"expected values that are nested at most {MAX_NESTING} levels deep") from None
    if not all(isinstance(one, str) for one in (recipe["name"], recipe["folder"], *recipe["plugins"])):
        raise ValueError("name, folder, plugins: expected strings")
    for one in (recipe["name"], recipe["folder"], *recipe["plugins"]):
        if "\0" in one or _LONE_SURROGATE.search(one):
            raise ValueError(f"name, folder, plugins: expected the path of a file, got {cut(ascii(one))}")
    read_value(_validators().values, recipe["values"])
    return recipe  # type: ignore[no-any-return]


def now() -> str:
    """Return the time of day as text, in UTC."""
    return utc_now().isoformat(timespec="seconds")


MAX_MOMENT_CHARACTERS, MAX_FAULT_CHARACTERS = 40, 200
"""The most characters of the time of a run, and of a description of a fault in it, in a name."""
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)
"""Exceptions that a damaged row may cause. Errors from JSON are ValueErrors."""


def name_run(started: Any, fault: BaseException | None = None) -> str:
    """Return the name of a run, with the fault in its values if they have the right hash."""
    name = f"the run of {escape_line(cut(str(started), MAX_MOMENT_CHARACTERS))}"
    return name if fault is None else f"{name} ({escape_line(cut(str(fault), MAX_FAULT_CHARACTERS))})"
