"""A ladder plays on a cluster: nodes and schedulers end, and no acknowledged match is lost."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from arena.store import Store
from tests.conftest import Arena, arena_in
from tests.eventually import eventually
from tests.extensions.cluster.conftest import Cluster, held
from tests.extensions.cluster.test_entry_code import HOSTS, MARK, source
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent


def test_a_ladder_continues_after_nodes_and_schedulers_end(clusters: Callable[..., Cluster], tmp_path: Path) -> None:
    """A submission is rated from matches on nodes, and only its own processes load its code. A node is killed, and then the
    scheduler. The ladder reports that it is paused, and continues with the next scheduler of its scheduler file.
    """
    cluster = clusters(workers=2)
    cluster.address  # noqa: B018 - reading the address waits for the file
    marks, folder = tmp_path / "marks", tmp_path / "ladder"
    folder.mkdir()
    with HostedLadder(folder, SPEC.replace("interval: 200", "interval: 1"), "--cluster", str(cluster.file)) as ladder:
        (token,) = ladder.tokens("ada")
        mine = source("mine", before=MARK.format(file=str(marks))).encode()
        assert ladder.verdict(token, ladder.submit(token, mine).body["id"])["status"] == "playing"

        def games() -> int:
            rows = ladder.ask("/api/standings").body["rows"]
            return next((row["games"] for row in rows if row["agent"] == "ada/mine@1" and row["rating_low"] is not None), 0)

        eventually(games)
        assert any("arena_isolation.agent_host" in name for name in _commands(cluster))
        cluster.workers[0].kill()
        before = games()
        eventually(lambda: games() > before + 20)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        state = eventually(lambda: (told := ladder.ask("/health").body["state"]).startswith("paused") and told)
        assert "has not answered" in state or "no server answers there" in state
        assert "\narena_ladder_paused 1\n" in ladder.ask("/metrics").body
        acknowledged = ladder.ask("/health").body["matches"]
        assert held(folder / "results" / "course.db") == acknowledged
        cluster.begin()
        eventually(lambda: ladder.ask("/health").body["state"] == "paused: the cluster has no workers")
        cluster.add()
        eventually(lambda: ladder.ask("/health").body["matches"] > acknowledged + 20)
        assert ladder.ask("/health").body["state"] == "playing"
        code, said = ladder.end()
    assert code == 0
    assert "note: paused: " in said
    assert set(marks.read_text().split()) == HOSTS
    done = arena_in(folder / "results")("check", "course.db")
    assert done.stdout.endswith(" matches, 0 faults\n"), done.stdout
    with Store.open(folder / "results" / "course.db") as store:
        assert not any(record.termination == "void" for record, _ in store.records())


HANGS = """
from pathlib import Path
import time
from arena import Agent, hookimpl

class Mine(Agent):
    name = "mine"

    def __init__(self):
        if Path({trigger!r}).exists():
            with open({starts!r}, "a") as file:
                file.write("hangs\\n")
            time.sleep(1e6)

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Mine]
"""


def test_only_one_node_waits_for_a_slow_start(dask: None, tmp_path: Path) -> None:
    """The other nodes play plan after plan without the hanging agent. After a restart with a shorter limit, its submission is
    suspended.
    """
    trigger, starts = tmp_path / "now", tmp_path / "starts"
    (folder := tmp_path / "ladder").mkdir()
    spec = SPEC.replace("interval: 200", "interval: 10") + "limits: {start_seconds: LONG}\n"
    with HostedLadder(folder, spec.replace("LONG", "60"), "--cluster", "local:2") as ladder:
        ada, bob = ladder.tokens("ada", "bob")
        ladder.admin("pause")
        hangs = ladder.submit(ada, HANGS.format(trigger=str(trigger), starts=str(starts)).encode()).body["id"]
        assert ladder.verdict(ada, hangs)["status"] == "playing"
        assert ladder.verdict(bob, ladder.submit(bob, agent()).body["id"])["status"] == "playing"
        trigger.touch()
        ladder.admin("resume")
        eventually(starts.exists)
        before = ladder.ask("/health").body["matches"]
        eventually(lambda: ladder.ask("/health").body["matches"] >= before + 20)  # more than one plan has
        assert starts.read_text() == "hangs\n", "only one node waits"
        ladder.end()
        (folder / "course.yaml").write_text(spec.replace("LONG", "4"))
        ladder.again()
        eventually(lambda: ladder.ask(f"/api/submissions/{hangs}", ada).body["status"] == "suspended")
        assert starts.read_text() == "hangs\n" * 3


def test_output_of_agents_on_local_nodes_is_not_mixed_with_the_hosts_output(dask: None, tmp_path: Path) -> None:
    with HostedLadder(tmp_path, SPEC.replace("interval: 200", "interval: 1"), "--cluster", "local:1") as ladder:
        (token,) = ladder.tokens("ada")
        assert ladder.verdict(token, ladder.submit(token, agent(f"print('spoken'); {GOOD}")).body["id"])["status"] == "playing"
        eventually(
            lambda: sum(row["games"] for row in ladder.ask("/api/standings").body["rows"] if row["agent"].startswith("ada/"))
        )
        code, said = ladder.end()
    assert (code, "spoken" in said) == (0, False)


def _commands(cluster: Cluster) -> list[str]:
    from psutil import NoSuchProcess, Process

    found = []
    for number in cluster.arena_processes():
        with suppress(NoSuchProcess):
            found += Process(number).cmdline()
    return found


def test_a_ladder_without_its_cluster_does_not_start(dask: None, arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "course.yaml").write_text(SPEC)
    for words, expected in (
        (["--cluster", "tcp://127.0.0.1:9"], "no server answers there"),
        (["--cluster", "local:2", "--workers", "2"], "--workers cannot be used with --cluster"),
    ):
        done = arena("ladder", "course.yaml", "--port", "0", *words)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert expected in done.stderr
