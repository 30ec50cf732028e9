"""Requests that need a plugin wait for each other, so that a few clients cannot make all others fail."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from starlette.requests import Request

from arena_web import plugin_process
from arena_web.plugin_process import MAX_REQUESTS, Busy, PluginProcesses, ProcessEnded


class Process:
    """A plugin process that answers when it gets a permit."""

    permits = threading.Semaphore(0)
    asked: Sequence[str] = ()
    alive = True

    def __init__(self, *_: object, **__: object) -> None:
        self.cancelled = threading.Event()

    def ask(self, asked: Mapping[str, Any], _seconds: float) -> dict[str, Any]:
        Process.asked = [*Process.asked, asked["name"]]
        assert Process.permits.acquire(timeout=60)
        return {"name": asked["name"]}

    def end(self) -> None: ...


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_process, "PluginProcess", Process)
    Process.permits, Process.asked = threading.Semaphore(0), ()


def page_of(address: str, *, gone: bool = False) -> Request:
    async def receive() -> Any:
        return {"type": "http.disconnect"} if gone else await asyncio.Event().wait()

    return Request({"type": "http", "client_address": address}, receive)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - another thread changes it
        await asyncio.sleep(0)


def test_requests_of_a_client_with_many_wait_for_those_of_other_clients() -> None:
    """One address sends forty requests before two other addresses send theirs. None is refused, and the two are answered
    first.
    """

    async def talk() -> None:
        pool = PluginProcesses(())
        asking = []
        for name in ["crowd"] * 40 + ["ada", "bob"]:
            asking.append(asyncio.create_task(pool.ask({"name": name}, 60.0, page_of(name))))
            await asyncio.sleep(0)
        await until(lambda: len(Process.asked) == MAX_REQUESTS)
        for answered in range(1, 43):
            Process.permits.release()
            await until(lambda: len(Process.asked) == min(MAX_REQUESTS + answered, 42))  # noqa: B023
        answers = await asyncio.gather(*asking)
        assert [one["name"] for one in answers] == ["crowd"] * 40 + ["ada", "bob"]
        await pool.close()

    asyncio.run(talk())
    assert Process.asked == ["crowd"] * MAX_REQUESTS + ["ada", "bob"] + ["crowd"] * (40 - MAX_REQUESTS)


def test_a_request_that_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk() -> None:
        pool = PluginProcesses(())
        asking = [asyncio.create_task(pool.ask({"name": "a"}, 60.0, page_of("a"))) for _ in range(MAX_REQUESTS)]
        await until(lambda: len(Process.asked) == MAX_REQUESTS)
        monkeypatch.setattr(plugin_process, "WAIT_SECONDS", 0.0)
        for address in ("a", "b"):
            with pytest.raises(Busy, match="try again"):
                await pool.ask({"name": "late"}, 60.0, page_of(address))
        Process.permits.release(MAX_REQUESTS + 1)
        await asyncio.gather(*asking)
        assert await pool.ask({"name": "b"}, 60.0, page_of("b")) == {"name": "b"}
        await pool.close()

    asyncio.run(talk())


def test_no_process_works_for_a_client_that_has_disconnected_while_waiting() -> None:
    async def talk() -> None:
        pool = PluginProcesses(())
        for _ in range(2 * MAX_REQUESTS):
            with pytest.raises(ProcessEnded):
                await pool.ask({"name": "gone"}, 60.0, page_of("a", gone=True))
        await pool.close()

    asyncio.run(talk())
    assert Process.asked == ()
