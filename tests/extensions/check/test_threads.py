"""Threads that die when whoever started them is done."""

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("last", [True, False])
def test_a_thread_that_dies_later_is_silent_where_nothing_follows(last: bool) -> None:
    """It would write into what a command has printed; where the process goes on it is heard."""
    done = subprocess.run([sys.executable, "-c", CODE.format(last=last)], capture_output=True, text=True, check=True)
    assert (done.stderr == "") is last
    assert ("LookupError: late" in done.stderr) is not last
