"""The parts that an extension may bring beside games, agents, heuristics, encodings and formats.

A hook of `arena.hookspecs` returns each of them, and the registry holds it under its kind and name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from arena.columns import Column, Style

if TYPE_CHECKING:
    from arena.agent import Agent
    from arena.game import Game
    from arena.heuristics import Evaluation
    from arena.match.match import Match, Seat
    from arena.match.player import Player
    from arena.match.record import Record
    from arena.schedule.fingerprint import Fingerprint
    from arena.schedule.schedule import Scheduled
    from arena.search import Search, SharedStart
    from arena.spec import Spec
    from arena.spec.reader import SpecReader
    from arena.spec.source import SourceReader
    from arena.store import Store
    from arena.tournament.queue import MatchQueue
    from arena.tournament.run import Matches


@dataclass(frozen=True)
class Part:
    """Something that an extension brings under a name."""

    kind: ClassVar[str]
    name: str


class Players(Protocol):
    """Plays the matches of one run, on this machine or elsewhere."""

    def play(self, queue: "MatchQueue") -> "Matches":
        """Take matches from a queue and yield each with its record. Closing the iterator ends the players."""

    def staff(self) -> str:
        """Return the number of players, as text for the progress line. Any thread may call this."""


@dataclass(frozen=True)
class Executor(Part):
    """Plays tournaments elsewhere than in processes of this machine.

    `arena run` gets its option `--NAME`, such as `--cluster ADDRESS`. `open` gets the value of the option, the spec, the code
    that plays, and a function for notices. It returns a context manager. An ArenaError from it stops the run before anything is
    played.

    >>> Executor("cluster", "ADDRESS", "Play on a Dask cluster.", open=lambda *_: None).option
    '--cluster'
    """

    kind: ClassVar[str] = "executor"
    metavar: str
    help: str
    open: "Callable[[str, Spec, Mapping[str, Fingerprint], Callable[[str], object]], AbstractContextManager[Players]]"

    @property
    def option(self) -> str:
        """The option of `arena run`."""
        return f"--{self.name}"


@dataclass(frozen=True)
class Export(Part):
    """A format of `arena export`, or of a page that `arena compare` writes.

    `write` yields the lines of the text, without line ends. It gets the open store if `of` is "store", and the game and one of
    its states if `of` is "game". If `of` is "comparison", it gets the path of the page, the open store and, by the number of a
    board, the `names` that are compared, a `legend`, and `pairs` with the findings of `arena compare`; it returns the number of
    bytes.

    >>> Export("efg", "game", ".efg", write=lambda game, state: iter(["EFG 2 R"])).suffix
    '.efg'
    """

    kind: ClassVar[str] = "export"
    of: Literal["store", "game", "comparison"]
    suffix: str
    write: Callable[..., Any]
    needs: Callable[..., object] = lambda *_: None
    """Raises an ArenaError if something is missing, such as a library. It is called before any work, for a page with its path."""


class Measured(NamedTuple):
    """A number that describes one entry in one match."""

    board: int
    """The number of the board in the run."""
    round: int
    """The number of the round. Matches of a round share their position, and dice and deals."""
    entry: int
    """The number of the entry on the board."""
    value: float


@dataclass(frozen=True)
class Comparison(Part):
    """A measure of `arena compare --by NAME`.

    `read` gets the open store and yields a `Measured` for each entry of each match that it can measure. Two entries are
    compared in the rounds that both have played, by the means of their values: the mean difference with a 95 % interval.

    >>> def read_lengths(store):
    ...     for record, place in store.records(boards=True):
    ...         for entry in place.pairing.seats:
    ...             yield Measured(place.board, place.pairing.round, entry, len(record.actions))
    >>> Comparison("length", "The actions of a match.", read_lengths).name
    'length'
    """

    kind: ClassVar[str] = "comparison"
    description: str
    read: "Callable[[Store], Iterable[Measured]]"


@dataclass(frozen=True)
class BoardColumn(Part):
    """A column of boards that is computed from the matches of a run. Its key in JSON is its name, with `_` for `-`.

    Give either `amount` or `read`. `amount` names an amount that agents report by `Search.spend`: a cell is the sum over all
    decisions, and the column is shown as soon as there is any. `read` gets the matches of a run that were not void, each as its
    record and its place in the schedule, and yields a `Measured` for each entry of each match that it can measure: a cell is the
    mean, with a 95 % interval by the rounds. `read` is called at the end of the run, and its cells are kept in the store.

    >>> def read_lengths(matches):
    ...     for record, place in matches:
    ...         for entry in place.pairing.seats:
    ...             yield Measured(place.board, place.pairing.round, entry, len(record.actions))
    >>> BoardColumn("mean-length", "Length", description="Actions of a match.", read=read_lengths).column.key
    'mean_length'
    >>> BoardColumn("requests", "Requests", "count", amount="requests").column.style
    'count'
    """

    kind: ClassVar[str] = "column"
    heading: str
    style: Style = "figure"
    """As in `arena.Column`."""
    description: str = ""
    amount: str | None = None
    read: "Callable[[Iterable[tuple[Record, Scheduled]]], Iterable[Measured]] | None" = None

    @property
    def column(self) -> Column:
        """The column as boards have it, shown if any row has a value."""
        return Column(self.name.replace("-", "_"), self.heading, self.style, self.description, shown="known", left_out=6)


class PlayerPool(Protocol):
    """Makes players for the matches of one thread, and keeps their processes from match to match."""

    started: int
    """The number of processes started so far. Each has loaded the code that was on the disk at its start."""

    def player(self, match: "Match", number: int, start: "SharedStart", played: Sequence[str]) -> "Player":
        """Return the player of a seat. It gets the actions of all seats in `played`, which grows as they are taken."""

    def close(self) -> None:
        """End all processes of the pool."""


@dataclass(frozen=True)
class Isolation(Part):
    """A place apart for agents: entries of a spec ask for it by `isolation: NAME`.

    `open` starts a pool of players. Isolations with the same function share a pool, so that all agents of one match pause while
    others decide, in every isolation. `check` gets a spec with agents that request this isolation, and raises an ArenaError if it
    is not available here. `notes` returns lines for the user of such a spec.

    >>> Isolation("remote", open=lambda: None, closed=True).closed
    True
    """

    kind: ClassVar[str] = "isolation"
    open: Callable[[], PlayerPool]
    check: "Callable[[Spec], object]" = lambda _: None
    notes: "Callable[[Spec], Iterable[str]]" = lambda _: ()
    default: bool = False
    """Whether an entry runs here if it cannot run in arena's own processes and names no isolation."""
    closed: bool = False
    """Whether agents reach neither the network nor any file but their own, and leave none."""
    shields: Callable[[], bool] = lambda: True
    """Whether agents cannot end other processes of the user."""
    why_plain: "Callable[[Seat, Game], str | None]" = lambda _seat, _game: None
    """Returns why searches of a seat run plain, as far as this is known before a match; None if they do not.

    IsolationError if the agent of the seat cannot be started."""


