"""Keeps stdout for results: whatever plugins print, in Python or below it, goes to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO


def room(out: IO[str]) -> int | None:
    """The width of the terminal that a result goes to, as COLUMNS or the terminal itself has it; None for a file or a pipe."""
    if not out.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):
        return None


@contextmanager
def results_alone() -> Iterator[IO[str]]:
    """Yield a stream to the real stdout; for the time being everything else that writes to stdout reaches stderr."""
    sys.stdout.flush()
    try:
        kept = os.dup(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # stdout is not a file, as in a test
        real = sys.stdout
        with redirect_stdout(sys.stderr):
            yield real
        return
    number = sys.stdout.fileno()
    results = os.fdopen(kept, "w", encoding=sys.stdout.encoding, errors="backslashreplace")
    try:
        with suppress(OSError):
            os.dup2(sys.stderr.fileno(), number)
        with redirect_stdout(sys.stderr):
            yield results
        results.flush()
    finally:
        os.dup2(kept, number)
        with suppress(OSError):
            results.close()
