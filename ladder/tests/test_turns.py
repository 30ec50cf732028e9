"""Attempts at hidden positions, and checks, take turns. The times come from the rules in `docs/explanation/trust.md`."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from arena.api.run import Scheduled
from arena.errors import ArenaError, SpecError
from arena_ladder import contest
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner
from arena_ladder.host import make_turns
from arena_ladder.spec import load_ladder
from arena_ladder.turns import LATE_SECONDS, OVERRUN_SECONDS, Side, Turns, Visit
from tests.conftest import VirtualClock
from tests.ladder.hostile.test_late_starts import Bench
from tests.ladder.hosting import SPEC

PUZZLE = """
game: {name: sliding-tiles, rows: 3, columns: 3}
agents: [{agent: bfs, isolation: none}]
isolation: process
limits: {seconds: 2, start_seconds: 15}
positions: {start: 5}
"""


def test_a_ladder_without_hidden_positions_keeps_nothing_apart() -> None:
    turns = Turns(None)
    visits = [visit for side in (Side.OPEN, Side.OPEN, Side.HIDDEN) if (visit := turns.enter(side)) is not None]
    assert len(visits) == 3
    visits[0].leave()
    assert not any(visit.is_over() or visit.must_end() for visit in visits)


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

    def tick(self) -> None:
        """Go on for half a second."""
        if self.visit is None:
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
                self.visit.leave()
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


def test_the_sides_share_the_time_and_are_never_inside_together(clock: VirtualClock) -> None:
    """An attempt has a limit of 2 s. At the end of a turn for attempts, 7 s pass before the next check begins."""
    turns = Turns(2.0)
    hidden = [Player(turns, Side.HIDDEN, lambda: 0.5), Player(turns, Side.HIDDEN, lambda: 2.0)]
    checks = [Player(turns, Side.OPEN, lambda: 1.0), Player(turns, Side.OPEN, lambda: 7.5)]
    run(clock, hidden + checks, 1000)
    for shares in ([one.used for one in hidden], [one.used for one in checks]):
        assert max(shares) > 200, shares


@pytest.mark.parametrize("length", [5.0, 60.0, 600.0])
def test_a_long_match_delays_no_other_ladder_of_its_side(clock: VirtualClock, length: float) -> None:
    """The matches of one ladder always take as long as its limits allow, and those of the others one second."""
    turns = Turns(2.0)
    slow, quick, hidden = (
        Player(turns, side, lambda seconds=seconds: seconds)  # type: ignore[misc]
        for side, seconds in ((Side.OPEN, length), (Side.OPEN, 1.0), (Side.HIDDEN, 1.0))
    )
    run(clock, [slow, quick, hidden], 4000)
    assert slow.done > 3, "it is played to its end"
    assert not slow.dropped, "an agent that is losing cannot wait for the end of a turn"
    assert quick.most_waited <= 10 + 2 + 5 + LATE_SECONDS + 1, "a turn for attempts, and the time in which late matches end"
    assert hidden.most_waited <= 10 + length + LATE_SECONDS + 1
    assert hidden.done > 10


def test_a_match_is_dropped_at_most_once(clock: VirtualClock) -> None:
    """The matches of both ladders overrun, so each ladder begins late beside the other one."""
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


def test_attempts_wait_for_a_check_until_its_time_after_the_turn_is_over(clock: VirtualClock) -> None:
    turns = Turns(2.0)
    check = enter(turns, Side.OPEN)
    check.overrun_seconds = OVERRUN_SECONDS
    clock.now += 100
    found = []
    for _ in range(100):
        assert turns.enter(Side.HIDDEN) is None
        found.append(check.must_end())
        clock.now += 0.5
    assert found == [False] * 60 + [True] * 40
    check.leave()
    assert turns.enter(Side.HIDDEN)


def test_what_begins_late_ends_soon_after_what_it_began_beside(clock: VirtualClock) -> None:
    turns = Turns(2.0)
    match = enter(turns, Side.OPEN)
    assert turns.enter(Side.HIDDEN) is None
    clock.now += 10
    assert turns.enter(Side.HIDDEN) is None
    assert match.is_over()
    assert turns.enter(Side.OPEN, late=False) is None
    late = enter(turns, Side.OPEN)
    assert (late.is_over(), late.must_end()) == (False, False)
    match.leave()
    found = []
    for _ in range(30):
        assert turns.enter(Side.OPEN) is None, "nothing begins beside it"
        assert turns.enter(Side.HIDDEN) is None
        found.append((late.is_over(), late.must_end()))
        clock.now += 0.5
    assert found == [(True, False)] * 20 + [(True, True)] * 10
    late.leave()
    assert turns.enter(Side.HIDDEN)


def test_attempts_that_do_not_end_in_time_are_dropped_before_a_check_begins(clock: VirtualClock) -> None:
    turns = Turns(2.0)
    attempt = enter(turns, Side.HIDDEN)
    found = []
    for _ in range(40):
        assert turns.enter(Side.OPEN) is None, "a process of the attempt may still run"
        found.append((attempt.is_over(), attempt.must_end()))
        clock.now += 0.5
    assert found == [(False, False)] * 20 + [(True, False)] * 10 + [(True, True)] * 10
    attempt.leave()
    assert turns.enter(Side.OPEN)


@pytest.mark.parametrize(("start", "longest"), [(2.0, 10), (12.5, 10), (14.5, 20), (60.0, 60)])
def test_an_agent_with_a_long_start_attempts_its_positions(clock: VirtualClock, start: float, longest: float) -> None:
    """Each turn starts the processes again. An attempt of 2 s follows on a start within the limit of a minute."""
    turns = Turns(2.0, 60.0)
    attempts, checks = Player(turns, Side.HIDDEN, lambda: start + 2), Player(turns, Side.OPEN, lambda: 1.0)
    run(clock, [attempts, checks], 2000)
    assert attempts.done >= 10
    assert attempts.dropped <= attempts.done + 4, "once each, and each time that turns get longer"
    assert checks.most_waited <= longest + 2 + 5 + 0.5


def test_the_beginning_of_a_check_does_not_show_how_long_attempts_take(clock: VirtualClock) -> None:
    took = []
    for seconds in (0.5, 5.0, 12.0, 16.5):
        turns, began = Turns(2.0), clock.now
        attempt = enter(turns, Side.HIDDEN)
        while turns.enter(Side.OPEN) is None:
            clock.now += 0.5
            if clock.now == began + seconds:
                attempt.leave()
        took.append(clock.now - began)
    assert took == [17.0] * 4


def test_nobody_waits_for_a_side_that_is_idle_or_no_longer_asks(clock: VirtualClock) -> None:
    turns = Turns(60.0)
    enter(turns, Side.HIDDEN).leave()
    enter(turns, Side.OPEN).leave()  # the contest is idle
    assert turns.enter(Side.HIDDEN) is None, "the next check may begin"
    clock.now += 1
    attempt = enter(turns, Side.HIDDEN)  # no check has begun
    assert turns.enter(Side.OPEN) is None
    clock.now += 61
    assert not attempt.is_over(), "the submission was withdrawn"
    assert turns.enter(Side.HIDDEN)


def test_what_began_late_is_not_late_in_a_longer_turn(clock: VirtualClock) -> None:
    """The attempts are withdrawn, so the turn goes on. At its end, a match in progress gets all its time."""
    turns = Turns(2.0)
    match = enter(turns, Side.OPEN)
    for _ in range(5):
        assert turns.enter(Side.HIDDEN) is None
        clock.now += 3
    late = enter(turns, Side.OPEN)
    assert late.late
    match.leave()
    clock.now += 60
    assert not late.is_over()
    for _ in range(30):
        assert turns.enter(Side.HIDDEN) is None
        assert (late.is_over(), late.must_end()) == (True, False)
        clock.now += 3


# Contests


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path)) as made:
        yield made


def test_a_contest_begins_nothing_late_until_its_dropped_match_is_played(
    bench: Bench, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that waits for the end of a turn when it is losing gets each match replayed at most once."""
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
    assert runner._await_turn()
    runner._play_season(bench.season, bench.plans)
    runner._leave_turn()
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    again = contest.SeasonPlans(bench.season, bench.ledger, lambda **_: True, bench.plans._rate, bench.plans._guests)
    match_of_another_ladder = overrun()
    assert not runner._await_turn(), "its dropped match could be dropped again"
    runner.stopping.clear()
    match_of_another_ladder.leave()
    clock.sleep(1)
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    match_of_another_ladder, Pool.ends = enter(turns, Side.OPEN), True
    assert runner._await_turn()
    runner._play_season(bench.season, again)
    runner._leave_turn()
    assert taken[0] == taken[1], "the dropped match comes first"
    enter(turns, Side.HIDDEN).leave()
    clock.sleep(30)
    match_of_another_ladder = overrun()
    assert runner._await_turn(), "it was played"


