"""Messages that are small to send and large to keep are refused before they are parsed."""

import json
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from arena import run
from arena.match.record import Record
from arena_isolation import protocol
from arena_isolation.protocol import Broken

BOMBS = {
    "deep": b'{"type":"action","action":' + b"[" * 900 + b"]" * 900 + b"}",
    "far too deep": b'{"type":"action","action":' + b"[" * 5_000_000,
    "wide": b'{"type":"action","action":[' + b"[]," * 5_000_000 + b"[]]}",
    "objects": b'{"type":"action","action":[' + b"{}," * 20_000 + b"{}]}",
    "numbers": b'{"type":"action","action":[' + b"1.5," * 3_000_000 + b"1]}",
    "infinite": b'{"type":"action","action":"1","value":1e999}',
    "negative": b'{"type":"action","action":"1","value":-1e999}',
    "no end": b'{"type":"action","action":' + b"[" * 33 + b'"' + b'\\"' * 200_000,
    "no end, twice": b'{"type":"action","action":' + b"[" * 33 + b'"' + b'\\"' * 200_000 + b"\\",
    "lines": b'{"type":"action","action":' + b"[" * 33 + b'"\\\n' * 200_000,
    "digits": b'{"type":"action","action":"1","nodes":' + b"9" * 100_000 + b"}",
}


@pytest.mark.unit
@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.parametrize("name", BOMBS)
def test_an_oversized_message_is_refused_without_being_parsed(name: str) -> None:
    text = BOMBS[name]
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(Broken):
            protocol.parse(text)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(text) + (1 << 20)
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 30, "linear in its size, however slow the machine"


@pytest.mark.unit
@pytest.mark.parametrize(
    "message",
    [
        {"type": "action", "action": "[[[[" * 1000 + '"' + "]", "value": 1e308, "nodes": 10**15},
        {"type": "path", "actions": [f"[{number}]" for number in range(20_000)]},
        {"type": "description", "agents": [{"options": {str(one): {"enum": [1, [2]]} for one in range(500)}}]},
        {"type": "path", "actions": ["a"] * 50_000},
        {"type": "other", "is": "x" * (15 << 20)},
    ],
    ids=["brackets in a text", "a long path", "many options", "a path of short actions", "a long text"],
)
def test_honest_messages_are_accepted(message: dict[str, object]) -> None:
    text = json.dumps(message).encode()
    tracemalloc.start()
    try:
        assert protocol.parse(text) == message
        assert tracemalloc.get_traced_memory()[1] < 4 * len(text) + 60 * text.count(b",") + (1 << 20)
    finally:
        tracemalloc.stop()


@pytest.mark.unit
def test_a_path_may_have_almost_a_million_actions() -> None:
    message = {"type": "path", "actions": ["a"] * 900_000}
    assert protocol.parse(json.dumps(message).encode()) == message


PUZZLE = """
from arena import Puzzle, hookimpl

class Cells(Puzzle):

    name = "cells"
    path_matters = False

    def initial(self, rng): return (0, 0, 0)
    def actions(self, state): return [place for place, cell in enumerate(state) if not cell]
    def result(self, state, action): return state[:action] + (1,) + state[action + 1 :]
    def is_goal(self, state): return all(state)
    def is_answer(self, start, state): return state == (1, 1, 1)

@hookimpl
def arena_games():
    return [Cells]
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    kind = json.loads(line)["type"]
    hello, ready = {"type": "hello", "protocol": 2, "can": [CAN]}, {"type": "ready"}
    print(json.dumps({"hello": hello, "start": ready}.get(kind, ANSWER)), flush=True)
"""
ENDLESS = "\ud800\x1b]0;owned\x07" + "i" * 5_000_000
LONG: dict[str, tuple[str, dict[str, object]]] = {
    "an illegal action": ("choose", {"type": "action", "action": "1", "illegal": ENDLESS}),
    "an illegal step of a path": ("solve", {"type": "path", "actions": [], "illegal": ENDLESS}),
    "an illegal state": ("solve", {"type": "answer", "illegal": ENDLESS}),
    "illegal steps": ("solve", {"type": "answer", "state": "(1, 1, 1)", "illegal_steps": ENDLESS}),
    "no solution": ("solve", {"type": "other", "is": ENDLESS}),
    "a failure": ("solve", {"type": "failed", "kind": ENDLESS, "message": ENDLESS, "traceback": ENDLESS}),
    "a state with escapes": ("solve", {"type": "answer", "state": "['" + "\\d" * 100_000}),
}


def first(folder: Path, can: str, answer: dict[str, object]) -> Record:
    """The record of a program that gives one answer, in a puzzle whose states have the default notation."""
    (folder / "cells.py").write_text(PUZZLE)
    (folder / "program.py").write_text(PROGRAM.replace("CAN", repr(can)).replace("ANSWER", repr(answer)))
    entry = {"agent": {"command": [sys.executable, "-I", "-S", str(folder / "program.py")]}}
    return run({"game": "cells", "plugins": [str(folder / "cells.py")], "agents": [entry], "rounds": 1}).records[0]


@pytest.mark.process
@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
@pytest.mark.parametrize("name", LONG)
def test_long_texts_are_truncated_in_records(name: str, tmp_path: Path) -> None:
    """This applies to every text from a program. A long text neither fills the store nor controls the terminal."""
    record = first(tmp_path, *LONG[name])
    assert record.termination in ("illegal-action", "exception")
    kept = f"{record.message}{record.traceback}"
    assert len(kept) < 3 * 8192
    assert not any(letter in kept for letter in "\ud800\x1b\x07")


@pytest.mark.process
@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
@pytest.mark.parametrize(
    ("state", "ending"), [("[" + "1," * 2_000_000 + "]", "crash"), ("[" + "1if 1 else 1," * 10_000 + "]", "illegal-action")]
)
def test_parsing_a_state_does_not_use_much_time_or_memory(
    state: str, ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Python would build a tree of 2,000,000 numbers, or print 10,000 warnings. The honest answer counts."""
    assert first(tmp_path, "solve", {"type": "answer", "state": state}).termination == ending
    assert capfd.readouterr().err.count("Warning") == 0
    assert first(tmp_path, "solve", {"type": "answer", "state": "(1, 1, 1)"}).returns == (1.0,)
