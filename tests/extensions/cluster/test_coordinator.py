"""The coordinator blames matches, refuses nodes and validates records, on a simulated cluster."""

import json
import re
from collections.abc import Sequence
from contextlib import closing
from itertools import takewhile
from math import isfinite
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from arena.format import Pairing
from arena.match.record import Record
from arena.schedule.runner import CurrentTurn, MatchRunner, make_unplayed
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from arena.store import TemporaryStore
from arena.tournament.queue import MatchQueue
from arena_cluster import wire
from arena_cluster.coordinator import Coordinator, JobQueue
from arena_cluster.engine import Change, ClusterError, Order, Reply, SlowStart
from arena_cluster.node import StartWatch
from arena_cluster.parcel import pack_parcel, unpack_parcel
from tests.extensions.cluster.standin import Standin

TWO = ["random", "greedy"]


@pytest.fixture(scope="module")
def spec() -> Spec:
    """Return a spec with 60 matches."""
    return load_spec({"game": "tic-tac-toe", "rounds": 30, "agents": TWO})


@pytest.fixture(scope="module")
def whole(spec: Spec) -> dict[int, Any]:
    """Return the expected records by number."""
    stage = MatchRunner(spec)
    return {one.number: stage.play(one).timeless() for one in Schedule(spec).take(1000)}


def played(spec: Spec, engine: Standin, said: list[str] | None = None) -> dict[int, Any]:
    """Play to the end as a run would, and return the records. Each match must be played exactly once."""
    feed, found = MatchQueue(spec, TemporaryStore()), {}
    total = sum(board.size for board in spec.boards)
    notes: list[str] = [] if said is None else said
    for scheduled, record in Coordinator(spec, pack_parcel(spec), engine, feed.take, notes.append, total=total).play():
        assert scheduled.number not in found
        found[scheduled.number] = record.timeless()
        feed.finish(scheduled, record)
    assert engine.closed == 1
    assert not engine.out
    return found


def test_every_match_is_played_exactly_once(spec: Spec, whole: dict[int, Any]) -> None:
    """A worker gets the tournament after its first request. At most two orders per worker are sent at a time."""
    engine = Standin(spec, ["a", "b", "c"])
    assert played(spec, engine) == whole
    assert engine.told == {"a", "b", "c"}
    assert engine.most_out <= 6
    assert engine.tries == 60 + 3  # each worker has asked for the tournament once


def test_orders_contain_about_a_second_of_work(spec: Spec) -> None:
    """Matches of 0.1 s are sent in tens, and matches of 8 s one at a time and never in advance. The last orders are smaller."""
    sizes: dict[float, list[int]] = {}
    for seconds in (0.1, 8.0):
        engine = Standin(load_spec({"game": "tic-tac-toe", "rounds": 100, "agents": TWO}), ["a", "b"], seconds=seconds)
        seen: list[int] = []
        sizes[seconds] = seen
        send = engine.send

        def note(order: Order, node: str, send: Any = send, seen: list[int] = seen) -> None:
            seen.append(len(order.matches))
            send(order, node)

        engine.send = note  # type: ignore[method-assign]
        played(load_spec({"game": "tic-tac-toe", "rounds": 100, "agents": TWO}), engine)
        if seconds == 8.0:
            assert engine.most_out == 2
    assert max(sizes[0.1]) == 10
    assert sizes[0.1][-1] == 1
    assert set(sizes[8.0]) == {1}


def test_orders_contain_the_current_start_times(spec: Spec) -> None:
    """Start times change during a run: an agent that answers late gets more time at the next start."""
    engine, shown = Standin(spec, ["a"]), [{"greedy": 3.0}, {"greedy": 4.0}, {"greedy": 5.0}]
    seen: list[float] = []
    send = engine.send

    def note(order: Order, node: str) -> None:
        seen.append(order.start_seconds["greedy"])
        send(order, node)

    engine.send = note  # type: ignore[method-assign]
    starts = lambda: shown.pop(0) if len(shown) > 1 else shown[0]  # noqa: E731
    feed = MatchQueue(spec, TemporaryStore())
    for scheduled, record in Coordinator(spec, pack_parcel(spec), engine, feed.take, print, start_seconds=starts).play():
        feed.finish(scheduled, record)
    assert seen[:3] == [3.0, 4.0, 5.0]


