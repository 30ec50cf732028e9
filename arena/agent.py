"""Agents, and the solutions that they return. A player chooses actions, and a solver solves puzzles; one agent may do both."""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arena.configured import Configured
from arena.game import Action, Game, State
from arena.limits import Limits
from arena.search import Search


@dataclass(frozen=True, slots=True, init=False)
class Path:
    """The actions that lead from a position to a goal. The referee replays `actions`, adds up their costs and checks the goal.

    >>> Path(iter(["8", "6"])).actions
    ('8', '6')
    """

    actions: tuple[Action, ...]

    def __init__(self, actions: Iterable[Action]) -> None:
        object.__setattr__(self, "actions", tuple(actions))


@dataclass(frozen=True, slots=True)
class Answer:
    """The final `state` for a puzzle in which the path does not matter. If it is not a goal, the puzzle counts as unsolved.

    `steps` is the number of changes that the solver made while it searched. None means that the solver did not count them.

    >>> Answer((2, 4, 1, 3), steps=7).state
    (2, 4, 1, 3)
    """

    state: State
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints about an agent, for commands that test agents or suggest them. They do not affect any match.

    >>> Hints(reference="games", proposed={"two-player": 9}).uses_heuristic
    True
    """

    reference: bool | Literal["games", "puzzles"] = False
    """Whether `arena try` lets new agents play against this one. If this agent uses heuristics, `arena try` also tests new
    heuristics with it. `games` or `puzzles` limits this to games or to puzzles."""
    proposed: Mapping[str, int] = field(default_factory=dict)
    """The agent's priority when a command needs a default opponent, a default solver, or an agent for hints. Each key is a trait
    of a game, or `heuristic` for games with a default heuristic. If several keys apply to a game, the largest value counts."""
    uses_heuristic: bool = True
    """False for an agent that never uses a heuristic; web pages and `arena show` do not offer it one."""

    @staticmethod
    def of(agent: "type[Agent]") -> "Hints":
        """Return the hints that the class `agent` gives itself, or the defaults. Subclasses do not inherit hints."""
        given = vars(agent).get("hints")
        return given if isinstance(given, Hints) else Hints()


class Agent(Configured, ABC):
    """One player or solver. The referee creates a new instance for every match.

    A subclass defines `name` and at least one of `choose` and `solve`. Its `__init__` takes the options of the agent as
    keyword-only parameters with type hints; their values come from a spec. An agent that raises an exception loses the match.

    >>> class First(Agent):
    ...     name = "first"
    ...     def choose(self, game, state, search):
    ...         return game.actions(state)[0]
    >>> arena.play("tic-tac-toe", [First(), First()]).actions
    ('1', '2', '3', '4', '5', '6', '7')
    """

    name: ClassVar[str]
    """Its name in specs and on the command line: lowercase letters, digits and dashes."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """The traits that a game must have for this agent; see `arena.traits`."""
    copes: ClassVar[frozenset[str]] = frozenset()
    """The agent is refused for games with `chance` or `hidden-information`, unless this set names the trait."""
    games: ClassVar[frozenset[str]]
    """The names of the games that the agent is made for, as a frozenset; optional. By default, the agent plays any game."""
    wants_heuristic: ClassVar[bool] = False
    """Whether the agent is of little use without a heuristic."""
    hints: ClassVar[Hints]
    """Hints for commands that test agents or suggest them; optional. Subclasses do not inherit them."""
    optimal: Literal["cost", "length", "admissible"] | None = None
    """What a solver promises about each path that it returns, unless a limit stopped its search. `cost`: no path is cheaper.
    `length`: no path is shorter. `admissible`: no path is cheaper if the heuristic never overestimates. `arena check` looks for
    small positions that break the promise. If such a solver gives up although no limit stopped it, there is no path, and a
    leaderboard says so."""
    waits: ClassVar[bool] = False
    """Whether the agent waits for something outside the process, such as a model on a server. It must then wait inside `with
    search.waiting()`, and one process plays several matches at the same time."""
    incidental: ClassVar[frozenset[str]] = frozenset()
    """Options that do not affect how the agent plays, such as a rate limit. They do not affect the ids of matches."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return a legal action for the seat to move. Raises TypeError if the agent only solves."""
        raise TypeError(f"{type(self).__name__} does not choose actions: it only solves puzzles")

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Return a path from `state` to a goal, or a final state; None to give up. Raises TypeError if the agent only chooses."""
        raise TypeError(f"{type(self).__name__} does not solve puzzles: it only chooses actions")

    if TYPE_CHECKING:
        engine: str | None
        """The search loop that the agent requests with `search.compiled`; optional. A long run compiles this loop in advance."""

        def policy(self, game: Game, observation: State) -> Sequence[float]:
            """Return the probability of each legal action, in the order of the actions; optional.

            `observation` is the view of the seat to move. `arena exploit` is exact for agents that define this method.
            """

        def check_backend(self) -> None:
            """Raise ArenaError if the backend cannot be reached; optional, for agents with `waits`.

            A run calls it once, before the first match.
            """

        @classmethod
        def check_run(cls, spec: Any, store: Any, left: float, *, alone: bool) -> Iterable[str]:
            """Prepare a run before its first match; optional, for agents with `waits`. `left` matches remain to be played.

            `spec` is the `arena.Spec`, and `store` is the open store or None. `alone` is true if one process plays all matches.
            The method yields notes for the user. If it raises ArenaError, the run stops.
            """

        @classmethod
        def check_entries(cls, entries: Sequence[Mapping[str, Any]]) -> Iterable[tuple[int, str, str]]:
            """Check the options of all entries of this agent in a spec together; optional.

            The method yields, for each fault, the number of the entry, the name of the wrong option, and a message.
            """

        def refuses(self, game: Game) -> str | None:
            """Return the reason why the agent, with its options, cannot play `game`, or None if it can; optional.

            The method is called before the first match, after the spec and the traits in `needs` have been checked.
            """

        def needs_limit(self, limits: Limits) -> bool | str:
            """Return whether a decision under `limits` may search all states that can be reached. Optional; the default is False.
            If it returns True, `arena validate` and `arena run` warn about a game with many states; it has no other effect. If it
            returns `lines`, because the search follows each line and remembers no states, or `pruned lines`, because alpha-beta
            prunes these lines, they also warn about a tree with many nodes. The method is not called if a limit on nodes or
            seconds is set.
            """
