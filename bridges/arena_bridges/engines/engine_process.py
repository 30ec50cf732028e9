"""Runs an engine as a child process that reads and writes lines. Meanwhile, arena may send `stop`."""

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from arena.api.errors import cut
from arena.clock import perf_counter
from arena_isolation import protocol

MAX_LINE_BYTES = 1 << 16
"""The maximum length of a line in bytes; a longer one is read as several lines."""
MAX_WAITING_LINES = 1000
"""The maximum number of buffered lines; an engine that writes more has to wait."""
END_SECONDS = 1.0
"""Seconds that an engine has to end by itself, before it is killed."""


class EngineFault(Exception):
    """A fault of an engine, which makes it lose the match."""


class ArenaGone(Exception):
    """Arena has sent `quit`, or the process of arena has ended."""


class Inbox:
    """The messages from arena and from an engine, in the order of arrival."""

    def __init__(self, requests: IO[bytes]) -> None:
        self._queue: Queue[tuple[object, bytes]] = Queue(MAX_WAITING_LINES)
        self.read(self, requests, protocol.MAX_LINE_BYTES)

    def read(self, sender: object, stream: IO[bytes], longest: int = MAX_LINE_BYTES) -> None:
        """Start to read the lines of a stream. b"" marks its end."""

        def reading() -> None:
            with stream:
                while text := stream.readline(longest):
                    self._queue.put((sender, text))
            self._queue.put((sender, b""))

        Thread(target=reading, daemon=True).start()

    def request(self) -> dict[str, Any]:
        """Return the next message of arena, and drop the lines that the engine writes meanwhile. Raises ArenaGone at the end."""
        while True:
            sender, text = self._queue.get()
            if sender is self:
                return self._message(text)

    def line(self, engine: object, until: float | None, stop: Callable[[], None]) -> bytes | None:
        """Return the next line of an engine; b"" when the engine has ended, None after a timeout.

        The function `stop` is called when arena sends `stop`.
        """
        while True:
            try:
                wait = None if until is None else max(until - perf_counter(), 0.0)
                sender, text = self._queue.get(timeout=wait)
            except Empty:
                return None
            if sender is engine:
                return text
            if sender is self and self._message(text)["type"] == "stop":
                stop()

    @staticmethod
    def _message(text: bytes) -> dict[str, Any]:
        message = protocol.parse(text) if text else {"type": "quit"}
        if message["type"] == "quit":
            raise ArenaGone
        return message


class EngineProcess:
    """A running engine. All its failures raise EngineFault with its name."""

    def __init__(self, command: Sequence[str], inbox: Inbox) -> None:
        self.name = Path(command[0]).name
        self._inbox = inbox
        self.until: float | None = None
        """The time by `perf_counter` until which an answer must arrive."""
        self.stop: Callable[[], None] = lambda: None
        """This function is called when arena sends `stop`."""
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - the user's command
        except OSError as error:
            raise EngineFault(f"{self.name} cannot be started: {error.strerror or error}") from error
        assert self._process.stdout is not None
        inbox.read(self, self._process.stdout)

    def send(self, line: str) -> None:
        """Write a line to the engine."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def receive(self, expected: str) -> str:
        """Return the next line of the engine, stripped. `expected` describes it for messages."""
        text = self._inbox.line(self, self.until, self.stop)
        if text is None:
            raise EngineFault(f"{self.name}: expected {expected}, got no answer in time")
        if not text:
            raise self._ended(expected)
        return text.decode("utf-8", "replace").strip()

    def misspoke(self, expected: str, got: str) -> EngineFault:
        """Return the fault of an engine that breaks its protocol."""
        return EngineFault(f"{self.name}: expected {expected}, got {cut(repr(got), 200)}")

    def _ended(self, expected: str | None = None) -> EngineFault:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with code {code}" if code >= 0 else f"was killed by signal {-code}"
        return EngineFault(f"{self.name} {how}" + (f" when {expected} was expected" if expected else ""))

    def end(self) -> None:
        """Ask the engine to quit, and kill it after the timeout."""
        with suppress(EngineFault):
            self.send("quit")
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
