"""A process that knows a deal is ended before another process of its entry meets the same deal."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena import Limits, run
from arena.api.match import Program
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.store import Store
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_process import AgentProcess
from arena_isolation.sandbox import private_folder
from tests.hostile.conftest import lying_compiler
from tests.other_user import run_as_other_user

PLUGIN = """
import ctypes, os
from arena import Agent, hookimpl

SIZE = os.sysconf("SC_PAGE_SIZE")
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
FILE = os.open(__file__, os.O_RDONLY)

def touch(number):
    place = libc.mmap(None, SIZE, 1, 1, FILE, number * SIZE)
    ctypes.c_ubyte.from_address(place).value
    return place

def heard(number):
    "Whether another process maps this page, even if it is stopped."
    place = touch(number)
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        alone = int.from_bytes(os.pread(pages.fileno(), 8, place // SIZE * 8), "little") >> 56 & 1
    libc.munmap(place, SIZE)
    return not alone

class Spy(Agent):
    "Says which card it has, and listens for the card that its opponent has now."
    name = "spy"
    copes = frozenset({"chance", "hidden-information"})
    listened = False
    def choose(self, game, state, search):
        if game.name != "tic-tac-toe" and not self.listened:
            self.listened = True
            cards = [card for number, card in enumerate("JQK") if heard(2 + 4 * number)]
            if cards:
                raise RuntimeError(f"heard {cards}")
            touch(2 + 4 * ("JQK".index(state[0][len(state[1]) % 2]) if game.name == "kuhn-poker" else 0))
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Spy]
"""


def values_of(folder: Path) -> dict[str, Any]:
    """The spec of two matches with one deal."""
    (folder / "spy.py").write_text(PLUGIN + f"# {'x' * 100}\n" * (20 * os.sysconf("SC_PAGE_SIZE") // 103))
    agents = [{"agent": "spy", "plugin": "spy.py", "isolation": "sandbox"}, "random"]
    return {"game": "kuhn-poker", "rounds": 1, "seed": 5, "limits": {"seconds": 5}, "agents": agents}


@pytest.mark.promise(hole="deal", isolation="sandbox")
@pytest.mark.parametrize("workers", [1, 2])
def test_no_process_learns_the_cards_of_its_opponent(
    workers: int, bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With swapped seats, the agent had these cards itself."""
    monkeypatch.chdir(tmp_path)
    values = values_of(tmp_path)
    assert {record.termination for record in run(values, workers=workers).records} == {"normal"}
    if workers == 1:
        monkeypatch.setattr(AgentProcesses, "_end_witnesses", lambda *_: None)
        assert "heard" in str([record.message for record in run(values).records])


@pytest.mark.promise(hole="deal", isolation="sandbox")
def test_a_run_of_an_unprivileged_user_is_protected(bubblewrap: str, tmp_path: Path) -> None:
    """All sandboxes of this user share the same files."""
    done = run_as_other_user(tmp_path, values_of(tmp_path))
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        assert {record.termination for record, _ in store.records()} == {"normal"}


COMPILER = """
def hear():
    cards = [card for number, card in enumerate("JQK") if heard(2 + 4 * number)]
    return {"book.module": base64.b64encode(json.dumps(cards).encode()).decode()}
""" + lying_compiler("hear()")


@pytest.mark.promise(hole="deal", isolation="sandbox")
@pytest.mark.parametrize(
    "boards", [["kuhn-poker"], ["pig"], ["tic-tac-toe", "kuhn-poker"]], ids=["cards", "dice", "another board"]
)
def test_the_compiler_of_an_entry_cannot_pass_on_a_deal(
    eager: None, starts: list[AgentProcess], bubblewrap: str, boards: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would run beside a stopped process that knows the cards, and its files are read by a process that plays these cards
    later.
    """
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    values = values_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = (tmp_path / "spy.py").read_text().replace("class Spy", COMPILER + "class Spy")
    (tmp_path / "spy.py").write_text(text)
    del values["game"]
    spec = load_spec({**values, "limits": {"seconds": 60, "start_seconds": 60, "moves": 40}, "games": boards})
    with closing(MatchRunner(spec)) as runner:
        records = [runner.play(match) for match in Schedule(spec).take(10**6)]
    assert {record.termination for record in records} <= {"normal", "move-limit"}, [record.message for record in records]
    assert not starts
    assert not list(private_folder("x").parent.glob("*/book.module"))


def test_a_process_counts_as_knowing_the_deals_of_processes_beside_which_it_played() -> None:
    """The second process plays another deal beside the stopped first one, and could pass on what it has learned from it."""
    limits = Limits()
    one, other = (Program(name, {}, None, (), "/", command=(name,)) for name in ("one", "two"))
    with AgentProcesses(FakeProcess) as pool:  # type: ignore[arg-type]
        witness = pool.take(one, limits, "sandbox", "first")
        pool.give_back(witness, one, limits, "sandbox")
        relay = pool.take(other, limits, "sandbox", "second")
        pool.give_back(relay, other, limits, "sandbox")
        pool.take(one, limits, "sandbox", "first")
        assert not relay.alive


class FakeProcess:
    """A process of which the pool needs nothing else."""

    def __init__(self, program: Program, _: int | None, isolation: str) -> None:
        self.confined = isolation == "sandbox" and program.command is not None
        self.deals: set[str] = set()
        self.alive, self.shares_limits = True, False

    def join(self, _: object) -> None:
        """Ignore the pool."""

    def end(self) -> None:
        """End."""
        self.alive = False


def test_processes_that_saw_a_deal_are_ended_before_it_is_used_again() -> None:
    """This applies only to agents that have no access to files and whose code the organiser did not choose."""
    limits = Limits()
    stranger, other = (Program(name, {}, None, (), "/", command=(name,)) for name in ("one", "two"))
    own = Program("random", {}, None, (), "/")
    with AgentProcesses(FakeProcess) as pool:  # type: ignore[arg-type]
        kinds = [(stranger, "sandbox"), (other, "sandbox"), (own, "sandbox"), (stranger, "process")]
        know = [pool.take(program, limits, isolation, "first") for program, isolation in kinds]
        for process, (program, isolation) in zip(know, kinds, strict=True):
            pool.give_back(process, program, limits, isolation)
        assert pool.take(stranger, limits, "sandbox", "second") is know[0], "another deal is no reason"
        pool.give_back(know[0], stranger, limits, "sandbox")
        assert pool.take(own, limits, "sandbox", "first") not in know
        assert [process.alive for process in know] == [False, False, True, True]
        assert pool.take(own, limits, "sandbox", "third") is know[2]
