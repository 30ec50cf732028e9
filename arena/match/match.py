"""A match before it is played: the rules, the position, the seats, and the key that follows from these."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from arena.agent import Agent
from arena.game import Game, State
from arena.heuristic import Evaluation
from arena.identity import canonical, key, position_stream
from arena.limits import DEFAULT_MOVES, START_SECONDS, Limits
from arena.match.adjudication import Adjudication
from arena.match.openings import Redraws, play_opening
from arena.secret import Seed, seed_of_round

IN_PROCESS = "none"
"""The isolation of an agent that runs in the process that plays. Extensions bring others."""


class OwnCode(Protocol):
    """Code that an entry brings, which the process of its agent loads and no other. It is hashable, and is pickled."""

    @property
    def source(self) -> str:
        """What to call it beside plugins."""

    @property
    def mark(self) -> str:
        """The start of its hash, by which people know it."""

    @property
    def code(self) -> str:
        """A hash of the code as it was when the spec was read."""

    @property
    def heuristics(self) -> frozenset[tuple[str, str]]:
        """The heuristics that it brings, each as (game, name)."""

    def files(self) -> set[Path]:
        """Return the files that its hash is over."""

    def hash(self) -> str:
        """Return the hash of the code as it is now; it does not depend on where the files lie."""


@dataclass(frozen=True, slots=True)
class Program:
    """How another process makes the agent of a seat."""

    agent: str
    """Its name in the registry; of a command, what to call it."""
    options: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None
    """Its name and parameters."""
    plugins: tuple[str, ...]
    """What the process loads beside the installed plugins."""
    folder: str
    """Where it runs: the folder of the spec."""
    command: tuple[str, ...] | None = None
    """What to start; None starts Python's own host."""
    version: OwnCode | None = None
    """Code that the process loads in place of the current plugin of the agent; None for that one."""
    pondering: bool = False
    """Whether it may go on while others decide; else it stands still outside its own turn."""
    adapter: str | None = None
    """The module that speaks with a command in the place of arena; None if the command speaks for itself."""
    files: tuple[str, ...] = ()
    """Files that its options name, which a sandbox shows it."""


class Settings(NamedTuple):
    """The options of an agent and its heuristic, in the terms of JSON."""

    options: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None
    """Its name and parameters."""


