"""Tokens of ladders in one folder: a stranger who takes a name on an open ladder is not that author anywhere else, and a token
that was replaced is not valid anywhere.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from arena.cli import cli
from arena.errors import ArenaError, SpecError
from arena.store import Store
from arena_ladder.host import LadderHost, share_authors
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.roster import Person
from arena_ladder.spec import find_sharing, load_ladder
from arena_web.errors import Refusal
from tests.ladder.hosting import SPEC

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="author", isolation="any")]
ROSTERS = {"one": "roster.csv", "two": "roster.csv", "other": "other.csv", "open": "open", "second": "open"}
"""The ladders of a folder, each with its authors."""


@pytest.fixture
def ladders(tmp_path: Path) -> Iterator[dict[str, Ledger]]:
    """The ledgers of five ladders that are hosted together."""
    (tmp_path / "roster.csv").write_text("id,name,e-mail\nada,Ada Lovelace,ada@example.org\nbob,Bob,bob@example.org\n")
    (tmp_path / "other.csv").write_text("id,name,e-mail\nada,Ada Yonath,yonath@example.org\n")
    hosts = {}
    with ExitStack() as opened:
        for name, authors in ROSTERS.items():
            file = tmp_path / f"{name}.yaml"
            file.write_text(SPEC.replace("{per_day: 1000}", f"{{authors: {authors}}}"))
            ladder, place = load_ladder(file), tmp_path / f"{name}.db"
            store = opened.enter_context(Store.open(place, write=True))
            ledger = opened.enter_context(closing(Ledger(place)))
            bind_store(ladder, store, ledger)
            hosts[name] = LadderHost(ladder, store, ledger, 1, f"/{name}")
        share_authors([*hosts.values()])
        yield {name: host.ledger for name, host in hosts.items()}


def find_valid(ladders: dict[str, Ledger], token: str) -> dict[str, str]:
    """The ladders that accept a token, each with the author that it stands for."""
    found = {}
    for name, ledger in ladders.items():
        with suppress(Refusal):
            found[name] = ledger.author_of(token)
    return found


def test_a_stranger_does_not_become_an_author_of_another_ladder_by_taking_the_name(ladders: dict[str, Ledger]) -> None:
    """The name `ada` is in a roster, and belongs to somebody else on each open ladder."""
    stranger = ladders["open"].join("ada", "ada")
    assert find_valid(ladders, stranger) == {"open": "ada"}
    victim = ladders["second"].join("ada", "ada")
    assert find_valid(ladders, victim) == {"second": "ada"}


def test_a_token_is_valid_if_the_roster_is_the_same(ladders: dict[str, Ledger]) -> None:
    """The other roster lists the same id for a different person."""
    assert find_valid(ladders, ladders["one"].register("ada", "admin")) == {"one": "ada", "two": "ada"}
    assert find_valid(ladders, ladders["other"].register("ada", "admin")) == {"other": "ada"}


def test_the_hosts_token_is_valid_if_the_roster_is_the_same(ladders: dict[str, Ledger]) -> None:
    """An assistant in charge of the open ladder does not see the hand-ins of the course."""
    made = {name: ladders[name].make_host_token() for name in ("two", "open")}
    assert [name for name, ledger in ladders.items() if ledger.is_host(made["two"])] == ["one", "two"]
    assert [name for name, ledger in ladders.items() if ledger.is_host(made["open"])] == ["open"]


# Replaced tokens

REPLACED = pytest.mark.promise(hole="token", isolation="any")
NEW_TOKENS: dict[str, Callable[[Ledger], str]] = {
    "token": lambda ledger: ledger.register("ada", "admin"),
    "link": lambda ledger: ledger.claim(ledger.make_link("ada", "admin"))[1],
}
"""The ways in which `ada` gets a new token."""


@REPLACED
@pytest.mark.parametrize("renew", NEW_TOKENS.values(), ids=NEW_TOKENS)
def test_a_new_token_replaces_the_old_one_on_all_ladders(ladders: dict[str, Ledger], renew: Callable[[Ledger], str]) -> None:
    """One of the ladders has issued the old token. Ladders that share nothing are not changed."""
    others = {name: ladders[name].register("ada", "admin") for name in ("other", "open")}
    for first, second in (("one", "two"), ("two", "one")):
        old, bob = renew(ladders[first]), ladders[first].register("bob", "admin")
        new = renew(ladders[second])
        assert find_valid(ladders, old) == {}
        assert find_valid(ladders, new) == {"one": "ada", "two": "ada"}
        assert find_valid(ladders, bob) == {"one": "bob", "two": "bob"}
    for name, token in others.items():
        assert find_valid(ladders, token) == {name: "ada"}


@REPLACED
def test_a_new_token_or_link_makes_the_links_of_all_ladders_invalid(ladders: dict[str, Ledger]) -> None:
    codes = [ladders["one"].make_link("ada", "admin"), ladders["two"].make_link("ada", "admin")]
    with pytest.raises(Refusal, match="invalid"):
        ladders["one"].claim(codes[0])
    token = ladders["one"].register("ada", "admin")
    with pytest.raises(Refusal, match="invalid"):
        ladders["two"].claim(codes[1])
    assert find_valid(ladders, token) == {"one": "ada", "two": "ada"}


@pytest.mark.promise(hole="server", isolation="any")
def test_a_wrong_code_opens_and_locks_no_ladder(ladders: dict[str, Ledger], monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers may send any number of codes."""

    def fail(*_: object) -> None:
        raise AssertionError("a ladder was opened or locked")

    ladders["two"].make_link("ada", "admin")
    monkeypatch.setattr(Ledger, "__init__", fail)
    monkeypatch.setattr(Ledger, "_writing", fail)
    with pytest.raises(Refusal, match="invalid"):
        ladders["one"].claim("x" * 32)


