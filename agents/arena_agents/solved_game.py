"""Agents that solve the whole game before their first action, and then play the solution from a table."""

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from operator import mul
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Agent, ArenaError, Game, Hints, Search, State, tell_progress
from arena.api.errors import GameTooLarge, abbreviate
from arena.api.games import name_of, settings

if TYPE_CHECKING:
    from arena_solution.sequence_form import SequenceForm


Iterations = Annotated[int, Field(ge=1, le=1_000_000_000)]
Solution = Mapping[tuple[int, State], Sequence[float]]
"""For each seat and observation, the probabilities of the actions, in the order of the actions."""

INSTEAD = "mcts, ismcts and pimc play it without a table"
MAX_KEPT_SOLUTIONS = 16
"""The number of solutions that a process caches."""
_kept: dict[tuple[object, ...], Solution] = {}


class SolvedGame(Agent):
    """Plays actions with the probabilities of a solution, drawn from the random stream of the seat.

    A process computes the solution of a game only once, from the start of the game, when it is first needed. All agents with the
    same options share it, so records do not show which decision had to wait for it. As with tables of heuristics, the states of
    this computation do not count as nodes, and the limits of a decision do not interrupt it.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum", "hidden-information"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)

    @abstractmethod
    def solution(self, game: Game) -> Solution:
        """Return the solution of a game without counting nodes. Raises ArenaError if the game is too large."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action, drawn by the probabilities of the solution."""
        return search.rng.choices(game.actions(state), self.policy(game, state))[0]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of the actions, in their order."""
        found = self._solution(game).get((game.to_move(observation), observation))
        return self.policy_elsewhere(game, observation) if found is None else found

    def policy_elsewhere(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities for an observation that the solution does not have. The default raises ArenaError."""
        raise ArenaError(
            f"{name_of(self)} has solved {name_of(game)} from its initial state, and {abbreviate(observation)} cannot be "
            "reached from "
            "there"
        )

    def _solution(self, game: Game) -> Solution:
        parameters = settings(game)
        key = (type(self), repr(settings(self)), type(game), repr(parameters))
        found = _kept.get(key)
        if found is None:
            if game.perfect_recall is False:
                raise ArenaError(f"{name_of(self)} cannot solve {name_of(game)}, which has imperfect recall: {INSTEAD}")
            while len(_kept) >= MAX_KEPT_SOLUTIONS:
                _kept.pop(next(iter(_kept)), None)
            found = _kept[key] = self.solution(type(game)(**parameters))
        return found


def in_proportion(weights: Sequence[float]) -> list[float]:
    """Return probabilities proportional to the positive weights; equal ones if there are none (regret matching)."""
    positive = [weight if weight > 0.0 else 0.0 for weight in weights]  # noqa: FURB136 - a call of max takes longer
    total = sum(positive)
    if total > 0.0:
        return [weight / total for weight in positive]
    return [1.0 / len(positive)] * len(positive)


Row = list[tuple[float, int]]
"""For one sequence of a seat's actions: each return that the seat gets if play ends after it, with the other seat's sequence."""


class CFRPlus(SolvedGame):
    """Plays the average policy that CFR+ has found after `iterations` iterations; it is close to an equilibrium.

    Also called CFR+ or counterfactual regret minimization. Updates alternate between the seats, and averages have linear weights.

    It needs a game with perfect recall and a tree of at most a million states. O. Tammelin, Solving Large Imperfect Information
    Games Using CFR+, 2014; M. Zinkevich, M. Johanson, M. Bowling, C. Piccione, Regret Minimization in Games with Incomplete
    Information, 2007.
    """

    name = "cfr-plus"

    def __init__(self, *, iterations: Iterations = 100) -> None:
        self.iterations = iterations

    def solution(self, game: Game) -> Solution:
        """Return the average policy of both seats."""
        form: SequenceForm = import_module("arena_solution.sequence_form").sequence_form(game, instead=INSTEAD)
        seats = [_Seat(form, seat) for seat in (0, 1)]
        for iteration in range(1, self.iterations + 1):
            if not iteration % 10:
                tell_progress(f"solving {game.name}", iteration, self.iterations)
            for seat, other in ((0, 1), (1, 0)):
                seats[seat].update(iteration, seats[other].plan)
        return {(seat, observation): probabilities for seat in (0, 1) for observation, probabilities in seats[seat].average()}


