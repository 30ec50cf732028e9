"""Engines that break their protocol in every way: each fault is reported as a fault of the engine, and no process is left
behind.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_bridges.engines import engine_process
from arena_bridges.engines.engine_process import EngineFault, EngineProcess, Inbox
from tests.eventually import eventually

EMPTY = ".../.../..."
NOUGHTS = str(Path(__file__).with_name("noughts.py"))
MakeEngine = Callable[..., Path]


def is_running(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


STARTS = [
    ("uci", "unready", 0.5, "engine: expected readyok, as defined by UCI, got no answer in time"),
    ("uci", "flood", 0.5, "engine: expected uciok, as defined by UCI, "),
    ("uci", "flood", 60.0, "engine: expected uciok, as defined by UCI, within 1,048,576 bytes, got 'info string Aa'"),
    (
        "uci",
        "options",
        60.0,
        "engine: expected uciok, as defined by UCI, within 1,048,576 bytes, got 'option name Aa type check'",
    ),
    ("uci", "endless", 60.0, f"engine: expected lines of at most 65,536 bytes, got '{'a' * 196}..."),
    ("gtp", "endless", 60.0, f"engine: expected lines of at most 65,536 bytes, got '{'a' * 196}..."),
    ("gtp", "unready", 0.5, "engine: expected an answer to 'protocol_version' that begins with = or ?, got no answer in time"),
    (
        "gtp",
        "blank",
        60.0,
        "engine: expected an answer to 'protocol_version' that begins with = or ?, within 1,048,576 bytes, got",
    ),
    ("gtp", "lines", 60.0, "engine: expected a blank line after an answer, within 1,048,576 bytes, got '= 2'"),
]


@pytest.mark.parametrize(("protocol", "fault", "seconds", "message"), STARTS)
def test_an_endless_first_answer_is_a_fault_of_the_engine(
    engine: MakeEngine, talk: Any, protocol: str, fault: str, seconds: float, message: str
) -> None:
    """The message quotes the engine. The next match has a new process."""
    adapter = talk(protocol, engine(protocol, fault))
    answer = adapter.start(seconds=seconds)
    assert (answer["type"], answer["message"][: len(message)]) == ("failed", message)
    assert len(answer["message"]) < 500
    engine(protocol)
    assert adapter.start()["type"] == "ready"


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_an_endless_line_in_a_search_is_a_fault_of_the_engine(engine: MakeEngine, talk: Any, protocol: str) -> None:
    """No time limit would end it. The next match has a new process."""
    adapter = talk(protocol, engine(protocol, "line"))
    adapter.start()
    answer = adapter.ask(type="choose", position=EMPTY, played=[])
    message = f"engine: expected lines of at most 65,536 bytes, got '{'a' * 196}..."
    assert answer == {"type": "failed", "message": message}
    engine(protocol)
    assert adapter.start()["type"] == "ready"


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_a_child_that_an_engine_has_left_is_ended_although_it_holds_the_output(
    engine: MakeEngine, talk: Any, tmp_path: Path, protocol: str
) -> None:
    """The engine ends with code 3, but its output stays open. No limit of seconds ends the wait."""
    adapter = talk(protocol, engine(protocol, "child"))
    adapter.start()
    answer = adapter.ask(type="choose", position=EMPTY, played=[])
    assert answer["type"] == "failed"
    assert answer["message"].startswith("engine ended with code 3 when ")
    child = int((tmp_path / "heard.child").read_text())
    eventually(lambda: not is_running(child))


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_an_engine_that_ignores_quit_is_killed_with_its_child(
    engine: MakeEngine, talk: Any, tmp_path: Path, protocol: str
) -> None:
    """The engine plays a move first, and then reads nothing more."""
    adapter = talk(protocol, engine(protocol, "stubborn"))
    adapter.start()
    adapter.ask(type="choose", position=EMPTY, played=[])
    child = int((tmp_path / "heard.child").read_text())
    [parent] = [psutil.Process(child).ppid()]
    assert is_running(child)
    adapter.end()
    eventually(lambda: not is_running(child) and not is_running(parent))


def test_an_engine_that_reads_nothing_cannot_block_its_adapter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pipe holds 64 KiB. A longer position would block the writer forever."""
    monkeypatch.setattr(engine_process, "SEND_SECONDS", 0.2)
    with (tmp_path / "empty").open("wb"):
        pass
    one = EngineProcess(["/bin/sleep", "1000"], Inbox((tmp_path / "empty").open("rb")))
    with pytest.raises(EngineFault, match=r"^sleep has not read the line 'position a"):
        one.send(f"position {'a' * 200_000}", engine_process.SEND_SECONDS)
    one.end()
    assert one.has_ended()


def test_lines_after_the_best_move_are_not_read_as_the_next_one(engine: MakeEngine, talk: Any) -> None:
    adapter = talk("uci", engine("uci", "twice"))
    adapter.start()
    first = adapter.ask(type="choose", position=EMPTY, played=[])
    second = adapter.ask(type="choose", played=["7", "9"])
    # A1 is cell 7, and then B1 is the next free one, since C1 is taken.
    assert (first["action"], second["action"]) == ("7", "8")
    assert (second["nodes"], second["depth"], second["exact"]) == (77, 2, False)


def test_the_move_is_found_after_a_hundred_thousand_reports(engine: MakeEngine, talk: Any) -> None:
    adapter = talk("uci", engine("uci", "rows"))
    adapter.start()
    assert adapter.ask(type="choose", position=EMPTY, played=[])["action"] == "7"


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_bytes_that_are_not_text_are_quoted(engine: MakeEngine, talk: Any, protocol: str) -> None:
    """The line is not UTF-8, or the move has control codes and 30,000 letters."""
    adapter = talk(protocol, engine(protocol, "bytes"))
    adapter.start()
    answer = adapter.ask(type="choose", position=EMPTY, played=[])
    if protocol == "uci":
        assert answer["type"] == "action"
        assert answer["illegal"].startswith("'\\x00\\x1b[2j\xe9\xe9")
    else:
        assert answer["type"] == "failed"
        assert answer["message"].endswith("got '\ufffd\ufffd\\x00'")
    assert len(answer.get("illegal", "")) < 600


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_a_run_leaves_no_process_of_an_engine(engine: MakeEngine, tmp_path: Path, isolation: str) -> None:
    """The engine ignores quit, and its child left the session."""
    command = [str(engine("uci", "child"))] if isolation == "process" else ["/bin/sh", "-c", "sleep 4321 & exit 3"]
    entry = {"agent": {"command": command, "protocol": "uci"}, "limits": {"nodes": 5}, "isolation": isolation}
    spec = load_spec({"game": "noughts", "plugins": [NOUGHTS], "rounds": 1, "seed": 0, "agents": [entry, "random"]})
    with closing(MatchRunner(spec)) as stage:
        records = [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]
    assert {(record.termination, "ended with code 3" in (record.message or "")) for record in records} == {("exception", True)}
    if isolation == "process":
        child = int((tmp_path / "heard.child").read_text())
        eventually(lambda: not is_running(child))
