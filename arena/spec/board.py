"""A spec that has been checked: its boards, ready to be played."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

from arena.agent import Agent
from arena.configured import name_of
from arena.errors import SpecFault
from arena.format import Field, Format, Kind, RankedBy, ranks
from arena.game import Game, Puzzle, gives
from arena.heuristics import Evaluation
from arena.limits import Limits
from arena.match.adjudication import Adjudication
from arena.match.chance_streams import has_chance
from arena.match.match import Positions, Seat, Settings, seat_identity
from arena.plugins.registry import Registry
from arena.secret import Seed, commitment
from arena.simultaneous import Simultaneous
from arena.spec.document import Document
from arena.spec.parameters import Parameters, make_plain
from arena.traits import Abilities


class Unlimited(NamedTuple):
    """An entry without a limit that needs one if the game is large or endless."""

    warning: SpecFault
    growth: float | None
    """How its nodes grow with the nodes of the tree, as an exponent; None if it remembers the states that it has searched."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the boards of a spec are shown."""

    anchor: str | None = None
    columns: tuple[str, ...] | None = None
    sort: str | None = None
    rank: Literal["wins", "returns"] | None = None
    """The order that the spec asks for; None means that the game decides."""


@dataclass(frozen=True)
class Board:
    """One game of a spec, with the entries that play it."""

    name: str
    parameters: Mapping[str, Any]
    title: str
    """Its title in tables: the name of the game, and the parameters that distinguish it from other boards of the same game."""
    game: Game
    format: Format
    positions: Positions
    field: Field
    seats: tuple[Seat, ...]
    """One seat for each entry on this board, in the order of the spec."""
    view: TableOptions = TableOptions()
    adjudication: Adjudication | None = None
    """The rules by which reported values end a game early; None if the spec has none, and for puzzles."""
    unlimited: tuple[Unlimited, ...] = ()
    """Warnings for entries without a limit that would search a large game to its end."""

    @property
    def kind(self) -> Kind:
        """The kind of its leaderboard: the kind of its format, but `score` for a game of one seat that is not a puzzle."""
        return "score" if self.game.players == 1 and not isinstance(self.game, Puzzle) else self.format.kind

    @property
    def ranked_by(self) -> RankedBy:
        """How its leaderboard is ranked, unless the format has its own ranking. Such a format never ranks by returns: agents are
        told apart by their ratings.
        """
        if ranks(self.format):
            by_returns = False
        elif self.view.rank is None:  # a sequential test decides by wins and draws, and so does its board
            by_returns = not self.game.zero_sum and self.format.sequential_test is None
        else:
            by_returns = self.view.rank == "returns"
        if by_returns and self.kind != "puzzle":
            return "returns"
        return "rating" if self.format.ranked_by == "rating" else "score"

    @cached_property
    def has_chance(self) -> bool:
        """Whether the game has chance moves, so that all matches of a round share dice and deals."""
        return has_chance(self.game)

    @property
    def has_deals(self) -> bool:
        """Whether all matches of a round share something that an agent could remember: dice, or what observations hide. Choices
        that are made at the same time are hidden, too, but they are not shared.
        """
        hides = gives(self.game, "observation")
        if isinstance(self.game, Simultaneous):
            hides = type(self.game).seen is not Simultaneous.seen
        return self.has_chance or hides

    @property
    def native(self) -> bool:
        """Whether the game uses native code that may crash its process."""
        return bool(self.game.native)

    @cached_property
    def size(self) -> int:
        """The number of matches; if it depends on results, the largest possible number."""
        return self.format.size(self.field)


@dataclass(frozen=True, slots=True)
class Spec:
    """A checked tournament without faults: its `name`, its `seed`, and its `boards`, one per game.

    >>> from arena.api.spec import load_spec
    >>> load_spec({"game": "pig", "agents": ["random", "greedy", "hold-at"], "rounds": 5}).size
    30
    """

    name: str
    seed: Seed
    """A number, or a secret that is not shown until it is revealed."""
    boards: tuple[Board, ...]
    notes: tuple[str, ...]
    """Notes for the user before the run starts, for example which entries are left out of a board, and why."""
    document: Document
    """The file or mapping from which it was read."""
    registry: Registry
    """The registry in which its names were looked up."""
    plugins: tuple[str, ...] = ()
    """Plugins that were loaded in addition to the installed ones. Other processes load them, too."""
    secret: bool = False
    """Whether the seed was drawn for this run and will be revealed at the end of the run."""
    shared: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Data that agent sources pass to other processes that rebuild this spec, by the name of the source. It must be picklable."""

    @property
    def commitment(self) -> str | None:
        """The hash of a seed that is or was secret; None for other seeds."""
        return None if isinstance(self.seed, int) else commitment(self.seed)

    @property
    def record_seed(self) -> int | None:
        """The seed as records store it: None if it is or was secret."""
        return self.seed if isinstance(self.seed, int) else None

    @property
    def size(self) -> int:
        """The number of matches on all boards; if it depends on results, the largest possible number."""
        return sum(board.size for board in self.boards)

    @property
    def exact(self) -> bool:
        """Whether `size` is exact before the first match."""
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
    """Return a seat for an agent class with its options. `named` is the label that the spec sets, or None.

    `version` is the hash of the code if the entry uses another version of the agent. `pondering` allows the agent to think while
    others decide. `changed` has the options and the heuristic's parameters that differ from their defaults. If `changed` is None,
    the options are compared with the defaults of the class, and all parameters of the heuristic are taken. `located` are the
    options for the constructor if they name files in other folders.
    """
    make: Callable[[], Agent] = agent
    if options:
        taken = options if located is None else located
        plain_values = all(isinstance(value, (str, int, float, bool, type(None))) for value in taken.values())
        make = partial(agent, **taken) if plain_values else partial(_make_with_copies, agent, taken)
    if changed is None:
        changed = Settings(Parameters(agent).drop_defaults(options), heuristic)
    return Seat(
        label,
        make,
        puzzle and Abilities(agent).solves,
        evaluation,
        limits,
        seat_identity(name_of(agent), *changed, limits, named, version, pondering=pondering),
        name_of(agent),
        None if heuristic is None else heuristic["name"],
        settings=Settings(
            make_plain({name: options[name] for name in options if name not in agent.incidental}), make_plain(heuristic)
        ),
    )


def _make_with_copies(agent: type[Agent], options: Mapping[str, Any]) -> Agent:
    """Make an agent with copies of its options, so that a match cannot change a list for the next one."""
    return agent(**deepcopy(dict(options)))
