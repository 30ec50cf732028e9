"""Runs a suite of checks to its end. The result is a verdict for every promise, or the first violation as an exception."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real

from arena.api.errors import expect, expect_count
from arena_check.finding import Abandoned, Finding, Violation
from arena_check.minimal_actions import Reproduction, shorten
from arena_check.patience import SHORTENING_CALL_SECONDS, Patience
from arena_check.trial import CheckLog

UNREACHED = "not checked: no random game got far enough"
"""The text of a verdict if no random game got far enough to check the promise."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking one promise."""

    check: str
    """The name of the check, such as `returns`."""
    promise: str
    """The promise, or the reason why it could not be checked."""
    violation: Violation | None = None
    """The violation that was found; None if there is none."""
    reached: bool = True
    """False if no random game got far enough to check the promise."""

    note: str | None = None
    """A fact that the author should know, although it does not break the promise."""
    ended: bool = False
    """True if no check follows, because a call has not returned in time or has left a thread running."""

    @property
    def kept(self) -> bool:
        """True if no violation was found."""
        return self.violation is None


@dataclass(frozen=True, slots=True)
class CheckSuite:
    """The checks of one game, agent or heuristic.

    `play` plays `matches` matches, the first with the seed `seed`, and raises Violation for every fault that is not in the log.
    `reproduce` prepares a search for fewer actions that show a fault. `promises` contains the properties to be checked, by
    the names of their checks.
    """

    play: Callable[[int, int, CheckLog], None]
    reproduce: Callable[[Finding], Reproduction]
    promises: Mapping[str, str]
    seed: int
    matches: int
    patience: float

    def __post_init__(self) -> None:
        expect_count("seed", self.seed)
        expect_count("matches", self.matches, 1)
        expect("patience", self.patience, Real, "a number of seconds")

    def passed(self) -> tuple[str, ...]:
        """Play, and return the names of the checks that were made. Raises Violation for the first fault, with as few actions as
        possible.
        """
        log = CheckLog()
        violation = self._first(self.seed, self.matches, log)
        if violation is not None:
            raise self._replayable(violation, log) from violation.__cause__
        return tuple([name for name in self.promises if name in log.passed])

    def verdicts(self) -> Iterator[Verdict]:
        """Play repeatedly, each time continuing past the known faults, and yield a verdict for every promise."""
        log = CheckLog()
        found: dict[str, Violation] = {}
        while (violation := self._first(self.seed, self.matches, log)) is not None and violation.finding.check not in found:
            found[violation.finding.check] = self._replayable(violation, log)
            log.failed.add(violation.finding.check)
            if log.over:
                break
        for name, promise in self.promises.items():
            if name in found or name in log.passed:
                note = None if name in found else log.notes.get(name)
                sample = log.samples.get(name)
                words = promise if sample is None else f"{promise} (checked: {sample})"
                yield Verdict(name, words, found.get(name), note=note, ended=log.over and name in found)
            else:
                yield Verdict(name, UNREACHED, reached=False)

    def _first(self, seed: int, matches: int, log: CheckLog) -> Violation | None:
        try:
            with Patience(self.patience):
                self.play(seed, matches, log)
        except Violation as violation:
            return violation
        except Abandoned:
            pass
        return None

    def _replayable(self, violation: Violation, log: CheckLog) -> Violation:
        """Return the violation with fewer actions, and with a seed and a number of matches that reproduce it."""
        with Patience(min(SHORTENING_CALL_SECONDS, self.patience)):
            finding = shorten(violation.finding, self.reproduce)
        if not log.over:  # if a call does not return, another play would wait for the full timeout again
            again = self._first(finding.seed, 1, CheckLog(failed=set(log.failed)))
            if again is None or again.finding.rule != finding.rule:
                finding = replace(finding, seed=self.seed, matches=self.matches)
        better = Violation(finding)
        better.__cause__ = violation.__cause__
        for note in getattr(violation, "__notes__", ()):
            better.add_note(note)
        return better
