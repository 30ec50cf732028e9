"""Tokens of ladders in one folder: a stranger who takes a name on an open ladder is not that author anywhere else."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.host import LadderHost, share_tokens
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.spec import load_ladder
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
        share_tokens([*hosts.values()])
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
    """The other roster has the same id for another person."""
    assert find_valid(ladders, ladders["one"].register("ada", "admin")) == {"one": "ada", "two": "ada"}
    assert find_valid(ladders, ladders["other"].register("ada", "admin")) == {"other": "ada"}


def test_the_hosts_token_is_valid_if_the_roster_is_the_same(ladders: dict[str, Ledger]) -> None:
    """An assistant who runs the open ladder does not see the hand-ins of the course."""
    made = {name: ladders[name].make_host_token() for name in ("two", "open")}
    assert [name for name, ledger in ladders.items() if ledger.is_host(made["two"])] == ["one", "two"]
    assert [name for name, ledger in ladders.items() if ledger.is_host(made["open"])] == ["open"]
