"""A match before it is played: the rules, the position, the seats, and the key that is computed from them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from arena.agent import Agent
from arena.errors import call_foreign, describe
from arena.game import Game, State
from arena.heuristics import Evaluation
from arena.identity import Stream, canonical, key
from arena.limits import Limits
from arena.match.adjudication import Adjudication
from arena.match.openings import Redraws, play_opening
from arena.secret import Seed, seed_of_round

IN_PROCESS = "none"
"""The isolation of agents that run in the same process as the match. Extensions add other isolations."""


class OwnCode(Protocol):
    """Code that an entry brings along and that only the process of its agent loads. It must be hashable and picklable."""

    @property
    def source(self) -> str:
        """Its description in lists of plugins."""

    @property
    def mark(self) -> str:
        """The first digits of its hash, for display."""

    @property
    def code(self) -> str:
        """The hash that the code had when the spec was read."""

    @property
    def heuristics(self) -> frozenset[tuple[str, str]]:
        """The heuristics that it defines, each as (game, name)."""

    def files(self) -> set[Path]:
        """Return the files that the hash covers."""

    def hash(self) -> str:
        """Return the hash of the current code. It does not depend on the folder of the files."""


@dataclass(frozen=True, slots=True)
class Program:
    """How another process creates the agent of a seat."""

    agent: str
    """The name of the agent in the registry, or a name to show for a command."""
    options: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None
    """The name and parameters of the heuristic."""
    plugins: tuple[str, ...]
    """Plugins that the process loads in addition to the installed ones."""
    folder: str
    """The working directory: the folder of the spec."""
    command: tuple[str, ...] | None = None
    """The command to start; None starts arena's own program for agents in Python."""
    version: OwnCode | None = None
    """Code that the process loads instead of the current plugin of the agent; None loads the current plugin."""
    pondering: bool = False
    """Whether the agent may continue to think while others decide. Otherwise it is paused outside its own turn."""
    adapter: str | None = None
    """The module that translates between arena and a command; None if the command speaks arena's protocol."""
    files: tuple[str, ...] = ()
    """Files that its options name; a sandbox lets the agent read them."""


class Settings(NamedTuple):
    """The options of an agent and its heuristic, as JSON values."""

    options: Mapping[str, Any]
    heuristic: Mapping[str, Any] | None
    """The name and parameters of the heuristic."""


NO_SETTINGS = Settings({}, None)


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of a match: how its agent is created, and its limits."""

    label: str
    make: Callable[[], Agent]
    solver: bool
    """Whether the agent solves a puzzle in one call instead of choosing one action after the other."""
    evaluation: Evaluation | None
    limits: Limits
    identity: str
    """The canonical text of everything that affects how the agent plays."""
    agent: str = ""
    """The name of the agent in the registry."""
    heuristic: str | None = None
    """The name of the heuristic; None without one."""
    isolation: str = IN_PROCESS
    """The name of the isolation in which the agent runs."""
    program: Program | None = None
    """How another process creates the agent; required unless the isolation is IN_PROCESS."""
    optimal: bool = False
    """Whether every solution that the agent finds is a cheapest one."""
    files: tuple[tuple[str, str], ...] = ()
    """The files that its options name: for each, the path in the spec and the full path."""
    settings: Settings = NO_SETTINGS
    """Its options, except for `Agent.incidental`, and its heuristic. Defaults are included."""
    waits: bool = False
    """Whether the agent may be unavailable, because its class or the spec says that it waits for something outside. If such an
    agent is unavailable, the match is void. For any other agent, this is a fault; otherwise, any agent could avoid a loss."""

    @property
    def in_process(self) -> bool:
        """Return whether its agent runs in the same process as the match, and not in an isolation."""
        return self.isolation == IN_PROCESS

    @property
    def version(self) -> OwnCode | None:
        """The code that the entry brings along; None if its code is a plugin in the registry."""
        return None if self.program is None else self.program.version


@dataclass
class SeatUse:
    """Counts, over a whole run, the decisions of one agent in one game that requested the loop of a search engine."""

    seat: Seat
    game: Game
    matches: int = 0
    first_compiled: int | None = None
    """The number of matches that were played before the first one with a compiled decision; None without such a match."""
    plain_seconds: float = 0.0
    failure: str | None = None
    """Why its loop could not be compiled; None if it could, or if this was not tried."""


class Position(NamedTuple):
    """A start state, its text, and the key from which its random streams are derived."""

    key: str
    state: State
    text: str


class Match(NamedTuple):
    """A match to play: a position, and an agent in every seat.

    It is a named tuple because a frozen dataclass takes twice as long to create, which matters for small matches.
    """

    id: str
    game: Game
    position: Position
    seats: tuple[Seat, ...]
    seed: int | None
    """The seed of the spec; None if it is secret."""
    adjudication: Adjudication | None = None
    """The rules by which reported values may end the match early."""
    repetition: int = 0
    """The number of earlier matches with the same seats and an equal position. Each repetition has its own random streams."""
    keeps_deals: bool = False
    """Whether a process of a confined agent may know a deal that is played again in this run (see `arena.schedule.deals`)."""

    @classmethod
    def of(
        cls,
        game: Game,
        position: Position,
        seats: tuple[Seat, ...],
        seed: int | None,
        adjudication: Adjudication | None = None,
        repetition: int = 0,
        *,
        keeps_deals: bool = False,
    ) -> "Match":
        """Return the match of these seats from a position, with its id."""
        identity = match_id(position.key, seats, seats[0].limits.moves, repetition, adjudication)
        return cls(identity, game, position, seats, seed, adjudication, repetition, keeps_deals)

    def start_stream(self) -> Stream:
        """Return the random stream for the start of local searches. It is the same for all agents, and differs for each
        repetition of a position, as the streams of chance and of the seats do.
        """
        return Stream.of_position(self.position.key, f"start/{self.repetition}" if self.repetition else "start")


USABLE_STATES = "states must be hashable and comparable with =="
"""The promise about states on which arena and its agents rely. numpy's types break it, and so do lists."""


