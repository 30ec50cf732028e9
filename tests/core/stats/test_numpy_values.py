"""Statistics of numpy arrays equal those of lists, and are numbers of Python."""

from collections.abc import Callable, Iterator
from dataclasses import astuple, is_dataclass
from typing import Any

import numpy as np
import pytest

from arena.stats import EloEstimate, clustered_mean, effective_size, flip_signs, holm, holm_chances, likeliest, mean_interval_of
from arena.stats.clustered import remove_luck
from arena.stats.likelihood import mean_interval
from arena.stats.paired import student_interval, student_p_value, test_differences
from arena_compare.random_effects import combine, find_spread_p_value, sign_test, signed_ranks

EFFECTS = [0.5, -1.5, 2.0, 0.25, 3.0, 1.0]  # all are exact in 32 bits
ERRORS = [0.5, 0.5, 0.25, 1.0, 2.0, 0.5]
EQUAL = [0.25] * 6
WHOLE = [3, -1, 2, 4, 2, 1]
COUNTS = [3, 4, 5, 6, 7]
SIZES = [2, 1, 2, 1, 2, 2]
VALUES = [0.0, 0.5, 1.0, 1.5, 2.0]

CALLS: dict[str, tuple[Callable[..., Any], tuple[list[Any], ...]]] = {
    "sign_test": (sign_test, (EFFECTS,)),
    "sign_test of whole numbers": (sign_test, (WHOLE,)),
    "signed_ranks": (signed_ranks, (EFFECTS,)),
    "combine": (combine, (EFFECTS, ERRORS)),
    "combine equal effects": (combine, (EQUAL, ERRORS)),
    "find_spread_p_value": (find_spread_p_value, (EFFECTS, ERRORS)),
    "flip_signs": (flip_signs, (EFFECTS,)),
    "test_differences": (test_differences, (EFFECTS,)),
    "student_p_value": (student_p_value, (EFFECTS,)),
    "student_interval": (student_interval, (EFFECTS,)),
    "mean_interval_of": (mean_interval_of, (EFFECTS,)),
    "mean_interval_of with sizes": (lambda values, sizes: mean_interval_of(values, sizes=sizes), (EFFECTS, SIZES)),
    "holm": (holm, ([0.0078125, 0.015625, 0.5],)),
    "holm_chances": (holm_chances, ([0.0078125, 0.015625, 0.5],)),
    "clustered_mean": (clustered_mean, (EFFECTS, SIZES)),
    "effective_size": (lambda one, other: effective_size([one, other]), (EFFECTS, ERRORS)),
    "remove_luck": (remove_luck, (EFFECTS * 4, [1.0, -1.0, 1.0, -1.0, 2.0, -2.0] * 4, SIZES * 4)),
    "likeliest": (lambda counts, values: likeliest(counts, values, 1.0), (COUNTS, VALUES)),
    "mean_interval": (mean_interval, (COUNTS, VALUES)),
    "of_games": (lambda counts: EloEstimate.of_games(*counts), (COUNTS[:3],)),
    "of_pairs": (EloEstimate.of_pairs, (COUNTS,)),
    "of_results": (lambda *rows: EloEstimate.of_results(zip(*rows, strict=True)), ([0.25, 0.5, 1.0], [2, 2, 2], [3, 1, 2])),
}


def flatten(value: Any) -> Iterator[Any]:
    """Yield the single values of a result."""
    nested = astuple(value) if is_dataclass(value) and not isinstance(value, type) else value
    if isinstance(nested, (list, tuple)):
        for one in nested:
            yield from flatten(one)
    else:
        yield nested


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", CALLS)
def test_arrays_and_lists_give_the_same_statistics(name: str, bits: int) -> None:
    call, arguments = CALLS[name]
    arrays = [np.array(one, dtype=f"{'i' if type(one[0]) is int else 'f'}{bits // 8}") for one in arguments]
    wanted = list(flatten(call(*arguments)))
    for given in (arrays, [list(one) for one in arrays]):
        found = list(flatten(call(*given)))
        assert found == wanted
        assert {type(one) for one in found} <= {int, float, str, bool, type(None)}


def test_the_sign_test_of_an_array_has_its_exact_p_value() -> None:
    """Five effects of one sign: two of the 2 ** 5 combinations of signs are as extreme."""
    effects: Any = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert sign_test(effects) == pytest.approx(2 / 32)
