"""Somebody hands in many slow agents at once, under many names: matches go on, and the checks of other authors do not wait."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.examination import Examiner
from arena_ladder.host import LadderHost
from arena_ladder.judge import USE_SECONDS, CheckBounds
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.spec import load_ladder
from arena_ladder.submission_check import SubmissionCheck, has_room
from tests.conftest import VirtualClock
from tests.eventually import eventually
from tests.ladder.hosting import SPEC, agent

NAMES, EACH = 12, 10
pytestmark = pytest.mark.promise(hole="rush", isolation=("process", "sandbox"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LadderHost]:
    """A ladder with one worker, to which 12 authors have handed in 120 agents. Its threads do not run."""
    (tmp_path / "course.yaml").write_text(SPEC.replace("interval: 200", "interval: 5"))
    ladder, place = load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db"
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)
        for number in range(NAMES * EACH):
            ledger.expect(name := f"n{number % NAMES}")
            ledger.submit(name, "slow", "python", "slow.py", agent(f"time.sleep(.85)  # {number}"), 100)
        yield LadderHost(ladder, store, ledger, 1)


@pytest.mark.process
def test_matches_are_played_while_many_authors_wait_for_checks(host: LadderHost) -> None:
    """No check is finished meanwhile, so no author stops waiting."""
    playing = threading.Thread(target=host.runner.play)
    playing.start()
    try:
        eventually(lambda: host.runner.contest.matches > 4)
        assert host.runner.contest.state == "playing"
        assert host.ledger.counts()["queued"] == NAMES * EACH
        before = host.runner.contest.matches
        eventually(lambda: host.runner.contest.matches > before + 4)
    finally:
        host.runner.stop()
        playing.join()


def run_checks(examiner: Examiner, clock: VirtualClock, seconds: float, cores: float, took: float) -> list[SubmissionCheck]:
    """The checks that begin in `seconds`, each of which takes `took` seconds and uses `cores` all the time."""
    running: list[SubmissionCheck] = []
    begun: list[SubmissionCheck] = []
    end = clock.now + seconds
    while clock.now < end:
        for check in running[:]:
            check.cores, check.processor_seconds = cores, cores * (clock.now - check.began)
            if clock.now >= check.began + took:
                examiner._leave(check)
                examiner._ledger.refuse(check.one.id, "slow", ())
                running.remove(check)
        while (check := examiner._next()) is not None:  # type: ignore[assignment]
            running.append(check)
            begun.append(check)
        clock.now += 0.5
    return begun


@pytest.mark.unit
@pytest.mark.parametrize(("workers", "most"), [(1, 0.5), (2, 1.0), (4, 2.0)])
def test_checks_use_at_most_half_of_the_time_of_the_workers(
    host: LadderHost, clock: VirtualClock, workers: int, most: float
) -> None:
    """Each check computes for 5 s, which is the maximum. The last check that begins may exceed the share. At most two compute at
    the same time, so with four workers nothing waits.
    """
    examiner = Examiner(host.ladder, host.ledger, host.folder, workers=workers)
    checks = run_checks(examiner, clock, 200, 1.0, 5.0)
    used = sum(check.processor_seconds for check in checks)
    assert 0.8 * most * 200 < used <= most * 200 + 5 * 2, used


@pytest.mark.unit
def test_agents_that_sleep_before_they_compute_do_not_get_more_time(host: LadderHost, clock: VirtualClock) -> None:
    """Six checks begin while their agents sleep, and all of these agents compute later."""
    examiner = Examiner(host.ladder, host.ledger, host.folder, workers=1)
    sleeping = run_checks(examiner, clock, 4, 0.0, 100)
    assert 1 < len(sleeping) <= 6
    clock.now += 5
    for check in sleeping:
        check.cores, check.processor_seconds = 1.0, 5.0
        examiner._leave(check)
    used = 5.0 * len(sleeping)
    rests = clock.now
    while examiner._next() is None:
        clock.now += 0.5
    assert clock.now - sleeping[0].began >= 2 * used > rests - sleeping[0].began


@pytest.mark.unit
def test_another_check_begins_beside_one_that_waits_but_not_beside_one_that_computes(
    host: LadderHost, clock: VirtualClock
) -> None:
    """With one worker, one check computes at a time. With more workers, or on a cluster, two do."""
    for workers, most in ((1, 1), (2, 2), (8, 2)):
        examiner = Examiner(host.ladder, host.ledger, host.folder, workers=workers)
        checks: list[SubmissionCheck] = []
        while (check := examiner._next()) is not None:
            checks.append(check)
        assert len(checks) == most
        assert not has_room(checks, 1, workers)
        for check in checks:
            check.cores = 0.01
        assert has_room(checks, 1, workers)
        for check in checks:
            host.ledger.refuse(check.one.id, "slow", ())


@pytest.mark.unit
def test_the_author_whose_checks_took_the_least_time_comes_first(host: LadderHost, clock: VirtualClock) -> None:
    """The checks of the others take 20 s, and there are about six for each of them. After six checks of a second, Ada has had as
    many as the others, but her next check still comes first.
    """
    examiner = Examiner(host.ladder, host.ledger, host.folder, workers=1)
    slow = run_checks(examiner, clock, 240, 0.01, 20.0)
    assert {check.one.author for check in slow} == {f"n{number}" for number in range(NAMES)}
    host.ledger.expect("ada")
    for _ in range(20):
        host.ledger.submit("ada", "mine", "python", "mine.py", agent(), 100)
    for check in list(examiner._checks):
        examiner._leave(check)
    host.ledger.requeue()
    found = Counter(check.one.author for check in run_checks(examiner, clock, 60, 1.0, 1.0))
    assert found["ada"] == 20, found


@pytest.mark.unit
def test_the_time_of_all_processes_of_a_check_counts(clock: VirtualClock) -> None:
    """A submission sleeps in its first process, and computes in others that live for less time than the average covers."""

    class Process:
        used = 0.0

        def processors(self) -> tuple[float, float]:
            return 0.0, self.used

    told: list[tuple[float, float]] = []
    bounds = CheckBounds(1024, lambda *found: told.append(found))
    for seconds, used in [(3.0, 0.0), *[(0.6 * USE_SECONDS, 0.6 * USE_SECONDS)] * 5]:
        process = Process()
        with bounds.call(process):  # type: ignore[arg-type]
            clock.now += seconds
            process.used = used
    assert told == [(0.0, 0.0), *[(pytest.approx(1.0), pytest.approx(0.6 * USE_SECONDS * number)) for number in range(1, 6)]]
