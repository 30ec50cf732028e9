"""An author hands in thousands of submissions with long findings, and asks for them again and again. Nobody waits for that."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.routing import Route

from arena.store import Store
from arena_ladder import pages
from arena_ladder.host import LadderApp, LadderHost
from arena_ladder.ledger import CoursePoint, Ledger, bind_store
from arena_ladder.matchmaking import BoardStandings
from arena_ladder.spec import load_ladder
from arena_ladder.submissions import MAX_FINDINGS_CHARACTERS
from arena_web.error_answers import AsciiJson
from tests.eventually import DEADLINE_SECONDS
from tests.ladder.hostile.test_public_figures import ask
from tests.ladder.hosting import SPEC

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="server", isolation="any")]
FINDING = {"game": "g", "check": "c", "promise": "p" * 800, "kept": False, "reached": True, "found": "f"}
FINDINGS = json.dumps([FINDING] * (MAX_FINDINGS_CHARACTERS // len(json.dumps(FINDING)) - 1))
FEEDBACK = json.dumps({"matches": 1, "findings": {"decisions": 1, "judged": 1, "costly": []}})
LONG = ("findings", "ladder_feedback", "ladder_rating", "content")
"""Words in the queries that read much."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LadderHost]:
    """A ladder whose threads do not run."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder, place = load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db"
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)
        ledger.token = ledger.register("eve", "admin")  # type: ignore[attr-defined]
        yield LadderHost(ladder, store, ledger, 1)


def hand_in(ledger: Ledger, first: int, number: int) -> None:
    """Store submissions with the longest findings."""
    columns = "id, author, name, kind, file, digest, content, received, status, findings, reason"
    with ledger._writing() as write:
        rows = [(f"{one:016}", FINDINGS) for one in range(first, first + number)]
        write.executemany(
            f"INSERT INTO ladder_submission ({columns}) "
            "VALUES (?, 'eve', 'mine', 'python', 'mine.py', '', x'00', 0, 'refused', ?, 'reason')",
            rows,
        )
        write.executemany("INSERT INTO ladder_feedback VALUES (?, 0, ?)", [(key, FEEDBACK) for key, _ in rows])


@pytest.fixture
def app(host: LadderHost) -> FastAPI:
    return LadderApp(host).app()


def read(app: FastAPI, host: LadderHost, query: str = "") -> tuple[dict[str, Any], list[str]]:
    """The list of submissions, and the queries that it took."""
    said: list[str] = []
    host.ledger._connection.set_trace_callback(said.append)
    answer = asyncio.run(ask(app, "/api/submissions", query, host.ledger.token))  # type: ignore[attr-defined]
    host.ledger._connection.set_trace_callback(None)
    return json.loads(answer.rpartition("\n")[2]), said


def test_an_answer_lists_at_most_twenty_submissions(app: FastAPI, host: LadderHost) -> None:
    """Listing 90 submissions takes as many queries as listing 30. Further pages list the rest."""
    hand_in(host.ledger, 0, 30)
    few, asked = read(app, host)
    fewer, asked_for_fewer = read(app, host, "page=1")
    assert (len(fewer["rows"]), len(asked_for_fewer)) == (10, len(asked)), "as many queries for 10 rows as for 20"
    hand_in(host.ledger, 30, 60)
    many, asked_again = read(app, host)
    assert len(asked) == len(asked_again)
    assert [len(few["rows"]), few["total"], few["page"], few["pages"]] == [20, 30, 0, 2]
    assert [len(many["rows"]), many["total"], many["page"], many["pages"]] == [20, 90, 0, 5]
    assert many["rows"][0]["feedback"]["judged"] == 1
    assert len(json.dumps(many)) < 20 * (MAX_FINDINGS_CHARACTERS + 1000)
    seen = [row["id"] for page in range(5) for row in read(app, host, f"page={page}")[0]["rows"]]
    assert seen == [f"{one:016}" for one in reversed(range(90))]
    assert read(app, host, "page=5")[0]["rows"] == []


@pytest.mark.parametrize("page", ["-1", "x", "9" * 30])
def test_a_page_that_does_not_exist_is_refused(app: FastAPI, host: LadderHost, page: str) -> None:
    token = host.ledger.token  # type: ignore[attr-defined]
    assert asyncio.run(ask(app, "/api/submissions", f"page={page}", token)).startswith("422 ")


def test_no_route_makes_long_queries_or_answers_in_the_thread_that_serves_all_requests(
    app: FastAPI, host: LadderHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(host.ledger, 0, 1)
    label = "eve/leak@1"
    row = {"rank": 1, "agent": label, "games": 1, "rating": 1.0, "rating_low": 0.0, "rating_high": 2.0, "settled": True}
    host.runner.contest.standings = [BoardStandings("tic-tac-toe", (row,) * 100)]
    host.ledger.keep_ratings([(label, CoursePoint(1.0, 0, 5, 100.0, None, None))] * 500)
    serving, found = threading.get_ident(), dict.fromkeys([True, False], "")
    rows, render = host.ledger._all, AsciiJson.render

    def note_query(sql: str, values: Any = ()) -> Any:
        found[threading.get_ident() == serving] += f"{sql}\n"
        return rows(sql, values)

    def note_answer(self: AsciiJson, content: Any) -> bytes:
        body = render(self, content)
        if len(body) > 4096:
            found[threading.get_ident() == serving] += f"a long answer: {body[:20]!r}\n"
        return body

    monkeypatch.setattr(host.ledger, "_all", note_query)
    monkeypatch.setattr(AsciiJson, "render", note_answer)
    token, admin = host.ledger.token, host.ledger.make_host_token()  # type: ignore[attr-defined]
    key = host.ledger.submissions()[0].id
    found[True] = found[False] = ""
    for path in ("submissions", f"submissions/{key}", f"submissions/{key}/log", "standings", f"agents/{label}"):
        assert asyncio.run(ask(app, f"/api/{path}", "", token)).startswith("200 "), path
    for path in ("/api/host/submissions", f"/api/host/submissions/{key}", "/metrics"):
        assert asyncio.run(ask(app, path, "", admin)).startswith("200 "), path
    for word in (*LONG[:3], 'a long answer: b\'{"author"', 'a long answer: b\'{"rows"', 'a long answer: b\'{"agent"'):
        assert word in found[False], word
    assert not [word for word in (*LONG, "long answer") if word in found[True]]


def test_no_route_writes_in_the_thread_that_serves_all_requests(
    app: FastAPI, host: LadderHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction waits for the disk and for other programs, such as the commands of the host."""
    hand_in(host.ledger, 0, 1)
    token, admin = host.ledger.token, host.ledger.make_host_token()  # type: ignore[attr-defined]
    ids = [host.ledger.submit("eve", f"mine-{number}", "python", "mine.py", b"x = 1", 10).id for number in range(2)]
    found: dict[bool, int] = dict.fromkeys([True, False], 0)
    serving, writing = threading.get_ident(), host.ledger._writing

    def note() -> Any:
        found[threading.get_ident() == serving] += 1
        return writing()

    code = host.ledger.make_link("eve", "admin")
    monkeypatch.setattr(host.ledger, "_writing", note)
    posted: dict[str, tuple[str, dict[str, str]]] = {
        "/api/authors": (token, {"name": "bob"}),
        f"/api/submissions/{ids[0]}/withdraw": (token, {}),
        f"/api/host/submissions/{ids[1]}/withdraw": (admin, {}),
        f"/api/host/submissions/{0:016}/check": (admin, {}),
        "/api/host/messages": (admin, {"author": "eve", "text": "hello"}),
        "/api/claim": (token, {"code": code}),
    }
    for number, (path, (bearer, body)) in enumerate(posted.items(), 1):
        answer = asyncio.run(ask(app, path, "", bearer, json.dumps(body)))
        assert answer.startswith("20"), answer
        assert found[False] >= number
    posts = {route.path for route in app.routes if isinstance(route, Route) and "POST" in (route.methods or ())}
    assert len(posts) == len(posted) + 1, "and handing in, which reads a form"
    assert found[True] == 0


def test_requests_for_a_wheel_delay_no_other_request(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are more such requests than threads while the wheel is built."""
    made = threading.Event()
    monkeypatch.setattr(pages, "read_wheel", lambda _name: made.wait() and b"wheel")
    monkeypatch.setattr(pages, "list_wheels", lambda: {"a.whl": "a"})

    async def rush() -> tuple[str, list[str]]:
        asked = [asyncio.create_task(ask(app, "/dist/a.whl", "", "")) for _ in range(100)]
        try:
            found = await asyncio.wait_for(ask(app, "/metrics", "", ""), DEADLINE_SECONDS)
        finally:
            made.set()
        return found, await asyncio.gather(*asked)

    other, wheels = asyncio.run(rush())
    assert other.startswith("200 ")
    assert all(one.endswith("wheel") for one in wheels)
