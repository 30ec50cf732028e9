"""The progress of a run on a terminal, in a file, and with --quiet."""

import io
import re
import signal
import subprocess
import sys
import time
from math import ceil
from pathlib import Path

import pytest

from arena import run
from arena.console.notices import say
from arena.console.progress import Progress
from arena.results import figures
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import Run
from arena.tournament.queue import MatchQueue, Shard
from arena.tournament.results import PlayedMatch
from arena_pairings.sprt import Sprt, expected_pairs
from tests.conftest import VirtualClock, at_terminal
from tests.eventually import DEADLINE_SECONDS, eventually

SPEC = {"game": "tic-tac-toe", "rounds": 3, "seed": 1, "agents": ["random", {"agent": "minimax", "depth": 2, "label": "minimax"}]}


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def watched(stream: io.StringIO, *, quiet: bool = False, every: float = 0.05) -> str:
    spec = load_spec(SPEC)
    stage = MatchRunner(spec)
    with Progress(spec.boards, 6, stream, quiet=quiet, every=every) as progress:
        for scheduled in Schedule(spec).take(6):
            progress.note(PlayedMatch(*scheduled, stage.play(scheduled)))
        time.sleep(0.6 if stream.isatty() else 0.2)
    return stream.getvalue()


@pytest.mark.process
def test_without_a_terminal_progress_is_plain_lines() -> None:
    lines = watched(io.StringIO()).splitlines()
    assert lines
    assert all(re.fullmatch(r"[0-6]/6 matches, [\d.,]+/s(, .* left)?", line) for line in lines)
    assert lines[-1].startswith("6/6 matches")


def test_the_time_left_is_based_on_the_expected_length_of_a_sequential_test() -> None:
    """By Wald's formula, the test is expected to end after far fewer pairs than the maximum of 100,000."""
    keys = {"sprt": {"elo1": 60}}
    spec = load_spec({"game": "tic-tac-toe", "agents": ["greedy", "random"], "format": {"name": "head-to-head", "test": keys}})
    plan, stage = Schedule(spec), MatchRunner(spec)
    progress = Progress(spec.boards, spec.size, io.StringIO())
    progress.expect(plan.expected)
    at_first = 2 * 4 * ceil(expected_pairs(Sprt(0, 60), 0) / 4)  # four pairs between two looks
    assert progress.line().startswith(f"0/~{at_first} matches")
    played = 0
    while batch := plan.take(1):
        progress.expect(plan.expected)
        record = stage.play(batch[0])
        progress.note(PlayedMatch(*batch[0], record))
        plan.tell(batch[0], record.returns)
        played += 1
        left = re.match(r"(\d+)/~(\d+) matches", progress.line())
        assert left is not None
        assert played <= int(left[2]) <= 2 * at_first
    progress.expect(plan.expected)
    assert progress.line().startswith(f"{played}/~{played} matches")
    assert played < at_first


def test_the_rate_after_a_resume_counts_only_new_matches(clock: VirtualClock) -> None:
    """Reading the store takes 0.4 s. Then 3 matches in 0.2 s are 15 per second."""
    spec = load_spec(SPEC | {"rounds": 6})
    stage, plan = MatchRunner(spec), Schedule(spec).take(12)
    played = [PlayedMatch(*one, stage.play(one)) for one in plan[:9]]
    with Progress(spec.boards, 12, io.StringIO()) as progress:
        clock.sleep(0.4)
        for _ in played[:6]:
            progress.found(failed=False)
        clock.sleep(0.2)
        for one in played[6:]:
            progress.note(one)
        assert re.fullmatch(r"9/12 matches, 15/s, .* left", progress.line())


def test_the_time_left_excludes_matches_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth entry joins four, so 8 of the 20 matches of each round are new."""
    monkeypatch.setattr("arena.tournament.queue.MATCHES_PER_LOOKUP", 60)
    agents = [{"agent": "random", "label": str(number)} for number in range(4)]
    run({**SPEC, "rounds": 6, "agents": agents}, store=tmp_path / "some.db")
    spec = load_spec({**SPEC, "rounds": 6, "agents": [*agents, "greedy"]})
    stage, left = MatchRunner(spec), []
    with Progress(spec.boards, spec.size, io.StringIO()) as progress, Store.open(tmp_path / "some.db", write=True) as store:
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store, found=progress.found)
        progress.left = feed.left
        while batch := feed.take(1):
            record = stage.play(batch[0])
            feed.finish(batch[0], record)
            progress.note(PlayedMatch(*batch[0], record))
            left.append(feed.left(spec.size))
        assert " left" not in progress.line()
    assert spec.size == 120
    assert left == pytest.approx(list(reversed(range(48))), rel=0.15)
    assert left[-1] == 0


FAULTY = """
from arena import Agent, hookimpl

class Refuses(Agent):
    name = "refuses"
    def choose(self, game, state, search):
        return "no such action"

@hookimpl
def arena_agents():
    return [Refuses]
