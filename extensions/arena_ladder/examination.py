"""Checks submissions before they play. Each is checked by a judge: a process that plays it from outside."""

import threading
from contextlib import suppress
from time import monotonic

from arena import ArenaError
from arena.api.cli import say
from arena.api.errors import IsolationError, StoreError, describe
from arena_isolation.child import ChildLost
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.judge import Brief, NotPassed, Passed
from arena_ladder.ledger import Known, Ledger, Submission
from arena_ladder.spec import LadderSpec
from arena_ladder.submission_check import CheckStopped, SubmissionCheck, has_room

MEMORY_MB = 1024
"""Memory limit of a check in MiB, if the spec gives agents no limit."""
LOOK_SECONDS = 0.5
"""Seconds between two polls of the queue."""
ERROR_PAUSE_SECONDS = 2.0
"""Seconds between two attempts if the store cannot be written to."""
OWN_ERROR = "it could not be checked, by an error of arena itself: tell the host"


class JudgeFailed(ArenaError):
    """The judge failed with an error of arena."""


class Examiner:
    """Takes submissions from the queue and checks them, one at a time in each thread."""

    def __init__(self, ladder: LadderSpec, ledger: Ledger, folder: CodeFolder) -> None:
        self._ladder, self._ledger, self._folder = ladder, ledger, folder
        self.stopping = threading.Event()
        self._choosing = threading.Lock()
        self._checks: set[SubmissionCheck] = set()
        """Running checks of all threads."""
        self._next_look = 0.0

    def run(self) -> None:
        """Check until `stopping` is set. This also ends a running check, and the next process repeats it."""
        check: SubmissionCheck | None = None
        while not self.stopping.is_set():
            try:
                check = check or self._next()
                if check is not None:
                    self.examine(check)
                    self._checks.discard(check)
                    check = None
                    continue
            except CheckStopped:
                return
            except StoreError as error:  # a full disk or a locked store: this one is checked again
                say(f"a check waits: {error}")
                self.stopping.wait(ERROR_PAUSE_SECONDS)
            except Exception as error:  # the next ones are checked, whatever error this one caused
                say(f"error: the check of submission {check and check.one.id}: {describe(error)}")
                if check is not None:
                    with suppress(StoreError):
                        self._ledger.refuse(check.one.id, OWN_ERROR, ())
                    self._checks.discard(check)
                check = None
            self.stopping.wait(LOOK_SECONDS)

    def _next(self) -> SubmissionCheck | None:
        """Return the next check to begin; None if the queue is empty or enough checks are running."""
        with self._choosing:
            if monotonic() < self._next_look or not has_room(list(self._checks), _memory(self._ladder)):
                return None
            one = self._ledger.next_to_check()
            if one is None:
                self._next_look = monotonic() + LOOK_SECONDS  # however many threads are idle
                return None
            check = SubmissionCheck(one, self.stopping)
            self._checks.add(check)
            return check

    def examine(self, check: SubmissionCheck) -> None:
        """Check one submission and note the result. Raises CheckStopped and notes nothing if the ladder is closing."""
        one = check.one
        try:
            passed = examine(self._ladder, self._folder, one, check)
        except (NotPassed, BadSubmission) as error:
            findings = error.findings if isinstance(error, NotPassed) else []
            reason, findings = self._folder.as_handed_in(one, [str(error), findings])
            self._ledger.refuse(one.id, reason, findings)
            self._folder.forget(one)
        except IsolationError as error:  # nothing can be checked here, and the author is not to blame
            self._ledger.refuse(one.id, f"it could not be checked, through no fault of yours: {error}", ())
        else:
            findings = self._folder.as_handed_in(one, passed.findings)
            known = None if passed.code is None or passed.claims is None else Known(passed.code, passed.claims)
            self._ledger.accept(one.id, passed.name, passed.agent, findings, self._ladder.submissions.keep, known)


def examine(ladder: LadderSpec, folder: CodeFolder, one: Submission, check: SubmissionCheck | None = None) -> Passed:
    """Let a judge check a submission on the ladder's boards. Raises NotPassed or BadSubmission if it does not pass."""
    check = check or SubmissionCheck(one, threading.Event())
    file, house = folder.lay_out(one), ladder.spec
    brief = Brief(
        house.document, house.plugins, house.shared, str(file), one.kind == "program", one.name, one.file, _memory(ladder)
    )
    try:
        answer = check.ask_judge({"brief": brief.pack()})
    except ChildLost as lost:
        raise NotPassed(f"its check came to no end: the process that judged it is lost ({lost.why})") from lost
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
