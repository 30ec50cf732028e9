"""Checks at the same time: those that wait make room for others, those that compute do not, and all end with the ladder."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from arena.api.match import Program
from arena_ladder.host import LadderHost, open_ladder
from arena_ladder.judge import CheckBounds
from arena_ladder.spec import load_ladder
from arena_ladder.submission_check import ALWAYS_CHECKS, MAX_CHECKS, JudgeProcesses, SubmissionCheck, has_room, memory_left
from arena_ladder.submissions import Submission
from arena_ladder.turns import Side, Turns
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.ladder.hosting import SPEC, agent

SLEEPS = "time.sleep(100)"
COMPUTES = "\n        while time.process_time() < 1.5: pass\n        open({flag!r}, 'w').close()\n        return 99"
PROGRAM = b"#!/bin/sh\nwhile read line; do sleep 60; done\n"
MEMORY = "limits: {memory_mb: 200}\n"


@contextmanager
def _checking(folder: Path, *bodies: str | bytes, turns: Turns | None = None) -> Iterator[LadderHost]:
    """The parts of a ladder that checks one submission of each author, with these bodies, in this order."""
    (folder / "course.yaml").write_text(SPEC.replace("isolation: none", "isolation: process") + MEMORY)
    with open_ladder(load_ladder(folder / "course.yaml"), folder / "a.db", 1) as host:
        for number, body in enumerate(bodies):
            kind, content = ("program", body) if isinstance(body, bytes) else ("python", agent(f"{body}  # {number}"))
            host.ledger.expect(f"author-{number}")
            host.ledger.submit(f"author-{number}", f"n{number}", kind, "mine", content, 100)
        host.examiner.turns = turns or host.examiner.turns
        threads = [threading.Thread(target=host.examiner.run) for _ in range(MAX_CHECKS)]
        for thread in threads:
            thread.start()
        try:
            yield host
        finally:
            host.examiner.stopping.set()
            for thread in threads:
                thread.join()


def _statuses(host: LadderHost) -> list[str]:
    return [one.status for one in host.ledger.submissions()]


@pytest.mark.load
def test_checks_that_compute_delay_others_and_checks_that_sleep_do_not(tmp_path: Path) -> None:
    """While one agent computes, at most one other check runs, which began before this was known. Later, more checks run."""
    most, flag = 0, tmp_path / "computed"

    def counted() -> bool:
        nonlocal most
        found = _statuses(host)
        if found[0] == "checking" and not flag.exists():  # after it has computed, others may begin before its verdict
            most = max(most, found.count("checking"))
        return found[0] == "refused"

    with _checking(tmp_path, COMPUTES.format(flag=str(flag)), *[SLEEPS] * 4) as host:
        eventually(counted, pause=0.01)
        assert most in (1, 2)
        eventually(lambda: _statuses(host).count("checking") > 2)


@pytest.mark.process
def test_checks_end_with_the_ladder_and_are_repeated_after_a_restart(tmp_path: Path) -> None:
    """All processes of a check end without a verdict. A check that waited for its limits would refuse the submission."""
    with _checking(tmp_path, SLEEPS, PROGRAM) as host:
        before = {one.pid for one in psutil.Process().children(recursive=True)}
        eventually(lambda: _statuses(host) == ["checking", "checking"])
        eventually(lambda: len(psutil.Process().children(recursive=True)) >= len(before) + 2)
        host.examiner.stopping.set()
        threads = [one for one in threading.enumerate() if one.name.endswith("(run)")]
        for thread in threads:
            thread.join(DEADLINE_SECONDS)
        assert len(threads) == MAX_CHECKS
        assert {one.pid for one in psutil.Process().children(recursive=True)} <= before
        assert _statuses(host) == ["checking", "checking"]
        host.ledger.requeue()
        assert _statuses(host) == ["queued", "queued"]


@pytest.mark.process
def test_a_check_that_outlasts_its_turn_is_dropped_and_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its processes end before an attempt at a hidden position begins. Each repetition gets more time, so the check
    eventually finishes.
    """
    monkeypatch.setattr("arena_ladder.turns.TURN_SECONDS", 0.1)
    monkeypatch.setattr("arena_ladder.examination.OVERRUN_SECONDS", 0.4)
    turns, begun, left = Turns(0.1), tmp_path / "begun", []
    with _checking(tmp_path, f"open({str(begun)!r}, 'a').close(); time.sleep(2)", turns=turns) as host:
        before = {one.pid for one in psutil.Process().children(recursive=True)}
        while _statuses(host) != ["refused"]:
            if begun.exists():
                visit = eventually(lambda: turns.enter(Side.HIDDEN), pause=0.05)
                left.append({one.pid for one in psutil.Process().children(recursive=True)} - before)
                begun.unlink()
                assert visit is not None
                visit.leave()
    assert 2 <= len(left) < 8, "a check of two seconds ends within 0.4 * 2 ** 3 s"
    assert left[0] == left[1] == set()
    assert (host.examiner._dropped, host.examiner._drops) == ([], {})


def _checks(*cores: float) -> list[SubmissionCheck]:
    one = Submission(1, "0", "ada", None, None, "python", "a.py", "", 0.0, "checking", None, None, (), None, 0)
    found = [SubmissionCheck(one, JudgeProcesses(threading.Event())) for _ in cores]
    for check, busy in zip(found, cores, strict=True):
        check.cores = busy
    return found


def test_at_least_two_checks_run_and_more_if_cores_and_memory_are_free() -> None:
    assert all(has_room(_checks(*[1.0] * count), 1 << 40) for count in range(ALWAYS_CHECKS))
    assert not has_room(_checks(0.0, 1.0), 1)
    assert [has_room(_checks(*[0.01] * count), 1) for count in range(ALWAYS_CHECKS, 8)] == [True] * 4 + [False] * 2
    assert not has_room(_checks(0.0, 0.0), (memory_left() >> 20) // 2), "three of which each may take half of what is left"
    assert 0.5 * psutil.virtual_memory().available < memory_left() < 2 * psutil.virtual_memory().available


@pytest.mark.process
def test_a_check_does_not_count_the_start_of_its_own_program(tmp_path: Path) -> None:
    """A start may take long on a busy machine. An honest agent was once refused because `hello` took 0.1 s."""
    bounds = CheckBounds(memory_mb=1024, seconds=0.0, cpu_seconds=0.0)
    bounds.start(Program("random", {}, None, (), str(tmp_path)), None, "process").end()
    assert (bounds.seconds, bounds.cpu_seconds, bounds.over) == (0.0, 0.0, False)
