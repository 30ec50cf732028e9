"""Stockfish in arena: it finds mates, and with a node limit it plays the same game twice."""

import json
from contextlib import closing
from typing import Any

from arena import Record
from arena.api.run import MatchRunner, Schedule
from arena.api.spec import load_spec


def played(**values: Any) -> list[Record]:
    """All matches of a spec of chess, one after the other."""
    spec = load_spec({"game": "chess", **values})
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]


def told(records: list[Record]) -> bytes:
    """The records without their times."""
    return json.dumps([record.timeless() for record in records], default=str).encode()


def test_the_same_game_twice(stockfish: str) -> None:
    """Games and the reports on their searches are equal byte for byte, whether the same process plays them or another one."""
    entry = {"agent": {"command": [stockfish], "protocol": "uci"}, "options": {"Threads": 1, "Hash": 4}}
    agents = [{**entry, "label": "first"}, {**entry, "label": "second", "limits": {"nodes": 2000}}]
    spec = {"agents": agents, "seed": 0, "limits": {"nodes": 1000, "moves": 30}, "rounds": 2, "openings": {"plies": 3}}
    first, again = played(**spec), played(**spec)
    assert told(first) == told(again)
    assert {record.termination for record in first} <= {"move-limit", "normal"}
    assert all(one.nodes > 0 and one.depth and one.value is not None for record in first for one in record.decisions)
    assert max(one.nodes for record in first for one in record.decisions) < 2 * 2000


def test_it_finds_a_mate_and_says_so(stockfish: str) -> None:
    """It mates in two moves with two rooks."""
    position = "6k1/8/8/8/8/8/R7/1R5K w - - 0 1"
    engine = {"agent": {"command": [stockfish], "protocol": "uci"}, "depth": 8, "isolation": "process"}
    record = played(agents=[engine, "random"], positions=[position])[0]
    assert record.returns == (1.0, -1.0)
    assert record.decisions[0].value == 1.0
