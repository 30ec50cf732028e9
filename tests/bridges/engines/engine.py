"""An engine for noughts and crosses with UCI or GTP. It takes the first free cell from A1, row by row upwards.

Usage: `engine.py PROTOCOL FAULT LOG`. The engine writes its input to LOG. FAULT is its fault, or "none". Most faults come at the
first move. The faults in GREETINGS come with the greeting.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

CELLS = [f"{letter}{number}" for number in "123" for letter in "ABC"]
SAID = Path(sys.argv[3])
FAULT = sys.argv[2]


def heard() -> Iterator[list[str]]:
    for line in sys.stdin:
        with SAID.open("a") as log:
            log.write(line)
        yield line.split()


def say(text: str) -> None:
    print(text, flush=True)


def leave_child() -> None:
    """Start a process that keeps the output of this one, and does not end by itself. Its id is in LOG.child."""
    if child := os.fork():
        SAID.with_suffix(".child").write_text(str(child))
    else:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        while True:
            signal.pause()


def repeat(text: str) -> None:
    while True:
        sys.stdout.write(text)


GREETINGS: dict[str, Callable[[], object]] = {
    "unready": signal.pause,
    "options": lambda: repeat("option name Aa type check\n" * 100),
    "flood": lambda: repeat("info string Aa\n" * 100),
    "endless": lambda: repeat("a" * 1000),
    "blank": lambda: repeat("\n" * 1000),
    "lines": lambda: repeat("= 2\n" * 1000),
}


def moved(taken: list[str], resign: str) -> str:
    """Return the first free cell, or the faulty answer of this engine."""
    if FAULT == "die":
        sys.exit(3)
    if FAULT == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "child":
        leave_child()
        sys.exit(3)
    if FAULT == "stubborn":
        leave_child()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.stdin.close()
    if FAULT == "bytes":
        sys.stdout.flush()
        os.write(1, b"\xff\xfe\x00\n")
        return "\x00\x1b[2J" + "\xe9" * 30_000
    if FAULT == "line":
        repeat("a" * 1000)
    if FAULT == "rows":
        for number in range(100_000):
            sys.stdout.write(f"info depth 1 nodes {number} score cp 0\n")
    if FAULT == "hang":
        signal.pause()
    if FAULT == "resign":
        return resign
    if FAULT == "illegal":
        return "D9"
    return next(cell for cell in CELLS if cell not in taken)


def uci() -> None:
    taken: list[str] = []
    for words in heard():
        if FAULT in GREETINGS and words[0] == ("isready" if FAULT == "unready" else "uci"):
            GREETINGS[FAULT]()
        if words[0] == "uci":
            say("A line that nobody has asked for")
            say("id name First Free")
            say("option name Hash type spin default 16 min 1 max 1024")
            say("option name Clear Hash type button")
            say("option name Deep Thought type check default false")
            say("option name UCI_Variant type combo default chess var chess var noughts")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "position":
            rows = words[2].split("/")
            taken = [f"{letter}{3 - row}" for row in range(3) for column, letter in enumerate("ABC") if rows[row][column] != "."]
            taken += [move.upper() for move in words[4:]]
        elif words[0] == "go":
            move = moved(taken, "(none)").lower()
            say("info depth 1 nodes 9 score cp -20")
            say("info depth 2 seldepth 4 multipv 1 score cp 100 nodes 40 time 1 pv a1")
            say("info depth 3 score cp 300 lowerbound nodes 77")
            say("info string depth 99 nodes 1")
            if FAULT == "patient":
                assert next(heard())[0] == "stop"
            if FAULT == "wordless":
                move = ""
            say(f"bestmove {move}".strip())
            if FAULT == "twice":
                say("info depth 9 nodes 999 score mate 1\nbestmove c3\nreadyok\nnonsense")
        elif words[0] == "quit":
            return


def gtp() -> None:
    taken: list[str] = []
    for words in heard():
        answer = ""
        if FAULT in GREETINGS:
            GREETINGS[FAULT]()
        if words[0] == "protocol_version":
            answer = "1" if FAULT == "old" else "2"
        elif words[0] == "boardsize" and words[1] != "3":
            say("? unacceptable size\n")
            continue
        elif words[0] == "clear_board":
            taken = []
        elif words[0] == "play":
            if words[2].upper() in taken:
                say("? illegal move\n")
                continue
            taken.append(words[2].upper())
        elif words[0] == "genmove":
            if FAULT == "chat":
                say("let me see")
            answer = moved(taken, "resign")
            taken.append(answer)
        elif words[0] not in ("boardsize", "komi", "level", "time_settings", "quit"):
            say("? unknown command\n")
            continue
        say(f"= {answer}".rstrip() + "\n")
        if words[0] == "quit":
            return


uci() if sys.argv[1] == "uci" else gtp()
