"""Workers that end, hang, or write garbage to their pipe change no other record."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from arena import run
from arena.errors import ArenaError
from arena.format import Pairing
from arena.match.record import Record
from arena.processes.process_tree import ProcessTree
from arena.schedule.schedule import Batch, Schedule, Scheduled
from arena.spec import load_spec
from arena.workers.pool import HANG_SECONDS, Finished, WorkerPool
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

AGENTS = """
import ctypes, os, pathlib, signal, subprocess, sys, threading, time
from arena import Agent, hookimpl


def exits(): os._exit(3)
def segfaults(): ctypes.string_at(0)
def kills_itself(): os.kill(os.getpid(), signal.SIGKILL)
def stops(): os.kill(os.getpid(), signal.SIGSTOP)
def holds_the_lock(): sum(range(10**12))
def closes_everything(): os.closerange(3, 50)


def closes_stdout():
    try:
        os.close(1)
    except OSError:
        pass


def writes_garbage():
    for number in range(3, 50):
        try:
            os.write(number, b"garbage " * 100)
        except OSError:
            pass


def closes_and_thinks():
    closes_everything()
    time.sleep(1000)


def forks():
    os.fork()


class First(Agent):
    name = "first"

    def choose(self, game, state, search):
        return game.actions(state)[0]


class Vandal(First):
    name = "vandal"

    def __init__(self, *, deed: str, file: str = ""):
        self.deed, self.file = deed, file

    def choose(self, game, state, search):
        if len(game.actions(state)) < 6:  # not at the start: the seat that is blamed is the seat that moved last
            if not self.file:
                globals()[self.deed]()
            elif not os.path.exists(self.file):
                pathlib.Path(self.file).touch()
                globals()[self.deed]()
        return game.actions(state)[0]


class Parent(First):
    name = "parent"

    def __init__(self, *, folder: str, ends: bool):
        self.folder, self.ends = folder, ends

    def choose(self, game, state, search):
        shell = subprocess.Popen(["sh", "-c", "sleep 1000 & wait"], start_new_session=True)
        (pathlib.Path(self.folder) / str(shell.pid)).touch()
        if self.ends:
            os._exit(1)
        return game.actions(state)[0]


class Sleeper(First):
    name = "sleeper"
    matches = 0
    asked = False

    def choose(self, game, state, search):
        Sleeper.matches += not self.asked
        self.asked = True
        while Sleeper.matches >= 6 and not pathlib.Path(__file__).with_name("released").exists():
            time.sleep(0.01)
        return game.actions(state)[0]


class Slow(First):
    name = "slow"

    def choose(self, game, state, search):
        if game.name == "sliding-tiles":
            time.sleep(0.3)
            with open(os.path.join(os.path.dirname(__file__), "slow-pids"), "a") as file:
                file.write(f"{os.getpid()}\\n")
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [First, Vandal, Parent, Sleeper, Slow]
"""

GAMES = """
import os
from arena import hookimpl
from arena_games.sliding_tiles import SlidingTiles


class Deadly(SlidingTiles):
    name = "deadly"
    default_heuristic = None

    def initial(self, rng):
        os._exit(5)


@hookimpl
def arena_games():
    return [Deadly]
