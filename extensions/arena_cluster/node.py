"""The code of a node, which plays orders inside a Dask worker.

When a node gets its first order for a tournament, it asks for the parcel. It compares the versions of its software with those of
the coordinator. Then it keeps the spec and its worker processes from order to order. All its answers are JSON, see
`arena_cluster.wire`.
"""

import os
import shutil
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from arena import ArenaError, Record, Spec, SpecError, load_plugins
from arena.api.errors import describe
from arena.api.run import Batch, CurrentTurn, Fingerprint, MatchRunner, Scheduled, WorkerPool
from arena.api.spec import PluginPlace, PythonFile, reload_spec
from arena.clock import monotonic
from arena_cluster import wire
from arena_cluster.engine import SlowStart
from arena_cluster.entry_code import share_code
from arena_cluster.parcel import Parcel, lay_out, programs, start_fault, unpack_parcel, versions
from arena_isolation.command import COMMAND
from arena_isolation.sandbox import SandboxError

NOT_SENT_HINT = (
    "the files that the code of an entry reads are sent only if this code has its own folder; "
    "otherwise install them on every machine"
)
"""The hint in the message about a spec that is valid at the coordinator but not on a node."""
IDLE_SECONDS = 30.0
"""A worker process that has been idle for this many seconds is ended. So no process is left over when the coordinator is gone."""


STARTS = "arena-starts"
"""The topic of the events by which a node reports a start that takes long: [key of the order, number of the match, seat], or
[key, -1, -1] when the wait is over.
"""
SLOW_START_SECONDS = 0.5
"""A start that takes longer than this is reported."""

GUARDED_WORKER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("worker_parent.py")))
"""The command that starts a worker with a process between the worker and this process; see `arena_cluster.worker_parent`."""


class Disagrees(ArenaError):
    """A node differs from the coordinator in something that matters. The message names the difference."""


def check_versions(wanted: Mapping[str, str]) -> None:
    """Raise Disagrees if the version of arena or Python differs from the coordinator."""
    here = versions()
    for name in ("arena", "Python"):
        if here[name] != wanted.get(name):
            raise Disagrees(
                f"the node has {name} {here[name]}, this machine {wanted.get(name)}; install the same version on both"
            )
    if here != wanted:
        raise Disagrees(
            f"the node and this machine have arena {here['arena']}, but not the same source code; install the same source on both"
        )


def check_installed(parcel: Parcel) -> None:
    """Raise Disagrees if an installed plugin that the spec uses is missing or has another version. This is called before the spec
    is loaded.
    """
    there = {plugin.source.name: plugin for plugin in load_plugins(environ=False).plugins}
    for name, wanted in parcel.fingerprints.items():
        if wanted.version is None:
            continue
        found = there.get(name)
        if found is None:
            raise Disagrees(f"plugin {name} {wanted.version} is not installed on the node; install it on every machine")
        if found.problem is not None:
            raise Disagrees(f"plugin {name} cannot be loaded on the node: {found.problem}")
        if found.source.version != wanted.version:
            raise Disagrees(
                f"plugin {name}: the node has version {found.source.version}, this machine {wanted.version}; "
                "install the same version on both"
            )


def check_isolation(spec: Spec) -> None:
    """Raise Disagrees if an agent requires a sandbox and no sandbox works here."""
    try:
        MatchRunner.check_isolations(spec)
    except SandboxError as error:
        raise Disagrees(f"agents play in a sandbox, which does not work on the node: {error}") from error


def check_sources(spec: Spec, parcel: Parcel, folder: Path) -> None:
    """Raise Disagrees if the source of anything that the spec uses differs. `folder` contains the files of the parcel."""
    wanted = parcel.fingerprints
    inside = {str(folder / name): name for name in parcel.organiser.values()}
    home = {here: word for word, here in spec.shared.get(COMMAND, {}).items()}  # the programs that were sent with the parcel
    started = [seat.program for board in spec.boards for seat in board.seats if seat.program is not None]
    for command in [program.command for program in started if program.command]:
        inside[" ".join(command)] = " ".join([home.get(word, word) for word in command])
    there = {inside.get(name, name): found for name, found in Fingerprint.take_all(spec).items()}
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there or name not in wanted:
            raise Disagrees(
                f"only {'this machine' if name in wanted else 'the node'} uses {name}; install the same plugins on both"
            )
        if there[name].version != wanted[name].version:
            raise Disagrees(
                f"{name}: the node has version {there[name].version}, this machine {wanted[name].version}; "
                "install the same version on both"
            )
        if there[name].hashes != wanted[name].hashes:
            raise Disagrees(
                f"the source code of {name} on the node differs from that on this machine; install the same version on both"
            )


