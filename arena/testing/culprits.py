"""The author's method that a finding is about, if no exception names one."""

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
"""The method to look at first for each check, if the words of a finding name none."""


def where_of(got: str) -> str | None:
    """The file and line at the end of a description of an exception; None if there is none."""
    found = re.search(r"[^\s(]+:\d+(?=\)|$)", got)
    return found.group() if found else None


def method_at_fault(value: Any, check: str, what: str) -> str | None:
    """The method that a finding is about, as `returns (nim.py:25)`; None if the author has written no such method.

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