@REPLACED
def test_a_new_token_of_the_host_replaces_the_old_one_on_all_ladders(ladders: dict[str, Ledger]) -> None:
    for first, second in (("one", "two"), ("two", "one")):
        old, new = ladders[first].make_host_token(), ladders[second].make_host_token()
        assert [name for name, ledger in ladders.items() if ledger.is_host(old)] == []
        assert [name for name, ledger in ladders.items() if ledger.is_host(new)] == ["one", "two"]


@REPLACED
def test_a_ban_holds_on_all_ladders(ladders: dict[str, Ledger]) -> None:
    """No ladder issues a token or a link to a banned author."""
    token, code = ladders["two"].register("ada", "admin"), ladders["two"].make_link("ada", "admin")
    key = ladders["two"].submit("ada", "mine", "python", "mine.py", b"x = 1", 10).id
    ladders["one"].ban("ada", "admin")
    for ledger in (ladders["one"], ladders["two"]):
        with pytest.raises(Refusal, match="banned") as raised:
            ledger.author_of(token)
        assert raised.value.status == 403
        for give in (ledger.register, ledger.make_link):
            with pytest.raises(Refusal, match="ada is banned"):
                give("ada", "admin")
        assert ledger.without_token() == ["bob"]
    with pytest.raises(Refusal, match="ada is banned"):
        ladders["two"].claim(code)
    assert ladders["two"].submission(key).status == "withdrawn"
    assert ladders["other"].banned() == ladders["open"].banned() == frozenset()
    ladders["two"].unban("ada", "admin")
    assert find_valid(ladders, token) == {"one": "ada", "two": "ada"}


@REPLACED
def test_a_deleted_author_has_no_token_on_any_ladder(ladders: dict[str, Ledger]) -> None:
    """The other ladder keeps its data, and may give another token, which the first ladder does not accept."""
    token = ladders["two"].register("ada", "admin")
    ladders["one"].forget("ada", "admin")
    assert find_valid(ladders, token) == {}
    assert find_valid(ladders, ladders["two"].register("ada", "admin")) == {"two": "ada"}