def find_state_fault(state: State, copy: State) -> str | None:
    """Return why a state cannot be hashed, or compared with a `copy` of it; None if it can."""

    def use() -> None:
        hash(state)
        bool(copy == state)

    return call_foreign(use, describe)


def describe_type(value: object) -> str:
    """Return the name of the type of a value, with its module unless the value is of Python itself or of a plugin."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    return kind.__qualname__ if module == "builtins" or module.startswith("arena_plugin_") else f"{module}.{kind.__qualname__}"


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of one board, which are drawn one by one or given as texts.

    Positions do not depend on the players. If a round has the same opening as an earlier round, its opening is drawn again, with
    a key that contains the number of attempts. After the last text, the first one follows: a ladder plays on as long as it runs.
    """

    game: Game
    name: str
    changed: Mapping[str, Any]
    """The parameters of the game that differ from their defaults, as JSON values."""
    seed: Seed
    texts: Sequence[str] | None = None
    plies: int = 0
    """The number of random plies before the agents play."""
    redraws: Redraws = field(init=False, compare=False, repr=False)
    _before: str = field(init=False)
    _after: str | None = field(init=False)
    _repetitions: tuple[int, ...] = field(init=False)
    """For each text, how many of the texts before it are equal."""

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
        """Return the position of round `number`. The game draws or parses it; exceptions from the game are passed on."""
        return self._drawn(number, self._redraw(number))

    def _drawn(self, number: int, redraw: int) -> Position:
        position_key = self._key(number, redraw)
        if self.texts is None:
            state = self.game.initial(Stream.of_position(position_key))
        else:
            state = self.game.parse_state(self.texts[number % len(self.texts)])
        if self.plies:
            state = play_opening(self.game, state, self.plies, Stream.of_position(position_key, "opening"))
        return Position(position_key, state, self.game.format_state(state))

    def key(self, number: int) -> str:
        """Return the key of the position of a round."""
        return self._key(number, self._redraw(number))

    def _redraw(self, number: int) -> int:
        return self.redraws.of(number) if self.plies else 0

    def _key(self, number: int, redraw: int) -> str:
        named = str(number) if self.texts is None else canonical(self.texts[number % len(self.texts)])
        again = f',"redraw":{redraw}' if redraw else ""
        after = self._after or f',"seed":{canonical(seed_of_round(self.seed, number))}}}'
        return key(f"{self._before}{named}{again}{after}")

    def repetition(self, number: int) -> int:
        """Return how many earlier rounds have the same text as this one; 0 if positions are drawn."""
        if self.texts is None:
            return 0
        times, place = divmod(number, len(self.texts))
        return self._repetitions[place] + (times * self.texts.count(self.texts[place]) if times else 0)


def move_limit(game: Game) -> int:
    """Return the default move limit for a match of `game`."""
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
    """Return the canonical text of a seat. `label` is a label that the spec sets; default labels do not count.

    `options` and `heuristic` hold only values that differ from defaults, so ids stay the same if authors add parameters. Limits
    that later versions added are included only if they differ from their defaults, so that old matches keep their ids.

    `version` is the hash of the code if the entry uses another version of the agent. `version` and `pondering` (whether the agent
    may think while others decide) are included only if they are set.
    """
    bounds = {"depth": limits.depth, "memory_mb": limits.memory_mb, "nodes": limits.nodes, "seconds": limits.seconds}
    if limits.start_seconds != Limits().start_seconds:
        bounds["start_seconds"] = limits.start_seconds
    if limits.cpu_seconds is not None:
        bounds["cpu_seconds"] = limits.cpu_seconds
    if limits.patient:
        bounds["patient"] = True
    return canonical(
        {"agent": agent, "heuristic": heuristic, "label": label, "limits": bounds, "options": options}
        | ({} if version is None else {"version": version})
        | ({"pondering": True} if pondering else {})
    )


def match_id(
    position_key: str, seats: Sequence[Seat], moves: int, repetition: int = 0, adjudication: Adjudication | None = None
) -> str:
    """Return the key of a match. It depends on everything that affects the play, and on nothing else."""
    players = ",".join([seat.identity for seat in seats])
    adjudicate = "" if adjudication is None else f'"adjudicate":{adjudication.identity},'
    return key(f'{{{adjudicate}"moves":{moves},"position":"{position_key}","repetition":{repetition},"seats":[{players}]}}')
