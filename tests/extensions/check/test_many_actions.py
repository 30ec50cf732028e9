"""A state with a thousand actions is checked in time that grows with the actions, not with their square."""

import io
import random
from typing import Any

import pytest

from arena import Game
from arena_check import game_checks, minimal_actions
from arena_check.check_process import CheckProgress, SharedNote
from arena_check.finding import Finding
from arena_check.game_checks import game_verdicts
from arena_check.minimal_actions import Reproduction, shorten
from arena_check.trial import Trial
from tests.conftest import VirtualClock

ACTIONS = 1000


class Shots(Game):
    """Each seat names a number; the highest one wins."""

    name = "shots"
    calls = 0

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return len(state) % 2

    def actions(self, state: Any) -> Any:
        return range(ACTIONS) if len(state) < 2 else ()

    def result(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def is_terminal(self, state: Any) -> bool:
        return len(state) == 2

    def returns(self, state: Any) -> Any:
        sign = (state[0] > state[1]) - (state[0] < state[1])
        return (float(sign), float(-sign))

    def parse_action(self, state: Any, text: str) -> Any:
        type(self).calls += 1
        return int(text)


class Misread(Shots):
    """The last action is read as another one."""

    def parse_action(self, state: Any, text: str) -> Any:
        return min(int(text), ACTIONS - 2)


def test_a_sample_of_the_actions_is_parsed() -> None:
    """A hundred actions are parsed in each of two states, and the verdict says so."""
    Shots.calls = 0
    found = {verdict.check: verdict for verdict in game_verdicts(Shots, matches=1)}
    assert all(verdict.kept for verdict in found.values())
    assert Shots.calls == 2 * 100
    assert found["notation"].promise.endswith("(checked: the texts of at most 100 actions in each state)")


def test_the_sample_contains_the_last_action() -> None:
    found = {verdict.check: verdict for verdict in game_verdicts(Misread, matches=1)}
    assert not found["notation"].kept


def test_a_slow_game_plays_fewer_matches_which_the_verdict_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_checks, "MAX_CPU_SECONDS", -1.0)
    found = {verdict.check: verdict for verdict in game_verdicts(Shots, matches=20)}
    assert "(checked: 1 of 20 matches, " in found["play"].promise


@pytest.mark.parametrize(("seconds", "examined"), [(-1.0, 0), (1e9, ACTIONS)])
def test_the_search_for_a_shorter_sequence_of_actions_has_a_time_limit(
    seconds: float, examined: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minimal_actions, "MAX_CPU_SECONDS", seconds)
    seen: list[Any] = []

    def examine(trial: Trial, state: Any) -> None:
        seen.append(state)

    finding = Finding("shots", "play", "a fault", "", "", 0, 1, "()", ("1", "2"), 2)
    assert shorten(finding, lambda _: Reproduction(Shots(), (), examine)) is finding
    assert len(seen) >= examined
    assert (len(seen) == 0) is (examined == 0)


def test_a_long_check_prints_a_line_every_half_minute(clock: VirtualClock, capsys: pytest.CaptureFixture[str]) -> None:
    """The line names the running check. It is printed if stderr is not a terminal."""
    note = SharedNote.new()
    try:
        progress = CheckProgress(note, io.StringIO())
        progress.begin(("game", "shots"), None, None)
        trial = Trial("shots", 0, 0, check="notation")
        for _ in range(100):
            progress(trial, "parse_action", None)
            clock.now += 1
    finally:
        note.close()
    assert capsys.readouterr().err.splitlines() == ["checking game shots: notation"] * 3
