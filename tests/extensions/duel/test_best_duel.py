"""`arena duel` with several files or several values of an option finds the best of them in real games."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

import arena
from arena.cli import cli
from arena.errors import ArenaError
from arena.spec import Spec, load_spec
from arena_duel.best_duel import PastContest, Standing, _describe, _judge_first, place_of, read_variants
from arena_duel.decision_limits import describe_sizes
from arena_duel.version_folder import VersionFolder
from tests.conftest import Arena
from tests.eventually import eventually

AGENT = """
from arena import Agent, hookimpl

class Edge(Agent):
    name = "edge"
    def __init__(self, *, wise: bool = {wise}, number: int = 0) -> None:
        self.wise = wise
    def choose(self, game, state, search):
        if not self.wise:
            return None
        return search.rng.choice(list(game.threats(state, game.to_move(state))) or game.actions(state))

@hookimpl
def arena_agents():
    return [Edge]
"""
QUICK = ("--game", "tic-tac-toe", "--openings", "2", "--workers", "1", "--format", "json", "--exit-code")


@pytest.fixture(autouse=True)
def _isolate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, wise in (("bad", False), ("good", True)):
        (tmp_path / f"{name}.py").write_text(AGENT.format(wise=wise))


def test_the_best_file_and_the_best_value_are_found(tmp_path: Path, arena: Arena, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent without a move loses every pair. The exit code refers to the first variant. The history contains both contests."""
    files = arena("duel", "bad.py", "good.py", *QUICK)
    found = json.loads(files.stdout)
    assert (files.returncode, found["answer"], found["ties"], found["verdict"]) == (4, "good", [], "worse"), files.stderr
    assert [(one["name"], one["score"], one["still_in"], one["worse_than"]) for one in found["variants"]] == [
        ("bad", 0.0, False, ["good"]),
        ("good", 1.0, True, []),
    ]
    assert found["games"] == 2 * found["variants"][0]["pairs"]
    (bad, good) = found["variants"]
    assert bad["elo_high"] < 0 < good["elo_low"]
    # An agent with all points or none has only one bound.
    assert bad["elo_low"] is bad["elo"] is good["elo"] is good["elo_high"] is None
    values = arena("duel", "bad.py", "--set", "wise=true,false", *QUICK)
    assert (values.returncode, json.loads(values.stdout)["answer"]) == (0, "wise=True"), values.stderr
    cli.main(["duel", "bad.py", "--history", "--format", "json"], standalone_mode=False)
    history = json.loads(capsys.readouterr().out)
    assert [(one["number"], one["verdict"]) for one in history] == [(1, "worse"), (2, "better")]
    cli.main(["duel", "bad.py", "--history"], standalone_mode=False)
    table = capsys.readouterr().out
    moment = datetime.fromisoformat(found["started"]).astimezone().strftime("%Y-%m-%d %H:%M")
    assert moment in table
    assert "1: bad, good. good is the best of 2 (error probability at most 5 %)." in table


def test_a_killed_contest_continues(tmp_path: Path, arena: Arena) -> None:
    """A process is killed by SIGKILL in the middle. The same call plays the other matches from its store, and the result is the
    same.
    """
    slow = AGENT.format(wise=True).replace("        return search", "        time.sleep(0.0015)\n        return search")
    # Slow decisions keep the matches from reaching the store all at once.
    (tmp_path / "good.py").write_text(f"import time\n{slow}")
    words: tuple[str, ...] = (
        "duel",
        "good.py",
        "--set",
        "number=1,2",
        "--game",
        "connect-four",
        "--openings",
        "2",
        "--format",
        "json",
    )
    words += ("--games", "24", "--workers", "1", "--exit-code")
    done = arena(*words)
    whole = json.loads(done.stdout)
    assert (done.returncode, whole["verdict"], whole["games"]) == (5, "undecided", 24), done.stderr
    shutil.rmtree(tmp_path / "duel-edge")
    begun = subprocess.Popen([sys.executable, "-m", "arena", *words, "--quiet"], cwd=tmp_path)
    store = tmp_path / "duel-edge" / "best-of" / "001.db"
    eventually(lambda: count_matches(store) or begun.poll() is not None, pause=0.005)
    begun.kill()
    assert begun.wait() == -signal.SIGKILL, "it ended before it was killed"
    assert 0 < count_matches(store) < whole["games"]
    rest = json.loads(arena(*words).stdout)
    for one in (whole, rest):
        del one["started"], one["ended"]
    assert rest == whole