def test_a_slow_start_of_an_agent_is_reported_for_its_match(spec: Spec) -> None:
    """Reports about an order that is over, or about a seat that the match does not have, are ignored."""
    engine = Standin(spec, ["a"])
    engine.silent = {"a"}
    coordinator = Coordinator(spec, pack_parcel(spec), engine, MatchQueue(spec, TemporaryStore()).take, print)
    with closing(coordinator.play()) as playing:
        found: list[Sequence[CurrentTurn]] = []

        def replies(seconds: float) -> Sequence[Reply]:
            if found:
                raise InterruptedError
            ((key, (_, order)),) = engine.out.items()
            (match,) = order.matches
            for engine.starts in (
                {},
                {key: SlowStart(match.number, 1)},
                {key: SlowStart(match.number, 2)},
                {key: SlowStart(match.number + 1, 0)},
                {"another": SlowStart(match.number, 0)},
            ):
                found.append(coordinator.turns())
            assert found[1] == [CurrentTurn(match, 1, 1, starting=True)]
            return []

        engine.replies = replies  # type: ignore[method-assign]
        with pytest.raises(InterruptedError):
            next(playing)
    assert [len(turns) for turns in found] == [0, 1, 0, 0, 0]


def test_a_node_reports_the_beginning_and_the_end_of_a_slow_start_once() -> None:
    """Short starts and moves are not reported. A second start after a slow one has its own clock."""

    def turn(number: int, seat: int, *, starting: bool = True) -> list[CurrentTurn]:
        return [CurrentTurn(Scheduled(number, 0, Pairing(0, (0, 1))), seat, 1, starting)]

    looks: list[tuple[float, list[CurrentTurn], list[int] | None]] = [
        (0.0, turn(7, 0), None),
        (0.4, turn(7, 0), None),
        (0.5, turn(7, 1), None),
        (0.9, turn(7, 1), None),
        (1.0, turn(7, 1), [7, 1]),
        (5.0, turn(7, 1), None),
        (5.1, turn(7, 0, starting=False), [-1, -1]),
        (9.0, turn(7, 0, starting=False), None),
        (9.1, turn(8, 0), None),
        (9.75, turn(8, 0), [8, 0]),
        (10.0, turn(8, 1), [-1, -1]),
        (10.5, turn(8, 1), [8, 1]),
        (11.0, [], [-1, -1]),
    ]
    watch = StartWatch()
    assert [watch.look(turns, now) for now, turns, _ in looks] == [told for _, _, told in looks]


def test_a_match_is_void_if_two_nodes_are_lost_while_they_play_it(spec: Spec, whole: dict[int, Any]) -> None:
    """The player to move is unknown, so the match is void after exactly two attempts. The other matches are unchanged."""
    engine = Standin(spec, ["a", "b"])
    engine.deadly = frozenset({7})
    found = played(spec, engine)
    assert found.pop(7)["termination"] == "void"
    assert found == {number: record for number, record in whole.items() if number != 7}
    assert engine.deaths == 2


