"""Agents in separate processes: they play the same, and cannot harm others."""

import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.configured import make_default
from arena.errors import ArenaError
from arena.match.record import Record
from arena.plugins.sources import load_plugins
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.traits import Abilities
from arena.workers.pool import HANG_SECONDS, WorkerPool
from arena_isolation.agent_start import namespaces_work
from arena_isolation.family_clock import ProcessorUse
from tests.eventually import eventually
from tests.extensions.isolation.conftest import played

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("nobody_left_behind")]

HOSTILE = str(Path(__file__).with_name("hostile.py"))
LIMIT = 0.3


def timeless(records: list[Record]) -> list[dict[str, Any]]:
    return [record.timeless() for record in records]


GAMES: list[dict[str, Any]] = [
    {"name": "tic-tac-toe"},
    {"name": "sliding-tiles", "shuffle": 8},
    {"name": "n-queens", "n": 6},
]
"""A game for two, and puzzles for searches along a path and for local searches."""


@cache
def share_agents() -> dict[str, list[str]]:
    """Each agent that comes with arena and can play one of the GAMES, by the first game that it can play."""
    registry = load_plugins(environ=False)
    made = sorted(name for name, agent in registry.agents.items() if make_default(agent) is not None)  # a policy needs a file
    shared: dict[str, list[str]] = {}
    for game in GAMES:
        rules = registry.game(game["name"])(**{key: value for key, value in game.items() if key != "name"})
        known = {name for names in shared.values() for name in names}
        shared[game["name"]] = [
            name for name in made if name not in known and Abilities(registry.agents[name]).find_refusal(rules) is None
        ]
    return shared


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game["name"])
def test_every_agent_plays_the_same_in_its_own_process(game: dict[str, Any]) -> None:
    """For all agents of arena, the records with and without isolation are equal except for times."""
    agents = share_agents()[game["name"]]
    assert agents
    spec: dict[str, Any] = {
        "game": game,
        "agents": agents,
        "rounds": 1,
        "limits": {"nodes": 60, "depth": 3, "moves": 12},
        "seed": 5,
    }
    if game["name"] == "tic-tac-toe":
        spec["agents"] = ["random", *[name for name in agents if name != "random"]]
        spec["format"] = "gauntlet"  # against random, from both seats
    own = [name if name == "random" else {"agent": name, "isolation": "process"} for name in spec["agents"]]
    assert timeless(played({**spec, "agents": own})) == timeless(played(spec))


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


AMPLE = 120.0
"""A generous limit in seconds for agents that are not tested for their time, because a machine may be busy."""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_agent_loses_its_matches(name: str) -> None:
    """The match ends by timeout, memory or a crash of this agent, in either seat."""
    endings, message = ATTACKS[name]
    limits = {"seconds": LIMIT if "timeout" in endings else AMPLE, "memory_mb": 300}
    hostile = {"agent": name, "limits": limits, "isolation": "process"}
    records = played({"game": "tic-tac-toe", "rounds": 1, "seed": 3, "plugins": [HOSTILE], "agents": [hostile, "greedy"]})
    assert len(records) == 2
    for record in records:
        assert record.termination in endings, record.message
        assert record.seat == record.labels.index(name)
        assert record.returns[record.seat] == -1.0
        assert message in str(record.message)
        if record.termination == "timeout":
            assert record.timing is not None
            assert record.timing["overrun"] > 0


@pytest.mark.usefixtures("long_margin")
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_search_ended_by_a_time_limit_plays_its_last_report(isolation: str) -> None:
    """The agent searches endlessly with methods of the game, is stopped at its limit, and plays its last report."""
    agents = [{"agent": "mcts", "isolation": isolation}, "random"]
    records = played({"game": "connect-four", "agents": agents, "rounds": 1, "limits": {"seconds": 0.02, "moves": 6}})
    own = [decision for record in records for decision in record.decisions if record.labels[decision.seat] == "mcts"]
    seconds = [decision.seconds for decision in own]
    assert {record.termination for record in records} == {"move-limit"}
    assert len(seconds) == 6
    assert sum(second >= 0.02 for second in seconds) >= 4, "a win that is proven ends a search before its limit"


