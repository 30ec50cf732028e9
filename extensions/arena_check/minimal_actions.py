"""Finds fewer actions that show the same fault: breadth-first search from the position, then delta debugging.

A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input, IEEE Transactions on Software Engineering 28(2),
2002. Delta debugging tries each part alone, and everything without that part. Here only the second kind of try is made, because a
part alone is seldom a legal play.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from arena import Action, Game, State
from arena.api.errors import call_foreign
from arena.clock import process_time
from arena_check.finding import Finding, Violation
from arena_check.trial import Trial, position_text

MAX_STATES = 1_000
"""Maximum number of states that the breadth-first search expands."""
MAX_REPLAYS = 100
"""Maximum number of sequences that deletion tries."""
MAX_CPU_SECONDS = 20.0
"""Processor time after which the search and the deletion end. A state with thousands of actions takes seconds."""


class Reproduction(NamedTuple):
    """What is needed to reproduce a known fault: a game, the first position of the play, and the checks of one state."""

    game: Game
    position: State
    examine: Callable[[Trial, State], None]
    """A function that checks a state and its successors, and raises Violation."""
    states: int = MAX_STATES


def shorten(finding: Finding, reproduce: Callable[[Finding], Reproduction]) -> Finding:
    """Return the same fault after as few actions as possible; `finding` itself if no shorter sequence is found.

    If the fault lies within MAX_STATES states of the position, the number of actions is the minimum. Otherwise no single action
    can be left out. This holds unless the search takes too many tries or MAX_CPU_SECONDS. It gives up if the fault is a match
    without an end, if a call does not return, or if the game raises an error that the finding is not about. `reproduce`
    prepares the search.
    """
    if not finding.actions or finding.check == "termination":
        return finding
    return call_foreign(lambda: _shorten(finding, reproduce(finding)), lambda _: finding)  # the fault may not occur again


def _shorten(finding: Finding, case: Reproduction) -> Finding:
    end = process_time() + MAX_CPU_SECONDS
    found = _nearest(finding, case, end) or _delete(finding, case, end)
    if found is None or len(found.actions) >= len(finding.actions):
        return finding
    text = finding.position or position_text(case.game, case.position)
    if finding.hung:
        found = replace(found, expected=finding.expected, got=finding.got)  # the search had a shorter timeout
    return replace(found, seed=finding.seed, matches=finding.matches, position=text, played=len(finding.actions))


def _nearest(finding: Finding, case: Reproduction, end: float) -> Finding | None:
    """Return the fault after the minimum number of actions; None if the search does not reach it."""
    game = case.game
    frontier: deque[tuple[State, tuple[str, ...]]] = deque([(case.position, ())])
    seen = {case.position}
    for _ in range(case.states):
        if not frontier or len(frontier[0][1]) >= len(finding.actions) or process_time() > end:
            return None
        state, way = frontier.popleft()
        found = _find_again(finding, state, way, case)
        if found is not None:
            return found
        for action, successor in _steps(game, state):
            if successor not in seen:
                seen.add(successor)
                frontier.append((successor, (*way, game.format_action(state, action))))
    return None


def _steps(game: Game, state: State) -> Iterator[tuple[Action, State]]:
    """Yield the actions of a state with their successors. Actions that raise an exception have no successor and are left out."""
    try:
        legal = () if game.is_terminal(state) else game.actions(state)
    except Exception:
        return
    for action in legal:
        try:
            yield action, game.result(state, action)
        except Exception:  # noqa: S112
            continue


def _find_again(finding: Finding, state: State, way: Sequence[str], case: Reproduction) -> Finding | None:
    """Return the same fault in `state`; None if the checks of this state do not find it."""
    trial = Trial(finding.subject, finding.seed, 0, actions=list(way), position=finding.position)
    try:
        case.examine(trial, state)
    except Violation as violation:
        if violation.finding.rule == finding.rule:
            return violation.finding
        if trial.log.over:
            raise
    return None


def _delete(finding: Finding, case: Reproduction, end: float) -> Finding | None:
    """Leave out halves of the actions, then quarters, and so on, as long as the remaining actions are legal and show
    the fault.
    """
    best: Finding | None = None
    way = list(finding.actions)
    tries = 0
    size = max(1, len(way) // 2)
    while tries < MAX_REPLAYS and process_time() <= end:
        start, before = 0, len(way)
        while start < len(way) and tries < MAX_REPLAYS and process_time() <= end:
            tries += 1
            shorter = [*way[:start], *way[start + size :]]
            state = _replay(case, shorter)
            found = None if state is None else _find_again(finding, state, shorter, case)
            if found is None:
                start += size
            else:
                best, way = found, shorter
        if size == 1 and len(way) == before:
            break
        size = max(1, size // 2)
    return best


def _replay(case: Reproduction, way: Sequence[str]) -> State | None:
    """Return the state after the actions of `way`; None if one of them is not legal."""
    game, state = case.game, case.position
    for text in way:
        legal = {game.format_action(state, action): action for action in game.actions(state)}
        if text not in legal or game.is_terminal(state):
            return None
        state = game.result(state, legal[text])
    return state
