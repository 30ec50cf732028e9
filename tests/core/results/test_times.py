"""Times on boards: only decisions that ran the same way, compiled or plain, are compared."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena
from arena import Field, Format, Pairing
from arena.api.store import Run
from arena.format import Outcomes
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Tally
from arena.schedule import runner
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.search_engines import SearchEngine
from arena.spec import load_spec
from arena.store import Store
from tests.core.results.one_by_one import count_one_by_one

SPECS: dict[str, tuple[str, dict[str, Any]]] = {
    "puzzle": (
        "seconds_per_attempt",
        {"game": {"name": "sliding-tiles", "shuffle": 9}, "agents": ["random", "bfs", "a-star"], "rounds": 3},
    ),
    "versus": ("ms_per_move", {"game": "tic-tac-toe", "agents": ["random", "greedy", "minimax"], "rounds": 2}),
    "score": (
        "ms_per_move",
        {"game": "2048", "agents": ["random", "greedy", {"agent": "mcts", "rollouts": 2}], "rounds": 1, "limits": {"moves": 9}},
    ),
}
SOLVERS = {"game": {"name": "sliding-tiles", "shuffle": 9}, "agents": ["bfs", "a-star", "uniform-cost"], "rounds": 3}
Ways = dict[int, dict[str, int]]
"""Counts in `timing`, by the number of the entry."""
CASES: list[tuple[Ways, list[int], str | None]] = [
    ({}, [0, 1, 2], None),
    ({1: {"plain": 2}, 2: {"plain": 3}}, [0, 1, 2], None),
    ({1: {"compiled": 2}, 2: {"compiled": 3}}, [1, 2], "--plain"),
    ({1: {"plain": 2}, 2: {"compiled": 3}}, [2], "--plain"),
    ({1: {"plain": 2, "unsettled": 2}, 2: {"compiled": 3, "unsettled": 3}}, [0], "--compiled"),
    ({1: {"plain": 2, "unsettled": 2}, 2: {"plain": 3, "unsettled": 3}}, [0], "--compiled"),
    ({1: {"plain": 2}, 2: {"compiled": 3, "plain": 1}}, [0, 1], "--compiled"),
    ({0: {"compiled": 1}, 1: {"compiled": 2}, 2: {"compiled": 3}}, [0, 1, 2], None),
]
"""The times that each match records, the entries whose times are shown, and the option that the board advises."""


@cache
def played(kind: str) -> arena.Results:
    return arena.run(SPECS[kind][1])


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize(("ways", "timed", "advice"), CASES)
def test_boards_show_only_comparable_times(tmp_path: Path, kind: str, ways: Ways, timed: list[int], advice: str | None) -> None:
    """These are times of decisions that ran the same way. A remark has the command that makes the others comparable."""
    key, results = SPECS[kind][0], played(kind)
    tally = Tally(BoardInfo.of(results.spec.boards[0]))
    path, matches = tmp_path / "times.db", []
    with Store.open(path, write=True) as store:
        store.begin(Run.of(results.spec))
        for number, board, pairing, record in results.played:
            names = {name for seat in pairing.seats for name in ways.get(seat, {})}
            timing = {name: [ways.get(seat, {}).get(name) for seat in pairing.seats] for name in names}
            changed = record._replace(timing=timing or None)
            store.add(Scheduled(number, board, pairing), changed)
            matches.append((number, pairing, changed))
        store.end()
    count_one_by_one(tally, matches)
    for shown in (Leaderboard.load(path)[0], Leaderboard.of(tally, finished=True)):
        labels = shown.sheet.labels
        assert sorted(labels.index(row["agent"]) for row in shown.rows if row[key] is not None) == timed
        lines = [remark for remark in shown.remarks if "times of" in remark]
        assert len(lines) == (advice is not None)
        assert advice is None or f"`arena run SPEC {advice} --fresh`" in lines[0]
        assert advice is None or f"The times of {', '.join([labels[n] for n in range(3) if n not in timed])} are" in lines[0]


@pytest.mark.parametrize(
    ("columns", "sort", "told"),
    [(None, None, True), (("score",), None, False), (("score", "ms_per_move"), None, True), (("score",), "-ms_per_move", True)],
)
def test_boards_without_times_do_not_explain_times(columns: tuple[str, ...] | None, sort: str | None, told: bool) -> None:
    """One agent ran compiled, another did not, and two ran in processes of their own. This matters only if a board uses times."""
    results = played("versus")
    sheet = replace(BoardInfo.of(results.spec.boards[0]), columns=columns, sort=sort, apart=("random", "minimax"))
    tally = Tally(sheet)
    ways = {1: "plain", 2: "compiled"}
    matches = []
    for number, _, pairing, record in results.played:
        timing = {name: [2 if ways.get(seat) == name else None for seat in pairing.seats] for name in ways.values()}
        matches.append((number, pairing, record._replace(timing=timing)))
    count_one_by_one(tally, matches)
    board = Leaderboard.of(tally, finished=True)
    assert any(remark.startswith("The times of ") for remark in board.remarks) == told
    assert any(remark.startswith("* : the times") for remark in board.remarks) == (columns is None or "ms_per_move" in columns)
    assert "untimed" in board.facts


def test_a_format_that_ranks_by_seconds_ranks_by_nodes_without_times() -> None:
    class BySeconds(Format):
        kind = "puzzle"
        ranked_by = "seconds"

        def fewest(self, players: int) -> int:
            return 1

        def size(self, field: Field) -> int:
            return 1

        def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
            return iter(())

    results = arena.run(SOLVERS)
    orders = []
    for compiled in (0, 1, 2):
        tally = Tally(BoardInfo.of(results.spec.boards[0]), BySeconds())
        matches = []
        for number, _, pairing, record in results.played:
            entry = pairing.seats[0]
            seconds = 1e-6 if entry == compiled else 1.0
            fast = tuple([one._replace(seconds=seconds) for one in record.decisions])
            way = "compiled" if entry == compiled else "plain"
            matches.append((number, pairing, record._replace(decisions=fast, timing={way: [1], "unsettled": [1]})))
        count_one_by_one(tally, matches)
        orders.append([row["agent"] for row in Leaderboard.of(tally, finished=True).rows])
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize(
    ("ran", "said"),
    [  # for each entry: compiled decisions, decisions that requested a compiled loop in vain
        ([(5, 0), (0, 5), (5, 0)], "one and three ran compiled and two ran uncompiled"),
        ([(5, 0), (2, 3), (0, 0)], "one ran compiled, two ran partly compiled and three ran uncompiled"),
        ([(2, 3), (2, 3), (2, 3)], "one, two and three ran partly compiled"),
        ([(5, 0), (5, 0), (5, 0)], None),
        ([(0, 5), (0, 5), (0, 0)], None),
    ],
)
def test_a_remark_names_searches_that_ran_partly_compiled_under_a_time_limit(
    ran: list[tuple[int, int]], said: str | None
) -> None:
    """The cache may have decided how they ran, as it does by default."""
    labels = ("one", "two", "three")

    def remarks(timed: tuple[str, ...], nodes: int) -> list[str]:
        tally = Tally(BoardInfo("duel", {}, "versus", labels, 6, exact=True, timed=timed))
        for count, (compiled, plain) in zip(tally.counts, ran, strict=True):
            count.decisions, count.nodes, count.compiled, count.plain, count.unsettled = 5, nodes, compiled, plain, compiled
        return [one for one in tally.describe() if one.startswith("Speeds differ")]

    found = remarks(labels, 100)
    assert found == [] if said is None else found[0].startswith(f"Speeds differ: {said}. Under a time limit, ")
    assert all("`arena run SPEC --plain --fresh`" in one and "`limits: {nodes: N}`" in one for one in found)
    assert remarks((), 100) == remarks(labels, 0) == []


CUSTOM = """
from arena import heuristic, hookimpl

