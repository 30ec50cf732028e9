"""Results do not depend on the unit of the values: with values in a unit of a power of two, no digit may differ."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from arena.stats import clustered_mean, effective_size, mean_interval_of
from arena.stats.clustered import RoundValues, remove_luck, stratify
from arena.stats.paired import student_interval, student_p_value, test_differences
from arena_compare.domains import Domain, compare_domains, find_error_within
from arena_compare.random_effects import combine, find_spread_p_value, sign_test, signed_ranks

VALUES = [0.5, -1.5, 2.0, 0.25, 3.0, 1.0, -0.125, 0.75]
ERRORS = [0.5, 0.5, 0.25, 1.0, 2.0, 0.5, 0.25, 1.0]
SIZES = [2, 1, 2, 1, 2, 2, 1, 3]
LUCK = [1.0, -1.0, 1.5, -1.0, 2.0, -2.0, 0.5, -1.0] * 3


def stratified(values: Sequence[float]) -> Any:
    """Return the mean over two strata, with its interval."""
    cells = [(value, size) for value, size in zip(values, SIZES, strict=True)]
    found = stratify([dict(enumerate(cells[:4])), dict(enumerate(cells[3:]))])
    return found.with_interval(), [*found.deviations.values()]


def of_rounds(values: Sequence[float]) -> Any:
    """Return the mean of an entry."""
    rounds = RoundValues(0, {})
    for number, value in enumerate(values):
        rounds.add(number // 2, value, (0, 1))
    return rounds.mean()


def over_domains(values: Sequence[float]) -> Any:
    """Return the effects of four domains, of which the last has leads that cancel out, and the error within domains."""
    unit = values[0] * 2
    worth = [dict(enumerate(values[place : place + 4])) for place in range(3)] + [{0: unit, 1: -unit}]
    domains = [Domain(str(number), one, dict.fromkeys(one, 0.0)) for number, one in enumerate(worth)]
    effects = compare_domains(domains, bounded=False)
    named = [(one.mean_one, one.mean_other, one.value, one.error, one.low, one.high, one.deviation) for one in effects]
    error, _ = find_error_within(effects, bounded=False) or (None, None)
    return named, error


def combined(values: Sequence[float]) -> Any:
    """Return the overall effect without its p-values."""
    unit = values[0] * 2
    found = combine(values, [error * unit for error in ERRORS], (0.5 * unit, 20))
    return found.value, found.low, found.high, found.deviation, found.spread, found.within and found.within[0]


SCALED: dict[str, Callable[[Sequence[float]], Any]] = {
    "clustered_mean": lambda values: clustered_mean(values, SIZES),
    "clustered_mean of equal values": lambda values: clustered_mean([values[0]] * 8, [1] * 8, (values[1], values[2])),
    "stratify": stratified,
    "RoundValues": of_rounds,
    "student_interval": student_interval,
    "mean_interval_of": mean_interval_of,
    "mean_interval_of many": lambda values: mean_interval_of([*values] * 60),
    "remove_luck": lambda values: remove_luck([*values] * 3, LUCK, SIZES * 3),
    "remove_luck of large luck": lambda values: remove_luck(
        [*values] * 3, [luck * value for luck, value in zip(LUCK, [*values] * 3, strict=True)], SIZES * 3
    ),
    "combine": combined,
    "compare_domains": over_domains,
}
UNSCALED: dict[str, Callable[[Sequence[float]], Any]] = {
    "student_p_value": student_p_value,
    "test_differences": lambda values: test_differences([*values] * 60),
    "effective_size": lambda values: effective_size([values[:3], values[3:5], values[5:]]),
    "find_spread_p_value": lambda values: find_spread_p_value(values, [error * values[0] * 2 for error in ERRORS]),
    "combine": lambda values: combine(values, [error * values[0] * 2 for error in ERRORS]).p_value,
    "skewness": lambda values: combine(values, [error * values[0] * 2 for error in ERRORS]).skewness,
    "sign_test": sign_test,
    "signed_ranks": signed_ranks,
}
POWERS = [1, 340, 517, 980]


def multiply(value: Any, unit: float) -> Any:
    """Return a result with all its numbers multiplied."""
    if isinstance(value, (list, tuple)):
        return [multiply(one, unit) for one in value]
    return None if value is None else value * unit


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("name", SCALED)
def test_means_and_intervals_have_the_unit_of_the_values(name: str, power: int) -> None:
    """The squares or cubes of most of these values underflow or overflow."""
    found = SCALED[name]([value * 2.0**power for value in VALUES])
    assert multiply(found, 2.0**-power) == multiply(SCALED[name](VALUES), 1.0)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("name", UNSCALED)
def test_p_values_do_not_depend_on_the_unit(name: str, power: int) -> None:
    found = UNSCALED[name]([value * 2.0**power for value in VALUES])
    assert found == UNSCALED[name](VALUES)


@pytest.mark.parametrize("power", [-340, -517, -900])
@pytest.mark.parametrize("name", ["clustered_mean", "stratify", "student_interval", "student_p_value"])
def test_very_small_values_are_not_treated_as_0(name: str, power: int) -> None:
    """Their squares would be 0."""
    call = SCALED.get(name) or UNSCALED[name]
    found = call([value * 2.0**power for value in VALUES])
    assert multiply(found, 1.0 if name in UNSCALED else 2.0**-power) == multiply(call(VALUES), 1.0)
