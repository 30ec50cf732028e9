"""A solver encodes the hidden positions in the figures that it reports. Nothing that the public or its author can read
changes.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Message

from arena.store import Store
from arena_ladder.host import Assignments, LadderApp, LadderHost
from arena_ladder.ledger import CoursePoint, Ledger, bind_store
from arena_ladder.matchmaking import BoardStandings
from arena_ladder.public_standings import PUBLISH_SECONDS, PublicStandings
from arena_ladder.spec import load_ladder
from arena_web.guard import Site

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="figures", isolation="any")]
SPEC = """
game: {name: sliding-tiles, rows: 4, columns: 4}
agents: [{agent: bfs, isolation: none}]
isolation: process
limits: {seconds: 1}
positions: {start: 5}
submissions: {authors: open}
"""
LABEL = "eve/leak@1"
ROW = {
    "rank": 1, "agent": LABEL, "attempts": 5, "solved": 0.8, "solved_low": 0.5, "solved_high": 0.9, "mean_moves": 47.2,
    "mean_moves_failed": 3.0, "mean_cost": 47.2, "nodes_per_attempt": 4.0, "seconds_per_attempt": 0.3, "failures": 1,
    "failures_by_kind": {"timeout": 1}, "fallback_share": None, "settled": True,
}  # fmt: skip
CHOSEN: dict[str, dict[str, Any]] = {
    "nodes": {"nodes_per_attempt": 20922789887999.0},
    "seconds": {"seconds_per_attempt": 0.4123},
    "digits": {"mean_cost": 46.8, "mean_moves": 46.8},
    "moves": {"mean_moves": 99.0},
    "failed": {"mean_moves_failed": 17.0},
    "kinds": {"failures_by_kind": {"crash": 1}},
    "fallbacks": {"fallback_share": 0.3},
    "new": {"a_figure_of_tomorrow": 5},
}
"""Figures that an agent chooses, each with another value than in ROW."""


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(tmp_path: Path, clock: Clock) -> Iterator[LadderHost]:
    """A ladder with a submission that plays, whose threads do not run."""
    (tmp_path / "puzzle.yaml").write_text(SPEC)
    ladder, place = load_ladder(tmp_path / "puzzle.yaml"), tmp_path / "a.db"
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        bind_store(ladder, store, ledger)
        made = LadderHost(ladder, store, ledger, 1)
        made.public = PublicStandings(made.runner.contest, lambda: made.hides, clock)
        ledger.token = ledger.register("eve", "admin")  # type: ignore[attr-defined]
        key = ledger.submit("eve", "leak", "program", "leak", b"#!/bin/sh\n", 9).id
        assert ledger.next_to_check() is not None
        ledger.accept(key, "leak", None, (), 2)
        yield made


def show(host: LadderHost, row: dict[str, Any], state: str = "playing", matches: int = 5) -> None:
    """Let a contest have these figures."""
    contest = host.runner.contest
    contest.standings = [BoardStandings("15-puzzle", ({**row},), kind="puzzle")]
    contest.state, contest.positions, contest.matches, contest.voids = state, 5, matches, matches % 3
    contest.version += 1
    host.ledger.keep_ratings([(LABEL, CoursePoint(1.0, 0, matches, 100 * (row["solved"] or 0), None, None))])
    host.ledger.count_faults(LABEL, matches % 4)


def read_all(host: LadderHost) -> str:
    """Everything that the author can read without the token of the host: the answers of all routes, with their headers."""
    site = Assignments([host], {}, {}, asyncio.Event()).guard(Site("127.0.0.1", 80))
    answers = [asyncio.run(ask_all(app, host)) for app in (LadderApp(host).app(), cast("FastAPI", site._home._app))]
    assert {"/api/assignments", "/health"} <= answers[1].keys()
    return "\n".join(f"{path}: {answer}" for found in answers for path, answer in found.items())


async def ask_all(app: FastAPI, host: LadderHost) -> dict[str, str]:
    """The answer to a GET request for each route, by path."""
    token = host.ledger.token  # type: ignore[attr-defined]
    (one,) = host.ledger.submissions()
    found = {}
    for route in app.routes:
        if not isinstance(route, Route) or "GET" not in (route.methods or ()):
            continue
        key = one.id if "submissions" in route.path else "0" * 32
        path = route.path.replace("{id}", key).replace("{name:path}", LABEL).replace("{name}", LABEL)
        found[path] = await ask(app, path, f"name={LABEL}", token)
    return found


async def ask(app: FastAPI, path: str, query: str, token: str, body: str | None = None) -> str:
    """The status, the headers and the body of an answer; of a stream, its first event. A `body` of JSON is posted."""
    found, ended = [], asyncio.Event()

    async def send(message: Message) -> None:
        found.append(f"{message.get('status', '')} {message.get('headers', '')} {message.get('body', b'').decode()}")
        if "event: standings" in found[-1] or (message["type"] == "http.response.body" and not message.get("more_body")):
            ended.set()

    async def receive() -> Message:
        if ended.is_set() or path == "/api/events":
            await ended.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": (body or "").encode(), "more_body": False}

    scope = {
        "type": "http", "method": "GET" if body is None else "POST", "path": path, "raw_path": path.encode(), "root_path": "",
        "scheme": "http", "query_string": query.encode(), "http_version": "1.1", "server": ("127.0.0.1", 80),
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")],
        "client": ("::1", 1), "client_address": "::1",
    }  # fmt: skip
    await app(scope, receive, send)
    return "\n".join(found)


@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_figures_that_an_agent_chooses_are_not_published(host: LadderHost, clock: Clock, chosen: dict[str, Any]) -> None:
    show(host, ROW)
    before = read_all(host)
    assert '"solved":0.8' in before
    assert '"mean_cost":47.0' in before
    clock.now += PUBLISH_SECONDS
    show(host, {**ROW, **chosen})
    assert read_all(host) == before


def test_nothing_changes_between_the_first_and_the_last_attempt(host: LadderHost, clock: Clock) -> None:
    """An author could read the result of each attempt, and the time that it took, from figures that change after each attempt."""
    show(host, {**ROW, "attempts": 0, "solved": None, "mean_cost": None, "mean_moves": None, "settled": False}, matches=0)
    before = read_all(host)
    for attempts in range(1, 5):
        clock.now += PUBLISH_SECONDS
        show(host, {**ROW, "attempts": attempts, "solved": 1 / attempts, "settled": False}, matches=attempts)
        assert read_all(host) == before
    show(host, ROW)
    assert read_all(host) == before, "the moment of the last attempt is not published"
    clock.now += PUBLISH_SECONDS
    assert '"solved":0.8' in read_all(host)
    clock.now += PUBLISH_SECONDS
    after = read_all(host)
    show(host, {**ROW, "attempts": 6, "solved": 1.0}, matches=6)  # there are more positions, and then the first of them is solved
    show(host, {**ROW, "attempts": 6, "solved": 0.7, "settled": True}, matches=7)
    clock.now += PUBLISH_SECONDS
    assert read_all(host) == after


@pytest.mark.parametrize("state", ["checking", "idle", "paused: the disk is full", "reviewing"])
def test_the_state_of_the_contest_is_published_with_the_figures(host: LadderHost, clock: Clock, state: str) -> None:
    """The moment at which the last attempt ends, or at which another ladder gets its turn, would show how long attempts take."""
    show(host, ROW)
    before = read_all(host)
    show(host, ROW, state=state)
    host.runner.contest.positions = 7
    assert read_all(host) == before
    clock.now += PUBLISH_SECONDS
    after = read_all(host)
    count = after.count(f'"{state}"') - before.count(f'"{state}"')
    assert count == 7, "standings, ladder, health, page and events of a ladder, and the list and the health of the site"
    assert after.count('"positions":7') + after.count('"positions": 7') == 3, "the ladder, the page, and its events"


def test_the_first_attempt_of_an_agent_does_not_show_in_its_history(host: LadderHost) -> None:
    """The first point of a history is stored when the first attempt ends, maybe before the agent is in published standings."""
    show(host, {**ROW, "agent": "house"})
    host.ledger.keep_ratings([("other/new@1", CoursePoint(1.0, 0, 1, 100.0, None, None))])
    app, token = LadderApp(host).app(), host.ledger.token  # type: ignore[attr-defined]
    found = asyncio.run(ask(app, "/api/agents/other/new@1", "", token))
    assert found.replace("other/new@1", "other/not@1") == asyncio.run(ask(app, "/api/agents/other/not@1", "", token))


def test_the_order_of_agents_does_not_depend_on_hidden_figures(host: LadderHost) -> None:
    """Two agents whose published figures are equal share a rank. One without figures comes last."""
    rows = [{**ROW, "agent": "a"}, {**ROW, "agent": "b", "mean_cost": 47.4}, {**ROW, "agent": "c", "settled": False}]
    show(host, ROW)
    host.runner.contest.standings = [BoardStandings("15-puzzle", tuple(rows), kind="puzzle")]
    (board,) = host.public.read().boards
    assert [(row["agent"], row["rank"]) for row in board.rows] == [("a", 1), ("b", 1), ("c", 3)]


def test_a_final_ladder_shows_all_figures(host: LadderHost) -> None:
    show(host, ROW, state="final")
    (board,) = host.public.read().boards
    assert board.rows == (ROW,)
