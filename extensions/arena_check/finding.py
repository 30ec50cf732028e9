"""Findings and violations: what a check reports about a broken promise (a property that was checked)."""

import re
from dataclasses import dataclass

MAX_LISTED_ACTIONS = 100
"""Maximum number of actions listed in a message."""
LAST_LISTED_ACTIONS = 10
"""The number of last actions that a message lists when there are more than MAX_LISTED_ACTIONS."""
NO_RETURN = "does not return"
"""The last words of `what` in a finding about a call that did not return in time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise, with everything needed to reproduce it."""

    subject: str
    """The plugin at fault, such as `nim` or `blocker on nim`."""
    check: str
    """The check that found the fault, such as `returns`."""
    what: str
    """The promise that is broken."""
    expected: str
    """The expected value."""
    got: str
    """The actual value."""
    seed: int
    """The seed whose first play shows the fault or, if no single play shows it, the seed of the whole check."""
    matches: int
    """The number of plays that show the fault."""
    position: str | None = None
    """The text of the position at the beginning of the play; None if the position has no text."""
    actions: tuple[str, ...] = ()
    """The texts of the actions from that position on."""
    played: int = 0
    """The number of actions in the play that found the fault."""

    @property
    def rule(self) -> tuple[str, str]:
        """Return the promise and the type of the exception, without values. Two findings about the same fault have
        equal rules.
        """
        raised = re.match(r"(\w+)(?=:|\Z| \()", self.got) if self.expected == "no exception" else None
        return _VALUES.sub("", self.what[:MAX_RULE_CHARACTERS]), raised.group() if raised else ""

    def __str__(self) -> str:
        lines = [f"{self.subject}: {self.what}"]
        if self.position is not None:
            lines.append(f"  position: {self.position}")
        lines += [
            f"  actions: {self.played_out()}",
            f"  expected: {self.expected}",
            f"  got: {self.got}",
            f"  seed: {self.seed}, matches: {self.matches}",
        ]
        return "\n".join(lines)

    @property
    def hung(self) -> bool:
        """True if a call did not return in time."""
        return self.what.endswith(NO_RETURN)

    def played_out(self) -> str:
        """Return the actions as text for a message, and the number of actions in the play that found the fault."""
        listed = ", ".join(self.actions) or "none"
        if len(self.actions) > MAX_LISTED_ACTIONS:
            listed = f"{len(self.actions) - LAST_LISTED_ACTIONS:,} others, {', '.join(self.actions[-LAST_LISTED_ACTIONS:])}"
        number = len(self.actions)
        shortened = f" ({number} action{'s' * (number != 1)}, shortened from {self.played:,})"
        return f"{listed}{shortened}" if self.played > number else listed


_VALUES = re.compile(r"\(.*\)|'.*'|\".*\"|-?\d[\d.,]*")
MAX_RULE_CHARACTERS = 1000
"""The most characters of a finding in which values are looked for; the time for this grows with the square of the length."""


class Violation(AssertionError):
    """Raised if a plugin breaks a promise. `finding` holds the parts of the message."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding

    def __reduce__(self) -> tuple[type["Violation"], tuple[Finding]]:
        return Violation, (self.finding,)


class Abandoned(Exception):
    """Raised if a check cannot continue because of a known fault."""
