"""A ladder for solvers: positions that grow and stay hidden, standings and marks from the same positions, and hostile solvers."""

import csv
import io
import itertools
import random
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import arena_ladder
from arena import Record
from arena.cli import cli
from arena.columns import PUZZLE
from arena.errors import SpecError
from arena.match.record import Decision
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Way
from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.examination import examine
from arena_ladder.judge import NotPassed
from arena_ladder.ledger import Ledger
from arena_ladder.mark_book import Attempt, AttemptBook, Candidate, score_attempt
from arena_ladder.mark_plan import measure_speed
from arena_ladder.mark_sheets import describe_open
from arena_ladder.matchmaking import PositionSchedule, list_attempts
from arena_ladder.season import season_spec
from arena_ladder.spec import Marks, PositionKeys, check_ladder, load_ladder
from tests.eventually import eventually
from tests.ladder.hosting import SPEC as HOSTED, HostedLadder, agent
from tests.ladder.test_ladder_pages import NARROW, WIDE, Visitor

GOOD = """
game: {name: sliding-tiles, rows: 2, columns: 3}
agents: [best-first, ida-star]
limits: {seconds: 1}
positions: {start: 10, more: 5, every: hour, most: 40}
effort: nodes
marks: {pass: best-first, top: ida-star, margin: 150, size: 2}
"""


def test_the_spec_of_a_puzzle_has_its_own_defaults(tmp_path: Path) -> None:
    """There are no ratings and no openings, and the seed is secret."""
    (tmp_path / "puzzle.yaml").write_text(GOOD)
    read = load_ladder(tmp_path / "puzzle.yaml")
    assert read.solvers is not None
    assert (read.solvers.positions, read.solvers.effort) == (PositionKeys(start=10, more=5, every="hour", most=40), "nodes")
    assert (read.spec.secret, read.anchor, read.marks and read.marks.effort) == (True, None, "nodes")
    assert check_ladder(str(tmp_path / "puzzle.yaml"), ()).endswith("open to everyone, marks pass, top")
    (tmp_path / "puzzle.yaml").write_text("game: pancake\nagents: [bfs]\nlimits: {seconds: 2}\n")
    read = load_ladder(tmp_path / "puzzle.yaml")
    assert read.solvers is not None
    assert (read.solvers.positions, read.solvers.effort) == (PositionKeys.model_validate({}), "seconds")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("limits: {seconds: 1}", "limits: {nodes: 9}", "limits: expected `seconds`, because the search for a solution may"),
        ("positions: {", "positions: {mroe: 3, ", "positions.mroe: unknown key; did you mean 'more'"),
        ("every: hour", "every: month", "positions.every: expected"),
        ("start: 10", "start: 0", "positions.start: expected"),
        ("effort: nodes", "effort: moves", "effort: expected"),
        ("effort: nodes", "seed: 5", "seed: the hidden positions are derived from the seed"),
        (
            "effort: nodes",
            "feedback: {at: 02:00+01:00}",
            "feedback: it shows positions, and the positions of a puzzle are hidden",
        ),
        ("effort: nodes", "anchor: ida-star", "anchor: a ladder for a puzzle has no ratings; remove this key"),
        ("effort: nodes", "until: {interval: 30}", "until.interval: a ladder for a puzzle has no ratings"),
        (
            "positions: {start: 10, more: 5, every: hour, most: 40}",
            "positions: ['1 2 3 / 4 5 .']",
            "stay hidden; expected settings such as",
        ),
    ],
)
def test_errors_in_the_spec_of_a_puzzle_are_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    (tmp_path / "puzzle.yaml").write_text(GOOD.replace(old, new).replace("marks:", "#"))
    with pytest.raises(SpecError, match=message):
        load_ladder(tmp_path / "puzzle.yaml")


