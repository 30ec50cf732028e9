"""An agent is judged by what it says and returns, and not by where it runs."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import Run
from arena_cluster.wire import Reader, answer
from tests.extensions.isolation.odd import CHOOSING, FILLING, WALKING

ODD = str(Path(__file__).with_name("odd.py"))
BOARDS: dict[str, dict[str, Any]] = {
    "choosing": {
        "game": "oddity",
        "agents": ["chooser", "random"],
        "positions": [repr((deed, 0)) for deed in CHOOSING if deed != "used-up"],
    },
    "in a budget": {
        "game": "oddity",
        "agents": ["chooser", "random"],
        "positions": [repr((deed, 0)) for deed in ("used-up", "twice-counted", "much-counted")],
        "limits": {"nodes": 5},
    },
    "walking": {"game": "stairs", "agents": ["solver"], "positions": [repr((deed, 0)) for deed in WALKING]},
    "filling": {"game": "numbers", "agents": ["solver"], "positions": list(FILLING)},
}


def spec_of(board: str, isolation: str) -> Any:
    return load_spec({**BOARDS[board], "isolation": isolation, "plugins": [ODD], "seed": 3})


Played = dict[str, list[Record]]


def played(isolation: str) -> Played:
    """The records of every board."""
    found: Played = {}
    for board in BOARDS:
        spec = spec_of(board, isolation)
        with closing(MatchRunner(spec)) as stage:
            found[board] = [stage.play(scheduled) for scheduled in Schedule(spec).take(1000)]
    return found


def deed_of(record: Record) -> str:
    return record.position.split("'")[1] if "'" in record.position else record.position


@pytest.fixture(scope="module")
def here() -> Played:
    return played("none")


@pytest.fixture(scope="module")
def elsewhere() -> Played:
    return played("process")


NODES = "at most 1,000,000,000,000,000 nodes in a decision, got "
DEPTH = "a whole number of plies from 0 to 1,000,000,000,000,000 as the depth, got "
STEPS = "expected a whole number of steps or None, got "
OUTCOMES: dict[tuple[str, str], tuple[str, str]] = {
    ("choosing", "negative-depth"): ("exception", f"ValueError: expected {DEPTH}-1 "),
    ("choosing", "large-depth"): ("exception", f"ValueError: expected {DEPTH}10000000000000000 "),
    ("choosing", "largest-depth"): ("normal", ""),
    ("choosing", "endless-depth"): ("exception", f"ValueError: expected {DEPTH}an object of type int "),
    ("choosing", "half-a-depth"): ("exception", f"ValueError: expected {DEPTH}2.5 "),
    ("choosing", "text-as-depth"): ("exception", f"ValueError: expected {DEPTH}'3' "),
    ("choosing", "claimed-depth"): ("exception", f"ValueError: expected {DEPTH}100000000000000000000 "),
    ("choosing", "true-as-depth"): ("normal", ""),
    ("choosing", "large-value"): ("normal", ""),
    ("choosing", "largest-value"): ("normal", ""),
    ("choosing", "huge-value"): ("exception", "ValueError: expected a value in the range of a float, got 1000"),
    ("choosing", "whole-value"): ("normal", ""),
    ("choosing", "infinite-value"): ("normal", ""),
    ("choosing", "no-value"): ("normal", ""),
    ("choosing", "text-as-value"): ("exception", "ValueError: expected a value in the range of a float, got '0.5'"),
    ("choosing", "line-of-nothing"): ("exception", "TypeError: "),
    ("choosing", "refused-report"): ("normal", ""),
    ("choosing", "assigned-depth"): ("exception", "AttributeError: "),
    ("choosing", "much-counted"): ("normal", ""),
    ("choosing", "twice-counted"): ("exception", f"ValueError: expected {NODES}2,000,000,000,000,000 "),
    ("choosing", "too-much-counted"): ("exception", "ValueError: expected a whole number of nodes from 0 to 1,000"),
    ("choosing", "endlessly-counted"): ("exception", "ValueError: expected a whole number of nodes from 0 to 1,000"),
    ("choosing", "counted-back"): ("exception", "ValueError: expected a whole number of nodes from 0 to 1,000"),
    ("choosing", "half-counted"): ("exception", "ValueError: expected a whole number of nodes from 0 to 1,000"),
    ("choosing", "generated-beyond"): ("exception", f"ValueError: expected {NODES}1,000,000,000,000,001 "),
    ("choosing", "generated-and-swallowed"): ("normal", ""),
    ("choosing", "raises-when-compared"): ("exception", "RuntimeError: compare me not "),
    ("choosing", "exits-when-compared"): ("exception", "SystemExit: 3 "),
    ("choosing", "memory-when-compared"): ("memory", "MemoryError "),
    ("choosing", "doubts-when-compared"): ("illegal-action", "expected one of [1, 2, 3], got <Odd instance at 0x...>"),
    ("choosing", "equals-everything"): ("normal", ""),
    ("choosing", "unlike"): ("exception", "RuntimeError: nobody shall see this "),
    ("choosing", "list"): ("illegal-action", "expected one of [1, 2, 3], got []"),
    ("choosing", "nothing"): ("illegal-action", "expected an action, got None"),
    ("choosing", "long-words"): ("exception", "RuntimeError: xxx"),
    ("choosing", "broken-words"): ("exception", "RuntimeError: \\ud800 is half a letter "),
    ("choosing", "no-words"): ("exception", "RuntimeError: an exception whose message cannot be shown "),
    ("in a budget", "used-up"): ("exception", "LookupError: not me "),
    ("in a budget", "twice-counted"): ("normal", ""),
    ("in a budget", "much-counted"): ("normal", ""),
    ("walking", "path-that-raises"): ("exception", "RuntimeError: compare me not "),
    ("walking", "path-out-of-memory"): ("memory", "MemoryError "),
    ("walking", "path-that-is-wrong"): ("illegal-action", "expected one of [1], got 'left'"),
    ("walking", "path-that-is-short"): ("illegal-action", "the path of 1 action does not end at a goal"),
    ("walking", "path-of-anything"): ("illegal-action", "the path of 2 actions does not end at a goal"),
    ("walking", "answer-to-a-path"): ("illegal-action", "expected a Path or None, got an Answer: in stairs the path matters"),
    ("walking", "path-of-its-own"): ("illegal-action", "expected a Path, an Answer or None, got "),
    ("filling", "answer"): ("normal", ""),
    ("filling", "answer-as-a-list"): ("normal", ""),
    ("filling", "answer-in-fractions"): (
        "illegal-action",
        "expected a state of numbers, got ('answer-in-fractions', [1.0, 2.0]) (",
    ),
    ("filling", "answer-of-too-few"): ("normal", ""),
    ("filling", "answer-of-nothing"): ("illegal-action", "expected a state of numbers, got None (TypeError: "),
    ("filling", "answer-in-words"): ("illegal-action", "expected a state of numbers, got ('answer-in-words', 'two') ("),
    ("filling", "answer-that-cannot-be-shown"): (
        "illegal-action",
        "expected a state of numbers, got <Unlike instance at 0x...> (",
    ),
    ("filling", "steps-back"): ("illegal-action", f"{STEPS}-1"),
    ("filling", "steps-beyond"): ("illegal-action", f"{STEPS}10000000000000000"),
    ("filling", "half-a-step"): ("illegal-action", f"{STEPS}2.5"),
    ("filling", "true-steps"): ("illegal-action", f"{STEPS}True"),
    ("filling", "steps-that-cannot-be-shown"): ("illegal-action", f"{STEPS}<Unlike instance at 0x...>"),
    ("filling", "nothing-in-no-steps"): ("illegal-action", "expected a state of numbers, got None (TypeError: "),
    ("filling", "number"): ("illegal-action", "expected a Path, an Answer or None, got 5"),
}


def test_every_odd_agent_is_tested(here: Played) -> None:
    """The list of expected results has a row for each agent."""
    assert {(board, deed_of(record)) for board in here for record in here[board]} == set(OUTCOMES)


@pytest.mark.parametrize(("board", "deed"), OUTCOMES, ids=lambda text: text.replace(" ", "-"))
def test_an_odd_agent_gets_the_same_result_with_and_without_isolation(
    here: Played, elsewhere: Played, board: str, deed: str
) -> None:
    """The fault is counted against this agent, and the records are equal except for times."""
    ending, words = OUTCOMES[board, deed]
    one, other = [[record for record in found[board] if deed_of(record) == deed] for found in (here, elsewhere)]
    for record in one:
        assert record.termination == ending, record.message
        assert (record.message or "").startswith(words)
        assert ending == "normal" or record.labels[record.seat or 0] in ("chooser", "solver")
        assert all(decision.nodes <= 10**15 for decision in record.decisions)
    assert [record.timeless() for record in other] == [record.timeless() for record in one]


@pytest.mark.parametrize("board", BOARDS)
def test_a_cluster_and_a_store_accept_all_records_of_odd_agents(here: Played, board: str, tmp_path: Path) -> None:
    """All records are read back unchanged. If a record were refused, other agents would lose their matches, too."""
    spec, records = spec_of(board, "none"), [record._replace(parameters=None) for record in here[board]]
    plan = Schedule(spec).take(1000)
    reader = Reader(spec)
    assert reader.read(answer(records, 1.0), plan, reader.identities(plan)).records == records
    with Store.open(tmp_path / "odd.db", write=True) as store:
        store.begin(Run.of(spec))
        for scheduled, record in zip(plan, records, strict=True):
            store.add(scheduled, record)
        store.flush()
        assert [record.timeless() for record, _ in store.records()] == [record.timeless() for record in records]