def test_turns_get_longer_if_an_attempt_is_dropped_twice(bench: Bench, clock: VirtualClock) -> None:
    """Its agent has a long start. Attempts that are dropped once may have begun at the end of a turn."""
    turns = Turns(2.0, 60.0)
    runner = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1, turns)
    runner._side = Side.HIDDEN
    waits = []
    for number in (1, 2, 2):
        bench.plans._untold = {number: frozenset()}
        assert runner._await_turn()
        began = clock.now
        with suppress(contest.Closing):
            while turns.enter(Side.OPEN) is None:
                runner._check(bench.plans)
                clock.sleep(0.5)
        waits.append(clock.now - began)
        runner._leave_turn()
        clock.sleep(10)
        enter(turns, Side.OPEN).leave()
        clock.sleep(10)
    assert runner._await_turn()
    assert turns.enter(Side.OPEN) is None
    assert waits == [10 + 2 + 3] * 3
    assert turns._hidden_seconds == 20


# Limits


def test_turns_last_as_long_as_the_longest_limits_and_every_match_has_one(tmp_path: Path) -> None:
    """A match without a time limit may never end, so attempts at hidden positions would wait for ever."""
    (tmp_path / "puzzle.yaml").write_text(PUZZLE)
    (tmp_path / "game.yaml").write_text(SPEC)
    puzzle, game = load_ladder(tmp_path / "puzzle.yaml"), load_ladder(tmp_path / "game.yaml")
    turns = make_turns([puzzle])
    assert (turns._attempt_seconds, turns._hidden_seconds, turns._most_hidden_seconds) == (2.1, 10.0, 15.0)
    assert not make_turns([game]).keep_apart
    with pytest.raises(ArenaError, match=r"game: expected `limits: \{seconds: S\}` beside puzzle"):
        make_turns([puzzle, game])
    (tmp_path / "game.yaml").write_text(f"{SPEC}limits: {{seconds: 5}}\n")
    assert make_turns([puzzle, load_ladder(tmp_path / "game.yaml")]).keep_apart


def test_the_limits_of_house_agents_are_not_those_of_submissions(tmp_path: Path) -> None:
    spec = PUZZLE.replace("limits: {seconds: 2, start_seconds: 15}\n", "").replace("bfs,", "bfs, limits: {seconds: 2},")
    (tmp_path / "puzzle.yaml").write_text(spec)
    with pytest.raises(SpecError, match="the search for a solution may never end"):
        load_ladder(tmp_path / "puzzle.yaml")
