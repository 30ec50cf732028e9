"""`arena compare --methods`: each fact in the paragraph is the one that the records, the spec or the machine have."""

import json
import platform
import re
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import arena
from tests.extensions.compare.test_compare import called

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TERMS = {
    "Student's t of the ratings": "Student's t of the ratings (Bradley and Terry 1952; variance clustered by round)",
    "exact sign test": "exact sign tests of matches that one entry always won (Dixon and Mood 1946)",
    "sign flips": "exact sign-flip tests (Fisher 1935)",
}
GAME: dict[str, Any] = {
    "game": {"name": "tic-tac-toe", "columns": 4},
    "rounds": 12,
    "openings": {"plies": 2},
    "seed": 41,
    "limits": {"nodes": 3000},
    "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1, "limits": {"nodes": 500}}],
}


def methods(store: Path, *more: str) -> str:
    found = called("compare", str(store), "--methods", *more)
    assert found.exception is None, found.exception
    assert found.output.count("\n") == 1, "one paragraph"
    return str(found.output)


def test_the_paragraph_describes_a_board_of_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(COMMIT + "\n")
    monkeypatch.chdir(tmp_path)
    arena.run(GAME, store=tmp_path / "s.db")
    text = methods(tmp_path / "s.db")
    (board,) = json.loads(called("compare", str(tmp_path / "s.db"), "--format", "json").output)
    pairs = {sum(pair["counts"]) for pair in board["pairs"]}
    size = f"{min(pairs)} to {max(pairs)}" if len(pairs) > 1 else f"{min(pairs)}"
    for fact in (
        "3 entries (random, greedy, lookahead [depth = 1]) played 72 games of tic-tac-toe (rows = 3, columns = 4, in_a_row = 3)",
        "The heuristic of greedy and lookahead was open-lanes.",
        "limited: random to 3,000 generated nodes, greedy to 3,000 generated nodes, lookahead to 500 generated nodes.",
        "Entries are ranked by score.",
        *[TERMS[pair["test"]] for pair in board["pairs"]],
        "the games between the two by exact sign-flip tests (Fisher 1935)",
        f"with n = {size} pairs of games",
        f"corrected for all {board['tests']} tests of the board (",
        "The starting positions come from openings: plies 2.",
        "All random numbers are derived from seed 41.",
        f"fairarena {arena.__version__}, Python {platform.python_version()}, numpy {version('numpy')}",
        platform.machine(),
        f"at commit {COMMIT} of the working directory",
    ):
        assert fact in text, fact


@pytest.mark.process
def test_the_paragraph_describes_a_board_of_puzzles(tmp_path: Path) -> None:
    """Two heuristics are named beside their entries. With `--by`, the tests are those of the measure."""
    agents = [{"agent": "a-star", "heuristic": name, "label": name[:3]} for name in ("manhattan", "misplaced")]
    arena.run(
        {"game": "sliding-tiles", "rounds": 8, "limits": {"nodes": 400, "seconds": 60}, "agents": agents}, store=tmp_path / "p.db"
    )
    text = methods(tmp_path / "p.db")
    assert "2 entries (man [a-star, heuristic manhattan]" in text
    assert "Each decision was limited to 400 generated nodes and 60 seconds." in text
    assert "the solved positions by McNemar's exact test (McNemar 1947)" in text
    assert "with n = 8 positions." in text
    arena.run({"game": {"name": "sliding-tiles", "shuffle": 15}, "rounds": 8, "agents": agents}, store=tmp_path / "all.db")
    by = methods(tmp_path / "all.db", "--by", "nodes")
    said = "we compared the mean nodes of solutions by exact sign-flip tests (Fisher 1935), two-sided, with n = "
    assert re.search(rf"{re.escape(said)}[1-8] positions that both solved\.", by)
    assert "McNemar" not in by


def test_parameters_in_the_paragraph_are_written_as_in_a_spec(tmp_path: Path) -> None:
    arena.run({"game": {"name": "hanoi", "discs": 3}, "rounds": 2, "agents": ["bfs", "dfs"]}, store=tmp_path / "discs.db")
    arena.run({"game": "sudoku", "rounds": 1, "agents": ["dfs", "backtracking"]}, store=tmp_path / "digits.db")
    assert "hanoi (discs = 3, " in methods(tmp_path / "discs.db")
    assert "sudoku (box = 3, givens = none, cell = most-constrained)" in methods(tmp_path / "digits.db")


def test_the_corrected_tests_are_listed_by_aspect(tmp_path: Path) -> None:
    """The correction covers all tests of the board. So the paragraph about two entries lists all of them, and their numbers are
    those of the whole board in JSON.
    """
    agents = ["a-star", {"agent": "greedy", "label": "greedy"}, "best-first", "bfs"]
    spec = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 10, "limits": {"nodes": 300}, "agents": agents}
    arena.run(spec, store=tmp_path / "m.db")
    [board] = json.loads(called("compare", str(tmp_path / "m.db"), "--format", "json").output)
    counts = {"solved positions": sum(bool(pair["test"]) for pair in board["pairs"])}
    for aspect in ("cost", "moves", "nodes"):
        counts[aspect] = sum(bool(pair[aspect] and pair[aspect]["test"]) for pair in board["pairs"])
    counts["seconds"] = board["tests"] - sum(counts.values())
    text = methods(tmp_path / "m.db", "a-star", "greedy")
    assert "For a-star and greedy, we compared" in text
    assert "For every two entries, we compared" in methods(tmp_path / "m.db")
    listed = re.search(
        r"for all (\d+) tests of the board \((.*), between every two of its 4 entries, as far as they differ\)", text
    )
    assert listed
    assert int(listed[1]) == board["tests"]
    found = {name: int(count) for count, name in re.findall(r"(\d+) of ([a-z ]+?)(?:,| and |$)", listed[2])}
    assert found == {name: count for name, count in counts.items() if count}


