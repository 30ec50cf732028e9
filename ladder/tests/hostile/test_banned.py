"""An author is banned or deleted, or the ladder ends, while a submission is uploaded or checked: the submission does not play."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.ledger import Ledger
from arena_ladder.roster import Person
from arena_ladder.submissions import Submission
from arena_web.errors import Refusal

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="banned", isolation="any")]
ADMIN: dict[str, Callable[[Ledger], object]] = {
    "banned": lambda ledger: ledger.ban("1", "admin"),
    "deleted": lambda ledger: ledger.forget("1", "admin"),
    "over": lambda ledger: ledger.set("over", "yes", "admin"),
}
"""What an admin does meanwhile, in another process."""


@pytest.fixture(params=[True, False], ids=["pseudonyms", "ids"])
def ledger(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A ladder with two authors."""
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        opened.enrol([Person("1", "Eve"), Person("2", "Bob")], pseudonyms=request.param)
        yield opened


def submit(ledger: Ledger, author: str) -> Submission:
    return ledger.submit(author, "mine", "python", "mine.py", b"x = 1", 10)


@pytest.mark.parametrize("do", ADMIN.values(), ids=ADMIN)
def test_a_file_that_arrives_after_the_admin_has_acted_is_not_stored(ledger: Ledger, do: Callable[[Ledger], object]) -> None:
    """The client has shown its token before, and sends the last byte of its file afterwards."""
    eve, bob = (ledger.author_of(ledger.register(name, "admin")) for name in ("1", "2"))
    do(ledger)
    with pytest.raises(Refusal):
        submit(ledger, eve)
    if not ledger.setting("over"):
        submit(ledger, bob)
    assert {one.author for one in ledger.submissions()} <= {bob}


def test_a_submission_of_a_banned_author_neither_begins_its_check_nor_passes_nor_plays(ledger: Ledger) -> None:
    """The submission arrives between the ban and the withdrawal of the author's agents."""
    (_, eve), (_, bob) = ledger.people()
    keys = {author: submit(ledger, author).id for author in (eve, bob)}

    def force(status: str) -> None:
        with closing(sqlite3.connect(ledger.path)) as other, other:
            other.execute("UPDATE ladder_submission SET status = ?", (status,))

    ledger.ban(eve, "admin")
    force("queued")
    found = ledger.next_to_check()
    assert found is not None
    assert (found.author, ledger.next_to_check()) == (bob, None)
    force("checking")
    states = {author: ledger.accept(key, "mine", "mine", (), 2) for author, key in keys.items()}
    assert [(one.status, one.reason) for one in states.values()] == [("withdrawn", "its author is banned"), ("playing", None)]
    force("playing")
    assert [one.author for one in ledger.in_play()] == [bob]


def test_a_submission_whose_check_ends_after_the_ladder_does_not_play(ledger: Ledger) -> None:
    (_, eve), _ = ledger.people()
    key = submit(ledger, eve).id
    assert ledger.next_to_check() is not None
    ledger.set("over", "yes", "admin")
    assert ledger.accept(key, "mine", "mine", (), 2).status == "withdrawn"
    assert ledger.in_play() == []
