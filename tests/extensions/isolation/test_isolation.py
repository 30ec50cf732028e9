"""Agents in processes of their own: they play as they would elsewhere, and harm nobody else."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import pytest

import arena
from arena.configured import make_default
from arena.errors import ArenaError
from arena.match.record import Record
from arena.plugins.registry import Registry
from arena.processes.process_tree import ProcessTree
from arena.schedule.fingerprint import is_trusted
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.traits import find_refusal
from arena.workers.pool import WorkerPool
from arena_isolation.agent_start import namespaces_work

HOSTILE = str(Path(__file__).with_name("hostile.py"))
LIMIT = 0.3


def played(values: dict[str, Any]) -> list[Record]:
    """All matches of a spec, one after the other."""
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(10**6)]


def timeless(records: list[Record]) -> list[dict[str, Any]]:
    return [record.timeless() for record in records]


@pytest.fixture(autouse=True)
def nobody_left_behind() -> Iterator[None]:
    """After every test, no process is alive that an agent process has started."""
    yield
    until = perf_counter() + 10  # those of other tests that run meanwhile may be about to go
    while left_behind() and perf_counter() < until:
        sleep(0.05)
    assert not left_behind()


def left_behind() -> list[str]:
    """The command lines of living agent processes that this process has started, or one that is gone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            mark = re.search(rb"\x00?%s=(\d+)-" % ProcessTree.OF_AGENT.encode(), (folder / "environ").read_bytes())
            if mark and (int(mark[1]) == os.getpid() or not Path(f"/proc/{int(mark[1])}").exists()):
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found


GAMES: list[dict[str, Any]] = [
    {"name": "tic-tac-toe"},
    {"name": "connect-four", "rows": 4, "columns": 4, "in_a_row": 3},
    {"name": "sliding-tiles", "shuffle": 8},
    {"name": "n-queens", "n": 6},
    {"name": "sudoku", "box": 2, "givens": 8},
]


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game["name"])
@pytest.mark.parametrize("limits", [{"nodes": 60}, {"nodes": 2000, "depth": 3, "moves": 12}], ids=["60 nodes", "2000 nodes"])
def test_every_agent_plays_the_same_in_a_process_of_its_own(
    registry: Registry, game: dict[str, Any], limits: dict[str, Any]
) -> None:
    """The records of all agents that come with arena, isolated or not, are equal but for the clock."""
    rules = registry.game(game["name"])(**{key: value for key, value in game.items() if key != "name"})
    made = {name for name, agent in registry.agents.items() if make_default(agent) is not None}  # a policy is of a file
    names = sorted(name for name in made if find_refusal(registry.agents[name], rules) is None)
    agents = names if rules.players == 1 else ["random", *[name for name in names if name != "random"]]
    spec = {"game": game, "agents": agents, "rounds": 1, "limits": limits, "seed": 5}
    assert timeless(played({**spec, "isolation": "process"})) == timeless(played(spec))


ATTACKS = {
    "loop-in-c": ({"timeout"}, "longer than its limit of 0.3 s"),
    "loop-in-python": ({"timeout"}, "longer than its limit of 0.3 s"),
    "sleeps": ({"timeout"}, "longer than its limit of 0.3 s"),
    "swallows": ({"timeout"}, "longer than its limit of 0.3 s"),
    "fork-bomb": ({"crash", "memory"}, "more than"),  # whichever is seen first of its processes and their memory
    "leaves-home": ({"timeout"}, "longer than its limit of 0.3 s"),
    "closes-output": ({"crash"}, "closed its output"),
    "garbage": ({"crash"}, "expected a line of JSON, got '\\ufffd\\x00 nonsense'"),
    "flood": ({"crash", "timeout"}, ""),
    "memory": ({"memory"}, ""),
    "memory-of-children": ({"memory"}, ""),
    "exits": ({"crash"}, "ended with code 3"),
    "segfault": ({"crash"}, "killed by SIGSEGV"),
    "stops": ({"timeout"}, "longer than its limit of 0.3 s"),
    "kills-group": ({"crash"}, "killed by SIGKILL"),
    "raises": ({"exception"}, "SystemExit: enough"),
    "bad-constructor": ({"crash"}, "ended with code 4"),
}


