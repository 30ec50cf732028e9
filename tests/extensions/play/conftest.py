"""Run `arena` as a real process in a pseudo-terminal of a given size, or in this process without a terminal."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena import cli
from tests.eventually import eventually

ROOT = Path(__file__).parents[3]
ESCAPE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")


class Terminal:
    """A process of `arena` in a pseudo-terminal, which tests use as a person would."""

    def __init__(self, words: tuple[str, ...], columns: int, lines: int, environment: dict[str, str]) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        surroundings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={**surroundings, "TERM": "xterm", "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - the tests have no threads
        )
        os.close(slave)
        self._master = master
        self.raw = ""
        self._read = 0

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def seen(self) -> str:
        """All output so far, without colours and cursor movements."""
        return ESCAPE.sub("", self.raw).replace("\r", "")

    def until(self, text: str) -> str:
        """Wait until a text is shown after the text of the previous call. Return the output in between, with the new text."""
        begin = self._read
        assert self._shows(text), f"expected {text!r}, it ended with:\n{self.seen[begin:]}"
        self._read = self.seen.index(text, self._read) + len(text)
        return self.seen[begin : self._read]

    def asks(self, prompt: str) -> bool:
        """Wait for a prompt or the end of the process. Return whether the prompt came."""
        if not self._shows(prompt):
            return False
        self._read = self.seen.index(prompt, self._read) + len(prompt)
        return True

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        self.press(line + "\n")

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit code.

        Repeat Ctrl-C if it has no effect: if a signal comes just before Python waits for keys, Python handles it only after the
        next key.
        """
        for _ in range(5):
            time.sleep(0.2)
            self.press("\x03")
            for _ in range(25):
                if not self._more(0.2) and self.process.poll() is not None:
                    return self.process.wait()
        raise AssertionError(f"Ctrl-C does not end it:\n{self.seen}")

    def end(self) -> int:
        """Wait for the process, and return its exit code."""
        eventually(self._has_ended, lambda: f"it has not ended:\n{self.seen}", pause=0)
        return self.process.wait()

    def close(self) -> None:
        """Kill the process if it still runs, with its process group."""
        if self.process.poll() is None:
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with suppress(OSError):
            os.close(self._master)

    def _has_ended(self) -> bool:
        return not self._more(0.2) and self.process.poll() is not None

    def _shows(self, text: str) -> bool:
        """Wait for a text after the text of the previous call, or for the end of the process. Return whether the text came."""
        eventually(
            lambda: text in self.seen[self._read :] or self._has_ended(),
            lambda: f"expected {text!r} or the end, got:\n{self.seen[self._read :]}",
            pause=0,
        )
        return text in self.seen[self._read :]

    def _more(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            found = os.read(self._master, 1 << 16)
        except OSError:  # the other end is closed
            found = b""
        self.raw += found.decode("utf-8", "replace")
        return bool(found)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal() -> Iterator[Open]:
    """Return a function that starts `arena` with the given words in a new terminal."""
    opened: list[Terminal] = []

    def start(*words: str, columns: int = 80, lines: int = 40, **environment: str) -> Terminal:
        opened.append(Terminal(words, columns, lines, environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `arena` with the given words in this process, which saves the time to start another one.

    `typed` is the text on stdin, which is not a terminal. Keyword arguments are environment variables.
    """

    def run(*words: str, typed: str = "", cwd: Path = ROOT, **environment: str) -> Done:
        capfd.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr(sys, "stdin", io.StringIO(typed))
            for name, value in environment.items():
                patch.setenv(name, value)
            code = cli.main(words)
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return run
