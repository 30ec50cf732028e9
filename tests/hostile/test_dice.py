"""An agent cannot compute the draws of another seat, neither from its messages nor, under a secret seed, by guessing."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.spec import load_spec
from arena.store import Store
from arena_records.export import export
from tests.conftest import Arena
from tests.eventually import eventually
from tests.players import PLAYERS

SPY = """
import gc, random
from hashlib import blake2b
from arena import Agent, hookimpl

class Spy(Agent):
    name = "spy"

    def choose(self, game, state, search):
        # Of every text in the process: does this seat's stream follow from it? Then the other seat's would, too.
        seat = game.to_move(state)
        texts = [text for found in gc.get_objects() for text in _texts(found)]
        texts += [str(getattr(search.rng, "purpose", ""))]
        own = search.rng.getstate()
        for text in set(texts):
            for whole in (text, f"{text}/seat/{seat}"):
                seed = int.from_bytes(blake2b(whole.encode("utf-8", "replace"), digest_size=8).digest(), "big")
                if random.Random(seed).getstate() == own:
                    raise RuntimeError(f"my own stream follows from {whole}")
        return game.actions(state)[0]

def _texts(found):
    try:
        held = found if isinstance(found, (dict, list, tuple)) else object.__getattribute__(found, "__dict__")
        values = [*held, *held.values()] if isinstance(held, dict) else held
        return [text for text in values if isinstance(text, str) and 30 < len(text) < 60]
    except Exception:
        return []

@hookimpl
def arena_agents():
    return [Spy]
"""
SPEC = "game: tic-tac-toe\nrounds: 12\nseed: secret\nagents: [random, {agent: random, label: other}]\n"


ORACLE = """
from arena import Agent, hookimpl, load_plugins
from arena.match.chance_streams import Chance
from arena.match.match import Positions

class Oracle(Agent):
    name = "oracle"
    copes = frozenset({"chance"})

    def __init__(self):
        game = load_plugins().game("pig")()
        keys = [Positions(game, "pig", {}, 0).key(number) for number in range(20)]
        self.streams = [Chance.of(game, key, 0) for key in keys]
        self.last, self.rolls = None, 0

    def choose(self, game, state, search):
        # Which rounds have the dice that this seat has rolled so far?
        if self.last is not None:
            rolling = game.result(self.last, "roll")
            stayed = state[0] == self.last[0] and state[2] > self.last[2]
            face = state[2] - self.last[2] if stayed else 1
            self.streams = [stream for stream in self.streams if stream.outcome(rolling) == face]
            self.rolls += 1
        if not self.streams:
            raise RuntimeError(f"wrong about roll {self.rolls}")
        self.last = state
        return "roll"

@hookimpl
def arena_agents():
    return [Oracle]
