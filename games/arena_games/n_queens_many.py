"""Boards of very many queens: rows drawn greedily, and what numpy does faster with the same answers and random numbers."""

import random
from array import array
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

MANY = 50_000
"""Queens from which numpy is worth its import."""
TRIES_PER_QUEEN = 3.08


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


def greedy_rows(n: int, rng: random.Random) -> list[int]:
    """Return rows that are all different, drawn so that few queens attack each other.

    Column by column a row that is still free is drawn, and taken if no queen before attacks it, in 3.08 n tries in all; the
    columns that are left get the remaining rows by lot. R. Sosic, J. Gu, Efficient Local Search with Conflict Minimization,
    IEEE Transactions on Knowledge and Data Engineering 6, 1994 (QS4, initial search).
    """
    rows, draw = array("i", range(1, n + 1)), rng.random
    rising, falling = bytearray(2 * n + 1), bytearray(2 * n + 1)
    column = 0
    for _ in range(int(TRIES_PER_QUEEN * n)):
        if column == n:
            break
        other = column + int(draw() * (n - column))
        row = rows[other]
        if not (rising[row + column] or falling[row - column + n]):
            rising[row + column] = falling[row - column + n] = 1
            rows[other], rows[column] = rows[column], row
            column += 1
    for place in range(column, n):
        other = place + int(draw() * (n - place))
        rows[other], rows[place] = rows[place], rows[other]
    return rows.tolist()
