"""One `arena run`: the spec as it was played, and its software."""

import json
import platform
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from arena.configured import settings
from arena.errors import StoreError, cut
from arena.identity import canonical, key
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.schedule.board_info import BoardInfo, describe_board
from arena.schedule.fingerprint import Fingerprint, take_fingerprints
from arena.schedule.schedule import Scheduled
from arena.secret import Seed, commitment, newest_digits
from arena.spec import Board, Spec, reload_spec
from arena.spec.document import UNWRITTEN, Document
from arena.spec.named_code import list_named_code
from arena.spec.parameters import make_plain
from arena.store.rows import escape_surrogates
from arena.version import __version__


@dataclass(frozen=True, slots=True)
class Run:
    """The data of a run in a store beside its matches: enough to show its boards without any plugin, and to load it again."""

    name: str
    hash: str
    """The hash of everything that determines the schedule: runs with the same hash have the same matches in the same order."""
    seed: Seed | None
    """None while the seed is secret."""
    spec: Mapping[str, Any]
    """`values`, `name` and `folder` of the document, and the requested `plugins`."""
    boards: Sequence[BoardInfo]
    plugins: Mapping[str, Fingerprint]
    versions: Mapping[str, str]
    """The versions of software, the machine and the commit; see `describe_environment`. Runs of old stores have less."""
    secret: str | None = None
    """All parts of a secret seed, also before it is revealed; only for players."""
    revealed: str | None = None
    """When the seed was revealed."""
    started: str = ""
    ended: str | None = None

    def code(self) -> dict["CodeKey", str]:
        """The hashes of all code that plays."""
        found: dict[CodeKey, list[str]] = {}
        for name, fingerprint in self.plugins.items():
            for part, one in fingerprint.hashes.items():
                found.setdefault(code_key(name, part), []).append(one)
        return {part: " ".join(sorted(hashes)) for part, hashes in found.items()}

    def options(self) -> "KnownOptions":
        """The options of every entry, of its game and its heuristic, all defaults filled in."""
        found: KnownOptions = {}
        for board in self.boards:
            for entry in board.settings:
                given = {("game", board.game["name"]): board.parameters, ("agent", entry["agent"]): entry["options"]}
                if entry["heuristic"] is not None:
                    given["heuristic", entry["heuristic"]["name"]] = entry["heuristic"]["parameters"]
                found[entry["key"]] = {
                    Option(*owner, name): canonical(value) for owner, values in given.items() for name, value in values.items()
                }
        return found

    def load(self, allowed: Collection[str] = ()) -> Spec:
        """Return the spec, ready to be played; its present faults are raised as for a file.

        A store may come from anyone: ForeignCode if it names code whose path, as in `list_named_code`, is not `allowed`.
        """
        named = self._check_code(allowed, load_plugins())
        plugins = [plugin for plugin in named.values() if plugin is not None]
        if plugins:  # they may bring sources of agents with more keys that name code
            self._check_code(allowed, load_plugins(plugins))
        seed = self.seed if self.secret is None else self.secret
        return reload_spec(self.document, self.plugins_asked, 0 if seed is None else seed, secret=self.hidden)

    def _check_code(self, allowed: Collection[str], registry: Registry) -> dict[str, str | None]:
        """Return the code that the spec names; raise ForeignCode if some of it is not allowed."""
        named = list_named_code(self.document, self.plugins_asked, registry)
        missing = {place: plugin for place, plugin in named.items() if place not in allowed}
        if missing:
            raise ForeignCode(missing)
        return named

    def board_of(self, game: str, place: Scheduled | None) -> int | None:
        """Return the number of the board of a match of `game`, the first if its place is not known; None if there is none."""
        numbers = range(len(self.boards)) if place is None else [place.board]
        return next((number for number in numbers if self.boards[number].game["name"] == game), None)

    @property
    def document(self) -> Document:
        """The spec as it was written."""
        return Document(self.spec["name"], dict(self.spec["values"]), Path(self.spec["folder"]))

    @property
    def plugins_asked(self) -> list[str]:
        """The plugins that were loaded beside the installed ones."""
        return [name for name in self.spec["plugins"] if isinstance(name, str)]

    @property
    def hidden(self) -> bool:
        """True while the seed is secret."""
        return self.secret is not None and self.revealed is None

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""
        return None if self.secret is None else commitment(self.secret)


MAX_PLACE_CHARACTERS = 300
"""The length of a code path in a message."""


class ForeignCode(StoreError):
    """The spec in a store names code that the user has not named, so it was not loaded."""

    def __init__(self, missing: Mapping[str, str | None]) -> None:
        """Take the paths of the code, as `list_named_code` returns them."""
        places = ", ".join([cut(place, MAX_PLACE_CHARACTERS) for place in missing])
        super().__init__(f"not loaded, since only the store names it: {places}")
        self.missing = missing

    def options(self, document: Document) -> list[str]:
        """Return the words of a command line that allow the code; the spec itself if something other than plugins is missing."""
        if all(plugin is not None for plugin in self.missing.values()):
            return [word for plugin in self.missing.values() if plugin is not None for word in ("--plugin", plugin)]
        file = document.folder / Path(document.name).name
        return ["--spec", str(file) if document.name != UNWRITTEN else "FILE"]


class Option(NamedTuple):
    """An option of a game, an agent or a heuristic."""

    kind: str
    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} of the {self.kind} {self.owner}"


KnownOptions = dict[str, dict[Option, str]]
"""Options and their values as canonical text, by the key of an entry on a board in ids (`entry_key`)."""


