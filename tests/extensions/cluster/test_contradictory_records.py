"""A record of a node is refused if it contradicts itself or its match."""

from collections.abc import Callable
from typing import Any

import pytest

from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from arena_cluster import wire
from tests.extensions.cluster.standin import Standin
from tests.extensions.cluster.test_coordinator import played
from tests.extensions.records.test_against_rules import make_fault

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 3, "agents": ["random", "greedy"], "isolation": "none"}


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load_spec(SPEC)


@pytest.fixture(scope="module")
def honest(spec: Spec) -> tuple[Scheduled, Record]:
    """Return a match and the record that an honest node sends."""
    scheduled = Schedule(spec).take(1)[0]
    return scheduled, MatchRunner(spec).play(scheduled)


LIES: list[tuple[Callable[[Record], Record], str]] = [
    (lambda record: make_fault(record, "timeout", 0), "timeout is impossible, because seat 0 has neither a time limit"),
    (lambda record: record._replace(decisions=()), "decisions: expected .*, one for each action, got 0"),
    (lambda record: record._replace(decisions=record.decisions * 2), "decisions: expected"),
    (
        lambda record: record._replace(decisions=tuple([one._replace(fallback=True) for one in record.decisions[:1]])),
        "fallbacks: expected 1, one for each decision with this mark, got 0",
    ),
    (lambda record: record._replace(message="x" * 5_000_000), "strings of at most 1,048,576 characters, got one of 5,000,000"),
    (lambda record: record._replace(position="x" * 5_000_000), "strings of at most"),
]


@pytest.mark.parametrize(("lie", "told"), LIES)
def test_contradictory_records_are_refused(
    spec: Spec, honest: tuple[Scheduled, Record], lie: Callable[[Record], Record], told: str
) -> None:
    """The honest record is accepted."""
    scheduled, record = honest
    reader = wire.Reader(spec)
    ids = reader.identities([scheduled])
    assert reader.read(wire.answer([record], 0.1), [scheduled], ids).records == [record]
    with pytest.raises(wire.Invalid, match=told):
        reader.read(wire.answer([lie(record)], 0.1), [scheduled], ids)


def test_a_note_names_a_node_that_sent_contradictory_records(spec: Spec) -> None:
    """The node is refused even after honest answers. Other nodes play its matches."""
    stage = MatchRunner(spec)
    honest = {one.number: stage.play(one).timeless() for one in Schedule(spec).take(10)}
    engine, number, said = Standin(spec, ["bad", "good"]), 0, list[str]()

    def answer(order: Any) -> bytes:
        nonlocal number
        number += 1
        records = [stage.play(one) for one in order.matches]
        if number > 1:
            records[-1] = records[-1]._replace(decisions=())
        return wire.answer(records, 0.5 * len(records))

    engine.answers["bad"] = answer
    assert played(spec, engine, said) == honest
    assert len(said) == 1
    assert said[0].startswith("bad is refused: sent an invalid answer: match ")
    assert "decisions: expected" in said[0]
