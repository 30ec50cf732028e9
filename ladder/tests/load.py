"""A command that puts a ladder under load: `python -m tests.ladder.load [AUTHORS [AGENTS [BROWSERS]]]`.

The defaults are 30, 300 and 20.

Authors hand in good, slow, broken and hostile agents over the network. Meanwhile, browsers show the standings: separate pages in
Chromium or, if it is not installed, threads that read the same events. The command prints the outcome. If anything is not as
expected, it ends with exit code 1.
"""

import json
import shutil
import sys
import threading
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from tests.eventually import DEADLINE_SECONDS
from tests.ladder.hosting import GOOD, HostedLadder, agent

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
        f"Mine.moves = getattr(Mine, 'moves', 0) + 1\n        if Mine.moves < 200: {GOOD}\n        return 1 / 0",
        {"playing", "suspended", "withdrawn"},
    ),
}
HONEST = ("good", "careful", "slow")
MINUTES = 30


def main(authors: int = 30, agents: int = 300, browsers: int = 20) -> int:
    """Run the load, and print the outcome."""
    with TemporaryDirectory(prefix="ladder-load-") as folder, HostedLadder(Path(folder), SPEC, "--workers", "2") as ladder:
        names = [f"author-{number}" for number in range(authors)]
        tokens = dict(zip(names, ladder.tokens(*names), strict=True))
        watching: Pages | Listeners = Pages(ladder, browsers) if _chromium() else Listeners(ladder, browsers)
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
        rows = ladder.rows()
        honest = {told[key]["agent"] for _, kind, key, _ in handed if kind in HONEST}
        at_fault = [row for row in rows if row["agent"] in honest and row["failures"]]
        moves, unseen = watching.end(honest & {row["agent"] for row in rows})  # other agents may be suspended at any moment
        metrics = ladder.ask("/metrics").body
        after = _memory(ladder)
        ended = ladder.end()
    print(ended[1][-3000:])
    print(f"memory of the server {before} MiB before, {after} MiB after")
    print(f"standings moved {moves} times on {browsers} {watching.kind}")
    print("\n".join(line for line in metrics.splitlines() if not line.startswith("#")))
    for kind, one in wrong[:10]:
        print(f"unexpected: {kind}: {one['status']}: {one['reason']}")
    for fault in unseen:
        print(f"watching: {fault}")
    for row in at_fault:
        print(f"honest, and at fault: {row['agent']}: {row['failures_by_kind']}")
    fine = not wrong and not unseen and not at_fault and set(statuses) == {202} and ended[0] == 0
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


def _chromium() -> str | None:
    if find_spec("playwright") is None:
        return None
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Pages:
    """Pages with the standings in one Chromium. Each page has its own context, like the browsers of different people."""

    kind = "pages in Chromium"

    def __init__(self, ladder: HostedLadder, count: int) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        self._errors: list[str] = []
        self._pages = [self._opened(ladder.url, number) for number in range(count)]

    def _opened(self, url: str, number: int) -> Any:
        page = self._browser.new_context().new_page()
        page.set_default_timeout(1000 * DEADLINE_SECONDS)
        page.on("console", lambda told: self._note(number, told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._note(number, str(error)))
        page.goto(url)
        page.wait_for_selector("tbody th a")
        page.evaluate(
            "() => { window.moves = 0; const seen = new MutationObserver(() => window.moves++);"
            " seen.observe(document.querySelector('.stack'), { childList: true }); }"
        )
        return page

    def _note(self, number: int, error: str) -> None:
        self._errors.append(f"page {number}: {error}")

    def end(self, labels: set[str]) -> tuple[int, list[str]]:
        """Return how often the standings changed on all pages, and the faults: reloads, errors, and labels that are not shown."""
        shows = "labels => { const shown = new Set([...document.querySelectorAll('tbody th a')].map(one => one.textContent));"
        shows += " return labels.every(label => shown.has(label)); }"
        faults, moves = self._errors, 0
        for number, page in enumerate(self._pages):
            try:
                page.wait_for_function(shows, arg=sorted(labels))
            except Exception as error:  # playwright has several types of errors
                faults.append(f"page {number} does not show every agent: {error}")
            moved = page.evaluate("window.moves")
            if not moved:
                faults.append(f"page {number} was loaded again" if moved is None else f"page {number} has not moved")
            moves += moved or 0
        self._browser.close()
        self._playwright.stop()
        return moves, faults


class Listeners:
    """Threads that read the stream of events as pages do, if Chromium is not installed."""

    kind = "listeners"

    def __init__(self, ladder: HostedLadder, count: int) -> None:
        self._ladder, self._stop = ladder, threading.Event()
        self._events: Counter[int] = Counter()
        for number in range(count):
            self._events[number] = 0
            threading.Thread(target=self._listen, args=(number,), daemon=True).start()

    def _listen(self, number: int) -> None:
        while not self._stop.is_set():
            try:
                with urllib.request.urlopen(self._ladder.url + "/api/events", timeout=60) as stream:
                    for line in stream:
                        if line.startswith(b"data:"):
                            json.loads(line[5:])
                            self._events[number] += 1
                        if self._stop.is_set():
                            return
            except OSError:
                time.sleep(0.5)

    def end(self, _labels: set[str]) -> tuple[int, list[str]]:
        """Return the number of events in all threads, and a fault for each thread with no event after the first one."""
        self._stop.set()
        return self._events.total(), [f"listener {number} saw nothing move" for number, seen in self._events.items() if seen < 2]


def _memory(ladder: HostedLadder) -> int:
    return int(psutil.Process(ladder.process.pid).memory_info().rss) >> 20


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
