"""Exact distances to the nearest goal of a puzzle, and goals found without a heuristic."""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count

from arena.game import Puzzle, State


def distances(puzzle: Puzzle, position: State, most: int) -> list[tuple[State, float]] | None:
    """The exact distance to a goal of every state that can be reached from `position`; None if these are more than `most`.

    Dijkstra's algorithm from all goals at once, along reversed steps.
    """
    before: dict[State, list[tuple[State, float]]] = {position: []}
    unseen = [position]
    while unseen:
        state = unseen.pop()
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in before:
                if len(before) >= most:
                    return None
                before[successor] = []
                unseen.append(successor)
            before[successor].append((state, puzzle.step_cost(state, action, successor)))
    goals = [state for state in before if puzzle.is_goal(state)]
    return list(_settled(goals, lambda state: before[state]))


def shortest_way(puzzle: Puzzle, position: State, most: int) -> list[tuple[State, float]]:
    """The states on a cheapest way to a goal with their distances; none if the search takes more than `most` states."""
    cheapest: dict[State, tuple[float, State | None]] = {position: (0.0, None)}

    def edges(state: State) -> list[tuple[State, float]]:
        here = cheapest[state][0]
        found = []
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            cost = puzzle.step_cost(state, action, successor)
            if successor not in cheapest or here + cost < cheapest[successor][0]:
                cheapest[successor] = (here + cost, state)
                found.append((successor, cost))
        return found

    for state, total in _settled([position], edges):
        if puzzle.is_goal(state):
            return list(_way(cheapest, state, total))
        if len(cheapest) > most:
            return []
    return []


def goal_from(puzzle: Puzzle, position: State, most: int) -> tuple[State] | None:
    """A goal, in a tuple since a state may be None; None if the search takes more than `most` states.

    Breadth-first search where the path matters, so that a goal is near; depth-first search where it does not.
    """
    nearest = puzzle.path_matters
    frontier = deque([position])
    seen = {position}
    while frontier and len(seen) <= most:
        state = frontier.popleft() if nearest else frontier.pop()
        if puzzle.is_goal(state):
            return (state,)
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in seen:
                seen.add(successor)
                frontier.append(successor)
    return None


def _settled(starts: list[State], edges: Callable[[State], list[tuple[State, float]]]) -> Iterator[tuple[State, float]]:
    """Dijkstra's algorithm from several starts: every state with its distance, the nearest first."""
    order = count()
    frontier: list[tuple[float, int, State]] = [(0.0, next(order), state) for state in starts]
    done: set[State] = set()
    while frontier:
        distance, _, state = heappop(frontier)
        if state in done:
            continue
        done.add(state)
        yield state, distance
        for successor, cost in edges(state):
            if successor not in done:
                heappush(frontier, (distance + cost, next(order), successor))


def _way(cheapest: dict[State, tuple[float, State | None]], goal: State, total: float) -> Iterator[tuple[State, float]]:
    state: State | None = goal
    while state is not None:
        spent, before = cheapest[state]
        yield state, total - spent
        state = before