def test_matches_that_waited_at_a_lost_node_are_not_blamed_for_its_loss() -> None:
    """Only the matches of the order in progress are sent one at a time afterwards."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 100, "agents": TWO})
    engine = Standin(spec, ["a", "b"], seconds=0.1)
    engine.deadly = frozenset({60})
    sent: list[tuple[int, ...]] = []
    dead: list[tuple[str, list[tuple[int, ...]]]] = []
    send, reply = engine.send, engine._reply

    def note(order: Order, node: str) -> None:
        sent.append(tuple([match.number for match in order.matches]))
        send(order, node)

    def die(key: str) -> list[Reply]:
        node = engine.out[key][0]
        at = [tuple([match.number for match in order.matches]) for name, order in engine.out.values() if name == node]
        deaths, found = engine.deaths, reply(key)
        if engine.deaths > deaths and not dead:
            dead.append((node, at))
            engine.silent.add(node)
            sent.clear()
        return found

    engine.send, engine._reply = note, die  # type: ignore[method-assign]
    played(spec, engine)
    ((_, (playing, waiting)),) = dead
    assert 60 in playing
    assert len(waiting) > 1
    alone = [*takewhile(lambda numbers: len(numbers) == 1, sent)]
    assert {*alone} == {(number,) for number in playing}


def test_a_puzzle_is_lost_by_a_crash_if_two_nodes_are_lost_while_they_play_it() -> None:
    """A puzzle has no other agent, so the agent is blamed."""
    spec = load_spec({"game": "n-queens", "rounds": 3, "agents": ["dfs", "hill-climb"]})
    engine = Standin(spec, ["a", "b"])
    engine.deadly = frozenset({4})
    crashed = played(spec, engine)[4]
    assert (crashed["termination"], crashed["seat"], crashed["returns"]) == ("crash", 0, (0.0,))
    assert "two machines of the cluster were lost" in crashed["message"]


def test_matches_are_not_blamed_if_their_node_leaves_normally(spec: Spec, whole: dict[int, Any]) -> None:
    """They are played by other nodes, however often nodes leave."""
    engine, left = Standin(spec, ["a"]), 0
    reply = engine._reply

    def leave(key: str) -> list[Reply]:
        nonlocal left
        node, order = engine.out[key]
        if left < 10 and order.parcel is not None:
            left += 1
            engine.pending += [Change(node, 0, leave=True), Change(f"b{left}", 1)]
            return []
        return reply(key)

    engine._reply = leave  # type: ignore[method-assign]
    assert played(spec, engine) == whole
    assert left == 10


def test_lost_answers_are_sent_again(spec: Spec, whole: dict[int, Any]) -> None:
    """The answers are lost as if the connection broke and was restored."""
    engine = Standin(spec, ["a", "b"])
    lost = iter([None] * 5)
    engine.answers["a"] = lambda order: next(lost, wire.refusal("enough"))
    said: list[str] = []
    assert played(spec, engine, said) == whole
    assert said == ["a is refused: enough"]


def test_a_node_whose_answers_are_always_lost_is_refused(spec: Spec, whole: dict[int, Any]) -> None:
    engine = Standin(spec, ["bad", "good"])
    engine.answers["bad"] = lambda order: None
    said: list[str] = []
    assert played(spec, engine, said) == whole
    assert said == ["bad is refused: 10 answers in a row could not be read"]


def test_lost_answers_count_only_in_a_row(spec: Spec, whole: dict[int, Any]) -> None:
    """Every third answer is lost, more than ten in all. The node is not refused."""
    engine = Standin(spec, ["a"])
    asked, reply = 0, engine._reply

    def lose(key: str) -> list[Reply]:
        nonlocal asked
        asked += 1
        if asked % 3 == 0:
            del engine.out[key]
            return [Reply(key, None)]
        return reply(key)

    engine._reply = lose  # type: ignore[method-assign]
    said: list[str] = []
    assert played(spec, engine, said) == whole
    assert asked > 33
    assert said == []


def test_a_message_of_a_node_is_printed_on_one_line(spec: Spec, whole: dict[int, Any]) -> None:
    """The line has a bounded length and no control characters, so it cannot imitate output of arena."""
    engine = Standin(spec, ["bad", "good"])
    engine.answers["bad"] = lambda order: wire.refusal("\x1b[2Jgone\nError: all is lost " + "x" * 5000)
    said: list[str] = []
    assert played(spec, engine, said) == whole
    assert said[0].startswith(r"bad is refused: \x1b[2Jgone\nError: all is lost xxx")
    assert said[0].isprintable()
    assert len(said[0]) < 700


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"{}", b'{"records": [], "seconds": 1}', b'{"records": 1}', "text", 3.5])
def test_a_node_with_invalid_answers_is_refused(spec: Spec, whole: dict[int, Any], body: Any) -> None:
    """The note names the node. Other nodes play its matches."""
    engine = Standin(spec, ["bad", "good"])
    said: list[str] = []
    engine.answers["bad"] = lambda order: body
    assert played(spec, engine, said) == whole
    assert len(said) == 1
    assert said[0].startswith("bad is refused: sent an invalid answer: ")


def test_overdue_matches_are_also_played_elsewhere(spec: Spec, whole: dict[int, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that never answers does not block the run. A note names it, and each match is returned once."""
    monkeypatch.setattr("arena_cluster.coordinator.OVERDUE_SECONDS", 0.05)
    engine = Standin(spec, ["stuck", "b", "c"], seconds=0.001)
    engine.silent.add("stuck")
    said: list[str] = []
    assert played(spec, engine, said) == whole
    [note] = [line for line in said if not line.endswith("no other node has answered since; still waiting")]  # by a slow machine
    assert re.fullmatch(r"stuck has been playing (a match|\d+ matches) for \d s; [bc] plays the overdue matches as well", note)