def test_a_process_is_reused_for_several_matches(tmp_path: Path) -> None:
    """Two processes play six matches, with a new agent in each match."""
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
    records = played({"game": "tic-tac-toe", "agents": agents, "rounds": 3, "isolation": "process", "plugins": [str(plugin)]})
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len({process for process, _ in lines}) == 1 + 1
    assert max(int(asked) for _, asked in lines) == 4  # x wins with its fourth cell: 1, 3, 5, 7
    assert len(records) == 6


def test_a_plugin_is_found_from_the_folder_where_arena_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the agent runs in the folder of the spec. One plugin is named in the call, the other in the environment."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(
            "from arena import Agent, hookimpl\n"
            "class First(Agent):\n"
            '    """Plays the first action."""\n'
            f'    name = "{name}"\n'
            "    def choose(self, game, state, search): return game.actions(state)[0]\n"
            "@hookimpl\ndef arena_agents(): return [First]\n"
        )
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "spec.yaml").write_text("{game: tic-tac-toe, agents: [first, second], rounds: 1, isolation: process}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_PLUGINS", "second.py")
    spec = load_spec("specs/spec.yaml", plugins=["first.py"])
    with closing(MatchRunner(spec)) as stage:
        records = [stage.play(scheduled) for scheduled in Schedule(spec).take(2)]
    assert [(record.termination, record.message) for record in records] == [("normal", None)] * 2


def read_until(capfd: pytest.CaptureFixture[str], is_whole: Callable[[str], bool]) -> tuple[str, str]:
    """Return what was printed, as soon as stderr is whole. A thread passes on the prints of agents, and may be late."""
    out = err = ""

    def read() -> bool:
        nonlocal out, err
        more = capfd.readouterr()
        out, err = out + more.out, err + more.err
        return is_whole(err)

    eventually(read, lambda: err[-1000:])
    return out, err


def test_output_of_an_agent_is_passed_on_up_to_a_limit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of twenty megabytes in a match, only 64 KiB are passed on, and a line says so. The match continues normally."""
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
    flood = {"agent": "flood", "isolation": "process"}
    spec = {"game": "tic-tac-toe", "agents": [flood, "random"], "rounds": 1, "plugins": [str(plugin)]}
    assert {record.termination for record in played(spec)} == {"normal"}
    remark = "an agent printed more than 65,536 bytes in a match"
    _, said = read_until(capfd, lambda err: err.count(remark) >= 2)
    assert said.count("x") <= 2 * 65536
    assert said.count(remark) == 2


def test_an_agent_cannot_stop_the_run_by_stopping_its_parent(tmp_path: Path) -> None:
    """Its parent is the first process of its namespace, which it cannot signal. The worker continues and plays all matches."""
    (tmp_path / "parricide.py").write_text(
        "import os, signal\nfrom arena import Agent, hookimpl\n"
        "class Parricide(Agent):\n"
        '    """Strikes."""\n'
        "    name = 'parricide'\n"
        "    def choose(self, game, state, search):\n"
        "        os.kill(os.getppid(), signal.SIGSTOP)\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Parricide]\n"
    )
    plugin = str(tmp_path / "parricide.py")
    values = {"game": "tic-tac-toe", "rounds": 1, "agents": ["greedy", "parricide"], "plugins": [plugin]}
    spec = load_spec({**values, "limits": {"seconds": AMPLE}})
    hang = HANG_SECONDS if namespaces_work() else 1.0
    assert not Fingerprint.is_trusted(spec)  # so a run has workers, and plays nothing in its own process
    with closing(WorkerPool(spec, 1, Schedule(spec).take, hang=hang).play()) as finished:  # type: ignore[type-var]
        records = [record for _, record in finished]
    expected = {"normal"} if namespaces_work() else {"normal", "void"}
    assert {record.termination for record in records} == expected


def test_output_of_an_agent_goes_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Output of Python or C code in an isolated agent does not disturb the protocol."""
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
    loud = {"agent": "loud", "isolation": "process"}
    spec = {"game": "tic-tac-toe", "agents": [loud, "random"], "rounds": 1, "plugins": [str(plugin)]}
    assert {record.termination for record in played(spec)} == {"normal"}
    out, _ = read_until(capfd, lambda err: all(words in err for words in ("by write", "by echo")))
    assert out == ""


