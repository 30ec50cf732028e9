"""Matches that do not end with the turn of their ladder: they delay no other ladder, and none is replayed again and again."""

from collections.abc import Callable, Iterator
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

import pytest

from arena.api.run import Scheduled
from arena.clock import monotonic
from arena.schedule.schedule import Backlog
from arena_ladder import contest
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner
from arena_ladder.turns import LATE_SECONDS, Side, Turns, Visit
from tests.conftest import VirtualClock
from tests.ladder.hostile.test_late_starts import Bench

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="turns", isolation="any")]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path)) as made:
        yield made


def enter(turns: Turns, side: Side) -> Visit:
    """Begin something, which is allowed now."""
    visit = turns.enter(side)
    assert visit is not None
    return visit


class Player:
    """A season or a check that asks twice a second, and has always something to do. `seconds` draws the length of the next task,
    and a season begins one task after another.
    """

    def __init__(self, turns: Turns, side: Side, seconds: Callable[[], float], *, overrun: float | None = None) -> None:
        self.turns, self.side, self.seconds, self.overrun = turns, side, seconds, overrun
        self.visit: Visit | None = None
        self.left = self.used = self.waited = self.most_waited = 0.0
        self.again: float | None = None
        """The length of the task that was dropped and begins again."""
        self.length = 0.0
        self.done = self.dropped = 0
        self.rests_until = -inf

    def tick(self) -> None:
        """Go on for half a second."""
        if self.visit is None and monotonic() >= self.rests_until:
            self.visit = self.turns.enter(self.side, late=self.again is None)
            if self.visit is not None and self.overrun is not None:
                self.visit.overrun_seconds = self.overrun
        if self.visit is not None and not self.left and not self.visit.is_over():
            self.left = self.length = self.seconds() if self.again is None else self.again
        if self.visit is not None and self.left and self.visit.must_end():
            self.dropped += 1
            if self.side is Side.HIDDEN and self.again is not None:
                self.turns.lengthen()
            self.left, self.again = 0.0, self.length
        if not self.left:
            if self.visit is not None:
                self.rests_until = self.visit.leave()
                self.visit = None
            self.waited += 0.5
            self.most_waited = max(self.waited, self.most_waited)
            return
        self.waited = 0.0
        self.left -= 0.5
        self.used += 0.5
        if not self.left:
            self.done, self.again = self.done + 1, None


def run(clock: VirtualClock, players: list[Player], seconds: float) -> None:
    """Let time pass. The sides are never inside together."""
    end = clock.now + seconds
    while clock.now < end:
        for one in players:
            one.tick()
        assert len({one.side for one in players if one.visit is not None}) < 2
        clock.sleep(0.5)


@pytest.mark.parametrize("length", [5.0, 60.0, 600.0])
def test_a_long_match_does_not_take_time_from_other_ladders(clock: VirtualClock, length: float) -> None:
    """The matches of one ladder always take as long as its limits allow, and those of the others one second."""
    turns = Turns(2.0)
    slow, quick, hidden = (
        Player(turns, side, lambda seconds=seconds: seconds)  # type: ignore[misc]
        for side, seconds in ((Side.OPEN, length), (Side.OPEN, 1.0), (Side.HIDDEN, 1.0))
    )
    run(clock, [slow, quick, hidden], 4000)
    assert slow.done >= 3, "it is played to its end"
    assert not slow.dropped, "an agent that is losing cannot wait for the end of a turn"
    assert quick.most_waited <= 10 + 2 + 5 + LATE_SECONDS + 1, "a turn for attempts, and the time in which late matches end"
    assert hidden.most_waited <= 10 + length + LATE_SECONDS + 1
    assert hidden.used > 4000 / 6, "its ladder rests as long as it has overrun"


def test_a_match_is_dropped_at_most_once(clock: VirtualClock) -> None:
    """The matches of both ladders exceed their turns, so each ladder begins late."""
    turns, lengths = Turns(2.0), iter([35.0, 60.0, 50.0] * 1000)
    both = [Player(turns, Side.OPEN, lambda: next(lengths)) for _ in range(2)]
    hidden = Player(turns, Side.HIDDEN, lambda: 1.0)
    begun: dict[int, tuple[int, int]] = {}
    for _ in range(8000):
        run(clock, [*both, hidden], 0.5)
        for number, one in enumerate(both):
            done, dropped = begun.setdefault(number, (0, 0))
            if one.done > done:
                begun[number] = (one.done, one.dropped)
            assert one.dropped - dropped <= 1, "it was dropped again before it was played"
    assert min(one.done for one in both) > 20
    assert sum(one.dropped for one in both) > 3
    assert hidden.done > 50