def test_an_id_that_looks_like_the_name_of_a_deleted_author_gets_a_token(ladders: dict[str, Ledger]) -> None:
    ladders["one"].enrol([Person("gone-4711"), Person("7", team="gone-team")], pseudonyms=False)
    assert find_valid(ladders, ladders["one"].register("gone-4711", "admin")) == {"one": "gone-4711"}
    assert find_valid(ladders, ladders["one"].register("7", "admin")) == {"one": "gone-team"}


@pytest.fixture
def term(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a term with two ladders, which admin commands administer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roster.csv").write_text(
        "id,name,e-mail,team\n1,Ada,a@example.org,t\n2,Bob,b@example.org,t\n3,Cyd,c@example.org,\n"
    )
    for name in ("a", "b"):
        rules = "{authors: roster.csv, names: pseudonyms}"
        (tmp_path / f"{name}.yaml").write_text(SPEC.replace("{per_day: 1000}", rules))
    return tmp_path


def administer(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The last word that an admin command prints."""
    capsys.readouterr()
    assert cli(["ladder", "admin", *words], standalone_mode=False) == 0
    return (capsys.readouterr().out.split() or [""])[-1]


def find_accepted(*tokens: str) -> list[list[bool]]:
    """Whether each of the ladders, when it is hosted alone, accepts each token of an author or of the host."""
    found = []
    for name in ("a", "b"):
        with ExitStack() as opened:
            ladder = load_ladder(f"{name}.yaml")
            store = opened.enter_context(Store.open(ladder.store, write=True))
            ledger = opened.enter_context(closing(Ledger(ladder.store)))
            bind_store(ladder, store, ledger)
            share_authors([LadderHost(ladder, store, ledger, 1)])
            found.append([ledger.is_host(token) or token in find_valid({token: ledger}, token) for token in tokens])
    return found


@REPLACED
def test_a_replaced_token_is_invalid_on_ladders_that_are_hosted_alone(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The specs are read for their authors alone. The command for one ladder changes the store of the other."""
    old = [administer(capsys, "b.yaml", *words) for words in (("tokens", "1"), ("host-token",))]
    other = administer(capsys, "a.yaml", "tokens", "3")
    new = [administer(capsys, "a.yaml", *words) for words in (("tokens", "1"), ("host-token",))]
    (term / "a.yaml").rename(term / "a.txt")  # whoever hosts b.yaml need not have the other spec
    with closing(Ledger(Path("results/b.db"))) as ledger:
        assert [ledger.find_author(old[0]), ledger.is_host(old[1])] == [None, False]
        assert [ledger.find_author(new[0]), ledger.is_host(new[1])] == ["1", True]
    (term / "a.txt").rename(term / "a.yaml")
    assert find_accepted(*old, *new, other) == [[False, False, True, True, True]] * 2


@REPLACED
def test_a_store_that_was_moved_away_gets_later_tokens_and_bans(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store is moved away while tokens are replaced and a team is banned, and then comes back. The last token is valid
    everywhere, whichever ladder issued it.
    """
    first = [administer(capsys, "b.yaml", *words) for words in (("tokens", "1"), ("host-token",))]
    shutil.move(term / "results/b.db", term / "b.db")
    second = [administer(capsys, "a.yaml", *words) for words in (("tokens", "1"), ("host-token",), ("tokens", "3"))]
    administer(capsys, "a.yaml", "ban", "2")
    shutil.move(term / "b.db", term / "results/b.db")
    assert find_accepted(*first, second[1], second[2]) == [[False, False, True, True]] * 2
    with closing(Ledger(Path("results/b.db"))) as ledger:
        assert ledger.find_author(second[0]) == "1"
        with pytest.raises(Refusal, match="banned"):
            ledger.author_of(second[0])
    administer(capsys, "b.yaml", "unban", "1")
    assert find_accepted(second[0]) == [[True]] * 2


@REPLACED
@pytest.mark.parametrize("restored", ["a", "b"], ids=["the one that was told", "the other"])
def test_an_older_copy_of_a_store_restores_no_old_rights(term: Path, capsys: pytest.CaptureFixture[str], restored: str) -> None:
    """The copy contains the token of an author deleted on one of the ladders, a ban that has ended, a token that was replaced,
    and a link for a deleted author.
    """
    (term / "roster.csv").write_text((term / "roster.csv").read_text() + "4,Dan,d@example.org,\n")
    to = ("--to", "https://a.example")
    gone = administer(capsys, "b.yaml", "tokens", "3")
    banned = administer(capsys, "a.yaml", "tokens", "1")
    administer(capsys, "a.yaml", "ban", "2")
    administer(capsys, f"{restored}.yaml", "links", "4", *to)
    with closing(Ledger(Path(f"results/{restored}.db"))) as ledger:
        link = ledger._rows("SELECT author FROM ladder_link")
        ledger.backup(term / "monday.db")
    assert link == [("4",)]
    for author in ("3", "4"):
        administer(capsys, "a.yaml", "forget", author)
    administer(capsys, "a.yaml", "unban", "1")
    assert find_accepted(banned, gone) == [[True, False]] * 2
    for file in (term / "results").glob(f"{restored}.db*"):
        if file.is_file():
            file.unlink()
    shutil.copy(term / "monday.db", term / f"results/{restored}.db")
    assert find_accepted(banned, gone) == [[True, False]] * 2
    with closing(Ledger(Path(f"results/{restored}.db"))) as ledger:
        assert ledger._rows("SELECT author FROM ladder_link") == []
        assert not ledger.banned()
    again = administer(capsys, "b.yaml", "tokens", "1")
    assert find_accepted(banned, again) == [[False, True]] * 2


@REPLACED
def test_a_command_gives_no_token_or_link_to_a_banned_author(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    administer(capsys, "a.yaml", "tokens", "3")
    administer(capsys, "b.yaml", "host-token")
    administer(capsys, "a.yaml", "ban", "2")
    to = ("--to", "https://a.example")
    for spec in ("a.yaml", "b.yaml"):
        for words in (("tokens", "1"), ("links", "2", *to)):
            with pytest.raises(ArenaError, match="is banned"):
                administer(capsys, spec, *words)
        assert administer(capsys, spec, "tokens", "--all") == "id,name,e-mail,team,token", "3 has one, and 1 and 2 get none"
        assert administer(capsys, spec, "links", "--all", *to) == "id,name,e-mail,team,link"


def test_only_stores_of_specs_with_the_same_authors_share_tokens(term: Path) -> None:
    """Other YAML files in the folder may contain anything, as long as they have no store."""
    ladder = load_ladder("a.yaml")
    assert [str(place) for place in find_sharing(ladder)] == ["results/b.db"]
    (term / "c.yaml").write_text("services: {web: 1}")
    (term / "d.yaml").write_text("not: [YAML")
    (term / "e.yaml").write_text((term / "b.yaml").read_text().replace("roster.csv", "copy.csv"))
    (term / "copy.csv").write_text((term / "roster.csv").read_text())
    assert [str(place) for place in find_sharing(ladder)] == ["results/b.db", "results/e.db"]
    (term / "copy.csv").write_text((term / "roster.csv").read_text().replace("Ada", "Adam"))
    assert [str(place) for place in find_sharing(ladder)] == ["results/b.db"]
    (term / "results").mkdir()
    (term / "results/d.db").touch()
    with pytest.raises(SpecError, match=r"d\.yaml"):
        find_sharing(ladder)
    (term / "a.yaml").write_text(SPEC)
    assert find_sharing(load_ladder("a.yaml")) == []
