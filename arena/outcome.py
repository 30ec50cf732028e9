"""What a solver hands back: the way to a goal, or a final state."""

from collections.abc import Iterable
from dataclasses import dataclass

from arena.game import Action, State


@dataclass(frozen=True, slots=True, init=False)
class Path:
    """The way from the position to a goal: its `actions`, which the referee replays; it sums their cost and checks the goal."""

    actions: tuple[Action, ...]

    def __init__(self, actions: Iterable[Action]) -> None:
        object.__setattr__(self, "actions", tuple(actions))


@dataclass(frozen=True, slots=True)
class Answer:
    """A final `state`, for puzzles where the way does not matter. It need not be a goal: then it counts as unsolved.

    `steps` is how many changes the solver made on its way, None where it did not count them.
    """

    state: State
    steps: int | None = None
