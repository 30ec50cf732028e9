"""Walks over whole games and puzzles: values, exploitability, distances, notation, and random matches beside open_spiel's."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from arena import CHANCE, Game, Puzzle

Policy = Callable[[Any, Sequence[Any]], Mapping[Any, float]]
"""The probabilities of the actions of an observation."""


def start(game: Game) -> Any:
    return game.initial(random.Random(0))


def uniformly(observation: Any, actions: Sequence[Any]) -> Mapping[Any, float]:
    return dict.fromkeys(actions, 1 / len(actions))


def branches(game: Game, state: Any, policy: Policy) -> Iterator[tuple[float, Any]]:
    """The successors of a state with their probabilities, where chance moves or a seat that plays a policy."""
    seat = game.to_move(state)
    chances = (
        game.chance_outcomes(state) if seat == CHANCE else policy(game.observation(state, seat), game.actions(state)).items()
    )
    for action, probability in chances:
        yield probability, game.result(state, action)


def value(game: Game, policy: Policy, state: Any) -> float:
    """What seat 0 gets on average where all play a policy."""
    if game.is_terminal(state):
        return game.returns(state)[0]
    return sum(probability * value(game, policy, successor) for probability, successor in branches(game, state, policy))


def best_response(game: Game, policy: Policy, seat: int, states: list[tuple[float, Any]]) -> float:
    """What `seat` gets at most against a policy, from states with their weights: an action for each observation at once."""
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
    """The mean of what both seats get at most against a policy, in a game in which the returns add up to 0."""
    return sum(best_response(game, policy, seat, [(1.0, start(game))]) for seat in (0, 1)) / 2


def states_of(game: Game) -> Iterator[Any]:
    """Every state of a game."""
    waiting = [start(game)]
    while waiting:
        state = waiting.pop()
        yield state
        waiting += [game.result(state, action) for action in game.actions(state)]


def levels(game: Game, most: int) -> Iterator[dict[Any, int]]:
    """The positions after 0, 1, ... plies, passes included, each with the number of ways to it."""
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
    """Breadth-first search from the goal of a puzzle whose actions can be undone, so that it is the distance to the goal too."""
    found, order = {goal: 0}, [goal]
    for state in order:
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in found:
                found[successor] = found[state] + 1
                order.append(successor)
    return found


def random_match(game: Game, seed: int, among: Callable[[Any], Sequence[Any]] | None = None) -> Iterator[tuple[Any, Any]]:
    """The states of a match of random actions, all legal ones or those `among` some; each with what follows, None at the end."""
    rng, state = random.Random(seed), start(game)
    while not game.is_terminal(state):
        action = rng.choice((among or game.actions)(state))
        yield state, action
        state = game.result(state, action)
    yield state, None


def check_state(game: Game, state: Any) -> None:
    """Notation, chance and observations keep their promises in a state: what a reader of the class would take for granted."""
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
    """A drawn state looks the same to the seat, knows everything, and goes on as the rules say."""
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
    """Play a random match in step with open_spiel's: who moves, the legal actions, the end, and the returns.

    `mark` gives the actions of open_spiel, one after the other, that an action of ours stands for in one of its states; `among`
    the actions that both have, where it is not all of them.
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
