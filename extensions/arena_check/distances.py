"""Distances to the nearest goal of a puzzle. They are either exact, or upper bounds from a known path. This module also finds
goals without a heuristic.
"""

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from arena import Action, Puzzle, State, overrides
from arena.api.games import Evaluation

Known = tuple[State, float]
"""A state, and the cost of a path from this state to a goal."""
MAX_NEAR_STEPS = 500_000
"""The default for the steps of a search for states near a goal."""
Cost = Callable[[State, Action, State], float]
"""Cost of a step, as returned by `Puzzle.step_cost`."""


class Explored(NamedTuple):
    """All states that can be reached from some positions. Play ends at a goal, so nothing is reached through a goal."""

    known: list[Known]
    """The states from which a goal can be reached, with their exact distances."""
    dead_ends: list[State]
    """The states from which no goal can be reached."""
    positions: int
    """The number of positions that were explored. A position does not count if another one leads to it."""


def distances(puzzle: Puzzle, positions: Iterable[State], most: int) -> Explored | None:
    """Return the exact goal distance of every state that can be reached from the positions. If there would be more than `most`
    states, return the states for as many positions as possible; None if the first position alone leads to too many.

    This is Dijkstra's algorithm. It starts from all goals at once, and follows the steps backward.
    """
    before: dict[State, list[Known]] = {}
    explored = 0
    for position in positions:
        steps = {} if position in before else _explore(puzzle, position, before.keys(), most - len(before))
        if steps is None:
            break
        explored += bool(steps)
        before |= {state: [] for state in steps}
        while steps:  # entries are removed, because the steps of a large puzzle would not fit into memory twice
            state, successors = steps.popitem()
            for successor, cost in successors:
                before[successor].append((state, cost))
    if not explored:
        return None
    known = list(_settle([(state, 0.0) for state in before if puzzle.is_goal(state)], lambda state: before[state]))
    solvable = {state for state, _ in known}
    return Explored(known, [state for state in before if state not in solvable], explored)


def _explore(puzzle: Puzzle, position: State, seen: Container[State], most: int) -> dict[State, list[Known]] | None:
    """Return the successors of each state that can be reached from a position, with the costs of the steps; None if there are
    more than `most` states. Goals have no successors, because play ends there. States that were seen before are left out.
    """
    steps: dict[State, list[Known]] = {position: []}
    unseen = [position]
    while unseen:
        if len(steps) > most:
            return None
        state = unseen.pop()
        for action in () if puzzle.is_goal(state) else puzzle.actions(state):
            successor = puzzle.result(state, action)
            steps[state].append((successor, puzzle.step_cost(state, action, successor)))
            if successor not in steps and successor not in seen:
                steps[successor] = []
                unseen.append(successor)
    return steps


def proven_distances(puzzle: Puzzle, starts: Iterable[State], most: int) -> tuple[list[Known], int]:
    """Explore at most `most` states from the starts. Return the states whose distance this proves, with their exact distances,
    and the number of explored states.

    The search is breadth-first from each start in turn. Some explored states may not be expanded, and a path through one of them
    may lead to a nearer goal. So the distance of a state is proven if no path to such a state is cheaper than the cheapest path
    to a goal. This needs nothing from the puzzle: actions need not be undone, and there may be many goals.
    """
    before: dict[State, list[Known]] = {}
    pending: deque[State] = deque()
    for start in starts:
        if pending or len(before) == most:
            break
        if start not in before:
            before[start] = []
            pending.append(start)
        while pending:
            state = pending[0]
            after = [] if puzzle.is_goal(state) else [(action, puzzle.result(state, action)) for action in puzzle.actions(state)]
            unseen = dict.fromkeys([successor for _, successor in after if successor not in before])
            if len(before) + len(unseen) > most:
                break
            pending.popleft()
            pending.extend(unseen)
            before |= {successor: [] for successor in unseen}
            for action, successor in after:
                before[successor].append((state, puzzle.step_cost(state, action, successor)))
    least = 0.0 if overrides(puzzle, "step_cost") else 1.0
    bounds = dict(_settle([(state, least) for state in pending if not puzzle.is_goal(state)], lambda state: before[state]))
    settled = _settle([(state, 0.0) for state in before if puzzle.is_goal(state)], lambda state: before[state])
    return [(state, cost) for state, cost in settled if cost <= bounds.get(state, inf)], len(before)


def assumed_distances(puzzle: Puzzle, goal: State, most: int) -> list[Known] | None:
    """Return the `most` states nearest to a goal, or all if there are fewer, with their distances. None if an action in one of
    these states cannot be undone, or if one of them is another goal.

    The distances are exact if the states that were not explored are like the others: their actions can be undone, and they are
    no goals.
    """
    known: list[Known] = []
    one_way: list[State] = []
    for state, cost in near_goal(puzzle, [(goal, 0.0)], most, steps=inf, one_way=one_way):
        if one_way or (known and puzzle.is_goal(state)):
            return None
        known.append((state, cost))
    return known if len(known) > 1 and not one_way else None


def near_goal(
    puzzle: Puzzle, ends: Iterable[Known], most: int, *, steps: float = MAX_NEAR_STEPS, one_way: list[State] | None = None
) -> Iterator[Known]:
    """Yield at most `most` states with a known path to a goal, the nearest first. Each comes with the cost of the cheapest known
    path.

    This is Dijkstra's algorithm. It starts from the last states of a path, including a goal, and follows the actions that can be
    undone: a state counts as a predecessor of another state if an action in either of them leads to the other. The cost is the
    exact distance if all actions can be undone and there is only one goal. Otherwise the distance may be smaller, but never
    larger. The states in which an action cannot be undone are added to `one_way`. The search ends after `steps` steps, because in
    some puzzles a state has a hundred actions.
    """
    costs_differ = overrides(puzzle, "step_cost")
    generated = 0

    def edges(state: State) -> Iterator[Known]:
        nonlocal generated
        for action in puzzle.actions(state):
            before = puzzle.result(state, action)
            back = puzzle.actions(before)
            cheapest = None
            for step in back if costs_differ or action not in back else (action, *back):  # many actions are their own inverse
                generated += 1
                if puzzle.result(before, step) == state:
                    cost = puzzle.step_cost(before, step, state)
                    cheapest = cost if cheapest is None else min(cost, cheapest)
                    if not costs_differ:
                        break
            if cheapest is not None:
                yield before, cheapest
            elif one_way is not None:
                one_way.append(state)

    for number, known in enumerate(_settle(ends, edges)):
        if number >= most or generated > steps:
            return
        yield known


def shortest_way(puzzle: Puzzle, position: State, most: int, cost: Cost | None = None) -> list[Known]:
    """Return the states on a cheapest path to a goal with their distances; empty if the search needs more than `most` states.

    This is uniform-cost search. `cost` is the cost of a step, by default `Puzzle.step_cost`.
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
    """Return the states on a path to a goal, the goal first, each with its cost to the goal; an empty list after more than `most`
    states.

    With `estimate`, a function that estimates the distance, this is best-first search. Without it, the search is breadth-first if
    the path matters, so that it finds a near goal; otherwise it is depth-first.
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
    """Run Dijkstra's algorithm from several starts. Yield every state with its distance, the nearest first."""
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