@pytest.mark.process
def test_hidden_positions_come_from_a_file(tmp_path: Path) -> None:
    """Attempt k uses position k of the file. No more positions are used than the file has, and errors name the line."""
    spec = tmp_path / "puzzle.yaml"
    quick = GOOD.replace("seconds: 1}", "seconds: 0.1}").replace("best-first, ida-star", "best-first")
    spec.write_text(quick.replace("positions: {", "positions: {file: hidden.txt, ").partition("marks")[0])
    texts = ["1 2 3 / 4 . 5", "1 2 3 / . 4 5", "1 2 . / 4 5 3"]
    (tmp_path / "hidden.txt").write_text("# mine\n" + "\n".join(texts))
    read = load_ladder(spec)
    assert read.solvers is not None
    assert (read.solvers.positions.most, read.solvers.positions.count(0.0)) == (3, 3)
    season = season_spec(read.spec, (), 0)
    assert [season.boards[0].positions[number].text for number in range(3)] == texts
    assert measure_speed(read.spec).seconds > 0
    (tmp_path / "hidden.txt").write_text("\n".join([*texts, "1 2 3"]))
    with pytest.raises(SpecError, match=r"hidden.txt:4"):
        load_ladder(spec)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("positions: {start: 3}", "positions: only the hidden positions of a puzzle grow"),
        ("effort: nodes", "effort: only solvers of puzzles are compared by their effort"),
    ],
)
def test_keys_for_puzzles_are_refused_for_games_with_two_seats(tmp_path: Path, more: str, message: str) -> None:
    (tmp_path / "course.yaml").write_text(f"game: tic-tac-toe\nagents: [random, greedy]\n{more}\n")
    with pytest.raises(SpecError, match=message):
        load_ladder(tmp_path / "course.yaml")


def test_the_number_of_positions_grows_until_the_deadline() -> None:
    """It starts at 10 and grows by 5 per hour. After the deadline, undecided marks use all 40 positions."""
    schedule = PositionSchedule(PositionKeys(start=10, more=5, every="hour", most=40), 0.0, 3.5 * 3600)
    times = [-3600, 0, 3599, 3600, 3 * 3600, 100 * 3600]
    assert [schedule.count(now) for now in times] == [10, 10, 10, 15, 25, 25]
    assert [schedule.count_for_marks(now) for now in times] == [10, 10, 10, 15, 25, 40]
    assert [schedule.next_change(now) / 3600 for now in times] == [1, 1, 1, 2, 3.5, float("inf")]
    assert replace(schedule, deadline=float("inf")).count(100 * 3600) == 40


def test_agents_with_the_fewest_attempts_come_first() -> None:
    """Ties follow the order of the spec. No agent has more than four attempts."""
    assert "".join(list_attempts("abc", {"a": 3, "c": 2}, 4, 100)) == "bbbcabc"
    assert "".join(list_attempts("abc", {"a": 3, "c": 2}, 4, 3)) == "bbb"
    assert "".join(list_attempts("abc", {"a": 3, "c": 2}, 4, 100, gone={"b"})) == "cac"


def test_attempts_are_compared_by_solution_then_cost_then_effort() -> None:
    """Solved attempts come first, then lower costs, then less effort. Times that differ by less than a factor of two are
    equal.
    """
    none, dear, cheap, quick = Attempt(False, None, 1), Attempt(True, 9, 1), Attempt(True, 8, 90), Attempt(True, 8, 30)
    order = [none, dear, cheap, quick]
    for effort in ("nodes", "seconds"):
        for one, other in itertools.product(order, order):
            place = order.index(one) - order.index(other)
            assert score_attempt(one, other, effort) == 0.5 + (place > 0) / 2 - (place < 0) / 2
    assert score_attempt(quick, quick._replace(effort=50), "nodes") == 1
    assert score_attempt(quick, quick._replace(effort=50), "seconds") == 0.5
    assert score_attempt(quick._replace(effort=0.001), quick._replace(effort=0.049), "seconds") == 0.5
    slow = quick._replace(effort=50.0 * 30)
    ways: list[tuple[Way, Way, float]] = [("plain", "compiled", 0.5), ("compiled", "compiled", 1), (None, None, 0.5)]
    for own, its, score in ways:
        assert score_attempt(quick._replace(way=own), slow._replace(way=its), "seconds") == score, (own, its)
        assert score_attempt(quick._replace(way=own), slow._replace(way=its), "nodes") == 1
    answer = Attempt(True, None, 5)
    assert score_attempt(answer, answer._replace(effort=6), "nodes") == 1


DECISION = Decision(0, 1, 0, 0.1, None, None)
MARKS = Marks(("pass", "top"), ("low", "high"), 150.0, 0.05, "best", 2, effort="nodes")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        yield opened