def test_the_paragraph_names_a_sequential_test(tmp_path: Path) -> None:
    spec = {
        **GAME,
        "agents": ["greedy", "lookahead"],
        "format": {"name": "head-to-head", "test": {"sprt": {"elo0": 0, "elo1": 200}}},
        "rounds": 100,
    }
    arena.run(spec, store=tmp_path / "t.db")
    text = methods(tmp_path / "t.db")
    assert "the score by a sequential test of H0: 0, H1: +200 normalised Elo (alpha 0.05, beta 0.05), with n = " in text
    assert "two-sided" not in text, "the alternative of the test has one side"
    assert "by exact sign-flip tests (Fisher 1935), two-sided, with n = " in methods(tmp_path / "t.db", "--by", "nodes")


def test_entries_and_tests_agree_with_the_spec_and_the_records(tmp_path: Path) -> None:
    """Entries have heuristics with parameters, options, no heuristic, or only a move limit. Nodes are compared on positions that
    both solved, which pandas counts.
    """
    search = {"agent": "a-star", "heuristic": {"name": "pattern-db", "tokens": 2}}
    agents = [
        {**search, "label": "small"},
        {**search, "label": "heavy", "weight": 2},
        {"agent": "a-star", "label": "big", "heuristic": {"name": "pattern-db", "tokens": 3}, "limits": {"nodes": 40}},
        "bfs",
    ]
    keys = {"game": {"name": "top-spin", "n": 7, "k": 4}, "rounds": 8, "agents": agents}
    arena.run({**keys, "limits": {"moves": 80}}, store=tmp_path / "t.db")
    text = methods(tmp_path / "t.db")
    for entry in (
        "small [a-star, heuristic pattern-db (tokens = 2)], heavy [a-star, weight = 2.0, heuristic pattern-db (tokens = 2)]",
        "big [a-star, heuristic pattern-db (tokens = 3)], bfs) played",
    ):
        assert entry in text
    assert "Decisions were limited: small not at all, heavy not at all, big to 40 generated nodes, bfs not at all." in text
    assert "Each match was limited to 80 moves." in text
    frame = arena.open_store(tmp_path / "t.db").to_dataframe()
    solved = frame.pivot_table(index="round", columns="agent", values="solved").astype(bool)
    both = [int((solved[one] & solved[other]).sum()) for one, other in combinations(solved, 2)]
    assert 0 < min(both) < max(both) == 8, "the limit of big is too small for some positions"
    assert f"with n = {min(both)} to 8 positions that both solved" in text
    assert "McNemar's exact test (McNemar 1947), with n = 8 positions; " in text
    (board,) = json.loads(called("compare", str(tmp_path / "t.db"), "--format", "json").output)
    untimed = all(pair["untimed"] for pair in board["pairs"])
    assert ("tests of seconds that could not be made" in text) == untimed
    assert ("the seconds of solutions" in text) != untimed
    free = {**keys, "agents": ["bfs", "dfs"], "rounds": 2}
    arena.run({**free, "limits": {"moves": 80}}, store=tmp_path / "free.db")
    assert "imited to 80 moves." in methods(tmp_path / "free.db")
    assert "nothing" not in methods(tmp_path / "free.db")
    assert "heuristic" not in methods(tmp_path / "free.db")


@pytest.mark.parametrize("more", [("--across",), ("-o", "x.html"), ("--format", "json")])
def test_options_that_cannot_be_combined_with_methods_are_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    found = called("compare", str(tmp_path / "s.db"), "--methods", *more)
    assert "--methods describes single boards" in str(found.exception)


OWN = """
from arena import Agent, hookimpl

class Odd(Agent):
    "Plays at random, and raises an exception in some matches."
    name = "odd"
    def choose(self, game, state, search):
        if search.rng.random() < 0.2:
            raise ValueError("odd")
        return search.rng.choice(game.actions(state))

class Looks(Agent):
    "Asks the heuristic, without saying that it wants one."
    name = "looks"
    def choose(self, game, state, search):
        search.evaluate(state)
        return search.rng.choice(game.actions(state))

@hookimpl
def arena_agents():
    return [Odd, Looks]
"""


def test_only_heuristics_that_an_entry_has_asked_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry could have used the default heuristic of tic-tac-toe. The records count the evaluations. Each remark is a
    sentence of its own: a message of an exception has no full stop.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    spec = {"game": "tic-tac-toe", "rounds": 6, "plugins": ["own.py"], "limits": {"nodes": 200}}
    for agents in (["odd", "looks", "random"], ["odd", {"agent": "mcts", "label": "mc"}]):
        path = tmp_path / f"{len(agents)}.db"
        records = arena.run({**spec, "agents": agents}, store=path).records
        asked = {record.labels[one.seat] for record in records for one in record.decisions if one.evaluations}
        assert asked == ({"looks"} if len(agents) == 3 else set())
        text = methods(path)
        assert ("The heuristic of looks was open-lanes." in text) == (len(agents) == 3)
        assert ("The heuristic" in text) == (len(agents) == 3)
        assert re.search(r"odd failed .* by exception, first in match \w+: ValueError: odd \(own\.py:9\)\. [A-Z]", text)
