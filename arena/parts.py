"""The other parts that an extension may add, besides games, agents, heuristics, encodings and formats.

For each kind of part, there is a hook in `arena.hookspecs`. The registry holds the parts by kind and name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from arena.agent import Agent
    from arena.game import Game
    from arena.heuristics import Evaluation
    from arena.match.match import Match, Position, Seat
    from arena.match.player import Player
    from arena.match.record import Record
    from arena.schedule.board_columns import Measured
    from arena.schedule.schedule import Scheduled
    from arena.search import Search, SharedStart
    from arena.spec import Spec
    from arena.spec.reader import SpecReader
    from arena.spec.source import SourceReader
    from arena.store import Store


@dataclass(frozen=True)
class Part:
    """The base class for parts. A part has a name."""

    kind: ClassVar[str]
    name: str


@dataclass(frozen=True)
class Export(Part):
    """A format for `arena export`, or for a page that `arena compare` writes.

    `write` yields the lines of the text, without line ends. It gets the open store if `of` is "store", and the game and one of
    its states if `of` is "game". If `of` is "comparison", it gets the path of the page, the open store and three mappings whose
    keys are indices of boards: the `names` that are compared, a `legend`, and `pairs` with the findings of `arena compare`. It
    then writes the page and returns the number of bytes.

    >>> Export("efg", "game", ".efg", write=lambda game, state: iter(["EFG 2 R"])).suffix
    '.efg'
    """

    kind: ClassVar[str] = "export"
    of: Literal["store", "game", "comparison"]
    suffix: str
    write: Callable[..., Any]
    needs: Callable[..., object] = lambda *_: None
    """A function that raises ArenaError if, say, a library is missing. It is called before `write`; for a page, with the path."""


@dataclass(frozen=True)
class Comparison(Part):
    """A quantity by which `arena compare --by NAME` can compare entries.

    `read` gets the open store and yields a `Measured` for each entry of each match that it can measure. Two entries are compared
    on the rounds that both have played. The result is the mean difference of their mean values, with a 95 % interval.

    >>> def read_lengths(store):
    ...     for record, place in store.records(boards=True):
    ...         for entry in place.pairing.seats:
    ...             yield Measured(place.board, place.pairing.round, entry, len(record.actions), place.pairing.seats)
    >>> Comparison("length", "The actions of a match.", read_lengths).name
    'length'
    """

    kind: ClassVar[str] = "comparison"
    description: str
    read: "Callable[[Store], Iterable[Measured]]"
    lower_is_better: bool = field(default=False, kw_only=True)
    """Whether the entry with the lower mean ranks first in `arena compare --across --by NAME`."""


@dataclass(frozen=True)
class Correction(Part):
    """A method that removes the luck of chance from the returns of matches. The result is `adjusted` in records.

    `open` gets the spec of a run and returns a function. This function gets a match of a game with chance, its record and its
    position, and returns the corrected return of every seat, or None if it cannot correct the match.

    >>> Correction("none", open=lambda spec: lambda scheduled, record, position: record.returns).name
    'none'
    """

    kind: ClassVar[str] = "correction"
    open: "Callable[[Spec], Callable[[Scheduled, Record, Position], Sequence[float] | None]]"


class PlayerPool(Protocol):
    """Creates players for the matches of one thread, and reuses their processes from match to match."""

    started: int
    """The number of processes that have been started. Each of them has loaded the code that was on the disk at that time."""

    def player(self, match: "Match", number: int, start: "SharedStart", played: Sequence[str]) -> "Player":
        """Return the player of a seat. The player reads the actions so far from `played`, a list that grows during the match."""

    def close(self) -> None:
        """Stop all processes of the pool."""


@dataclass(frozen=True)
class Isolation(Part):
    """A separate place in which agents run, such as a process. Entries of a spec request it with `isolation: NAME`.

    `open` starts a pool of players. Isolations with the same `open` share a pool, so that the agents of a match can be paused
    while others decide, even if their isolations differ. `check` gets a spec with agents that request this isolation, and raises
    ArenaError if this machine does not offer it. `notes` returns lines for the user of such a spec.

    >>> Isolation("remote", open=lambda: None, closed=True).closed
    True
    """

    kind: ClassVar[str] = "isolation"
    open: Callable[[], PlayerPool]
    check: "Callable[[Spec], object]" = lambda _: None
    notes: "Callable[[Spec], Iterable[str]]" = lambda _: ()
    default: bool = False
    """Whether this isolation is chosen for an entry that names none but cannot run in arena's own processes."""
    closed: bool = False
    """Whether agents cannot reach the network, can read and write only their own files, and leave no files."""
    shields: Callable[[], bool] = lambda: True
    """A function that returns whether agents are prevented from ending other processes of the user."""
    why_plain: "Callable[[Seat, Game], str | None]" = lambda _seat, _game: None
    """A function that returns why the searches of a seat run uncompiled, if this is known before a match; otherwise None.

    Raises IsolationError if the agent of the seat cannot be started.
    """


