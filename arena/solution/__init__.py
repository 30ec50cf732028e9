"""Games small enough to be solved: their sequence form, best responses, and how far a policy is from an equilibrium."""

from arena.solution.best_response import NashGap, best_response, expected_returns, nash_gap, realization
from arena.solution.extensive_form import efg_lines
from arena.solution.sampling import SampledGap, sampled_gap
from arena.solution.sequence_form import GameTooLarge, InformationSet, SequenceForm, sequence_form

__all__ = [
    "GameTooLarge",
    "InformationSet",
    "NashGap",
    "SampledGap",
    "SequenceForm",
    "best_response",
    "efg_lines",
    "expected_returns",
    "nash_gap",
    "realization",
    "sampled_gap",
    "sequence_form",
]
