"""Expected returns, best responses and the distance from an equilibrium, exactly, over the sequence form of a game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena import State
from arena_solution.sequence_form import SequenceForm

Plan = Sequence[float]
"""By sequence: the probability with which a seat plays it where all others play along (a realization plan)."""
Behaviour = Callable[[int, State], Sequence[float]]
"""(seat, observation) -> the probabilities of the actions, in their order."""


@dataclass(frozen=True, slots=True)
class NashGap:
    """How much the seats of a policy could win by leaving it, each alone."""

    exploitability: float
    """What a seat wins on average by its best response: NashConv divided by the number of seats; 0 in an equilibrium."""
    value: list[float]
    """To each seat where all keep to the policy."""
    best: list[float]
    """To each seat where it alone plays its best response."""


def realization(form: SequenceForm, seat: int, behaviour: Behaviour) -> list[float]:
    """Return the realization plan of a seat that behaves so."""
    plan = [1.0] * form.sequences[seat]
    for here in form.information_sets[seat]:
        reach = plan[here.parent]
        plan[here.first : here.last] = [reach * probability for probability in behaviour(seat, here.observation)]
    return plan


def expected_returns(form: SequenceForm, plans: Sequence[Plan]) -> list[float]:
    """Return what each seat gets on average where the seats play these plans."""
    total = [0.0] * len(plans)
    for sequences, returns in form.outcomes.items():
        weight = 1.0
        for plan, sequence in zip(plans, sequences, strict=True):
            weight *= plan[sequence]
        if weight:
            total = [so_far + weight * value for so_far, value in zip(total, returns, strict=True)]
    return total


def best_response(form: SequenceForm, seat: int, plans: Sequence[Plan]) -> tuple[float, list[float]]:
    """Return the most that a seat can get against the plans of the others, and a plan for it, of equal actions the first."""
    worth = _worth(form, seat, plans)
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


def _worth(form: SequenceForm, seat: int, plans: Sequence[Plan]) -> list[float]:
    """Return by own sequence: what the ends right after it give the seat, weighted by how the others play."""
    worth = [0.0] * form.sequences[seat]
    others = [(place, plan) for place, plan in enumerate(plans) if place != seat]
    for sequences, returns in form.outcomes.items():
        weight = returns[seat]
        for place, plan in others:
            weight *= plan[sequences[place]]
        worth[sequences[seat]] += weight
    return worth


def nash_gap(form: SequenceForm, behaviour: Behaviour) -> NashGap:
    """Return how far the policy of all seats is from an equilibrium."""
    seats = range(len(form.sequences))
    plans = [realization(form, seat, behaviour) for seat in seats]
    value = expected_returns(form, plans)
    best = [best_response(form, seat, plans)[0] for seat in seats]
    gap = sum([most - now for most, now in zip(best, value, strict=True)])
    return NashGap(max(0.0, gap / len(best)), value, best)  # below 0 by rounding alone
