"""Lists of matches and their neighbours agree with brute force over all records of a store."""

from itertools import pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from arena import run
from arena.format import Pairing
from arena.match.record import FAULTS, Record
from arena.store import Store
from arena_web.match_filter import MatchFilter
from arena_web.matches import around, matches
from tests.extensions.web.conftest import HOSTILE, Pages

SPEC: dict[str, Any] = {
    "games": ["tic-tac-toe", {"name": "sliding-tiles", "shuffle": 6}],
    "rounds": 3,
    "seed": 5,
    "limits": {"moves": 40},
    "agents": ["random", "greedy", {"agent": "lookahead", "label": "50% a_b"}],
}


AWAY = """
from arena import Agent, Unavailable, hookimpl

class Away(Agent):
    'Its backend answers only in the second seat.'
    name, waits = "away", True
    def choose(self, game, state, search):
        if game.to_move(state) == 0:
            raise Unavailable("no answer")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Away]
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matches") / "some.db"
    run(SPEC, store=path)
    return path


def placed(store: Path) -> list[tuple[str, int, Pairing, Record]]:
    with Store.open(store) as opened:
        return [
            (record.id, place.board, place.pairing, record) for record, place in opened.records(boards=True) if place is not None
        ]


def won(record: Record, label: str | None) -> str:
    """Return the result by the rules of a table: more than the best of the others is a win, and as much is a draw."""
    if record.solved is not None:
        return "win" if record.solved else "loss"
    seat = 0 if label is None else record.labels.index(label)
    best = max(value for other, value in enumerate(record.returns) if other != seat)
    return "win" if record.returns[seat] > best else "draw" if record.returns[seat] == best else "loss"


@pytest.mark.parametrize("board", [None, 0, 1, 7])
def test_filters_select_the_right_matches(store: Path, board: int | None) -> None:
    """The filters are board, agent, opponent, result, ending and length, alone and together. A single board is tested with some
    of the combinations.
    """
    every = placed(store)
    tried = hits = 0
    lengths = ((None, None), (6, 8), (9, None))
    combinations = [
        *product(("", "50% a_b"), ("", "greedy"), ("", "win", "draw", "loss"), ("", "failed", "move-limit"), lengths),
        ("random", "", "", "", (None, None)),
        ("nobody", "", "", "", (None, None)),
    ]
    for agent, opponent, result, ending, (low, high) in combinations if board is None else combinations[::7]:
        wanted = MatchFilter(
            board=board, agent=agent, opponent=opponent, result=result, ending=ending, shortest=low, longest=high
        )
        rivals = [label for label in (agent, opponent if agent else "") if label]
        expected = [
            key
            for key, number, _, record in reversed(every)  # the newest first
            if board in (None, number)
            and all(label in record.labels for label in rivals)
            and (not result or won(record, agent or None) == result)
            and (ending != "failed" or record.termination in {*FAULTS, "void"})
            and (ending != "move-limit" or record.termination == "move-limit")
            and (low is None or (record.moves is not None and record.moves >= low))
            and (high is None or (record.moves is not None and record.moves <= high))
        ]
        found = matches(store, wanted)
        assert [match["id"] for match in found["matches"]] == expected, wanted
        tried, hits = tried + 1, hits + bool(expected)
    assert tried == (146 if board is None else 21)
    assert (hits == 0) == (board == 7)


def test_a_void_match_has_no_result(tmp_path: Path) -> None:
    """It has the returns of a draw. The filter finds it only by its ending."""
    path, plugin = tmp_path / "void.db", tmp_path / "away.py"
    plugin.write_text(AWAY)
    run({"game": "tic-tac-toe", "rounds": 2, "agents": ["away", "random"], "plugins": [str(plugin)]}, store=path)
    void = [record.id for *_, record in placed(path) if record.termination == "void"]
    assert len(void) == 2
    for agent, result in product(("", "away", "random"), ("win", "draw", "loss")):
        found = [match["id"] for match in matches(path, MatchFilter(agent=agent, result=result))["matches"]]
        assert not {*found} & {*void}
    assert [match["id"] for match in matches(path, MatchFilter(ending="void"))["matches"]] == void[::-1]


def test_links_to_newer_and_older_matches_visit_each_match_once(store: Path) -> None:
    """The links follow the filtered list in its order. The first and the last match lack one of them."""
    for wanted in (MatchFilter(), MatchFilter(agent="greedy", result="win")):
        keys = [match["id"] for match in matches(store, wanted)["matches"]]
        assert len(keys) > 4
        for one, other in pairwise(keys):
            assert around(store, one, wanted)["older"] == other
            assert around(store, other, wanted)["newer"] == one
        assert around(store, keys[0], wanted)["newer"] is around(store, keys[-1], wanted)["older"] is None


def test_a_match_is_related_to_others_with_its_position(store: Path) -> None:
    """A game is related to the one with swapped seats in the same round. An attempt at a puzzle is related to all other
    attempts at the position.
    """
    every = placed(store)
    for key, board, pairing, record in every:
        related = around(store, key, MatchFilter())["related"]
        if record.solved is None:
            (twin,) = related
            assert tuple(twin["labels"]) == record.labels[::-1]
            assert twin["round"] == pairing.round + 1
        else:
            others = [other.labels[0] for _, where, there, other in every if (where, there.round) == (board, pairing.round)]
            assert sorted([*[one["labels"][0] for one in related], *record.labels]) == sorted(others)


def test_addresses_with_invalid_filters_list_no_match(pages: Pages) -> None:
    def total(**asked: str) -> int:
        answer = pages.ask(f"/api/t/cup/matches?{urlencode(asked)}")
        assert answer.status == 200
        return int(answer.json["total"])

    assert total() == 72
    assert total(agent=HOSTILE) == total(agent=HOSTILE, opponent="random") + total(agent=HOSTILE, opponent="lookahead")
    for odd in ("' OR 1 --", "%", "\N{PILE OF POO}" * 99):
        assert total(agent=odd) == total(agent="random", result=odd) == total(ending=odd) == 0
    assert total(shortest="-1", longest="x", board="0x1", page="9" * 30) == 72
    assert pages.ask("/api/t/cup/match/zz/around").status == 404


def test_the_list_of_one_opponent_agrees_with_the_cross_table(pages: Pages) -> None:
    board = pages.ask("/api/t/cup").json["boards"][0]
    labels = [row["agent"] for row in board["rows"]]
    for row, agent in enumerate(labels):
        for column, opponent in enumerate(labels):
            if row == column:
                continue
            counts = [
                pages.ask(
                    f"/api/t/cup/matches?{urlencode({'board': 0, 'agent': agent, 'opponent': opponent, 'result': result})}"
                ).json["total"]
                for result in ("win", "draw", "loss")
            ]
            assert board["cross"][row][column] == pytest.approx((counts[0] + counts[1] / 2) / sum(counts))