def attempt(solved: float, nodes: int = 1) -> Any:
    """A record with all that a book reads of it."""
    return Record._make([None] * len(Record._fields))._replace(
        solved=bool(solved),
        cost=1.0 if solved else None,
        termination="normal" if solved else "gave-up",
        decisions=(DECISION._replace(nodes=nodes),),
    )


def test_seconds_of_compiled_and_plain_attempts_are_not_compared(ledger: Ledger) -> None:
    """The agent is a hundred times as fast as both baselines. One baseline ran compiled, like the agent, and the other did
    not.
    """
    book = AttemptBook(replace(MARKS, effort="seconds"), [Candidate("ada", "ada/mine@1", 1)], ledger)
    timings = {"ada/mine@1": {"compiled": [1]}, "low": {"compiled": [1]}, "high": {"plain": [1]}}
    for label, timing in timings.items():
        for number in range(10):
            record = attempt(True)
            seconds = 0.1 if label == "ada/mine@1" else 10.0
            book.take([label], number, record._replace(decisions=(DECISION._replace(seconds=seconds),), timing=timing))
    assert [book.tests.counts[0, column].tolist() for column in range(2)] == [[0, 0, 0, 0, 10], [0, 0, 10, 0, 0]]


def test_a_mark_test_uses_the_positions_in_their_order(ledger: Ledger) -> None:
    """Attempts may end in any order. The result equals a reference that reads them in order up to the first missing one."""
    rng = random.Random(4)
    book = AttemptBook(MARKS, [Candidate("ada", "ada/mine@1", 1), Candidate("bob", "bob/mine@1", 1)], ledger)
    shares = {"ada/mine@1": 0.9, "bob/mine@1": 0.3, "low": 0.2, "high": 0.8}
    ends = [(label, number) for label in shares for number in range(60)]
    rng.shuffle(ends)
    known: dict[tuple[str, int], Any] = {}
    for label, number in ends:
        record = attempt(rng.random() < shares[label], rng.randrange(3))
        record = record._replace(termination="void") if rng.random() < 0.05 else record
        known[label, number] = record
        book.take([label], number, record)
        for row, candidate in enumerate(book.candidates):
            for column, baseline in enumerate(MARKS.labels):
                scores = []
                for place in itertools.count():
                    one, other = known.get((candidate.label, place)), known.get((baseline, place))
                    if one is None or other is None:
                        break
                    if "void" not in (one.termination, other.termination):
                        merits = [(made.solved, -made.decisions[0].nodes if made.solved else 0) for made in (one, other)]
                        scores.append(0.5 + (merits[0] > merits[1]) / 2 - (merits[0] < merits[1]) / 2)
                assert book.tests.counts[row, column].tolist() == [scores.count(0.0), 0, scores.count(0.5), 0, scores.count(1.0)]
    assert len(scores) > 40
    assert {row.author: row.mark for row in book.rows(["ada", "bob"])}["ada"] == "pass"


def test_attempts_are_made_only_for_undecided_marks(ledger: Ledger) -> None:
    """The agent and the baseline make their missing attempts, the baseline only once. Nothing is left at the last position."""
    book = AttemptBook(MARKS, [Candidate("ada", "ada/mine@1", 1), Candidate("bob", "bob/mine@1", 1)], ledger)
    assert book.pairs(100) == [], "there are no positions yet"
    book.positions = 2
    plan = book.pairs(100)
    assert (
        sorted(label for _, label, _ in plan) == ["ada/mine@1"] * 2 + ["bob/mine@1"] * 2 + ["high"] * 2
        or sorted(label for _, label, _ in plan) == ["ada/mine@1"] * 2 + ["bob/mine@1"] * 2 + ["low"] * 2
    )
    ledger.plan(plan)
    assert book.pairs(100) == []
    for label in ("ada/mine@1", "bob/mine@1", *MARKS.labels):
        for number in range(2):
            book.take([label], number, attempt(label == "ada/mine@1"))
    book.positions = 3
    assert sorted({label for _, label, _ in book.pairs(100)})[:2] == ["ada/mine@1", "bob/mine@1"]
    assert book.pairs(100, gone={"ada/mine@1", "bob/mine@1"}) == []
    rows = list(book.rows(["ada", "bob"]))
    assert [row.is_open for row in rows] == [True, True]
    assert "more positions decide" in describe_open(rows, 100.0, 2.0, solve=True)


