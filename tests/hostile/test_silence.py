"""A program that never says hello is waited for once, and loses all of its matches."""

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
def test_a_silent_program_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
