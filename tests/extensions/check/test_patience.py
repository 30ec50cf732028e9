"""A call that does not return is interrupted in time, and existing alarms are kept."""

import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from arena import Agent, Game, Search, tell_progress
from arena.api.cli import listening
from arena.testing import check_agent, check_game
from arena_check.patience import CallTooLong, Patience, overdue
from arena_games.tic_tac_toe import TicTacToe

SHORT = 0.15

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(method="thread"),  # the usual method sets the timer that these tests look at
]


@pytest.fixture(autouse=True)
def no_alarm_is_left() -> Iterator[None]:
    """Stop all timers and restore the signal handlers after a test."""
    before = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def sleepy() -> None:
    """Sleeps longer than any time limit."""
    time.sleep(1000)


def deep(levels: int) -> None:
    """Loops far down."""
    if levels:
        deep(levels - 1)
    while True:
        pass


@pytest.mark.parametrize("call", [sleepy, lambda: deep(200)])
def test_a_call_is_interrupted_after_its_time_limit(call: Any) -> None:
    """The call may run Python code or a system call, and may be deeply nested."""
    began = time.monotonic()
    with pytest.raises(CallTooLong) as ended, Patience(SHORT):
        call()
    assert time.monotonic() - began >= SHORT
    assert "test_patience.py:" in ended.value.place


@pytest.mark.unit
@pytest.mark.parametrize(
    ("passed", "computed", "looks"),
    [
        (0.25, 0.25, 40),  # alone on a processor
        (0.75, 0.25, 40),  # beside two others
        (0.25, 0.001, 40),  # asleep
        (0.25, 0.75, 40),  # in three threads
    ],
)
def test_a_call_is_not_interrupted_because_the_machine_is_busy(
    monkeypatch: pytest.MonkeyPatch, passed: float, computed: float, looks: int
) -> None:
    """Ten seconds are measured in forty steps of processor time or waiting."""
    times = SimpleNamespace(now=100.0, used=5.0)
    monkeypatch.setattr("arena.clock.source", SimpleNamespace(monotonic=lambda: times.now, process_time=lambda: times.used))
    patience = Patience(10.0)
    patience._base = sys._getframe()
    found = []

    def call() -> None:
        for number in range(1000):
            try:
                patience._look(signal.SIGALRM, sys._getframe())
            except CallTooLong:
                found.append(number)
                return
            times.now += passed
            times.used += computed

    call()
    assert found == [looks]


def test_the_time_limit_applies_to_each_call() -> None:
    """The total time of many calls is not limited, and neither is code of arena and Python."""

    def short() -> None:
        time.sleep(SHORT / 3)

    began = time.monotonic()
    with Patience(SHORT):
        for _ in range(6):
            short()
    assert time.monotonic() - began > 1.9 * SHORT


@pytest.mark.unit
@pytest.mark.parametrize(("told", "most"), [(30, 6 * 30 + 39), (1, 6 * 21 + 40), (None, 40)])
def test_a_call_that_reports_progress_gets_more_time(monkeypatch: pytest.MonkeyPatch, told: int | None, most: int) -> None:
    """Ten seconds are measured in forty steps. A report in the second half of the time gives the call its full time again, at
    most six times, whether it reports every 7.5 seconds or all the time.
    """
    times = SimpleNamespace(now=100.0, used=5.0)
    monkeypatch.setattr("arena.clock.source", SimpleNamespace(monotonic=lambda: times.now, process_time=lambda: times.used))
    heard: list[int] = []
    found: list[int] = []

    def call() -> None:
        for number in range(1000):
            try:
                patience._look(signal.SIGALRM, sys._getframe())
            except CallTooLong:
                found.append(number)
                return
            times.now += 0.25
            times.used += 0.25
            if told and number % told == told - 1:
                tell_progress("solving", number, 1000)

    with listening(lambda what, done, total: heard.append(done)), Patience(10.0) as patience:
        signal.setitimer(signal.ITIMER_REAL, 0)
        patience._base = sys._getframe()
        call()
    assert found == [most]
    assert not told or len(heard) == most // told


def test_except_exception_does_not_catch_the_interruption() -> None:
    """A handler that catches it nevertheless is detected, and its call is reported as late."""

    def careless() -> None:
        while True:
            with suppress(Exception):
                time.sleep(30)

    def swallowing() -> None:
        with suppress(BaseException):
            time.sleep(30)

    with pytest.raises(CallTooLong), Patience(SHORT):
        careless()
    with Patience(SHORT):
        swallowing()
        late = overdue()
        assert late is not None
        assert late.call.endswith("swallowing")
        assert overdue() is None


def test_an_existing_alarm_is_kept() -> None:
    """pytest-timeout uses such an alarm. If it is due during the call, its handler is called, and otherwise it is set again."""
    called: list[float] = []
    before = signal.signal(signal.SIGALRM, lambda *_: called.append(time.monotonic()))
    try:
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with Patience(30):
            while not called:
                time.sleep(0.01)
        assert len(called) == 1
        assert called[0] - began >= 0.1
        signal.setitimer(signal.ITIMER_REAL, 50)
        with Patience(5):
            time.sleep(0.01)
        assert 40 < signal.getitimer(signal.ITIMER_REAL)[0] < 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_nested_time_limits_are_independent() -> None:
    """The inner limit ends the inner call, and the outer call continues."""

    def inner() -> None:
        with Patience(SHORT):
            sleepy()

    with Patience(3 * SHORT):
        with pytest.raises(CallTooLong, match=r"sleepy has not returned within 0\.15 s"):
            inner()
        with pytest.raises(CallTooLong, match=r"sleepy has not returned within 0\.45 s"):
            sleepy()


class Loops(Agent):
    """Loops where the first seat has two marks."""

    name = "loops"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        while state[0].bit_count() == 2:
            with suppress(Exception):
                time.sleep(0.001)
        return game.actions(state)[0]


class Late(Loops):
    """Swallows what ends it, and then answers."""

    name = "late"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        with suppress(BaseException):
            super().choose(game, state, search)
        return game.actions(state)[0]


@pytest.mark.parametrize(("agent", "actions"), [(Loops, 3), (Late, 4)])
def test_an_agent_that_does_not_respond_fails(agent: type[Agent], actions: int) -> None:
    """The message gives the shortest sequence of actions to the state, two marks of the first seat and one of the second, and the
    answer if there is one.
    """
    with pytest.raises(AssertionError, match=rf"{agent.__name__}.choose does not return") as failure:
        check_agent(agent, TicTacToe(), patience=SHORT)
    finding = failure.value.finding  # type: ignore[attr-defined]
    assert len(finding.actions) == actions
    assert (finding.check, finding.expected) == ("plays", "an answer within 0.15 s")


class Stuck(TicTacToe):
    """Loops instead of returning the winner."""

    name = "stuck"

    def returns(self, state: Any) -> Any:
        while True:
            random.Random(1).random()


def test_a_game_that_does_not_respond_fails() -> None:
    """This holds for every method."""
    with pytest.raises(AssertionError, match=r"Stuck\.returns does not return"):
        check_game(Stuck(), patience=SHORT)
