"""Rosters: every fault with its line, tokens for all, teams, pseudonyms, and authors that are forgotten."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.cli import cli
from arena.errors import ArenaError, SpecError
from arena.store import Store
from arena_ladder.ledger import Ledger
from arena_ladder.roster import Person, read_roster
from arena_ladder.spec import load_ladder
from arena_web.errors import Refusal
from tests.eventually import eventually
from tests.ladder.hosting import SPEC as HOSTED, HostedLadder, agent

ROSTER = """id,name,e-mail,team
4711,Ada Lovelace,ada@example.org,engines
4712,Bob,bob@example.org,engines
C.D_9,Cyd,cyd@example.org,
"""
SPEC = "game: tic-tac-toe\nagents: [random, greedy]\nsubmissions: {authors: roster.csv, names: NAMES}\n"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    Store.open(tmp_path / "a.db", write=True).close()
    with closing(Ledger(tmp_path / "a.db")) as opened:
        yield opened


def test_a_roster_may_have_the_formats_of_spreadsheets(tmp_path: Path) -> None:
    """The file has a byte order mark, CRLF, another column order, quotes, and empty lines at the end."""
    text = '\ufeffName,Email,ID,remark\r\n"Lovelace, Ada",ada@example.org,4711,\r\n,,,\r\n'
    (tmp_path / "roster.csv").write_bytes(text.encode())
    assert read_roster(tmp_path / "roster.csv") == ([Person("4711", "Lovelace, Ada", "ada@example.org")], [])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"id,name\n1,Ada\n", ["roster.csv:1:1: submissions.authors: missing columns: e-mail; the first line must name"]),
        (
            b"id,name,e-mail\n1,Ada,a\n2,Bob,b\n1,Cyd,c\n",
            ["roster.csv:4:1: submissions.authors", "the id '1' is already in line 2"],
        ),
        (b"id,name,e-mail\na b,Ada,a\n2,Bob\nadmin,Cyd,c\n", ["roster.csv:2:1:", "roster.csv:3:1:", "'admin' is not a valid id"]),
        (b"id,name,e-mail\n1,A\x1b[2J,a\n", [r"roster.csv:2:1:", r"'A\x1b[2J' is not a valid name; expected printable text"]),
        (b"id,name,e-mail,team\n1,Ada,a,2\n2,Bob,b,\n", ["'2' is both an id and a team"]),
        ("id,name,e-mail\n1,Jos\u00e9,a\n".encode("latin-1"), ["it is not UTF-8 text"]),
        (b"id,name,e-mail\n", ["roster.csv:1:1: submissions.authors: the roster has no authors"]),
    ],
)
def test_a_roster_with_an_error_is_refused_as_a_whole(tmp_path: Path, content: bytes, found: list[str]) -> None:
    """Every error names its line."""
    (tmp_path / "roster.csv").write_bytes(content)
    (tmp_path / "course.yaml").write_text(SPEC.replace("NAMES", "ids"))
    with pytest.raises(SpecError) as raised:
        load_ladder(tmp_path / "course.yaml")
    assert [text for text in found if text not in str(raised.value)] == []


def test_tokens_for_all_are_printed_once_as_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second roster adds an author, changes another and removes none. Existing tokens stay valid."""
    monkeypatch.chdir(tmp_path)
    Path("course.yaml").write_text(SPEC.replace("NAMES", "ids"))
    Path("roster.csv").write_text(ROSTER)

    def make_tokens() -> list[dict[str, str]]:
        assert cli(["ladder", "admin", "course.yaml", "tokens", "--all"], standalone_mode=False) == 0
        return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    first = make_tokens()
    assert [(row["id"], row["name"], row["e-mail"], row["team"]) for row in first] == [
        ("4711", "Ada Lovelace", "ada@example.org", "engines"),
        ("4712", "Bob", "bob@example.org", "engines"),
        ("C.D_9", "Cyd", "cyd@example.org", ""),
    ]
    assert make_tokens() == []
    Path("roster.csv").write_text("id,name,e-mail\n4712,Robert,bob@example.org\n5000,Eve,eve@example.org\n")
    assert [row["id"] for row in make_tokens()] == ["5000"]
    with closing(Ledger(Path("results/course.db"))) as ledger:
        assert [ledger.author_of(row["token"]) for row in first] == ["engines", "4712", "C.D_9"]
        assert [person.name for person, _ in ledger.people()] == ["Ada Lovelace", "Robert", "Eve", "Cyd"]


