"""Monte-Carlo counterfactual regret minimisation by external sampling."""

import random
from collections.abc import Sequence

from arena import CHANCE, Game, State, tell_progress
from arena.solution import GameTooLarge
from arena_agents.solved_game import INSTEAD, Iterations, Solution, SolvedGame, in_proportion

MOST_SETS = 500_000
"""Information sets that are kept; some 600 bytes each."""
LONGEST_PLAY = 500
"""Plies of a game, by which a recursion stays within Python's stack."""


class MCCFR(SolvedGame):
    """Plays the average policy of `iterations` of external sampling, each a walk for either seat.

    A walk follows every action of its own seat, and draws those of the other and of chance, so the tree need not fit into memory;
    its information sets have to, half a million of them. The draws come from a stream of their own: the same policy every time.
    M. Lanctot, K. Waugh, M. Zinkevich, M. Bowling, Monte Carlo Sampling for Regret Minimization in Extensive Games, 2009.
    """

    name = "mccfr"

    def __init__(self, *, iterations: Iterations = 10_000) -> None:
        self.iterations = iterations

    def solution(self, game: Game) -> Solution:
        """Return the average policy where walks have been."""
        sampler = _Sampler(game)
        for iteration in range(1, self.iterations + 1):
            if not iteration % 500:
                tell_progress(f"solving {game.name}", iteration, self.iterations)
            for seat in (0, 1):
                sampler.walk(game.initial(sampler.rng), seat)
        return {key: in_proportion(average) for key, (_, average) in sampler.sets.items()}

    def unmet(self, game: Game, observation: State) -> Sequence[float]:
        """Return the same probability for every action: no walk has been there."""
        return in_proportion([0.0] * len(game.actions(observation)))


class _Sampler:
    """Regrets and summed policies by seat and observation."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rng = random.Random(0)
        self.sets: dict[tuple[int, State], tuple[list[float], list[float]]] = {}

    def walk(self, state: State, seat: int, ply: int = 0) -> float:
        """Return a sample of what `state` is worth to `seat`, and learn from it."""
        game = self.game
        if game.is_terminal(state):
            return game.returns(state)[seat]
        if ply >= LONGEST_PLAY:
            raise GameTooLarge(f"{game.name} lasts more than {LONGEST_PLAY} plies, and mccfr walks no further: {INSTEAD}")
        mover = game.to_move(state)
        if mover == CHANCE:
            outcomes = game.chance_outcomes(state)
            return self.walk(game.result(state, self._drawn([a for a, _ in outcomes], [p for _, p in outcomes])), seat, ply + 1)
        actions = game.actions(state)
        regrets, average = self._set(state, mover, len(actions))
        policy = in_proportion(regrets)
        if mover != seat:
            for place, probability in enumerate(policy):
                average[place] += probability
            return self.walk(game.result(state, self._drawn(actions, policy)), seat, ply + 1)
        values = [self.walk(game.result(state, action), seat, ply + 1) for action in actions]
        value = sum([probability * gain for probability, gain in zip(policy, values, strict=True)])
        for place, gain in enumerate(values):
            regrets[place] += gain - value
        return value

    def _drawn(self, items: Sequence[object], probabilities: Sequence[float]) -> object:
        return self.rng.choices(items, probabilities)[0]

    def _set(self, state: State, seat: int, actions: int) -> tuple[list[float], list[float]]:
        key = (seat, self.game.observation(state, seat))
        found = self.sets.get(key)
        if found is None:
            if len(self.sets) >= MOST_SETS:
                raise GameTooLarge(
                    f"{self.game.name} has more than {MOST_SETS:,} information sets, and mccfr keeps no more: {INSTEAD}"
                )
            found = self.sets[key] = ([0.0] * actions, [0.0] * actions)
        return found
