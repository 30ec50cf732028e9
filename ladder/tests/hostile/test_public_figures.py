"""A solver chooses its figures so that they name the hidden positions. Nothing that the public or its author can read changes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fastapi import Request, Response

from arena.store import Store
from arena_ladder.api import LadderApi
from arena_ladder.host import LadderHost
from arena_ladder.ledger import CoursePoint, Ledger, bind_store
from arena_ladder.matchmaking import BoardStandings
from arena_ladder.pages import LadderPages
from arena_ladder.public_standings import PUBLISH_SECONDS, PublicStandings
from arena_ladder.spec import load_ladder
from arena_web.errors import Refusal
from arena_web.guard import RateLimits
from arena_web.match_filter import MatchFilter, MatchPage

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
    """Everything that the author can read without the token of the host, as text."""
    api, pages = LadderApi(host, RateLimits(), asyncio.Event()), LadderPages(host, asyncio.Event())
    token = host.ledger.token  # type: ignore[attr-defined]
    request = cast("Request", SimpleNamespace(headers={"authorization": f"Bearer {token}"}, scope={"client_address": "::1"}))
    (one,) = host.ledger.submissions()
    asked: list[Callable[[], Any]] = [
        api.standings, lambda: api.agent(LABEL), lambda: api.health(Response()), api.metrics, api.ladder, pages.live,
        lambda: api.submissions(request), lambda: api.submission(request, one.id), lambda: api.log(request, one.id),
        lambda: pages.matches(MatchPage()), lambda: pages.around("0" * 32, MatchFilter()), lambda: pages.entry(LABEL),
        lambda: pages.match(request, "0" * 32),
    ]  # fmt: skip

    async def ask() -> list[str]:
        found = []
        for endpoint in asked:
            try:
                answer = await endpoint()
            except Refusal as refusal:
                found.append(f"{refusal.status} {refusal}")
            else:
                found.append(bytes(answer.body).decode() if isinstance(answer, Response) else answer.model_dump_json())
        return found

    return "\n".join(asyncio.run(ask()))


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


def test_the_order_of_agents_shows_no_hidden_figure(host: LadderHost) -> None:
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