@heuristic("mine", game="othello")
def mine(game, state, player=0):
    return 0.25

@hookimpl
def arena_heuristics():
    return [mine]
"""


class Compiling(SearchEngine):
    """Compiles alpha-beta with the heuristics of arena."""

    def can_load(self) -> bool:
        return True

    def loop_of(self, agent: Any, game: arena.Game | None = None) -> str | None:
        return getattr(agent, "engine", None)

    def loops_for(self, game: arena.Game) -> frozenset[str]:
        return frozenset({"alpha-beta"})

    def why_plain(self, game: arena.Game, evaluation: Any = None) -> str | None:
        own = evaluation is not None and evaluation(game.initial(Random(0)), 0) == 0.25
        return "it has no estimate" if own else None


@pytest.mark.parametrize(
    ("limits", "rival", "said"),
    [
        ({"seconds": 1}, {"heuristic": "mine"}, True),
        ({"cpu_seconds": 1}, {"agent": "minimax"}, True),
        ({"nodes": 100}, {"heuristic": "mine"}, False),
        ({"seconds": 1}, {"depth": 3}, False),
        ({"seconds": 1}, {"agent": "random"}, False),  # it does not search
    ],
)
def test_a_note_before_a_run_names_searches_that_can_and_that_cannot_run_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, float], rival: dict[str, Any], said: bool
) -> None:
    (tmp_path / "mine.py").write_text(CUSTOM)
    agents = [{"agent": "alpha-beta", "heuristic": "discs", "label": "one"}, {"agent": "alpha-beta", "label": "two", **rival}]
    spec = load_spec({"game": "othello", "plugins": [str(tmp_path / "mine.py")], "agents": agents, "limits": limits})
    monkeypatch.setattr(runner, "search_engines", lambda: [Compiling("compiling", lambda *_: None)])
    notes = list(runner.speed_notes(spec))
    assert [note.partition(". ")[0] for note in notes] == ["othello: one can run compiled, two cannot"] * said
    monkeypatch.setattr(runner, "search_engines", list)
    assert not list(runner.speed_notes(spec))
