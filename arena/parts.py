"""The parts that an extension may bring beside games, agents, heuristics, encodings and formats.

Each is returned by a hook of `arena.hookspecs` and is found in the registry under its kind and name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from arena.columns import Column, Style

if TYPE_CHECKING:
    from arena.agent import Agent
    from arena.game import Game
    from arena.heuristic import Evaluation
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
    """Plays the matches of one run, wherever that is."""

    def play(self, queue: "MatchQueue") -> "Matches":
        """Take matches from a queue and yield each with its record. Closing it ends whatever plays."""

    def staff(self) -> str:
        """Return how many play, as text for the progress line. Any thread may call this."""


@dataclass(frozen=True)
class Executor(Part):
    """Plays tournaments elsewhere than in processes of this machine.

    `arena run` gets the option `--NAME` of it, such as `--cluster ADDRESS`. The value of the option, the spec, the code that
    plays, and a function for notices go to `open`, which returns a context manager. An ArenaError from it stops the run before
    anything is played.

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

    `write` yields the lines of the text, without their ends. It gets the open store if `of` is "store", and the game and a state
    of it if `of` is "game". If `of` is "comparison" it gets the path of the page, the open store and, by the number of a board,
    the entries that are compared and what `arena compare --format html` says of them; it returns the number of bytes.

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
    """A number that says something of one entry in one match."""

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

    `read` gets the open store and yields a `Measured` for each entry of each match that it can say something of. Two entries are
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

    Either `amount` names what agents tell by `Search.spend`: a cell is the sum over all decisions, and the column is shown as
    soon as there is any. Or `read` gets the matches of a run that were not void, each as its record and its place in the
    schedule, and yields a `Measured` for each entry of each match that it can say something of: a cell is the mean, with a 95 %
    interval by the rounds. `read` is called when the run comes to its end, and its cells are kept in the store.

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
    """As of `arena.Column`."""
    description: str = ""
    amount: str | None = None
    read: "Callable[[Iterable[tuple[Record, Scheduled]]], Iterable[Measured]] | None" = None

    @property
    def column(self) -> Column:
        """The column as boards have it: it is shown if any row has a value."""
        return Column(self.name.replace("-", "_"), self.heading, self.style, self.description, shown="known", left_out=6)


class PlayerPool(Protocol):
    """Makes players for the matches of one thread, and keeps what they run in from match to match."""

    started: int
    """How many processes were started so far. A new one has loaded the code as it was on the disk by then."""

    def player(self, match: "Match", number: int, start: "SharedStart", played: Sequence[str]) -> "Player":
        """Return the player of a seat. It gets the actions of all seats in `played`, which grows as they are taken."""

    def close(self) -> None:
        """End whatever runs."""


@dataclass(frozen=True)
class Isolation(Part):
    """A place apart for agents: entries of a spec ask for it by `isolation: NAME`.

    `open` starts a pool of players. Isolations with the same function share a pool, so that agents of one match stand still
    while others decide, wherever they run. `check` gets a spec with agents that want this isolation, and raises an ArenaError
    if it cannot be had here. `notes` returns lines for the user of such a spec.

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
    """Returns why searches run plain where a seat plays, as far as it can be told before a match; None if they do not.

    IsolationError if the agent of the seat cannot be started.
    """


@dataclass(frozen=True)
class AgentSource(Part):
    """Gives agents to entries of a spec that have one of its keys, in place of the registry.

    `open` starts a reader of the entries of one spec; see `arena.spec.source`. If several sources take an entry, the one of the
    highest `rank` has it.

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
    """Those of both whose values name no code: no file, no program, no module.

    The values of all other keys are taken for code. The spec in a store is loaded only if the user has named this code, too.
    """
    rank: int = 0


@dataclass(frozen=True)
class SearchEngine(Part):
    """Runs inner loops of searches in a way of its own, with the same results, counts and random numbers.

    `find_loop` gets the search of a decision, the name of a loop, such as `ida-star`, and its options, as an agent gives them to
    `Search.compiled`. It returns the loop, or None if the agent is to run its own. It may keep an object in `search.served`,
    whose `ran` says whether a loop has run. A loop that cannot go on raises `arena.counting.GoPlain`. Then `undo(reason)` of
    that object puts the random numbers back, and the agent decides once more.

    >>> SearchEngine("none", find_loop=lambda search, loop, options: None).kind
    'search-engine'

    A subclass may also prepare long runs, and describe games and agents for commands.
    """

    kind: ClassVar[str] = "search-engine"
    find_loop: "Callable[[Search, str, dict[str, Any]], Any]"

    def prepare(
        self, spec: "Spec", note: Callable[[str], object], seconds: float | None = None
    ) -> AbstractContextManager[object]:
        """Get ready what the agents of a spec ask for; `note` is given a line for each that runs plain, with the reason.

        It is called before anything is played, and again before workers start, with the `seconds` that the run is expected
        to have before it. The rest of the run is in the context that it returns.
        """
        return nullcontext()

    def loop_of(self, agent: Any, game: "Game | None" = None) -> str | None:
        """Return the loop of this engine that an agent says it asks for, in a game if one is given; None without one."""
        return None

    def loops_for(self, game: "Game") -> frozenset[str]:
        """Return the loops that it has for a game, as far as that is a matter of its rules."""
        return frozenset()

    def why_plain(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return why searches of a game run plain, with a heuristic or with whatever they may have; None if they need not."""
        return None

    def describe(self, game: "Game", evaluation: "Evaluation | None" = None) -> str | None:
        """Return for `arena show` by what searches of a game run here, or why they do not; None if there is nothing to say."""
        return None

    def can_load(self) -> bool:
        """Return whether the processes of agents are to load loops before a clock runs."""
        return False

    def compiles_own(self) -> bool:
        """Return whether the process of an entry with a plugin of its own is to compile loops for itself now."""
        return False

    def prepare_agent(
        self, agent: Any, game: "Game", evaluation: "Evaluation | None", *, private: bool, compiling: bool
    ) -> str | None:
        """Load the loop that an agent asks for, in the agent's own process; return why it runs plain, None if it does not.

        If `private`, the process shares nothing that it makes, since its code is a stranger's.
        """
        return None

    def checks(
        self, game: "Game", evaluation: "Evaluation | None", agents: "Mapping[str, type[Agent]]", reason: str | None
    ) -> Any:
        """Return what `arena check` compares of a game, None for nothing; with a `reason` not to compile, without that."""
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
    "arena duel": "arena_duel",
    "arena exploit": "arena_solution",
    "arena ladder": "arena_ladder",
    "arena new": "arena_check",
    "arena play": "arena_play",
    "arena report": "arena_web",
    "arena serve": "arena_web",
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
}
"""The extensions of this distribution by what they bring, for messages if one has been left out."""


def explain_missing(feature: str) -> str | None:
    """Return which extension of this distribution brings a feature, if one does: it is not installed if the feature is unknown.

    >>> explain_missing("isolation: sandbox")
    'isolation: sandbox needs the extension arena_isolation, which is not installed'
    >>> explain_missing("isolation: moon")
    """
    home = _HOMES.get(feature)
    return None if home is None else f"{feature} needs the extension {home}, which is not installed"
