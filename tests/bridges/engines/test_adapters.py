"""Adapters: what an engine is told word for word, what is told of it, and who is to blame."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EMPTY = ".../.../..."
MakeEngine = Callable[..., Path]


def test_an_engine_is_told_the_whole_match_in_uci(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The words are those of UCI's own description; the second match of a process is greeted no more."""
    told = talk("uci", engine("uci"))
    hello = told.ask(type="hello", protocol=2)
    assert (hello["type"], hello["protocol"], hello["can"]) == ("hello", 2, ["choose"])
    limits = {"nodes": 100, "seconds": 0.5, "depth": 7}
    options = {"Hash": 32, "deep thought": True, "Clear Hash": None}
    assert told.start(limits=limits, depth=4, options=options)["type"] == "ready"
    first = told.ask(type="choose", position=EMPTY, played=["5"])
    second = told.ask(type="choose", played=["7", "8"])
    assert told.start(depth=None, options=options)["type"] == "ready"
    third = told.ask(type="choose", position="x../.o./...", played=[])
    # A1 is cell 7, lower left; then B1 is taken by the other side
    assert [one["action"] for one in (first, second, third)] == ["7", "9", "7"]
    told.end()
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


def test_what_an_engine_tells_of_its_search_is_passed_on(engine: MakeEngine, talk: Any) -> None:
    """The last nodes, and depth and value of the last score that is no bound: 100 centipawns are 64 % by Elo, as 100 / 400 is."""
    told = talk("uci", engine("uci"))
    told.start()
    answer = told.ask(type="choose", position=EMPTY, played=[])
    assert (answer["nodes"], answer["depth"]) == (77, 2)
    assert answer["value"] == pytest.approx(2 * 0.640065 - 1, abs=1e-6)  # 1 / (1 + 10 ** -0.25)


def test_an_engine_is_told_the_whole_match_in_gtp(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """The words are those of GTP 2; its own plays are not told again, and a position is played from the empty board."""
    told = talk("gtp", engine("gtp"))
    assert told.start(limits={"seconds": 2.5}, options={"level": 3})["type"] == "ready"
    first = told.ask(type="choose", position=EMPTY, played=["5"])
    second = told.ask(type="choose", played=["7", "8"])
    assert told.start(seat=1)["type"] == "ready"
    third = told.ask(type="choose", position="x../.o./...", played=["9"])
    assert [one["action"] for one in (first, second, third)] == ["7", "9", "7"]
    told.end()
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


def test_an_engine_is_told_to_stop(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """What arena says while the engine searches reaches it, and a stop that comes too late is nobody's."""
    told = talk("uci", engine("uci", "patient"))
    told.start()
    told.tell(type="choose", position=EMPTY, played=[])
    told.tell(type="stop")
    assert told.answer()["action"] == "7"
    told.tell(type="stop")
    assert told.start()["type"] == "ready"
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
def test_a_fault_of_an_engine_is_told_and_the_next_match_has_another(
    engine: MakeEngine, talk: Any, tmp_path: Path, protocol: str, fault: str, message: str
) -> None:
    """The answer is `failed`, which loses the match; then a new process plays."""
    told = talk(protocol, engine(protocol, fault))
    told.start()
    assert told.ask(type="choose", position=EMPTY, played=[]) == {"type": "failed", "message": message}
    engine(protocol)
    assert told.start()["type"] == "ready"
    assert told.ask(type="choose", position=EMPTY, played=[])["action"] == "7"


@pytest.mark.parametrize("protocol", ["uci", "gtp"])
def test_an_illegal_move_is_no_action(engine: MakeEngine, talk: Any, protocol: str) -> None:
    """What the engine wrote is told as it stands, and that it is no cell; the referee judges it illegal."""
    told = talk(protocol, engine(protocol, "illegal"))
    told.start()
    answer = told.ask(type="choose", position=EMPTY, played=[])
    move = "d9" if protocol == "uci" else "D9"
    assert (answer["type"], "action" in answer) == ("action", False)
    assert answer["illegal"].startswith(f"'{move}' of engine (ValueError: expected a free cell, got '{move}'")


STARTS: list[tuple[str, str, dict[str, Any], str]] = [
    ("uci", "uci", {"options": {"Deep Thougt": 1}}, "engine has no option 'Deep Thougt'; did you mean 'Deep Thought'?"),
    ("uci", "uci", {"options": {"Hash": 4096}}, "engine: option Hash: expected a whole number from 1 to 1024, got '4096'"),
    ("uci", "uci", {"options": {"Deep Thought": 3}}, "engine: option Deep Thought: expected true or false, got '3'"),
    ("gtp", "gtp", {"options": {"levle": 3}}, "engine refuses 'levle 3': unknown command"),
    (
        "gtp",
        "uci",
        {"seconds": 0.5},
        "engine: expected an answer to 'protocol_version' that begins with = or ?, got nothing in time",
    ),
    ("uci", "gtp", {"seconds": 0.5}, "engine: expected uciok, as UCI has it, got nothing in time"),
    ("gtp", "gtp", {"game": "tic-tac-toe"}, "tic-tac-toe has no dialect for gtp"),
]


@pytest.mark.parametrize(("protocol", "speaks", "given", "message"), STARTS)
def test_a_start_that_fails_says_why(
    engine: MakeEngine, talk: Any, protocol: str, speaks: str, given: dict[str, Any], message: str
) -> None:
    """Wrong options, an engine of another protocol, and a game without a dialect: before the first move."""
    answer = talk(protocol, engine(speaks)).start(**given)
    assert (answer["type"], answer["message"][: len(message)]) == ("failed", message)


def test_programs_that_are_no_engines(engine: MakeEngine, talk: Any, tmp_path: Path) -> None:
    """A file that is not there, an echo, and an engine of an older protocol."""
    said = talk("uci", tmp_path / "nothing").start()
    assert said == {"type": "failed", "message": "nothing cannot be started: No such file or directory"}
    said = talk("gtp", "/bin/cat").start()
    assert said["message"] == "cat: expected an answer to 'protocol_version' that begins with = or ?, got 'protocol_version'"
    said = talk("uci", "/bin/cat").start(seconds=0.5)
    assert said["message"] == "cat: expected uciok, as UCI has it, got nothing in time; its last output was 'uci'"
    said = talk("gtp", engine("gtp", "old")).start()
    assert said["message"] == "engine: expected version 2 of GTP, got '1'"