def count_matches(store: Path) -> int:
    """Return the number of matches in the store so far."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])
    return 0


def test_a_contest_with_new_conditions_gets_a_number_that_no_store_has(tmp_path: Path) -> None:
    """This holds after the user has removed the store of an earlier contest. Equal conditions continue the same contest."""
    folder = VersionFolder(tmp_path, "edge.py")

    def conditions(seed: int) -> Spec:
        return load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "seed": seed})

    for seed in (1, 2, 3):
        place = place_of(folder, conditions(seed))
        assert place.name == f"00{seed}.db"
        arena.run(conditions(seed), store=place)
    (tmp_path / "001.db").unlink()
    assert place_of(folder, conditions(4)).name == "004.db"
    assert place_of(folder, conditions(2)).name == "002.db"


def test_invalid_calls_with_variants_are_refused() -> None:
    """Each error gives the expected value. No game is played."""

    def refuse(*words: str) -> str:
        with pytest.raises(ArenaError) as caught:
            cli.main(["duel", *words], standalone_mode=False)
        return str(caught.value)

    assert "no such file: nope.py" in refuse("good.py", "nope.py")
    assert "--against needs one file without variants" in refuse("good.py", "bad.py", "--against", "v1")
    assert "--margin needs several files" in refuse("good.py", "--margin", "5")
    assert "--history: expected one file, got 2" in refuse("good.py", "bad.py", "--history")
    assert "--set: depth is given twice" in refuse("good.py", "--set", "depth=1,2", "--set", "depth=3,4")


def test_an_option_with_several_values_is_a_set_of_variants() -> None:
    """The arguments are written as on the command line. Commas in brackets belong to a value."""
    assert read_variants(["rows=4,columns=5"]) == (["rows=4", "columns=5"], {})
    assert read_variants(["depth=2,3,4", "order=game,heuristic", "rows=4"]) == (
        ["rows=4"],
        {"depth": [2, 3, 4], "order": ["game", "heuristic"]},
    )
    assert read_variants(["table=[1, 2],[3]"]) == ([], {"table": [[1, 2], [3]]})


def contest(answer: str | None, **variants: tuple[bool, list[str], list[str]]) -> PastContest:
    """Return a contest with variants of the form (still in, worse than, level with)."""
    standings = [
        Standing(name, "x", "", "", {}, 1, 0.5, None, None, None, still, worse, level)
        for name, (still, worse, level) in variants.items()
    ]
    ties = [one.name for one in standings if answer and one.still_in and one.name != answer]
    return PastContest(1, "", "", "", {}, {}, 5.0, 0.05, 8, 8, answer, ties, "", "", standings)


@pytest.mark.parametrize(
    ("played", "sentence", "verdict"),
    [
        (
            contest("a", a=(True, [], ["c"]), b=(False, ["a", "c"], []), c=(True, [], ["a"])),
            "a and c are within 5 Elo, both better than the rest (error probability at most 5 %)",
            "no relevant difference",
        ),
        (
            contest("a", a=(True, [], ["c"]), b=(False, ["c"], []), c=(True, [], ["a"])),
            "a and c are within 5 Elo, each of the others is worse than one of these (error probability at most 5 %)",
            "no relevant difference",
        ),
        (
            contest("b", a=(True, [], []), b=(True, [], [])),
            "b is better than a or within 5 Elo (error probability at most 5 %)",
            "undecided",
        ),
        (contest("b", a=(False, ["b"], []), b=(True, [], [])), "b is the best of 2 (error probability at most 5 %)", "worse"),
        (contest(None, a=(True, [], []), b=(True, [], [])), "Undecided: a and b are still in the contest", "undecided"),
    ],
)
def test_the_result_of_a_contest_names_ties(played: PastContest, sentence: str, verdict: str) -> None:
    """No sentence claims more than the contest found."""
    assert (_describe(played), _judge_first(played)) == (sentence, verdict)


@pytest.mark.parametrize(
    ("game", "sized"),
    [("kuhn-poker", True), ("prisoners-dilemma", True), ("tic-tac-toe", False), ("pig", False), ("leduc-poker", True)],
)
def test_a_duel_says_whether_returns_differ_in_size(game: str, sized: bool, tmp_path: Path) -> None:
    """Among the zero-sum games, only poker has wins of different sizes. A contest says the same as a duel."""
    agents = ["random", {"agent": "random", "label": "other"}]
    spec = arena.run({"game": game, "rounds": 10, "agents": agents}, store=tmp_path / "cup.db").spec
    told = describe_sizes(spec.boards[0].game, tmp_path / "cup.db")
    assert told == (["The test counts only wins and draws, not the size of the returns."] if sized else [])
    found = replace(contest("a", a=(True, [], []), b=(False, ["a"], [])), remarks=told)
    assert found.report("arena duel a.py --history")[1 : 1 + len(told)] == told
