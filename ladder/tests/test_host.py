"""What only the host sees and does: all code and logs, checks that are repeated, and messages."""

import csv
import io
import json
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.ledger import Ledger
from arena_ladder.mark_book import list_candidates
from arena_ladder.roster import Person
from arena_web.errors import Refusal
from tests.ladder.hosting import SPEC, HostedLadder, agent


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        opened.enrol([Person("1", "Ada", "", "engines"), Person("2", "Bob", "", "engines"), Person("3", "Cyd")], pseudonyms=True)
        yield opened


def play(ledger: Ledger, author: str) -> str:
    """A submission that passes its check."""
    key = ledger.submit(author, "mine", "python", "mine.py", b"x = 1", 10).id
    one = ledger.next_to_check()
    assert one is not None
    assert one.id == key
    ledger.accept(key, "mine", "mine", (), 5)
    return key


def test_a_repeated_check_keeps_the_version_and_the_order_of_submissions(ledger: Ledger) -> None:
    """The error rate is divided among versions in their order, so a repeated check must not change the order."""
    author = ledger.people()[0][1]
    first, second = play(ledger, author), play(ledger, author)
    before = list_candidates(ledger.submissions(), "best")
    assert [one.number for one in before] == [1, 2]
    ledger.count_faults(ledger.submission(first).label, 4)
    ledger.suspend(ledger.submission(first).label, "too slow")
    assert ledger.check_again(first, "admin").status == "queued"
    with pytest.raises(Refusal, match="is queued"):
        ledger.check_again(first, "admin")
    assert ledger.next_to_check() is not None
    again = ledger.accept(first, "mine", "mine", (), 5)
    assert (again.status, again.version, again.faults, again.reason) == ("playing", 1, 0, None)
    assert list_candidates(ledger.submissions(), "best") == before
    ledger.check_again(second, "admin")
    assert ledger.next_to_check() is not None
    ledger.refuse(second, "the spec is stricter now", ())
    assert list_candidates(ledger.submissions(), "best") == before[:1]
    ledger.ban(author, "admin")
    with pytest.raises(Refusal, match="is banned"):
        ledger.check_again(second, "admin")
    ledger.unban(author, "admin")
    for person in ("1", "2"):
        ledger.forget(person, "admin")
    with pytest.raises(Refusal, match="was removed"):
        ledger.check_again(second, "admin")


def test_messages_reach_a_team_by_any_of_its_names(ledger: Ledger) -> None:
    """A message can be addressed to the id of a member or to the pseudonym. It is deleted with the last member."""
    team = ledger.people()[0][1]
    assert ledger.send("2", " Well done. ", "admin") == ledger.send(team, "Again.", "admin") == team
    assert [one.text for one in ledger.messages(team)] == ["Again.", "Well done."]
    for author, text in (("eve", "Hello."), ("1", "  "), ("1", "x" * 4001)):
        with pytest.raises(Refusal):
            ledger.send(author, text, "admin")
    ledger.forget("1", "admin")
    ledger.forget("2", "admin")
    assert ledger.messages(team) == []


def test_a_new_host_token_replaces_the_old_one(ledger: Ledger) -> None:
    """The store does not contain the token."""
    assert not ledger.is_host("")
    first = ledger.make_host_token()
    second = ledger.make_host_token()
    assert (ledger.is_host(first), ledger.is_host(second)) == (False, True)
    assert second.encode() not in ledger.path.read_bytes()


def test_the_files_of_a_zip_are_shown(ledger: Ledger) -> None:
    """Text files are shown as text. Data files and unreadable archives are shown without content."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/agent.py", "x = 'é'\n")
        archive.writestr("a/weights.bin", b"\xff\x00")
    folder = CodeFolder(ledger, 1 << 20)
    ledger.expect("ada")
    good = ledger.submit("ada", None, "zip", "mine.zip", packed.getvalue(), 10)
    bad = ledger.submit("ada", None, "zip", "mine.zip", b"PK\x03\x04\xff", 10)
    assert folder.texts(good) == {"agent.py": "x = 'é'\n", "weights.bin": None}
    assert folder.texts(bad) == {"mine.zip": None}


@pytest.mark.process
def test_the_host_repeats_a_check_through_the_api(tmp_path: Path) -> None:
    """A file is refused because a library is missing. After the host installs it and repeats the check, the same file plays."""
    (tmp_path / "roster.csv").write_text("id,name,e-mail\n4711,Ada Lovelace,ada@example.org\n4712,Bob,bob@example.org\n")
    spec = SPEC.replace("{per_day: 1000}", "{authors: roster.csv, names: pseudonyms}")
    missing = tmp_path / "library"
    code = f"import os\nassert os.path.exists({str(missing)!r}), 'no library'\n".encode() + agent()
    with HostedLadder(tmp_path, spec) as ladder:
        ada, bob = [row["token"] for row in csv.DictReader(io.StringIO(ladder.admin("tokens", "--all").stdout))]
        host = ladder.admin("host-token").stdout.strip()
        key = ladder.submit(ada, code).body["id"]
        assert "no library" in ladder.verdict(ada, key)["reason"]
        for path in ("", f"/{key}"):
            for token in (None, ada):
                assert ladder.ask(f"/api/host/submissions{path}", token).status == 401
        assert ladder.ask(f"/api/host/submissions/{key}/check", ada, b"").status == 401
        (row,) = ladder.ask("/api/host/submissions", host).body["rows"]
        assert (row["status"], row["people"][0]["name"]) == ("refused", "Ada Lovelace")
        assert row["author"].startswith("p-")
        told = ladder.ask(f"/api/host/submissions/{key}", host).body
        assert told["files"] == [{"name": "mine.py", "text": code.decode(), "cut": False}]
        missing.touch()
        assert ladder.ask(f"/api/host/submissions/{key}/check", host, b"").body["status"] == "queued"
        assert ladder.verdict(ada, key)["status"] == "playing"
        letter = json.dumps({"author": "4711", "text": "Our machine lacked a library; your agent plays now."}).encode()
        assert ladder.ask("/api/host/messages", host, letter, {"Content-Type": "application/json"}).status == 200
        assert [one["text"][:11] for one in ladder.ask("/api/submissions", ada).body["messages"]] == ["Our machine"]
        assert ladder.ask("/api/submissions", bob).body["messages"] == []
        asked = urllib.request.Request(f"{ladder.url}/api/host/archive?author=4711", headers={"Authorization": f"Bearer {host}"})
        with urllib.request.urlopen(asked) as answer, zipfile.ZipFile(io.BytesIO(answer.read())) as archive:
            (line,) = csv.DictReader(io.StringIO(archive.read("index.csv").decode()))
            assert (line["name"], archive.read(f"{line['folder']}/code/mine.py")) == ("Ada Lovelace", code)
        assert ladder.ask("/api/host/marks", host).status == 404
        assert ladder.ask(f"/api/host/submissions/{key}/withdraw", host, b"").body["status"] == "withdrawn"
        assert ladder.ask("/api/submissions", ada).body["rows"][0]["reason"] == "withdrawn by the host of the ladder"
        again = ladder.admin("recheck", key)
        assert again.returncode == 0, again.stderr
        assert ladder.verdict(ada, key)["agent"].endswith("/mine@1")
        assert ladder.admin("message", "4712", "Hello, Bob.").returncode == 0
        assert "admin message" in ladder.admin("audit").stdout