NO_SETTINGS = Settings({}, None)


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of a match: how its agent is made, and its limits."""

    label: str
    make: Callable[[], Agent]
    solver: bool
    """Whether it solves puzzles in one go instead of choosing move by move."""
    evaluation: Evaluation | None
    limits: Limits
    identity: str
    """Canonical text of all that makes it play as it does."""
    agent: str = ""
    """The name of the agent in the registry."""
    heuristic: str | None = None
    """The name of the heuristic, None if there is none."""
    isolation: str = IN_PROCESS
    """The name of the place where its agent runs."""
    program: Program | None = None
    """Needed unless the isolation is IN_PROCESS."""
    optimal: bool = False
    """Whether every solution it finds is a cheapest one."""
    files: tuple[tuple[str, str], ...] = ()
    """The files that its options name: each as the spec has it, and its whole path."""
    settings: Settings = NO_SETTINGS
    """Its options and its heuristic, with all defaults filled in."""
    waits: bool = False
    """Whether the agent may be unavailable, which makes the match void: its class, or the spec, says that it waits for something
    outside. For any other agent that is a fault: else an agent could escape each defeat."""

    @property
    def version(self) -> OwnCode | None:
        """The code of its own with which the agent plays; None if that is in a plugin of the registry."""
        return None if self.program is None else self.program.version


@dataclass(frozen=True, slots=True)
class Position:
    """A starting state, its text, and the key from which its random streams come."""

    key: str
    state: State
    text: str


class Match(NamedTuple):
    """One play from one position with an agent in every seat.

    A named tuple: a frozen dataclass takes twice as long to make, which a small match would feel.
    """

    id: str
    game: Game
    position: Position
    seats: tuple[Seat, ...]
    seed: int | None
    """That of the spec; None if it is a secret."""
    adjudication: Adjudication | None = None
    """The rules by which reported values end it before the game's own rules do."""
    repetition: int = 0
    """How many matches of these seats from an equal position were given before this one: each has its own streams of chance."""


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of one board: drawn one by one, or given as texts.

    The k-th is the same for everyone, and does not depend on who plays. With openings, a round whose opening an earlier one
    has is drawn anew, under a key that says how often.
    """

    game: Game
    name: str
    changed: Mapping[str, Any]
    """The parameters of the game that differ from their defaults, in the terms of JSON."""
    seed: Seed
    texts: Sequence[str] | None = None
    plies: int = 0
    """How many random plies are played from each before the agents do."""
    redraws: Redraws = field(init=False, compare=False, repr=False)
    _before: str = field(init=False)
    _after: str | None = field(init=False)
    _repetitions: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        openings = f'{{"plies":{self.plies}}}' if self.plies else "null"
        rules = f'"game":{canonical(self.name)},"openings":{openings},"parameters":{canonical(self.changed)}'
        object.__setattr__(self, "_before", f'{{{rules},"position":')
        object.__setattr__(self, "_after", f',"seed":{self.seed}}}' if isinstance(self.seed, int) else None)
        seen: Counter[str] = Counter()
        repetitions = []
        for text in self.texts or ():
            repetitions.append(seen[text])
            seen[text] += 1
        object.__setattr__(self, "_repetitions", tuple(repetitions))
        object.__setattr__(self, "redraws", Redraws(lambda number, redraw: self._drawn(number, redraw).text))

    def __getitem__(self, number: int) -> Position:
        """Return the position of a round. What the game raises while drawing or parsing it is passed on."""
        return self._drawn(number, self._redraw(number))

    def _drawn(self, number: int, redraw: int) -> Position:
        position_key = self._key(number, redraw)
        if self.texts is None:
            state = self.game.initial(position_stream(position_key))
        else:
            state = self.game.parse_state(self.texts[number])
        if self.plies:
            state = play_opening(self.game, state, self.plies, position_stream(position_key, "opening"))
        return Position(position_key, state, self.game.format_state(state))

    def key(self, number: int) -> str:
        """Return the key of the position of a round."""
        return self._key(number, self._redraw(number))

    def _redraw(self, number: int) -> int:
        return self.redraws.of(number) if self.plies else 0

    def _key(self, number: int, redraw: int) -> str:
        named = str(number) if self.texts is None else canonical(self.texts[number])
        again = f',"redraw":{redraw}' if redraw else ""
        after = self._after or f',"seed":{canonical(seed_of_round(self.seed, number))}}}'
        return key(f"{self._before}{named}{again}{after}")

    def repetition(self, number: int) -> int:
        """How many equal texts were given before this one; 0 for drawn positions."""
        return 0 if self.texts is None else self._repetitions[number]


def move_limit(game: Game) -> int:
    """Return the limit of moves of a match of `game` if nobody names another one."""
    own = game.default_moves
    return own if type(own) is int and own > 0 else DEFAULT_MOVES


def seat_identity(
    agent: str,
    options: Mapping[str, Any],
    heuristic: Mapping[str, Any] | None,
    limits: Limits,
    label: str | None,
    version: str | None = None,
    *,
    pondering: bool = False,
) -> str:
    """The canonical text of a seat. `label` is the one that the spec gives; a default label is for show alone.

    `options`, and the parameters of `heuristic`, are only those that differ from their defaults, so that authors can add more.
    Limits that came later are part of the text only if they differ from their defaults: what was played keeps its id.

    `version` is the hash of the code of another version of the agent; it is part of the text only if there is one. So is
    `pondering`, if the agent may think while others decide.
    """
    bounds = {"depth": limits.depth, "memory_mb": limits.memory_mb, "nodes": limits.nodes, "seconds": limits.seconds}
    if limits.start_seconds != START_SECONDS:
        bounds["start_seconds"] = limits.start_seconds
    if limits.cpu_seconds is not None:
        bounds["cpu_seconds"] = limits.cpu_seconds
    return canonical(
        {
            "agent": agent,
            "heuristic": heuristic,
            "label": label,
            "limits": bounds,
            "options": options,
        }
        | ({} if version is None else {"version": version})
        | ({"pondering": True} if pondering else {})
    )


def match_id(
    position_key: str, seats: Sequence[Seat], moves: int, repetition: int = 0, adjudication: Adjudication | None = None
) -> str:
    """The key of a match: whatever changes the play changes it, and nothing else does."""
    players = ",".join([seat.identity for seat in seats])
    adjudicate = "" if adjudication is None else f'"adjudicate":{adjudication.identity},'
    return key(f'{{{adjudicate}"moves":{moves},"position":"{position_key}","repetition":{repetition},"seats":[{players}]}}')