"""


def test_failures_are_counted_among_the_newly_played_matches_after_a_resume(tmp_path: Path) -> None:
    """The store has 4 matches of two entries. A third entry adds 8 matches, of which 4 are lost by a fault."""
    plugin = tmp_path / "faulty.py"
    plugin.write_text(FAULTY)
    values = {**SPEC, "rounds": 2, "plugins": [str(plugin)]}
    run({**values, "agents": ["random", "refuses"]}, store=tmp_path / "some.db")
    spec = load_spec({**values, "agents": ["random", "refuses", "greedy"]})
    stage = MatchRunner(spec)
    with Progress(spec.boards, spec.size, io.StringIO()) as progress, Store.open(tmp_path / "some.db", write=True) as store:
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store, found=progress.found)
        while batch := feed.take(1):
            record = stage.play(batch[0])
            feed.finish(batch[0], record)
            progress.note(PlayedMatch(*batch[0], record))
        store.flush()
        stored = dict(store.query("SELECT termination, count(*) FROM record GROUP BY termination"))
        assert re.fullmatch(r"12/12 matches, .*/s, 8 failed", progress.line())
    assert stored == {"illegal-action": 8, "normal": 4}


def test_void_matches_are_not_counted_as_failures_of_agents() -> None:
    spec = load_spec(SPEC)
    stage, (first, second) = MatchRunner(spec), Schedule(spec).take(2)
    with Progress(spec.boards, 6, io.StringIO()) as progress:
        progress.note(PlayedMatch(*first, stage.play(first)._replace(termination="void")))
        progress.note(PlayedMatch(*second, stage.play(second)._replace(termination="timeout", seat=0)))
        assert progress.line().endswith(" left, 1 failed, 1 void")


def test_a_shard_counts_only_its_own_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """About a third of 600 matches belong to the first of three shards; how many exactly is known when all are looked up."""
    monkeypatch.setattr("arena.tournament.queue.MATCHES_PER_LOOKUP", 60)
    spec = load_spec({**SPEC, "rounds": 300})
    own = sum([Shard(1, 3).has(one.match_id(spec)) for one in Schedule(spec).take(600)])
    stage, lines = MatchRunner(spec), []
    with Progress(spec.boards, spec.size, io.StringIO()) as progress, Store.open(tmp_path / "some.db", write=True) as store:
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store, Shard(1, 3))
        progress.share = feed.share
        while batch := feed.take(1):
            lines.append(progress.line())
            record = stage.play(batch[0])
            feed.finish(batch[0], record)
            progress.note(PlayedMatch(*batch[0], record))
        lines.append(progress.line())
    sizes = [re.match(r"(\d+)/(~?)(\d+) matches", line) for line in lines]
    assert all(size is not None and int(size[1]) == count for count, size in enumerate(sizes))
    assert [abs(int(size[3]) - own) < 60 for size in sizes if size is not None] == [True] * (own + 1)
    assert sizes[0] is not None
    assert sizes[0][2] == "~"
    assert lines[-1].startswith(f"{own}/{own} matches")


def test_the_progress_line_shows_the_current_number_of_workers() -> None:
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 3})
    progress, staff = Progress(spec.boards, 6, io.StringIO()), ["1 worker", "no worker"]
    progress.staff = staff.pop
    progress.say(0, "a word")
    assert [progress.line(), progress.line()] == [
        "0/6 matches, 0.00/s, no worker, a word", "0/6 matches, 0.00/s, 1 worker, a word"
    ]  # fmt: skip


@pytest.mark.process
def test_quiet_progress_prints_nothing() -> None:
    assert watched(io.StringIO(), quiet=True) == watched(Terminal(), quiet=True) == ""


@pytest.mark.process
def test_a_terminal_shows_one_line_that_is_erased_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "15")
    seen = watched(Terminal())
    assert "\n" not in seen
    assert "\r\x1b[K6/6 matches, " in seen
    assert {len(line) for line in seen.split("\r\x1b[K")} == {0, 14}
    assert seen.endswith("\r\x1b[K")


def test_durations_are_shown_in_suitable_units() -> None:
    spoken = {0: "0 s", 59.4: "59 s", 60: "1 min", 200: "3 min 20 s", 7500: "2 h 5 min", 93600: "1 d 2 h"}
    assert {seconds: figures.span(seconds) for seconds in spoken} == spoken


@pytest.mark.process
def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path: Path) -> None:
    """The agent catches the first one and goes on."""
    (tmp_path / "deaf.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class Deaf(Agent):\n"
        '    """Hears nothing."""\n'
        '    name = "deaf"\n'
        "    def choose(self, game, state, search):\n"
        "        open('thinking', 'w').close()\n"
        "        while True:\n"
        "            try:\n"
        "                while True: sum(range(1000))\n"
        "            except BaseException: pass\n"
        "@hookimpl\ndef arena_agents(): return [Deaf]\n"
    )
    code = "import arena; from arena.processes.interrupts import user_interrupts\n"
    spec = {"game": "tic-tac-toe", "agents": ["deaf", "random"], "plugins": ["deaf.py"]}
    code += f"with user_interrupts(at_once=True): arena.run({spec!r})"
    started = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    eventually((tmp_path / "thinking").exists)
    time.sleep(0.3)  # from there it is not far to where it is deaf
    started.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert started.poll() is None
    started.send_signal(signal.SIGINT)
    assert started.wait(DEADLINE_SECONDS) == 130


@pytest.mark.process
def test_a_notice_is_printed_on_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(load_spec(SPEC).boards, 6, stream):
        eventually(lambda: "0/6 matches" in stream.getvalue())
        say("note: something")
    assert "\r\x1b[Knote: something\n" in stream.getvalue()


@pytest.mark.process
def test_the_progress_line_is_erased_at_the_end_of_a_run(tmp_path: Path) -> None:
    """The test uses a pseudo-terminal of 60 columns."""
    (tmp_path / "some.yaml").write_text("game: tic-tac-toe\nrounds: 3\nagents: [random, type-a, type-a-plus]\n")
    words = ("run", "some.yaml", "--no-store", "--workers", "1", "--plain")
    result, seen = at_terminal(tmp_path, *words, TERM="xterm", COLUMNS="60", LINES="20")
    assert "type-a-plus" in result
    assert b"/18 matches" in seen
    assert seen.rpartition(b"\r\x1b[K")[2].strip() == b""


@pytest.mark.process
def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    seen = watched(Terminal())
    assert "\x1b" not in seen
    assert "6/6 matches" in seen
