"""Processor time of a family, ended children and all, is what the system itself counts when they have ended."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_isolation.agent_start import AgentChild
from arena_isolation.control_group import new_group
from tests.eventually import DEADLINE_SECONDS

pytestmark = pytest.mark.process

WORK = """
import os, resource, sys, threading, time
def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until: pass
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        burn(0.15)
        os._exit(0)
    thread = threading.Thread(target=burn, args=(0.1,))
    thread.start()
    burn(0.05)
    thread.join()
    os.waitpid(child, 0)
    print(sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)), flush=True)
"""
"""Uses 0.3 s each time: half of it in a child that ends, a third in a thread that ends; and says what the system counts."""


@pytest.fixture(params=["group", "signals"])
def child(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentChild]:
    """Return a child that does WORK, with or without a control group."""
    group = new_group() if request.param == "group" else None
    if request.param == "group" and group is None:
        pytest.skip("a control group cannot be created here")
    child = AgentChild([sys.executable, "-c", WORK], str(tmp_path), 0, {}, group=group)
    yield child
    child.end()


def work(child: AgentChild) -> float:
    """Have the child do its work once. Return the processor time in seconds that the system has counted for it so far."""
    child.send(b"\n", None)
    return float(child.receive(time.perf_counter() + DEADLINE_SECONDS))


def test_time_of_ended_children_and_threads_counts(child: AgentChild) -> None:
    """The time is counted from one answer to the next."""
    before = work(child)
    child.clock.begin()
    assert work(child) - before == pytest.approx(child.clock.used(), abs=0.04)
    assert child.clock.used() > 0.25


def test_the_whole_time_of_a_child_counts_from_its_creation(child: AgentChild) -> None:
    """The child says what the system counts for it and its children. This includes the start of Python."""
    assert work(child) == pytest.approx(child.measure_from_creation().used(), abs=0.04)


@pytest.mark.load
def test_a_start_on_a_busy_core_lacks_a_processor(tmp_path: Path) -> None:
    """The child and a program that computes without end share a core. Most of the time of the child is use or lack."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    began = time.perf_counter()
    script = "import sys, time\nfor line in sys.stdin:\n while time.process_time() < 0.5: pass\n print(flush=True)"
    child = AgentChild([sys.executable, "-c", script], str(tmp_path), 0, {}, group=new_group())
    try:
        child.send(b"\n", None)
        child.receive(time.perf_counter() + DEADLINE_SECONDS)
        took, clock = time.perf_counter() - began, child.measure_from_creation()
        assert 0.2 * took < clock.lack() < took - clock.used() + 0.1
    finally:
        child.end()
        busy.kill()
        busy.wait()
        os.sched_setaffinity(0, before)


@pytest.mark.load
def test_time_in_sleep_does_not_count_as_waiting_for_a_core(tmp_path: Path) -> None:
    """A process sleeps for 0.3 s on one core. At most the time to wake up counts as waiting."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    script = "import sys, time\nfor line in sys.stdin:\n time.sleep(0.3)\n print(flush=True)"
    child = AgentChild([sys.executable, "-c", script], str(tmp_path), 0, {}, group=new_group())
    try:
        for _ in range(2):
            child.clock.begin()
            child.send(b"\n", None)
            child.receive(time.perf_counter() + DEADLINE_SECONDS)
        assert child.clock.lack() < 0.15
    finally:
        child.end()
        os.sched_setaffinity(0, before)