def test_a_link_shows_a_token_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The store does not contain the codes. A new link replaces the old one, and --all skips authors with a token."""
    monkeypatch.chdir(tmp_path)
    Path("course.yaml").write_text(SPEC.replace("NAMES", "ids"))
    Path("roster.csv").write_text(ROSTER)

    def make_links(*words: str) -> dict[str, str]:
        command = ["ladder", "admin", "course.yaml", "links", *words, "--to", "https://a.example/"]
        assert cli(command, standalone_mode=False) == 0
        rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
        return {row["id"]: row["link"].removeprefix("https://a.example/claim#") for row in rows}

    first = make_links("--all")
    assert list(first) == ["4711", "4712", "C.D_9"]
    again = make_links("4711")
    with closing(Ledger(Path("results/course.db"))) as ledger:
        for code in (first["4711"], ""):
            with pytest.raises(Refusal, match="invalid"):
                ledger.claim(code)
        name, token = ledger.claim(again["4711"])
        assert (name, ledger.author_of(token)) == ("4711", "engines")
        with pytest.raises(Refusal, match="already been used"):
            ledger.claim(again["4711"])
        assert again["4711"].encode() not in ledger.path.read_bytes()
    assert list(make_links("--all")) == ["4712", "C.D_9"]
    with pytest.raises(ArenaError, match="unknown author 'eve'"):
        make_links("eve")


def test_teams_share_submissions_and_keep_their_pseudonym(ledger: Ledger) -> None:
    """A pseudonym contains no part of a name and does not change with a new roster. A ban applies to the whole team."""
    people = [Person("4711", "Ada", "", "engines"), Person("4712", "Bob", "", "engines"), Person("4713", "Cyd")]
    ledger.enrol(people, pseudonyms=True)
    handles = dict((person.id, handle) for person, handle in ledger.people())  # noqa: C402 - pairs as they come
    assert handles["4711"] == handles["4712"] != handles["4713"]
    assert all(handle.startswith("p-") for handle in handles.values())
    ledger.enrol([*people, Person("4714", "Dan")], pseudonyms=True)
    assert {person.id: handle for person, handle in ledger.people() if person.id != "4714"} == handles
    token = ledger.register("4712", "admin")
    assert ledger.author_of(token) == handles["4711"]
    ledger.ban("4711", "admin")
    assert ledger.banned() == {handles["4711"]}
    with pytest.raises(Refusal, match="banned"):
        ledger.author_of(token)
    ledger.unban(handles["4711"], "admin")
    assert ledger.author_of(token) == handles["4711"]
    with pytest.raises(ArenaError, match="unknown author 'eve'"):
        ledger.unban("eve", "admin")


def test_a_forgotten_author_leaves_no_data(ledger: Ledger) -> None:
    """The store contains neither name, e-mail address nor code. The code of a team is kept until its last member is forgotten."""
    ledger.enrol([Person("1", "Ada Lovelace", "ada@example.org", "t"), Person("2", "Bob", "b@example.org", "t")], pseudonyms=True)
    token = ledger.register("1", "admin")
    key = ledger.submit(ledger.author_of(token), "mine", "python", "lovelace.py", b"secret_code = 1", 10).id
    assert ledger.forget("1", "admin") == []
    assert ledger.content(key) == b"secret_code = 1"
    assert [one.id for one in ledger.forget("2", "admin")] == [key]
    assert (ledger.content(key), ledger.submission(key).file) == (b"", "forgotten")
    with pytest.raises(Refusal):
        ledger.author_of(token)
    assert [(person.name, person.email) for person, _ in ledger.people()] == [("", ""), ("", "")]


def test_tokens_and_links_do_not_begin_with_a_hyphen(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a CSV file, a cell that begins with a hyphen could be a formula, so an apostrophe is put before it. Otherwise, one token
    in 64 would begin with a hyphen.
    """
    drawn = iter(["-one", "-two", "three", "-four", "five", "-six", "seven"])
    monkeypatch.setattr("arena_ladder.authors.token_urlsafe", lambda _: next(drawn))
    assert ledger.register("ada", "admin") == "three"
    code = ledger.make_link("ada", "admin")
    assert (code, ledger.claim(code)) == ("five", ("ada", "seven"))


