"""Fixtures for tests of checks: one runs a check that must fail and splits its message into parts; the other runs `arena check`
and `arena try` in this process. Also a sound agent and a sound puzzle, in which tests plant bugs.
"""

import random
import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import arena as arena_
from arena import Agent, Answer, Game, Puzzle, Search, cli
from arena_check import trial_board, try_
from arena_check.check_process import NOTE_VARIABLE, SharedNote

Inside = Callable[..., subprocess.CompletedProcess[str]]

FINDING = re.compile(
    r"(?P<subject>[^\n]+?): (?P<what>[^\n]+)\n"
    r"(  position: (?P<position>[^\n]+)\n)?"
    r"  actions: (?P<actions>[^\n]+)\n"
    r"  expected: (?P<expected>[^\n]+)\n"
    r"  got: (?P<got>[^\n].*)\n"
    r"  seed: (?P<seed>\d+), matches: (?P<matches>\d+)",
    re.DOTALL,
)


@pytest.fixture(scope="session")
def finding() -> Callable[[Callable[[], object]], dict[str, str]]:
    """Return a function that runs a check, which must fail, and returns the parts of its message. All parts must be there, except
    the position.
    """

    def finding(check: Callable[[], object]) -> dict[str, str]:
        with pytest.raises(AssertionError) as failure:
            check()
        found = FINDING.fullmatch(str(failure.value))
        assert found, f"not the message of a check: {failure.value}"
        return found.groupdict()

    return finding


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Inside:
    """Return a function that runs `arena` with the given words in this process and in the folder of the test.

    The commands `check` and `try` usually load plugins in a process that they start. If they get a note from another
    process, they load plugins themselves. `arena try` counts seconds of processor time, so that a busy machine does not
    change its results.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # a check that is the last work replaces it for good
    for module in (try_, trial_board):
        monkeypatch.setattr(module, "monotonic", time.process_time)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        note = SharedNote.new()
        monkeypatch.setenv(NOTE_VARIABLE, str(note.descriptor))
        capfd.readouterr()
        try:
            code = cli.main(words)
        finally:
            note.close()
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return run


class Breadth(Agent):
    """Solves by breadth-first search, and gives up after some states."""

    name = "breadth"
    needs = frozenset({"single-player", "path"})

    def __init__(self, *, most: int = 500) -> None:
        self.most = most

    def solve(self, game: Game, state: Any, search: Search) -> arena_.Path | Answer | None:
        assert isinstance(game, Puzzle)
        ways: dict[Any, tuple[Any, ...]] = {state: ()}
        waiting = [state]
        for here in waiting:
            if game.is_goal(here):
                return arena_.Path(ways[here])
            if len(ways) > self.most:
                return None
            for action in game.actions(here):
                there = game.result(here, action)
                if there not in ways:
                    ways[there] = (*ways[here], action)
                    waiting.append(there)
        return None


class Corridor(Puzzle):
    """Walk to the right end of a corridor."""

    name = "corridor"
    length: ClassVar[int] = 6

    def initial(self, rng: random.Random) -> Any:
        return rng.randrange(self.length - 1)

    def actions(self, state: Any) -> Any:
        return [*(["left"] if state > 0 else []), *(["right"] if state < self.length - 1 else [])]

    def result(self, state: Any, action: Any) -> Any:
        return state - 1 if action == "left" else state + 1

    def is_goal(self, state: Any) -> Any:
        return state == self.length - 1
