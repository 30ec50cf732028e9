"""Fixtures for tests of engines: a small engine, and an adapter in a thread that answers requests as for arena."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from threading import Thread
from typing import Any

import pytest

from arena_bridges.engines.adapter import EngineConversation, serve
from arena_bridges.engines.gtp import GtpConversation
from arena_bridges.engines.uci import UciConversation
from tests.eventually import DEADLINE_SECONDS

HERE = Path(__file__).parent
NOUGHTS = str(HERE / "noughts.py")
LIMITS = {"nodes": None, "seconds": None, "depth": None, "moves": 1000}
KINDS: dict[str, type[EngineConversation]] = {"uci": UciConversation, "gtp": GtpConversation}

MakeEngine = Callable[..., Path]


@pytest.fixture
def engine(tmp_path: Path) -> MakeEngine:
    """Return a function that writes the program `engine` for a protocol. The engine logs its input to `heard`."""

    def make(protocol: str, fault: str = "none") -> Path:
        program = tmp_path / "engine"
        words = [sys.executable, "-I", "-S", str(HERE / "engine.py"), protocol, fault, str(tmp_path / "heard")]
        program.write_text("#!/bin/sh\nexec " + " ".join([f"'{word}'" for word in words]) + "\n")
        program.chmod(0o755)
        return program

    return make


class Talk:
    """An adapter that runs in a thread. The methods send requests as arena does."""

    def __init__(self, protocol: str, command: list[str]) -> None:
        read, write = os.pipe()
        back, forth = os.pipe()
        self._requests, self._answers = os.fdopen(write, "wb"), os.fdopen(back, "rb")
        requests, replies = os.fdopen(read, "rb"), os.fdopen(forth, "wb")

        def work() -> None:
            with replies:
                serve(KINDS[protocol], command, requests, replies)

        self._thread = Thread(target=work)
        self._thread.start()

    def send(self, **message: Any) -> None:
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()

    def ask(self, **message: Any) -> dict[str, Any]:
        self.send(**message)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        assert select([self._answers], [], [], 30)[0], "no answer in 30 s"
        found: dict[str, Any] = json.loads(self._answers.readline())
        return found

    def start(
        self, seat: int = 0, limits: dict[str, Any] | None = None, game: str = "noughts", seconds: float = 10.0, **options: Any
    ) -> dict[str, Any]:
        return self.ask(
            type="start",
            game=game,
            parameters={},
            seat=seat,
            players=2,
            plugins=[NOUGHTS],
            limits={**LIMITS, **(limits or {"nodes": 100})},
            options=options,
            start_seconds=seconds,
        )

    def end(self) -> None:
        if self._requests.closed:
            return
        self._requests.close()
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive()
        self._answers.close()


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    """Return a function that starts an adapter. All adapters end after the test."""
    made: list[Talk] = []

    def make(protocol: str, *command: object) -> Talk:
        made.append(Talk(protocol, [str(word) for word in command]))
        return made[-1]

    yield make
    for one in made:
        one.end()
