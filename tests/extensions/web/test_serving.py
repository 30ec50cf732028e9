"""`arena serve`: how it begins, how it ends, and what it says when it cannot."""

import os
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def refused(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *environment.pop("options", "").split(), "-m", "arena", "serve", *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_line_is_the_address_and_a_signal_ends_it_with_0(serve: Any, place: Path, number: signal.Signals) -> None:
    with serve(place, "cup.db") as server:
        assert server.address == f"http://127.0.0.1:{server.port}/"
        assert server.ask("/").status == 302
        assert server.ask("/").headers["location"] == "/t/cup"
        assert server.end(number) == (0, "")


@pytest.mark.slow
def test_plugins_are_loaded_before_anybody_asks(serve: Any, place: Path, wait: Any) -> None:
    """So the first page of a match need not wait for it."""
    with serve(place, "cup.db") as server:
        tasks = Path(f"/proc/{server.process.pid}/task")
        wait(lambda: "".join([(task / "children").read_text() for task in tasks.iterdir()]), bool)


def test_a_port_that_is_taken_is_told(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, out, said = refused(place, "cup.db", "--port", str(taken.getsockname()[1]))
    assert (code, out) == (2, "")
    assert "choose another with --port" in said


def test_a_file_that_is_not_there_is_told(place: Path) -> None:
    code, out, said = refused(place, "none.db")
    assert (code, out) == (2, "")
    assert "none.db: no such file" in said


def test_the_faults_of_a_spec_are_told_before_anything_starts(place: Path) -> None:
    (place / "faulty.yaml").write_text("game: tic-tac-to\nagents: [random, greedy]\n")
    code, out, said = refused(place, "faulty.yaml")
    assert (code, out) == (2, "")
    assert "faulty.yaml:1:7" in said
    assert "did you mean 'tic-tac-toe'" in said


@pytest.mark.parametrize("missing", ["fastapi", "sse_starlette", "uvicorn", "jinja2"])
def test_without_the_extra_it_says_what_to_install(place: Path, tmp_path: Path, missing: str) -> None:
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    for entry in installed:
        for item in Path(entry).iterdir():
            if not item.name.startswith((missing, "__editable__")) and item.suffix != ".pth":
                (tmp_path / item.name).symlink_to(item)
    own = [path for path in sys.path if path and path not in installed]
    code, out, said = refused(place, "cup.db", options="-S", PYTHONPATH=os.pathsep.join([*own, str(tmp_path)]))
    assert (code, out) == (2, "")
    assert "pip install 'fairarena[web]'" in said


@pytest.mark.slow
def test_a_spec_is_played_while_it_is_shown(serve: Any, tmp_path: Path, wait: Callable[..., Any]) -> None:
    (tmp_path / "cup.yaml").write_text("name: Cup\ngame: tic-tac-toe\nrounds: 10\nagents: [random, greedy]\n")
    with serve(tmp_path, "cup.yaml") as server:
        state = wait(lambda: server.ask("/api/t/cup").json, lambda state: state["state"] == "finished")
        assert (state["name"], state["done"], state["total"]) == ("Cup", 20, 20)
    assert (tmp_path / "results" / "cup.db").is_file()


@pytest.mark.slow
def test_a_run_that_is_under_way_ends_with_the_server_and_keeps_its_matches(
    serve: Any, tmp_path: Path, wait: Callable[..., Any]
) -> None:
    (tmp_path / "long.yaml").write_text("game: othello\nrounds: 100000\nagents: [random, greedy]\n")
    with serve(tmp_path, "long.yaml") as server:
        wait(lambda: server.ask("/api/t/long").json, lambda state: state["done"] > 0)
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