@dataclass(frozen=True)
class AgentSource(Part):
    """A source of agents other than the registry. It handles entries of a spec that have one of its keys.

    `open` returns a reader for the entries of one spec; see `arena.spec.source`. If several readers accept an entry, the one
    whose source has the highest `rank` is used.

    >>> AgentSource("remote", open=lambda reading: None, keys={"address": "Where the agent runs."}).rank
    0
    """

    kind: ClassVar[str] = "source"
    open: "Callable[[SpecReader], SourceReader]"
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys of an entry, each with its description."""
    agent_keys: Sequence[str] = ()
    """The keys that it reads in a mapping that is the value of the key `agent`."""
    harmless_keys: Sequence[str] = ()
    """The keys in `keys` and `agent_keys` whose values do not name code (a file, a program or a module).

    The values of all other keys count as code. If a spec comes from a store, such code is loaded only if the user names it, too.
    """
    rank: int = 0


@dataclass
class SeatUse:
    """Counts, over a whole run, the decisions of one agent in one game that requested the loop of a search engine."""

    seat: "Seat"
    game: "Game"
    matches: int = 0
    first_compiled: int | None = None
    """The number of matches that were played before the first one with a compiled decision; None without such a match."""
    plain_seconds: float = 0.0
    failure: str | None = None
    """Why its loop could not be compiled; None if it could, or if this was not tried."""


@dataclass(frozen=True)
class SearchEngine(Part):
    """Runs the inner loops of searches in another form, for example compiled, with the same results, counts and random numbers.

    `find_loop` gets the search of a decision, the name of a loop, such as `ida-star`, and its options, as an agent passes them to
    `Search.compiled`. It returns the loop, or None if the agent must run its own loop. The engine may keep an object in
    `search.served`. The method `finish()` of this object is called after every decision. Its attribute `ran` says whether a loop
    has run, `failure` says why no loop could be made (None if this was not tried), and `settled` says whether the spec and the
    options of the run alone decided whether a loop runs, so that times can be compared. If a loop cannot go on, it raises
    `arena.api.search.GoPlain`. If a decision began without a loop and a loop becomes available, the engine may raise
    `arena.api.search.GoCompiled`. In both cases, the agent repeats the decision after `search.served.undo(reason)` has restored
    the random numbers; the reason is None for GoCompiled.

    >>> SearchEngine("none", find_loop=lambda search, loop, options: None).kind
    'search-engine'

    A subclass may also prepare long runs, and describe games and agents for commands.
    """

    kind: ClassVar[str] = "search-engine"
    find_loop: "Callable[[Search, str, dict[str, Any]], Any]"

    def prepare(self, spec: "Spec", note: Callable[[str], object]) -> None:
        """Prepare the loops that the agents of a spec request, before anything is played.

        `note` is called with a line for each agent that runs uncompiled, with the reason.
        """

    def sum_up(self, uses: Iterable[SeatUse]) -> Iterable[str]:
        """Yield lines for the end of a run. They say which agents ran a loop, and which took long without one and why.

        `uses` has the counts for these agents.
        """
        return ()

    def note_plain(self, agent: Any, game: "Game", evaluation: "Evaluation | None", seconds: float) -> str | None:
        """Add up the seconds of uncompiled decisions of an agent in its own process. Return why compiling has failed, or None."""

    def loop_of(self, agent: Any, game: "Game | None" = None) -> str | None:
        """Return the name of the loop that an agent requests from this engine, for `game` if given; None if it requests none."""
        return None

    def loops_for(self, game: "Game") -> frozenset[str]:
        """Return the names of the loops that the engine can run for a game, as far as this depends on the rules."""
        return frozenset()

    def why_plain(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return why searches of a game run uncompiled with a heuristic (None: with any heuristic); None if they run compiled."""
        return None

    def describe(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return a line for `arena show` that says how searches of a game run, or why they run uncompiled; None for no line."""
        return None

    def can_load(self) -> bool:
        """Return whether the processes of agents should load loops before their time is measured."""
        return False

    def compiles_own(self, seconds: float) -> bool:
        """Return whether to call `compile_agent` for an entry with its own plugin after `seconds` of uncompiled decisions."""
        return False

    def prepare_agent(self, agent: Any, game: "Game", evaluation: "Evaluation | None", private: str | None) -> str | None:
        """Load the loop of an agent in its process, also from folder `private`. Return why the agent runs uncompiled, or None."""
        return None

    def compile_agent(self, agent: Any, game: "Game", evaluation: "Evaluation | None", private: str) -> "Mapping[str, bytes]":
        """Compile an agent's loop in a separate process, and return new files for `private`. Raises NotCompilable on failure."""
        return {}

    def checks(
        self, game: "Game", evaluation: "Evaluation | None", agents: "Mapping[str, type[Agent]]", reason: str | None
    ) -> Any:
        """Return the comparisons of compiled and uncompiled code for `arena check`, or None.

        `reason` says why some are skipped; None if none are.
        """
        return None


PARTS: dict[str, type[Part] | str] = {
    "arena_board_columns": "arena.schedule.board_columns:BoardColumn",
    "arena_comparisons": Comparison,
    "arena_corrections": Correction,
    "arena_exports": Export,
    "arena_isolations": Isolation,
    "arena_agent_sources": AgentSource,
    "arena_search_engines": SearchEngine,
}
"""The class of the parts that each hook returns, or its name."""