AMPLE = 20.0
"""Seconds for those who need none: a busy machine may hold anybody up."""
HONEST: list[Any] = [{"agent": "minimax", "depth": 2}, "greedy"]
AMONG_HONEST: dict[str, Any] = {
    "game": "tic-tac-toe", "rounds": 1, "limits": {"seconds": AMPLE, "memory_mb": 300}, "seed": 3, "plugins": [HOSTILE]
}  # fmt: skip


@pytest.fixture(scope="module")
def alone() -> dict[str, dict[str, Any]]:
    """What honest agents play where nobody else is."""
    return {record.id: record.timeless() for record in played({**AMONG_HONEST, "agents": HONEST})}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_agent_loses_its_match_and_nothing_else(name: str, alone: dict[str, dict[str, Any]]) -> None:
    """It ends as its own timeout, memory or crash within two seconds of the limit; the honest play on as without it."""
    endings, message = ATTACKS[name]
    limits = {"seconds": LIMIT if "timeout" in endings else AMPLE, "memory_mb": 300}
    began = perf_counter()
    records = played({**AMONG_HONEST, "agents": [{"agent": name, "limits": limits}, *HONEST]})
    spent = perf_counter() - began
    lost = [record for record in records if name in record.labels]
    assert len(lost) == 4
    for record in lost:
        assert record.termination in endings, record.message
        assert record.seat == record.labels.index(name)
        assert record.returns[record.seat] == -1.0
        assert message in str(record.message)
        if record.termination == "timeout":
            assert record.timing is not None
            assert 0 < record.timing["overrun"] < 2
    assert spent < 4 * (LIMIT + 2) + 3
    assert {record.id: record.timeless() for record in records if name not in record.labels} == alone


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_time_limit_ends_a_search_that_reports_with_what_it_has(isolation: str) -> None:
    """An agent that searches for ever by the game's own methods is stopped at its limit and plays its last report."""
    agents = [{"agent": "mcts", "isolation": isolation}, "random"]
    for _ in range(5):  # what a busy machine adds may be more than the margin, now and then
        records = played({"game": "connect-four", "agents": agents, "rounds": 1, "limits": {"seconds": 0.02, "moves": 6}})
        own = [decision for record in records for decision in record.decisions if record.labels[decision.seat] == "mcts"]
        seconds = [decision.seconds for decision in own]
        if all(record.termination == "move-limit" for record in records) and max(seconds) < 0.12:
            break
    assert {record.termination for record in records} == {"move-limit"}
    assert len(seconds) == 6
    assert max(seconds) < 0.12
    assert sum(second >= 0.02 for second in seconds) >= 4, "a win that is proven ends a search before its limit"


def test_a_process_is_kept_from_match_to_match(tmp_path: Path) -> None:
    """Twenty matches are played by two processes, with a fresh agent each."""
    plugin = tmp_path / "counting.py"
    plugin.write_text(
        "import uuid\nfrom arena import Agent, hookimpl\n"
        f"LOG, PROCESS = {str(tmp_path / 'log')!r}, uuid.uuid4()\n"
        "class Counting(Agent):\n"
        '    """Writes down who it is."""\n'
        '    name = "counting"\n'
        "    def __init__(self): self.asked = 0\n"
        "    def choose(self, game, state, search):\n"
        "        self.asked += 1\n"
        "        with open(LOG, 'a') as log: print(PROCESS, self.asked, file=log)\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Counting]\n"
    )
    agents = [{"agent": "counting", "label": label} for label in ("a", "b")]
    records = played({"game": "tic-tac-toe", "agents": agents, "rounds": 10, "isolation": "process", "plugins": [str(plugin)]})
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len({process for process, _ in lines}) == 1 + 1
    assert max(int(asked) for _, asked in lines) == 4  # x wins with its fourth cell: 1, 3, 5, 7
    assert len(records) == 20