class _Seat:
    """The regrets, the current policy and the average policy of one seat, indexed by sequence."""

    def __init__(self, form: "SequenceForm", seat: int) -> None:
        self.sets = form.information_sets[seat]
        self.places = [(here.parent, here.first, here.last) for here in self.sets]
        self.rows: list[Row] = [[] for _ in range(form.sequences[seat])]
        for sequences, returns in form.outcomes.items():
            self.rows[sequences[seat]].append((returns[seat], sequences[1 - seat]))
        self.regrets = [0.0] * form.sequences[seat]
        self.policy = [0.0] * form.sequences[seat]
        for _, first, last in self.places:
            self.policy[first:last] = in_proportion(self.regrets[first:last])
        self.total = [0.0] * form.sequences[seat]
        self.plan = self._find_plan()

    def _find_plan(self) -> list[float]:
        """Return the probability of each sequence under the current policy of the seat."""
        plan = list(self.policy)
        plan[0] = 1.0
        for parent, first, last in self.places:
            reach = plan[parent]
            if reach != 1.0:
                for sequence in range(first, last):
                    plan[sequence] *= reach
        return plan

    def update(self, iteration: int, other: Sequence[float]) -> None:
        """Add the current policy to the average, update the regrets against the other seat's plan, and compute the next one."""
        self.total = [so_far + iteration * reach for so_far, reach in zip(self.total, self.plan, strict=True)]
        worth = [sum([value * other[sequence] for value, sequence in row]) if row else 0.0 for row in self.rows]
        regrets, policy = self.regrets, self.policy
        for parent, first, last in reversed(self.places):
            values = worth[first:last]
            value = sum(map(mul, policy[first:last], values))
            worth[parent] += value
            changed = [regret + gain - value for regret, gain in zip(regrets[first:last], values, strict=True)]
            regrets[first:last] = changed = [regret if regret > 0.0 else 0.0 for regret in changed]  # noqa: FURB136
            policy[first:last] = in_proportion(changed)
        self.plan = self._find_plan()

    def average(self) -> list[tuple[object, list[float]]]:
        """Return each observation with the average policy for it.

        Without hidden information, several sequences may reach a state; their averages are weighted.
        """
        weights: dict[object, list[float]] = {}
        for here in self.sets:
            found = self.total[here.first : here.last]
            before = weights.get(here.observation)
            weights[here.observation] = found if before is None else [a + b for a, b in zip(before, found, strict=True)]
        return [(observation, in_proportion(found)) for observation, found in weights.items()]


MAX_INFORMATION_SETS = 500_000
"""The largest number of information sets. Each takes about 600 bytes."""
MAX_WALK_PLIES = 500
"""The largest number of plies of a game, so that the recursion does not exceed Python's stack."""


class MCCFR(SolvedGame):
    """Plays the average policy that external sampling has found after `iterations` iterations.

    Also called Monte-Carlo counterfactual regret minimization. An iteration has one walk for each seat. A walk follows every
    action of its own seat, and draws the actions of the other seat and of chance. So the tree need not fit into memory, but the
    information sets must; at most half a million are allowed. The draws come from a separate stream, so the policy is the same
    every time. M. Lanctot, K. Waugh, M. Zinkevich, M. Bowling, Monte Carlo Sampling for Regret Minimization in Extensive Games,
    2009.
    """

    name = "mccfr"

    def __init__(self, *, iterations: Iterations = 10_000) -> None:
        self.iterations = iterations

    def solution(self, game: Game) -> Solution:
        """Return the average policy for the observations that walks have visited."""
        sampler = _Sampler(game)
        for iteration in range(1, self.iterations + 1):
            if not iteration % 500:
                tell_progress(f"solving {game.name}", iteration, self.iterations)
            for seat in (0, 1):
                sampler.walk(game.initial(sampler.rng), seat)
        return {key: in_proportion(average) for key, (_, average) in sampler.sets.items()}

    def policy_elsewhere(self, game: Game, observation: State) -> Sequence[float]:
        """Return equal probabilities, because no walk has visited the observation."""
        return in_proportion([0.0] * len(game.actions(observation)))


class _Sampler:
    """The regrets and the summed policies; a key is a seat and an observation."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rng = random.Random(0)
        self.sets: dict[tuple[int, State], tuple[list[float], list[float]]] = {}

    def walk(self, state: State, seat: int, ply: int = 0) -> float:
        """Return a sample of the value of `state` for `seat`, and learn from it."""
        game = self.game
        if game.is_terminal(state):
            return game.returns(state)[seat]
        if ply >= MAX_WALK_PLIES:
            raise GameTooLarge(f"{game.name} lasts more than {MAX_WALK_PLIES} plies, the maximum for mccfr: {INSTEAD}")
        mover = game.to_move(state)
        if mover == CHANCE:
            outcomes = game.chance_outcomes(state)
            return self.walk(game.result(state, self._draw([a for a, _ in outcomes], [p for _, p in outcomes])), seat, ply + 1)
        actions = game.actions(state)
        regrets, average = self._set(state, mover, len(actions))
        policy = in_proportion(regrets)
        if mover != seat:
            for place, probability in enumerate(policy):
                average[place] += probability
            return self.walk(game.result(state, self._draw(actions, policy)), seat, ply + 1)
        values = [self.walk(game.result(state, action), seat, ply + 1) for action in actions]
        value = sum([probability * gain for probability, gain in zip(policy, values, strict=True)])
        for place, gain in enumerate(values):
            regrets[place] += gain - value
        return value

    def _draw(self, items: Sequence[object], probabilities: Sequence[float]) -> object:
        return self.rng.choices(items, probabilities)[0]

    def _set(self, state: State, seat: int, actions: int) -> tuple[list[float], list[float]]:
        key = (seat, self.game.observation(state, seat))
        found = self.sets.get(key)
        if found is None:
            if len(self.sets) >= MAX_INFORMATION_SETS:
                raise GameTooLarge(
                    f"{self.game.name} has more than {MAX_INFORMATION_SETS:,} information sets, the maximum for mccfr: {INSTEAD}"
                )
            found = self.sets[key] = ([0.0] * actions, [0.0] * actions)
        return found
