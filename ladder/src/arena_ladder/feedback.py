"""The nightly review. It looks at the latest version of each agent in play, and finds the decisions since the last review that
cost this agent most.

No match is played during a review, so a review takes no processor time away from a match. Built-in agents judge the decisions, in
processes with the lowest priority. The code of submissions does not run.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.api.cli import say
from arena.api.errors import describe
from arena.api.store import Store
from arena.clock import monotonic, wall_time
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import Helper
from arena_ladder.ledger import Ledger, Night, find_last_run
from arena_ladder.spec import FeedbackKeys, LadderSpec
from arena_ladder.submissions import Submission
from arena_web.match_filter import PLACED

NOW = "feedback now"
"""The setting by which an admin requests a review at once."""
POSITIONS = 3
"""The maximum number of positions in the feedback on a submission."""
MATCHES = (1, 4, 16)
"""The numbers of matches to review for each agent: first 1 match of every agent, then 4, and then 16 if there is time."""
SLICE_SECONDS = 2.0
"""The seconds for one agent before it is the turn of the next one."""
ANSWER_SECONDS = 60.0
"""The timeout for an answer in seconds. A slow search may take longer than SLICE_SECONDS."""
START_SECONDS = 60.0
"""The timeout in seconds for a process to load its plugins."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at the queue of submissions. Their checks come before the review."""
MEMORY_BYTES = 1 << 30
"""The memory limit of a process."""
MAX_ANSWER_BYTES = 1 << 20
HELPER = "arena_ladder.feedback_process"


def find_night(keys: FeedbackKeys, after: float) -> float:
    """Return the first time later than `after` at which a review begins. Both times are in seconds since 1970."""
    moment = datetime.combine(datetime.fromtimestamp(after, keys.at.tzinfo).date(), keys.at)
    return (moment if moment.timestamp() > after else moment + timedelta(days=1)).timestamp()


@dataclass(slots=True)
class Subject:
    """A submission with matches that are reviewed."""

    one: Submission
    matches: Sequence[str]
    """The ids of its matches since the last review, the ones with the lowest returns first."""
    step: int = 0
    """The index in MATCHES of the number of matches that are reviewed now."""


class NightReview:
    """Reviews matches once a day, in the thread of the contest."""

    def __init__(self, ladder: LadderSpec, ledger: Ledger, workers: int, stopping: threading.Event) -> None:
        self._ladder, self._ledger, self._workers, self._stopping = ladder, ledger, workers, stopping
        night = ledger.last_night()
        if night is None and ladder.feedback is not None:
            night = Night(wall_time(), 0)
            ledger.keep_night(night)
        self._next = None if night is None or ladder.feedback is None else find_night(ladder.feedback, night.time)

    def is_due(self) -> bool:
        """Return True if it is time for a review."""
        return self._next is not None and wall_time() >= self._next

    def is_requested(self) -> bool:
        """Return True if it is time for a review, or if an admin has requested one."""
        return self._next is not None and (self.is_due() or self._ledger.setting(NOW) == "yes")

    def run(self) -> None:
        """Review the matches since the last review until all are reviewed or the time is over."""
        keys = self._ladder.feedback
        assert keys is not None
        began = wall_time()
        if self._ledger.setting(NOW) == "yes":
            self._ledger.set(NOW, "no")
        subjects, first = self._list_subjects()
        until = monotonic() + keys.seconds
        threads = [
            threading.Thread(target=self._work, args=(deque(subjects[number :: self._workers]), until), name="feedback")
            for number in range(min(self._workers, len(subjects)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self._stopping.is_set():  # otherwise the next process reviews the same matches
            self._ledger.keep_night(Night(began, first))
            self._next = find_night(keys, began)

    def _list_subjects(self) -> tuple[list[Subject], int]:
        """Return the submissions to review, and the number of the first match that this review does not cover.

        Submissions with the oldest feedback come first.
        """
        latest = {(one.author, one.name): one for one in self._ledger.in_play()}
        before = self._ledger.all_feedback()
        night = self._ledger.last_night()
        assert night is not None
        found: dict[str, list[tuple[float, int, str]]] = {one.label: [] for one in latest.values()}
        first = night.first
        with Store.open(self._ledger.path) as store, store.snapshot():
            last = find_last_run(store)
            boards = () if last is None else last.boards
            question = (
                f"SELECT r.id, p.number, p.board, p.seats, r.returns, r.termination, r.seat {PLACED} "
                "WHERE p.number >= ? AND r.termination != 'void'"
            )
            for key, number, board, seats, *ending in store.query(question, [night.first]):
                first = max(first, number + 1)
                for entry, got in zip(Store.seats_of(seats), Store.results_of(*ending), strict=True):
                    found.get(boards[board].labels[entry], []).append((got, -number, key.hex()))
        subjects = [Subject(one, [key for _, _, key in sorted(found[one.label])]) for one in latest.values() if found[one.label]]
        return sorted(subjects, key=lambda one: before[one.one.id].time if one.one.id in before else 0.0), first

    def _work(self, queue: deque[Subject], until: float) -> None:
        """Review agents in turn, in a process that this thread starts."""
        helper: Helper | None = None
        try:
            while queue and monotonic() < until and not self._stopping.is_set():
                if self._ledger.is_checking():
                    self._stopping.wait(LOOK_SECONDS)
                    continue
                subject = queue.popleft()
                try:
                    if helper is None:
                        helper = Helper(
                            HELPER,
                            [str(self._ledger.path), *self._ladder.spec.plugins],
                            memory=MEMORY_BYTES,
                            longest=MAX_ANSWER_BYTES,
                            check=self._check,
                        )
                        helper.wait_until_ready(min(START_SECONDS, until - monotonic()))
                    if self._review(subject, helper, until):
                        queue.append(subject)
                except ChildLost as lost:  # a search took too much time or memory; go on with the other agents
                    if monotonic() < until and not self._stopping.is_set():
                        say(f"the review of {subject.one.label} ended unexpectedly ({lost.why})")
                    if helper is not None:
                        helper.end()
                    helper = None
        except Stopped:
            pass
        except Exception as error:  # the contest goes on without feedback
            say(f"error: the review of matches failed: {describe(error)}")
        finally:
            if helper is not None:
                helper.end()

    def _review(self, subject: Subject, helper: Helper, until: float) -> bool:
        """Continue the review of an agent for a short time. Return True if it is not complete."""
        matches = subject.matches[: MATCHES[subject.step]]
        request = {"label": subject.one.label, "matches": matches, "most": POSITIONS, "seconds": SLICE_SECONDS}
        answer = helper.ask(request, min(ANSWER_SECONDS, until - monotonic()))
        if answer["judged"]:
            self._ledger.keep_feedback(subject.one.id, len(matches), answer)
        if answer["complete"]:
            subject.step += 1
            return subject.step < len(MATCHES) and len(matches) < len(subject.matches)
        return True

    def _check(self) -> None:
        if self._stopping.is_set():
            raise Stopped


class Stopped(Exception):
    """The ladder is closing."""
