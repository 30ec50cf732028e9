"""More agents than a spec can have: those that find no room are refused, and the contest goes on."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder import spec
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from arena_ladder.submissions import Room, Submission
from tests.ladder.hosting import SPEC

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="room", isolation="any")]
MANY = 10**6


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        yield opened


def hand_in(ledger: Ledger, author: str, name: str, room: Room, keep: int = 1) -> Submission:
    """Hand in a program, which passes its check."""
    ledger.expect(author)
    key = ledger.submit(author, name, "program", name, b"#!/bin/sh\n", MANY).id
    assert ledger.next_to_check() is not None
    return ledger.accept(key, name, None, (), keep, room=room)


def test_an_author_has_a_limited_number_of_agents_in_play(ledger: Ledger) -> None:
    """A new version of an agent that plays is always accepted, and so is another agent after one is withdrawn."""
    room = Room(MANY, 2)
    first, _, third = (hand_in(ledger, "eve", name, room, keep=2) for name in ("a", "b", "c"))
    assert third.status == "refused"
    assert third.version is None
    assert third.reason is not None
    assert "eve has 2 other agents in play, which is the limit of this ladder; withdraw one" in third.reason
    assert hand_in(ledger, "eve", "a", room, keep=2).label == "eve/a@2"
    assert hand_in(ledger, "bob", "c", room).status == "playing"
    for one in (first, ledger.submissions("eve")[-1]):
        assert ledger.withdraw(one.id, "eve")
    assert hand_in(ledger, "eve", "c", room).label == "eve/c@1"


def test_a_full_ladder_refuses_further_agents_and_replaces_versions(ledger: Ledger) -> None:
    """A refused agent leaves all others in play, and does not use up a version."""
    room = Room(3, MANY)
    assert [hand_in(ledger, f"eve-{number}", "x", room).status for number in range(4)] == ["playing"] * 3 + ["refused"]
    last = ledger.submissions("eve-3")[0]
    assert last.reason == "3 agents are in play, and there is no room for more; inform the host of the ladder"
    assert hand_in(ledger, "eve-0", "x", room).label == "eve-0/x@2"
    assert len(ledger.in_play()) == 3


def test_a_ladder_with_too_many_agents_plays_with_the_latest_ones(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host's two agents count towards the limit. The oldest submissions are suspended, and their authors are told the
    reason.
    """
    monkeypatch.setattr(spec, "MAX_ENTRIES", 5)
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    for number in range(7):
        hand_in(ledger, f"eve-{number}", "x", Room(MANY, MANY))
    with closing(Store.open(ledger.path, write=True)) as store:
        runner = ContestRunner(ladder, store, ledger, CodeFolder(ledger, 1 << 18), 1)
        for _ in range(2):
            season = runner._season()
            assert season.labels(0)[2:] == ("eve-4/x@1", "eve-5/x@1", "eve-6/x@1")
    assert {one.status for one in ledger.submissions()[:4]} == {"suspended"}
    reason = ledger.submissions()[0].reason
    assert reason is not None
    assert "too many agents are in play" in reason
    assert capsys.readouterr().err.count("at most 3 submissions can be in play; the oldest 4 of them were suspended") == 1