def test_a_note_names_the_nodes_that_arena_waits_for(spec: Spec, whole: dict[int, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The only node is stuck. The note is printed only once while arena waits."""
    monkeypatch.setattr("arena_cluster.coordinator.OVERDUE_SECONDS", 0.05)
    engine = Standin(spec, ["stuck"], seconds=0.001)
    engine.silent.add("stuck")
    began = monotonic()
    said: list[str] = []
    replies = engine.replies

    def wait(seconds: float) -> Sequence[Reply]:
        sleep(0.005)
        if monotonic() - began > 0.5:
            engine.silent.clear()
            engine.sent.extend(engine.out)
        return replies(seconds)

    engine.replies = wait  # type: ignore[method-assign]
    assert played(spec, engine, said) == whole
    assert len(said) == 1
    assert re.fullmatch("stuck has been playing a match for 0 s, and no other node has answered since; still waiting", said[0])


def test_a_match_played_by_two_nodes_counts_once(spec: Spec, whole: dict[int, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """If one node is lost, the other one's record counts. If both are lost, it is one loss, and the match is played again."""
    monkeypatch.setattr("arena_cluster.coordinator.OVERDUE_SECONDS", 0.05)
    engine = Standin(spec, ["stuck", "b"], seconds=0.001)
    engine.silent.add("stuck")
    copied: list[str] = []
    send = engine.send

    def note(order: Order, node: str) -> None:
        send(order, node)
        if any(set(order.matches) == set(other.matches) for at, other in engine.out.values() if at == "stuck") and node == "b":
            copied.append(order.key)
            if len(copied) == 1:
                engine.pending += [Change("b", 0), Change("stuck", 0), Change("d", 1)]

    engine.send = note  # type: ignore[method-assign]
    assert played(spec, engine) == whole
    assert copied


def test_the_number_of_workers_is_reported(spec: Spec) -> None:
    """The number of threads is shown if workers have several."""
    engine, feed = Standin(spec, ["a"]), MatchQueue(spec, TemporaryStore())
    coordinator = Coordinator(spec, pack_parcel(spec), engine, feed.take, print, total=60)
    said = [coordinator.staff()]
    for number, (scheduled, record) in enumerate(coordinator.play()):
        feed.finish(scheduled, record)
        engine.pending += [Change("b", 3)] if number == 10 else [Change("a", 0)] if number == 30 else []
        if coordinator.staff() != said[-1]:
            said.append(coordinator.staff())
    assert said == ["no worker", "1 worker", "2 workers of 4 threads", "1 worker of 3 threads"]


def test_a_run_without_a_usable_node_ends(spec: Spec) -> None:
    """The error gives the reason for each node."""
    engine = Standin(spec, ["a", "b"])
    engine.answers = dict.fromkeys("ab", lambda order: wire.refusal("Python 3.10.1 there, 3.11.7 here"))
    with pytest.raises(ClusterError, match=r"no machine of the cluster can play .*:\n  \w: Python 3.10.1 there.*\n  \w: Python"):
        played(spec, engine)
    assert engine.closed == 1


WRONG: list[tuple[str, Any]] = [
    ("id", "0" * 32),
    ("id", None),
    ("game", "othello"),
    ("position", 7),
    ("labels", ["greedy", "random"]),
    ("labels", "random"),
    ("seed", 1),
    ("seed", False),
    ("actions", "123"),
    ("actions", [1, 2]),
    ("answer", 3),
    ("returns", [1.0]),
    ("returns", [2.0, -2.0]),
    ("returns", [1.0, 1.0]),
    ("returns", [float("nan"), float("nan")]),
    ("returns", ["1", "-1"]),
    ("solved", True),
    ("termination", "glory"),
    ("termination", ["normal"]),
    ("termination", "crash"),
    ("seat", 2),
    ("seat", -1),
    ("message", []),
    ("traceback", 1.5),
    ("moves", -1),
    ("moves", 4),
    ("cost", "cheap"),
    ("fallbacks", -1),
    ("fallbacks", 1.0),
    ("decisions", None),
    ("decisions", [[0, 1]]),
    ("decisions", [[2, 1, 1, 0.1, None, None]]),
    ("decisions", [[0, -1, 1, 0.1, None, None]]),
    ("decisions", [[0, 1, 1, -0.1, None, None]]),
    ("decisions", [[0, 1, 1, 0.1, 1.5, None]]),
    ("decisions", [[0, 1, 1, 0.1, None, "high"]]),
    ("drew", [True]),
    ("drew", [1, 0]),
    ("timing", 12),
    ("timing", {"a": float("nan")}),
    ("timing", {"a": {"b": 1}}),
    ("timing", dict.fromkeys(map(str, range(99)), 1)),
    ("fallbacks", 2**70),
    ("moves", 2**80),
    ("cost", 10**400),
    ("cost", float("inf")),
    ("decisions", [[0, 1, 1, 1e300, None, None]]),
    ("decisions", [[0, 1, 1, 0.1, None, float("nan")]]),
    ("decisions", [[0, 2**70, 1, 0.1, None, None]]),
    ("answer", "x"),
    ("seat", 0),
    ("termination", "stuck"),
    ("termination", "gave-up"),
    ("termination", "adjudicated"),
]


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_impossible_records_are_refused(spec: Spec, key: str, value: Any) -> None:
    """Each key must have its type and range and belong to the requested match. The message names the match and the key."""
    scheduled = Schedule(spec).take(1)[0]
    row = MatchRunner(spec).play(scheduled)._asdict()
    reader = wire.Reader(spec)
    ids = reader.identities([scheduled])
    assert reader.read(wire.answer([Record(**row)], 0.1), [scheduled], ids).records == [Record(**row)]
    row[key] = value
    no_numbers = any(text in json.dumps(value) for text in ("NaN", "Infinity"))
    with pytest.raises(wire.Invalid, match=r"is not a number" if no_numbers else rf"^match {ids[0]}: ") as refused:
        reader.read(json.dumps({"records": [list(row.values())], "seconds": 0.1}).encode(), [scheduled], ids)
    assert no_numbers or key in str(refused.value) or key in ("id", "termination")


@pytest.mark.parametrize("game", ["tic-tac-toe", "n-queens", "sliding-tiles", "othello"])
def test_every_honest_record_is_accepted_unchanged(game: str) -> None:
    """The records include faults, answers, move limits and void matches."""
    agents: dict[str, Any] = {"n-queens": ["hill-climb", "dfs"], "sliding-tiles": ["a-star", {"agent": "dfs", "depth": 5}]}
    spec = load_spec({"game": game, "rounds": 3, "agents": agents.get(game, TWO), "limits": {"moves": 6, "nodes": 3000}})
    stage, reader, plan = MatchRunner(spec), wire.Reader(spec), Schedule(spec).take(100)
    records = [stage.play(one) for one in plan]
    seats = len(plan[0].pairing.seats)
    records.append(make_unplayed(spec, plan[0], message="\ud800 is no character"))
    records.append(make_unplayed(spec, plan[0], "crash", seats - 1, "gone")._replace(timing={"overrun": 0.5}))
    asked = [*plan, plan[0], plan[0]]
    assert reader.read(wire.answer(records, 1.0), asked, reader.identities(asked)).records == records


_NUMBERS = st.one_of(
    st.integers(-3, 3), st.integers(), st.floats(), st.sampled_from([10**15, 10**15 + 1, -(10**15) - 1, 2**70, 10**400, 1e300])
)
_LEAVES = st.one_of(_NUMBERS, st.booleans(), st.none(), st.text(max_size=5), st.sampled_from(["\ud800", "void", "crash"]))
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=7), st.dictionaries(st.text(max_size=3), inner, max_size=20)),
    max_leaves=20,
)
_DECISIONS = st.lists(st.lists(_LEAVES, min_size=7, max_size=7), max_size=2)