SPEC = """
game: {name: sliding-tiles, rows: 2, columns: 3}
agents: [{agent: best-first, isolation: none}]
isolation: process
limits: {seconds: 1, start_seconds: 100}
positions: {start: START, more: 0, most: 40}
submissions: {per_day: 1000}
marks: {pass: {agent: best-first, isolation: none}, margin: 200, size: 1, error: 0.4}
"""
SOLVER = """
from arena import Agent, Path, hookimpl
import sys, time

class Mine(Agent):
    name = "mine"

    def solve(self, game, state, search):
        print("wombat", flush=True)
        BODY
        ways, frontier = {state: ()}, [state]
        for here in frontier:
            if game.is_goal(here):
                return Path(ways[here])
            for action in game.actions(here):
                there = game.result(here, action)
                if there not in ways:
                    ways[there] = (*ways[here], action)
                    frontier.append(there)

@hookimpl
def arena_agents():
    return [Mine]
"""


def solver(body: str = "pass") -> bytes:
    """The file of a solver that finds the cheapest solutions by breadth-first search."""
    return SOLVER.replace("BODY", body).encode()


def check_rows(ladder: HostedLadder) -> None:
    """The standings of a final ladder are those of its store."""
    [board] = Leaderboard.load(ladder.folder / "results" / "course.db")
    of_store = {row["agent"]: row for row in board.rows}
    for row in ladder.rows():
        assert of_store[row["agent"]]["seconds_per_attempt"] == pytest.approx(row["seconds_per_attempt"])  # sums in two orders
        kept = {key: row[key] for key in row.keys() - {"settled", "level_with", "rank", "seconds_per_attempt"}}
        assert {key: of_store[row["agent"]][key] for key in kept} == kept


