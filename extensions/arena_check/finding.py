"""A broken promise: the position and the actions of play, the expected value and the actual one."""

import re
from dataclasses import dataclass

MAX_LISTED_ACTIONS = 100
"""Maximum number of actions listed in a message."""
LAST_LISTED_ACTIONS = 10
"""If there are more than MAX_LISTED_ACTIONS, a message lists only this many of the last ones."""
NO_RETURN = "does not return"
"""End of the promise of a call that did not return in time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise, with everything needed to reproduce it."""

    subject: str
    """The plugin at fault, such as `nim`, or `blocker on nim`."""
    check: str
    """The check that found it, such as `returns`."""
    what: str
    """The promise."""
    expected: str
    """The expected value."""
    got: str
    """The actual value."""
    seed: int
    """The seed whose first play shows it; the seed of the whole check if no single play shows it."""
    matches: int
    """Number of plays that show it."""
    position: str | None = None
    """Text of the position at the beginning of the play; None if it has none."""
    actions: tuple[str, ...] = ()
    """Texts of the following actions."""
    played: int = 0
    """Number of actions in the play that found it."""

    @property
    def rule(self) -> tuple[str, str]:
        """The promise and the type of the exception, without values. It is equal for two findings of one fault."""
        raised = re.match(r"(\w+)(?=:|\Z| \()", self.got) if self.expected == "no exception" else None
        return _VALUES.sub("", self.what), raised.group() if raised else ""

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
        """Return the actions for a message, with their number in the play that found the fault."""
        listed = ", ".join(self.actions) or "none"
        if len(self.actions) > MAX_LISTED_ACTIONS:
            listed = f"{len(self.actions) - LAST_LISTED_ACTIONS:,} others, {', '.join(self.actions[-LAST_LISTED_ACTIONS:])}"
        return (
            f"{listed} (shortened: {len(self.actions)} instead of {self.played:,})" if self.played > len(self.actions) else listed
        )


_VALUES = re.compile(r"\(.*\)|'.*'|\".*\"|-?\d[\d.,]*")


class Violation(AssertionError):
    """A plugin breaks a promise. `finding` holds the parts of the message."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding

    def __reduce__(self) -> tuple[type["Violation"], tuple[Finding]]:
        return Violation, (self.finding,)


class Abandoned(Exception):
    """A check cannot go on because of a known fault."""
