"""What goes wrong around a ladder: full disks, kills at a bad moment, agents that fail, specs that change."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import StoreError
from arena.schedule.schedule import Scheduled
from arena.store import Store
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.host import open_ladder
from arena_ladder.ledger import Ledger
from arena_ladder.season import Entrant, begin_season, played_matches
from arena_ladder.spec import load_ladder
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.extensions.isolation.test_archive import packed
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent

HIDES = "if not os.path.exists(__file__ + '.now'): " + GOOD + "\n        "
"""An agent that is well until there is a file beside its own, as when it is checked."""


def show_faults(folder: Path) -> None:
    """Have agents that hide their faults show them."""
    for file in (folder / "results" / "course.db.code").glob("*/agent_*.py"):
        file.with_name(f"{file.name}.now").touch()


@pytest.mark.process
def test_five_consecutive_faults_or_a_high_share_of_faults_suspend_an_agent(tmp_path: Path) -> None:
    with HostedLadder(tmp_path, SPEC.replace("interval: 200", "interval: 60")) as ladder:
        mine, other = ladder.tokens("ada", "bob")
        fails = ladder.submit(mine, agent(HIDES + "raise ValueError('\\x1b[2J')"), name="fails").body["id"]
        every_third = "if 'match' not in vars(self): type(self).match = self.match = getattr(self, 'match', 0) + 1"
        at_times = agent(HIDES + f"{every_third}\n        if self.match % 3 == 0: return 1 / 0\n        {GOOD}")
        sometimes = ladder.submit(mine, at_times, name="sometimes").body["id"]
        for key in (fails, sometimes):
            assert ladder.verdict(mine, key)["status"] == "playing"
        show_faults(tmp_path)

        def told(key: str) -> Any:
            return ladder.ask(f"/api/submissions/{key}", mine).body

        found = eventually(lambda: told(fails)["status"] == "suspended" and told(fails))
        reason = r"it lost 5 matches in a row through its own fault; the last time: exception, ValueError: \x1b[2J"
        assert found["reason"] == f"{reason} (mine.py:10)"
        assert "suspended" not in str(ladder.ask("/api/submissions", other).body)
        audit = ladder.admin("audit").stdout
        assert "suspend ada/fails@1" in audit
        assert r"ValueError: \x1b[2J" in audit

        assert "ada/fails@1" not in str(ladder.ask("/api/standings").body)
        found = eventually(lambda: told(sometimes)["status"] == "suspended" and told(sometimes))
        assert re.match(r"it lost 11 of its last \d+ matches through its own fault; ", found["reason"])


HANGS = """
from arena import Agent, hookimpl
import os, time

