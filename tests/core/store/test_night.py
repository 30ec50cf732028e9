"""Long runs on the command line: interrupted, killed, resumed, shared and replayed."""

import csv
import io
import json
import random
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import arena as arena_
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from tests.conftest import Arena
from tests.core.store.conftest import timeless
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.players import PLAYERS

PATIENT = """
import os, time
from arena import Agent, hookimpl
class Patient(Agent):
    "Plays the first action. After a dozen decisions in a process, it waits while there is a file `slow`."
    name = "patient"
    asked = 0
    def choose(self, game, state, search):
        Patient.asked += 1
        while Patient.asked > 12 and os.path.exists("slow"):
            time.sleep(0.01)
        return game.actions(state)[0]
@hookimpl
def arena_agents(): return [Patient]
"""
LONG = "game: tic-tac-toe\nrounds: 10\nseed: 3\nagents: [random, greedy, patient]\nplugins: [patient.py]\n"
LONG_MATCHES = 60


def counted(path: Path) -> int:
    """How many matches a store holds that is being written."""
    with suppress(arena_.ArenaError), Store.open(path) as store:
        return len(store)
    return 0


def scores(text: str) -> Any:
    boards = json.loads(text)["boards"]
    return [[(row["agent"], row["games"], row["score"]) for row in board["rows"]] for board in boards]


def test_the_option_fresh_keeps_the_old_store_under_another_name(cup: Path, invoke: Arena, tmp_path: Path) -> None:
    invoke("run", cup, "--store", "a.db")
    before = timeless(tmp_path / "a.db")
    done = invoke("run", cup, "--store", "a.db", "--fresh", "--seed", "5")
    assert "the matches so far are kept in a.1.db" in done.stderr
    assert timeless(tmp_path / "a.1.db") == before
    assert not timeless(tmp_path / "a.db").keys() & before.keys()


ENDS = """
from arena import Agent, hookimpl
{first}
class Ends(Agent):
    "Plays one end of the list, slowly."
    name = "ends"
    def choose(self, game, state, search):
        {more}
        return game.actions(state)[END]
@hookimpl
def arena_agents(): return [Ends]
"""


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_run_ends_if_its_code_is_edited(arena: Arena, tmp_path: Path, isolation: str) -> None:
    plugin, helper = tmp_path / "ends.py", tmp_path / "beside.py"
    dies = "import os, time; time.sleep(0.02); os._exit(3) if search.rng.random() < 0.05 and state[0].bit_count() == 2 else None"
    plugin.write_text(ENDS.format(first="from beside import END", more=dies))
    helper.write_text("END = 0\n")
    (tmp_path / "s.yaml").write_text(
        f"game: tic-tac-toe\nrounds: 400\nagents: [ends, random]\nplugins: [ends.py]\nisolation: {isolation}\n"
    )
    with ThreadPoolExecutor() as pool:
        running = pool.submit(arena, "run", "s.yaml", "--workers", "2", "--quiet", PYTHONPATH=str(tmp_path))
        eventually(lambda: counted(tmp_path / "results" / "s.db"))
        helper.write_text("END = -1\n")
        ended = running.result()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "ends.py changed during the run" in ended.stderr
    records = timeless(tmp_path / "results" / "s.db").values()
    assert records
    first = {record["actions"][0] for record in records if record["labels"][0] == "ends" and record["actions"]}
    assert first == {"1"}
    refused = arena("run", "s.yaml", PYTHONPATH=str(tmp_path))
    assert "ends.py changed since the matches in it were played" in refused.stderr
    helper.write_text("END = 0\n")
    put_back = arena("leaderboard", "results/s.db")
    assert "more than one version" not in put_back.stdout


