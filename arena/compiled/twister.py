"""Hands the state of Python's generator to compiled code and takes it back, so that the next number is the same."""

import random
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arena.counting import GoPlain
from arena.identity import Stream

WORDS = 625
"""The length of the state: 624 words, and the place of the next."""


@contextmanager
def numbers_of(rng: random.Random, words: Any) -> Iterator[None]:
    """Put the state of a generator into an array for a while. One that was not drawn from meanwhile is left as it was."""
    version, state, gauss = random.Random(rng.first_seed).getstate() if isinstance(rng, Stream) else rng.getstate()
    given = array("q", state)
    words[:] = given
    try:
        yield
    except GoPlain:  # what was drawn does not count
        words[:] = given
        raise
    finally:
        now = tuple(words)
        if now != state:
            rng.setstate((version, now, gauss))