def test_the_host_sees_all_submissions_and_identical_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list shows the names behind pseudonyms. A copy is reported for both authors, but not within a team."""
    monkeypatch.chdir(tmp_path)
    Path("course.yaml").write_text(SPEC.replace("NAMES", "pseudonyms"))
    Path("roster.csv").write_text(ROSTER)
    assert cli(["ladder", "admin", "course.yaml", "tokens", "--all"], standalone_mode=False) == 0
    tokens = {row["id"]: row["token"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    with closing(Ledger(Path("results/course.db"))) as ledger:
        handles = {key: ledger.author_of(token) for key, token in tokens.items()}
        for key, content in (("4711", b"x = 1"), ("4712", b"x = 1"), ("C.D_9", b"x = 2"), ("C.D_9", b"x = 1")):
            ledger.submit(handles[key], None, "python", "../mine.py", content, 10)

    def listed(*words: str) -> list[str]:
        assert cli(["ladder", "admin", "course.yaml", "submissions", *words], standalone_mode=False) == 0
        return capsys.readouterr().out.splitlines()

    found = listed()
    team, alone = handles["4711"], handles["C.D_9"]
    twins = [line.rpartition("identical to a file of ")[2] if "identical" in line else "" for line in found]
    assert twins == [alone, alone, "", team]
    assert "by Ada Lovelace (4711), Bob (4712): queued" in found[0]
    assert listed("--author", "C.D_9") == found[2:] == listed("--author", alone)
    assert listed("--status", "refused") == []
    told = json.loads("\n".join(listed("--json", "--author", "4712")))
    seen = [(one["status"], one["people"][0]["e-mail"], one["identical"]) for one in told]
    assert seen == [("queued", "ada@example.org", [alone])] * 2
    listed("--zip", "all.zip")
    with zipfile.ZipFile("all.zip") as archive:
        names = archive.namelist()
        assert sum(name.endswith("/log.txt") for name in names) == 4
        assert all(".." not in Path(name).parts for name in names)
        assert [archive.read(name) for name in names if "/code/" in name] == [b"x = 1", b"x = 1", b"x = 2", b"x = 1"]
    with pytest.raises(ArenaError, match="unknown status 'bad'"):
        listed("--status", "bad")


@pytest.mark.process
def test_the_board_is_final_after_the_deadline_until_it_is_opened_again(tmp_path: Path) -> None:
    """The board becomes final when no matches are left, or when the time for matches is over. Then no match is played."""

    def wait_for(ladder: HostedLadder, state: str) -> None:
        eventually(lambda: ladder.ask("/health").body["state"] == state, lambda: ladder.ask("/health").body)

    closed = HOSTED.replace("{per_day: 1000}", "{closes: 2020-01-31T18:00+01:00}").replace("200", "400")
    with HostedLadder(tmp_path, closed) as ladder:
        wait_for(ladder, "final")
        assert ladder.ask("/health").body["matches"] > 0
        assert ladder.ask("/api/ladder").body["closes"] == "2020-01-31T18:00:00+01:00"
        assert ladder.admin("reopen", "2099-01-31T18:00+01:00").returncode == 0
        wait_for(ladder, "idle")
        (tmp_path / "course.yaml").write_text(HOSTED.replace("{interval: 200}", "{time: 2020-01-31T18:00+01:00}"))
        assert ladder.end()[0] == 0
        ladder.again()
        wait_for(ladder, "final")
        assert ladder.ask("/health").body["matches"] == 0


@pytest.mark.process
def test_submissions_after_the_deadline_are_refused_until_it_is_extended(tmp_path: Path) -> None:
    """The refusal names the deadline. After the host extends it, the agent plays under an id that starts with a digit."""
    (tmp_path / "roster.csv").write_text("id,name,e-mail\n47.1_A,Ada,ada@example.org\n")
    spec = HOSTED.replace("{per_day: 1000}", "{authors: roster.csv, closes: 2020-01-31T18:00+01:00}")
    with HostedLadder(tmp_path, spec) as ladder:
        (row,) = csv.DictReader(io.StringIO(ladder.admin("tokens", "--all").stdout))
        refused = ladder.submit(row["token"], agent())
        assert (refused.status, refused.body["error"]) == (403, "submissions closed at 2020-01-31T18:00:00+01:00")
        assert ladder.admin("reopen", "tomorrow").returncode == 2
        assert ladder.admin("reopen", "2099-01-31T18:00+01:00").returncode == 0
        told = ladder.verdict(row["token"], ladder.submit(row["token"], agent()).body["id"])
        assert (told["status"], told["agent"]) == ("playing", "47.1_A/mine@1")
        eventually(lambda: "47.1_A/mine@1" in [one["agent"] for one in ladder.rows()])
        assert ladder.admin("forget", "47.1_A").returncode == 0
        assert not list((tmp_path / "results" / "course.db.logs").iterdir())