def list_changed_options(before: KnownOptions, now: KnownOptions) -> dict[str, list[str]]:
    """Return in words which options of the same entries have other values, with the keys of these entries.

    The ids of such an entry are the same, so the default has changed. An option that exists only in `before` or `now` does not
    count.
    """
    found: dict[str, list[str]] = {}
    for entry, options in now.items():
        for option, value in options.items():
            old = before.get(entry, {}).get(option, value)
            if old != value:
                found.setdefault(f"{option} was {cut(old)} and is {cut(value)}", []).append(entry)
    return found


CodeKey = tuple[str, str]
"""The name of a plugin without its folder, because paths differ between machines, and the part of it."""


def code_key(source: str, part: str) -> CodeKey:
    """Return the key under which the code of a run has the hash of a part of a plugin."""
    return source.rpartition("/")[2], part


def list_mixed_plugins(runs: Iterable[Run]) -> list[str]:
    """Return the plugins that differ between runs."""
    first: dict[CodeKey, str] = {}
    return sorted({part[0] for run in runs for part, found in run.code().items() if first.setdefault(part, found) != found})


def run_of(spec: Spec) -> Run:
    """Return the data to keep of a run that is about to start."""
    document = spec.document
    recipe = {
        "name": document.name,
        "values": document.values,
        "folder": str(document.folder),
        "plugins": list(spec.plugins),
    }
    return Run(
        name=spec.name,
        hash=key(canonical([_schedule(board) for board in spec.boards])),
        seed=None if spec.secret else newest_digits(spec.seed),
        secret=None if isinstance(spec.seed, int) else spec.seed,
        revealed=None if spec.secret or isinstance(spec.seed, int) else now(),
        spec=recipe,
        boards=[describe_board(board, spec.registry) for board in spec.boards],
        plugins=take_fingerprints(spec),
        versions=describe_environment(),
    )


def describe_environment() -> dict[str, str]:
    """Return the versions of the software, the system, the machine and its processor, and the commit of the working directory.

    They name no host, no user and no place. Unknown values are left out.
    """
    found = dict(_machine())
    with suppress(OSError, subprocess.SubprocessError):  # no git, or not a repository
        asked = ["git", "rev-parse", "--verify", "HEAD"]  # unlike `git status`, it runs nothing that a repository names
        told = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=5, stdin=subprocess.DEVNULL)  # noqa: S603
        found["commit"] = told.stdout.strip()
    return found


@cache
def _machine() -> tuple[tuple[str, str], ...]:
    found = {"arena": __version__, "python": platform.python_version()}
    for name in SOFTWARE[2:]:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    processor = platform.processor()
    with suppress(OSError):  # a system without this file has the name in `platform`
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), processor)
    found |= {"system": f"{platform.system()} {platform.release()}", "machine": platform.machine(), "processor": processor}
    return tuple([(name, text) for name, text in found.items() if text.strip()])


SOFTWARE = ("arena", "python", "numpy", "numba")
"""The parts of an environment that a public page shows."""


def list_environments(runs: Iterable[Run]) -> list[Mapping[str, str]]:
    """Return the environments of some runs, each once, in the order in which they came."""
    found: list[Mapping[str, str]] = []
    for run in runs:
        if run.versions not in found:
            found.append(run.versions)
    return found


def _schedule(board: Board) -> list[Any]:
    """Return the values that determine the matches of a board, wherever its spec and its plugins are."""
    positions, format_ = board.positions, board.format
    where = [positions.name, positions.changed, positions.seed, positions.texts, positions.plies]
    moves = [seat.limits.moves for seat in board.seats]
    adjudication = [] if board.adjudication is None else [board.adjudication.identity]
    seats = [seat.identity for seat in board.seats]
    return [where, format_.name, make_plain(settings(format_)), asdict(board.field), seats, moves, *adjudication]


def row_of(run: Run) -> tuple[Any, ...]:
    """Return a run as a row, without its times."""
    plugins = {name: [found.version, found.text] for name, found in run.plugins.items()}
    spec, code, versions = (json.dumps(value, default=str) for value in (run.spec, plugins, dict(run.versions)))
    seed = run.seed if isinstance(run.seed, int) else SECRET_SEED
    return (
        escape_surrogates(run.name),
        run.hash,
        seed,
        spec,
        boards_text(run.boards),
        code,
        versions,
        run.secret,
        run.commitment,
    )


SECRET_SEED = -1
"""The seed in the row of a run with a secret seed."""
RUN = "name, hash, seed, spec, boards, plugins, versions, secret, commitment"
"""The columns of a run, as in `row_of`; its digest covers these."""


def boards_text(boards: Sequence[BoardInfo]) -> str:
    """Return the boards of a run as a cell of its row."""
    return json.dumps([board.as_dict() for board in boards], default=str)


def run_of_row(row: Sequence[Any]) -> Run:
    """Return the run of a row: started, ended, revealed, and the columns of RUN."""
    started, ended, revealed, name, hashed, number, spec, boards, plugins, versions, secret, _ = row
    seed = number if secret is None else None if revealed is None else newest_digits(secret)
    return Run(
        name=name,
        hash=hashed,
        seed=seed,
        spec=json.loads(spec),
        boards=[BoardInfo.from_dict(sheet) for sheet in json.loads(boards)],
        plugins={source: Fingerprint.of(*found) for source, found in json.loads(plugins).items()},
        versions=json.loads(versions),
        secret=secret,
        revealed=revealed,
        started=started,
        ended=ended,
    )


def now() -> str:
    """Return the time of day as text, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
