"""All that a check has to say: a verdict for every promise, or the first violation as an exception."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from arena.testing.finding import Abandoned, Finding, Violation
from arena.testing.patience import HASTE, Patience
from arena.testing.trial import CheckLog

Plays = Callable[[int, int, CheckLog], None]
"""Plays with a seed so many matches; raises Violation for what the sheet does not know to fail."""
Shorten = Callable[[Finding], Finding]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one promise."""

    check: str
    """Its name, such as `returns`."""
    promise: str
    """What is promised, or why it could not be looked at."""
    violation: Violation | None = None
    """What speaks against it; None where nothing does."""
    reached: bool = True
    """Whether play came so far that the promise could be looked at."""

    ended: bool = False
    """Whether nothing more was checked after it: a call has not returned, or has left something running."""

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against it."""
        return self.violation is None


def passed(play: Plays, shorten: Shorten, seed: int, matches: int, names: Mapping[str, str], patience: float) -> tuple[str, ...]:
    """Play, and return the names of the checks that were made; Violation, as short as it can be shown, for the first fault."""
    sheet = CheckLog()
    violation = _first(play, seed, matches, sheet, patience)
    if violation is not None:
        raise _replayable(violation, play, shorten, seed, matches, sheet, patience) from violation.__cause__
    return tuple([name for name in names if name in sheet.passed])


def verdicts(
    play: Plays, shorten: Shorten, seed: int, matches: int, names: Mapping[str, str], patience: float
) -> Iterator[Verdict]:
    """Play again and again, each time past the faults that are known, and yield a verdict for every one of `names`."""
    sheet = CheckLog()
    found: dict[str, Violation] = {}
    while (violation := _first(play, seed, matches, sheet, patience)) is not None and violation.finding.check not in found:
        found[violation.finding.check] = _replayable(violation, play, shorten, seed, matches, sheet, patience)
        sheet.failed.add(violation.finding.check)
        if sheet.over:
            break
    for name, promise in names.items():
        if name in found or name in sheet.passed:
            yield Verdict(name, promise, found.get(name), ended=sheet.over and name in found)
        else:
            yield Verdict(name, "not reached", reached=False)


def _first(play: Plays, seed: int, matches: int, sheet: CheckLog, patience: float) -> Violation | None:
    try:
        with Patience(patience):
            play(seed, matches, sheet)
    except Violation as violation:
        return violation
    except Abandoned:
        pass
    return None


def _replayable(
    violation: Violation, play: Plays, shorten: Shorten, seed: int, matches: int, sheet: CheckLog, patience: float
) -> Violation:
    """The violation with few actions, and with a seed and a number of matches that show it again."""
    with Patience(min(HASTE, patience)):
        finding = shorten(violation.finding)
    if not sheet.over:  # nobody wants to wait for it again
        again = _first(play, finding.seed, 1, CheckLog(failed=set(sheet.failed)), patience)
        if again is None or again.finding.rule != finding.rule:
            finding = replace(finding, seed=seed, matches=matches)
    better = Violation(finding)
    better.__cause__ = violation.__cause__
    for note in getattr(violation, "__notes__", ()):
        better.add_note(note)
    return better
