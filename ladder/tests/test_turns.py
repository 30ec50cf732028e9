"""Attempts at hidden positions, and checks, take turns. The times come from the rules in `docs/explanation/trust.md`."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from arena.errors import ArenaError, SpecError
from arena_ladder import contest
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner
from arena_ladder.host import make_turns
from arena_ladder.spec import load_ladder
from arena_ladder.turns import OVERRUN_SECONDS, Side, Turns
from tests.conftest import VirtualClock
from tests.ladder.hostile.test_late_starts import Bench
from tests.ladder.hostile.test_long_matches import Player, enter, run
from tests.ladder.hosting import SPEC

PUZZLE = """
game: {name: sliding-tiles, rows: 3, columns: 3}
agents: [{agent: bfs, isolation: none}]
isolation: process
limits: {seconds: 2, start_seconds: 15}
positions: {start: 5}
"""


def test_a_ladder_without_hidden_positions_has_no_turns() -> None:
    turns = Turns(None)
    visits = [visit for side in (Side.OPEN, Side.OPEN, Side.HIDDEN) if (visit := turns.enter(side)) is not None]
    assert len(visits) == 3
    visits[0].leave()
    assert not any(visit.is_over() or visit.must_end() for visit in visits)


def test_attempts_and_checks_share_the_time_and_never_run_at_the_same_time(clock: VirtualClock) -> None:
    """An attempt has a limit of 2 s. At the end of a turn for attempts, 7 s pass before the next check begins."""
    turns = Turns(2.0)
    hidden = [Player(turns, Side.HIDDEN, lambda: 0.5), Player(turns, Side.HIDDEN, lambda: 2.0)]
    checks = [Player(turns, Side.OPEN, lambda: 1.0), Player(turns, Side.OPEN, lambda: 7.5)]
    run(clock, hidden + checks, 1000)
    for shares in ([one.used for one in hidden], [one.used for one in checks]):
        assert max(shares) > 200, shares


def test_attempts_wait_for_a_running_check_only_for_a_limited_time(clock: VirtualClock) -> None:
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


def test_a_match_that_begins_late_in_a_turn_ends_soon_after_the_turn(clock: VirtualClock) -> None:
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
    """Each turn starts the processes again. An attempt of 2 s follows a start within the limit of a minute."""
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


def test_neither_attempts_nor_checks_wait_for_the_other_side_if_it_has_no_work(clock: VirtualClock) -> None:
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


def test_a_match_that_began_late_gets_its_whole_time_if_the_turn_becomes_longer(clock: VirtualClock) -> None:
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


def test_a_ladder_pauses_for_the_time_by_which_its_match_exceeded_the_turn(clock: VirtualClock) -> None:
    turns, began = Turns(2.0), clock.now
    match = enter(turns, Side.OPEN)
    clock.now += 10
    while clock.now < began + 50:
        assert turns.enter(Side.HIDDEN) is None
        late = enter(turns, Side.OPEN)
        clock.now += 1
        assert late.leave() < clock.now
    assert match.leave() == began + 90, "it was 40 s late"
    attempt = enter(turns, Side.HIDDEN)
    clock.now += 10
    for _ in range(10):
        assert turns.enter(Side.OPEN) is None
        clock.now += 1
    assert attempt.leave() < clock.now


def test_a_long_match_does_not_exceed_the_turn_if_nothing_waits_for_its_end(clock: VirtualClock) -> None:
    turns = Turns(2.0)
    match = enter(turns, Side.OPEN)
    assert turns.enter(Side.HIDDEN) is None
    clock.now += 300
    assert match.leave() < clock.now


# Contests


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path)) as made:
        yield made


def test_turns_get_longer_if_an_attempt_is_dropped_twice(bench: Bench, clock: VirtualClock) -> None:
    """The agent has a long start. An attempt that is dropped only once may have begun late in its turn."""
    turns = Turns(2.0, 60.0)
    runner = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1, turns)
    runner._side = Side.HIDDEN
    waits = []
    waiting = bench.take_all()[:2]
    for number in (0, 1, 1):
        bench.plans._waiting, bench.plans._untold = waiting, {waiting[number].number: frozenset()}
        assert runner._await_turn(bench.plans)
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
    assert runner._await_turn(bench.plans)
    assert turns.enter(Side.OPEN) is None
    assert waits == [10 + 2 + 3] * 3
    assert turns._hidden_seconds == 20


# Limits


def test_turns_are_as_long_as_the_longest_limits_and_every_match_has_a_limit(tmp_path: Path) -> None:
    """A match without a time limit may never end, so attempts at hidden positions would wait for ever."""
    (tmp_path / "puzzle.yaml").write_text(PUZZLE)
    (tmp_path / "game.yaml").write_text(SPEC)
    puzzle, game = load_ladder(tmp_path / "puzzle.yaml"), load_ladder(tmp_path / "game.yaml")
    turns = make_turns([puzzle])
    assert (turns._attempt_seconds, turns._hidden_seconds, turns._most_hidden_seconds) == (2.1, 10.0, 15.0)
    assert not make_turns([game]).keep_apart
    with pytest.raises(ArenaError, match=r"game: expected `limits: \{seconds: S\}`, because the hidden positions of puzzle"):
        make_turns([puzzle, game])
    (tmp_path / "game.yaml").write_text(f"{SPEC}limits: {{seconds: 5}}\n")
    assert make_turns([puzzle, load_ladder(tmp_path / "game.yaml")]).keep_apart


def test_the_limits_of_the_hosts_agents_do_not_apply_to_submissions(tmp_path: Path) -> None:
    spec = PUZZLE.replace("limits: {seconds: 2, start_seconds: 15}\n", "").replace("bfs,", "bfs, limits: {seconds: 2},")
    (tmp_path / "puzzle.yaml").write_text(spec)
    with pytest.raises(SpecError, match="the search for a solution may never end"):
        load_ladder(tmp_path / "puzzle.yaml")