def test_versions_are_compared_after_a_folder_is_moved(invoke: Arena, tmp_path: Path) -> None:
    text = ENDS.format(first="END = 0", more="pass")
    for name, changed in (("a", text), ("b", text), ("c", text.replace("END = 0", "END = -1"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ends.py").write_text(changed)
        (tmp_path / name / "s.yaml").write_text("game: tic-tac-toe\nrounds: 6\nagents: [ends, random]\nplugins: [ends.py]\n")
    shards = {"a": "1/2", "b": "2/2", "c": "2/2"}
    for name, shard in shards.items():
        assert invoke("run", f"{name}/s.yaml", "--store", f"{name}.db", "--shard", shard, "--workers", "1").returncode == 0
    assert invoke("merge", "ab.db", "a.db", "b.db").returncode == 0
    refused = invoke("merge", "ac.db", "a.db", "c.db")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "ends.py differs between c.db and a.db" in refused.stderr
    assert not (tmp_path / "ac.db").exists()
    assert invoke("merge", "ac.db", "a.db", "c.db", "--accept-changed-plugins").returncode == 0
    assert "The store has matches of more than one version of ends.py." in invoke("leaderboard", "ac.db").stdout
    (tmp_path / "d").mkdir()
    copy(tmp_path / "c" / "ends.py", tmp_path / "d")
    copy(tmp_path / "a" / "s.yaml", tmp_path / "d")
    moved = invoke("run", "d/s.yaml", "--store", "ab.db")
    assert "ends.py changed since the matches in it were played" in moved.stderr


def test_ctrl_c_keeps_the_finished_matches(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed command plays the rest."""
    monkeypatch.chdir(tmp_path)
    spec, slow = tmp_path / "long.yaml", tmp_path / "slow"
    spec.write_text(LONG)
    (tmp_path / "patient.py").write_text(PATIENT)
    slow.touch()
    words = [sys.executable, "-m", "arena", "run", "long.yaml", "--workers", "2"]
    started = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    eventually(lambda: counted(tmp_path / "results" / "long.db") >= 4)
    refused = arena("run", "long.yaml")
    assert refused.returncode == 2
    assert f"in use by process {started.pid};" in refused.stderr
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=DEADLINE_SECONDS)
    assert (started.returncode, out, "Traceback" in err) == (130, "", False)
    told = re.search(r"([\d,]+) matches are in results/long.db; continue with\n  arena (run .*)\n", err)
    assert told is not None
    assert told[2] == "run long.yaml --workers 2"
    kept = timeless(tmp_path / "results" / "long.db")
    assert 4 <= len(kept) == int(told[1].replace(",", "")) < LONG_MATCHES
    assert not Leaderboard.load(tmp_path / "results" / "long.db")[0].facts.get("finished", True)
    assert "matches are missing" in arena("leaderboard", "results/long.db").stdout
    slow.unlink()
    done = arena(*told[2].split())
    assert done.returncode == 0
    assert f"{len(kept):,} matches were in" in done.stderr
    whole = timeless(tmp_path / "results" / "long.db")
    assert kept.items() <= whole.items()
    assert whole == {record.id: record.timeless() for record in arena_.run(spec).records}


@pytest.mark.process
@pytest.mark.parametrize("times", [pytest.param(5), pytest.param(100, marks=pytest.mark.proof)])
def test_killing_a_run_repeatedly_loses_no_matches(tmp_path: Path, times: int) -> None:
    """A run of six agents with two workers is killed at random moments and resumed, many times. No match is lost, changed or
    recorded twice, and the result is that of a run without kills.
    """
    spec = tmp_path / "six.yaml"
    agents = "[random, greedy, {agent: lookahead, depth: 1}, {agent: lookahead, depth: 2}, type-a, type-a-plus]"
    spec.write_text(f"game: tic-tac-toe\nrounds: {max(times // 2, 5)}\nseed: 11\nagents: {agents}\n")
    path = tmp_path / "results" / "six.db"
    rng = random.Random(1)
    words = [sys.executable, "-m", "arena", "run", "six.yaml", "--workers", "2"]
    seen: dict[str, dict[str, Any]] = {}
    kills = 0
    while kills < times:
        started = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.25 + rng.random() * 0.35)
        started.send_signal(signal.SIGKILL)
        _, err = started.communicate(timeout=DEADLINE_SECONDS)
        kills += started.returncode == -signal.SIGKILL
        assert "Traceback" not in err
        assert started.returncode in (0, -signal.SIGKILL), err
        if kills % 4 == 0 and (seen or counted(path)):  # a busy machine may be killed before its first match, again and again
            now = timeless(path)
            assert seen.items() <= now.items()
            seen = now
        if started.returncode == 0:  # it was done before it could be killed: once more from the start
            assert timeless(path) == seen or seen.items() <= timeless(path).items()
            path.unlink()
            seen = {}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Store.open(path) as store:
        ids = [record.id for record, _ in store.records()]
    assert len(ids) == len(set(ids)) == 30 * max(times // 2, 5)
    assert timeless(path) == {record.id: record.timeless() for record in arena_.run(spec).records}
    time.sleep(1)
    assert not _workers_of(tmp_path)


def _workers_of(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_merged_shards_equal_the_whole_run(cup: Path, invoke: Arena, tmp_path: Path) -> None:
    whole = invoke("run", cup, "--no-store", "--format", "json")
    for number in (1, 2, 3):
        done = invoke("run", cup, "--shard", f"{number}/3")
        assert done.returncode == 0, done.stderr
        assert f"Shard {number} of 3 is complete; all shards together have 18 matches." in done.stdout
        assert "`arena merge OUT.db IN.db ...`" in done.stdout
        assert "not finished" not in done.stdout
        assert invoke("leaderboard", f"results/cup.{number}-of-3.db").stdout == done.stdout
    parts = sorted((tmp_path / "results").iterdir())
    assert [part.name for part in parts] == [f"cup.{number}-of-3.db" for number in (1, 2, 3)]
    merged = invoke("merge", "results/cup.db", *parts)
    assert merged.stdout == "results/cup.db: 18 matches\n"
    assert invoke("merge", "two.db", *parts[:2]).returncode == 0
    halves = invoke("leaderboard", "two.db").stdout
    assert "The run is not finished: " in halves
    assert "hard" not in halves
    again = invoke("run", cup, "--format", "json")
    assert scores(again.stdout) == scores(whole.stdout)
    assert "there were no matches left to play" in again.stderr
    assert invoke("merge", "results/cup.db", *parts).returncode == 2
    for shard in ("4/3", "1/" + "9" * 5000, "²/3", "2"):
        assert invoke("run", cup, "--shard", shard).returncode == 2


TWO_BOARDS = """
games: [tic-tac-toe, {name: tic-tac-toe, rows: 4, columns: 4, in_a_row: 3}]
rounds: 6
openings: {plies: 1}
agents: [random, {agent: alpha-beta, depth: 1}, {agent: alpha-beta, depth: 2}]
"""


def test_counts_of_pairs_can_be_recomputed_from_an_export(invoke: Arena, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO_BOARDS)
    invoke("run", "two.yaml", "--store", "two.db")
    rows = [json.loads(line) for line in invoke("export", "two.db").stdout.splitlines()]
    cells = list(csv.DictReader(io.StringIO(invoke("export", "two.db", "--format", "csv").stdout)))
    assert [(row["board"], int(row["round"]), json.loads(row["parameters"])) for row in cells] == [
        (row["board"], row["round"], row["parameters"]) for row in rows
    ]
    assert list(rows[0])[-4:] == ["timing", "board", "round", "parameters"]
    for board, size in zip(json.loads(invoke("compare", "two.db", "--format", "json").stdout), (3, 4), strict=True):
        here = [row for row in rows if row["parameters"]["rows"] == size]
        assert len({row["board"] for row in here}) == 1
        for pair in board["pairs"]:
            assert _pentanomial(here, pair["one"], pair["other"]) == pair["counts"]


def _pentanomial(rows: list[Any], one: str, other: str) -> list[int]:
    """How many pairs of games gave one 0, a half, 1, one and a half and 2 points."""
    rounds: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        if set(row["labels"]) == {one, other}:
            rounds[row["round"]].append(row)
    pairs = {}
    for number, games in rounds.items():
        games.sort(key=lambda row: row["labels"])
        alike = str([(row["position"], row["actions"]) for row in games])
        points = sum((row["returns"][row["labels"].index(one)] + 1) / 2 for row in games)
        pairs[str(number) if any(any(row["drew"]) for row in games) else alike] = points
    return [sum(points == count / 2 for points in pairs.values()) for count in range(5)]


def test_a_replay_verifies_every_position(cup: Path, invoke: Arena, tmp_path: Path) -> None:
    import sqlite3

    invoke("run", cup)
    record = json.loads(invoke("export", "results/cup.db").stdout.splitlines()[0])
    done = invoke("replay", "results/cup.db", record["id"][:10])
    assert done.returncode == 0
    assert invoke("replay", "results/cup.db", "zz").returncode == 2
    assert "the record follows the rules, and the agents made the same decisions again" in done.stdout
    shown = re.findall(r"^(\d+)\. (\w+): (\d)", done.stdout, re.MULTILINE)
    assert [action for _, _, action in shown] == record["actions"]
    assert [who for _, who, _ in shown] == [record["labels"][number % 2] for number in range(len(shown))]
    path = tmp_path / "results" / "cup.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE record SET returns = '0.25,-0.25' WHERE id = ?", (bytes.fromhex(record["id"]),))
    connection.close()
    lying = invoke("replay", "results/cup.db", record["id"])
    assert lying.returncode == 1
    assert "differs: returns: recorded (0.25, -0.25)" in lying.stdout
    assert f"differs: hash: match {record['id']} has changed since it was written" in lying.stdout
    with sqlite3.connect(path) as connection:
        connection.execute('UPDATE detail SET actions = \'["1", "1"]\' WHERE record = 1')
    connection.close()
    assert "differs: action 2: '1'" in invoke("replay", "results/cup.db", record["id"]).stdout


def test_every_failure_prints_the_command_that_shows_it(invoke: Arena, tmp_path: Path) -> None:
    agents = "[{agent: raiser, message: no idea}, random]"
    (tmp_path / "bad.yaml").write_text(f"game: tic-tac-toe\nrounds: 1\nagents: {agents}\nplugins: ['{PLAYERS}']\n")
    board = invoke("run", "bad.yaml", "--workers", "1").stdout
    command = re.search(r"^  arena (replay \S+ [0-9a-f]+)$", board, re.MULTILINE)
    assert command is not None
    done = invoke(*command[1].split())
    assert done.returncode == 0
    assert "exception of raiser: RuntimeError: no idea" in done.stdout
