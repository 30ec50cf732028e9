"""Test adapters of engines: the lines that an engine receives, the reports of its search, and faults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EMPTY = ".../.../..."
MakeEngine = Callable[..., Path]


def test_an_adapter_sends_a_match_in_uci(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The lines follow the description of UCI. In the second match of a process, the engine is not initialised again."""
    adapter = talk("uci", engine("uci"))
    hello = adapter.ask(type="hello", protocol=2)
    assert (hello["type"], hello["protocol"], hello["can"]) == ("hello", 2, ["choose"])
    limits = {"nodes": 100, "seconds": 0.5, "depth": 7}
    options = {"Hash": 32, "deep thought": True, "Clear Hash": None}
    assert adapter.start(limits=limits, depth=4, options=options)["type"] == "ready"
    first = adapter.ask(type="choose", position=EMPTY, played=["5"])
    second = adapter.ask(type="choose", played=["7", "8"])
    assert adapter.start(depth=None, options=options)["type"] == "ready"
    third = adapter.ask(type="choose", position="x../.o./...", played=[])
    # A1 is cell 7 at the lower left. Then the other side takes B1.
    assert [one["action"] for one in (first, second, third)] == ["7", "9", "7"]
    adapter.end()
    assert (tmp_path / "heard").read_text().splitlines() == [
        "uci",
        "setoption name UCI_Variant value noughts",
        "setoption name Hash value 32",
        "setoption name Deep Thought value true",
        "setoption name Clear Hash",
        "ucinewgame",
        "isready",
        f"position fen {EMPTY} moves b2",
        "go nodes 100 depth 4 movetime 480",
        f"position fen {EMPTY} moves b2 a1 b1",
        "go nodes 100 depth 4 movetime 480",
        "setoption name UCI_Variant value noughts",
        "ucinewgame",
        "isready",
        "position fen x../.o./...",
        "go nodes 100",
        "quit",
    ]


def test_an_adapter_reports_nodes_depth_and_value(engine: MakeEngine, talk: Any) -> None:
    """The report gives the last number of nodes, and the depth and value of the last exact score. By Elo's formula, 100
    centipawns are 64 %.
    """
    adapter = talk("uci", engine("uci"))
    adapter.start()
    answer = adapter.ask(type="choose", position=EMPTY, played=[])
    assert (answer["nodes"], answer["depth"]) == (77, 2)
    assert answer["value"] == pytest.approx(2 * 0.640065 - 1, abs=1e-6)  # 1 / (1 + 10 ** -0.25)


