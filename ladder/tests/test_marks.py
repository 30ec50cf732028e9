"""Marks of a ladder: the versions that count, what is played for them, the sheets, and a ladder that decides them."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.cli import cli
from arena.errors import SpecError
from arena.store import Store
from arena_ladder.ledger import Ledger
from arena_ladder.mark_book import Candidate, MarkBook, list_candidates
from arena_ladder.mark_sheets import as_csv, describe_open, gradescope_results
from arena_ladder.roster import Person
from arena_ladder.spec import Marks, load_ladder
from arena_ladder.submissions import Submission
from tests.eventually import eventually
from tests.ladder.hosting import GOOD, HostedLadder, agent

SPEC = """
game: tic-tac-toe
agents: [random, {agent: greedy, label: staff}]
seed: 5
marks: {pass: random, good: staff, top: {agent: minimax}, margin: 30, size: 10}
until: {marks: decided}
"""
MARKS = Marks(("pass", "good", "top"), ("random", "staff", "minimax"), 20.0, 0.05, "best", 10)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        yield opened


def test_baselines_may_be_entries_or_additional_agents(tmp_path: Path) -> None:
    """Baselines are found by entry or label. Other agents are added as entries."""
    (tmp_path / "course.yaml").write_text(SPEC)
    read = load_ladder(tmp_path / "course.yaml")
    assert read.marks == Marks(("pass", "good", "top"), ("random", "staff", "minimax"), 30.0, 0.05, "best", 10)
    assert [seat.label for seat in read.spec.boards[0].seats] == ["random", "staff", "minimax"]
    assert not read.rates
    (tmp_path / "names.txt").write_text("ada\nbob\n")
    spec = SPEC.replace(", size: 10", "").replace("{marks: decided}", "{marks: decided, interval: 30}")
    (tmp_path / "course.yaml").write_text(spec + "submissions: {authors: names.txt}\n")
    read = load_ladder(tmp_path / "course.yaml")
    assert (read.marks and read.marks.size, read.interval, read.rates) == (2, 30, True)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ("{size: 3}", "marks: expected at least one baseline"),
        ("{Pass: random, size: 3}", "marks.Pass: not a valid mark name"),
        ("{pass: random}", "marks: expected `size`, the number of authors"),
        ("{pass: random, size: 3, margin: 0}", "marks.margin: expected"),
        ("{pass: random, good: random, size: 3}", "marks: every mark needs its own baseline"),
        ("{pass: deep-blue, size: 3}", "deep-blue"),
        ("[random]", "marks: expected a baseline for each mark"),
    ],
)
def test_errors_in_the_key_marks_are_reported(tmp_path: Path, marks: str, message: str) -> None:
    (tmp_path / "course.yaml").write_text(f"game: tic-tac-toe\nagents: [random, greedy]\nmarks: {marks}\n")
    with pytest.raises(SpecError, match=message):
        load_ladder(tmp_path / "course.yaml")


def hand_in(ledger: Ledger, author: str, version: int, status: str = "playing") -> Submission:
    """A submission that is accepted, without a check of its code."""
    ledger.expect(author)
    one = ledger.submit(author, "mine", "python", "mine.py", b"x", 100)
    return replace(one, version=version, decided=float(one.number), status=status)  # type: ignore[arg-type]


def test_withdrawn_versions_keep_their_numbers(ledger: Ledger) -> None:
    """The third version has number 3, although the first one was withdrawn."""
    found = [hand_in(ledger, "ada", 1, "withdrawn"), *[hand_in(ledger, "ada", number) for number in (2, 3)]]
    two, three = Candidate("ada", "ada/mine@2", 2), Candidate("ada", "ada/mine@3", 3)
    assert list_candidates(found, "best") == [two, three]
    assert list_candidates(found, "last") == [three]


def win(book: MarkBook, label: str, baseline: str, pairs: int, points: float = 1.0) -> None:
    """Play pairs in which `label` wins all games, or has other points."""
    met = int(book.tests.counts.sum())
    for round_ in range(met, met + pairs):
        book.finished((label, baseline), round_, (points, 1 - points), None)
        book.finished((baseline, label), round_, (1 - points, points), None)


def test_matches_are_played_only_for_undecided_marks(ledger: Ledger) -> None:
    """After a decision, the search continues with a higher mark and stops at the highest. Another process reads the decisions."""
    candidates = [Candidate("ada", "ada/mine@1", 1), Candidate("bob", "bob/mine@1", 1)]
    book = MarkBook(MARKS, candidates, ledger)
    assert set(book.pairs(8)) == {(0, "ada/mine@1", "staff"), (0, "bob/mine@1", "staff")}
    assert len(book.pairs(8)) == 8
    win(book, "ada/mine@1", "staff", 40)
    assert {pair for pair in book.pairs(8) if "ada/mine@1" in pair} == {(0, "ada/mine@1", "minimax")}
    win(book, "ada/mine@1", "minimax", 40)
    assert {label for _, label, _ in book.pairs(8)} == {"bob/mine@1"}
    assert book.pairs(8, gone={"bob/mine@1"}) == []
    assert book.pairs(8, barred=[frozenset(("bob/mine@1", "staff"))]) == []
    again = MarkBook(MARKS, candidates, ledger)
    assert np.array_equal(again.tests.decisions, book.tests.decisions)
    other = MarkBook(replace(MARKS, margin=10.0), candidates, ledger)
    assert not other.tests.decisions.any(), "decisions under other terms do not count"


def test_another_version_plays_only_if_it_may_raise_the_mark(ledger: Ledger) -> None:
    """The first version has reached the second mark. The second version is below it and stops playing."""
    book = MarkBook(MARKS, [Candidate("ada", f"ada/mine@{number}", number) for number in (1, 2)], ledger)
    win(book, "ada/mine@1", "staff", 40)
    win(book, "ada/mine@1", "minimax", 60, 0.0)
    assert {label for _, label, _ in book.pairs(4)} == {"ada/mine@2"}
    win(book, "ada/mine@2", "staff", 60, 0.0)
    assert book.pairs(4) == []
    [row] = book.rows(["ada"])
    assert (row.mark, row.agent, row.is_open) == ("good", "ada/mine@1", False)


@pytest.mark.parametrize(
    ("penalty", "agent", "points", "plays"), [(0.2, 2, 1.6, True), (0.6, 1, 1.0, True), (1.0, 1, 1.0, False)]
)
def test_a_late_version_counts_if_it_has_more_points(
    ledger: Ledger, penalty: float, agent: int, points: float, plays: bool
) -> None:
    """The first mark in time is worth 1 point. Late, the second mark is worth 2 points and the third 3 points, less the
    penalty.
    """
    own = [Candidate("ada", "ada/mine@1", 1), Candidate("ada", "ada/mine@2", 2, is_late=True)]
    book = MarkBook(replace(MARKS, penalty=penalty), own, ledger)
    win(book, "ada/mine@1", "staff", 60, 0.0)
    win(book, "ada/mine@1", "random", 40)
    assert ("ada/mine@2" in str(book.pairs(4))) == plays
    win(book, "ada/mine@2", "staff", 60)
    assert ("minimax" in str(book.pairs(4))) == plays
    win(book, "ada/mine@2", "minimax", 60, 0.0)
    [row] = book.rows(["ada"])
    assert (row.agent, row.points, row.is_open) == (f"ada/mine@{agent}", points, False)
    told = gradescope_results(row)
    assert (told["score"], "loses 20 % of its points" in told["output"]) == (points, agent == 2)


def test_mark_sheets_list_the_mark_of_each_author(ledger: Ledger) -> None:
    """Authors keep their order and are listed even without a version. An undecided mark has a forecast instead of a mark."""
    book = MarkBook(MARKS, [Candidate("ada", "ada/mine@1", 1, is_late=True), Candidate("bob", "bob/mine@1", 1)], ledger)
    win(book, "ada/mine@1", "staff", 40)
    win(book, "ada/mine@1", "minimax", 60, 0.0)
    rows = list(book.rows(["ada", "bob", "cyd"]))
    people = [Person(row.author, row.author.title(), team="x") for row in rows]
    (formula,) = csv.DictReader(io.StringIO(as_csv([(people[0], replace(rows[0], agent="＝1+1"))])))  # noqa: RUF001
    assert formula["agent"] == "'＝1+1"  # noqa: RUF001
    sheet = list(csv.DictReader(io.StringIO(as_csv([*zip(people, rows, strict=True)]))))
    assert [tuple(row[name] for name in ("id", "name", "team", "mark", "open", "late", "agent")) for row in sheet] == [
        ("ada", "Ada", "x", "good", "", "late", "ada/mine@1"),
        ("bob", "Bob", "x", "", "open", "", "bob/mine@1"),
        ("cyd", "Cyd", "x", "", "", "", ""),
    ]
    assert sheet[0]["reason"] == "pass: implied; good: stronger; top: not stronger"
    assert (sheet[0]["against"], sheet[0]["lead"], sheet[0]["games"], sheet[0]["faults"]) == ("top", "", "200", "0")
    assert float(sheet[0]["lead_high"]) < 0
    told = gradescope_results(rows[0])
    assert (told["score"], [test["score"] for test in told["tests"]]) == (2.0, [1.0, 1.0, 0.0])
    assert {test["status"] for test in told["tests"]} <= {"passed", "failed"}
    said = describe_open(rows, 100.0, 2.0).splitlines()
    assert said[0].startswith("bob: no mark so far; about ")
    assert said[-1] == f"2 more hours would decide about {int(2 * rows[1].more_pairs <= 200)} of 1, at 100 games an hour."
    assert describe_open(rows[:1], None, 2.0) == "No marks are undecided."


def test_a_plan_forecasts_the_time_of_a_term(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half the time per game halves the total time. Half the interval width needs four times as many games."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "course.yaml").write_text(SPEC.replace("{marks: decided}", "{interval: 40, marks: decided}"))
    words = ["ladder", "plan", "course.yaml", "--authors", "30", "--seconds", "2", "--cores", "2"]
    assert cli(words, standalone_mode=False) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "30 authors; a game takes 2 s"
    games = {
        name: int(count.replace(",", "")) for name, count in re.findall(r"^(.*): ([\d,]+) games", "\n".join(lines), re.MULTILINE)
    }
    assert list(games) == [
        "marks with a margin of 30 Elo",
        "the same with half the time per game",
        "marks with a margin of 60 Elo",
        "intervals of ±40 Elo",
        "intervals of ±80 Elo",
    ]
    whole = games["marks with a margin of 30 Elo"]
    assert f"{whole * 2 / 3600:,.1f} core-hours" in lines[0]
    assert f"{whole / 3600:,.1f} core-hours" in lines[1]
    assert games["marks with a margin of 60 Elo"] < 0.7 * whole
    assert games["intervals of ±40 Elo"] == pytest.approx(4 * games["intervals of ±80 Elo"], abs=2)


def test_a_plan_measures_the_speed_of_the_hosts_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A game of tic-tac-toe has three to seven decisions of at most a second after an opening of two plies."""
    monkeypatch.chdir(tmp_path)
    entries = "{agent: random, isolation: none}, {agent: greedy, isolation: none}"
    (tmp_path / "course.yaml").write_text(f"game: tic-tac-toe\nagents: [{entries}]\nlimits: {{seconds: 1}}\n")
    assert cli(["ladder", "plan", "course.yaml", "--authors", "30"], standalone_mode=False) == 0
    found = re.search(r"at most (\d+) s, if all decisions use the limit of 1 s", capsys.readouterr().out)
    assert found
    assert 3 <= int(found[1]) <= 7


