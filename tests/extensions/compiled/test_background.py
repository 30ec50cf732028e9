"""Searches are compiled during a run if their plain decisions have taken long enough. Only the times change."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.match.match import SeatUse
from arena.spec import load_spec
from arena_compiled import background, cache, compile_process, seam
from arena_compiled.boards import sum_up
from arena_compiled.plugin import LONG_PLAIN_SECONDS
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.extensions.cluster.conftest import Cluster
from tests.extensions.web.conftest import served

pytestmark = pytest.mark.usefixtures("compiler")

BOARD = "game: connect-four\nrounds: 40\nagents: [{agent: alpha-beta, depth: 6}, random]\n"
SMALL = {"name": "connect-four", "rows": 4, "columns": 4}
TILES = {"name": "sliding-tiles", "rows": 3, "columns": 4}
FIFTEEN = {"name": "sliding-tiles", "rows": 4, "columns": 4, "goal": "blank-first"}
NUMBER_93 = "13 9 14 6 / 12 8 1 2 / 3 4 . 7 / 5 10 11 15"
"""This is one of Korf's hundred positions (1985), 46 slides from the goal."""
FIFTEEN_GOAL = ". 1 2 3 / 4 5 6 7 / 8 9 10 11 / 12 13 14 15"
RUNS: dict[str, dict[str, Any]] = {
    "alpha-beta": {"game": {**SMALL, "columns": 5}, "agents": [{"agent": "alpha-beta", "depth": 10}, "random"]},
    "ida-star": {"game": TILES, "agents": [{"agent": "ida-star", "heuristic": "misplaced"}], "limits": {"nodes": 300_000}},
    "mcts": {"game": SMALL, "agents": ["mcts", "random"], "limits": {"nodes": 150_000}},
    "rollouts": {"game": {"name": "pig", "target": 6}, "agents": ["mcts", "random"], "limits": {"nodes": 80_000}},
}


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use an empty cache and a process that has compiled nothing."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ARENA_COMPILE", raising=False)
    monkeypatch.delenv("ARENA_PLAIN", raising=False)
    forget()
    yield tmp_path / "cache" / "compiled"
    forget()


def forget() -> None:
    """Forget all compiled searches of this process."""
    background.end_compiler()
    for known in (seam._pairs, seam._plain_seconds, background._compilations, cache._memory, cache._unusable):
        known.clear()


def play(run: str) -> arena.Record:
    """Play the first match of a run. Its first decision takes long in plain Python."""
    return arena.run({"rounds": 1, "seed": 3, **RUNS[run]}).records[0]