def check_programs(spec: Spec, wanted: Sequence[bool]) -> None:
    """Raise Disagrees if a program does not start here although it starts at the coordinator.

    `wanted` says, for each program, whether it starts at the coordinator (see `starting`). A program may need files that are not
    sent. Without this check, its agent would then lose every match by a crash.
    """
    for one, starts in zip(programs(spec), wanted, strict=True):
        fault = start_fault(*one) if starts else None
        if fault is not None:
            command = " ".join(one[0].command or ())
            raise Disagrees(
                f"{command} starts on this machine, but not on the node: {fault}; only its own file is sent, not the other "
                "files that it reads: put everything into one file, or install it on every machine"
            )


Check = Callable[[Sequence[CurrentTurn]], None]
"""It is called several times a second while an order is played, with the decisions in progress. An exception ends the order."""


class StartWatch:
    """Decides when a node reports a start that takes long, so that no other node waits for the same agent.

    >>> from arena.api.run import Scheduled
    >>> turn = CurrentTurn(Scheduled(7, 0, None), 1, 1, starting=True)
    >>> watch = StartWatch()
    >>> [watch.look([turn], 0.0), watch.look([turn], 0.6), watch.look([turn], 0.7)]
    [None, [7, 1], None]
    >>> [watch.look([], 0.8), watch.look([], 0.9)]
    [[-1, -1], None]
    """

    def __init__(self) -> None:
        self._start: SlowStart | None = None
        self._since = 0.0
        self._told = False

    def look(self, turns: Sequence[CurrentTurn], now: float) -> list[int] | None:
        """Return the number of the match and the seat for whose start the node has waited long, [-1, -1] if this wait is over,
        or None if there is nothing new to report. `now` is a time in seconds.
        """
        start = next((SlowStart(turn.scheduled.number, turn.seat) for turn in turns if turn.starting), None)
        if start != self._start:
            told, self._told = self._told, False
            self._start, self._since = start, now
            return [-1, -1] if told else None
        if start is None or self._told or now - self._since < SLOW_START_SECONDS:
            return None
        self._told = True
        return [*start]


class OrderResult(NamedTuple):
    """The records for an order."""

    records: list[Record]
    """One record for every match, in order."""
    seconds: float


class NodeSlot:
    """One worker process that is kept from order to order. When it dies, another process replaces it, as in `WorkerPool`."""

    def __init__(self, spec: Spec) -> None:
        self._waiting: deque[Scheduled] = deque()
        self._check: Callable[[], None] | None = None
        self._start_seconds: Mapping[str, float] = {}

        def take(size: int) -> Batch:
            """Take the next matches of the order. Between two orders, the pool waits in this method."""
            return Batch([self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]) or Batch.WAIT

        def check() -> None:
            if self._check is not None:
                self._check()

        starts = lambda: self._start_seconds  # noqa: E731
        self._pool = WorkerPool(spec, 1, take, command=GUARDED_WORKER, check=check, start_seconds=starts)
        self._playing = cast(Generator[tuple[Scheduled, Record], None, None], self._pool.play())
        self.idle_since = monotonic()

    def play(self, matches: Sequence[Scheduled], start_seconds: Mapping[str, float], check: Check) -> OrderResult:
        """Play matches and return their records. If `check` raises an exception or the pool raises ArenaError, the slot ends."""
        began = monotonic()
        self._check, self._start_seconds = lambda: check(self._pool.turns()), start_seconds
        self._waiting.extend(matches)
        found: dict[Scheduled, Record] = {}
        while len(found) < len(matches):
            scheduled, record = next(self._playing)
            found[scheduled] = record
        self._check = None
        self.idle_since = monotonic()
        return OrderResult([found[scheduled] for scheduled in matches], self.idle_since - began)

    def close(self) -> None:
        """End the worker process and all processes that it has started."""
        self._playing.close()


class Withdrawn(Exception):
    """The order was cancelled while it was being played."""


