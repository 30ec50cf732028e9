"""Nodes need the same programs and plugins, and a certificate if the cluster uses TLS."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena_cluster.address import address_of
from arena_cluster.dask import dask_engine
from arena_cluster.engine import ClusterError
from tests.conftest import Arena
from tests.extensions.cluster.conftest import Cluster, Known, hashed

Start = Callable[..., Cluster]


NASTY = """\
import arena_cluster.node

def play(order):
    raise RecursionError("deep")

arena_cluster.node.play = play
"""


def test_a_node_whose_failure_message_cannot_be_read_is_refused(
    clusters: Start, cup: Known, arena: Arena, tmp_path: Path
) -> None:
    """The note names the node, and the run continues without it."""
    (tmp_path / "nasty.py").write_text(NASTY)
    cluster = clusters()
    cluster.add(arguments=["--preload", str(tmp_path / "nasty.py")]).add()
    done = arena("run", cup.spec, "--store", "there.db", "--cluster", cluster.address)
    assert done.returncode == 0
    assert re.fullmatch(r"note: tcp://\S+ is refused: .*RecursionError.*\n", done.stderr)
    assert hashed(tmp_path / "there.db") == cup.whole


PROGRAM = (Path(__file__).parents[3] / "docs" / "examples" / "python_agent.py").read_text("utf-8")


def test_a_program_that_does_not_start_on_the_node_is_refused(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """Imported files are sent with the program, but data files are not. The run is refused before the first match, instead of a
    crash in each match.
    """
    spec = tmp_path / "p.yaml"
    spec.write_text(
        "game: connect-four\nrounds: 2\nseed: 0\n"
        f"agents: [random, {{agent: {{command: [{sys.executable}, agent.py]}}, label: mine}}]\n"
    )
    (tmp_path / "agent.py").write_text("import beside\n" + PROGRAM)
    (tmp_path / "beside.py").write_text("from package import deep\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "deep.py").write_text("")
    (tmp_path / "package" / "__init__.py").write_text("")
    whole = arena("run", spec, "--store", "there.db", "--cluster", two.address)
    assert (whole.returncode, whole.stderr) == (0, "")
    (tmp_path / "agent.py").write_text("import beside\nopen('beside.txt')\n" + PROGRAM)
    (tmp_path / "beside.txt").write_text("")
    assert arena("run", spec, "--store", "here.db").returncode == 0
    refused = arena("run", spec, "--no-store", "--cluster", two.address)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert (
        "agent.py starts on this machine, but not on the node: its process ended with code 1; only its own file is sent"
        in refused.stderr
    )
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")


def test_nodes_with_different_plugins_are_refused(clusters: Start, arena: Arena, tmp_path: Path) -> None:
    """An installed plugin has another version or other source code, or is missing. The run ends if all nodes are refused."""
    cluster = clusters()
    for name, version, choice in (("here", "1.0", 0), ("older", "0.9", 0), ("edited", "1.0", -1)):
        install_plugin(tmp_path / name, version, choice)
    spec = tmp_path / "p.yaml"
    spec.write_text("game: tic-tac-toe\nrounds: 20\nagents: [eager, random]\n")
    here = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "here"), os.environ.get("PYTHONPATH", "")])}
    cases: list[tuple[str | None, str]] = [
        ("older", "plugin eagerness:eager: the node has version 0.9, this machine 1.0"),
        ("edited", "the source code of eagerness:eager on the node differs from that on this machine"),
        (None, "plugin eagerness:eager 1.0 is not installed on the node"),
    ]
    for other, expected in cases:
        cluster.add(path=tmp_path / other if other else None).wait_for_workers()
        refused = arena("run", spec, "--no-store", "--cluster", cluster.address, **here)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert expected in refused.stderr
        assert re.search(r"tcp://127\.0\.0\.1:\d+: ", refused.stderr)
    cluster.add(path=tmp_path / "here").wait_for_workers()
    assert arena("run", spec, "--store", "here.db", **here).returncode == 0
    done = arena("run", spec, "--store", "there.db", "--cluster", cluster.address, **here)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"note: tcp://\S+ is refused: ", done.stderr)) == 3
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")


def install_plugin(folder: Path, version: str, choice: int) -> None:
    """Create a distribution with a plugin, as pip would install it."""
    info = folder / f"eagerness-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: eagerness\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[arena]\neager = eagerness\n")
    (folder / "eagerness.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class Eager(Agent):\n"
        '    """Plays one end of the list."""\n'
        '    name = "eager"\n'
        f"    def choose(self, game, state, search): return game.actions(state)[{choice}]\n"
        "@hookimpl\ndef arena_agents(): return [Eager]\n"
    )


def test_tls_needs_certificates_of_the_same_authority(clusters: Start, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """Dask's own options are used. Without certificates, with another authority's, and with tcp://, the connection is refused."""
    ours, theirs = make_authority(tmp_path / "ours"), make_authority(tmp_path / "theirs")
    from dask import config as dask_config

    cluster = clusters(options=_tls_options(ours))
    cluster.add()
    address = cluster.address
    assert address.startswith("tls://127.0.0.1:")
    there = arena("run", cup.spec, "--store", "there.db", "--cluster", address, **_tls_settings(ours))
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == cup.whole
    plain, open_ = address.replace("tls", "tcp"), clusters(name="open").address.replace("tcp", "tls")
    for target, settings, expected in (
        (address, {}, "distributed.comm.tls.ca-file is not set"),
        (address, _tls_settings(tmp_path / "nowhere"), "distributed.comm.tls.ca-file: no such file"),
        (address, _tls_settings(theirs), "the two sides do not trust each other"),
        (plain, _tls_settings(ours), "the scheduler uses TLS; use tls://"),
        (open_, _tls_settings(ours), "the scheduler does not use TLS; use tcp://"),
    ):
        options = {name[5:].lower().replace("__", ".").replace("_", "-"): file for name, file in settings.items()}
        with dask_config.set(options), pytest.raises(ClusterError, match=expected), dask_engine(address_of(target)):
            pass


MANUAL = (Path(__file__).parents[3] / "docs" / "how-to" / "cluster.md").read_text("utf-8")


def make_authority(folder: Path) -> Path:
    """Make an authority and a certificate by the commands of the manual."""
    folder.mkdir()
    found = re.search(r"<!-- authority -->\n *```sh\n(.*?)\n *```", MANUAL, re.DOTALL)
    assert found is not None
    for command in found[1].splitlines():
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


def test_the_commands_of_the_manual_use_the_tested_options() -> None:
    """The commands and variables of the manual equal the options in the test of TLS."""
    folder = Path("/shared/tls")
    commands = [
        line.split() for line in MANUAL.splitlines() if line.strip().startswith(("dask scheduler --pro", "dask worker tls"))
    ]
    assert [command[1] for command in commands] == ["scheduler", "worker"]
    for command in commands:
        assert set(_tls_options(folder)[2:]) <= set(command)
    exported = re.search(r"export (.*)", MANUAL)
    assert exported is not None
    assert dict(word.split("=") for word in exported[1].split()) == _tls_settings(folder)


def _tls_options(folder: Path) -> list[str]:
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    return ["--protocol", "tls", *[word for option, file in files.items() for word in (option, str(folder / file))]]


def _tls_settings(folder: Path) -> dict[str, str]:
    before = "DASK_DISTRIBUTED__COMM__TLS"
    return {
        f"{before}__CA_FILE": str(folder / "ca.pem"),
        f"{before}__CLIENT__CERT": str(folder / "cert.pem"),
        f"{before}__CLIENT__KEY": str(folder / "key.pem"),
    }