"""

HONEST = {
    "games": ["tic-tac-toe", {"name": "sliding-tiles", "shuffle": 20}],
    "rounds": 4,
    "seed": 4,
    "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1}],
    "limits": {"moves": 50},
}


@pytest.fixture
def agents(tmp_path: Path) -> str:
    (tmp_path / "pool_agents.py").write_text(AGENTS)
    return str(tmp_path / "pool_agents.py")


def by_id(records: list[Record]) -> dict[str, dict[str, Any]]:
    """Records without the clock; none may come twice."""
    found = {record.id: record.timeless() for record in records}
    assert len(found) == len(records)
    return found


def pooled(
    spec: Any, workers: int = 2, *, hang: float = 60, watch: Callable[[int], None] = lambda _: None, counted: bool = True
) -> list[Record]:
    """The records of a spec that a pool plays; `watch` gets their number after each."""
    ready = load_spec(spec)
    plan = Schedule(ready)
    total = sum(board.size for board in ready.boards) if counted else None
    records = []
    with closing(WorkerPool(ready, workers, plan.take, total=total, hang=hang).play()) as finished:  # type: ignore[type-var]
        for scheduled, record in finished:
            plan.tell(scheduled, None if record.termination == "void" else record.returns)
            records.append(record)
            watch(len(records))
    return records


def workers_here() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it may end meanwhile
            if "arena.workers.worker" in child.cmdline():
                found.append(child)
    return found


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(autouse=True)
def nobody_left() -> Iterator[None]:
    """No test leaves a worker or a descendant of one behind."""
    yield
    ours = f"{os.getpid()}-"

    def marked() -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(ProcessTree.OF_WORKER, "").startswith(ours) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    eventually(lambda: not marked())


@pytest.fixture(scope="module")
def played_here() -> dict[str, dict[str, Any]]:
    """The records of HONEST that one process plays."""
    return by_id(list(run(HONEST).records))


DEEDS = {
    "exits": "ended with exit code 3",
    "segfaults": "was killed by SIGSEGV",
    "kills_itself": "was killed by SIGKILL",
    "stops": "did not respond for 0.7 s",
    "holds_the_lock": "did not respond for 0.7 s",
    "closes_everything": "closed its pipe",
    "closes_and_thinks": "closed its pipe",
    "writes_garbage": "let another program write to its pipe",
}


def test_an_agent_that_ends_its_worker_loses_by_a_crash(agents: str) -> None:
    records: dict[str, Record] = {}
    for hang, told in ((HANG_SECONDS, False), (0.7, True)):
        deeds = [deed for deed, end in DEEDS.items() if ("did not respond" in end) == told]
        vandals = [{"agent": "vandal", "deed": deed, "label": deed} for deed in deeds]
        spec = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 1, "agents": vandals, "plugins": [agents]}
        records |= {record.labels[0]: record for record in pooled(spec, hang=hang)}
    assert records.keys() == DEEDS.keys()
    for deed, record in records.items():
        assert (record.termination, record.seat) == ("crash", 0)
        assert DEEDS[deed] in (record.message or "")


def test_the_seat_to_move_loses_when_a_worker_ends(agents: str) -> None:
    spec = {"game": "tic-tac-toe", "rounds": 1, "agents": ["first", {"agent": "vandal", "deed": "exits"}], "plugins": [agents]}
    records = pooled(spec)
    assert sorted((record.seat, record.returns) for record in records) == [(0, (-1, 1)), (1, (1, -1))]
    for record in records:
        assert record.termination == "crash"
        assert record.labels[record.seat or 0].startswith("vandal")
        assert record.position == ".../.../..."


def test_other_matches_of_a_batch_are_not_lost(agents: str) -> None:
    game = {**HONEST, "games": [{"name": "sliding-tiles", "shuffle": 20}], "rounds": 3, "plugins": [agents]}
    vandals = [{"agent": "vandal", "deed": deed, "label": deed} for deed in ("exits", "closes_stdout")]
    honest = by_id(list(run(game).records))
    records = pooled({**game, "agents": ["random", vandals[0], "greedy", HONEST["agents"][2], vandals[1]]})  # type: ignore[index]
    found = by_id(records)
    assert {identity: found[identity] for identity in honest} == honest
    assert len(records) == 15
    assert {record.termination for record in records if record.labels == ("closes_stdout",)} <= {"move-limit", "normal", "stuck"}
    ended = [record for record in records if record.labels == ("exits",)]
    assert {(record.termination, record.seat, record.solved) for record in ended} == {("crash", 0, False)}


def test_a_single_crash_of_a_worker_does_not_change_results(agents: str, tmp_path: Path) -> None:
    vandal = {"agent": "vandal", "deed": "exits", "file": str(tmp_path / "done")}
    spec = {"game": "tic-tac-toe", "rounds": 3, "agents": ["random", vandal], "plugins": [agents]}
    records = pooled(spec, 1)
    assert (tmp_path / "done").exists()
    assert by_id(records) == by_id(list(run(spec).records))


def test_a_process_forked_by_an_agent_does_not_play(agents: str) -> None:
    spec = {"game": "tic-tac-toe", "rounds": 2, "agents": ["first", {"agent": "vandal", "deed": "forks"}], "plugins": [agents]}
    records = pooled(spec, 1)
    assert {record.termination for record in records} == {"normal"}
    assert len(by_id(records)) == 4


LONG = {"game": "tic-tac-toe", "rounds": 40, "seed": 2, "agents": ["random", {"agent": "lookahead", "depth": 4}]}
"""80 matches of some 8 ms."""


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, dict[str, Any]]:
    """The records of LONG that one process plays."""
    return by_id(list(run(LONG).records))


@pytest.mark.parametrize(("workers", "number"), [(1, signal.SIGSTOP), (2, signal.SIGKILL)])
def test_killed_or_stopped_workers_do_not_change_results(
    workers: int, number: signal.Signals, undisturbed: dict[str, Any]
) -> None:
    """A worker is not killed during its retry, because this would count as a crash of its agent."""
    rng = random.Random(workers * number)
    when = {rng.randrange(5, 30), rng.randrange(50, 70)}
    struck: set[int] = set()
    first: list[int] = []

    def strike(count: int) -> None:
        first[:] = first or [worker.pid for worker in workers_here()]
        if count in when:
            choices = [worker for worker in workers_here() if worker.pid not in struck and (workers == 1 or worker.pid in first)]
            chosen = rng.choice(choices)
            struck.add(chosen.pid)
            chosen.send_signal(number)

    hang = HANG_SECONDS if number == signal.SIGKILL else 3.0
    found = by_id(pooled(LONG, workers, hang=hang, watch=strike))
    assert len(struck) == 2
    assert found == undisturbed


def test_a_match_is_void_if_its_game_ends_the_worker(tmp_path: Path) -> None:
    (tmp_path / "pool_games.py").write_text(GAMES)
    spec = {
        "games": ["deadly", {"name": "sliding-tiles", "shuffle": 1}],
        "rounds": 1,
        "agents": ["bfs"],
        "plugins": [str(tmp_path / "pool_games.py")],
    }
    ends = {record.game: (record.termination, record.seat, record.message) for record in pooled(spec, 1)}
    assert ends["deadly"] == ("void", None, "the process that played this match ended with exit code 5, twice")
    assert ends["sliding-tiles"] == ("normal", None, None)


@pytest.mark.parametrize("ends", [False, True])
def test_a_worker_is_ended_with_all_its_child_processes(agents: str, tmp_path: Path, ends: bool) -> None:
    (tmp_path / "pids").mkdir()
    parent = {"agent": "parent", "folder": str(tmp_path / "pids"), "ends": ends}
    game = {"name": "sliding-tiles", "shuffle": 20}
    spec = load_spec({"game": game, "rounds": 1, "agents": [parent], "plugins": [agents], "limits": {"moves": 2}})
    finished = list(WorkerPool(spec, 1, Schedule(spec).take).play())
    assert {record.termination for _, record in finished} == {"crash" if ends else "move-limit"}
    started = [int(file.name) for file in (tmp_path / "pids").iterdir()]
    assert len(started) >= 2
    eventually(lambda: all(gone(pid) for pid in started))  # a kill takes effect a moment later


def test_closing_a_pool_ends_all_its_processes_at_once(agents: str) -> None:
    hog = {"agent": "vandal", "deed": "holds_the_lock"}
    spec = load_spec({"game": "tic-tac-toe", "rounds": 50, "agents": ["first", "random", hog], "plugins": [agents]})
    finished = WorkerPool(spec, 2, Schedule(spec).take).play()
    next(finished)
    time.sleep(0.3)
    finished.close()  # type: ignore[attr-defined]
    assert workers_here() == []


RUN = "import sys; from arena.cli import main; sys.exit(main(['run', {spec!r}, '--workers', '2', '--quiet']))"


class Busy(NamedTuple):
    """A run in a process of its own, and its two workers, which let no thread of theirs run."""

    run: "subprocess.Popen[bytes]"
    workers: list[psutil.Process]


@pytest.fixture
def busy(tmp_path: Path, agents: str) -> Iterator[Busy]:
    spec = tmp_path / "busy.yaml"
    spec.write_text(
        "game: tic-tac-toe\nrounds: 3\nagents: [first, {agent: vandal, deed: holds_the_lock}]\n"
        f"plugins: [{Path(agents).name}]\n"
    )
    started = subprocess.Popen([sys.executable, "-c", RUN.format(spec=str(spec))], cwd=tmp_path, stderr=subprocess.DEVNULL)
    itself = psutil.Process(started.pid)
    eventually(lambda: len(itself.children()) == 2)
    workers = itself.children()
    eventually(lambda: all(worker.cpu_times().user > 0.6 for worker in workers))  # it is the agent that works by now
    yield Busy(started, workers)
    started.kill()
    started.wait()
    for worker in workers:
        with suppress(psutil.NoSuchProcess):
            worker.kill()


def test_no_worker_outlives_its_parent(busy: Busy) -> None:
    busy.run.kill()
    busy.run.wait(DEADLINE_SECONDS)
    eventually(lambda: all(gone(worker.pid) for worker in busy.workers))


def test_two_interrupts_end_the_run_at_once(busy: Busy) -> None:
    busy.run.send_signal(signal.SIGINT)
    time.sleep(0.02)
    busy.run.send_signal(signal.SIGINT)
    busy.run.wait(DEADLINE_SECONDS)
    eventually(lambda: all(gone(worker.pid) for worker in busy.workers))


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("raise ImportError('nothing here')", "nothing here"),
        ("os._exit(7)", "3 worker processes in a row ended before they played; the last ended with exit code 7"),
    ],
)
def test_workers_that_cannot_start_end_the_run(tmp_path: Path, deed: str, words: str) -> None:
    (tmp_path / "shy.py").write_text(f"import os\nif {ProcessTree.OF_WORKER!r} in os.environ:\n    {deed}\n{AGENTS}")
    spec = load_spec({"game": "tic-tac-toe", "rounds": 1, "agents": ["first", "random"], "plugins": [str(tmp_path / "shy.py")]})
    with pytest.raises(ArenaError, match=words):
        list(WorkerPool(spec, 1, Schedule(spec).take).play())
    assert workers_here() == []


def test_records_arrive_during_the_next_match(agents: str) -> None:
    """In its sixth match, the agent waits until five records have arrived."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 4, "agents": ["first", "sleeper"], "plugins": [agents]})
    arrived = []
    with closing(WorkerPool(spec, 1, Schedule(spec).take).play()) as finished:  # type: ignore[type-var]
        for scheduled, _ in finished:
            arrived.append(scheduled.number)
            if len(arrived) == 5:
                Path(agents).with_name("released").touch()
            if len(arrived) == 6:
                break
    assert arrived == [0, 1, 2, 3, 4, 5]


