"""The node's end: what runs inside a Dask worker when it is given an order.

A node is told about a tournament when it first asks. It compares what it has with what the coordinator has, and then keeps the
spec and its worker processes from order to order. Whatever it says goes as JSON, see `arena_cluster.wire`.
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
from time import monotonic
from typing import Any, NamedTuple, cast

from arena import ArenaError, SpecError
from arena.api.cli import describe
from arena.api.match import Record
from arena.api.run import Batch, Scheduled, check_isolations, take_fingerprints
from arena.api.spec import Spec, load_plugins, reload_spec
from arena.plugins.sources import ENVIRONMENT, module_name
from arena.plugins.syntax import forget_below
from arena.schedule.schedule import WAIT
from arena.workers.pool import Finished, WorkerPool
from arena_cluster import wire
from arena_cluster.entry_code import share_code
from arena_cluster.parcel import Parcel, lay_out, programs, start_fault, unpack_parcel, versions
from arena_isolation.command import COMMAND
from arena_isolation.sandbox import SandboxError

NOT_SENT_HINT = (
    "what the code of an entry reads is sent along if its file has a folder of its own; or install it on every machine"
)
"""The hint if a spec is sound at the coordinator and not on a node."""
IDLE_SECONDS = 30.0
"""Seconds that a worker process may wait for the next order: so nothing stays behind when a coordinator is gone."""


GUARDED_WORKER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("worker_parent.py")))
"""The command of a worker with a process between it and this one."""


class Disagrees(ArenaError):
    """A node has something else than the coordinator; the message names it."""


def check_versions(wanted: Mapping[str, str]) -> None:
    """Disagrees where arena or Python are not the coordinator's."""
    here = versions()
    for name in ("arena", "Python"):
        if here[name] != wanted.get(name):
            raise Disagrees(f"{name} {here[name]} there, {wanted.get(name)} here; install the same on both")
    if here != wanted:
        raise Disagrees(f"arena {here['arena']} there and here, but its source differs; install the same on both")


def check_installed(parcel: Parcel) -> None:
    """Disagrees where an installed plugin that the spec uses is missing, or of another version. Before the spec is loaded."""
    there = {plugin.source.name: plugin for plugin in load_plugins(environ=False).plugins}
    for name, wanted in parcel.fingerprints.items():
        if wanted.version is None:
            continue
        found = there.get(name)
        if found is None:
            raise Disagrees(f"plugin {name} {wanted.version} is not installed there; install it on every machine")
        if found.problem is not None:
            raise Disagrees(f"plugin {name} cannot be loaded there: {found.problem}")
        if found.source.version != wanted.version:
            raise Disagrees(
                f"plugin {name}: version {found.source.version} there, {wanted.version} here; install the same on both"
            )


def check_isolation(spec: Spec) -> None:
    """Disagrees where an agent wants a sandbox, and there is none that holds."""
    try:
        check_isolations(spec)
    except SandboxError as error:
        raise Disagrees(f"agents play in a sandbox, and there is none there: {error}") from error


def check_sources(spec: Spec, parcel: Parcel, folder: Path) -> None:
    """Disagrees where the source of anything that the spec uses differs; the parcel lies in a folder."""
    wanted = parcel.fingerprints
    inside = {str(folder / name): name for name in parcel.organiser.values()}
    home = {here: word for word, here in spec.shared.get(COMMAND, {}).items()}  # of the programs that were sent along
    started = [seat.program for board in spec.boards for seat in board.seats if seat.program is not None]
    for command in [program.command for program in started if program.command]:
        inside[" ".join(command)] = " ".join([home.get(word, word) for word in command])
    there = {inside.get(name, name): found for name, found in take_fingerprints(spec).items()}
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there or name not in wanted:
            raise Disagrees(f"{name} is used {'here' if name in wanted else 'there'} alone; install the same plugins on both")
        if there[name].version != wanted[name].version:
            raise Disagrees(f"{name}: version {there[name].version} there, {wanted[name].version} here; install the same on both")
        if there[name].hashes != wanted[name].hashes:
            raise Disagrees(f"{name} differs from the one here, by the hash of its source; install the same on both")


