"""What a check found: the promise that is broken, where the play stood, what was expected and what came."""

import re
from dataclasses import dataclass

SHOWN = 100
"""Actions that a message lists at most."""
LAST = 10
"""Actions that a message lists where there are more: the last, and how many came before."""
NO_RETURN = "does not return"
"""How a finding ends that is about a call without an end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise, with all that is needed to see it again."""

    subject: str
    """Who is at fault, such as `nim`, or `blocker on nim`."""
    check: str
    """The check that found it, such as `returns`."""
    what: str
    """The promise."""
    expected: str
    """What should have come."""
    got: str
    """What came."""
    seed: int
    """The seed whose first play shows it, or of the check where it takes more plays than one."""
    matches: int
    """How many plays it takes."""
    position: str | None = None
    """The text of the position where the play began, None where it has none."""
    actions: tuple[str, ...] = ()
    """The texts of the actions from there."""
    played: int = 0
    """How many actions there were before they were shortened."""

    @property
    def rule(self) -> tuple[str, str]:
        """The promise without the values at hand, so that two findings of one fault can be recognised."""
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
        """Whether it is about a call that did not return."""
        return self.what.endswith(NO_RETURN)

    def played_out(self) -> str:
        """The actions for a reader, and how many there were before they were shortened."""
        listed = ", ".join(self.actions) or "none"
        if len(self.actions) > SHOWN:
            listed = f"{len(self.actions) - LAST:,} others, {', '.join(self.actions[-LAST:])}"
        return (
            f"{listed} (shortened: {len(self.actions)} instead of {self.played:,})" if self.played > len(self.actions) else listed
        )


_VALUES = re.compile(r"\(.*\)|'.*'|\".*\"|-?\d[\d.,]*")


class Violation(AssertionError):
    """A plugin does not do what it declares; `finding` says it part by part."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding

    def __reduce__(self) -> tuple[type["Violation"], tuple[Finding]]:
        return Violation, (self.finding,)


class Abandoned(Exception):
    """A play cannot go on, because of a fault that has been found before."""
