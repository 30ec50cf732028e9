"""The time before the first decision is limited, and the position comes after it."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.match.record import Record
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.workers.pool import WorkerPool

POSITION = "xo./.x./..o"
PLUGIN = """
import gc, os, signal, sys, threading, time
from arena import Agent, Puzzle, hookimpl

class Sleeper(Agent):
    name = "sleeper"
    def __init__(self, seconds: float = 0.0):
        if "agent_host" in str(getattr(sys.modules["__main__"], "__file__", "")):  # and not where the spec is read
            time.sleep(seconds)
    def choose(self, game, state, search):
        return game.actions(state)[0]

class Spinner(Agent):
    name = "spinner"
    def __init__(self):
        if "agent_host" in str(getattr(sys.modules["__main__"], "__file__", "")):  # and not where the spec is read
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while True:  # its children keep its processor busy
                if os.fork() == 0:
                    for _ in range(100_000): pass
                    os._exit(0)
    def choose(self, game, state, search):
        return game.actions(state)[0]

class Seer(Agent):
    '''Looks for the position in all that the process holds, from before it is made until it is asked.'''
    name = "seer"
    def __init__(self):
        self.seen, self.asked = [], False
        if "agent_host" in str(getattr(sys.modules["__main__"], "__file__", "")):  # and not where the spec is read
            threading.Thread(target=self._watch, daemon=True).start()
            time.sleep(0.6)
    def _watch(self):
        texts = ("xo./.x./" + "..o", [0x2, 0x1])
        while not self.asked:
            for found in gc.get_objects():
                if isinstance(found, dict) and any(one == texts[0] for one in list(dict.values(found)) if isinstance(one, str)):
                    self.seen.append(time.perf_counter())
                    return
    def choose(self, game, state, search):
        self.asked = True
        search.report(game.actions(state)[0], value=time.perf_counter() - self.seen[0] if self.seen else None)
        return game.actions(state)[0]

class Slow(Puzzle):
    '''Done at once; to read a state takes as many seconds of the processor as it says.'''
    name = "slow"
    path_matters = False
    def initial(self, rng): return 0
    def actions(self, state): return [1]
    def result(self, state, action): return state + action
    def is_goal(self, state): return state > 0
    def is_answer(self, start, state): return state > 0
    def format_state(self, state): return str(state)
    def parse_state(self, text):
        until = time.thread_time() + 0.4 * int(text)
        while time.thread_time() < until:
            pass
        return int(text)

@hookimpl
def arena_agents(): return [Sleeper, Spinner, Seer]

@hookimpl
def arena_games(): return [Slow]
"""
PROGRAM = """
import json, sys, time
sleep, answer = float(sys.argv[1]), sys.argv[2]
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        said = {"type": "hello", "protocol": 2, "can": ["choose", "solve"]}
    elif message["type"] == "start":
        assert "position" not in message, message
        time.sleep(sleep)
        said = {"type": "ready"}
    elif message["type"] in ("choose", "solve"):
        assert ("position" in message) is first, message
        said = eval(answer)
    else:
        continue
    first = message["type"] == "start"
    print(json.dumps(said), flush=True)
"""
FREE = """{"type": "action", "action": "7"}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def first(folder: Path, entry: dict[str, Any], **more: Any) -> Record:
    """The first match of an entry, from one move before the end."""
    spec = {"game": "tic-tac-toe", "positions": [POSITION], "agents": [entry, "random"], "plugins": [str(folder / "mine.py")]}
    return next(record for record in run({**spec, **more}).records if record.labels[0] != "random")


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="start", isolation=("process", "sandbox"))
def test_the_time_before_the_first_decision_is_limited(isolation: str, folder: Path) -> None:
    for seconds, ending in ((60, "timeout"), (0.3, "normal")):
        limits = {"start_seconds": 1.5 if seconds > 1 else 30}
        record = first(folder, {"agent": "sleeper", "seconds": seconds, "limits": limits, "isolation": isolation})
        assert (record.termination, record.seat) == (ending, 0 if seconds > 1 else None), record.message
        assert record.timing is not None
        took, other = record.timing["start"]
        assert min(seconds, 1.5) <= took < 30
        assert other is None
        if seconds > 1:
            assert record.message == "its start took longer than its limit of 1.5 s"


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="start", isolation=("process", "sandbox"))
def test_an_agent_that_keeps_its_processor_busy_cannot_start_for_ever(isolation: str, folder: Path) -> None:
    """On a busy machine, it may take ten times its limit, but not more."""
    record = first(folder, {"agent": "spinner", "limits": {"start_seconds": 1}, "isolation": isolation})
    assert (record.termination, record.seat) in (("timeout", 0), ("crash", 0)), record.message  # or too many processes


