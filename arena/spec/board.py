"""A spec without faults: boards, ready to be played."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

from arena.agent import Agent, solves
from arena.configured import name_of
from arena.errors import SpecFault
from arena.format import Field, Format, Kind, RankedBy
from arena.game import Game, Puzzle
from arena.heuristics import Evaluation
from arena.limits import Limits
from arena.match.adjudication import Adjudication
from arena.match.chance_streams import has_chance
from arena.match.match import Positions, Seat, Settings, seat_identity
from arena.plugins.members import read_member
from arena.plugins.registry import Registry
from arena.secret import Seed, commitment
from arena.spec.document import Document
from arena.spec.parameters import drop_defaults, make_plain


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the boards of a spec are shown."""

    anchor: str | None = None
    columns: tuple[str, ...] | None = None
    sort: str | None = None
    rank: Literal["wins", "returns"] | None = None
    """The order that the spec asks for; None leaves it to the game."""


@dataclass(frozen=True)
class Board:
    """One game of a spec with the entries that play on it."""

    name: str
    parameters: Mapping[str, Any]
    title: str
    """Its title in tables: the name, and the parameters that distinguish it from other boards of the same game."""
    game: Game
    format: Format
    positions: Positions
    field: Field
    seats: tuple[Seat, ...]
    """One for every entry on this board, in the order of the spec."""
    view: TableOptions = TableOptions()
    adjudication: Adjudication | None = None
    """The rules by which reported values end a game; None if the spec has none, and for puzzles."""
    unlimited: tuple[SpecFault, ...] = ()
    """Entries that would search the game to its end: warnings in case the game is large."""

    @property
    def kind(self) -> Kind:
        """The kind of its leaderboard: the kind of its format, but `score` for a game of one seat that is not a puzzle."""
        return "score" if self.game.players == 1 and not isinstance(self.game, Puzzle) else self.format.kind

    @property
    def ranked_by(self) -> RankedBy:
        """The order of its leaderboard, unless the format has a ranking of its own."""
        by_returns = not self.game.zero_sum if self.view.rank is None else self.view.rank == "returns"
        if by_returns and self.kind != "puzzle":
            return "returns"
        return "rating" if self.format.ranked_by == "rating" else "score"

    @property
    def has_chance(self) -> bool:
        """Whether chance moves in it, so that matches of a round share dice and deals."""
        return has_chance(self.game)

    @property
    def native(self) -> bool:
        """Whether its game may crash the process that plays it."""
        return bool(read_member(type(self.game), "native"))

    @cached_property
    def size(self) -> int:
        """The number of matches; if this depends on results, the largest possible number."""
        return self.format.size(self.field)


@dataclass(frozen=True, slots=True)
class Spec:
    """A tournament without faults: its `name`, its `seed`, and its `boards`, one for every game.

    >>> from arena.api.spec import load_spec
    >>> load_spec({"game": "pig", "agents": ["random", "greedy", "hold-at"], "rounds": 5}).size
    30
    """

    name: str
    seed: Seed
    """A number, or a secret, which is not shown until it is revealed."""
    boards: tuple[Board, ...]
    notes: tuple[str, ...]
    """Notes for the user before it starts, such as the entries that are left out of a board, with the reasons."""
    document: Document
    """The file or mapping that it was read from."""
    registry: Registry
    """The registry in which all its names were looked up."""
    plugins: tuple[str, ...] = ()
    """The plugins loaded beside the installed ones, so that another process can load them too."""
    secret: bool = False
    """True if the seed was drawn for this run, and is revealed at its end."""
    shared: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Data of agent sources for other processes that read this spec, by the names of the sources; it can be pickled."""

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""
        return None if isinstance(self.seed, int) else commitment(self.seed)

    @property
    def record_seed(self) -> int | None:
        """The seed as records have it: None if it is, or was, a secret."""
        return self.seed if isinstance(self.seed, int) else None

    @property
    def size(self) -> int:
        """The number of matches on all boards."""
        return sum(board.size for board in self.boards)

    @property
    def exact(self) -> bool:
        """Whether that number is certain before anything is played."""
        return not any(board.format.follows_results for board in self.boards)


def make_seat(
    agent: type[Agent],
    options: Mapping[str, Any],
    evaluation: Evaluation | None,
    heuristic: Mapping[str, Any] | None,
    limits: Limits,
    label: str,
    puzzle: bool,
    named: str | None = None,
    version: str | None = None,
    *,
    changed: Settings | None = None,
    pondering: bool = False,
    located: Mapping[str, Any] | None = None,
) -> Seat:
    """Return a seat for an agent class with its options; `named` is the label that the spec gives, if any.

    `version` is the hash of the code of another version of the agent; with `pondering` it may think while others decide.
    `changed` holds the options and the parameters of the heuristic that differ from their defaults. Without it, the options that
    differ from the defaults of the class are used, and all parameters. `located` are the options for the constructor, if they
    name files elsewhere.
    """
    make: Callable[[], Agent] = agent
    if options:
        taken = options if located is None else located
        plain_values = all(isinstance(value, (str, int, float, bool, type(None))) for value in taken.values())
        make = partial(agent, **taken) if plain_values else partial(_make_with_copies, agent, taken)
    if changed is None:
        changed = Settings(drop_defaults(agent, options), heuristic)
    return Seat(
        label,
        make,
        puzzle and solves(agent),
        evaluation,
        limits,
        seat_identity(name_of(agent), *changed, limits, named, version, pondering=pondering),
        name_of(agent),
        None if heuristic is None else heuristic["name"],
        settings=Settings(make_plain(options), make_plain(heuristic)),
    )


def _make_with_copies(agent: type[Agent], options: Mapping[str, Any]) -> Agent:
    """Make an agent with copies of its options, so that a match cannot change a list for the next one."""
    return agent(**deepcopy(dict(options)))
