"""Expected returns, best responses and the distance from an equilibrium, computed from the sequence form of a game.

They are exact if the probabilities of a policy are known. If only samples of a policy are known, `sampled_gap` estimates the
distance of the policy from an equilibrium, with an interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from arena import State
from arena_solution.sequence_form import SequenceForm

Plan = Sequence[float]
"""A realization plan: for each sequence, the probability that the seat plays it, provided that the other seats and chance allow
it.
"""
Behaviour = Callable[[int, State], Sequence[float]]
"""A function that returns the probability of each action, given a seat and its observation."""
ROUNDS = 10
"""The number of folds in the cross-validation: each fold in turn tests a response that was learnt from the other folds."""
QUANTILE = 2.262
"""The 97.5 % quantile of Student's t-distribution with 9 degrees of freedom."""

Samples = Mapping[tuple[int, State], Sequence[int]]
"""The indices of the chosen actions by seat and observation; a single index if the agent always plays the same action."""


@dataclass(frozen=True, slots=True)
class NashGap:
    """The gain that each seat would have if it alone changed to its best policy."""

    exploitability: float
    """The mean win of a seat by its best response, which is NashConv divided by the number of seats. It is 0 in an
    equilibrium.
    """
    value: list[float]
    """The return of each seat if all seats follow the policy."""
    best: list[float]
    """The return of each seat if this seat alone plays its best response."""


def realization(form: SequenceForm, seat: int, behaviour: Behaviour) -> list[float]:
    """Return the realization plan of a seat for its behaviour."""
    plan = [1.0] * form.sequences[seat]
    for here in form.information_sets[seat]:
        reach = plan[here.parent]
        plan[here.first : here.last] = [reach * probability for probability in behaviour(seat, here.observation)]
    return plan


def expected_returns(form: SequenceForm, plans: Sequence[Plan]) -> list[float]:
    """Return the expected return of each seat under these plans."""
    total = [0.0] * len(plans)
    for sequences, returns in form.outcomes.items():
        weight = 1.0
        for plan, sequence in zip(plans, sequences, strict=True):
            weight *= plan[sequence]
        if weight:
            total = [so_far + weight * value for so_far, value in zip(total, returns, strict=True)]
    return total


def best_response(form: SequenceForm, seat: int, plans: Sequence[Plan]) -> tuple[float, list[float]]:
    """Return the highest return of a seat against the plans of the others, and a plan that reaches it.

    If several actions are equally good, the plan takes the first one.
    """
    # For each sequence of the seat: the sum of the seat's returns at the ends of the game in which this was its whole sequence,
    # weighted by the plans of the other seats.
    worth = [0.0] * form.sequences[seat]
    others = [(place, plan) for place, plan in enumerate(plans) if place != seat]
    for sequences, returns in form.outcomes.items():
        weight = returns[seat]
        for place, other in others:
            weight *= other[sequences[place]]
        worth[sequences[seat]] += weight
    chosen: list[int] = []
    for here in reversed(form.information_sets[seat]):
        best = max(range(here.first, here.last), key=worth.__getitem__)
        chosen.append(best)
        worth[here.parent] += worth[best]
    plan = [0.0] * form.sequences[seat]
    plan[0] = 1.0
    for here, best in zip(form.information_sets[seat], reversed(chosen), strict=True):
        plan[best] = plan[here.parent]
    return worth[0], plan


def nash_gap(form: SequenceForm, behaviour: Behaviour) -> NashGap:
    """Return the distance of the policy of all seats from an equilibrium."""
    seats = range(len(form.sequences))
    plans = [realization(form, seat, behaviour) for seat in seats]
    value = expected_returns(form, plans)
    best = [best_response(form, seat, plans)[0] for seat in seats]
    gap = sum([most - now for most, now in zip(best, value, strict=True)])
    return NashGap(max(0.0, gap / len(best)), value, best)  # rounding can give less than 0


@dataclass(frozen=True, slots=True)
class SampledGap:
    """The exploitability of a policy, estimated from samples, with a 95 % interval.

    `low` comes from cross-validation. Best responses are learnt from nine tenths of the samples and play against the remaining
    tenth; `low` is their mean win minus its error. It is a lower bound, because no response wins more on average than the best
    response to the policy itself. `high` is the win of the best response to all samples against the same samples, plus its error.
    It is an upper bound, because this response also exploits coincidences in the samples. Both bounds ignore actions that are too
    rare to occur in the samples.
    """

    exploitability: float
    """The mean win of best responses in the cross-validation; never below 0. On average it is slightly too low, except near an
    equilibrium, where it is slightly too high. The win of the best response to all samples would be far too high.
    """
    value: list[float]
    low: float
    high: float


def sampled_gap(form: SequenceForm, samples: Samples) -> SampledGap:
    """Return the estimate with its interval. Every observation needs either a single sample or a number of independent samples
    that is a multiple of ROUNDS.
    """
    counts = _Counts(form, samples)
    seen = nash_gap(form, counts.behaviour(range(ROUNDS)))
    jackknife, tested = [], []
    for left_out in range(ROUNDS):
        learnt = counts.behaviour([part for part in range(ROUNDS) if part != left_out])
        jackknife.append(nash_gap(form, learnt).exploitability)
        tested.append(_won(form, learnt, counts.behaviour([left_out])))
    error = sqrt((ROUNDS - 1) * _variance(jackknife))
    low = fmean(tested) - QUANTILE * sqrt(_variance(tested) / (ROUNDS - 1))
    middle = max(0.0, fmean(tested))
    high = max(middle, seen.exploitability) + QUANTILE * error
    return SampledGap(middle, seen.value, max(0.0, min(low, middle)), high)


def _won(form: SequenceForm, learnt: Behaviour, tested: Behaviour) -> float:
    """Return the mean gain of a seat if it plays the best response to `learnt` while all others play `tested`."""
    seats = range(len(form.sequences))
    known = [realization(form, seat, learnt) for seat in seats]
    plans = [realization(form, seat, tested) for seat in seats]
    value = expected_returns(form, plans)
    won = 0.0
    for seat in seats:
        _, best = best_response(form, seat, known)
        won += expected_returns(form, [*plans[:seat], best, *plans[seat + 1 :]])[seat] - value[seat]
    return won / len(seats)


def _variance(values: Sequence[float]) -> float:
    mean = fmean(values)
    return fmean([(value - mean) ** 2 for value in values])


class _Counts:
    """The number of times that each action was chosen, by observation and fold of the samples."""

    def __init__(self, form: SequenceForm, samples: Samples) -> None:
        self.parts: dict[tuple[int, State], list[list[int]]] = {}
        for seat, sets in enumerate(form.information_sets):
            for here in sets:
                chosen = samples[seat, here.observation]
                parts = [chosen[number::ROUNDS] or chosen for number in range(ROUNDS)]
                self.parts[seat, here.observation] = [[part.count(k) for k in range(len(here.actions))] for part in parts]

    def behaviour(self, parts: Sequence[int]) -> Behaviour:
        """Return the shares of the actions in some of the folds."""

        def shares(seat: int, observation: State) -> list[float]:
            counts = [sum(column) for column in zip(*[self.parts[seat, observation][part] for part in parts], strict=True)]
            return [count / sum(counts) for count in counts]

        return shares