def test_slow_matches_at_the_end_are_shared_by_the_workers(agents: str) -> None:
    """Batches grow during quick matches, before eight matches of 0.3 s. A worker that kept its batch would play all of them."""
    spec = load_spec(
        {"games": ["tic-tac-toe", "sliding-tiles"], "agents": ["first", "slow"], "plugins": [agents], "limits": {"moves": 1}}
    )
    slow = [entry.label for entry in spec.boards[1].seats].index("slow")
    quick = [Scheduled(number, 0, Pairing(number, (0, 1))) for number in range(2000)]
    upcoming = quick + [Scheduled(number, 1, Pairing(number, (slow,))) for number in range(2000, 2008)]

    def take(size: int) -> Batch:
        batch = Batch(upcoming[:size])
        del upcoming[:size]
        return batch or Batch.OVER

    with closing(WorkerPool(spec, 2, take).play()) as finished:  # type: ignore[type-var]
        assert sum(1 for scheduled, _ in finished if scheduled.board == 1) == 8
    played = Counter(Path(agents).with_name("slow-pids").read_text().split())
    assert len(played) == 2
    assert min(played.values()) >= 3


def test_a_pool_plays_outside_the_main_thread(played_here: dict[str, dict[str, Any]]) -> None:
    found: list[Record] = []
    thread = threading.Thread(target=lambda: found.extend(pooled(HONEST, 1, counted=False)))
    thread.start()
    thread.join(DEADLINE_SECONDS)
    assert by_id(found) == played_here


def test_no_worker_is_started_without_matches() -> None:
    spec = load_spec(HONEST)
    nothing: list[Finished] = list(WorkerPool(spec, 2, lambda _: Batch.OVER).play())
    assert nothing == []


def test_a_schedule_that_waits_without_open_matches_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="waits for results"):
        list(WorkerPool(load_spec(HONEST), 2, lambda _: Batch.WAIT).play())