@pytest.mark.process
def test_a_ladder_plays_until_its_marks_are_decided(tmp_path: Path) -> None:
    """Random play is not stronger than greedy play. After the decision, the ladder stops playing, even after a restart, and the
    mark sheet reports it.
    """
    spec = """
game: tic-tac-toe
agents: [{agent: random, isolation: none}, {agent: greedy, isolation: none}]
isolation: process
seed: 5
marks: {good: {agent: greedy, isolation: none}, margin: 150, size: 1}
until: {marks: decided}
"""
    with HostedLadder(tmp_path, spec) as ladder:
        (token,) = ladder.tokens("ada")
        assert ladder.verdict(token, ladder.submit(token, agent(GOOD)).body["id"])["status"] == "playing"
        eventually(lambda: not _marks(ladder)[0]["open"])
        found = _marks(ladder)
        eventually(lambda: ladder.ask("/health").body["state"] == "idle")
    assert found[0]["decisions"] == {"good": "not stronger"}
    assert (found[0]["mark"], found[0]["open"], found[0]["agent"]) == (None, False, "ada/mine@1")
    assert found[0]["lead_high"] < 150
    assert ladder.admin("marks", "--gradescope", "grades").returncode == 0
    assert json.loads((tmp_path / "grades" / "ada" / "results.json").read_text())["score"] == 0


def _marks(ladder: HostedLadder) -> list[dict[str, Any]]:
    done = ladder.admin("marks", "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
