"""Warns about entries without a limit for their decisions, if they would search a large or endless game to its end."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from arena.agent import Agent
from arena.clock import thread_time
from arena.configured import name_of
from arena.errors import SpecFault, call_foreign, escape_line
from arena.game import Game, Puzzle, State, gives
from arena.limits import Limits
from arena.match.match import Positions
from arena.spec.board import Spec
from arena.spec.entries import Entry
from arena.spec.games import Rules
from arena.spec.reader import SpecReader, format_path

LARGE_GAME_STATES = 200_000
"""A game with more states counts as large. A search visits so many states in a few seconds; the 8-puzzle has 181,440."""
COUNTING_SECONDS = 1.0
"""The processor time for counting states; if it is not enough, the game counts as large."""
MANY_STATES = f"through more than {LARGE_GAME_STATES:,} states"
RECURRING_STATES = "but its states recur, so a line may never end"
WALKS, WALK_PLIES = 20, 1_000
"""The number and the length of the random walks that look for a state that recurs."""
PROPOSED_NODES, PROPOSED_DEPTH = 100_000, 4
"""The limits that a warning proposes."""


def warn_unlimited(reading: SpecReader, rules: Rules, entry: Entry) -> SpecFault | None:
    """Return a warning if an entry has no limit but needs one if the game is large or endless; otherwise None."""
    message = describe_unlimited(entry.name, entry.make, entry.limits, rules.game)
    if message is None:
        return None
    line, column = reading.document.place(entry.path)
    return SpecFault(reading.document.name, line, column, format_path(entry.path), escape_line(message))


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
    """Return what `Agent.needs_limit` returns; False if the agent does not define it or raises an exception."""
    return gives(agent, "needs_limit") and call_foreign(lambda: bool(agent.needs_limit(limits)), lambda _: False)


def limit_warnings(spec: Spec) -> Iterator[str]:
    """Yield a warning for every entry without a limit on a board whose game is large, or has states that recur."""
    for board in spec.boards:
        if not board.unlimited:
            continue
        if is_large(board.game, board.positions):
            yield from map(str, board.unlimited)
        elif not isinstance(board.game, Puzzle) and recurs(board.game, board.positions):
            yield from [str(warning).replace(MANY_STATES, RECURRING_STATES) for warning in board.unlimited]


def is_large(game: Game, positions: Positions) -> bool:
    """Return whether more than LARGE_GAME_STATES states follow from the first position of a game; False if the game fails."""
    return call_foreign(
        lambda: count_states(game, positions[0].state, LARGE_GAME_STATES, COUNTING_SECONDS) is None, lambda _: False
    )


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
