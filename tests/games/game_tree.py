"""Functions that walk through whole games and puzzles, for values, exploitability, distances, notation and comparisons with
open_spiel.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from arena import CHANCE, Game, Puzzle

Policy = Callable[[Any, Sequence[Any]], Mapping[Any, float]]
"""Returns the probability of each action for an observation and its legal actions."""


def start(game: Game) -> Any:
    return game.initial(random.Random(0))


def uniformly(observation: Any, actions: Sequence[Any]) -> Mapping[Any, float]:
    return dict.fromkeys(actions, 1 / len(actions))


def branches(game: Game, state: Any, policy: Policy) -> Iterator[tuple[float, Any]]:
    """Yield the successors of a state with their probabilities, if chance moves or the seat to move plays a policy."""
    seat = game.to_move(state)
    chances = (
        game.chance_outcomes(state) if seat == CHANCE else policy(game.observation(state, seat), game.actions(state)).items()
    )
    for action, probability in chances:
        yield probability, game.result(state, action)


def value(game: Game, policy: Policy, state: Any) -> float:
    """Return the mean return of seat 0 if all seats play a policy."""
    if game.is_terminal(state):
        return game.returns(state)[0]
    return sum(probability * value(game, policy, successor) for probability, successor in branches(game, state, policy))


def best_response(game: Game, policy: Policy, seat: int, states: list[tuple[float, Any]]) -> float:
    """Return the largest mean return of `seat` against a policy, from weighted states. For all states with the same observation,
    the seat must choose the same action.
    """
    total, asked = 0.0, defaultdict(list)
    while states:
        weight, state = states.pop()
        if game.is_terminal(state):
            total += weight * game.returns(state)[seat]
        elif game.to_move(state) == seat:
            asked[game.observation(state, seat)].append((weight, state))
        else:
            states += [(weight * probability, successor) for probability, successor in branches(game, state, policy)]
    for known in asked.values():
        actions = game.actions(known[0][1])
        values = [
            best_response(game, policy, seat, [(weight, game.result(state, action)) for weight, state in known])
            for action in actions
        ]
        total += max(values)
    return total


def exploitability(game: Game, policy: Policy) -> float:
    """Return the mean of the best responses of both seats against a policy. The returns of the game must add up to 0."""
    return sum(best_response(game, policy, seat, [(1.0, start(game))]) for seat in (0, 1)) / 2


def states_of(game: Game) -> Iterator[Any]:
    """Yield every state of a game; a state that several paths lead to comes several times."""
    waiting = [start(game)]
    while waiting:
        state = waiting.pop()
        yield state
        waiting += [game.result(state, action) for action in game.actions(state)]


def levels(game: Game, most: int) -> Iterator[dict[Any, int]]:
    """Yield the positions after 0, 1, ... plies, including passes, each with the number of ways to it."""
    level: dict[Any, int] = {start(game): 1}
    while level:
        yield level
        if most == 0:
            return
        after: dict[Any, int] = {}
        for state, ways in level.items():
            for action in game.actions(state):
                successor = game.result(state, action)
                after[successor] = after.get(successor, 0) + ways
        level, most = after, most - 1


def distances(puzzle: Puzzle, goal: Any) -> dict[Any, int]:
    """Return the distance of every state to the goal, by breadth-first search from the goal. All actions must be reversible."""
    found, order = {goal: 0}, [goal]
    for state in order:
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in found:
                found[successor] = found[state] + 1
                order.append(successor)
    return found


def random_match(game: Game, seed: int, among: Callable[[Any], Sequence[Any]] | None = None) -> Iterator[tuple[Any, Any]]:
    """Yield the states of a random match, each with its action (None at the end). If `among` is given, actions are drawn only
    from its result.
    """
    rng, state = random.Random(seed), start(game)
    while not game.is_terminal(state):
        action = rng.choice((among or game.actions)(state))
        yield state, action
        state = game.result(state, action)
    yield state, None


def check_state(game: Game, state: Any) -> None:
    """Assert that the notation, the actions, chance and the observations of a state are as the class `Game` promises."""
    assert game.parse_state(game.format_state(state)) == state
    assert hash(state) == hash(game.parse_state(game.format_state(state)))
    actions = list(game.actions(state))
    assert len(set(actions)) == len(actions)
    assert game.is_terminal(state) == (not actions)
    for action in actions:
        assert game.parse_action(state, game.format_action(state, action)) == action
    if not actions:
        assert all(game.min_return <= one <= game.max_return for one in game.returns(state))
        return
    seat = game.to_move(state)
    if seat == CHANCE:
        outcomes = game.chance_outcomes(state)
        assert [outcome for outcome, _ in outcomes] == actions
        assert all(probability > 0 for _, probability in outcomes)
        assert isclose(sum(probability for _, probability in outcomes), 1)
        return
    observation = game.observation(state, seat)
    assert game.parse_state(game.format_state(observation)) == observation
    assert (game.to_move(observation), list(game.actions(observation))) == (seat, actions)


def check_resample(game: Game, state: Any, rng: random.Random) -> None:
    """Assert that a resampled state gives the same observation and the same seat to move, and has no unknown parts."""
    for seat in range(game.players):
        seen = game.observation(state, seat)
        drawn = game.resample(seen, seat, rng)
        assert game.observation(drawn, seat) == seen
        assert game.to_move(drawn) == game.to_move(state)
        assert "?" not in game.format_state(drawn)


def play_beside(
    game: Game,
    spiel: Any,
    mark: Callable[[Any, Any], Sequence[int]],
    seed: int,
    among: Callable[[Any], Sequence[Any]] | None = None,
) -> None:
    """Play the same random match in arena and in open_spiel. Compare the seats to move, legal actions, ends and returns.

    `mark` returns the actions of open_spiel, one after the other, that correspond to an action in arena. `among` returns the
    actions that both have, if these are not all actions.
    """
    theirs = spiel.new_initial_state()
    for state, action in random_match(game, seed, among):
        assert game.is_terminal(state) == theirs.is_terminal()
        if action is None:
            assert list(game.returns(state)) == theirs.returns()
            return
        assert game.to_move(state) == theirs.current_player()
        if game.to_move(state) != CHANCE:
            assert sorted(mark(theirs, one)[0] for one in (among or game.actions)(state)) == theirs.legal_actions()
        for one in mark(theirs, action):
            theirs.apply_action(one)
