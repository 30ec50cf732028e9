"""Entries whose decisions only a limit would end, and whether their game is so large that a limit is missed."""

from collections.abc import Iterator
from dataclasses import replace
from time import thread_time

from arena.errors import SpecFault, call_foreign, escape_line
from arena.game import Game, State
from arena.plugins.members import needs_limit
from arena.spec.board import Board, Spec
from arena.spec.entries import Entry
from arena.spec.games import Rules
from arena.spec.reader import SpecReader, format_path

LARGE_GAME_STATES = 200_000
"""States of a game that a search sees through in seconds; the 8-puzzle has 181,440."""
COUNTING_SECONDS = 1.0
"""Processor time to count them: a game that takes longer is as good as one of more states."""
PROPOSED_NODES, PROPOSED_DEPTH = 100_000, 4
"""Limits that a warning proposes."""


def warn_unlimited(reading: SpecReader, rules: Rules, entry: Entry) -> SpecFault | None:
    """Return the warning for an entry that has no limit and needs one, if the game is large; None for any other entry."""
    if entry.limits.budget:
        return None
    try:
        agent = entry.make()
    except Exception:  # told where it is made to play
        return None
    if not needs_limit(agent, entry.limits):
        return None
    write = f"limits: {{nodes: {PROPOSED_NODES}}}"
    if not (rules.puzzle or needs_limit(agent, replace(entry.limits, depth=PROPOSED_DEPTH))):
        write += f" or limits: {{depth: {PROPOSED_DEPTH}}}"
    line, column = reading.document.place(entry.path)
    message = (
        f"{entry.name} has no limit and searches {rules.name} to the end, "
        f"through more than {LARGE_GAME_STATES:,} states; write {write}"
    )
    return SpecFault(reading.document.name, line, column, format_path(entry.path), escape_line(message))


def limit_warnings(spec: Spec) -> Iterator[str]:
    """Yield a warning for every entry without a limit on a board of more than LARGE_GAME_STATES states."""
    for board in spec.boards:
        if board.unlimited and _is_large(board):
            yield from map(str, board.unlimited)


def _is_large(board: Board) -> bool:
    return call_foreign(
        lambda: count_states(board.game, board.positions[0].state, LARGE_GAME_STATES, COUNTING_SECONDS) is None, lambda _: False
    )


def count_states(game: Game, start: State, most: int, seconds: float) -> int | None:
    """Return the number of states that can be reached from `start`; None for more than `most`, or after `seconds`.

    The seconds are of processor time, so that a busy machine counts as far as an idle one. What the game raises is passed on.
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