"""


@pytest.mark.parametrize(("seed", "computed"), [({"seed": 0}, True), ({}, False)])
@pytest.mark.promise(hole="dice", isolation="sandbox")
def test_dice_can_be_predicted_only_from_a_known_seed(
    seed: dict[str, int], computed: bool, bubblewrap: str, tmp_path: Path
) -> None:
    """From the seed 0, an agent computes every roll of its die in the sandbox. It always rolls,
    so a match lasts until its rival has 100 points.
    """
    (tmp_path / "oracle.py").write_text(ORACLE)
    oracle = {"agent": "oracle", "plugin": str(tmp_path / "oracle.py"), "isolation": "sandbox"}
    records = arena.run({"game": "pig", "rounds": 3, "agents": [oracle, {"agent": "hold-at", "at": 20}], **seed}).records
    assert len(records) == 6
    if computed:
        assert [record.message for record in records] == [None] * 6
    else:
        assert all("wrong about roll" in str(record.message) for record in records), [record.message for record in records]


@pytest.mark.parametrize("isolation", ["process"])
@pytest.mark.promise(hole="dice", isolation="process")
def test_the_process_of_an_agent_does_not_contain_the_name_of_its_stream(isolation: str, tmp_path: Path) -> None:
    """The agent tries each text that it can reach as the name of its own stream."""
    (tmp_path / "spy.py").write_text(SPY)
    spec = {
        "game": "tic-tac-toe",
        "rounds": 1,
        "agents": ["spy", "random"],
        "plugins": [str(tmp_path / "spy.py")],
        "isolation": isolation,
    }
    for record in arena.run(spec).records:
        assert (record.termination, record.message) == ("normal", None)


def test_a_secret_seed_is_revealed_at_the_end(arena: Arena, tmp_path: Path) -> None:
    """Its hash is printed on stderr at the start. With the revealed digits, every match can be repeated."""
    (tmp_path / "s.yaml").write_text(SPEC)
    done = arena("run", "s.yaml", "--workers", "1", "--format", "json", "--quiet")
    found = re.fullmatch(r"commitment: ([0-9a-f]{64})\nseed: ([0-9a-f]{32})\n", done.stderr)
    assert found is not None, done.stderr
    assert blake2b(found[2].encode(), digest_size=32).hexdigest() == found[1]
    board = json.loads(done.stdout)
    assert (board["seed"], board["commitment"]) == (found[2], found[1])
    records = exported(tmp_path / "results/s.db")
    assert {record["seed"] for record in records} == {found[2]}
    again = arena("run", "s.yaml", "--workers", "1", "--quiet", "--seed", found[2], "--store", "again.db")
    assert (again.returncode, again.stderr) == (0, "")
    assert [ids(record) for record in exported(tmp_path / "again.db")] == [ids(record) for record in records]
    arena("run", "s.yaml", "--workers", "1", "--quiet", "--store", "other.db")
    assert not {record["id"] for record in records} & {record["id"] for record in exported(tmp_path / "other.db")}


def ids(record: dict[str, object]) -> tuple[object, ...]:
    return record["id"], tuple(record["actions"]), record["seed"]  # type: ignore[arg-type]


def exported(store: Path) -> list[dict[str, object]]:
    done = CliRunner().invoke(export, [str(store)], catch_exceptions=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


FIRST = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": 2, "can": ["choose"]}
    elif message["type"] == "start":
        answer, played = {"type": "ready"}, set()
    elif message["type"] == "choose":
        played |= set(message["played"])
        answer = {"type": "action", "action": next(cell for cell in map(str, range(1, 10)) if cell not in played)}
        played.add(answer["action"])
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def interrupted(tmp_path: Path) -> Callable[[], str]:
    """Start the run, end it by Ctrl-C once it has matches, and return its stderr."""
    agents = "other}, {agent: sleeper, seconds: 0.02}]"
    (tmp_path / "s.yaml").write_text(SPEC.replace("other}]", f"{agents}\nplugins: ['{PLAYERS}']"))

    def start() -> str:
        command = [sys.executable, "-m", "arena", "run", "s.yaml", "--workers", "1"]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
            store = tmp_path / "results" / "s.db"
            eventually(lambda: (store.exists() and counted(store)) or run.poll() is not None)
            os.kill(run.pid, signal.SIGINT)
            assert run.stderr is not None
            return run.stderr.read()

    return start


def counted(store: Path) -> int:
    try:
        with arena_store(store) as opened:
            return len(opened)
    except Exception:  # it is just being made
        return 0


def arena_store(store: Path) -> Store:
    return Store.open(store)


def test_a_secret_seed_is_hidden_until_the_end(arena: Arena, interrupted: Callable[[], str], tmp_path: Path) -> None:
    """The board, export and page of an interrupted run do not contain the seed. The run continues with the same secret."""
    said = interrupted()
    committed = re.search(r"^commitment: (\w+)$", said, re.MULTILINE)
    assert committed is not None
    assert "seed:" not in said
    board = json.loads(arena("leaderboard", "results/s.db", "--format", "json").stdout)
    assert (board["seed"], board["commitment"]) == (None, committed[1])
    assert {record["seed"] for record in exported(tmp_path / "results/s.db")} == {None}
    (tmp_path / "s.yaml").write_text((tmp_path / "s.yaml").read_text().replace(", {agent: sleeper, seconds: 0.02}]", "]"))
    done = arena("run", "s.yaml", "--workers", "1")
    digits = re.search(r"^seed: (\w+)$", done.stderr, re.MULTILINE)
    assert digits is not None
    assert f"commitment: {committed[1]}" in done.stderr
    assert blake2b(digits[1].encode(), digest_size=32).hexdigest() == committed[1]
    assert {record["seed"] for record in exported(tmp_path / "results/s.db")} == {digits[1]}


def test_rounds_added_after_the_seed_was_revealed_have_a_new_secret(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SPEC.replace("12", "2"))
    first = re.search(r"seed: (\w+)", arena("run", "s.yaml", "--workers", "1").stderr)
    before = exported(tmp_path / "results/s.db")
    (tmp_path / "s.yaml").write_text(SPEC.replace("12", "3"))
    second = re.search(r"seed: (\w+)", arena("run", "s.yaml", "--workers", "1").stderr)
    assert first is not None
    assert second is not None
    after = exported(tmp_path / "results/s.db")
    assert [record["seed"] for record in after] == [first[1]] * 4 + [second[1]] * 2
    assert after[:4] == before
    assert first[1] != second[1]


def test_shards_need_the_same_secret_seed(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SPEC)
    refused = arena("run", "s.yaml", "--workers", "1", "--shard", "1/2")
    assert refused.returncode == 2
    assert "every shard needs the same secret" in refused.stderr
    arena("run", "s.yaml", "--workers", "1", "--store", "a.db")
    arena("run", "s.yaml", "--workers", "1", "--store", "b.db")
    conflict = arena("merge", "c.db", "a.db", "b.db")
    assert conflict.returncode == 1
    assert "different secret seeds" in conflict.stderr


PROGRAM = {"agent": {"command": [sys.executable, "first.py"]}, "label": "program"}


@pytest.mark.parametrize(
    ("more", "secret"),
    [
        ({"agents": ["random", PROGRAM]}, True),
        ({"agents": ["random", PROGRAM], "seed": 0}, False),
        ({"agents": ["random", PROGRAM], "seed": "secret"}, True),
        ({"agents": ["random", "greedy"]}, False),
        ({"agents": ["random", {"agent": "greedy", "isolation": "sandbox"}]}, False),
        ({"agents": ["random", {"agent": "greedy", "isolation": "process"}]}, False),
    ],
)
def test_the_seed_is_secret_by_default_only_against_code_of_others(more: dict[str, Any], secret: bool) -> None:
    """Agents that arena itself loads are trusted wherever they run."""
    spec = load_spec({"game": "pig", "rounds": 1, **more})
    assert (spec.secret, spec.seed == 0) == (secret, not secret)
    assert any("agents[1] has code" in note for note in spec.notes) == (secret and "seed" not in more)
    assert load_spec({"game": "pig", "rounds": 1, **more}, seed=5).seed == 5


def test_a_plugin_of_an_entry_makes_the_seed_secret_in_a_sandbox(bubblewrap: str) -> None:
    """With isolation: process, an agent could read the store anyway."""
    for isolation, secret in (("sandbox", True), ("process", False)):
        entry = {"agent": "first", "plugin": str(PLAYERS), "isolation": isolation}
        assert load_spec({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", entry]}).secret == secret


def test_a_run_against_a_program_resumes_with_its_default_secret(arena: Arena, tmp_path: Path) -> None:
    """The second start finds all matches."""
    (tmp_path / "first.py").write_text(FIRST)
    agents = "[random, {agent: {command: [python3, first.py]}}]"
    (tmp_path / "s.yaml").write_text(f"{{game: tic-tac-toe, rounds: 2, agents: {agents}}}")
    done = arena("run", "s.yaml", "--workers", "1")
    digits = re.search(r"^seed: (\w{32})$", done.stderr, re.MULTILINE)
    assert digits is not None, done.stderr
    assert "note: the seed is secret, because agents[1] has code" in done.stderr
    records = exported(tmp_path / "results/s.db")
    again = arena("run", "s.yaml", "--workers", "1")
    assert "all 4 matches were in" in again.stderr
    arena("run", "s.yaml", "--workers", "1", "--seed", digits[1], "--store", "again.db")
    assert [ids(record) for record in exported(tmp_path / "again.db")] == [ids(record) for record in records]
    replayed = arena("replay", "results/s.db", str(records[0]["id"]), "--spec", "s.yaml")
    assert replayed.returncode == 0, replayed.stderr
