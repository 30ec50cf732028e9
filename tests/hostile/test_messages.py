"""Messages that are small to send and large to keep are refused before they are parsed."""

import json
import time
import tracemalloc

import pytest

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
def test_a_bomb_is_refused_without_being_read(name: str) -> None:
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
def test_honest_messages_are_read(message: dict[str, object]) -> None:
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
