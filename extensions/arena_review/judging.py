"""Asks the judges about matches, in this process or in workers, and stores every answer when it arrives."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from math import inf
from typing import Any

from arena import ArenaError, Game
from arena.api.cli import say
from arena.api.errors import describe
from arena.clock import monotonic, perf_counter
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import Helper
from arena_review.api import Verdict
from arena_review.board import JudgedBoard
from arena_review.kept import Judged, Kept
from arena_review.matches import PlayedDecision, PlayedMatch

ANSWER_SECONDS = 3600.0
"""The timeout in seconds for one answer."""
START_SECONDS = 120.0
"""The timeout in seconds for a worker to load its plugins."""
MAX_ANSWER_BYTES = 16 << 20
SAMPLED_DECISIONS = 40
"""The number of decisions in the sample for the forecast of the time."""
SAMPLE_SECONDS = 3.0
"""The longest time for this sample, in seconds."""
WRITE_SECONDS = 1.0
"""The longest time, in seconds, until an answer is written to disk."""
LOOK_SECONDS = 1.0
"""The number of seconds between two checks of a worker. A check takes longer than most answers."""

AnswerKey = tuple[int, int, str]
"""The number of the board, the number of the judge on this board, and the question."""
Ask = Callable[[AnswerKey], Any]


class OutOfTime(Exception):
    """The time limit of the review is reached."""


class Judging:
    """The answers of a review, and the processes that find them."""

    def __init__(self, boards: dict[int, JudgedBoard], kept: Kept, plugins: Sequence[str], only: str | None) -> None:
        self._boards = boards
        self._order = list(boards)
        self._kept = kept
        self._plugins = plugins
        self._only = only
        self._lock = threading.Lock()
        self._keys = {number: board.key() for number, board in boards.items()}
        self._answers: dict[tuple[int, str, int], dict[str, Any]] = {}
        self._asked: dict[tuple[int, str, int, str], Future[Any]] = {}
        self._new: dict[tuple[int, str, int], list[tuple[str, Any, float]]] = defaultdict(list)
        self._written = monotonic()
        self._helpers: list[Helper] = []
        self._local = threading.local()
        self._solving = threading.Lock()
        self._closing = False
        self.found = 0
        """The number of answers that were not known before."""
        self.until = inf
        """The time, by `monotonic`, after which no new question is asked."""
        for number, board in boards.items():
            for judge in board.judges:
                place = number, judge.key, judge.effort
                if place not in self._answers:
                    self._answers[place] = kept.answers(self._keys[number], judge.key, judge.effort)

    # Questions

    def verdict(self, board: int, played: PlayedDecision, ask: Ask) -> Verdict | None:
        """Return the verdict of the strongest judge that has one."""
        for number, judge in enumerate(self._boards[board].judges):
            answers = {question: ask((board, number, question)) for question in judge.questions(played.decision)}
            verdict = judge.verdict(played.decision, answers)
            if verdict is not None:
                return verdict
        return None

    def game_of(self, board: int) -> Game:
        """Return the game of a board."""
        return self._boards[board].game

    def ask(self, key: AnswerKey, find: Ask) -> Any:
        """Return the answer to a question. `find` is called once for each question, even when several threads ask it."""
        board, number, question = key
        judge = self._boards[board].judges[number]
        place = board, judge.key, judge.effort
        with self._lock:
            known = self._answers[place]
            if question in known:
                return known[question]
            future = self._asked.get((*place, question))
            first = future is None
            if future is None:
                future = self._asked[(*place, question)] = Future()
        if not first:
            return future.result()
        began = perf_counter()
        if monotonic() >= self.until:
            with self._lock:
                del self._asked[(*place, question)]
            future.set_exception(OutOfTime())
            raise OutOfTime
        try:
            found = find(key)
        except BaseException as error:
            future.set_exception(error)
            raise
        with self._lock:
            known[question] = found
            del self._asked[(*place, question)]
            self._new[place].append((question, found, perf_counter() - began))
            self.found += 1
            if monotonic() - self._written >= WRITE_SECONDS:
                self._write()
        future.set_result(found)
        return found

    def find_here(self, key: AnswerKey) -> Any:
        """Answer a question in this process."""
        board, number, question = key
        try:
            return self._boards[board].judges[number].answer(question)
        except ArenaError:
            raise
        except Exception as error:
            raise ArenaError(f"{self._boards[board].kinds[number].name}: {describe(error)}, at {question!r}") from error

    def find_in_worker(self, key: AnswerKey) -> Any:
        """Answer a question in the worker of this thread. The worker is started at the first question.

        This process answers the questions about an equilibrium: it solves the game once, and then only looks values up.
        """
        helper: Helper | None = getattr(self._local, "helper", None)
        board, number, question = key
        if self._boards[board].kinds[number].name == "equilibrium":
            with self._solving:
                return self.find_here(key)
        try:
            if helper is None:
                helper = self._start()
            return helper.ask([self._order.index(board), number, question], ANSWER_SECONDS)
        except ChildLost as lost:
            name = self._boards[board].kinds[number].name
            raise ArenaError(f"the worker of the judge {name} ended unexpectedly ({lost.why}), at {question!r}") from lost

    def _start(self) -> Helper:
        helper = self._local.helper = Helper("arena_review.board", self._plugins, longest=MAX_ANSWER_BYTES, look=LOOK_SECONDS)
        with self._lock:
            if self._closing:
                helper.end()
                raise ChildLost("ended")
            self._helpers.append(helper)
        reviews = [self._boards[number].review for number in self._order]
        described = [
            {
                "game": one.setup,
                "nodes": one.nodes,
                "effort": one.effort,
                "overestimate": one.overestimate,
                "moves": one.moves,
                "only": self._only,
            }
            for one in reviews
        ]
        helper.ask(described, START_SECONDS)
        return helper

    # Matches

    def judge_match(self, match: PlayedMatch, find: Ask) -> list[Judged]:
        """Return all decisions of a match with their verdicts. The last decision is judged first, because it is the easiest."""
        found = []
        for played in reversed(match.decisions):
            verdict = self.verdict(match.board, played, lambda key: self.ask(key, find))
            found.append(describe_decision(match, played, verdict))
        return found[::-1]

    def judge_all(self, matches: Sequence[PlayedMatch], workers: int) -> Iterator[tuple[PlayedMatch, list[Judged]]]:
        """Yield each match with its decisions when they have been judged. With one worker, this process judges. After the time
        limit, nothing is yielded.
        """
        if workers == 1:
            with suppress(OutOfTime):
                for match in matches:
                    yield match, self.judge_match(match, self.find_here)
            self.write()
            return
        pool = ThreadPoolExecutor(workers)
        waiting: dict[Future[list[Judged]], PlayedMatch] = {}
        self._closing, self._helpers = False, []
        rest = iter(matches)
        try:
            while True:
                while len(waiting) < 2 * workers and (following := next(rest, None)) is not None:
                    waiting[pool.submit(self.judge_match, following, self.find_in_worker)] = following
                if not waiting:
                    break
                done, _ = wait(waiting, LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    with suppress(OutOfTime):
                        yield waiting[future], future.result()
                    del waiting[future]
        finally:
            with self._lock:
                self._closing = True
                helpers = list(self._helpers)
            for helper in helpers:
                with suppress(OSError):
                    helper.end()
            pool.shutdown(wait=True, cancel_futures=True)
            self.write()

    def measure(self, matches: Sequence[PlayedMatch]) -> tuple[int, float]:
        """Return the number of questions that have not been answered in any review, and the mean time of an answer in seconds.

        The time is measured with a sample of these questions. They are answered in this process, and the answers are stored.
        """
        unknown: dict[tuple[int, str, int, str], AnswerKey] = {}
        decisions: list[tuple[int, PlayedDecision]] = []
        for match in matches:
            board = self._boards[match.board]
            for played in match.decisions:
                judge = board.judges[0]
                place = match.board, judge.key, judge.effort
                new = [question for question in judge.questions(played.decision) if question not in self._answers[place]]
                if new:
                    unknown |= {(*place, question): (match.board, 0, question) for question in new}
                    decisions.append((match.board, played))
        for number in dict.fromkeys([number for number, _ in decisions]):
            if self._boards[number].kinds[0].name == "equilibrium":
                name = self._boards[number].review.setup["name"]
                say(f"{name}: computing an equilibrium of the whole game first, which takes a few minutes if the game is large")
        for board_number, played in decisions[:1]:  # the first decision also loads the agent
            self.verdict(board_number, played, lambda key: self.ask(key, self.find_here))
        began, before, step = perf_counter(), self.found, max(1, len(decisions) // SAMPLED_DECISIONS)
        for board_number, played in decisions[1::step]:
            self.verdict(board_number, played, lambda key: self.ask(key, self.find_here))
            if perf_counter() - began > SAMPLE_SECONDS:
                break
        answered = self.found - before
        self.write()
        return len(unknown), (perf_counter() - began) / answered if answered else 0.0

    def write(self) -> None:
        """Write all answers."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        for (board, key, effort), found in self._new.items():
            self._kept.add_answers(self._keys[board], key, effort, found)
        self._new.clear()
        self._written = monotonic()


def describe_decision(match: PlayedMatch, played: PlayedDecision, verdict: Verdict | None) -> Judged:
    """Return a decision with its verdict. A verdict of None means that no judge could judge the decision."""
    decision = played.decision
    found = verdict or Verdict("", None, None, None, None, None, exact=False)
    return Judged(
        match=match.record.id,
        number=played.number,
        board=match.board,
        round=match.round,
        entry=match.entries[decision.seat],
        seat=decision.seat,
        ply=played.ply,
        choices=played.choices,
        opening=match.opening,
        position=decision.text,
        action=decision.action_text,
        judge=found.judge or None,
        best=found.best,
        best_value=found.best_value,
        value=found.value,
        loss=found.loss,
        grade=found.grade,
        exact=None if verdict is None else found.exact,
        won=match.record.returns[decision.seat],
    )
