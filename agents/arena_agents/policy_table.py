"""An agent that plays a policy from a file, which another program has computed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isclose
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from arena import Action, Agent, ArenaError, Game, Hints, Search, State
from arena.api.errors import describe
from arena.api.games import SpecFile, name_of, read_arrays, read_whole, settings

MAX_FILE_BYTES = 256 << 20
"""The largest file, in bytes, and the largest arrays in a file."""
MAX_LINE_CHARACTERS = 1 << 20
"""The longest line of a text file."""
WORD, SHARE = re.compile(r"\S+"), re.compile(r"[-+.\w]+")
Policies = Mapping[State, Sequence[float]]
"""For each observation, the probabilities of the actions, in the order of the actions."""


class TableRow(NamedTuple):
    """The policy for one observation, as texts."""

    place: str
    """The file, with the number of the line or of the row, for messages."""
    observation: str
    shares: Mapping[str, float]


class PolicyTable(Agent):
    """Plays a policy from `file`, which has the probabilities of all actions for every observation of a seat.

    A text file has a line for each observation: its notation in one line, a tab, and `ACTION=PROBABILITY` for every action with a
    probability above 0, separated by spaces or tabs. The probabilities add up to 1. A file whose name ends in `.npz` has the
    arrays `observations` and `actions` with texts, and `probabilities` with a row for each observation and a column for each
    action. If the file lacks an observation, this is an error; with `missing: uniform`, all actions are equally likely instead. A
    store records the hash of the file, as it does for code.
    """

    name = "policy-table"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, file: SpecFile, missing: Literal["error", "uniform"] = "error") -> None:
        self.file = file
        self.missing = missing
        self._table = _open(file)

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action; if there are several, it is drawn by its probability."""
        actions, shares = game.actions(state), self.policy(game, state)
        return actions[shares.index(1.0)] if 1.0 in shares else search.rng.choices(actions, shares)[0]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of the actions, in their order. Raises ArenaError if the file lacks the observation."""
        found = self._table.policies(game).get(observation)
        if found is not None:
            return found
        actions = game.actions(observation)
        if self.missing == "error":
            text = game.format_state(observation)
            raise ArenaError(
                f"{self.file} has no line for {text!r}; add one, or set `missing: uniform` to play at random in such positions"
            )
        return [1.0 / len(actions)] * len(actions)


class PolicyFile:
    """The rows of a file, and the policies that they give for each game."""

    def __init__(self, rows: Iterable[TableRow]) -> None:
        self._rows = tuple(rows)
        self._policies: dict[tuple[object, str], Policies] = {}

    def policies(self, game: Game) -> Policies:
        """Return the policy for a game. Raises ArenaError for the first row that does not fit it."""
        key = (type(game), repr(settings(game)))
        if key not in self._policies:
            self._policies[key] = dict(_read(game, row) for row in self._rows)
        return self._policies[key]


def _read(game: Game, row: TableRow) -> tuple[State, Sequence[float]]:
    try:
        state = game.parse_state(row.observation)
        legal = [game.format_action(state, action) for action in game.actions(state)]
    except Exception as error:  # the notation may belong to the game of a plugin
        raise ArenaError(f"{row.place}: not an observation of {name_of(game)}: {describe(error)}") from error
    known = set(legal)
    unknown = [action for action in row.shares if action not in known]
    if unknown:
        raise ArenaError(f"{row.place}: expected legal actions ({', '.join(legal) or 'none'}), got {unknown[0]!r}")
    return state, [row.shares.get(action, 0.0) for action in legal]


def _open(file: str) -> PolicyFile:
    """Return the rows of a file. Raises ValueError with the fault and its line."""
    path = Path(file).expanduser()
    try:
        stamp = path.stat()
        return _load(path, stamp.st_mtime_ns, stamp.st_size)
    except OSError as error:
        raise ValueError(f"file: {file} cannot be read: {error.strerror or error}") from error


@lru_cache(maxsize=16)
def _load(path: Path, _changed: int, _size: int) -> PolicyFile:
    rows = _read_arrays(path) if path.suffix == ".npz" else _read_lines(path)
    return PolicyFile(_check_unique(rows))


def _check_unique(rows: Iterator[TableRow]) -> Iterator[TableRow]:
    places: dict[str, str] = {}
    for row in rows:
        if row.observation in places:
            raise ValueError(f"{row.place}: {row.observation!r} is already given in {places[row.observation]}")
        total = sum(row.shares.values())
        if any(share < 0 for share in row.shares.values()) or not isclose(total, 1.0, abs_tol=1e-6):
            raise ValueError(f"{row.place}: expected probabilities of 0 or more that add up to 1, got a sum of {total:g}")
        places[row.observation] = row.place
        yield row
    if not places:
        raise ValueError("file: expected one observation or more, got none")


def _read_lines(path: Path) -> Iterator[TableRow]:
    try:
        text = read_whole(path, MAX_FILE_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected text in UTF-8, or a file whose name ends in .npz: {error.reason}") from error
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if not line.endswith("\n"):
            raise ValueError(f"{place}: expected a line that ends with a newline; the file may be incomplete")
        observation, tab, choices = line.rstrip("\r\n").partition("\t")
        if len(line) > MAX_LINE_CHARACTERS:
            raise ValueError(f"{place}: expected a line of at most {MAX_LINE_CHARACTERS:,} characters, got {len(line):,}")
        found = _split_choices(choices)
        if not tab or not found:
            raise ValueError(
                f"{place}: expected OBSERVATION, a tab, and ACTION=PROBABILITY for at least one action, got {line.strip()[:80]!r}"
            )
        shares = {}
        for action, share in found:
            try:
                shares[action] = float(share)
            except ValueError:
                raise ValueError(f"{place}: expected a probability, got {share!r}") from None
        yield TableRow(place, observation, shares)


def _split_choices(text: str) -> list[tuple[str, str]]:
    """Return the actions in a text such as `a=0.5 b c=0.5`, each with its probability; empty if the last one has none.

    Actions may contain spaces and = signs. This takes a time in proportion to the length of the text, unlike a single regular
    expression, which would look for the end of each action again and again.
    """
    found, start = [], -1
    for word in WORD.finditer(text):
        start = word.start() if start < 0 else start
        head, equals, share = word[0].rpartition("=")
        end = word.start() + len(head)
        if equals and end > start and SHARE.fullmatch(share):
            found.append((text[start:end], share))
            start = -1
    return found if start < 0 else []


def _read_arrays(path: Path) -> Iterator[TableRow]:
    arrays, names = read_arrays(path, MAX_FILE_BYTES), ("observations", "actions", "probabilities")
    if missing := [name for name in names if name not in arrays]:
        raise ValueError(f"{path}: expected the arrays observations, actions and probabilities, but {missing[0]} is missing")
    observations, actions, shares = [arrays[name] for name in names]
    if {observations.dtype.kind, actions.dtype.kind} != {"U"} or shares.shape != (*observations.shape, *actions.shape):
        raise ValueError(
            f"{path}: expected observations and actions as strings, and a row of probabilities for each observation, got "
            f"{observations.dtype}{observations.shape}, {actions.dtype}{actions.shape} and {shares.shape}"
        )
    for number, (observation, row) in enumerate(zip(observations.tolist(), shares.tolist(), strict=True), 1):
        yield TableRow(
            f"{path}: row {number}", observation, {act: share for act, share in zip(actions.tolist(), row, strict=True) if share}
        )