def _same(came: Any, sent: Any) -> bool:
    """Return True if the values are equal, True and 1 are distinguished, and no integer exceeds the limit of the store."""
    if isinstance(came, (list, tuple)):
        return isinstance(sent, list) and len(came) == len(sent) and all(map(_same, came, sent))
    if isinstance(came, dict):
        return isinstance(sent, dict) and came.keys() == sent.keys() and all(_same(came[key], sent[key]) for key in came)
    bounded = not isinstance(came, (int, float)) or (abs(came) <= 10**15 if isinstance(came, int) else isfinite(came))
    return bool(came == sent and isinstance(came, bool) is isinstance(sent, bool) and bounded)


@settings(max_examples=75, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(key=st.sampled_from(Record._fields), value=st.one_of(_NUMBERS, _ANYTHING, _DECISIONS))
def test_every_value_in_a_record_is_accepted_unchanged_or_refused(spec: Spec, key: str, value: Any) -> None:
    """No value is converted, such as True to 1 or a text to a number, and no value is accepted that later sums could not use."""
    scheduled = Schedule(spec).take(1)[0]
    row = json.loads(json.dumps(MatchRunner(spec).play(scheduled)))
    row[Record._fields.index(key)] = value
    reader = wire.Reader(spec)
    body = json.dumps({"records": [row], "seconds": 1.0}).encode()
    try:
        answer = reader.read(body, [scheduled], reader.identities([scheduled]))
    except wire.Invalid as invalid:
        assert len(str(invalid)) < 500  # noqa: PT017 - the test does not require an error
    else:
        assert answer.records is not None
        assert _same(answer.records[0], row)


@pytest.mark.parametrize(
    "body", [b"[" * 10**6, b"1" * 5000, b"\xff", b'{"records":[[]],"seconds":1e999}', b'{"records":[[]]}', "{}"]
)
def test_invalid_answers_are_refused(spec: Spec, body: Any) -> None:
    """The answers have deep nesting, long numbers, invalid UTF-8, an infinite time, or no bytes."""
    reader = wire.Reader(spec)
    asked = Schedule(spec).take(1)
    with pytest.raises(wire.Invalid, match="expected"):
        reader.read(body, asked, reader.identities(asked))


def test_a_match_suspected_of_ending_a_node_stays_suspected_if_it_is_returned_unplayed(spec: Spec) -> None:
    """Its node left normally or was refused, which says nothing about the match."""
    jobs = JobQueue(Schedule(spec).take, 60)
    job = jobs.next(1)
    assert job is not None
    assert jobs.lost(job) is None
    for _ in range(3):
        again = jobs.next(1)
        assert again is not None
        assert again.matches == job.matches
        jobs.put_back(again)
    last = jobs.next(1)
    assert last is not None
    assert jobs.lost(last) == job.matches[0]


def test_a_plugin_that_is_given_twice_is_sent_once(tmp_path: Path) -> None:
    """The spec and an option name it by different paths."""
    (tmp_path / "b.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class B(Agent):\n"
        '    """Plays the first."""\n'
        '    name = "b"\n'
        "    def choose(self, game, state, search): return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [B]\n"
    )
    (tmp_path / "t.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [b, random]\nplugins: [b.py]\n")
    parcel = unpack_parcel(pack_parcel(load_spec(tmp_path / "t.yaml", plugins=[str(tmp_path / ".." / tmp_path.name / "b.py")])))
    assert parcel.plugins == ["plugins/0/b.py"]
    assert [file.name for file in parcel.files] == ["plugins/0/b.py"]
    assert "plugins/0/b.py" in parcel.fingerprints


def test_only_matches_in_progress_are_blamed_for_the_loss_of_a_node(spec: Spec) -> None:
    """An order that waited at a lost node counts as not sent. If two nodes with two orders each are lost, one match is void."""
    engine, feed = Standin(spec, ["a"]), MatchQueue(spec, TemporaryStore())
    found: dict[int, Record] = {}
    replies, following = engine.replies, iter([("a", "a2"), ("a2", "a3")])
    going: tuple[str, str] | None = next(following)

    def lose(seconds: float) -> Sequence[Reply]:
        nonlocal going
        if going is not None and len(found) >= 20:
            engine.silent.add(going[0])
            orders = [order for node, order in engine.out.values() if node == going[0]]
            if len(orders) == 2:
                assert going[0] == "a2" or len(orders[0].matches) > 1  # otherwise the next node would have only one suspect
                engine.pending += [Change(going[0], 0), Change(going[1], 1)]
                going = next(following, None)
                if going is not None:
                    engine.silent.add(going[0])
        return replies(seconds)

    engine.replies = lose  # type: ignore[method-assign]
    for scheduled, record in Coordinator(spec, pack_parcel(spec), engine, feed.take, print, total=60).play():
        found[scheduled.number] = record
        feed.finish(scheduled, record)
    assert going is None
    assert len(found) == 60
    assert [record.termination for record in found.values()].count("void") == 1


def test_a_match_that_another_node_is_playing_is_not_queued_again(
    spec: Spec, whole: dict[int, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match is in two orders, and the answer to one of them is lost. The other answer counts, and the match is
    returned once.
    """
    monkeypatch.setattr("arena_cluster.coordinator.OVERDUE_SECONDS", 0.05)
    engine = Standin(spec, ["stuck", "b", "c"], seconds=0.001)
    engine.silent.add("stuck")
    replies, send = engine.replies, engine.send
    helped: list[str] = []
    waited = 0

    def note(order: Order, node: str) -> None:
        send(order, node)
        if (
            not helped
            and any(other.matches == order.matches for at, other in engine.out.values() if at == "stuck")
            and node != "stuck"
        ):
            helped.append(node)
            engine.silent.add(node)
            engine.silent.discard("stuck")
            engine.answers["stuck"] = lambda order: None
            engine.sent.extend([key for key, (at, _) in engine.out.items() if at == "stuck"])

    def wait(seconds: float) -> Sequence[Reply]:
        nonlocal waited
        if helped:
            waited += 1
            if waited == 20:
                engine.silent.discard(helped[0])
                engine.sent.extend([key for key, (at, _) in engine.out.items() if at == helped[0]])
        return replies(seconds)

    engine.send, engine.replies = note, wait  # type: ignore[method-assign]
    assert played(spec, engine) == whole
    assert helped
