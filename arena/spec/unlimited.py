"""Warns of entries whose decisions need a limit, because the game is too large to be searched to its end."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import thread_time

from arena.agent import Agent
from arena.configured import name_of
from arena.errors import SpecFault, call_foreign, escape_line
from arena.game import Game, Puzzle, State
from arena.limits import Limits
from arena.match.match import Positions
from arena.plugins.members import needs_limit
from arena.spec.board import Spec
from arena.spec.entries import Entry
from arena.spec.games import Rules
from arena.spec.reader import SpecReader, format_path

LARGE_GAME_STATES = 200_000
"""The number of states that a search visits in seconds; the 8-puzzle has 181,440."""
COUNTING_SECONDS = 1.0
"""Processor time to count them; a game that takes longer counts as larger."""
PROPOSED_NODES, PROPOSED_DEPTH = 100_000, 4
"""Limits that a warning proposes."""


def warn_unlimited(reading: SpecReader, rules: Rules, entry: Entry) -> SpecFault | None:
    """Return the warning for an entry that has no limit and needs one, if the game is large; None for any other entry."""
    message = describe_unlimited(entry.name, entry.make, entry.limits, rules.game)
    if message is None:
        return None
    line, column = reading.document.place(entry.path)
    return SpecFault(reading.document.name, line, column, format_path(entry.path), escape_line(message))


def describe_unlimited(name: str, make: Callable[[], Agent], limits: Limits, game: Game) -> str | None:
    """Return the warning for an agent that has no limit and needs one, if the game is large; None for any other agent."""
    if limits.budget:
        return None
    try:
        agent = make()
    except Exception:  # reported when the agent is made
        return None
    if not needs_limit(agent, limits):
        return None
    write = f"limits: {{nodes: {PROPOSED_NODES}}}"
    if not (isinstance(game, Puzzle) or needs_limit(agent, replace(limits, depth=PROPOSED_DEPTH))):
        write += f" or limits: {{depth: {PROPOSED_DEPTH}}}"
    title = name_of(game)
    return f"{name} has no limit and searches {title} to the end, through more than {LARGE_GAME_STATES:,} states; write {write}"


def limit_warnings(spec: Spec) -> Iterator[str]:
    """Yield a warning for every entry without a limit on a board of more than LARGE_GAME_STATES states."""
    for board in spec.boards:
        if board.unlimited and is_large(board.game, board.positions):
            yield from map(str, board.unlimited)


def is_large(game: Game, positions: Positions) -> bool:
    """Return whether a game has more than LARGE_GAME_STATES states from the first of its positions; False if it raises."""
    return call_foreign(
        lambda: count_states(game, positions[0].state, LARGE_GAME_STATES, COUNTING_SECONDS) is None, lambda _: False
    )


def count_states(game: Game, start: State, most: int, seconds: float) -> int | None:
    """Return the number of states that can be reached from `start`; None for more than `most`, or after `seconds`.

    The seconds are of processor time, so that a busy machine counts as far as an idle one. Exceptions of the game pass through.
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
