"""Checks submissions before they play.

The check is done by a judge, a separate process that plays matches with the submission.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from math import inf

from arena import ArenaError, __version__
from arena.api.cli import say
from arena.api.errors import IsolationError, StoreError, describe
from arena.clock import monotonic
from arena_isolation.child import ChildLost
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.judge import Brief, NotPassed, Passed
from arena_ladder.ledger import Ledger
from arena_ladder.spec import LadderSpec
from arena_ladder.submission_check import (
    CHECK_SHARE,
    IDLE_SECONDS,
    CheckDropped,
    CheckStopped,
    JudgeProcesses,
    SubmissionCheck,
    has_room,
)
from arena_ladder.submissions import DAY_SECONDS, Known, Room, Submission
from arena_ladder.turns import OVERRUN_SECONDS, Side, Turns

MEMORY_MB = 1024
"""The memory limit of a check in MiB, if the spec does not limit agents."""
LOOK_SECONDS = 0.5
"""Seconds between two polls of the queue."""
ERROR_PAUSE_SECONDS = 2.0
"""Seconds between two attempts if the store cannot be written to."""
OWN_ERROR = "it could not be checked because of an internal error: inform the host"


class JudgeFailed(ArenaError):
    """The judge failed because of an error in arena."""


class Examiner:
    """Takes submissions from the queue and checks them, one at a time in each thread. After each check it calls `decided`."""

    def __init__(
        self,
        ladder: LadderSpec,
        ledger: Ledger,
        folder: CodeFolder,
        decided: Callable[[], None] = lambda: None,
        turns: Turns | None = None,
        workers: float = inf,
    ) -> None:
        self._ladder, self._ledger, self._folder, self._decided = ladder, ledger, folder, decided
        self.turns = turns or Turns(None)
        """No check begins while hidden positions are attempted."""
        self.stopping = threading.Event()
        self._judges = JudgeProcesses(self.stopping)
        self._choosing = threading.Lock()
        self._checks: set[SubmissionCheck] = set()
        """The running checks of all threads."""
        self._dropped: list[str] = []
        """The submissions whose check was dropped and that are not yet in the queue again."""
        self._drops: Counter[str] = Counter()
        """The number of times that the check of a submission was dropped, although it was not late."""
        self._workers = workers
        """The number of matches that are played beside the checks on this machine; infinite if none is played here."""
        self._rests_until = -inf
        """The time until which no check begins, because the checks have used more than their share."""
        self._took: deque[tuple[float, str, float]] = deque()
        """The ends of the checks of the last 24 hours, with their authors and seconds."""
        self._next_look = 0.0
        self._waiting = threading.Event()
        """Set when a submission has arrived, so that the idle threads look at the queue at once."""

    def wake(self) -> None:
        """Look at the queue at once, because there is a new submission."""
        self._next_look = 0.0
        self._waiting.set()

    def run(self) -> None:
        """Check submissions until `stopping` is set, which also stops a running check. The next process of the ladder repeats
        that check.
        """
        try:
            self._check_all()
        finally:
            self._judges.end()

    def _check_all(self) -> None:
        check: SubmissionCheck | None = None
        while not self.stopping.is_set():
            try:
                check = check or self._next()
                if check is not None:
                    self.examine(check)
                    self._leave(check)
                    del self._drops[check.one.id]
                    check = None
                    self._decided()
                    continue
            except CheckStopped:
                return
            except CheckDropped:
                assert check is not None
                self._drops[check.one.id] += not check.late
                self._dropped.append(check.one.id)
                self._leave(check)
                check = None
            except StoreError as error:  # the disk is full or the store is locked: this submission is checked again
                say(f"a check waits: {error}")
                self.stopping.wait(ERROR_PAUSE_SECONDS)
            except Exception as error:  # the next submissions are checked, even if this one has caused an error
                say(f"error: the check of submission {check and check.one.id} failed: {describe(error)}")
                if check is not None:
                    with suppress(StoreError):
                        self._ledger.refuse(check.one.id, OWN_ERROR, ())
                    self._leave(check)
                check = None
            self._waiting.wait(LOOK_SECONDS)
            self._waiting.clear()

    def _next(self) -> SubmissionCheck | None:
        """Return the next check to begin; None if the queue is empty, enough checks are running, or attempts have their turn."""
        with self._choosing:
            if monotonic() < max(self._next_look, self._rests_until):
                return None
            if not has_room(list(self._checks), _memory(self._ladder), self._workers):
                return None
            for key in self._dropped[:]:
                self._ledger.put_back(key)
                self._dropped.remove(key)
            visit = self.turns.enter(Side.OPEN) if self._ledger.has_check() else None
            if visit is not None:
                one = self._ledger.next_to_check(self._seconds())
                if one is not None:
                    visit.overrun_seconds = OVERRUN_SECONDS * 2 ** self._drops[one.id]
                    check = SubmissionCheck(one, self._judges, visit)
                    self._checks.add(check)
                    return check
                visit.leave()
            self._next_look = monotonic() + LOOK_SECONDS  # all idle threads wait until this time
        self._judges.end(IDLE_SECONDS)
        return None

    def _seconds(self) -> Mapping[str, float]:
        """Return the seconds that the checks of each author have taken in the last 24 hours, as long as this process runs."""
        while self._took and self._took[0][0] < monotonic() - DAY_SECONDS:
            self._took.popleft()
        found: dict[str, float] = {}
        for _, author, seconds in self._took:
            found[author] = found.get(author, 0.0) + seconds
        return found

    def _leave(self, check: SubmissionCheck) -> None:
        with self._choosing:
            now = monotonic()
            self._took.append((now, check.one.author, now - check.began))
            seconds = check.processor_seconds / (CHECK_SHARE * self._workers)
            self._rests_until = max(self._rests_until, check.began) + seconds
            self._checks.discard(check)
        check.leave()

    def examine(self, check: SubmissionCheck) -> None:
        """Check one submission and note the result. If the ladder is closing, raises CheckStopped and notes nothing."""
        one = check.one
        try:
            try:
                passed = examine(self._ladder, self._folder, one, check)
            finally:
                if self._ladder.solvers is not None:
                    self._folder.keep_check_log(one)
        except (NotPassed, BadSubmission) as error:
            findings = error.findings if isinstance(error, NotPassed) else []
            reason, findings = self._folder.as_handed_in(one, [str(error), findings])
            self._ledger.refuse(one.id, reason, findings)
            self._folder.forget(one)
        except IsolationError as error:  # checks are not possible on this machine; this is not a fault of the author
            self._ledger.refuse(one.id, f"it could not be checked, for a reason that is not your fault: {error}", ())
        else:
            findings = self._folder.as_handed_in(one, passed.findings)
            known = None if passed.code is None or passed.claims is None else Known(passed.code, passed.claims)
            rules, room = self._ladder.submissions, self._ladder.room
            self._ledger.accept(one.id, passed.name, passed.agent, findings, rules.keep, known, room=Room(room, rules.agents))


def examine(ladder: LadderSpec, folder: CodeFolder, one: Submission, check: SubmissionCheck | None = None) -> Passed:
    """Let a judge check a submission on the boards of the ladder. Raises NotPassed or BadSubmission if it does not pass."""
    if check is None:
        judges = JudgeProcesses(threading.Event())
        try:
            return examine(ladder, folder, one, SubmissionCheck(one, judges))
        finally:
            judges.end()
    if ladder.solvers is not None:  # the log must not have the output of earlier matches
        folder.forget_log(one)
    file, house = folder.lay_out(one), ladder.spec
    brief = Brief(
        house.document,
        house.plugins,
        house.shared,
        str(file),
        one.kind == "program",
        one.name,
        one.file,
        _memory(ladder),
        ladder.submissions.packages,
    )
    known = [__version__, {**house.document.values}, brief.plugins, brief.shared, brief.memory_mb, brief.packages, brief.name]
    rules = sha256(repr(known).encode("utf-8", "backslashreplace")).hexdigest()  # with others, a check begins again
    brief = replace(brief, passed=folder.ledger.passed_steps(one.id, rules))
    try:
        answer = check.ask_judge({"brief": brief.pack()}, lambda step: folder.ledger.keep_step(one.id, rules, step))
    except ChildLost as lost:
        raise NotPassed(f"its check did not finish: the process that ran it ended unexpectedly ({lost.why})") from lost
    kind = answer.pop("type")
    if kind == "refused":
        raise NotPassed(**answer)
    if kind == "isolation":
        raise IsolationError(answer["reason"])
    if kind == "failed":
        raise JudgeFailed(answer["reason"])
    return Passed(**answer)


def _memory(ladder: LadderSpec) -> int:
    return ladder.spec.boards[0].seats[0].limits.memory_mb or MEMORY_MB