def test_a_process_that_cannot_be_started_is_not_a_fault_of_the_agent() -> None:
    """A deleted folder is reported as an error of arena."""
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


def test_hostile_agents_do_not_affect_other_matches_of_their_tournament() -> None:
    """With two workers, the hostile agents lose to the honest ones, which play each other as if they were alone."""
    import arena

    hostile = ["swallows", "fork-bomb", "memory"]
    honest: list[Any] = ["greedy", {"agent": "minimax", "depth": 2}]
    spec: dict[str, Any] = {
        "game": "tic-tac-toe",
        "rounds": 1,
        "limits": {"seconds": AMPLE, "memory_mb": 300},
        "plugins": [HOSTILE],
    }
    short = [{"agent": name, "limits": {"seconds": 0.1}} for name in hostile]
    records = arena.run({**spec, "agents": [*short, *honest]}, workers=2).records
    assert len(records) == 5 * 4
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
        time.sleep(600)
answers = {"hello": '{"type":"hello","protocol":2,"can":["choose"]}', "start": '{"type":"ready"}'}
for line in sys.stdin:
    kind = json.loads(line)["type"]
    while kind == "choose":
        print('{"type":"report","action":"1"}')
    print(answers[kind], flush=True)
"""


def test_limits_apply_to_a_program_that_reports_without_a_pause(tmp_path: Path) -> None:
    """Its children use 160 MiB where 120 MiB are allowed, which is noticed between the reports."""
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    program = [sys.executable, "-I", "-S", str(tmp_path / "talkative.py")]
    mine = {"agent": {"command": program}, "label": "mine", "limits": {"memory_mb": 120, "seconds": AMPLE}}
    record = played({"game": "tic-tac-toe", "agents": [mine, "random"], "rounds": 1})[0]
    assert (record.termination, record.seat, record.message) == ("memory", 0, "used more than its limit of 120 MiB")


def test_a_solver_out_of_budget_has_the_same_record_in_its_own_process() -> None:
    """The budget is a number of nodes, and nothing was reported. A solver that returns None has given up."""
    game = {"name": "sliding-tiles", "rows": 4, "columns": 4, "shuffle": 200}
    spec = {"game": game, "agents": [{"agent": "bfs", "limits": {"nodes": 50}}], "rounds": 1}
    [here], [apart] = (arena.run({**spec, "isolation": place}).records for place in ("none", "process"))
    assert (here.termination, here.seat, here.fallbacks) == ("out-of-budget", 0, 0)
    assert (apart.termination, apart.seat, apart.fallbacks) == ("out-of-budget", 0, 0)
    versus = {"game": "tic-tac-toe", "agents": [{"agent": "lookahead", "limits": {"nodes": 3}}, "random"], "rounds": 1}
    for one, other in zip(*(arena.run({**versus, "isolation": place}).records for place in ("none", "process")), strict=True):
        assert [each.fallback for each in one.decisions] == [each.fallback for each in other.decisions]
        assert sum(each.fallback for each in one.decisions) == one.fallbacks == other.fallbacks > 0
    hopeless = {"game": {"name": "n-queens", "n": 3}, "agents": ["dfs"], "isolation": "process"}
    assert {record.termination for record in arena.run(hopeless).records} == {"gave-up"}


@pytest.mark.parametrize(("used", "counted"), [(60.0, True), (59.9, False)])
def test_processor_time_of_several_threads_counts_as_out_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: float, counted: bool
) -> None:
    """The measured CPU time is simulated, because a test cannot keep several cores busy."""
    monkeypatch.setattr(ProcessorUse, "used_now", lambda self: used)
    file = tmp_path / "waits.py"
    file.write_text(
        "import time\nfrom arena import Agent, hookimpl\nclass Waits(Agent):\n    name = 'waits'\n"
        "    def choose(self, game, state, search):\n        time.sleep(0.01)\n        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Waits]\n"
    )
    waits = {"agent": "waits", "limits": {"cpu_seconds": 60}}
    spec = {"game": "connect-four", "rounds": 1, "agents": [waits, "random"], "limits": {"moves": 6}, "plugins": [str(file)]}
    for record in played(spec):
        assert record.termination == "move-limit"
        expected = [3 * (label == "waits") for label in record.labels]
        assert (record.timing or {}).get("out_of_time") == (expected if counted else None)
