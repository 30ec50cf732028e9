"""Leaderboards are live: many listeners follow a tournament in another process, every state arrives, and memory
stays constant.
"""

import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

LISTENERS = 20
MOST_STREAMS = 200
"""The server allows this number of streams at a time."""
SPEC = """
name: Cup
game: tic-tac-toe
rounds: 150
openings: {plies: 2}
agents: [random, greedy, {agent: lookahead, depth: 2}, {agent: lookahead, depth: 3}]
"""
MATCHES = 150 * 2 * 6


def states(port: int, key: str) -> Iterator[dict[str, Any]]:
    """Yield the states that a stream sends."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)) as connection:
        connection.request("GET", f"/api/t/{key}/events")
        response = connection.getresponse()
        assert response.getheader("content-type", "").startswith("text/event-stream")
        while line := response.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


class Listener(threading.Thread):
    """A thread that reads a stream until the tournament is over."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.seen: list[int] = []
        self.last: dict[str, Any] = {}

    def run(self) -> None:
        for state in states(self.port, "cup"):
            self.seen.append(state["done"])
            self.last = state
            if state["state"] == "finished" and state["done"] == MATCHES:
                return


def test_twenty_listeners_follow_a_tournament_with_constant_memory(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text(SPEC)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "arena", "run", "cup.yaml", "--store", "cup.db", "--quiet"]
    quick = [*command[:5], "--store", "cup.db", "--quiet", "--shard", "1/30"]
    subprocess.run(quick, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    with serve(tmp_path, "cup.db") as server:
        listeners = [Listener(server.port) for _ in range(LISTENERS)]
        for listener in listeners:
            listener.start()
        first = next(states(server.port, "cup"))
        process = psutil.Process(server.process.pid)
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as running:
            eventually(lambda: (seen := listeners[0].seen) and seen[-1] > MATCHES / 3)
            memory = process.memory_info().rss
            eventually(lambda: not [listener for listener in listeners if listener.is_alive()])
            grown = process.memory_info().rss - memory
            assert running.wait(DEADLINE_SECONDS) == 0
    assert first["state"] == "finished", "the store has all matches of its shard"
    assert 0 < first["done"] < MATCHES
    for listener in listeners:
        assert listener.last["state"] == "finished"
        assert (listener.last["done"], listener.last["total"]) == (MATCHES, MATCHES)
        assert sum(row["games"] for row in listener.last["boards"][0]["rows"]) == 2 * MATCHES
        assert listener.seen == sorted(listener.seen)
        assert len(listener.seen) >= 3
    assert grown < 16 << 20


def test_a_stream_begins_with_the_current_state(server: Any) -> None:
    state = next(states(server.port, "cup"))
    assert (state["name"], state["state"]) == ("Small <b>cup</b>", "finished")
    assert state["done"] == state["total"] == sum(board["games"] for board in state["boards"])
    assert state == server.ask("/api/t/cup").json


def test_several_games_have_an_overall_table(server: Any) -> None:
    """The table shows the score of each agent on each board, in the order of the spec."""
    state = server.ask("/api/t/cup").json
    found = state["overall"]
    assert found["headings"] == ["Agent", *[board["title"] for board in state["boards"]]]
    labels = ["random", "lookahead", "<script>window.hit = 1</script>"]
    scores = [{row["agent"]: f"{100 * row['score']:.1f} %" for row in board["rows"]} for board in state["boards"]]
    assert {row[0]: row[1:] for row in found["rows"]} == {label: [shares[label] for shares in scores] for label in labels}


def test_closed_streams_make_room_for_others(server: Any) -> None:
    for _ in range(MOST_STREAMS + 20):
        first = states(server.port, "cup")
        assert next(first)["state"] == "finished"
        first.close()  # type: ignore[attr-defined]
    assert server.ask("/api/t/cup").status == 200


def test_an_unknown_tournament_has_no_stream(server: Any) -> None:
    assert server.ask("/api/t/none/events").status == 404


def test_every_match_is_listed_once_and_has_a_page(server: Any) -> None:
    first = server.ask("/api/t/cup/matches").json
    ids = [
        match["id"]
        for number in range(first["pages"])
        for match in server.ask(f"/api/t/cup/matches?page={number}").json["matches"]
    ]
    total = server.ask("/api/t/cup").json["total"]
    assert len(ids) == len(set(ids)) == first["total"] == total
    labels = first["boards"][0]["labels"]
    for label in labels:
        found = server.ask(f"/api/t/cup/matches?board=0&agent={quote(label)}").json
        assert found["total"] == 24
        assert all(label in match["labels"] for match in found["matches"])
    for key in (ids[0], ids[-1]):
        view = server.ask(f"/api/t/cup/match/{key}").json["view"]
        assert view["id"] == key
        assert view["differences"] == []
        assert len(view["frames"]) == view["moves"] + 1


def test_an_event_is_encoded_once_and_sent_in_parts(tmp_path: Path) -> None:
    """For each client that does not read, only one part waits in memory."""
    from arena_web.live import Watcher, send_events

    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    async def events() -> AsyncGenerator[bytes, None]:
        yield b"data: " + b"x" * 200_000 + b"\r\n\r\n"
        yield b"data: y\r\n\r\n"

    async def first_states() -> list[bytes]:
        watcher, stop, found = Watcher(tmp_path / "none.db"), asyncio.Event(), []
        streams = [watcher.stream(stop) for _ in range(3)]
        for stream in streams:
            assert await anext(stream) == b"retry: 1000\r\n\r\n"
        for stream in streams:
            found.append(await anext(stream))
            await stream.aclose()
        return found

    asyncio.run(send_events(events())({"type": "http", "method": "GET"}, asyncio.Event().wait, send))  # type: ignore[arg-type]
    assert b"".join(sent) == b"data: " + b"x" * 200_000 + b"\r\n\r\ndata: y\r\n\r\n"
    assert max(map(len, sent)) <= 65_536
    states = asyncio.run(first_states())
    assert states[0].startswith(b"id: 1\r\nevent: state\r\ndata: {")
    assert states[0].endswith(b"}\r\n\r\n")
    assert states[0] is states[1] is states[2]


def test_a_stream_without_changes_sends_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from arena_web import live

    now = iter(range(0, 10_000, 7))
    monkeypatch.setattr(live, "monotonic", lambda: next(now))
    monkeypatch.setattr(live, "STOP_CHECK_SECONDS", 0.0)

    async def listen() -> list[bytes]:
        stream = live.Watcher(tmp_path / "none.db").stream(asyncio.Event())
        found = [await anext(stream) for _ in range(6)]
        await stream.aclose()
        return found

    found = asyncio.run(listen())
    assert found.count(b": ping\r\n\r\n") >= 3
