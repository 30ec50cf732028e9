"""The process in which plugins are checked. It records the current call; if it ends, that is a finding, and the command
continues.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from secrets import token_hex
from time import monotonic
from typing import IO, Any

from arena.api.cli import LiveLine, say
from arena.api.errors import Interrupted
from arena.api.processes import ProcessTree, python_environment, signal_name
from arena.api.spec import Key
from arena_check.patience import SWALLOWED_EXIT_CODE
from arena_check.trial import Trial, watch_calls
from arena_isolation.child import launch_command

HASHES = {"PYTHONHASHSEED": "0"}
"""Strings have the same hashes in every check, unless the caller sets this variable."""
MEMORY_SHARE = 0.75
"""Share of the machine's memory that a check may use, so that the plugin runs out of memory before the machine does."""
INTERRUPT_SECONDS = 5.0
"""Seconds in which an interrupted process can print its current call."""
LINE_SECONDS = 0.2
"""Seconds between two updates of the line on a terminal."""
NOTICE_AFTER_SECONDS = 30.0
"""After this many seconds, every game gets a line if there is no terminal."""
NOTE_VARIABLE = "ARENA_SHARED_NOTE"
"""Environment variable with the descriptor of the note for a child process."""


class SharedNote:
    """A JSON object in an unnamed file that a child process inherits. A reader gets the last one written."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def new(cls) -> "SharedNote":
        """Create a note for a child process."""
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    @classmethod
    def inherited(cls) -> "SharedNote | None":
        """Return the note that the parent process has created for this one; None if there is none. Its own children do not get
        it.
        """
        descriptor = os.environ.pop(NOTE_VARIABLE, "")
        return cls(int(descriptor)) if descriptor else None

    def write(self, values: Mapping[str, Any]) -> None:
        """Replace the contents."""
        os.pwrite(self.descriptor, json.dumps(values).encode() + b"\n", 0)

    def read(self) -> dict[str, Any]:
        """Return the contents written last; an empty dictionary if there are none."""
        text, _, _ = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0).partition(b"\n")
        return dict(json.loads(text)) if text else {}

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


class CheckProgress:
    """Reports the current call of the checks: in a note to the waiting process, and on stderr."""

    def __init__(self, note: SharedNote, stream: IO[str]) -> None:
        self._note = note
        self._stream = stream
        self._line = LiveLine(stream)
        self._values: dict[str, Any] = note.read()
        self._began = self._shown = monotonic()
        self._place = self._said = ""

    @property
    def ended(self) -> list[Key]:
        """The checks in earlier processes that have ended."""
        return [tuple(key) for key in self._values.get("ended", ())]

    def begin(self, key: Key, source: str | None, written: str | None) -> None:
        """Begin to check another thing, written at `source`; `written` is the method that decides."""
        self._values = {"ended": self.ended, "key": key, "source": source, "written": written, "lines": []}
        self.at(f"checking {' '.join(key)}")

    def at(self, place: str, game: str | None = None, lines: Sequence[str] = ()) -> None:
        """Report the current step, its game, and the lines so far that would be lost with this process."""
        self._place = place
        self._values |= {"game": game, "lines": list(lines)}
        self._note.write(self._values)
        self._show(place)

    def finish(self) -> None:
        """Note that a thing is finished: the result follows."""
        self._values["ended"] = [*self.ended, self._values.pop("key")]
        self._note.write(self._values)
        self.clear()

    def __call__(self, trial: Trial, what: str, asked_at: str | None) -> None:
        """Note the current call."""
        call = {"check": trial.check, "call": what, "position": trial.position, "asked": asked_at}
        self._note.write(self._values | call)
        if monotonic() - self._shown >= LINE_SECONDS:
            self._show(f"{self._place}: {trial.check}")

    def clear(self) -> None:
        """Clear the line on the terminal for a result."""
        self._line.show("")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the calls of checks inside the block, and its end."""
        try:
            with watch_calls(self):
                yield
        finally:
            self.clear()
            self._note.write({"over": True})

    def _show(self, text: str) -> None:
        self._shown = monotonic()
        self._line.show(text)
        if not self._line.shown and self._said != self._place and self._shown - self._began >= NOTICE_AFTER_SECONDS:
            self._said = self._place
            say(self._place)


def supervise(words: Sequence[str], *, resume: bool) -> int:
    """Run `arena` with these words in a separate process, and return its exit code.

    If a plugin ends the process, that is a finding on stdout, and the code is 1. With `resume` another process checks the rest.
    """
    note, code = SharedNote.new(), 0
    try:
        while True:
            ended = _run(words, note)
            said = note.read()
            if said.get("over") or ended == Interrupted.EXIT_CODE:
                return max(code, ended)
            if "key" not in said:
                how = f"was ended by {signal_name(-ended)}" if ended < 0 else f"ended with code {ended}"
                say(f"arena {shlex.join(words)}: its process {how} outside of any check, as while a plugin was loaded")
                return 2
            print(_describe_end(said, words, ended), flush=True)
            code = 1
            if not resume:
                return code
            note.write({"ended": [*said["ended"], said["key"]]})
    finally:
        note.close()


def _run(words: Sequence[str], note: SharedNote) -> int:
    """Run the command to its end, however it ends. The user's interrupt is passed on to it."""
    mark = f"{os.getpid()}-{token_hex(8)}"
    max_bytes = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    command = [sys.executable, "-P", "-m", "arena", *words]
    environment = {**HASHES, **python_environment(), NOTE_VARIABLE: str(note.descriptor), ProcessTree.OF_AGENT: mark}
    process = subprocess.Popen(  # noqa: S603 - this very program
        launch_command(command, max_bytes),
        env=environment,
        pass_fds=(note.descriptor,),
        start_new_session=True,  # only this process receives the interrupt key, and passes it on once
    )
    try:
        return process.wait()
    except Interrupted:
        with suppress(subprocess.TimeoutExpired, ProcessLookupError):
            process.send_signal(2)
            process.wait(INTERRUPT_SECONDS)
        return Interrupted.EXIT_CODE
    finally:
        ProcessTree(process.pid, ProcessTree.OF_AGENT, mark).end()
        process.wait()


def _describe_end(said: dict[str, Any], words: Sequence[str], code: int) -> str:
    """Return the lines about a thing that ended the process of its check."""
    how = signal_name(-code) if code < 0 else f"code {code}"
    call = said.get("call", said["key"][-1])
    what = (
        f"{call} does not return, and swallows what ends it"
        if code == SWALLOWED_EXIT_CODE
        else f"{call} ended the process ({how})"
    )
    where = f"{said['game']}, " if said.get("game") else ""
    check = "plays" if said.get("asked") else said.get("check", "play" if where else "making")
    lines = [f"  FAILED  {where}{check}: {what}"]
    names = {"position": "position", "asked": "asked at", "written": "written at"}
    lines += [f"{name}: {said[key]}" for key, name in names.items() if said.get(key)]
    only = ["--game", said["game"]] if said["key"][0] == "agent" and where and "--game" not in words else []
    lines.append(f"see it again: {shlex.join(['arena', *words, *only])}")
    headline = f"{' '.join(said['key'])}: FAILED ({said.get('source') or 'unknown file'})"
    return "\n".join([headline, *said["lines"], "\n          ".join(lines)])
