"""The shortest way to a fault: breadth-first search from the position, and where that is too wide, deleting actions."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from arena.errors import Interrupted
from arena.game import Action, Game, State
from arena.testing.finding import Finding, Violation
from arena.testing.trial import Trial, position_text

STATES = 1_000
"""States that a search looks at before it gives way to deleting."""
REPLAYS = 100
"""Sequences that deleting tries."""

Examine = Callable[[Trial, State], None]
"""Holds one state, and what follows from it at once, to the contract; raises Violation."""


def shortened(finding: Finding, game: Game, position: State, examine: Examine, *, states: int = STATES) -> Finding:
    """The same fault at the end of as few actions as could be found; `finding` itself where none is shorter.

    Where the fault lies within `states` states of the position, no sequence is shorter. Deleting gives a sequence from
    which no single action can be left out, unless it takes too many tries.

    Where a call does not return on the way, it is given up, and so it is where the fault is a match without an end.
    """
    if not finding.actions or finding.check == "termination":
        return finding
    try:
        found = _nearest(finding, game, position, examine, states) or _deleted(finding, game, position, examine)
    except Interrupted:
        raise
    except BaseException:  # a game so broken that it cannot be searched
        return finding
    if found is None or len(found.actions) >= len(finding.actions):
        return finding
    text = finding.position or position_text(game, position)
    if finding.hung:
        found = replace(found, expected=finding.expected, got=finding.got)  # it waited less
    return replace(found, seed=finding.seed, matches=finding.matches, position=text, played=len(finding.actions))


def _nearest(finding: Finding, game: Game, position: State, examine: Examine, states: int) -> Finding | None:
    frontier: deque[tuple[State, tuple[str, ...]]] = deque([(position, ())])
    seen = {position}
    for _ in range(states):
        if not frontier or len(frontier[0][1]) >= len(finding.actions):
            return None
        state, way = frontier.popleft()
        found = _at(finding, state, way, examine)
        if found is not None:
            return found
        for action, successor in _steps(game, state):
            if successor not in seen:
                seen.add(successor)
                frontier.append((successor, (*way, game.format_action(state, action))))
    return None


def _steps(game: Game, state: State) -> Iterator[tuple[Action, State]]:
    """What follows a state, without the actions that raise: what comes behind them cannot be reached."""
    try:
        legal = () if game.is_terminal(state) else game.actions(state)
    except Exception:
        return
    for action in legal:
        try:
            yield action, game.result(state, action)
        except Exception:  # noqa: S112
            continue


def _at(finding: Finding, state: State, way: Sequence[str], examine: Examine) -> Finding | None:
    trial = Trial(finding.subject, finding.seed, 0, actions=list(way), position=finding.position)
    try:
        examine(trial, state)
    except Violation as violation:
        if violation.finding.rule == finding.rule:
            return violation.finding
        if trial.sheet.over:
            raise
    return None


def _deleted(finding: Finding, game: Game, position: State, examine: Examine) -> Finding | None:
    """Leave out halves, then quarters, and so on, of the actions, as long as what is left can be played and shows it."""
    best: Finding | None = None
    way = list(finding.actions)
    tries = 0
    size = max(1, len(way) // 2)
    while tries < REPLAYS:
        start, before = 0, len(way)
        while start < len(way) and tries < REPLAYS:
            tries += 1
            shorter = [*way[:start], *way[start + size :]]
            state = _played(game, position, shorter)
            found = None if state is None else _at(finding, state, shorter, examine)
            if found is None:
                start += size
            else:
                best, way = found, shorter
        if size == 1 and len(way) == before:
            break
        size = max(1, size // 2)
    return best


def _played(game: Game, position: State, way: Sequence[str]) -> State | None:
    """Where the actions of `way` lead; None where one of them is not legal."""
    state = position
    for text in way:
        legal = {game.format_action(state, action): action for action in game.actions(state)}
        if text not in legal or game.is_terminal(state):
            return None
        state = game.result(state, legal[text])
    return state