class NodeTournament:
    """One tournament on this node."""

    def __init__(self, parcel: Parcel, folder: Path) -> None:
        self._folder = folder
        check_installed(parcel)
        lay_out(parcel, folder)
        os.environ.pop(PluginPlace.ENVIRONMENT, None)  # the coordinator decides what plugins are loaded, here and in workers
        self._renamed: dict[str, str] = {}
        """Maps the names of the files in the parcel, of their modules and of their folders on this node to the names at the
        coordinator.
        """
        for file in parcel.files:
            here, there = (folder / file.name).resolve(), Path(file.original)
            self._renamed |= {str(here): str(there), PluginPlace.module_name(here): PluginPlace.module_name(there)}
        self._renamed |= {str(folder / sent.folder): "" for sent in parcel.entries.versions}
        sent = {name: str(folder / name) for name in parcel.organiser.values()}
        plugins = {place: sent[name] for place, name in parcel.organiser.items()}
        try:  # the code of entries is loaded only by separate processes, as at the coordinator
            self.spec = reload_spec(
                replace(parcel.document, folder=folder),
                [sent.get(name, name) for name in parcel.plugins],
                parcel.seed,
                shared=share_code(parcel.entries, folder, plugins),
            )
        except SpecError as error:
            raise Disagrees(f"{self._translate(str(error))}; {NOT_SENT_HINT}") from error
        check_sources(self.spec, parcel, folder)
        check_isolation(self.spec)
        check_programs(self.spec, parcel.starting)
        self._lock = threading.Lock()
        self._idle: list[NodeSlot] = []
        self._busy = 0
        self._over = False

    def play(self, matches: Sequence[Scheduled], start_seconds: Mapping[str, float], check: Check) -> tuple[list[Record], float]:
        """Play matches in a worker process of this tournament. Return their records in order, and the time in seconds."""
        with self._lock:
            slot = self._idle.pop() if self._idle else None
            self._busy += 1
        slot = slot or NodeSlot(self.spec)
        played = None
        try:
            played = slot.play(matches, start_seconds, check)
        finally:
            with self._lock:
                self._busy -= 1
                kept = played is not None and not self._over
                if kept:
                    self._idle.append(slot)
            if not kept:
                slot.close()
        records = [
            record._replace(message=self._translate(record.message), traceback=self._translate(record.traceback))
            for record in played.records
        ]
        return records, played.seconds

    def end_idle(self, seconds: float) -> bool:
        """End worker processes that have been idle for `seconds`. Return True if none is left and nothing is being played."""
        with self._lock:
            old = [slot for slot in self._idle if monotonic() - slot.idle_since >= seconds]
            self._idle = [slot for slot in self._idle if slot not in old]
            empty = not self._idle and not self._busy
        for slot in old:
            slot.close()
        return empty

    def end(self) -> None:
        """End all worker processes (busy ones after they have finished), and remove the files."""
        with self._lock:
            self._over = True
        self.end_idle(0.0)
        for place in self.spec.plugins:  # the next tournament has its plugins in other files, so they must be imported again
            sys.modules.pop(PluginPlace.module_name(Path(place)), None)
        PythonFile.forget_below(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _translate(self, text: str | None) -> str | None:
        """Replace the names of sent files in a text by their names at the coordinator."""
        if text is not None:
            for here, there in self._renamed.items():
                text = text.replace(here, there)
        return text


_tournaments: dict[str, NodeTournament] = {}
"""The tournaments of this process; the keys are ids of runs."""
_guard = threading.Lock()
_sweeper: threading.Timer | None = None


def play(order: Mapping[str, Any]) -> bytes:
    """Play an order that is given as plain values. This is the task that Dask runs. The answer is JSON.

    Raises Withdrawn if the order is cancelled meanwhile.
    """
    try:
        check_versions(order["versions"])
        tournament = _find_tournament(order["run"], order["parcel"])
        if tournament is None:
            return wire.wants_parcel()
        matches = wire.matches_of(order["matches"])
        records, seconds = tournament.play(matches, order["start_seconds"], _make_check(order["key"]))
    except ArenaError as error:
        return wire.refusal(str(error))
    except Withdrawn:
        raise
    except Exception as error:
        return wire.refusal(f"arena failed on the node: {describe(error)}")
    return wire.answer(records, seconds)


def forget(run: str) -> None:
    """Remove what is left of a tournament on this node."""
    with _guard:
        tournament = _tournaments.pop(run, None)
    if tournament is not None:
        tournament.end()


def _find_tournament(run: str, parcel: bytes | None) -> NodeTournament | None:
    """Return the tournament of a run. If necessary, it is created from the parcel; None if the parcel has to be requested."""
    with _guard:
        if run not in _tournaments:
            if parcel is None:
                return None
            from distributed import get_worker

            # Dask removes the folder of its worker, and this folder with it.
            folder = Path(tempfile.mkdtemp(prefix="arena-", dir=get_worker().local_directory)).resolve()
            try:
                _tournaments[run] = NodeTournament(unpack_parcel(parcel), folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            _sweep_later()
        return _tournaments[run]


def _make_check(key: str) -> Check:
    """Return a function that reports starts that take long. It raises Withdrawn if the order was cancelled or its coordinator is
    gone.
    """
    from distributed import get_worker

    worker, watch = get_worker(), StartWatch()

    def check(turns: Sequence[CurrentTurn]) -> None:
        news = watch.look(turns, monotonic())
        if news is not None:
            worker.log_event(STARTS, [key, *news])
        task = worker.state.tasks.get(key)
        if task is None or task.state not in ("executing", "long-running"):
            raise Withdrawn(key)

    return check


def _sweep_later() -> None:
    global _sweeper  # noqa: PLW0603 - one for the process
    _sweeper = threading.Timer(IDLE_SECONDS / 2, _sweep)
    _sweeper.daemon = True
    _sweeper.start()


def _sweep() -> None:
    """Forget tournaments that have not been used for long. When one of them continues later, its parcel is sent again."""
    with _guard:
        for run, tournament in list(_tournaments.items()):
            if tournament.end_idle(IDLE_SECONDS):
                del _tournaments[run]
                tournament.end()
        if _tournaments:
            _sweep_later()