@pytest.mark.promise(hole="start", isolation="process")
def test_a_pool_can_shorten_the_time_to_start_without_changing_ids(folder: Path) -> None:
    """A ladder does this for a submission that has started faster before."""
    for shortened, limit in ((1.5, 30), (30, 1.5)):
        sleeper = {"agent": "sleeper", "seconds": 60, "label": "it", "limits": {"start_seconds": limit}, "isolation": "process"}
        plugins = [str(folder / "mine.py")]
        spec = load_spec({"game": "tic-tac-toe", "positions": [POSITION], "agents": [sleeper, "random"], "plugins": plugins})
        schedule = Schedule(spec)
        pool = WorkerPool(spec, 1, schedule.take, start_seconds=partial(dict, it=shortened, random=0.001))
        for scheduled, record in pool.play():
            schedule.tell(scheduled, record.returns)
            assert record.message == "its start took longer than its limit of 1.5 s"
            assert record.id == scheduled.match_id(spec)


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="start", isolation=("process", "sandbox"))
def test_the_position_is_hidden_until_the_clock_runs(isolation: str, folder: Path) -> None:
    """From the start of the agent, a thread searches all dictionaries of the process for it."""
    record = first(folder, {"agent": "seer", "isolation": isolation})
    assert (record.termination, record.message) == ("normal", None)
    decision = record.decisions[0]
    assert decision.seat == 0
    assert (decision.value or 0) < decision.seconds + 0.3, "the agent sleeps for 0.6 s before it is ready"


def program(folder: Path, *words: object, seconds: float | None = None) -> dict[str, Any]:
    command = [sys.executable, "-I", "-S", str(folder / "program.py"), *map(str, words)]
    return {"agent": {"command": command}, "label": "program", "limits": {"seconds": seconds}}


@pytest.mark.promise(hole="start", isolation="process")
def test_the_clock_starts_with_the_request_choose(folder: Path) -> None:
    """It does not start with the request `start`."""
    record = first(folder, program(folder, 0.6, FREE, seconds=0.4))
    assert record.termination in ("normal", "illegal-action")  # its second action is the first again
    assert record.timing is not None
    assert record.timing["start"][0] >= 0.6
    assert record.decisions[0].seconds < 0.6


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"type": "action", "action": "7" * 4097}', "action: expected at most 4,096 characters, got 4,097"),
        ('{"type": "path", "actions": ["1" * 4096] * 1025}', "and 4,194,304 in all, got 4,096 and 4,198,400"),
        ('{"type": "path", "actions": ["1" * 5000]}', "got 5,000 and 5,000"),
        ('{"type": "answer", "state": "1" * (16 << 20)}', "sent a line that is too long"),
    ],
)  # fmt: skip
@pytest.mark.promise(hole="start", isolation="process")
def test_the_length_of_texts_is_limited(answer: str, told: str, folder: Path) -> None:
    """This applies to actions, paths and answers."""
    entry = program(folder, 0, answer)
    puzzle = {"game": "sliding-tiles", "positions": ["1 2 3 / 4 5 6 / 7 . 8"], "agents": [entry]}
    record = first(folder, entry) if '"action":' in answer else run(puzzle).records[0]
    assert record.termination == "crash"
    assert told in str(record.message)


@pytest.mark.parametrize(("state", "seconds", "ending"), [(2, 0.4, "timeout"), (2, None, "normal")])
@pytest.mark.promise(hole="start", isolation="process")
def test_parsing_an_answer_counts_as_the_agents_time(state: int, seconds: float | None, ending: str, folder: Path) -> None:
    """Parsing one state takes 0.8 s."""
    entry = program(folder, 0, f'{{"type": "answer", "state": "{state}"}}', seconds=seconds)
    record = run({"game": "slow", "rounds": 1, "agents": [entry], "plugins": [str(folder / "mine.py")]}).records[0]
    assert (record.termination, record.solved) == (ending, ending == "normal"), record.message
    if ending == "timeout":
        assert record.message == "a decision took longer than its limit of 0.4 s, including the time to read its answer"
        assert record.timing is not None
        assert record.timing["overrun"] > 0.3
