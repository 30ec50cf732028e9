"""Checks plugins in a separate process, which records the current call. When a plugin ends that process, the command reports this
as a finding and continues.
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
from typing import IO, Any

from arena.api.cli import LiveLine, say
from arena.api.errors import Interrupted
from arena.api.processes import ProcessTree, PythonProcess
from arena.clock import monotonic
from arena_check.patience import SWALLOWED_EXIT_CODE
from arena_check.report_lines import as_json_line
from arena_check.trial import Trial, watch_calls
from arena_isolation.child import launch_command

HASHES = {"PYTHONHASHSEED": "0"}
"""The environment variable that determines string hashes. Every check sets it to the same value, unless the user has set it."""
MEMORY_SHARE = 0.75
"""The fraction of the memory of this machine that a check may use, so that the plugin runs out of memory before the
machine does.
"""
INTERRUPT_SECONDS = 5.0
"""Seconds that an interrupted process gets to print its current call."""
LINE_SECONDS = 0.2
"""Seconds between two updates of the line on a terminal."""
NOTICE_AFTER_SECONDS = 30.0
"""If stderr is not a terminal and a check has taken this many seconds, a line is printed for every game."""
SECONDS_BETWEEN_NOTICES = 30.0
"""Seconds after which another line is printed for the same game."""
NOTE_VARIABLE = "ARENA_SHARED_NOTE"
"""The environment variable that passes the file descriptor of a `SharedNote` to a child process."""


class SharedNote:
    """A JSON object in an unnamed file that a child process inherits. A reader gets the object that was written last."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def new(cls) -> "SharedNote":
        """Create a note for a child process."""
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    @classmethod
    def inherited(cls) -> "SharedNote | None":
        """Return the note that the parent process has created for this process; None if there is none. The children of this
        process do not inherit it.
        """
        descriptor = os.environ.pop(NOTE_VARIABLE, "")
        return cls(int(descriptor)) if descriptor else None

    def write(self, values: Mapping[str, Any]) -> None:
        """Replace the contents."""
        os.pwrite(self.descriptor, json.dumps(values).encode() + b"\n", 0)

    def read(self) -> dict[str, Any]:
        """Return the object that was written last; an empty dictionary if there is none."""
        text, _, _ = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0).partition(b"\n")
        return dict(json.loads(text)) if text else {}

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


class CheckProgress:
    """Reports the current call of the checks, both in a note for the waiting process and on stderr."""

    def __init__(self, note: SharedNote, stream: IO[str]) -> None:
        self._note = note
        self._stream = stream
        self._line = LiveLine(stream)
        self._values: dict[str, Any] = note.read()
        self._began = self._shown = monotonic()
        self._place = self._said = ""
        self._said_at = self._began

    @property
    def ended(self) -> list[tuple[str, ...]]:
        """Return the checks that ended an earlier process."""
        return [tuple(key) for key in self._values.get("ended", ())]

    @property
    def failed(self) -> list[tuple[str, ...]]:
        """Return the objects that failed so far, also in earlier processes."""
        return [tuple(key) for key in self._values.get("failed", ())]

    def begin(self, key: tuple[str, ...], source: str | None, written: str | None) -> None:
        """Begin to check the next object, which is defined at `source`. `written` names the method with which an agent decides;
        it is None for other objects.
        """
        kept = {"ended": self.ended, "failed": self.failed}
        self._values = {**kept, "key": key, "source": source, "written": written, "lines": []}
        self.at(f"checking {' '.join(key)}")

    def at(self, place: str, game: str | None = None, lines: Sequence[str] = ()) -> None:
        """Report the current step and its game. `lines` are the results so far, which would be lost if the plugin ended this
        process.
        """
        self._place = place
        self._values |= {"game": game, "lines": list(lines)}
        self._note.write(self._values)
        self._show(place)

    def finish(self, *, passed: bool) -> None:
        """Record that the checks of an object have ended, and whether it passed. The caller then prints its result."""
        key = self._values.pop("key")
        self._values |= {"ended": [*self.ended, key], "failed": [*self.failed, *([] if passed else [key])]}
        self._note.write(self._values)
        self.clear()

    def __call__(self, trial: Trial, what: str, asked_at: str | None) -> None:
        """Record the current call."""
        call = {"check": trial.check, "call": what, "position": trial.position, "asked": asked_at}
        self._note.write(self._values | call)
        if monotonic() - self._shown >= LINE_SECONDS:
            self._show(f"{self._place}: {trial.check}")

    def clear(self) -> None:
        """Clear the line on the terminal before a result is printed."""
        self._line.show("")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the calls of all checks inside the block, and the end of the block."""
        try:
            with watch_calls(self):
                yield
        finally:
            self.clear()
            self._note.write({"over": True})

    def _show(self, text: str) -> None:
        self._shown = monotonic()
        self._line.show(text)
        if self._line.shown or self._shown - self._began < NOTICE_AFTER_SECONDS:
            return
        if self._said != self._place or self._shown - self._said_at >= SECONDS_BETWEEN_NOTICES:
            self._said, self._said_at = self._place, self._shown
            say(text)


def supervise(words: Sequence[str], *, resume: bool, as_json: bool = False) -> int:
    """Run `arena` with these words in a separate process, and return its exit code.

    When a plugin ends the process, a finding is printed on stdout and the code is 1. With `resume`, another process checks the
    rest.
    """
    note, code = SharedNote.new(), 0
    try:
        while True:
            ended = _run(words, note)
            said = note.read()
            if said.get("over") or ended == Interrupted.EXIT_CODE:
                return max(code, ended)
            if "key" not in said:
                how = f"was ended by {PythonProcess.signal_name(-ended)}" if ended < 0 else f"ended with code {ended}"
                say(f"arena {shlex.join(words)}: its process {how} outside any check, for example while a plugin was loaded")
                return 2
            print(_describe_end(said, words, ended, as_json=as_json), flush=True)
            code = 1
            if not resume:
                return code
            note.write({name: [*said.get(name, ()), said["key"]] for name in ("ended", "failed")})
    finally:
        note.close()


def _run(words: Sequence[str], note: SharedNote) -> int:
    """Run the command until it ends in any way. An interrupt by the user is passed on to it."""
    mark = f"{os.getpid()}-{token_hex(8)}"
    max_bytes = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    command = [sys.executable, "-P", "-m", "arena", *words]
    environment = {ProcessTree.OF_AGENT: "", **HASHES, **PythonProcess.environment(), NOTE_VARIABLE: str(note.descriptor)}
    environment[ProcessTree.OF_AGENT] = mark  # it stays the first variable
    process = subprocess.Popen(  # noqa: S603 - the command of arena itself
        launch_command(command, max_bytes),
        env=environment,
        pass_fds=(note.descriptor,),
        start_new_session=True,  # the interrupt key reaches only this process, which passes it on once
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


def _describe_end(said: dict[str, Any], words: Sequence[str], code: int, *, as_json: bool) -> str:
    """Return the report about an object during whose check the process ended."""
    how = PythonProcess.signal_name(-code) if code < 0 else f"code {code}"
    call = said.get("call", said["key"][-1])
    what = (
        f"{call} does not return, and catches the exception that should have stopped it"
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
    if as_json:
        return as_json_line(" ".join(said["key"]), said.get("source"), [*said["lines"], "\n".join(lines)])
    headline = f"{' '.join(said['key'])}: FAILED ({said.get('source') or 'unknown file'})"
    return "\n".join([headline, *said["lines"], "\n          ".join(lines)])
