"""Waiting for something that happens in another process or thread, or on a page."""

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

DEADLINE_SECONDS = 60.0 * float(os.environ.get("ARENA_TEST_PATIENCE") or 1)
"""How long a test waits for something that must happen. It does not measure speed: a slow machine sets ARENA_TEST_PATIENCE."""
PAUSE_SECONDS = 0.02


def eventually(
    condition: Callable[[], T], told: Callable[[], object] | None = None, *, page: Any = None, pause: float = PAUSE_SECONDS
) -> T:
    """Call `condition` again and again. Return its first true value, or fail after `DEADLINE_SECONDS`.

    The message has what `told` returns or, without it, the last value. With `page`, the browser works on in the pauses.
    """
    __tracebackhide__ = True
    end = time.monotonic() + DEADLINE_SECONDS
    while not (found := condition()):
        if time.monotonic() > end:
            if told is None and page is not None:
                told = page.locator("body").inner_text
            last = f"the last value was {found!r}" if told is None else f"at the end:\n{told()}"
            pytest.fail(f"not within {DEADLINE_SECONDS:g} s (60 times ARENA_TEST_PATIENCE); {last}")
        if page is None:
            time.sleep(pause)
        else:
            page.wait_for_timeout(1000 * pause)
    return found