@dataclass(frozen=True)
class AgentSource(Part):
    """Gives agents to entries of a spec that have one of its keys, in place of the registry.

    `open` starts a reader of the entries of one spec; see `arena.spec.source`. If several sources accept an entry, the one with
    the highest `rank` gets it.

    >>> AgentSource("remote", open=lambda reading: None, keys={"address": "Where the agent runs."}).rank
    0
    """

    kind: ClassVar[str] = "source"
    open: "Callable[[SpecReader], SourceReader]"
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys of an entry, each with its description."""
    agent_keys: Sequence[str] = ()
    """Keys of a mapping that stands at the key `agent`."""
    harmless_keys: Sequence[str] = ()
    """The keys of both kinds whose values name no code: no file, no program, no module.

    The values of all other keys count as code. The spec in a store is loaded only if the user has named this code, too."""
    rank: int = 0


@dataclass
class SeatUse:
    """The decisions of one agent on one game, over the matches of a run, that asked for the loop of a search engine."""

    seat: "Seat"
    game: "Game"
    matches: int = 0
    first_compiled: int | None = None
    """The number of matches played before the first with a compiled decision; None if there is no such match."""
    plain_seconds: float = 0.0
    failure: str | None = None
    """Why its loop could not be made, if this was tried."""


@dataclass(frozen=True)
class SearchEngine(Part):
    """Runs inner loops of searches in a way of its own, with the same results, counts and random numbers.

    `find_loop` gets the search of a decision, the name of a loop, such as `ida-star`, and its options, as an agent gives them to
    `Search.compiled`. It returns the loop, or None if the agent must run its own. It may keep an object in `search.served`, whose
    `ran` says whether a loop has run. A loop that cannot go on raises `arena.counting.GoPlain`. Then `undo(reason)` of that
    object puts the random numbers back, and the agent decides once more. The agent also repeats the decision if the engine raises
    `arena.counting.GoCompiled` in a decision that has begun without a loop; the reason is None then. `finish()` is called after
    every decision, and `failure` says why no loop could be made, None if it was not tried.

    >>> SearchEngine("none", find_loop=lambda search, loop, options: None).kind
    'search-engine'

    A subclass may also prepare long runs, and describe games and agents for commands.
    """

    kind: ClassVar[str] = "search-engine"
    find_loop: "Callable[[Search, str, dict[str, Any]], Any]"

    def prepare(self, spec: "Spec", note: Callable[[str], object]) -> None:
        """Prepare the loops that the agents of a spec request, before anything is played.

        `note` is given a line for each agent that runs plain, with the reason.
        """

    def sum_up(self, uses: Iterable[SeatUse]) -> Iterable[str]:
        """Yield lines for the end of a run: which agents ran a loop, and which took long without one, and why. `uses` are their
        decisions.
        """
        return ()

    def note_plain(self, agent: Any, game: "Game", evaluation: "Evaluation | None", seconds: float) -> None:
        """Note that plain decisions of an agent in its own process have taken this many more seconds."""

    def loop_of(self, agent: Any, game: "Game | None" = None) -> str | None:
        """Return the loop of this engine that an agent requests, in a game if one is given; None if it requests none."""
        return None

    def loops_for(self, game: "Game") -> frozenset[str]:
        """Return the loops that it has for a game, as far as its rules decide this."""
        return frozenset()

    def why_plain(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return why searches of a game run plain, with this heuristic or with any; None if they need not."""
        return None

    def describe(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return a line for `arena show`: the means by which searches of a game run, or why they do not; None if there is nothing
        to say.
        """
        return None

    def can_load(self) -> bool:
        """Return whether the processes of agents should load loops before a clock runs."""
        return False

    def compiles_own(self) -> bool:
        """Return whether the process of an entry with its own plugin should prepare loops before its first decision."""
        return False

    def prepare_agent(
        self, agent: Any, game: "Game", evaluation: "Evaluation | None", *, private: bool, compiling: bool
    ) -> str | None:
        """Load the loop that an agent requests, in the agent's own process; return why it runs plain, None if it does not.

        If `private`, the process shares nothing that it makes, since its code is not trusted.
        """
        return None

    def checks(
        self, game: "Game", evaluation: "Evaluation | None", agents: "Mapping[str, type[Agent]]", reason: str | None
    ) -> Any:
        """Return the comparisons that `arena check` makes for a game, None for none. A `reason` not to compile leaves compiled
        code out.
        """
        return None


PARTS: dict[str, type[Part]] = {
    "arena_columns": BoardColumn,
    "arena_comparisons": Comparison,
    "arena_executors": Executor,
    "arena_exports": Export,
    "arena_isolations": Isolation,
    "arena_agent_sources": AgentSource,
    "arena_search_engines": SearchEngine,
}
"""The class of the parts of each hook."""
KINDS = tuple(part.kind for part in PARTS.values())

_HOMES = {
    "--cluster": "arena_cluster",
    "arena check": "arena_check",
    "arena compare": "arena_compare",
    "arena docs": "arena_catalog",
    "arena duel": "arena_duel",
    "arena exploit": "arena_solution",
    "arena export": "arena_records",
    "arena ladder": "arena_ladder",
    "arena list": "arena_catalog",
    "arena matches": "arena_records",
    "arena matrix": "arena_catalog",
    "arena merge": "arena_records",
    "arena new": "arena_check",
    "arena play": "arena_play",
    "arena plugins": "arena_catalog",
    "arena replay": "arena_records",
    "arena report": "arena_web",
    "arena serve": "arena_web",
    "arena show": "arena_catalog",
    "arena solve": "arena_play",
    "arena stats": "arena_compare",
    "arena submit": "arena_ladder",
    "arena try": "arena_check",
    "isolation: process": "arena_isolation",
    "isolation: sandbox": "arena_isolation",
    "command": "arena_isolation",
    "plugin": "arena_isolation",
    "version": "arena_isolation",
    "protocol": "arena_bridges.engines",
    "the format head-to-head": "arena_pairings",
    "the format knockout": "arena_pairings",
    "the format swiss": "arena_pairings",
}
"""The extensions of this distribution by the features that they bring, for messages if one is not installed."""


def explain_missing(feature: str) -> str | None:
    """Return a message that names the extension of this distribution for an unknown `feature`; None if no extension brings it.

    >>> explain_missing("isolation: sandbox")
    'isolation: sandbox needs the extension arena_isolation, which is not installed'
    >>> explain_missing("isolation: moon")
    """
    home = _HOMES.get(feature)
    return None if home is None else f"{feature} needs the extension {home}, which is not installed"
