"""What searches that remember states share: how each was reached, what a step costs, and room when memory runs out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from arena import Action, Limits, Path, Puzzle, State, overrides

Reached = dict[State, tuple[Any, ...]]
"""For every state that has been reached a tuple that ends with the state before it and the action between the two."""


def path_to(goal: State, reached: Mapping[State, tuple[Any, ...]]) -> Path:
    """Return the way to `goal` from the state that was reached from None."""
    actions: list[Action] = []
    *_, before, action = reached[goal]
    while before is not None:
        actions.append(action)
        *_, before, action = reached[before]
    return Path(reversed(actions))


def way(actions: Sequence[Action] | None) -> Path | None:
    """Return actions as a path; None for none."""
    return None if actions is None else Path(actions)


def step_costs(puzzle: Puzzle) -> Callable[[State, Action, State], float] | None:
    """Return what tells the cost of a step; None where every step costs 1, so that nobody needs to ask."""
    return puzzle.step_cost if overrides(puzzle, "step_cost") else None


def unbounded(limits: Limits) -> bool:
    """Tell whether a search that remembers states has neither a budget nor a limit of its memory."""
    return not limits.budget and limits.memory_mb is None


@contextmanager
def emptied_without_memory(*tables: Any) -> Iterator[None]:
    """Clear `tables` when memory runs out inside, and let the error pass: whoever books it needs room to do so."""
    try:
        yield
    except MemoryError:
        for table in tables:
            table.clear()
        raise
