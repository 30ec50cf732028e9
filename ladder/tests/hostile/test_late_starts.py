"""Submissions that pass their check, but hang when they start later: only one worker waits for them."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from arena.schedule.runner import CurrentTurn, MatchRunner
from arena.schedule.schedule import Batch, Scheduled
from arena.store import Store
from arena_isolation.agent_pool import NOT_STARTED_AGAIN
from arena_ladder import contest
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import SILENT, ContestRunner, SeasonPlans
from arena_ladder.ledger import Ledger
from arena_ladder.matchmaking import standings
from arena_ladder.season import Entrant, begin_season
from arena_ladder.spec import load_ladder
from arena_ladder.submissions import Starts
from tests.conftest import VirtualClock
from tests.eventually import eventually
from tests.ladder.hosting import SPEC, HostedLadder, agent
from tests.ladder.test_mishaps import show_faults

pytestmark = pytest.mark.process

HANGS = """
from arena import Agent, hookimpl
import os, sys, time

class Mine(Agent):
    name = "mine"

    def __init__(self):
        if os.path.exists(__file__ + ".now"):
            print("hangs", file=sys.stderr, flush=True)
            time.sleep(1e6)

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Mine]
"""
ADA, BOB = "ada/mine@1", "bob/mine@1"


class Bench:
    """A ladder with two submissions. The tests hand out its matches."""

    def __init__(self, folder: Path) -> None:
        (folder / "course.yaml").write_text(SPEC.replace("interval: 200", "interval: 1"))
        self.ladder = load_ladder(folder / "course.yaml")
        self.store = Store.open(folder / "a.db", write=True)
        self.ledger = Ledger(folder / "a.db")
        for author in ("ada", "bob"):
            self.ledger.expect(author)
            key = self.ledger.submit(author, "mine", "python", "mine.py", b"x", 10).id
            assert self.ledger.next_to_check() is not None
            self.ledger.accept(key, "mine", "mine", (), 2)
        house = [Entrant({"agent": "random", "label": label, "isolation": "none"}) for label in (ADA, BOB)]
        self.season = begin_season(self.ladder, self.store, house)
        boards = lambda: [standings(self.season, 0, 1.0, "random")]  # noqa: E731
        self.runner = MatchRunner(self.season.spec)
        self.plans = SeasonPlans(self.season, self.ledger, lambda **_: True, boards, frozenset({ADA, BOB}))

    def labels(self, match: Scheduled) -> list[str]:
        """Return the labels in the seats of a match."""
        return [self.season.labels(0)[entry] for entry in match.pairing.seats]

    def take_all(self) -> list[Scheduled]:
        """Take matches one by one, as several workers do, until there is none."""
        found: list[Scheduled] = []
        while batch := self.plans.take(1):
            found += batch
        return found

    def end(self, matches: list[Scheduled]) -> None:
        """Play matches that were taken."""
        for match in matches:
            self.plans.finished(match, self.runner.play(match))

    def start(self, match: Scheduled, label: str) -> None:
        """Let a worker wait for the start of an agent of a match."""
        seat = self.labels(match).index(label)
        self.plans.turns = lambda: (CurrentTurn(match, seat, 1, starting=True),)

    def close(self) -> None:
        """Close the files."""
        self.ledger.close()
        self.store.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path)) as made:
        yield made


def test_an_agent_with_a_late_start_is_given_to_no_other_worker(bench: Bench, clock: VirtualClock) -> None:
    planned = bench.take_all()
    twice = [match for match in planned if ADA in bench.labels(match)][:2]
    assert len(twice) == 2, "otherwise nothing could be held back"
    bench.plans._waiting = planned
    bench.plans._untold.clear()
    first = bench.plans.take(1 + planned.index(twice[0]))[-1]
    bench.start(first, ADA)
    assert bench.plans.take(1), "the clock of the start begins"
    clock.now += contest.LATE_START_SECONDS
    late = bench.take_all()
    assert late
    assert not [match for match in late if ADA in bench.labels(match)]
    bench.plans.turns = lambda: (CurrentTurn(first, 0, 1),)  # it has answered, and its match goes on
    assert [match for match in bench.take_all() if ADA in bench.labels(match)]


def test_other_plans_continue_while_an_agent_starts(bench: Bench, clock: VirtualClock) -> None:
    planned = bench.take_all()
    waits = next(match for match in planned if ADA in bench.labels(match))
    bench.start(waits, ADA)
    bench.end([match for match in planned if match is not waits])
    assert bench.plans.take(1) is Batch.WAIT, "a plan ends before the next one begins"
    clock.now += contest.LATE_START_SECONDS
    for _ in range(3):
        following = bench.take_all()
        assert following
        assert bench.plans.take(1) is Batch.WAIT
        assert not [match for match in following if ADA in bench.labels(match)]
        bench.end(following)
    bench.plans.turns = tuple
    bench.end([waits])
    assert [match for match in bench.take_all() if ADA in bench.labels(match)]


def test_a_season_does_not_end_while_an_agent_starts(bench: Bench, clock: VirtualClock) -> None:
    planned = bench.take_all()
    waits = next(match for match in planned if ADA in bench.labels(match))
    bench.start(waits, ADA)
    bench.end([match for match in planned if match is not waits])
    bench.plans.take(1)
    clock.now += contest.LATE_START_SECONDS
    bench.plans._rates = False
    assert bench.plans.take(1) is Batch.WAIT
    bench.plans.turns = tuple
    bench.end([waits])
    assert bench.plans.take(1) is Batch.OVER


def test_agents_that_have_failed_to_respond_play_one_match_at_a_time(bench: Bench) -> None:
    for groups, most in (({ADA: SILENT, BOB: SILENT}, 1), ({ADA: ADA, BOB: BOB}, 2)):
        counts = []
        bench.plans.groups = partial(dict, groups)
        for _ in range(4):
            handed_out = [*bench.plans.take(100), *bench.take_all()]
            doubtful = [{ADA, BOB} & {*bench.labels(match)} for match in handed_out]
            counts.append(len([labels for labels in doubtful if labels]))
            assert sum(map(len, doubtful)) <= 2, "no label twice"
            bench.end(handed_out)
        assert max(counts) == most


def test_failed_starts_are_remembered_until_the_next_check(bench: Bench) -> None:
    bench.ledger.keep_starts(ADA, Starts(1, 2.5))
    bench.ledger.keep_starts(BOB, Starts(0, 0.25))
    with closing(Ledger(bench.ledger.path)) as other:
        assert other.starts() == {ADA: Starts(1, 2.5), BOB: Starts(0, 0.25)}
    key = next(one.id for one in bench.ledger.in_play() if one.label == ADA)
    bench.ledger.check_again(key, "admin")
    assert bench.ledger.next_to_check() is not None
    bench.ledger.accept(key, "mine", "mine", (), 2)
    assert bench.ledger.starts() == {BOB: Starts(0, 0.25)}


def test_failed_starts_are_counted_from_the_records(bench: Bench) -> None:
    """A successful start resets the count. A match that ended before the agent started does not change it."""
    match = next(match for match in bench.take_all() if bench.labels(match)[1] == ADA)
    well = bench.runner.play(match)
    silent = well._replace(termination="timeout", seat=1, message="its start took longer than its limit of 3 s")

    def runner() -> ContestRunner:
        made = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1)
        made._playing = {one.label: one for one in bench.ledger.in_play()}
        made._faults = {ADA: 0}
        return made

    one = runner()
    assert one._groups() == {ADA: ADA, BOB: BOB}, "none has answered a start yet"
    one._judge(well._replace(timing={"start": [0.1, 6.0]}))
    assert (one._groups(), one._start_seconds()) == ({BOB: BOB}, {ADA: 8.0})
    one._judge(silent._replace(timing={"start": [0.1, 8.0]}))
    assert (one._groups(), one._start_seconds()) == ({ADA: SILENT, BOB: BOB}, {ADA: 8.0})
    other = silent._replace(seat=0)
    one._judge(other._replace(timing={"start": [3.0, None]}))
    one._judge(other._replace(timing=None))
    assert bench.ledger.starts() == {ADA: Starts(1, 6.0)}
    one._judge(well._replace(timing={"start": [0.1, 0.2]}))
    assert bench.ledger.starts() == {ADA: Starts(0, 6.0)}
    one._judge(silent._replace(timing={"start": [0.1, 8.0]}))
    runner()._judge(silent._replace(timing={"start": [0.1, 8.0]}))
    found = next(one for one in bench.ledger.submissions() if one.label == ADA)
    assert (found.status, found.reason) == ("suspended", "it did not respond when it was started, 2 times in a row")


@pytest.mark.promise(hole="busy", isolation=("process", "sandbox"))
def test_only_starts_count_as_faults(bench: Bench) -> None:
    """If a program was not started again, or the host of arena did not answer, this is no fault of the agent."""
    match = next(match for match in bench.take_all() if bench.labels(match)[1] == ADA)
    well = bench.runner.play(match)
    silent = well._replace(termination="timeout", seat=1, message="its hello took longer than its limit of 15 s", timing=None)
    repeated = silent._replace(message=f"{silent.message} {NOT_STARTED_AGAIN}")
    void = well._replace(termination="void", message="HostLate: its hello took longer than its limit of 60 s")
    runner = ContestRunner(bench.ladder, bench.store, bench.ledger, CodeFolder(bench.ledger, 1 << 20), 1)
    runner._playing = {one.label: one for one in bench.ledger.in_play()}
    runner._faults = {ADA: 0, BOB: 0}
    for record in (silent, *[repeated, void] * 30):
        runner._judge(record)
    assert runner._faults[ADA] == 1
    assert bench.ledger.starts()[ADA].unanswered == 1
    assert {one.status for one in bench.ledger.submissions()} == {"playing"}
    crashed = silent._replace(termination="crash")
    for record in (crashed, repeated) * 4:
        runner._judge(record)
    assert next(one.status for one in bench.ledger.submissions() if one.label == ADA) == "suspended"


@pytest.mark.promise(hole="late", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_the_contest_continues_while_one_worker_waits_and_a_restart_keeps_the_count(tmp_path: Path, isolation: str) -> None:
    """The agent has ten minutes for its first start, more than the matches of the others take."""
    spec = (
        SPEC.replace("interval: 200", "interval: 10").replace("isolation: process", f"isolation: {isolation}")
        + "limits: {start_seconds: LONG}\n"
    )
    with HostedLadder(tmp_path, spec.replace("LONG", "600"), "--workers", "2") as ladder:
        mine, other = ladder.tokens("ada", "bob")
        ladder.admin("pause")  # otherwise it could play a match before it hangs, so that its next start would not be the first
        eventually(lambda: ladder.ask("/health").body["state"] == "paused")
        hangs = ladder.submit(mine, HANGS.encode()).body["id"]
        assert ladder.verdict(mine, hangs)["status"] == "playing"
        show_faults(tmp_path)
        well = ladder.submit(other, agent()).body["id"]
        assert ladder.verdict(other, well)["status"] == "playing"
        ladder.end()
        ladder.again()
        ladder.admin("resume")

        def count_hanging() -> int:
            return sum(file.read_text().count("hangs\n") for file in (tmp_path / "results" / "course.db.logs").iterdir())

        eventually(lambda: count_hanging() == 1)
        before = ladder.ask("/health").body["matches"]
        eventually(lambda: ladder.ask("/health").body["matches"] >= before + 20)  # more than a plan has
        assert count_hanging() == 1, "no other worker waits"
        ladder.end()
        (tmp_path / "course.yaml").write_text(spec.replace("LONG", "3"))
        ladder.again()
        with closing(Ledger(tmp_path / "results" / "course.db")) as ledger:
            eventually(lambda: ledger.starts().get(ADA, Starts()).unanswered)
            ladder.kill()
            count = ledger.starts()[ADA].unanswered
            assert count == 1
            ladder.again()
            eventually(lambda: ladder.ask(f"/api/submissions/{hangs}", mine).body["status"] == "suspended")
            assert ledger.starts()[ADA].unanswered == 2
