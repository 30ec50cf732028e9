"""Boards of very many queens by numpy, where it is installed: the same answers and the same random numbers."""

import random
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

MANY = 50_000
"""Queens from which numpy is worth its import."""


@cache
def swift() -> bool:
    """Tell whether numpy is there."""
    return find_spec("numpy") is not None


def peaceful(rows: Sequence[int]) -> bool:
    """Tell whether rows, whole numbers, are those of a solution."""
    import numpy as np

    n = len(rows)
    if min(rows) != 1 or max(rows) != n:
        return False
    queens = np.fromiter(rows, np.int64, n)
    columns = np.arange(n)
    lines = (queens, queens + columns, queens - columns + n)
    return all(bool(np.bincount(line).max() == 1) for line in lines)


def any_rows(n: int, rng: random.Random) -> list[int]:
    """Return n rows, as `rng.choices(range(1, n + 1), k=n)` draws them."""
    import numpy as np

    version, state, gauss = rng.getstate()
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    found: list[int] = ((twister.random_sample(n) * n).astype(np.int64) + 1).tolist()
    after: Any = twister.get_state()
    rng.setstate((version, (*map(int, after[1]), int(after[2])), gauss))
    return found
