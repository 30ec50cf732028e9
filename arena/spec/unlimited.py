"""Warns about entries without a limit for their decisions, if they would search a large or endless game to its end."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from random import Random

from arena.agent import Agent
from arena.clock import thread_time
from arena.configured import name_of
from arena.errors import SpecFault, call_foreign, escape_line
from arena.game import Game, Puzzle, State, gives
from arena.limits import Limits
from arena.match.match import Positions
from arena.spec.board import Spec, Unlimited
from arena.spec.entries import Entry
from arena.spec.games import Rules
from arena.spec.reader import SpecReader, format_path

LARGE_GAME_STATES = 200_000
"""A game with more states counts as large. A search visits so many states in a few seconds; the 8-puzzle has 181,440."""
COUNTING_SECONDS = 1.0
"""The processor time for counting states; if it is not enough, the game counts as large."""
LARGE_TREE_NODES = 2_000_000
"""A decision with more nodes counts as large. It takes several seconds; the tree of tic-tac-toe has 549,946 nodes."""
MAX_TOLD_NODES = 10**15
"""A warning does not tell numbers above this one exactly."""
GROWTH = {"lines": 1.0, "pruned lines": 0.5}
"""How the nodes of a decision grow with the nodes of the tree, by what `needs_limit` returns. Alpha-beta generates at least about
the square root (D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975)."""
MANY_STATES = f"through more than {LARGE_GAME_STATES:,} states"
RECURRING_STATES = "but its states recur, so a line may never end"
WALKS, WALK_PLIES = 20, 1_000
"""The number and the length of the random walks that look for a state that recurs."""
PROPOSED_NODES, PROPOSED_DEPTH = 100_000, 4
"""The limits that a warning proposes."""


def warn_unlimited(reading: SpecReader, rules: Rules, entry: Entry) -> Unlimited | None:
    """Return a warning if an entry has no limit but needs one if the game is large or endless; otherwise None."""
    message = describe_unlimited(entry.name, entry.make, entry.limits, rules.game)
    if message is None:
        return None
    line, column = reading.document.place(entry.path)
    fault = SpecFault(reading.document.name, line, column, format_path(entry.path), escape_line(message))
    return Unlimited(fault, GROWTH.get(str(_ask(entry.make(), entry.limits))))


def describe_unlimited(name: str, make: Callable[[], Agent], limits: Limits, game: Game) -> str | None:
    """Return a warning if an agent has no limit but needs one because the game is large; otherwise None."""
    if limits.budget:
        return None
    try:
        agent = make()
    except Exception:  # the fault is reported when the agent is made
        return None
    if not needs_limit(agent, limits):
        return None
    write = f"limits: {{nodes: {PROPOSED_NODES}}}"
    if not (isinstance(game, Puzzle) or needs_limit(agent, replace(limits, depth=PROPOSED_DEPTH))):
        write += f" or limits: {{depth: {PROPOSED_DEPTH}}}"
    title = name_of(game)
    return f"{name} has no limit and searches {title} to the end, {MANY_STATES}; write {write}"


def needs_limit(agent: Agent, limits: Limits) -> bool:
    """Return whether `Agent.needs_limit` returns a true value; False if the agent lacks it or raises an exception."""
    return call_foreign(lambda: bool(_ask(agent, limits)), lambda _: False)


def _ask(agent: Agent, limits: Limits) -> bool | str:
    return gives(agent, "needs_limit") and call_foreign(lambda: agent.needs_limit(limits), lambda _: False)


def limit_warnings(spec: Spec) -> Iterator[str]:
    """Yield a warning for each entry without a limit on a board whose game, or the tree that it searches, is large, or whose
    states recur.
    """
    for board in spec.boards:
        if not board.unlimited:
            continue
        if is_large(board.game, board.positions):
            yield from dict.fromkeys([str(one.warning) for one in board.unlimited])
        elif isinstance(board.game, Puzzle):
            continue
        elif recurs(board.game, board.positions):
            yield from dict.fromkeys([str(one.warning).replace(MANY_STATES, RECURRING_STATES) for one in board.unlimited])
        elif any(one.growth for one in board.unlimited):
            nodes = measure_tree(board.game, board.positions)
            told = f"through a tree of {nodes:,} nodes" if nodes < MAX_TOLD_NODES else "through a tree of more than 10^15 nodes"
            found = [str(warning) for warning, growth in board.unlimited if growth and nodes**growth > LARGE_TREE_NODES]
            yield from dict.fromkeys([warning.replace(MANY_STATES, told) for warning in found])


def is_large(game: Game, positions: Positions) -> bool:
    """Return whether more than LARGE_GAME_STATES states follow from the first position of a game; False if the game fails."""
    return call_foreign(
        lambda: count_states(game, positions[0].state, LARGE_GAME_STATES, COUNTING_SECONDS) is None, lambda _: False
    )


def measure_tree(game: Game, positions: Positions) -> int | float:
    """Return the number of nodes of the tree below the first position of a game, which has few states; 0 if the game fails."""
    return call_foreign(lambda: count_nodes(game, positions[0].state), lambda _: 0)


def count_nodes(game: Game, start: State) -> int | float:
    """Return how many states a search generates that follows every line from `start` to its end, and remembers no states.

    The sizes of the subtrees are added up from the end, each state once. The result is infinite if states recur in a line.
    """
    sizes: dict[State, int | float] = {}
    begun = set()
    waiting = [start]
    while waiting:
        state = waiting[-1]
        if state in sizes:
            waiting.pop()
            continue
        successors = [] if game.is_terminal(state) else [game.result(state, action) for action in game.actions(state)]
        new = [one for one in successors if one not in sizes]
        if new and state in begun:
            return inf
        begun.add(state)
        if new:
            waiting += new
        else:
            sizes[state] = sum([sizes[one] + 1 for one in successors])
    return sizes[start]


def recurs(game: Game, positions: Positions) -> bool:
    """Return whether a random walk from the first position of a game meets a state again; False if the game fails.

    Solvers of puzzles remember the states of their path, so only searches of games may follow such a line for ever.
    """
    start = positions[0].state
    return call_foreign(lambda: any(_walk_recurs(game, start, Random(seed)) for seed in range(WALKS)), lambda _: False)


def _walk_recurs(game: Game, state: State, rng: Random) -> bool:
    met = {state}
    for _ in range(WALK_PLIES):
        if game.is_terminal(state) or not (legal := game.actions(state)):
            return False
        state = game.result(state, rng.choice(legal))
        if state in met:
            return True
        met.add(state)
    return False


def count_states(game: Game, start: State, most: int, seconds: float) -> int | None:
    """Return the number of states that can be reached from `start`; None if there are more than `most`, or after `seconds`.

    `seconds` is processor time: a busy machine gives the same answer as an idle one. Exceptions of the game are passed on.
    """
    seen = {start}
    layer = [start]
    until = thread_time() + seconds
    while layer:
        farther = []
        for state in layer:
            for action in () if game.is_terminal(state) else game.actions(state):
                successor = game.result(state, action)
                if successor not in seen:
                    if len(seen) == most:
                        return None
                    seen.add(successor)
                    farther.append(successor)
            if thread_time() > until:
                return None
        layer = farther
    return len(seen)
