"""Finds the decisions that cost an agent most in its latest matches, within a time limit, for authors on a ladder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena import Record, Registry
from arena.api.results import BoardInfo
from arena.api.run import Scheduled
from arena.api.store import Store
from arena.clock import monotonic
from arena_review.board import JudgedBoard, find_player_nodes, open_board
from arena_review.judging import describe_decision
from arena_review.kept import Judged, PlaceKey
from arena_review.matches import PlayedDecision, PlayedMatch, read_matches
from arena_review.summary import CostlyPosition, costly_positions, find_alike
from arena_web.api import CostlyDecision, Findings

EFFORT = 10
"""A judge may use this many times the nodes that the agent had for a decision. This is also the default of `arena review`."""
SECONDS_FOR_COMPILING = 20.0
"""When the reviews have taken this many seconds in total, the searches are compiled. This takes about 10 s, but only once."""


class LatestReviewer:
    """Judges decisions with the judges of `arena review`. It keeps their answers in memory and does not write them to a file."""

    def __init__(self, store: Path, registry: Registry, plugins: Sequence[str]) -> None:
        self._store, self._registry, self._plugins = store, registry, plugins
        self._boards: dict[tuple[int, int], JudgedBoard | None] = {}
        """The judges; the keys are the number of a board and the nodes of the players. A value is None if no judge fits the game.
        """
        self._answers: dict[tuple[int, int, int, str], Any] = {}
        self._spent = 0.0
        """The number of seconds spent so far."""
        self._compiled: set[tuple[int, int]] = set()

    def find_costly(self, label: str, matches: Sequence[str], most: int, seconds: float) -> Findings:
        """Return the `most` costliest decisions of an entry in the matches with these ids. Stop soon after `seconds`, but not
        before at least one new question has been answered.

        Decisions near the end of a match come first, because they take the least time and their judgements are the surest.
        """
        began = monotonic()
        with Store.open(self._store) as store, store.snapshot():
            run = store.last()
            boards, folder = run.boards, run.document.folder
            found = [store.record(match) for match in matches]
        records = [(record, place) for record, place in found if place is not None and record.termination != "void"]
        queue: list[tuple[int, PlayedMatch, PlayedDecision]] = []
        keys: dict[int, tuple[int, int]] = {}
        for number in {place.board for _, place in records}:
            own = [(record, place) for record, place in records if place.board == number]
            keys[number] = self._open(number, boards[number], folder, own, label)
            judged_board = self._boards[keys[number]]
            if judged_board is not None:
                for match in read_matches(own, boards, {number: judged_board.game}, label):
                    if isinstance(match, PlayedMatch):
                        queue += [(len(match.decisions) - place, match, one) for place, one in enumerate(match.decisions)]
        queue.sort(key=lambda entry: entry[0])
        judged: list[Judged] = []
        until, before = monotonic() + seconds, len(self._answers)
        complete = True
        for _, match, played in queue:
            if len(self._answers) > before and monotonic() >= until:
                complete = False
                break
            judged.append(self._judge(keys[match.board], match, played))
        self._spent += monotonic() - began
        alike: dict[PlaceKey, str] = {}
        for number, key in keys.items():
            if (opened := self._boards[key]) is not None:
                alike |= find_alike(opened.game, [one for one in judged if one.board == number])
        told = [_describe(one) for one in costly_positions(judged, alike)[:most]]
        graded = sum(one.grade is not None for one in judged)
        return {"decisions": len(queue), "judged": graded, "costly": told, "complete": complete}

    def _open(
        self, number: int, sheet: BoardInfo, folder: Path, records: Sequence[tuple[Record, Scheduled]], label: str
    ) -> tuple[int, int]:
        """Open the judges of a board, and return their key. Their budget depends on the nodes that the agent itself used."""
        here = [record for record, _ in records]
        key = number, find_player_nodes(sheet, here, label)
        if key not in self._boards:
            board = open_board(sheet, folder, self._plugins, key[1], EFFORT, None, self._registry, here)
            self._boards[key] = None if board is None or board.why_none() is not None else board
        board = self._boards[key]
        if board is not None and key not in self._compiled and self._spent > SECONDS_FOR_COMPILING:
            board.compile(lambda _: None)
            self._compiled.add(key)
        return key

    def _judge(self, key: tuple[int, int], match: PlayedMatch, played: PlayedDecision) -> Judged:
        """Return a decision with the verdict of the strongest judge that has one."""
        board = self._boards[key]
        assert board is not None
        for number, judge in enumerate(board.judges):
            answers = {}
            for question in judge.questions(played.decision):
                known = (key[0], number, judge.effort, question)
                if known not in self._answers:
                    self._answers[known] = judge.answer(question)
                answers[question] = self._answers[known]
            verdict = judge.verdict(played.decision, answers)
            if verdict is not None:
                return describe_decision(match, played, verdict)
        return describe_decision(match, played, None)


def _describe(one: CostlyPosition) -> CostlyDecision:
    return {
        "position": one.position,
        "action": one.action,
        "best": one.best,
        "grade": one.grade,
        "lost": one.total,
        "times": one.times,
        "match": one.match,
        "number": one.number,
    }
