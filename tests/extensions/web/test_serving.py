"""`arena serve` starts, ends, and explains why it cannot start."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena_web.serve import NEEDED
from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process


def refused(folder: Path, *arguments: str) -> str:
    """Return the error of a server that does not start."""
    done = arena_in(folder)("serve", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_line_is_the_address_and_a_signal_ends_with_0(serve: Any, place: Path, number: signal.Signals) -> None:
    with serve(place, "cup.db") as server:
        assert server.address == f"http://127.0.0.1:{server.port}/"
        assert server.ask("/").status == 302
        assert server.ask("/").headers["location"] == "/t/cup"
        assert server.end(number) == (0, "")


def test_plugins_are_loaded_before_the_first_request(serve: Any, place: Path) -> None:
    """The first page of a match does not have to wait for the plugins."""
    with serve(place, "cup.db") as server:
        tasks = Path(f"/proc/{server.process.pid}/task")
        eventually(lambda: "".join([(task / "children").read_text() for task in tasks.iterdir()]))


def test_a_port_in_use_is_reported(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "choose another with --port" in refused(place, "cup.db", "--port", str(taken.getsockname()[1]))


def test_a_missing_file_is_reported(place: Path) -> None:
    assert "none.db: no such file" in refused(place, "none.db")


def test_errors_of_a_spec_are_reported_before_the_start(place: Path) -> None:
    (place / "faulty.yaml").write_text("game: tic-tac-to\nagents: [random, greedy]\n")
    said = refused(place, "faulty.yaml")
    assert "faulty.yaml:1:7" in said
    assert "did you mean 'tic-tac-toe'" in said


def test_missing_libraries_are_explained(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process finds none of the libraries, and in this process one is missing at a time."""
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    for entry in installed:
        for item in Path(entry).iterdir():
            if not item.name.startswith((*NEEDED, "__editable__")) and item.suffix != ".pth":
                (tmp_path / item.name).symlink_to(item)
    own = [path for path in sys.path if path and path not in installed]
    done = subprocess.run(
        [sys.executable, "-S", "-m", "arena", "serve", "cup.db"],
        cwd=place,
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*own, str(tmp_path)])},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "pip install 'fastapi>=0.118' 'jinja2>=3.1' 'python-multipart>=0.0.9' 'sse-starlette>=3' 'uvicorn>=0.30'" in done.stderr
    )
    for name in NEEDED:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            told = CliRunner().invoke(cli, ["serve", str(place / "cup.db")], standalone_mode=False).exception
            assert (
                "pip install 'fastapi>=0.118' 'jinja2>=3.1' 'python-multipart>=0.0.9' 'sse-starlette>=3' 'uvicorn>=0.30'"
                in str(told)
            )


def test_a_spec_is_played_while_it_is_shown(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text("name: Cup\ngame: tic-tac-toe\nrounds: 10\nagents: [random, greedy]\n")
    with serve(tmp_path, "cup.yaml") as server:
        state = eventually(lambda: (found := server.ask("/api/t/cup").json)["state"] == "finished" and found)
        assert (state["name"], state["done"], state["total"]) == ("Cup", 20, 20)
    assert (tmp_path / "results" / "cup.db").is_file()


def test_a_running_tournament_ends_with_the_server_and_keeps_its_matches(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text("game: othello\nrounds: 100000\nagents: [random, greedy]\n")
    with serve(tmp_path, "long.yaml") as server:
        eventually(lambda: server.ask("/api/t/long").json["done"] > 0)
    done = subprocess.run(
        [sys.executable, "-m", "arena", "leaderboard", "results/long.db", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=True,
    )
    assert '"finished": false' in done.stdout
    assert not (tmp_path / "results" / "long.db.lock").exists()