@pytest.mark.process
def test_solvers_are_ranked_on_a_ladder(tmp_path: Path) -> None:
    """A cheapest solution beats a greedy one. A solver that does not respond costs its time limit, and a hostile one is
    suspended.
    """
    flag = tmp_path / "matches"
    spec = SPEC.replace("START", "6").replace("{per_day", "{closes: 2100-01-01T00:00Z, per_day")
    with HostedLadder(tmp_path, spec) as ladder:
        tokens = dict(zip(("ada", "bob", "cyd"), ladder.tokens("ada", "bob", "cyd"), strict=True))
        # In a check, a solver prints no position: it may be one of the hidden ones by chance, because there are only 360.
        inside = f"import os; match = os.path.exists({str(flag)!r}); print(game.format_state(state) if match else '', flush=True)"
        bodies = {
            "ada": inside,
            "bob": f"{inside}\n        time.sleep(600 if match else 0)",
            "cyd": f"{inside}\n        assert not match, game.format_state(state)",
        }
        assert ladder.admin("pause").returncode == 0
        keys = {name: ladder.submit(tokens[name], solver(body)).body["id"] for name, body in bodies.items()}
        for name, key in keys.items():
            told = ladder.verdict(tokens[name], key)
            assert told["agent"] == f"{name}/mine@1", told
        flag.touch()
        ladder.admin("resume")
        eventually(lambda: ladder.ask("/health").body["state"] == "idle")
        best, greedy, silent = sorted(
            ladder.rows(), key=lambda row: ["ada/mine@1", "best-first", "bob/mine@1"].index(row["agent"])
        )
        assert [(row["attempts"], row["solved"], row["settled"]) for row in (best, greedy)] == [(6, 1.0, True)] * 2
        assert {(row["nodes_per_attempt"], row["seconds_per_attempt"]) for row in (best, greedy, silent)} == {(None, None)}
        assert best["mean_cost"] <= greedy["mean_cost"]
        with Store.open(tmp_path / "results" / "course.db") as store:
            ids = [key.hex() for (key,) in store.query("SELECT id FROM record")]
            attempts = [(place.pairing, record) for record, place in store.found(ids).values() if place is not None]
        by_round = {pairing.round: record.position for pairing, record in attempts}
        assert {*by_round} == {*range(6)}
        free = {pairing.round for pairing, record in attempts if record.solved and not record.actions}  # drawn solved by chance
        assert (silent["attempts"], silent["solved"], silent["settled"]) == (6, pytest.approx(len(free) / 6), True)
        assert (silent["failures"], silent["failures_by_kind"]) == (6 - len(free), {})
        assert all(by_round[pairing.round] == record.position for pairing, record in attempts), "everybody has the same ones"
        hidden, match = {*by_round.values()}, attempts[0][1].id
        addresses = [f"/api/submissions/{key}{more}" for key in keys.values() for more in ("", "/log")]
        addresses += ["/api/live", "/api/standings", "/api/ladder", "/api/submissions", "/api/t/ladder/matches", "/metrics"]
        addresses += [f"/api/t/ladder/match/{match}{more}" for more in ("", "/around")]
        addresses += [f"/api/t/ladder/panels?place=match&id={match}", f"/t/ladder/match/{match}"]
        for address, token in itertools.product(addresses, tokens.values()):
            answer = str(ladder.ask(address, token).body)
            assert not [position for position in hidden if position in answer], address
        for path in (f"match/{match}", f"match/{match}/around", "matches", "entry?name=best-first"):
            assert ladder.ask(f"/api/t/ladder/{path}").status == 403
        logs = {name: ladder.ask(f"/api/submissions/{keys[name]}/log", tokens[name]).body for name in tokens}
        assert all(log["hidden"] and "wombat" in log["log"] for log in logs.values()), "the output of the check is not hidden"
        assert logs["bob"]["lost"] == []
        reason = ladder.ask(f"/api/submissions/{keys['cyd']}", tokens["cyd"]).body["reason"]
        assert reason == "it lost 5 matches in a row through its own fault; the last time: exception"
        marks = {row["id"]: row for row in csv.DictReader(io.StringIO(ladder.admin("marks", "--csv").stdout))}
        # The positions are drawn anew in each run, so the mark of ada may be open.
        assert [(marks[name]["mark"], marks[name]["open"]) for name in ("bob", "cyd")] == [("", ""), ("", "")]
        assert (marks["ada"]["pairs"], marks["bob"]["faults"]) == ("6", "6")
        assert ladder.admin("reopen", "2020-01-01T00:00Z").returncode == 0
        eventually(lambda: ladder.ask("/health").body["state"] == "final")
        assert ladder.ask(f"/api/t/ladder/match/{match}").status == 200
        check_rows(ladder)
        assert ladder.ask(f"/api/submissions/{keys['bob']}/log", tokens["bob"]).body["lost"][0]["termination"] == "timeout"
        shown = ladder.ask(f"/api/submissions/{keys['cyd']}/log", tokens["cyd"]).body
        assert (shown["hidden"], shown["lost"][0]["message"][:16]) == (False, "AssertionError: ")


