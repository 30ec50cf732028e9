"""Programs that never answer, or that report endlessly, lose their matches and do not hold up a run."""

import sys
from pathlib import Path

import pytest

from arena import run
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