def check_programs(spec: Spec, wanted: Sequence[bool]) -> None:
    """Disagrees where a program does not start that starts at the coordinator, `wanted` being what `starting` said there.

    It may read files from beside it, which are not sent along: without this its agent would lose every match by a crash.
    """
    for one, starts in zip(programs(spec), wanted, strict=True):
        fault = start_fault(*one) if starts else None
        if fault is not None:
            command = " ".join(one[0].command or ())
            raise Disagrees(
                f"{command} starts here and not there: {fault}; what it reads beside its own file is not sent along: "
                "put all into one file, or install it on every machine"
            )


class OrderResult(NamedTuple):
    """Records of an order."""

    records: list[Record]
    """One for every match, in order."""
    seconds: float


class NodeSlot:
    """One worker process, kept from order to order; when it dies another takes its place, as `WorkerPool` promises."""

    def __init__(self, spec: Spec) -> None:
        self._waiting: deque[Scheduled] = deque()
        self._check: Callable[[], None] | None = None
        pool = WorkerPool(spec, 1, self._take, command=GUARDED_WORKER, check=self._check_order)
        self._playing = cast(Generator[Finished, None, None], pool.play())
        self.idle_since = monotonic()

    def play(self, matches: Sequence[Scheduled], check: Callable[[], None]) -> OrderResult:
        """Play matches. What `check` raises ends the slot for good, as does an ArenaError of the pool."""
        began = monotonic()
        self._check = check
        self._waiting.extend(matches)
        found: dict[Scheduled, Record] = {}
        while len(found) < len(matches):
            scheduled, record = next(self._playing)
            found[scheduled] = record
        self._check = None
        self.idle_since = monotonic()
        return OrderResult([found[scheduled] for scheduled in matches], self.idle_since - began)

    def close(self) -> None:
        """End the worker process and all that it has started."""
        self._playing.close()

    def _check_order(self) -> None:
        if self._check is not None:
            self._check()

    def _take(self, size: int) -> Batch:
        """The next matches of the order; between two orders the pool waits."""
        return Batch([self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]) or WAIT


class Withdrawn(Exception):
    """The order was taken back while it was played."""