@pytest.mark.parametrize("run", RUNS)
def test_a_decision_that_restarts_in_compiled_code_has_the_same_record(
    run: str, compiling: None, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The compiled code comes into the cache during the decision. Plain, compiled and restarted decisions give the same
    record.
    """
    monkeypatch.setenv("ARENA_COMPILE", "always")
    compiled = play(run)
    monkeypatch.delenv("ARENA_COMPILE")
    monkeypatch.setenv("ARENA_PLAIN", "1")
    plain = play(run)
    monkeypatch.delenv("ARENA_PLAIN")
    forget()
    empty_cache.rename(tmp_path / "kept")
    first = next(decision for decision in plain.decisions if decision.nodes)
    assert first.seconds > 0.3
    bring = threading.Timer(first.seconds / 3, lambda: (tmp_path / "kept").rename(empty_cache))
    bring.start()
    switched = play(run)
    bring.join()
    assert switched.timeless() == plain.timeless() == compiled.timeless()
    assert "plain" not in (switched.timing or {}), switched.timing


def test_a_timed_process_starts_its_decision_again_compiled(
    compiling: None, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The time before the switch does not count, and the record is the same."""
    monkeypatch.setitem(RUNS, "hosted", {**RUNS["alpha-beta"], "isolation": "process", "limits": {"seconds": 500}})
    monkeypatch.setenv("ARENA_COMPILE", "always")
    play("alpha-beta")
    monkeypatch.delenv("ARENA_COMPILE")
    monkeypatch.setenv("ARENA_PLAIN", "1")
    plain = play("hosted")
    monkeypatch.delenv("ARENA_PLAIN")
    forget()
    empty_cache.rename(tmp_path / "kept")
    first = next(decision for decision in plain.decisions if decision.nodes)
    brought: list[float] = []

    def bring_code() -> None:
        brought.append(time.monotonic())
        (tmp_path / "kept").rename(empty_cache)

    bring = threading.Timer(first.seconds * 2 / 3, bring_code)
    bring.start()
    switched = play("hosted")
    ended = time.monotonic()
    bring.join()
    assert switched.timeless() == plain.timeless()
    assert "plain" not in (switched.timing or {}), switched.timing
    assert sum(decision.seconds for decision in switched.decisions) < ended - brought[0]


TWO = """
game: {name: sliding-tiles, shuffle: 12}
agents: [greedy, {agent: a-star, heuristic: manhattan, label: near}, {agent: a-star, heuristic: misplaced, label: wrong}]
rounds: 4
"""


def test_the_cache_does_not_affect_which_times_are_shown(
    arena: Callable[..., Any], empty_cache: Path, tmp_path: Path, compiling: None
) -> None:
    """The same times are left out on boards with an empty cache, a cache with one of two heuristics, and a full cache."""
    (tmp_path / "two.yaml").write_text(TWO)
    (tmp_path / "near.yaml").write_text(TWO.replace(", {agent: a-star, heuristic: misplaced, label: wrong}", ""))

    def timed(*words: str) -> tuple[set[str], str]:
        done = arena("run", *words, "--no-store", "--format", "json", ARENA_COMPILE="", ARENA_CACHE=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        (board,) = json.loads(done.stdout)["boards"]
        return {row["agent"] for row in board["rows"] if row["seconds_per_attempt"] is not None}, board.get("untimed", "")

    cold = timed("two.yaml")
    assert cold[0] == {"greedy"}
    assert "`arena run SPEC --compiled --fresh`" in cold[1]
    assert timed("near.yaml", "--compiled")[0] == {"near"}
    assert timed("two.yaml") == cold
    assert timed("two.yaml", "--compiled")[0] == {"near", "wrong"}
    assert timed("two.yaml") == cold
    assert timed("two.yaml", "--plain") == ({"greedy", "near", "wrong"}, "")


@pytest.mark.parametrize("options", [[], ["--compiled"]])
def test_a_failure_of_the_compiler_is_reported_once(
    options: list[str], empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All matches are played plain, and one line gives the reason. Further workers would not have this compiler."""

    def fail(*_: Any) -> Any:
        raise SyntaxError("duplicate argument 'state'")

    monkeypatch.setattr(seam, "assemble_engine", fail)
    (tmp_path / "two.yaml").write_text(TWO)
    words = ["run", str(tmp_path / "two.yaml"), "--no-store", "--workers", "1", "--format", "json", *options]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.exception is None
    (board,) = json.loads(done.stdout)["boards"]
    assert "failures" not in board
    assert [row["solved"] for row in board["rows"] if row["agent"] in ("near", "wrong")] == [1.0, 1.0]
    assert all(row["seconds_per_attempt"] is not None for row in board["rows"])
    (line,) = [line for line in done.stderr.splitlines() if "duplicate argument" in line]
    assert line.startswith(
        "note: a-star(manhattan), a-star(misplaced) on sliding-tiles are not compiled: arena cannot translate its code: "
        "SyntaxError: duplicate argument 'state'"
    )


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_searches_of_many_short_decisions_are_compiled(
    arena: Callable[..., Any], empty_cache: Path, tmp_path: Path, compiling: None, workers: int
) -> None:
    """This holds for each number of workers, and no code is compiled twice. The end of the run and the leaderboard report it."""
    (tmp_path / "spec.yaml").write_text(BOARD.replace("rounds: 40", f"rounds: {30 * workers}"))
    done = arena("run", "spec.yaml", "--store", "fast.db", "--workers", workers, ARENA_COMPILE="", ARENA_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert "note: compiled: alpha-beta(open-lines) on connect-four (after " in done.stderr
    assert "The times of " in done.stdout
    assert "`arena run SPEC --compiled --fresh`" in done.stdout
    left = sorted([file.suffix for file in empty_cache.iterdir()])
    assert left in ([".module"], [".lock", ".module"])  # the run ends compilers that still wait for the lock, so one may remain
    again = arena("run", "spec.yaml", "--store", "again.db", ARENA_COMPILE="", ARENA_CACHE=tmp_path / "cache")
    assert "note: compiled: alpha-beta(open-lines) on connect-four\n" in again.stderr
    assert "`arena run SPEC --compiled --fresh`" in again.stdout
    assert arena("merge", "both.db", "fast.db", "again.db").returncode == 0


@pytest.fixture(scope="module")
def modules() -> list[Path]:
    """Compile the code of two searches once for all tests, and return its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_COMPILE", "always")
        arena.run({"game": "connect-four", "rounds": 1, "agents": [{"agent": "alpha-beta", "depth": 2}, "random"]})
        arena.run(
            {"game": FIFTEEN, "positions": [f"{FIFTEEN_GOAL}"], "agents": [{"agent": "ida-star", "heuristic": "manhattan"}]}
        )
    return list(cache.folder().glob("*.module"))


@pytest.fixture
def brought(modules: list[Path], empty_cache: Path) -> Iterator[Path]:
    """Fill an empty cache with all code as soon as a compiler takes its lock, which must happen during the test."""
    over, private = threading.Event(), empty_cache.parent.with_name("cache-private")

    def bring() -> None:
        while not over.wait(0.02):
            if [*empty_cache.glob("*.lock"), *private.glob("*.lock")]:
                empty_cache.mkdir(parents=True, exist_ok=True)
                for module in modules:
                    shutil.copy(module, empty_cache)
                return

    bringing = threading.Thread(target=bring)
    bringing.start()
    yield empty_cache
    over.set()
    bringing.join()
    assert list(empty_cache.glob("*.module"))


def timings(arena: Callable[..., Any], store: Path) -> list[dict[str, Any]]:
    """Return the times of plain and compiled decisions in the records of a store."""
    return [json.loads(line)["timing"] or {} for line in arena("export", store).stdout.splitlines()]


def goes_compiled(found: list[dict[str, Any]]) -> bool:
    """Return True if the first match began plain, and the last one was compiled from its first decision on."""
    return "plain" in found[0] and "compiled" in found[-1] and "plain" not in found[-1]


def test_arena_play_compiles_searches_while_it_runs(arena: Callable[..., Any], brought: Path) -> None:
    """The first decision would take a minute otherwise."""
    words = ("connect-four", "alpha-beta:depth=9", "random", "--limits", "none", "--delay", 0, "--seed", 1)
    done = arena("play", *words)
    assert done.returncode == 0, done.stderr


def test_arena_solve_compiles_searches_while_it_runs(arena: Callable[..., Any], brought: Path) -> None:
    """The only decision starts again when its loop has been compiled. Plain Python takes over a second for a million nodes."""
    fifteen = [word for name, value in FIFTEEN.items() if name != "name" for word in ("--set", f"{name}={value}")]
    words = ("sliding-tiles", "ida-star", *fifteen, "--heuristic", "manhattan", "--position", NUMBER_93)
    done = arena("solve", *words, "--limits", "none", "--format", "json")
    found = json.loads(done.stdout)
    assert found["moves"] == 46
    assert found["nodes"] / found["seconds"] > 1e6


def test_searches_of_a_served_spec_are_compiled(arena: Callable[..., Any], brought: Path, tmp_path: Path) -> None:
    """The workers of the server compile while pages show the run."""
    pytest.importorskip("fastapi")
    (tmp_path / "cup.yaml").write_text(BOARD)
    with served(tmp_path, "cup.yaml") as server:
        eventually(lambda: server.ask("/api/t/cup").json["state"] == "finished")
    assert goes_compiled(timings(arena, tmp_path / "results" / "cup.db"))


def test_searches_on_a_cluster_are_compiled(arena: Callable[..., Any], brought: Path, tmp_path: Path) -> None:
    """The node compiles."""
    pytest.importorskip("distributed")
    (tmp_path / "cup.yaml").write_text(BOARD)
    cluster = Cluster(tmp_path).add(1)
    try:
        done = arena("run", "cup.yaml", "--store", "cup.db", "--cluster", cluster.address)
    finally:
        cluster.close()
    assert done.returncode == 0, done.stderr
    assert goes_compiled(timings(arena, tmp_path / "cup.db"))


def test_a_run_does_not_wait_for_a_compiler_at_its_end(
    arena: Callable[..., Any], modules: list[Path], empty_cache: Path, tmp_path: Path
) -> None:
    """The test holds the locks of all modules during the run. A run that waited would print a reason after a minute."""
    (tmp_path / "spec.yaml").write_text(BOARD.replace("rounds: 40", "rounds: 6"))
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(compile_process.lock(module.stem))
        done = arena("run", "spec.yaml", "--store", "plain.db", "--workers", 1)
        assert not list(empty_cache.glob("*.module"))
    assert done.returncode == 0, done.stderr
    found = timings(arena, tmp_path / "plain.db")
    took = sum([seconds for one in found for seconds in one["plain_seconds"] if seconds is not None])
    assert took > seam.COMPILE_AFTER_CPU_SECONDS
    assert "compiling took over" not in done.stderr or took > background.MAX_COMPILE_SECONDS  # the machine may be busy


DEEP = """
from arena import hookimpl
from arena_agents.alpha_beta import AlphaBeta

class Deep(AlphaBeta):
    name = "deep"
    {line}

@hookimpl
def arena_agents():
    return [Deep]
"""


def test_searches_of_a_duel_are_compiled(arena: Callable[..., Any], brought: Path, tmp_path: Path) -> None:
    """Each version has its own process and compiler, which write nothing into the cache."""
    (tmp_path / "old.py").write_text(DEEP.format(line="version = 1"))
    (tmp_path / "deep.py").write_text(DEEP.format(line="version = 2"))
    words = ("deep.py", "--against", "old.py", "--game", "connect-four", "--limits", "depth=6", "--pairs", 12, "--workers", 1)
    done = arena("duel", *words, "--folder", "kept")
    assert "Undecided after 24 games" in done.stdout, done.stderr
    (store,) = (tmp_path / "kept").glob("*.db")
    assert goes_compiled(timings(arena, store))


def test_a_long_run_without_the_compiler_suggests_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suggestion is printed if decisions of a pair that could be compiled took more than ten seconds, and not for shorter
    ones.
    """
    board = load_spec({"game": "connect-four", "rounds": 1, "agents": ["alpha-beta", "mcts"]}).boards[0]
    uses = [SeatUse(board.seats[0], board.game, 8, None, 62.4), SeatUse(board.seats[1], board.game, 8, None, 9.9)]
    monkeypatch.setitem(sys.modules, "numba", None)
    told = "alpha-beta(open-lines) on connect-four took 62 s uncompiled; to compile it, run pip install 'numba>=0.62'"
    assert list(sum_up(uses, LONG_PLAIN_SECONDS)) == [told]


def request() -> background.Compilation:
    """Request the search of a small board from another process that compiles it."""
    from arena_games.tic_tac_toe import TicTacToe

    *_, module = seam.assemble_engine(TicTacToe(), None, "full-width")
    return background.request_code(module, module.key)


def test_a_killed_compiler_leaves_nothing_behind(compiling: None, empty_cache: Path) -> None:
    """Its lock is free for the next compiler, and the reason is reported."""
    asked = request()
    eventually(lambda: background._running is not None and list(empty_cache.glob("*.lock")))
    assert background._running is not None
    background._running.send_signal(signal.SIGKILL)
    eventually(lambda: asked.done)
    assert str(asked.failure) == "the compiler was ended by SIGKILL"
    assert not list(empty_cache.glob("*.module"))
    forget()
    again = request()
    eventually(lambda: again.done)
    assert again.failure is None
    assert cache.read(again.key) is not None
    assert not list(empty_cache.glob("*.lock"))


def test_two_processes_compile_the_same_module_once(compiling: None, empty_cache: Path) -> None:
    """The second process waits for the lock of the first, and takes the code from the cache."""
    asked = request()
    with compile_process.lock(asked.key):  # this process holds the lock, so the other one cannot begin
        time.sleep(0.5)
        assert not asked.done
        cache.write(asked.key, "symbol", b"code")
    eventually(lambda: asked.done)
    assert asked.failure is None
    assert cache.read(asked.key) == ("symbol", b"code")


def test_code_that_cannot_be_written_is_used_nevertheless(compiling: None, empty_cache: Path) -> None:
    """The cache cannot be created because a file has its name."""
    empty_cache.parent.mkdir(parents=True)
    empty_cache.write_text("")
    asked = request()
    eventually(lambda: asked.done)
    assert asked.failure is None
    assert cache.has(asked.key)


def test_a_cache_file_with_unexpected_contents_is_ignored(compiling: None, empty_cache: Path) -> None:
    """A file under the name of a module has other contents, or its code was changed."""
    asked = request()
    eventually(lambda: asked.done)
    file = empty_cache / f"{asked.key}.module"
    for poison in (b"nothing of that kind", file.read_bytes()[:-1] + b"\1"):
        file.write_bytes(poison)
        forget()
        assert cache.read(asked.key) is None
        again = request()
        eventually(lambda one=again: one.done)  # type: ignore[misc]
        assert again.failure is None
        assert cache.read(asked.key) is not None


def test_a_damaged_file_of_the_cache_does_not_interrupt_a_decision(compiling: None, empty_cache: Path) -> None:
    """A decision reads the file once and does not start again because of it. New code in the same file counts."""
    empty_cache.mkdir(parents=True)
    file = empty_cache / "0.module"
    file.write_bytes(b"for another processor")
    assert cache.has("0")
    assert cache.read("0") is None
    assert not cache.has("0")
    file.write_bytes(b"for this processor, at last")
    assert cache.has("0")


def test_a_compiler_has_a_time_limit(compiling: None, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MAX_COMPILE_SECONDS", 0.2)
    asked = request()
    eventually(lambda: asked.done)
    assert str(asked.failure) == "compiling took over 0.2 s"


def test_the_compiler_ends_with_the_process_that_started_it(empty_cache: Path) -> None:
    """The compiler's stdin is closed then."""
    words = [sys.executable, "-m", "arena_compiled.compile_process"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        slow = {"key": "0" * 32, "text": "while True: pass", "kinds": []}
        child.stdin.write(json.dumps(slow).encode() + b"\n")
        child.stdin.flush()
        eventually(lambda: list(empty_cache.glob("*.lock")))
        child.stdin.close()
        assert child.wait(DEADLINE_SECONDS) == 1


class Unfinished:
    """A decision that is never interrupted."""

    def look(self) -> None:
        """Leave it as it is."""


def test_a_forked_process_does_not_inherit_the_compilation_of_its_parent(compiling: None) -> None:
    """The child has none of the parent's threads and starts with empty state."""
    decision = Unfinished()
    background.watch(decision)
    child = os.fork()
    if child == 0:
        os._exit(len(background._watched) + len(background._compilations) + (background._watcher is not None))
    background.unwatch(decision)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
