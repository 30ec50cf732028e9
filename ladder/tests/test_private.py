"""Private data of an author is not shown to others: a stranger and another author request every address."""

import sqlite3
import urllib.request
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from starlette.routing import Route

from arena_ladder.host import LadderApp, open_ladder
from arena_ladder.spec import load_ladder
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.ladder.hosting import GOOD, HostedLadder, agent

pytestmark = pytest.mark.process

MARK = "wombat"
"""Stands in the code of ada's agents, in the names of their files, and in all that they say."""


class Private(NamedTuple):
    """A ladder on which an agent of ada has failed in matches, and another one in its check."""

    ladder: HostedLadder
    own: str
    other: str
    suspended: Any
    refused: Any
    matches: tuple[str, ...]


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Private]:
    folder = tmp_path_factory.mktemp("private")
    flag = folder / "fail"
    with HostedLadder(folder) as ladder:
        own, other = ladder.tokens("ada", "bob")
        says = f"import sys; print('{MARK}', file=sys.stderr); "
        fails = f"{says}assert not os.path.exists({str(flag)!r}), '{MARK} in a match'; {GOOD}"
        key = ladder.submit(own, agent(fails), f"{MARK}.py").body["id"]
        refused = ladder.submit(own, agent(f"{says}raise ValueError('{MARK} in the check')"), f"{MARK}.py").body["id"]
        assert ladder.verdict(own, key)["status"] == "playing"
        flag.touch()
        suspended = eventually(
            lambda: (told := ladder.ask(f"/api/submissions/{key}", own).body)["status"] == "suspended" and told
        )
        with sqlite3.connect(folder / "results" / "course.db") as store:
            question = "SELECT lower(hex(id)) FROM record WHERE termination = 'exception' LIMIT 2"
            matches = tuple(row[0] for row in store.execute(question))
        yield Private(ladder, own, other, suspended, ladder.verdict(own, refused), matches)


def _addresses(private: Private, tmp_path: Path) -> dict[str, list[str]]:
    """Every route that answers GET, with the addresses that it has for ada's agent."""
    (tmp_path / "course.yaml").write_text((private.ladder.folder / "course.yaml").read_text())
    with open_ladder(load_ladder(tmp_path / "course.yaml"), tmp_path / "course.db", 1) as host:
        routes = [route for route in LadderApp(host).app().routes if isinstance(route, Route)]
    label = private.suspended["agent"]
    keys = [private.suspended["id"], private.refused["id"]]
    given = {
        "/api/agents/{name:path}": [f"/api/agents/{name}" for name in (label, *keys)],
        "/api/submissions/{id}": [f"/api/submissions/{key}" for key in keys],
        "/api/submissions/{id}/log": [f"/api/submissions/{key}/log" for key in keys],
        "/static/{name:path}": [f"/static/{name}" for name in ("page.js", f"{MARK}.py", "../course.db", f"%2e%2e/{MARK}.py")],
        "/modules/{name}": ["/modules/none.js"],
        "/api/t/ladder/panels": [f"/api/t/ladder/panels?place=match&id={key}" for key in private.matches],
    }
    for path in ("/t/ladder/match/{id}", "/api/t/ladder/match/{id}", "/api/t/ladder/match/{id}/around"):
        given[path] = [path.replace("{id}", key) for key in private.matches]
    for path in ("/t/ladder/entry", "/api/t/ladder/entry"):
        given[path] = [f"{path}?name={quote(name)}" for name in (label, *keys)]
    for path in ("/t/ladder/matches", "/api/t/ladder/matches"):
        given[path] = [path, f"{path}?agent={quote(label)}", f"{path}?agent={quote(label)}&ending=exception"]
    return {route.path: given.get(route.path, [route.path]) for route in routes if "GET" in (route.methods or ())}


def _read(ladder: HostedLadder, address: str, token: str | None, accept: str) -> str:
    """All that is answered, headers too; of a stream without an end its first event."""
    headers = {"Accept": accept, **({} if token is None else {"Authorization": f"Bearer {token}"})}
    if address == "/api/events":
        with urllib.request.urlopen(
            urllib.request.Request(ladder.url + address, headers=headers), timeout=DEADLINE_SECONDS
        ) as stream:
            return b"".join(stream.readline() for _ in range(3)).decode()
    answer = ladder.ask(address, token, headers=headers)
    return f"{answer.status} {dict(answer.headers)} {answer.body}"


def test_the_author_reads_every_part_of_a_submission(private: Private) -> None:
    """The next test searches for these texts, so they must exist."""
    assert f"{MARK} in a match" in private.suspended["reason"]
    assert private.suspended["reason"].endswith(f"AssertionError: {MARK} in a match ({MARK}.py:9)")
    assert f"{MARK} in the check" in private.refused["reason"]
    assert private.suspended["file"] == private.refused["file"] == f"{MARK}.py"
    logs = [
        private.ladder.ask(f"/api/submissions/{one['id']}/log", private.own).body for one in (private.suspended, private.refused)
    ]
    for one in logs:
        assert f"UTC\n{MARK}\n" in one["log"], "what it printed, below the time"
        assert str(private.ladder.folder / "results") not in str(one), "where the ladder keeps its code"
    assert logs[1]["lost"] == []
    assert len(logs[0]["lost"]) >= 5
    last = logs[0]["lost"][0]
    assert (last["termination"], private.suspended["agent"] in last["labels"]) == ("exception", True)
    assert last["message"] == f"AssertionError: {MARK} in a match ({MARK}.py:9)"
    assert f'File "{MARK}.py", line 9, in choose' in last["traceback"]
    assert len(private.matches) == 2
    for key in private.matches:
        assert "view" in private.ladder.ask(f"/api/t/ladder/match/{key}").body, "a match of an agent that is not in play any more"


def test_no_address_shows_private_parts_of_a_submission_to_others(private: Private, tmp_path: Path) -> None:
    """Another author and a visitor without a token read neither the output of the agents nor their code, nor names of files and
    folders.
    """
    routes = _addresses(private, tmp_path)
    assert {"/", "/yours", "/api/events", "/api/submissions", "/metrics", "/t/ladder/match/{id}"} <= set(routes)
    for addresses in routes.values():
        for address in addresses:
            for token, accept in product((private.other, None), ("application/json", "text/html")):
                told = _read(private.ladder, address, token, accept).replace(address, "")
                assert MARK not in told, address
                assert str(private.ladder.folder) not in told, address


def test_other_authors_cannot_change_a_submission(private: Private) -> None:
    """The refused requests reveal nothing either."""
    for key in (private.suspended["id"], private.refused["id"]):
        for token, status in ((private.other, 403), (None, 401)):
            for answer in (
                private.ladder.ask(f"/api/submissions/{key}/withdraw", token, b""),
                private.ladder.ask(f"/api/submissions/{key}/log", token),
            ):
                assert (answer.status, MARK in str(answer)) == (status, False)
    assert private.ladder.ask(f"/api/submissions/{private.suspended['id']}", private.own).body["status"] == "suspended"