class NodeTournament:
    """One tournament on this node."""

    def __init__(self, parcel: Parcel, folder: Path) -> None:
        self._folder = folder
        check_installed(parcel)
        lay_out(parcel, folder)
        os.environ.pop(ENVIRONMENT, None)  # what is loaded, here and in workers, is the coordinator's to say
        self._renamed = dict(_pair_names(parcel, folder))
        try:
            self.spec = _load_spec(parcel, folder)
        except SpecError as error:
            raise Disagrees(f"{self._translate(str(error))}; {NOT_SENT_HINT}") from error
        check_sources(self.spec, parcel, folder)
        check_isolation(self.spec)
        check_programs(self.spec, parcel.starting)
        self._lock = threading.Lock()
        self._idle: list[NodeSlot] = []
        self._busy = 0
        self._over = False

    def play(self, matches: Sequence[Scheduled], check: Callable[[], None]) -> tuple[list[Record], float]:
        """Play matches in a worker process of this tournament; return their records in order, and the seconds it took."""
        with self._lock:
            slot = self._idle.pop() if self._idle else None
            self._busy += 1
        slot = slot or NodeSlot(self.spec)
        played = None
        try:
            played = slot.play(matches, check)
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
        """End worker processes that have been idle for so long; tell whether nothing is left and nobody plays."""
        with self._lock:
            old = [slot for slot in self._idle if monotonic() - slot.idle_since >= seconds]
            self._idle = [slot for slot in self._idle if slot not in old]
            empty = not self._idle and not self._busy
        for slot in old:
            slot.close()
        return empty

    def end(self) -> None:
        """End all worker processes, those that play as soon as they have, and remove the files."""
        with self._lock:
            self._over = True
        self.end_idle(0.0)
        for place in self.spec.plugins:  # those of the next tournament lie elsewhere, and are imported anew
            sys.modules.pop(module_name(Path(place)), None)
        forget_below(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _translate(self, text: str | None) -> str | None:
        """Return a text that names the files which were sent along as the coordinator knows them."""
        if text is not None:
            for here, there in self._renamed.items():
                text = text.replace(here, there)
        return text


def _load_spec(parcel: Parcel, folder: Path) -> Spec:
    """The spec of a parcel in a folder: code of entries is loaded by their own processes alone, as at the coordinator."""
    sent = {name: str(folder / name) for name in parcel.organiser.values()}
    plugins = {place: sent[name] for place, name in parcel.organiser.items()}
    return reload_spec(
        replace(parcel.document, folder=folder),
        [sent.get(name, name) for name in parcel.plugins],
        parcel.seed,
        shared=share_code(parcel.entries, folder, plugins),
    )


def _pair_names(parcel: Parcel, folder: Path) -> Sequence[tuple[str, str]]:
    """Pairs of names, here and at the coordinator, of the files of a parcel and of the modules made of them."""
    names = []
    for file in parcel.files:
        here, there = (folder / file.name).resolve(), Path(file.original)
        names += [(str(here), str(there)), (module_name(here), module_name(there))]
    return names + [(str(folder / sent.folder), "") for sent in parcel.entries.versions]  # of what is not there: their folders


_tournaments: dict[str, NodeTournament] = {}
"""The tournaments of this process, by their runs."""
_guard = threading.Lock()
_sweeper: threading.Timer | None = None


def play(order: Mapping[str, Any]) -> bytes:
    """Play an order, given as plain values: this is the task that Dask runs. The answer is JSON.

    Raises Withdrawn where the order is taken back meanwhile.
    """
    try:
        check_versions(order["versions"])
        tournament = _find_tournament(order["run"], order["parcel"])
        if tournament is None:
            return wire.wants_parcel()
        records, seconds = tournament.play(wire.matches_of(order["matches"]), _make_check(order["key"]))
    except ArenaError as error:
        return wire.refusal(str(error))
    except Withdrawn:
        raise
    except Exception as error:
        return wire.refusal(f"arena failed there: {describe(error)}")
    return wire.answer(records, seconds)


def forget(run: str) -> None:
    """End what is left of a tournament on this node."""
    with _guard:
        tournament = _tournaments.pop(run, None)
    if tournament is not None:
        tournament.end()


def _find_tournament(run: str, parcel: bytes | None) -> NodeTournament | None:
    """The tournament of a run, made where the order says how; None where it must be asked for."""
    with _guard:
        if run not in _tournaments:
            if parcel is None:
                return None
            folder = _make_folder()
            try:
                _tournaments[run] = NodeTournament(unpack_parcel(parcel), folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            _sweep_later()
        return _tournaments[run]


def _make_folder() -> Path:
    """A new folder for files of a tournament, inside that of the Dask worker, with which it goes."""
    from distributed import get_worker

    return Path(tempfile.mkdtemp(prefix="arena-", dir=get_worker().local_directory)).resolve()


def _make_check(key: str) -> Callable[[], None]:
    """A check that raises Withdrawn once nobody waits for the order: it was taken back, or its coordinator is gone."""
    from distributed import get_worker

    worker = get_worker()

    def check() -> None:
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
    """Forget tournaments of which nothing was heard for long; one that goes on after all is told anew."""
    with _guard:
        for run, tournament in list(_tournaments.items()):
            if tournament.end_idle(IDLE_SECONDS):
                del _tournaments[run]
                tournament.end()
        if _tournaments:
            _sweep_later()
