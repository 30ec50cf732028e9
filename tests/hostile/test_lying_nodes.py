"""A node that makes records up is not believed where they contradict themselves; `arena check STORE` asks the same."""

import io
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena
from arena.cluster import Coordinator, packed, wire
from arena.cluster.audit import Audit
from arena.cluster.doubts import Doubts
from arena.commands.store_check import check_store
from arena.match.payoffs import lost
from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from arena.tournament.queue import MatchQueue
from arena_games.tic_tac_toe import TicTacToe
from tests.arena.cluster.standin import Standin

pytestmark = pytest.mark.promise(hole="node", isolation="any")

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 3, "agents": ["random", "greedy"], "isolation": "none"}


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load_spec(SPEC)


@pytest.fixture(scope="module")
def honest(spec: Spec) -> tuple[Scheduled, Record]:
    """A match and what an honest node tells of it."""
    scheduled = Schedule(spec).take(1)[0]
    return scheduled, MatchRunner(spec).play(scheduled)


def faulty(record: Record, reason: Any, seat: int) -> Record:
    """The first four moves, and a fault of a seat in its fifth decision."""
    used = record.decisions[0]._replace(seat=seat)
    return record._replace(
        actions=record.actions[:4], moves=4, decisions=(*record.decisions[:4], used), termination=reason, seat=seat,
        returns=lost(TicTacToe(), seat), message="made up",
    )  # fmt: skip


LIES: list[tuple[Callable[[Record], Record], str]] = [
    (lambda record: faulty(record, "timeout", 0), "timeout, since seat 0 has no time limit"),
    (lambda record: record._replace(decisions=()), "decisions: expected .*, one for each action, got 0"),
    (lambda record: record._replace(decisions=record.decisions * 2), "decisions: expected"),
    (lambda record: record._replace(message="x" * 5_000_000), "texts of at most 1,048,576 characters, got one of 5,000,000"),
    (lambda record: record._replace(position="x" * 5_000_000), "texts of at most"),
]


@pytest.mark.parametrize(("lie", "told"), LIES)
def test_what_a_record_contradicts_by_itself_is_refused(
    spec: Spec, honest: tuple[Scheduled, Record], lie: Callable[[Record], Record], told: str
) -> None:
    """The honest twin is taken."""
    scheduled, record = honest
    reader = wire.Reader(spec)
    ids = reader.identities([scheduled])
    assert reader.read(wire.answer([record], 0.1), [scheduled], ids).records == [record]
    with pytest.raises(wire.Invalid, match=told):
        reader.read(wire.answer([lie(record)], 0.1), [scheduled], ids)


def test_a_fault_is_of_the_seat_that_is_to_move(spec: Spec, honest: tuple[Scheduled, Record]) -> None:
    """After four moves of tic-tac-toe that is seat 0; and each decision is of the seat whose move it was."""
    scheduled, record = honest
    swapped = record._replace(decisions=(record.decisions[1], record.decisions[0], *record.decisions[2:]))
    for told, expected in (
        (faulty(record, "crash", 0), None),
        (faulty(record, "crash", 1), "a fault of seat 1, and seat 0 was to move"),
        (swapped, "a decision of seat 1, and seat 0 was to move"),
    ):
        audit = Audit(spec)
        audit._began -= 1000.0  # so long ago that it has time for a match
        fault = audit.fault([scheduled], [told])
        assert (fault is None) if expected is None else (fault is not None and expected in fault)


def test_check_asks_the_same_of_a_store(tmp_path: Path) -> None:
    """A record whose decisions are more than its actions, in a row that has no hash."""
    store = tmp_path / "cup.db"
    arena.run(SPEC, store=store)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE detail SET actions = '' WHERE record = 1")
        connection.execute("UPDATE record SET moves = 0, digest = NULL, checksum = NULL WHERE number = 1")
    connection.close()
    out = io.StringIO()
    assert check_store(str(store), 0.0, (), out) == 1
    assert "decisions: expected 0, one for each action" in out.getvalue()


def by(spec: Spec, lies: Callable[[Scheduled], Record], lot: float) -> tuple[dict[int, Any], list[str]]:
    """What a run of two nodes of which `a` lies comes to, where `lot` is drawn for every match, and what is said."""

    class Lot(Random):
        def random(self) -> float:
            return lot

    engine, said = Standin(spec, ["a", "b"]), list[str]()
    engine.answers["a"] = lambda order: wire.answer([lies(one) for one in order.matches], 0.1)
    feed, found = MatchQueue(spec), {}
    coordinator = Coordinator(spec, packed(spec), engine, feed.take, said.append, total=spec.size)
    coordinator._doubts = Doubts(spec, Lot())
    for scheduled, record in coordinator.play():
        found[scheduled.number] = record.timeless()
        feed.finished(scheduled, record)
    return found, said


def test_every_fault_is_played_again_elsewhere(spec: Spec) -> None:
    """A node that has its rival crash in the fifth decision, as the rules allow, is dropped, and all is as it was played."""
    stage = MatchRunner(spec)
    honest = {one.number: stage.play(one).timeless() for one in Schedule(spec).take(10)}
    found, said = by(spec, lambda one: faulty(stage.play(one), "crash", 0), lot=1.0)
    assert found == honest
    assert re.fullmatch(r"a is refused: sent what was not played: match \w+: actions is not what its agents do here", said[0])


def test_a_play_that_the_rules_allow_is_found_by_lot(spec: Spec) -> None:
    """Another seed's play under the match's name: taken where the lot does not fall on it, and dropped where it does."""
    stage, other = MatchRunner(spec), MatchRunner(load_spec({**SPEC, "seed": 9}))
    honest = {one.number: stage.play(one).timeless() for one in Schedule(spec).take(10)}

    def lie(one: Scheduled) -> Record:
        return other.play(one)._replace(id=honest[one.number]["id"], seed=0)

    found, said = by(spec, lie, lot=1.0)
    assert (found == honest, said) == (False, [])
    found, said = by(spec, lie, lot=0.0)
    assert found == honest
    assert "a is refused: sent what was not played" in said[0]
