"""Agents, which choose actions (players) or solve puzzles (solvers) or do both, and the solutions that solvers return."""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arena.configured import Configured
from arena.game import Action, Game, Puzzle, State, overrides
from arena.limits import Limits
from arena.search import Search


@dataclass(frozen=True, slots=True, init=False)
class Path:
    """A path from the position to a goal. The referee replays its `actions`, sums their cost and checks the goal.

    >>> Path(iter(["8", "6"])).actions
    ('8', '6')
    """

    actions: tuple[Action, ...]

    def __init__(self, actions: Iterable[Action]) -> None:
        object.__setattr__(self, "actions", tuple(actions))


@dataclass(frozen=True, slots=True)
class Answer:
    """A final `state`, for puzzles in which the path does not matter. It counts as unsolved if it is not a goal.

    `steps` is the number of changes that the solver made on its way. None means that it did not count them.

    >>> Answer((2, 4, 1, 3), steps=7).state
    (2, 4, 1, 3)
    """

    state: State
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints about an agent for the tools that try agents or propose them. No match depends on them.

    >>> Hints(reference="games", proposed={"two-player": 9}).uses_heuristic
    True
    """

    reference: bool | Literal["games", "puzzles"] = False
    """Whether `arena try` sets new agents against this one, and gives it new heuristics if it wants one. `games` or `puzzles`
    restricts this to one kind."""
    proposed: Mapping[str, int] = field(default_factory=dict)
    """Its priority as the default opponent, adviser or solver, by traits of the game, or by `heuristic` for games that have a
    default heuristic. The largest value that applies counts, and the agent with the highest priority is proposed."""
    uses_heuristic: bool = True
    """False for an agent that never asks for an estimate: pages and `arena show` offer it no heuristic."""


class Agent(Configured, ABC):
    """One player or solver. The referee makes a fresh instance for every match.

    A subclass gives `name` and at least one of `choose` and `solve`. Its `__init__` takes the agent's options,
    keyword-only and hinted, straight from a spec. An exception that it raises while playing loses it the match.

    >>> class First(Agent):
    ...     name = "first"
    ...     def choose(self, game, state, search):
    ...         return game.actions(state)[0]
    >>> arena.play("tic-tac-toe", [First(), First()]).actions
    ('1', '2', '3', '4', '5', '6', '7')
    """

    name: ClassVar[str]
    """The key in the registry: small letters, digits and dashes."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """The traits that a game must have; see `arena.traits`."""
    copes: ClassVar[frozenset[str]] = frozenset()
    """Which of `chance` and `hidden-information` it can play. It is refused on a game with a trait that is not listed."""
    games: ClassVar[frozenset[str]]
    """A frozenset of the names of the games that it is made for; it is refused on all others. Without this attribute it plays any
    game."""
    wants_heuristic: ClassVar[bool] = False
    """Whether the agent is useless without a heuristic."""
    hints: ClassVar[Hints]
    """Hints for the tools that try agents or propose them; optional. Subclasses do not inherit them."""
    optimal: Literal["cost", "length", "admissible"] | None = None
    """The promise of a solver about every path that it returns before a budget ends: none is cheaper (`cost`), none is shorter
    (`length`), or none is cheaper if the heuristic never overestimates (`admissible`). `arena check` tries to refute it from
    small positions, and a board reports matches that refute it."""
    waits: ClassVar[bool] = False
    """Whether its decisions wait for something outside, such as a model behind a network, inside `with search.waiting()`. If so,
    one process plays several matches at the same time."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return a legal action for the seat to move. TypeError for agents that only solve."""
        raise TypeError(f"{type(self).__name__} does not choose actions: it only solves")

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Return the way from `state` to a goal, or a final state, or None to give up. TypeError for agents that only choose."""
        raise TypeError(f"{type(self).__name__} does not solve: it only chooses actions")

    if TYPE_CHECKING:
        engine: str | None
        """The engine that it requests by `search.compiled`; optional. A run compiles it before its long part begins."""

        def policy(self, game: Game, observation: State) -> Sequence[float]:
            """Return the probabilities with which it plays the legal actions, in their order; optional.

            `observation` is the view of the seat to move. `arena exploit` is exact for agents that give this method.
            """

        def check_backend(self) -> None:
            """Raise ArenaError if the backend cannot be reached; optional, for agents that wait.

            A run calls it once, before the first match.
            """

        @classmethod
        def check_entries(cls, entries: Sequence[Mapping[str, Any]]) -> Iterable[tuple[int, str, str]]:
            """Check the options of all entries of this agent in a spec against each other; optional.

            Yield a fault as the number of the entry, the option that is wrong, and the message.
            """

        def refuses(self, game: Game) -> str | None:
            """Return why the agent, with its options, cannot play `game`; None if it can. Optional.

            It is called before the first match, after the checks of the spec and of the class's `needs`.
            """

        def needs_limit(self, limits: Limits) -> bool:
            """Return True if a decision under `limits` may search every state that can be reached; optional, else False.

            `arena validate` and `arena run` warn if such an agent meets a game of many states. It is not called if nodes or
            seconds are limited, and nothing else depends on it.
            """


def chooses(agent: type[Agent] | Agent) -> bool:
    """Return whether an agent gives `choose`."""
    return _method(agent, "choose") is not Agent.choose


def solves(agent: type[Agent] | Agent) -> bool:
    """Return whether an agent gives `solve`."""
    return _method(agent, "solve") is not Agent.solve


def claim_of(agent: Agent, puzzle: Puzzle, *, admissible: bool) -> Literal["cost", "length"] | None:
    """Return which measure the agent claims to minimize on this puzzle; None if it makes no claim that applies.

    `agent` is the solver and `puzzle` the puzzle. `admissible` is true if the heuristic claims to be admissible, or if there is
    none. If all steps cost the same, the shortest path is the cheapest.
    """
    claim = agent.optimal if puzzle.path_matters else None
    if claim == "length":
        return "length" if overrides(puzzle, "step_cost") else "cost"
    return "cost" if claim == "cost" or (claim == "admissible" and admissible) else None


def _method(agent: type[Agent] | Agent, name: str) -> Any:
    return getattr(agent if isinstance(agent, type) else type(agent), name, None)