@pytest.mark.parametrize("named", ["in the call", "in the environment"])
def test_a_plugin_is_found_from_the_folder_where_arena_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Also where the process of the agent runs in another, that of the spec."""
    (tmp_path / "plugin.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class First(Agent):\n"
        '    """Plays the first action."""\n'
        '    name = "first"\n'
        "    def choose(self, game, state, search): return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [First]\n"
    )
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "spec.yaml").write_text("{game: tic-tac-toe, agents: [first, random], rounds: 1, isolation: process}")
    monkeypatch.chdir(tmp_path)
    if named == "in the environment":
        monkeypatch.setenv("ARENA_PLUGINS", "plugin.py")
    spec = load_spec("specs/spec.yaml", plugins=["plugin.py"] if named == "in the call" else [])
    with closing(MatchRunner(spec)) as stage:
        records = [stage.play(scheduled) for scheduled in Schedule(spec).take(2)]
    assert [(record.termination, record.message) for record in records] == [("normal", None)] * 2


def test_what_an_agent_prints_is_passed_on_within_bounds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Twenty megabytes in a match become 64 KiB and a line that says so; the match is played as ever."""
    plugin = tmp_path / "flood.py"
    plugin.write_text(
        "import os\nfrom arena import Agent, hookimpl\n"
        "class Flood(Agent):\n"
        '    """Prints."""\n'
        "    name = 'flood'\n"
        "    def choose(self, game, state, search):\n"
        "        for _ in range(80): os.write(2, b'x' * 65536)\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Flood]\n"
    )
    spec = {"game": "tic-tac-toe", "agents": ["flood", "random"], "rounds": 1, "isolation": "process", "plugins": [str(plugin)]}
    assert {record.termination for record in played(spec)} == {"normal"}
    said = capfd.readouterr().err
    assert said.count("x") <= 2 * 65536
    assert said.count("an agent prints more than 65,536 bytes in a match") == 2


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["SIGKILL", "SIGSTOP"])
def test_an_agent_that_turns_on_its_parent_takes_no_run_down(tmp_path: Path, deed: str) -> None:
    """Its parent is the first process of its namespace, which it cannot signal: the worker lives on, and all is played."""
    (tmp_path / "parricide.py").write_text(
        "import os, signal\nfrom arena import Agent, hookimpl\n"
        "class Parricide(Agent):\n"
        '    """Strikes."""\n'
        "    name = 'parricide'\n"
        "    def choose(self, game, state, search):\n"
        f"        os.kill(os.getppid(), signal.{deed})\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Parricide]\n"
    )
    plugin = str(tmp_path / "parricide.py")
    short = {"agent": "parricide", "limits": {"seconds": 0.5}}
    values = {"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy", short], "plugins": [plugin]}
    spec = load_spec({**values, "limits": {"seconds": AMPLE}})
    assert not is_trusted(spec)  # so a run has workers, and plays nothing in its own process
    with closing(WorkerPool(spec, 1, Schedule(spec).take, hang=1.0).play()) as finished:  # type: ignore[type-var]
        records = [record for _, record in finished]
    expected = {"normal"} if namespaces_work() else {"normal", "void"}
    assert {record.termination for record in records} == expected
    assert {record.termination for record in records if "parricide" not in record.labels} == {"normal"}


