"""Which method of an author a finding is about, where no exception tells."""

import re
from inspect import getsourcefile, isclass, isfunction
from typing import Any

from arena.errors import is_authors
from arena.plugins.contract import source_line

USUAL = {
    "positions": "initial",
    "states": "initial",
    "notation": "parse_state",
    "termination": "is_terminal",
    "goals": "is_goal",
    "costs": "step_cost",
    "pickling": "__init__",
    "plays": "choose",
    "one node": "choose",
    "repeats": "choose",
    "purity": "choose",
    "threads": "choose",
}
"""The method that is looked at first where a check fails whose words name none."""


def where_of(got: str) -> str | None:
    """The file and line that what came names already; None where it names none."""
    found = re.search(r"[^\s(]+:\d+(?=\)|$)", got)
    return found.group() if found else None


def method_at_fault(value: Any, check: str, what: str) -> str | None:
    """The method that a finding speaks of, as `returns (nim.py:25)`; None where its author has written none of the kind.

    `value` is a class or a function, `check` the name of the check, `what` the words of the finding.
    """
    if not isclass(value):
        return None
    words = [*re.findall(r"\w+", what), USUAL.get(check, ""), "choose", "solve", "__call__"]
    for word in words:
        method = getattr(value, word, None)
        if isfunction(method) and is_authors(getsourcefile(method) or "<string>"):
            return f"{word} ({source_line(method)})"
    return None
