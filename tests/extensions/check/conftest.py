"""Fixtures for tests of checks: one runs a check that must fail and splits its message into parts; the other runs `arena check`
and `arena try` in this process.
"""

import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena import cli
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