class Mine(Agent):
    name = "mine"

    def __init__(self):
        while WHEN:
            time.sleep(0.1)

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Mine]
"""


@pytest.mark.process
def test_an_agent_that_hangs_at_its_start_twice_is_suspended(tmp_path: Path) -> None:
    """The agent starts in its check and hangs afterwards. The other agents continue to play."""
    spec = SPEC.replace("interval: 200", "interval: 10") + "limits: {start_seconds: 3}\n"
    with HostedLadder(tmp_path, spec) as ladder:
        mine, other = ladder.tokens("ada", "bob")
        hangs = ladder.submit(mine, HANGS.replace("WHEN", "os.path.exists(__file__ + '.now')").encode()).body["id"]
        assert ladder.verdict(mine, hangs)["status"] == "playing"
        well = ladder.submit(other, agent()).body["id"]
        assert ladder.verdict(other, well)["status"] == "playing"
        show_faults(tmp_path)

        def told() -> Any:
            return ladder.ask(f"/api/submissions/{hangs}", mine).body

        found = eventually(lambda: told()["status"] == "suspended" and told())
        assert found["reason"] == "it did not respond when it was started, 2 times in a row"
        assert ladder.ask(f"/api/submissions/{well}", other).body["status"] == "playing"
        assert ladder.end()[0] == 0
    with Store.open(tmp_path / "results" / "course.db") as store:
        lost = [one for one, _ in store.records() if one.seat is not None and one.labels[one.seat].startswith("ada")]
    assert {record.message for record in lost} == {"its start took longer than its limit of 3 s"}


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    small = tmp_path / "results"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    yield small
    subprocess.run(["umount", str(small)], check=True)


@pytest.mark.process
def test_a_full_disk_pauses_a_ladder_until_space_is_free(small: Path, tmp_path: Path) -> None:
    spec = SPEC.replace("interval: 200", "interval: 1")
    with HostedLadder(tmp_path, spec) as ladder:
        (token,) = ladder.tokens("ada")
        eventually(lambda: ladder.ask("/health").body["matches"] > 5)
        with (small / "rest").open("wb", buffering=0) as rest, suppress(OSError):
            while True:
                rest.write(bytes(4096))
        state = eventually(lambda: (told := ladder.ask("/health").body["state"]).startswith("paused") and told)
        assert "the disk is full" in state
        refused = ladder.submit(token, agent(GOOD + "  # " + "x" * 200_000))
        assert (refused.status, refused.body["error"]) == (507, "the disk of the ladder is full")
        assert ladder.ask("/api/submissions", token).body["rows"] == []
        before = ladder.ask("/health").body["matches"]
        subprocess.run(["mount", "-o", "remount,size=50m", str(small)], check=True)
        eventually(lambda: ladder.ask("/health").body["matches"] > before + 5)
        told = ladder.verdict(token, ladder.submit(token, agent()).body["id"])
        assert told["status"] == "playing"
        assert ladder.end()[0] == 0
    done = arena_in(tmp_path)("check", small / "course.db")
    assert done.stdout.endswith("0 faults\n"), done.stdout


def test_an_interrupted_start_of_a_season_keeps_the_board_of_every_match(tmp_path: Path) -> None:
    """A trigger simulates a kill between the start of a season and the update of its matches."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    (record, *_) = arena.run({"game": "tic-tac-toe", "seed": 1, "rounds": 1, "agents": ["random", "greedy"]}).records
    entry = Entrant({"agent": "random", "label": "ada/mine@1", "isolation": "none"})
    with Store.open(tmp_path / "a.db", write=True) as store:
        season = begin_season(ladder, store, [])
        store.add(Scheduled(0, 0, arena.format.Pairing(0, (0, 1))), record)
        store.flush()
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute("CREATE TRIGGER kill BEFORE INSERT ON place BEGIN SELECT RAISE(ABORT, 'killed'); END")
            with pytest.raises(StoreError, match="killed"):
                begin_season(ladder, store, [entry])
            other.execute("DROP TRIGGER kill")
        assert [one.labels for one in played_matches(store)] == [season.labels(0)]
        assert begin_season(ladder, store, [entry]).known == {0}


@pytest.mark.parametrize(
    "files", [{"agent.py": b"", "\N{OLD PERSIAN SIGN AURAMAZDAA}" * 100: b""}, {"agent.py": b"", "a": b"", "a/b": b""}]
)
def test_a_zip_that_cannot_be_unpacked_does_not_block_the_next_submission(tmp_path: Path, files: dict[str, bytes]) -> None:
    with Store.open(tmp_path / "a.db", write=True), closing(Ledger(tmp_path / "a.db")) as ledger:
        ledger.expect("ada")
        one = ledger.submit("ada", None, "zip", "it.zip", packed(files), 10)
        with pytest.raises(BadSubmission, match="its files cannot be unpacked"):
            CodeFolder(ledger, 1 << 18).lay_out(one)


@pytest.mark.process
def test_a_stricter_spec_suspends_agents_that_break_it(tmp_path: Path) -> None:
    """The author of such an agent reads the reason. All other agents continue to play."""
    large = packed({"agent.py": agent(), "weights.txt": bytes(100_000)})
    with HostedLadder(tmp_path) as ladder:
        (token,) = ladder.tokens("ada")
        keys = [ladder.submit(token, large, "it.zip", "large").body["id"], ladder.submit(token, agent(), name="small").body["id"]]
        assert [ladder.verdict(token, key)["status"] for key in keys] == ["playing", "playing"]
        assert ladder.end()[0] == 0
        more = "until: {interval: 90}\nsubmissions: {size_kb: 16, keep: 1}\n"
        one_more = "- {agent: lookahead, isolation: none}\n  - {agent: greedy"
        text = SPEC.partition("until")[0].replace("- {agent: greedy", one_more) + more
        (tmp_path / "course.yaml").write_text(text)
        subprocess.run(["rm", "-r", str(tmp_path / "results" / "course.db.code")], check=True)
        ladder.again()
        found = eventually(
            lambda: (told := ladder.ask(f"/api/submissions/{keys[0]}", token).body)["status"] == "suspended" and told
        )
        assert "more than 16 KiB when unpacked" in found["reason"]
        labels = eventually(lambda: len(rows := ladder.rows()) == 4 and {row["agent"] for row in rows})
        assert labels == {"random", "greedy", "lookahead", "ada/small@1"}