def test_what_an_agent_prints_goes_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Prints of an isolated agent, in Python or below it, do not disturb the protocol."""
    plugin = tmp_path / "loud.py"
    plugin.write_text(
        "import os\nfrom arena import Agent, hookimpl\n"
        "class Loud(Agent):\n"
        '    """Prints."""\n'
        '    name = "loud"\n'
        "    def choose(self, game, state, search):\n"
        "        print('by print'); os.write(1, b'by write\\n'); os.system('echo by echo'); assert input == input\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Loud]\n"
    )
    spec = {"game": "tic-tac-toe", "agents": ["loud", "random"], "rounds": 1, "isolation": "process", "plugins": [str(plugin)]}
    assert {record.termination for record in played(spec)} == {"normal"}
    out, err = capfd.readouterr()
    assert out == ""
    assert all(words in err for words in ("by write", "by echo"))


def test_a_process_that_cannot_be_started_is_nobodys_fault() -> None:
    """A folder that is gone is told as arena's own error, not booked on the agent."""
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1, "isolation": "process"})
    board = spec.boards[0]
    from dataclasses import replace

    seats = []
    for seat in board.seats:
        assert seat.program is not None
        seats.append(replace(seat, program=replace(seat.program, folder="/no/such/folder")))
    broken = replace(spec, boards=(replace(board, seats=tuple(seats)),))
    with closing(MatchRunner(broken)) as stage, pytest.raises(ArenaError, match="cannot start a process for random"):
        stage.play(Schedule(broken).take(1)[0])


@pytest.mark.slow
def test_a_gallery_of_hostile_agents_in_one_tournament() -> None:
    """By two workers: it ends, everybody hostile has lost to everybody honest, and the honest met as if they were alone."""
    import arena

    hostile = ["loop-in-c", "swallows", "fork-bomb", "garbage", "memory", "exits"]
    honest: list[Any] = ["greedy", {"agent": "minimax", "depth": 2}]
    spec: dict[str, Any] = {
        "game": "tic-tac-toe",
        "rounds": 1,
        "limits": {"seconds": AMPLE, "memory_mb": 300},
        "plugins": [HOSTILE],
    }
    short = [{"agent": name, "limits": {"seconds": 0.1}} for name in hostile]
    records = arena.run({**spec, "agents": [*short, *honest]}, workers=2).records
    assert len(records) == 8 * 7
    alone = arena.run({**spec, "agents": honest}).records
    among = [record for record in records if not set(record.labels) & set(hostile)]
    assert sorted(map(str, timeless(among))) == sorted(map(str, timeless(list(alone))))
    for record in records:
        if record not in among:
            assert record.termination in ("timeout", "memory", "crash"), record
            assert record.seat is not None
            assert record.labels[record.seat] in hostile


TALKATIVE = """
import json, os, sys, time

for _ in range(2):
    if os.fork() == 0:
        kept = b"x" * (80 << 20)
        time.sleep(60)
answers = {"hello": '{"type":"hello","protocol":2,"can":["choose"]}', "start": '{"type":"ready"}'}
for line in sys.stdin:
    kind = json.loads(line)["type"]
    while kind == "choose":
        print('{"type":"report","action":"1"}')
    print(answers[kind], flush=True)
"""


def test_a_program_that_never_stops_reporting_is_looked_after(tmp_path: Path) -> None:
    """The memory of its children, 160 MiB where 120 are allowed, is found while its reports come without a pause."""
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    program = [sys.executable, "-I", "-S", str(tmp_path / "talkative.py")]
    mine = {"agent": {"command": program}, "label": "mine", "limits": {"memory_mb": 120, "seconds": 5}}
    record = played({"game": "tic-tac-toe", "agents": [mine, "random"], "rounds": 1})[0]
    assert (record.termination, record.seat, record.message) == ("memory", 0, "used more than its limit of 120 MiB")


def test_a_solver_in_a_process_that_runs_out_of_its_budget_is_recorded_alike() -> None:
    """By nodes, with nothing reported; a solver that returns None has given up."""
    game = {"name": "sliding-tiles", "rows": 4, "columns": 4, "shuffle": 200}
    spec = {"game": game, "agents": [{"agent": "bfs", "limits": {"nodes": 50}}], "rounds": 1}
    [here], [apart] = (arena.run({**spec, "isolation": place}).records for place in ("none", "process"))
    assert (here.termination, here.seat, here.fallbacks) == ("out-of-budget", 0, 0)
    assert (apart.termination, apart.seat, apart.fallbacks) == ("out-of-budget", 0, 0)
    hopeless = {"game": {"name": "n-queens", "n": 3}, "agents": ["dfs"], "isolation": "process"}
    assert {record.termination for record in arena.run(hopeless).records} == {"gave-up"}
