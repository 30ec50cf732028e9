"""The types that all judges of decisions share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from arena import Action, Game, State

BEST, INACCURACY, MISTAKE, DECISIVE = "best", "inaccuracy", "mistake", "decisive mistake"
GRADES = (BEST, INACCURACY, MISTAKE, DECISIVE)
"""The grades of decisions, the best one first."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision in a match, with the states before and after it."""

    seat: int
    state: State
    action: Action
    after: State
    """The state after the action, before any outcome of chance."""
    text: str
    """The state before the decision, in the notation of the game."""
    action_text: str


class Verdict(NamedTuple):
    """The verdict on a decision. In a game, values are returns of the seat that decided; in a puzzle, costs to the goal."""

    judge: str
    best: str | None
    """One of the best actions; None if the judge does not name one."""
    best_value: float | None
    """The value of the best action; None if it is not a number, for example if the puzzle cannot be solved any more."""
    value: float | None
    """The value of the action that was played."""
    loss: float | None
    """The loss by the action, 0 or more; None when it cannot be expressed as a number."""
    grade: str | None
    """One of GRADES. None for an estimate, which is never graded as a mistake, and for a decision on which the judge has found
    that there can be no verdict.
    """
    exact: bool


class BoardJudge(Protocol):
    """A judge for one board. The command and each of its workers create their own.

    To judge a decision, the judge needs answers to some questions. A question is a text that contains everything on which its
    answer depends, except the board, the judge and the effort. So each answer is found only once, and then stored in a file next
    to the store.
    """

    effort: int
    """The number of nodes that an answer may take. It is part of the key under which answers are stored."""
    key: str
    """A text that changes whenever the code of the judge does. It is part of the key under which answers are stored."""

    word: str | None
    """The agent that searches for answers, as a word such as `star2:depth=9`; None for a judge without a search. Before a long
    review, the searches of this agent are compiled.
    """

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the questions whose answers are needed for the verdict."""

    def answer(self, question: str) -> Any:
        """Return the answer as JSON values. A review spends most of its time in this method, which runs in the workers."""

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict. If the judge has none, return None; then the next, weaker judge is asked."""


class Review(NamedTuple):
    """The facts about a board that a judge needs."""

    game: Game
    setup: Mapping[str, Any]
    """The game as in a spec: its name and its parameters."""
    plugins: Sequence[str]
    """The plugins to load in addition to the installed ones."""
    nodes: int
    """The number of nodes that the players had for a decision."""
    effort: int
    """The factor by which a judge gets more nodes than the players."""
    overestimate: str | None = None
    """Where the default heuristic of a puzzle exceeds the cost of a stored solution, in words; None if it never does."""
    moves: int | None = None
    """The move limit of a match; None if it is unknown."""


class Judge(NamedTuple):
    """Judges decisions in the games that it supports."""

    name: str
    description: str
    """The words after "It" in the sentence that says how reliable the verdicts of the judge are."""
    refuses: Callable[[Game], str | None]
    """Returns the reason why the judge does not support a game, or None if it does."""
    open: Callable[[Review], BoardJudge]
    """Creates the judge for a board."""
