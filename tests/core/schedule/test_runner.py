"""The matches that a runner starts, from the schedule and the limits of the spec."""

from contextlib import closing

import pytest

from arena.match.match import Match
from arena.match.record import Record
from arena.match.referee import play_match
from arena.schedule import runner
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec


def test_a_shorter_time_limit_for_starting_agents_changes_no_match_id(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[dict[str, float]] = []

    def play(match: Match, *others: object) -> Record:
        limits.append({seat.label: seat.limits.start_seconds for seat in match.seats})
        return play_match(match, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "play_match", play)
    spec = load_spec({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"], "limits": {"start_seconds": 5}})
    (scheduled, *_) = Schedule(spec).take(1)
    ids = set()
    with closing(MatchRunner(spec)) as stage:
        for start in ({}, {"random": 1.5}, {"random": 7.0, "greedy": 0.5}):
            stage.start_seconds = start
            ids.add(stage.play(scheduled).id)
    assert limits == [{"random": 5, "greedy": 5}, {"random": 1.5, "greedy": 5}, {"random": 5, "greedy": 0.5}]
    assert len(ids) == 1
