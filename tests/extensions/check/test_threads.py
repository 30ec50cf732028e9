"""Threads that outlive the code that started them."""

import subprocess
import sys
import threading
import time

import pytest

from arena_check.threads import find_lingering
from arena_compiled import background
from tests.conftest import _real_sleep
from tests.eventually import DEADLINE_SECONDS

CODE = """
import threading
from arena_check.threads import collect_deaths

go = threading.Event()

def die():
    go.wait()
    raise LookupError("late")

with collect_deaths(last={last}):
    thread = threading.Thread(target=die)
    thread.start()
go.set()
thread.join()
"""


@pytest.mark.process
@pytest.mark.parametrize("last", [True, False])
def test_an_exception_in_a_late_thread_is_not_printed_if_the_process_ends(last: bool) -> None:
    """It would appear in the command's output. If the process continues, it is printed."""
    done = subprocess.run([sys.executable, "-c", CODE.format(last=last)], capture_output=True, text=True, check=True)
    assert (done.stderr == "") is last
    assert ("LookupError: late" in done.stderr) is not last


class Decision:
    """A decision that is looked at once."""

    def __init__(self) -> None:
        self.seen = threading.Event()

    def look(self) -> None:
        """Note that another thread looks."""
        self.seen.set()


def test_a_thread_of_arena_is_not_a_fault_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """With numba, the first search of a process starts a thread that watches all later searches."""
    monkeypatch.setattr(background, "_watcher", None)
    monkeypatch.setattr(time, "sleep", _real_sleep)  # its place in the tests is not one of an author
    decision, before, end = Decision(), threading.enumerate(), threading.Event()
    background.watch(decision)
    assert decision.seen.wait(DEADLINE_SECONDS)
    background.unwatch(decision)
    other = threading.Thread(target=end.wait)
    other.start()
    try:
        assert [*find_lingering(before)] == [other]
    finally:
        end.set()
        other.join()
