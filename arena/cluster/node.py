"""The node's end: what runs inside a Dask worker when it is given an order.

A node is told about a tournament when it first asks. It compares what it has with what the coordinator has, and then keeps the
spec and its worker processes from order to order. Whatever it says goes as JSON, see `arena.cluster.wire`.
"""

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from arena.cluster import wire
from arena.cluster.agreement import Disagrees, check_installed, check_isolation, check_programs, check_sources, check_versions
from arena.cluster.entry_code import moved_code, moved_description
from arena.cluster.parcel import Parcel, laid_out, unpacked
from arena.cluster.slot import NodeSlot
from arena.errors import ArenaError, SpecError, describe
from arena.match.record import Record
from arena.plugins.sources import ENVIRONMENT, module_name
from arena.plugins.syntax import forget_below
from arena.schedule.schedule import Scheduled
from arena.spec import Spec, reload_spec

NOT_SENT = "what the code of an entry reads is sent along where its file has a folder of its own; or install it on every machine"
"""The hint where a spec that is sound at the coordinator is not on a node."""
IDLE_SECONDS = 30.0
"""Seconds that a worker process may wait for the next order: so nothing stays behind when a coordinator is gone."""


class Withdrawn(Exception):
    """The order was taken back while it was played."""


class NodeTournament:
    """One tournament on this node."""

    def __init__(self, parcel: Parcel, folder: Path) -> None:
        self._folder = folder
        check_installed(parcel)
        laid_out(parcel, folder)
        os.environ.pop(ENVIRONMENT, None)  # what is loaded, here and in workers, is the coordinator's to say
        self._renamed = dict(_names(parcel, folder))
        try:
            self.spec = _loaded(parcel, folder)
        except SpecError as error:
            raise Disagrees(f"{self._translated(str(error))}; {NOT_SENT}") from error
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
        try:
            played = slot.play(matches, check)
        except BaseException:
            slot.close()
            raise
        else:
            self._put_back(slot)
        finally:
            with self._lock:
                self._busy -= 1
        return [self._as_at_home(record) for record in played.records], played.seconds

    def _put_back(self, slot: NodeSlot) -> None:
        with self._lock:
            if not self._over:
                self._idle.append(slot)
                return
        slot.close()

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

    def _as_at_home(self, record: Record) -> Record:
        """A record that names the files which were sent along as the coordinator knows them."""
        if record.message is None and record.traceback is None:
            return record
        return record._replace(message=self._translated(record.message), traceback=self._translated(record.traceback))

    def _translated(self, text: str | None) -> str | None:
        if text is not None:
            for here, there in self._renamed.items():
                text = text.replace(here, there)
        return text


def _loaded(parcel: Parcel, folder: Path) -> Spec:
    """The spec of a parcel in a folder: code of entries is loaded by their own processes alone, as at the coordinator."""
    sent = {name: str(folder / name) for name in parcel.organiser.values()}
    plugins = {place: sent[name] for place, name in parcel.organiser.items()}
    return reload_spec(
        replace(parcel.document, folder=folder),
        [sent.get(name, name) for name in parcel.plugins],
        parcel.seed,
        described=moved_description(parcel.entries, folder, plugins),
        moved=moved_code(parcel.entries, folder, plugins),
    )


def _names(parcel: Parcel, folder: Path) -> Sequence[tuple[str, str]]:
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
        tournament = _known(order["run"], order["parcel"])
        if tournament is None:
            return wire.wants_parcel()
        records, seconds = tournament.play(wire.matches_of(order["matches"]), _wanted(order["key"]))
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


def _known(run: str, parcel: bytes | None) -> NodeTournament | None:
    """The tournament of a run, made where the order says how; None where it must be asked for."""
    with _guard:
        if run not in _tournaments:
            if parcel is None:
                return None
            folder = _folder()
            try:
                _tournaments[run] = NodeTournament(unpacked(parcel), folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            _sweep_later()
        return _tournaments[run]


def _folder() -> Path:
    """A new folder for files of a tournament, inside that of the Dask worker, with which it goes."""
    from distributed import get_worker

    return Path(tempfile.mkdtemp(prefix="arena-", dir=get_worker().local_directory)).resolve()


def _wanted(key: str) -> Callable[[], None]:
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
