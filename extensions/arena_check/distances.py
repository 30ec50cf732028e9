"""Distances to the nearest goal of a puzzle, exact or bounded by a known path, and goals found without a heuristic."""

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count

from arena import Action, Puzzle, State
from arena.api.games import Evaluation

Known = tuple[State, float]
"""A state and the cost of a path from it to a goal."""
Cost = Callable[[State, Action, State], float]
"""Cost of a step, as returned by `Puzzle.step_cost`."""


def distances(puzzle: Puzzle, position: State, most: int) -> list[Known] | None:
    """Return the exact goal distance of every state that can be reached from `position`; None if there are more than `most`.

    Dijkstra's algorithm from all goals at once, along reversed steps.
    """
    before: dict[State, list[Known]] = {position: []}
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
    goals = [(state, 0.0) for state in before if puzzle.is_goal(state)]
    return list(_settle(goals, lambda state: before[state]))


def near_goal(puzzle: Puzzle, ends: Iterable[Known], most: int) -> Iterator[Known]:
    """Yield at most `most` states with a known path to a goal, the nearest first, each with the cost of the cheapest path.

    Dijkstra's algorithm from the last states of a path, including a goal, along the actions that can be undone: a state comes
    before another if an action of either leads to the other. The cost is the distance if all actions can be undone and there is
    only one goal. Otherwise the distance may be less, but never more.
    """

    def edges(state: State) -> Iterator[Known]:
        for action in puzzle.actions(state):
            before = puzzle.result(state, action)
            steps = [step for step in puzzle.actions(before) if puzzle.result(before, step) == state]
            if steps:
                yield before, min(puzzle.step_cost(before, step, state) for step in steps)

    for number, known in enumerate(_settle(ends, edges)):
        if number >= most:
            return
        yield known


def shortest_way(puzzle: Puzzle, position: State, most: int, cost: Cost | None = None) -> list[Known]:
    """Return the states on a cheapest path to a goal with their distances; none if the search needs more than `most` states.

    Uniform-cost search. `cost` is the cost of a step, by default `Puzzle.step_cost`.
    """
    cost = puzzle.step_cost if cost is None else cost
    cheapest: dict[State, tuple[float, State | None]] = {position: (0.0, None)}

    def edges(state: State) -> list[Known]:
        here = cheapest[state][0]
        found = []
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            step = cost(state, action, successor)
            if successor not in cheapest or here + step < cheapest[successor][0]:
                cheapest[successor] = (here + step, state)
                found.append((successor, step))
        return found

    for state, total in _settle([(position, 0.0)], edges):
        if puzzle.is_goal(state):
            way: list[Known] = []
            before: State | None = state
            while before is not None:
                spent, previous = cheapest[before]
                way.append((before, total - spent))
                before = previous
            return way
        if len(cheapest) > most:
            return []
    return []


def way_to_goal(puzzle: Puzzle, position: State, most: int, estimate: Evaluation | None = None) -> list[Known]:
    """Return the states on a path to a goal, the goal first, each with its cost to go; none after more than `most` states.

    Best-first search by `estimate`, an estimate of the distance, if there is one. Otherwise breadth-first search if the path
    matters, so that a goal is near, and depth-first search if it does not.
    """
    order = count() if estimate is not None or puzzle.path_matters else count(0, -1)
    frontier: list[tuple[float, int, State]] = [(0.0, next(order), position)]
    before: dict[State, State | None] = {position: None}
    while frontier and len(before) <= most:
        state = heappop(frontier)[2]
        if puzzle.is_goal(state):
            way: list[Known] = [(state, 0.0)]
            while (previous := before[way[-1][0]]) is not None:
                later, cost = way[-1]
                steps = [step for step in puzzle.actions(previous) if puzzle.result(previous, step) == later]
                way.append((previous, cost + min(puzzle.step_cost(previous, step, later) for step in steps)))
            return way
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in before:
                before[successor] = state
                heappush(frontier, (0.0 if estimate is None else estimate(successor), next(order), successor))
    return []


def _settle(starts: Iterable[Known], edges: Callable[[State], Iterable[Known]]) -> Iterator[Known]:
    """Dijkstra's algorithm from several starts: yield every state with its distance, the nearest first."""
    order = count()
    frontier = [(distance, next(order), state) for state, distance in starts]
    heapify(frontier)
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
