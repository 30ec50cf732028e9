"""A ladder under load, by command: `python -m tests.arena.ladder.load [AUTHORS [AGENTS [BROWSERS]]]`, 30, 300 and 20 by default.

Authors hand in agents, good, slow, broken and hostile ones, over the network while browsers listen to the standings. Prints what
came of it, and ends with 1 where something was not as it should be.
"""

import json
import sys
import threading
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.arena.ladder.hosting import GOOD, HostedLadder, agent

SPEC = """
game: tic-tac-toe
agents: [random, greedy, {agent: mcts, rollouts: 10}]
anchor: greedy
limits: {seconds: 1, memory_mb: 256}
until: {interval: 60}
submissions: {per_day: 1000}
"""
KINDS = {
    "good": (GOOD, {"playing", "withdrawn"}),
    "careful": (
        "return max(game.actions(state), key=lambda a: (game.is_terminal(game.result(state, a)), search.rng.random()))",
        {"playing", "withdrawn"},
    ),
    "slow": ("time.sleep(0.3); " + GOOD, {"playing", "withdrawn"}),
    "broken": ("return 1 / 0", {"refused"}),
    "illegal": ("return 99", {"refused"}),
    "loops": ("\n        while True: pass", {"refused"}),
    "leaves": ("os._exit(3)", {"refused"}),
    "hoards": ("x = bytearray(3 << 30); " + GOOD, {"refused"}),
    "spies": ("open('/etc/passwd', 'a').write('x'); " + GOOD, {"refused"}),
    "forks": ("[os.fork() for _ in range(9)]; " + GOOD, {"refused", "playing", "suspended", "withdrawn"}),
    "hides": (
        "import sys; " + f"\n        if sys.modules['__main__'].__file__.endswith('check_host.py'): {GOOD}\n        return 1 / 0",
        {"playing", "suspended", "withdrawn"},
    ),
}
HONEST = ("good", "careful", "slow")
MINUTES = 30


def main(authors: int = 30, agents: int = 300, browsers: int = 20) -> int:
    """Run the load and tell what came of it."""
    with TemporaryDirectory(prefix="ladder-load-") as folder, HostedLadder(Path(folder), SPEC, "--workers", "2") as ladder:
        names = [f"author-{number}" for number in range(authors)]
        tokens = dict(zip(names, ladder.tokens(*names), strict=True))
        stop, events = threading.Event(), Counter[str]()
        listening = [threading.Thread(target=_listen, args=(ladder, stop, events), daemon=True) for _ in range(browsers)]
        for thread in listening:
            thread.start()
        began, before = time.monotonic(), _memory(ladder)
        kinds = list(KINDS)
        with ThreadPoolExecutor(10) as pool:
            handed = list(
                pool.map(lambda k: _hand_in(ladder, tokens, names[k % authors], kinds[k % len(kinds)], k), range(agents))
            )
        statuses = Counter(status for _, _, _, status in handed)
        print(f"{agents} handed in within {time.monotonic() - began:.0f} s: answers {dict(statuses)}", flush=True)
        told = _verdicts(ladder, tokens, began)
        print(f"{len(told)} verdicts within {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
        wrong = [(kind, told[key]) for _, kind, key, _ in handed if told[key]["status"] not in KINDS[kind][1]]
        rows = ladder.ask("/api/standings").body["rows"]
        honest = {told[key]["agent"] for _, kind, key, _ in handed if kind in HONEST}
        at_fault = [row for row in rows if row["agent"] in honest and row["failures"]]
        stop.set()
        metrics = ladder.ask("/metrics").body
        after = _memory(ladder)
        ended = ladder.end()
    print(ended[1][-3000:])
    print(f"memory of the server {before} MiB before, {after} MiB after; {events.total()} events to {browsers} browsers")
    print("\n".join(line for line in metrics.splitlines() if not line.startswith("#")))
    for kind, one in wrong[:10]:
        print(f"unexpected: {kind}: {one['status']}: {one['reason']}")
    for row in at_fault:
        print(f"honest, and at fault: {row['agent']}: {row['failures_by_kind']}")
    fine = not wrong and not at_fault and set(statuses) == {202} and ended[0] == 0
    print("as it should be" if fine else f"not as it should be; exit {ended}")
    return 0 if fine else 1


def _hand_in(ladder: HostedLadder, tokens: dict[str, str], author: str, kind: str, number: int) -> tuple[str, str, str, int]:
    body, _ = KINDS[kind]
    answer = ladder.submit(tokens[author], agent(f"{body}  # {number}"), name=f"{kind}-{number}")
    return author, kind, answer.body.get("id", ""), answer.status


def _verdicts(ladder: HostedLadder, tokens: dict[str, str], began: float) -> dict[str, dict[str, str]]:
    while time.monotonic() - began < 60 * MINUTES:
        rows = [row for token in tokens.values() for row in ladder.ask("/api/submissions", token).body["rows"]]
        if all(row["status"] not in ("queued", "checking") for row in rows):
            return {row["id"]: row for row in rows}
        time.sleep(2)
    raise AssertionError(f"verdicts are missing after {MINUTES} minutes: {Counter(row['status'] for row in rows)}")


def _listen(ladder: HostedLadder, stop: threading.Event, events: Counter[str]) -> None:
    while not stop.is_set():
        try:
            with urllib.request.urlopen(ladder.url + "/api/events", timeout=60) as stream:
                for line in stream:
                    if line.startswith(b"data:"):
                        json.loads(line[5:])
                        events["standings"] += 1
                    if stop.is_set():
                        return
        except OSError:
            time.sleep(0.5)


def _memory(ladder: HostedLadder) -> int:
    return int(psutil.Process(ladder.process.pid).memory_info().rss) >> 20


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
