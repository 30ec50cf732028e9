"""A notice is shown if a person waits for an agent that does not finish."""

import threading
from dataclasses import replace

import pytest

from arena.spec import load_spec
from arena_play import slow_decision
from arena_play.slow_decision import SlowDecision
from tests.eventually import eventually

[SEAT, _] = load_spec({"game": "tic-tac-toe", "agents": ["minimax", "random"]}).boards[0].seats


@pytest.mark.process
def test_a_long_search_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the agent, the key that stops it, and the option that limits it."""
    monkeypatch.setattr(slow_decision, "SLOW_DECISION_SECONDS", 0.01)
    said: list[str] = []
    slow = SlowDecision(said.append)
    with slow.watch(SEAT):
        eventually(lambda: said)
    with slow.watch(SEAT):
        assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    [line] = said
    assert line.startswith("minimax has been searching for 0.01 s; Ctrl-C stops it, and --limits seconds=S")


def test_a_search_with_a_time_limit_is_not_reported() -> None:
    """A search that ends early is not reported either."""
    said: list[str] = []
    timed = replace(SEAT, limits=replace(SEAT.limits, seconds=30.0))
    with SlowDecision(said.append).watch(timed):
        assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    with SlowDecision(said.append).watch(SEAT):
        pass
    assert not said
