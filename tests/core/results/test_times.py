"""Times on boards: only decisions that ran the same way, compiled or plain, are compared."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Field, Format, Pairing
from arena.api.store import Run
from arena.format import Outcomes
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Tally
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
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
