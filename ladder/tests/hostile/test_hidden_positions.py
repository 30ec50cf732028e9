"""A version that attempts a hidden position tells it to another version, which is in its check and whose log the author can
read.
"""

from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.ladder.hosting import HostedLadder

SPEC = """
game: {name: sliding-tiles, rows: 4, columns: 4, shuffle: 80}
agents: [{agent: bfs, isolation: none, label: house}]
isolation: sandbox
limits: {seconds: 2, start_seconds: 60}
positions: {start: 60}
submissions: {authors: open}
"""
AGENT = """
import ctypes, mmap, os, threading, time
from arena import Agent, hookimpl

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
FILE = os.open("/usr/bin/env", os.O_RDONLY)
PLACE = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, FILE, 0)
FUTEX, WAIT, WAKE = 202, 0, 1

def wake(word):
    "Wake a thread of any process that waits for this word of the file."
    return libc.syscall(FUTEX, ctypes.c_void_p(PLACE + 4 * word), WAKE, 1, None, None, 0)

heard, over = [], False

def listen(word):
    wait = ctypes.create_string_buffer((0).to_bytes(8, "little") + (200_000_000).to_bytes(8, "little"))
    value = ctypes.c_uint.from_address(PLACE + 4 * word).value
    while not over:
        if libc.syscall(FUTEX, ctypes.c_void_p(PLACE + 4 * word), WAIT, value, wait, None, 0) == 0:
            heard.append(word)

class Sender(Agent):
    "Sends the cells of its position, each as the number of a word."
    name = "sender"
    def solve(self, puzzle, state, search):
        end = time.monotonic() + 1.6
        print("attempts", flush=True)
        while time.monotonic() < end:
            for cell in state:
                wake(int(cell))
                time.sleep(0.002)

class Receiver(Agent):
    name = "receiver"
    def solve(self, puzzle, state, search):
        global over
        over = False
        threads = [threading.Thread(target=listen, args=(word,), daemon=True) for word in range(17)]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        wake(16)  # it can hear at least itself
        time.sleep(0.1)
        over = True
        print("HEARD", sorted(set(heard)), flush=True)

@hookimpl
def arena_agents():
    return [NAME]
"""


@pytest.mark.promise(hole="positions", isolation="sandbox")
def test_no_check_runs_beside_an_attempt_at_a_hidden_position(bubblewrap: str, tmp_path: Path) -> None:
    """The check begins while the other version has attempts left, which continue after it."""
    with HostedLadder(tmp_path, SPEC, "--workers", "2") as ladder:
        token = ladder.ask("/api/authors", body=b'{"name": "eve"}', headers={"Content-Type": "application/json"}).body["token"]
        sender = ladder.submit(token, AGENT.replace("NAME", "Sender").encode(), "sender.py").body["id"]
        assert ladder.verdict(token, sender)["status"] == "playing"

        def count_attempts() -> int:
            return (tmp_path / "results" / "course.db.logs" / f"agent_{sender}").read_text().count("attempts")

        before = eventually(count_attempts)
        receiver = ladder.submit(token, AGENT.replace("NAME", "Receiver").encode(), "receiver.py").body["id"]
        assert ladder.verdict(token, receiver)["status"] == "playing"
        log = ladder.ask(f"/api/submissions/{receiver}/log", token).body
        assert log["hidden"]
        assert {line for line in log["log"].splitlines() if line.startswith("HEARD")} == {"HEARD [16]"}, log["log"]
        eventually(lambda: count_attempts() > before)
