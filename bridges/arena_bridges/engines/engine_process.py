"""Runs an engine as a child process that reads and writes lines. Meanwhile, arena may send `stop`."""

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from secrets import token_hex
from select import select
from threading import Thread
from typing import IO, Any

from arena.api.errors import cut
from arena.api.processes import ProcessTree
from arena.clock import perf_counter
from arena_isolation import protocol

MAX_LINE_BYTES = 1 << 16
"""The maximum length of a line in bytes."""
MAX_ANSWER_BYTES = 1 << 20
"""The maximum length of an answer that is not a search, such as the list of options."""
MAX_WAITING_LINES = 1000
"""The maximum number of buffered lines; an engine that writes more has to wait."""
END_SECONDS = 1.0
"""Seconds that an engine has to end by itself, before it is killed."""
SEND_SECONDS = 10.0
"""Seconds that an engine has to read its input if the pipe is full."""
LOOK_SECONDS = 1.0
"""Seconds between two looks whether a silent engine is still running: a child that it has left may keep its output open."""

OF_ENGINE = "ARENA_ENGINE"
"""The environment variable that marks an engine and the processes that it has started."""


class EngineFault(Exception):
    """A fault of an engine, which makes it lose the match."""


class ArenaGone(Exception):
    """Arena has sent `quit`, or the process of arena has ended."""


class Inbox:
    """The messages from arena and from an engine, in the order of arrival."""

    def __init__(self, requests: IO[bytes]) -> None:
        self._queue: Queue[tuple[object, bytes]] = Queue(MAX_WAITING_LINES)
        self._closed = False
        self.read(self, requests, protocol.MAX_LINE_BYTES)

    def read(self, sender: object, stream: IO[bytes], longest: int = MAX_LINE_BYTES) -> None:
        """Start to read the lines of a stream. b"" marks its end."""

        def reading() -> None:
            with stream:
                while (text := stream.readline(longest)) and not self._closed:
                    self._queue.put((sender, text))
            self._queue.put((sender, b""))

        Thread(target=reading, daemon=True).start()

    def close(self) -> None:
        """Drop all messages, so that no thread waits until another one is read."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._queue.get_nowait()

    def request(self) -> dict[str, Any]:
        """Return the next message of arena, and drop the lines that the engine writes meanwhile. Raises ArenaGone at the end."""
        while True:
            sender, text = self._queue.get()
            if sender is self:
                return self._message(text)

    def line(self, engine: "EngineProcess", until: float | None, stop: Callable[[], None]) -> bytes | None:
        """Return the next line of an engine; b"" when the engine has ended, None after a timeout.

        The function `stop` is called when arena sends `stop`.
        """
        while until is None or perf_counter() < until:
            try:
                wait = LOOK_SECONDS if until is None else min(LOOK_SECONDS, max(until - perf_counter(), 0.0))
                sender, text = self._queue.get(timeout=wait)
            except Empty:
                if engine.has_ended() and self._queue.empty():
                    return b""
                continue
            if sender is engine:
                return text
            if sender is self and self._message(text)["type"] == "stop":
                stop()
        return None

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
        self.bytes_left: int | None = None
        """The number of bytes within which an answer must end; None during a search."""
        mark = token_hex(8)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's command
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, OF_ENGINE: mark}
            )
        except OSError as error:
            raise EngineFault(f"{self.name} cannot be started: {error.strerror or error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._tree = ProcessTree(self._process.pid, OF_ENGINE, mark)
        self._input = self._process.stdin.fileno()
        os.set_blocking(self._input, False)
        inbox.read(self, self._process.stdout)

    def has_ended(self) -> bool:
        """Return True if the engine's process has ended."""
        return self._process.poll() is not None

    def send(self, line: str, seconds: float = SEND_SECONDS) -> None:
        """Write a line to the engine, which has at most `seconds` to read it if the pipe is full."""
        data, end = line.encode() + b"\n", perf_counter() + seconds
        try:
            while data:
                if not select([], [self._input], [], max(end - perf_counter(), 0.0))[1]:
                    raise EngineFault(f"{self.name} has not read the line {cut(repr(line), 80)} from its input in time")
                data = data[os.write(self._input, data) :]
        except OSError as error:
            raise self._ended() from error

    def receive(self, expected: str) -> str:
        """Return the next line of the engine, stripped. `expected` describes it for messages."""
        text = self._inbox.line(self, self.until, self.stop)
        if text is None:
            raise EngineFault(f"{self.name}: expected {expected}, got no answer in time")
        if not text:
            raise self._ended(expected)
        if len(text) >= MAX_LINE_BYTES and not text.endswith(b"\n"):
            raise self.misspoke(f"lines of at most {MAX_LINE_BYTES:,} bytes", text.decode("utf-8", "replace"))
        if self.bytes_left is not None:
            self.bytes_left -= len(text)
            if self.bytes_left < 0:
                raise self.misspoke(f"{expected}, within {MAX_ANSWER_BYTES:,} bytes", text.decode("utf-8", "replace").strip())
        return text.decode("utf-8", "replace").strip()

    def misspoke(self, expected: str, got: str) -> EngineFault:
        """Return the fault of an engine that breaks its protocol."""
        return EngineFault(f"{self.name}: expected {expected}, got {quote(got)}")

    def _ended(self, expected: str | None = None) -> EngineFault:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with code {code}" if code >= 0 else f"was killed by signal {-code}"
        return EngineFault(f"{self.name} {how}" + (f" when {expected} was expected" if expected else ""))

    def end(self) -> None:
        """Ask the engine to quit, and kill it after the timeout, with all processes that it has started."""
        with suppress(EngineFault):
            self.send("quit", END_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self._process.kill()
        self._tree.end()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()


def quote(text: str) -> str:
    """Return words of an engine for a message, quoted and shortened."""
    return cut(repr(text[:200]), 200)