def test_submissions_that_wait_when_a_ladder_ends_never_play(tmp_path: Path) -> None:
    (tmp_path / "course.yaml").write_text(SPEC)
    with open_ladder(load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db", 1) as host:
        host.ledger.expect("ada")
        key = host.ledger.submit("ada", "mine", "python", "mine.py", agent(), 10).id
        host.ledger.set("over", "yes", "admin")
        assert host.ledger.next_to_check() is None
        host.runner.play()
        one = host.ledger.submission(key)
        assert host.runner.contest.state == "over"
    assert (one.status, one.reason) == ("withdrawn", "the ladder ended before the check")


@pytest.mark.process
def test_a_secret_seed_is_revealed_only_when_a_ladder_ends(tmp_path: Path) -> None:
    """After the end, submissions are refused and no matches are played, even after a restart."""
    with HostedLadder(tmp_path, SPEC.replace("seed: 5\n", "")) as ladder:
        (token,) = ladder.tokens("ada")
        eventually(lambda: ladder.ask("/health").body["matches"] > 5)
        with sqlite3.connect(tmp_path / "results" / "course.db") as store:
            (secret,) = store.execute("SELECT secret FROM run").fetchone()
        match = ladder.ask("/api/t/ladder/matches").body["matches"][0]["id"]
        pages = ["/", "/health", "/metrics", "/api/ladder", "/api/live", "/api/standings", "/api/t/ladder/matches"]
        pages += [f"/api/t/ladder/match/{match}", "/api/t/ladder/entry?name=random", "/api/agents/random"]
        assert secret not in str([ladder.ask(page).body for page in pages])
        assert ladder.ask("/api/ladder").body["commitment"]
        exported = arena_in(tmp_path)("export", "results/course.db").stdout
        assert match in exported
        assert secret not in exported
        assert secret not in ladder.errors.read_text()
        assert ladder.admin("reveal").returncode == 0
        eventually(lambda: ladder.ask("/health").body["state"] == "over")
        answer = ladder.submit(token, agent())
        assert (answer.status, answer.body["error"]) == (422, "this ladder has ended")
        code, said = ladder.end()
        assert (code, said) == (0, f"seed: {secret}\n")
        ladder.again()
        eventually(lambda: ladder.ask("/health").body["state"] == "over")
        assert ladder.ask("/health").body["matches"] == 0
        assert ladder.submit(token, agent()).status == 422


@pytest.mark.process
def test_a_restart_loads_no_agents_and_their_output_does_not_reach_the_host(tmp_path: Path) -> None:
    """The module of the agent notes when it is loaded: for its check and for its matches, but not for a restart. The agent also
    prints so much that it would fill the log of a ladder in a night. Its author can read the end of this output.
    """
    said = tmp_path / "loaded.txt"
    loud = agent("print('noise ' * 4000, file=sys.stderr)\n        " + GOOD).replace(b"import os", b"import sys, os")
    noisy = f"open({str(said)!r}, 'a').write('x')\n".encode() + loud
    with HostedLadder(tmp_path) as ladder:
        assert ladder.admin("pause").returncode == 0
        (token,) = ladder.tokens("ada")
        key = ladder.submit(token, noisy).body["id"]
        assert ladder.verdict(token, key)["status"] == "playing"
        eventually(lambda: any(row["agent"] == "ada/mine@1" for row in ladder.rows()))
        before = said.read_text()
        assert before
        ladder.end()
        ladder.again()
        eventually(lambda: any(row["agent"] == "ada/mine@1" for row in ladder.rows()))
        assert said.read_text() == before
        assert ladder.admin("resume").returncode == 0
        eventually(lambda: any(row["agent"] == "ada/mine@1" and row["games"] for row in ladder.rows()))
        log = ladder.ask(f"/api/submissions/{key}/log", token).body["log"]
        assert set(log.split()) >= {"noise"}
        assert len(log) <= 16 << 10
        (file,) = (tmp_path / "results" / "course.db.logs").iterdir()
        assert file.stat().st_size <= 48 << 10
        assert "noise" not in ladder.end()[1]
