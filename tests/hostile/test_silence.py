"""Programs that never answer, or that report endlessly, lose their matches and do not hold up a run."""

import sys
from itertools import chain, repeat
from pathlib import Path

import pytest

from arena import run
from arena_isolation import agent_process, agent_start
from arena_isolation.agent_process import HELLO_SECONDS, AgentProcess

MUTE = """
import sys, time
open("started.txt", "a").write("once\\n")
time.sleep(60)
"""


@pytest.mark.promise(hole="hello", isolation=("process", "sandbox"))
def test_arena_waits_for_a_silent_program_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert HELLO_SECONDS <= 15
    monkeypatch.setattr(AgentProcess, "hello_seconds", 1.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mute.py").write_text(MUTE)
    mute = {"agent": {"command": [sys.executable, "-IS", str(tmp_path / "mute.py")]}, "label": "mute"}
    records = run({"game": "tic-tac-toe", "rounds": 2, "agents": [mute, "random", "greedy"], "isolation": "process"}).records
    lost = [record for record in records if "mute" in record.labels]
    assert (len(records), len(lost)) == (12, 8)
    assert {(record.termination, record.labels[record.seat or 0]) for record in lost} == {("timeout", "mute")}
    told = "its hello took longer than its limit of 1 s"
    messages = [record.message for record in lost]
    assert messages == [told] + [f"{told} in an earlier match; the program was not started again"] * 7
    assert {record.termination for record in records if record not in lost} == {"normal"}
    assert (tmp_path / "started.txt").read_text() == "once\n"


@pytest.mark.promise(hole="busy", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize("silent", [1, 2])
def test_no_agent_loses_because_the_host_of_arena_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, isolation: str, silent: int
) -> None:
    """The first process never answers, or the first two. Then arena starts another one, or the first match is void."""
    start, slow = agent_start._command, chain(repeat(True, silent), repeat(False))

    def command(*args: object) -> object:
        return [sys.executable, "-c", "import time; time.sleep(600)"] if next(slow) else start(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(agent_start, "_command", command)
    monkeypatch.setattr(AgentProcess, "hello_seconds", 0.5)
    monkeypatch.setattr(agent_process, "SECOND_HELLO_FACTOR", 2.0 if silent == 2 else 200.0)
    begun = []

    def start_agent(*args: object) -> object:
        begun.append(1)
        if len(begun) > silent:  # however busy the machine is
            monkeypatch.setattr(AgentProcess, "hello_seconds", 100.0)
        return agent_start.start_agent(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(agent_process, "start_agent", start_agent)
    greedy = {"agent": "greedy", "isolation": isolation}
    records = run({"game": "tic-tac-toe", "rounds": 2, "agents": [greedy, {"agent": "random", "isolation": "none"}]}).records
    void = [record for record in records if record.termination == "void"]
    assert {record.termination for record in records if record not in void} == {"normal"}
    assert (len(records), len(void)) == (4, silent - 1)
    assert len(begun) == silent + 1
    for record in void:
        told = "arena's own process for greedy has failed to start twice: its hello took longer than its limit of 1 s"
        assert told in str(record.message)


FLOOD = """
import json, sys, time

def send(**message):
    print(json.dumps(message), flush=True)

for message in map(json.loads, sys.stdin):
    if message["type"] == "hello":
        send(type="hello", protocol=2, can=["choose"])
    elif message["type"] == "start":
        send(type="ready")
    elif message["type"] == "choose":
        while True:
            send(type="report", action="1")
            time.sleep(float(sys.argv[1]))
"""


@pytest.mark.promise(hole="hello", isolation=("process", "sandbox"))
@pytest.mark.parametrize("pause", [0, 0.05])
def test_endless_reports_do_not_extend_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float) -> None:
    """The pause for an answer that may be on its way is granted once in a decision. If each report granted it again, the run
    would never end.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flood.py").write_text(FLOOD)
    flood = {"agent": {"command": [sys.executable, "-IS", str(tmp_path / "flood.py"), str(pause)]}, "label": "flood"}
    spec = {"game": "tic-tac-toe", "rounds": 1, "agents": [flood, "random"], "isolation": "process", "limits": {"seconds": 0.2}}
    records = run(spec).records
    assert {(record.termination, record.labels[record.seat or 0]) for record in records} == {("timeout", "flood")}
    assert {record.message for record in records} == {"a decision took longer than its limit of 0.2 s"}
