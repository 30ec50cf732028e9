"""How far a policy is from an equilibrium where it is known from samples alone, with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from arena import State
from arena_solution.best_response import Behaviour, best_response, expected_returns, nash_gap, realization
from arena_solution.sequence_form import SequenceForm

ROUNDS = 10
"""Into so many parts samples are divided: each in turn tests what was learnt from the others."""
QUANTILE = 2.262
"""The 97.5 % quantile of Student's t with 9 degrees of freedom."""

Samples = Mapping[tuple[int, State], Sequence[int]]
"""By seat and observation: the places of the actions that were chosen there, one for an agent that always plays the same."""


@dataclass(frozen=True, slots=True)
class SampledGap:
    """The exploitability of a policy that was seen in samples, with a 95 % interval for that of the policy itself.

    `low` is what best responses to nine tenths of the samples win from the other tenth, less its error: nothing wins more on
    average than the best response to the policy itself. `high` is what the best response to all samples wins from them, plus its
    error: it knows the accidents of the draws, so on average that is more than the policy loses. What an agent does too seldom to
    be seen in the samples, neither knows of.
    """

    exploitability: float
    """Of the policy as the samples show it, which on average is too high."""
    value: list[float]
    low: float
    high: float


def sampled_gap(form: SequenceForm, samples: Samples) -> SampledGap:
    """Return the interval; every observation has a multiple of ROUNDS samples, drawn independently, or a single one."""
    counts = _Counts(form, samples)
    seen = nash_gap(form, counts.behaviour(range(ROUNDS)))
    jackknife, tested = [], []
    for left_out in range(ROUNDS):
        learnt = counts.behaviour([part for part in range(ROUNDS) if part != left_out])
        jackknife.append(nash_gap(form, learnt).exploitability)
        tested.append(_won(form, learnt, counts.behaviour([left_out])))
    error = sqrt((ROUNDS - 1) * _variance(jackknife))
    low = fmean(tested) - QUANTILE * sqrt(_variance(tested) / (ROUNDS - 1))
    return SampledGap(
        seen.exploitability, seen.value, max(0.0, min(low, seen.exploitability)), seen.exploitability + QUANTILE * error
    )


def _won(form: SequenceForm, learnt: Behaviour, tested: Behaviour) -> float:
    """Return what a seat wins on average by the best response to one policy against another, compared with keeping to that."""
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
    """How often each action was chosen, by observation and part of the samples."""

    def __init__(self, form: SequenceForm, samples: Samples) -> None:
        self.parts: dict[tuple[int, State], list[list[int]]] = {}
        for seat, sets in enumerate(form.information_sets):
            for here in sets:
                chosen = samples[seat, here.observation]
                parts = [chosen[number::ROUNDS] or chosen for number in range(ROUNDS)]
                self.parts[seat, here.observation] = [[part.count(k) for k in range(len(here.actions))] for part in parts]

    def behaviour(self, parts: Sequence[int]) -> Behaviour:
        """Return the shares of the actions in some parts of the samples."""

        def shares(seat: int, observation: State) -> list[float]:
            counts = [sum(column) for column in zip(*[self.parts[seat, observation][part] for part in parts], strict=True)]
            return [count / sum(counts) for count in counts]

        return shares