def test_a_plan_forecasts_the_attempts_at_a_puzzle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every author and baseline attempts each position at most once. Half the positions need half the attempts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "puzzle.yaml").write_text(GOOD)
    words = ["ladder", "plan", "puzzle.yaml", "--authors", "30", "--seconds", "2", "--cores", "2"]
    assert cli(words, standalone_mode=False) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "30 authors; an attempt takes 2 s"
    assert [line.partition(":")[0] for line in lines] == [
        "marks with a margin of 150 Elo on at most 40 positions",
        "marks with a margin of 300 Elo on at most 40 positions",
        "one version of every author on 40 positions",
        "one version of every author on 20 positions",
    ]
    counts = [int(line.partition(": ")[2].partition(" attempts")[0].replace(",", "")) for line in lines]
    assert 30 + 2 <= counts[1] < counts[0] <= (30 + 2) * 40
    assert counts[2:] == [1200, 600]
    assert "marks stay open" in lines[0]


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_a_puzzle_and_a_game_share_a_ladder_site(browser: Any, tmp_path: Path) -> None:
    """Two assignments share a token. Pages show solved shares but no positions, and the name of an author only to this author."""
    term = tmp_path / "term"
    term.mkdir()
    (term / "roster.csv").write_text("id,name,e-mail,team\n4711,Ada Lovelace,a@example.org,engines\n4712,Bob,b@example.org,\n")
    authors = "{authors: roster.csv, names: pseudonyms}"
    (term / "puzzle.yaml").write_text(SPEC.replace("START", "3").replace("{per_day: 1000}", authors))
    (term / "noughts.yaml").write_text(
        HOSTED.replace("{per_day: 1000}", authors).replace("200", "400") + "limits: {seconds: 60}\n"
    )
    with HostedLadder(tmp_path, target="term") as ladder:
        made = ladder.admin("tokens", "--all", spec="term/noughts.yaml")
        token = next(csv.DictReader(io.StringIO(made.stdout)))["token"]
        base, ladder.url = ladder.url, f"{ladder.url}/puzzle"
        told = ladder.verdict(token, ladder.submit(token, solver()).body["id"])
        author = told["agent"].partition("/")[0]
        assert (told["status"], author[:2]) == ("playing", "p-"), told
        eventually(lambda: len(rows := ladder.rows()) >= 2 and {row["attempts"] for row in rows} == {3}, ladder.rows)
        ladder.url = base
        with Visitor(browser, ladder, NARROW, token) as visitor:
            page = visitor.go("/", "a.door")
            page.get_by_role("link", name="puzzle").click()
            page.get_by_text("Ordered by the share of 3 hidden positions that an agent solves").wait_for()
            assert page.get_by_role("row", name=told["agent"]).get_by_role("cell").all_inner_texts()[1:3] == [
                "100.0 %",
                "43.9 % to 100.0 %",
            ]
            visitor.check("puzzle-standings", NARROW, WIDE)
            assert "Ada" not in page.content()
            page.get_by_role("link", name=told["agent"]).click()
            page.get_by_text("Attempts are hidden until the ladder is final").wait_for()
            visitor.check("puzzle-agent", NARROW, WIDE)
            page.get_by_role("link", name="Yours").click()
            page.get_by_text(
                f"You are Ada Lovelace (4711) of the team engines. Tables and pages call your team {author}."
            ).wait_for()
            visitor.check("puzzle-yours", NARROW, WIDE)
        with Visitor(browser, ladder) as visitor:
            visitor.go("/puzzle/t/ladder/matches", "text=attempts and their positions are hidden until this ladder is final")
            visitor.go(f"/puzzle/t/ladder/match/{'0' * 32}", "text=positions are hidden until this ladder is final")
            assert "Ada" not in visitor.page.content()


@pytest.mark.process
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (agent(), "mine has no method `solve` on sliding-tiles; in a puzzle, the time limit applies to the whole solution"),
        (solver("return Path(())"), "its first move: illegal-action: the path of 0 actions does not end at a goal"),
        (solver("time.sleep(60)"), None),
    ],
    ids=["steps", "wrong", "slow"],
)
def test_the_check_refuses_wrong_solvers(ledger: Ledger, tmp_path: Path, content: bytes, reason: str | None) -> None:
    """An agent that moves step by step is refused, and so is a wrong solution. A slow solver passes, because it may solve other
    positions.
    """
    (tmp_path / "puzzle.yaml").write_text(SPEC.replace("START", "3"))
    ledger.expect("ada")
    one = ledger.submit("ada", None, "python", "mine.py", content, 100)
    if reason is None:
        assert examine(load_ladder(tmp_path / "puzzle.yaml"), CodeFolder(ledger, 1 << 20), one).name == "mine"
        return
    with pytest.raises(NotPassed, match=re.escape(reason)):
        examine(load_ladder(tmp_path / "puzzle.yaml"), CodeFolder(ledger, 1 << 20), one)


def test_columns_have_the_same_names_as_on_boards() -> None:
    """The page adds columns for the course and for faults."""
    folder = Path(arena_ladder.__file__).parent / "static"
    for file in ("standings.js", "ladder_agent.js"):
        text = (folder / file).read_text()
        names = re.findall(r'"((?:Mean|[A-Z0-9])[^"]*)"', next(line for line in text.splitlines() if '"Mean cost"' in line))
        names += re.findall(r'figure\("(Generated|Nodes|Expanded)"', text)
        names = [name for name in names if name not in ("Elo", "Games", "Score", "Faults")]
        assert set(names) <= {column.heading for column in PUZZLE}, file
