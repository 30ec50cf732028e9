"""A program that announces `observe` in its check, and no longer afterwards: it loses its matches, and the ladder goes on."""

from pathlib import Path
from typing import Any

import pytest

from arena.store import Store
from tests.eventually import eventually
from tests.ladder.hosting import HostedLadder

pytestmark = [pytest.mark.process, pytest.mark.promise(hole="abilities", isolation="process")]
SPEC = """
game: kuhn-poker
agents:
  - {agent: random, isolation: none}
  - {agent: random, label: other, isolation: none}
isolation: process
seed: 5
until: {interval: 10}
submissions: {per_day: 1000}
"""
PROGRAM = """#!/usr/bin/env python3
import json, os, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        can = ["choose"] if os.path.exists(__file__ + ".now") else CAN
        answer = {"type": "hello", "protocol": 2, "name": "x", "can": can}
    elif message["type"] == "start":
        answer = {"type": "ready"}
    elif message["type"] == "choose":
        answer = {"type": "action", "action": message["legal"][0]}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""
REASON = 'kuhn-poker has hidden-information, which this program does not support; its `hello` must list "observe" in `can`'


def test_a_program_that_forgets_an_ability_is_suspended_and_the_ladder_goes_on(tmp_path: Path) -> None:
    """The ladder is also started again while the program is in play."""
    with HostedLadder(tmp_path, SPEC) as ladder:
        mine, other = ladder.tokens("ada", "bob")
        forgets = ladder.submit(mine, PROGRAM.replace("CAN", '["choose", "observe"]').encode(), "prog").body["id"]
        assert ladder.verdict(mine, forgets)["status"] == "playing"
        well = ladder.submit(other, PROGRAM.replace("CAN", '["choose", "observe"]').encode(), "prog").body["id"]
        assert ladder.verdict(other, well)["status"] == "playing"
        (folder,) = (tmp_path / "results" / "course.db.code").glob(forgets)
        for file in folder.iterdir():
            file.with_name(f"{file.name}.now").touch()
        assert ladder.end()[0] == 0
        ladder.again()

        def told(key: str, token: str) -> Any:
            return ladder.ask(f"/api/submissions/{key}", token).body

        found = eventually(lambda: told(forgets, mine)["status"] == "suspended" and told(forgets, mine))
        assert found["reason"].startswith(f"it lost 5 matches in a row through its own fault; the last time: crash, {REASON}")
        before = ladder.ask("/health").body["matches"]
        eventually(lambda: ladder.ask("/health").body["matches"] > before)
        assert told(well, other)["status"] == "playing"
        code, errors = ladder.end()
        assert code == 0, errors
    with Store.open(tmp_path / "results" / "course.db") as store:
        lost = [one for one, _ in store.records() if one.termination == "crash"]
    assert len(lost) >= 5
    assert {one.labels[one.seat or 0] for one in lost} == {"ada/prog@1"}