def test_a_ladder_begins_no_match_late_until_its_dropped_match_is_played(
    bench: Bench, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So an agent that waits for the end of a turn when it is losing gets each match replayed at most once."""
    turns, taken = Turns(2.0), []
    runner = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1, turns)
    monkeypatch.setattr(runner.stopping, "wait", lambda _seconds: runner.stopping.set())

    class Pool:
        """A worker that has begun a match when its turn ends, unless `ends`."""

        ends = False

        def __init__(self, _spec: Any, _workers: int, take: Any, *, check: Callable[[], None], **_more: Any) -> None:
            self.take, self.check, self.turns = take, check, tuple

        def play(self) -> Iterator[tuple[Scheduled, Any]]:
            (match,) = self.take(1)
            taken.append(match.number)
            if self.ends:
                yield match, bench.runner.play(match)
            match_of_another_ladder.leave()
            for _ in range(60):
                assert turns.enter(Side.HIDDEN) is None
                self.check()
                clock.sleep(0.5)

    def overrun() -> Visit:
        """Let a match of another ladder go on after the end of its turn."""
        visit = enter(turns, Side.OPEN)
        for _ in range(22):
            assert turns.enter(Side.HIDDEN) is None
            clock.sleep(0.5)
        return visit

    monkeypatch.setattr(contest, "WorkerPool", Pool)
    match_of_another_ladder = overrun()
    assert runner._await_turn(bench.plans)
    runner._play_season(bench.season, bench.plans)
    runner._leave_turn()
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    again = contest.SeasonPlans(bench.season, bench.ledger, lambda **_: True, bench.plans._rate, bench.plans._guests)
    match_of_another_ladder = overrun()
    assert not runner._await_turn(again), "its dropped match could be dropped again"
    runner.stopping.clear()
    match_of_another_ladder.leave()
    clock.sleep(1)
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    match_of_another_ladder, Pool.ends = enter(turns, Side.OPEN), True
    assert runner._await_turn(again)
    runner._play_season(bench.season, again)
    runner._leave_turn()
    assert taken[0] == taken[1], "the dropped match comes first"
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    match_of_another_ladder = overrun()
    assert runner._await_turn(again), "it was played"


def test_a_ladder_whose_match_exceeded_its_turn_lets_others_go_first(
    bench: Bench, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(2.0)
    runner = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1, turns)
    monkeypatch.setattr(runner.stopping, "wait", lambda _seconds: runner.stopping.set())
    assert runner._await_turn(bench.plans)
    for _ in range(100):
        assert turns.enter(Side.HIDDEN) is None
        clock.sleep(0.5)
    runner._leave_turn()
    enter(turns, Side.HIDDEN).leave()
    match_of_another_ladder = enter(turns, Side.OPEN)
    for _ in range(100):  # it rests although no attempts are left, so it does not show when they have ended
        assert not runner._await_turn(bench.plans)
        runner.stopping.clear()
        clock.sleep(0.5)
    match_of_another_ladder.leave()
    assert runner._await_turn(bench.plans), "50 s have passed, by which its match has overrun"


def test_an_agent_that_gets_slow_after_quick_matches_delays_the_turn_by_one_match(bench: Bench) -> None:
    """After quick matches, workers ask for hundreds of matches at once. They must not play all of these after the end of the
    turn.
    """
    plans = bench.plans
    plans.most_at_once = 2
    over, backlog = False, Backlog(plans.take, None)
    plans.yields = lambda: over
    first, second = backlog.share(100, 2), backlog.share(100, 2)
    assert (len(first), len(second)) == (1, 1)
    assert not backlog.share(100, 2), "both workers play"
    bench.end(first)
    third = backlog.share(100, 2)
    assert len(third) == 1
    over = True
    bench.end(third)
    assert not backlog.share(100, 2)
    bench.end(second)
    assert not backlog.any_left()
