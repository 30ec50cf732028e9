"""Counterfactual regret minimisation with regret matching plus, over the sequence form of a game for two."""

from collections.abc import Sequence
from operator import mul

from arena import Game, tell_progress
from arena.solution import SequenceForm, sequence_form
from arena_agents.solved_game import INSTEAD, Iterations, Solution, SolvedGame, in_proportion

Row = list[tuple[float, int]]
"""Of a sequence: what play that ends right after it gives, and the sequence of the other seat there."""


class CFRPlus(SolvedGame):
    """Plays the average policy of `iterations` of CFR+, which comes near an equilibrium: alternating updates, linear averaging.

    For games of perfect recall whose whole tree has at most a million states. O. Tammelin, Solving Large Imperfect Information
    Games Using CFR+, 2014; M. Zinkevich, M. Johanson, M. Bowling, C. Piccione, Regret Minimization in Games with Incomplete
    Information, 2007.
    """

    name = "cfr-plus"

    def __init__(self, *, iterations: Iterations = 100) -> None:
        self.iterations = iterations

    def solution(self, game: Game) -> Solution:
        """Return the average policy of both seats."""
        form = sequence_form(game, instead=INSTEAD)
        seats = [_Seat(form, seat) for seat in (0, 1)]
        for iteration in range(1, self.iterations + 1):
            if not iteration % 50:
                tell_progress(f"solving {game.name}", iteration, self.iterations)
            for seat, other in ((0, 1), (1, 0)):
                seats[seat].update(iteration, seats[other].plan)
        return {(seat, observation): probabilities for seat in (0, 1) for observation, probabilities in seats[seat].average()}


class _Seat:
    """Regrets, the current policy and the average so far of one seat, by its sequences."""

    def __init__(self, form: SequenceForm, seat: int) -> None:
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
        self.plan = self._planned()

    def _planned(self) -> list[float]:
        """Return by sequence the probability that the seat plays it."""
        plan = list(self.policy)
        plan[0] = 1.0
        for parent, first, last in self.places:
            reach = plan[parent]
            if reach != 1.0:
                for sequence in range(first, last):
                    plan[sequence] *= reach
        return plan

    def update(self, iteration: int, other: Sequence[float]) -> None:
        """Add the current policy to the average, and the regrets against the plan of the other seat; then match them."""
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
        self.plan = self._planned()

    def average(self) -> list[tuple[object, list[float]]]:
        """Return each observation with the average policy there.

        Without hidden information a state may be reached by several sequences, whose averages then count by their weight.
        """
        weights: dict[object, list[float]] = {}
        for here in self.sets:
            found = self.total[here.first : here.last]
            before = weights.get(here.observation)
            weights[here.observation] = found if before is None else [a + b for a, b in zip(before, found, strict=True)]
        return [(observation, in_proportion(found)) for observation, found in weights.items()]