def test_an_adapter_sends_a_match_in_gtp(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The lines follow GTP 2. The engine's own plays are not sent again, and a position is played from the empty board."""
    adapter = talk("gtp", engine("gtp"))
    assert adapter.start(limits={"seconds": 2.5}, options={"level": 3})["type"] == "ready"
    first = adapter.ask(type="choose", position=EMPTY, played=["5"])
    second = adapter.ask(type="choose", played=["7", "8"])
    assert adapter.start(seat=1)["type"] == "ready"
    third = adapter.ask(type="choose", position="x../.o./...", played=["9"])
    assert [one["action"] for one in (first, second, third)] == ["7", "9", "7"]
    adapter.end()
    assert (tmp_path / "heard").read_text().splitlines() == [
        "protocol_version",
        "level 3",
        "boardsize 3",
        "komi 0.5",
        "clear_board",
        "time_settings 0 2 1",
        "play black B2",
        "genmove white",
        "play black B1",
        "genmove white",
        "boardsize 3",
        "komi 0.5",
        "clear_board",
        "play black A3",
        "play white B2",
        "play black C1",
        "genmove white",
        "quit",
    ]


def test_an_adapter_forwards_stop_to_the_engine(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The request `stop` reaches the engine during its search, and is ignored if it comes too late."""
    adapter = talk("uci", engine("uci", "patient"))
    adapter.start()
    adapter.send(type="choose", position=EMPTY, played=[])
    adapter.send(type="stop")
    assert adapter.answer()["action"] == "7"
    adapter.send(type="stop")
    assert adapter.start()["type"] == "ready"
    assert (tmp_path / "heard").read_text().splitlines()[6:] == [
        "stop",
        "setoption name UCI_Variant value noughts",
        "ucinewgame",
        "isready",
    ]


FAULTS = [
    ("uci", "die", "engine ended with code 3 when bestmove was expected"),
    ("uci", "killed", "engine was killed by signal 9 when bestmove was expected"),
    ("uci", "wordless", "engine: expected a move after bestmove, got 'bestmove'"),
    ("gtp", "die", "engine ended with code 3 when an answer to 'genmove black' that begins with = or ? was expected"),
    ("gtp", "chat", "engine: expected an answer to 'genmove black' that begins with = or ?, got 'let me see'"),
    ("gtp", "resign", "engine resigned, which counts as a loss, because matches are played to their end"),
]


@pytest.mark.parametrize(("protocol", "fault", "message"), FAULTS)
def test_an_engine_with_a_fault_is_replaced_for_the_next_match(
    engine: MakeEngine, talk: Any, tmp_path: Path, protocol: str, fault: str, message: str
) -> None:
    """The answer `failed` loses the match. The next match has a new process."""
    adapter = talk(protocol, engine(protocol, fault))
    adapter.start()
    assert adapter.ask(type="choose", position=EMPTY, played=[]) == {"type": "failed", "message": message}
    engine(protocol)
    assert adapter.start()["type"] == "ready"
    assert adapter.ask(type="choose", position=EMPTY, played=[])["action"] == "7"


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_an_illegal_move_is_reported_as_illegal(engine: MakeEngine, talk: Any, protocol: str) -> None:
    """The answer quotes the move and the reason. The referee judges it as an illegal action."""
    adapter = talk(protocol, engine(protocol, "illegal"))
    adapter.start()
    answer = adapter.ask(type="choose", position=EMPTY, played=[])
    move = "d9" if protocol == "uci" else "D9"
    assert (answer["type"], "action" in answer) == ("action", False)
    assert answer["illegal"].startswith(f"'{move}' of engine (ValueError: expected a free cell, got '{move}'")


STARTS: list[tuple[str, str, dict[str, Any], str]] = [
    ("uci", "uci", {"options": {"Deep Thougt": 1}}, "engine has no option 'Deep Thougt'; did you mean 'Deep Thought'?"),
    ("uci", "uci", {"options": {"Hash": 4096}}, "engine: option Hash: expected a whole number from 1 to 1024, got '4096'"),
    ("uci", "uci", {"options": {"Deep Thought": 3}}, "engine: option Deep Thought: expected true or false, got '3'"),
    ("gtp", "gtp", {"options": {"levle": 3}}, "engine refuses 'levle 3': 'unknown command'"),
    (
        "gtp",
        "uci",
        {"seconds": 0.5},
        "engine: expected an answer to 'protocol_version' that begins with = or ?, got no answer in time",
    ),
    ("uci", "gtp", {"seconds": 0.5}, "engine: expected uciok, as defined by UCI, got no answer in time"),
    ("gtp", "gtp", {"game": "tic-tac-toe"}, "tic-tac-toe has no dialect for gtp"),
]


@pytest.mark.parametrize(("protocol", "speaks", "given", "message"), STARTS)
def test_a_failed_start_gives_the_reason(
    engine: MakeEngine, talk: Any, protocol: str, speaks: str, given: dict[str, Any], message: str
) -> None:
    """The reasons are invalid options, an engine of another protocol, and a game that engines of this protocol do not play."""
    answer = talk(protocol, engine(speaks)).start(**given)
    assert (answer["type"], answer["message"][: len(message)]) == ("failed", message)


def test_programs_other_than_engines_are_refused(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The programs are a missing file, an echo, and an engine of an older protocol."""
    answer = talk("uci", tmp_path / "nothing").start()
    assert answer == {"type": "failed", "message": "nothing cannot be started: No such file or directory"}
    answer = talk("gtp", "/bin/cat").start()
    assert answer["message"] == "cat: expected an answer to 'protocol_version' that begins with = or ?, got 'protocol_version'"
    answer = talk("uci", "/bin/cat").start(seconds=0.5)
    assert answer["message"] == "cat: expected uciok, as defined by UCI, got no answer in time; its last output was 'uci'"
    answer = talk("gtp", engine("gtp", "old")).start()
    assert answer["message"] == "engine: expected version 2 of GTP, got '1'"
