"""A match before it is played: the rules, the position, the seats, and the key that follows from them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from arena.agent import Agent
from arena.game import Game, State
from arena.heuristics import Evaluation
from arena.identity import canonical, key, position_stream
from arena.limits import Limits
from arena.match.adjudication import Adjudication
from arena.match.openings import Redraws, play_opening
from arena.secret import Seed, seed_of_round

IN_PROCESS = "none"
"""The isolation of agents that run in the playing process. Extensions bring others."""


class OwnCode(Protocol):
    """Code that an entry brings, loaded only by the process of its agent. It is hashable, and can be pickled."""

    @property
    def source(self) -> str:
        """Its description in lists of plugins."""

    @property
    def mark(self) -> str:
        """The start of its hash, shown to people."""

    @property
    def code(self) -> str:
        """The hash of the code at the time when the spec was read."""

    @property
    def heuristics(self) -> frozenset[tuple[str, str]]:
        """The heuristics that it brings, each as (game, name)."""

    def files(self) -> set[Path]:
        """Return the files that are hashed."""

    def hash(self) -> str:
        """Return the hash of the code as it is now; it does not depend on where the files lie."""


@dataclass(frozen=True, slots=True)
class Program:
    """How another process makes the agent of a seat."""

    agent: str
    """Its name in the registry; for a command, a name to show."""
    options: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None
    """Its name and parameters."""
    plugins: tuple[str, ...]
    """Plugins that the process loads beside the installed ones."""
    folder: str
    """The working directory: the folder of the spec."""
    command: tuple[str, ...] | None = None
    """The command to start; None starts Python's own host."""
    version: OwnCode | None = None
    """Code that the process loads instead of the current plugin of the agent; None for the current one."""
    pondering: bool = False
    """Whether it may continue while others decide; otherwise it is paused outside its own turn."""
    adapter: str | None = None
    """The module that talks to a command instead of arena; None if the command speaks the protocol itself."""
    files: tuple[str, ...] = ()
    """Files that its options name; a sandbox shows them to it."""


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
    """Canonical text of everything that affects its play."""
    agent: str = ""
    """The name of the agent in the registry."""
    heuristic: str | None = None
    """The name of the heuristic, None if there is none."""
    isolation: str = IN_PROCESS
    """The name of its agent's isolation."""
    program: Program | None = None
    """Needed unless the isolation is IN_PROCESS."""
    optimal: bool = False
    """Whether every solution it finds is a cheapest one."""
    files: tuple[tuple[str, str], ...] = ()
    """The files that its options name: each as the spec has it, and its whole path."""
    settings: Settings = NO_SETTINGS
    """Its options and its heuristic, with all defaults filled in."""
    waits: bool = False
    """Whether the agent may be unavailable, which makes the match void: its class, or the spec, declares that it waits for
    something outside. For any other agent this is a fault. Otherwise an agent could escape every defeat."""

    @property
    def in_process(self) -> bool:
        """Return whether its agent runs in the process that plays the match, and not in an isolation."""
        return self.isolation == IN_PROCESS

    @property
    def version(self) -> OwnCode | None:
        """The agent's own code; None if its code is a plugin of the registry."""
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
    """The seed of the spec; None if it is a secret."""
    adjudication: Adjudication | None = None
    """The rules by which reported values end it before the game's own rules do."""
    repetition: int = 0
    """The number of earlier matches of these seats from an equal position. Each repetition has its own streams of chance."""


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of one board: drawn one by one, or given as texts.

    The k-th position does not depend on the players. With openings, a round that repeats the opening of an earlier one is drawn
    again, under a key that contains the number of attempts.
    """

    game: Game
    name: str
    changed: Mapping[str, Any]
    """The parameters of the game that differ from their defaults, in the terms of JSON."""
    seed: Seed
    texts: Sequence[str] | None = None
    plies: int = 0
    """The number of random plies before the agents play."""
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
        """Return the position of round `number`. Exceptions of the game while it draws or parses the position pass through."""
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
        """Return how many equal texts precede this one; 0 for drawn positions."""
        return 0 if self.texts is None else self._repetitions[number]


def move_limit(game: Game) -> int:
    """Return the default move limit of a match of `game`."""
    own = game.default_moves
    return own if type(own) is int and own > 0 else Limits().moves


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
    """Return the canonical text of a seat. `label` is the label in the spec; a default label is only for display.

    `options`, and the parameters of `heuristic`, are only those that differ from their defaults, so that authors can add more.
    Limits that were added later are part of the text only if they differ from their defaults, so that old matches keep their ids.

    `version` is the hash of the code of another version of the agent; it is part of the text only if there is one. So is
    `pondering`, if the agent may think while others decide.
    """
    bounds = {"depth": limits.depth, "memory_mb": limits.memory_mb, "nodes": limits.nodes, "seconds": limits.seconds}
    if limits.start_seconds != Limits().start_seconds:
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
    """Return the key of a match: everything that changes the play changes it, and nothing else does."""
    players = ",".join([seat.identity for seat in seats])
    adjudicate = "" if adjudication is None else f'"adjudicate":{adjudication.identity},'
    return key(f'{{{adjudicate}"moves":{moves},"position":"{position_key}","repetition":{repetition},"seats":[{players}]}}')
