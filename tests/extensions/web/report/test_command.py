"""The command refuses invalid calls with clear messages, and never leaves an incomplete file."""

import os
import resource
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import run
from arena.api.cli import PAGE_FILE
from arena.cli import cli

Arena = Callable[..., subprocess.CompletedProcess[str]]


def refused(invoke: Arena, *words: object, **environment: str) -> str:
    done = invoke("report", *words, **environment)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_an_invalid_store_is_refused(invoke: Arena, played: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("no database at all, but long enough to have a header of one hundred bytes" * 3)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    assert "no store was found at missing.db" in refused(invoke, "missing.db", "-o", tmp_path / "r.html")
    assert "not a database" in refused(invoke, text, "-o", tmp_path / "r.html")
    assert "another program" in refused(invoke, other, "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_store_without_matches_is_refused(invoke: Arena, played: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.write_bytes((played / "small.db").read_bytes())
    with sqlite3.connect(empty) as connection:
        connection.execute("DELETE FROM place")
    connection.close()
    assert "contains no match" in refused(invoke, empty, "-o", tmp_path / "r.html")
    with sqlite3.connect(empty) as connection:
        connection.execute("DELETE FROM run")
    connection.close()
    assert "contains no run yet" in refused(invoke, empty, "-o", tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == [empty]


def test_an_output_that_cannot_be_written_is_refused(invoke: Arena, tmp_path: Path) -> None:
    assert "does not exist" in refused(invoke, "small.db", "-o", tmp_path / "no" / "r.html")
    assert "a folder; expected" in refused(invoke, "small.db", "-o", tmp_path)
    file = tmp_path / "file"
    file.write_text("kept")
    assert "a file; expected" in refused(invoke, "small.db", "-o", file, "--format", "png")
    assert file.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [file]


def test_a_store_is_never_overwritten(invoke: Arena, played: Path, tmp_path: Path) -> None:
    """This includes the reported store under any name, another store, and the files that SQLite keeps beside it."""
    store, link, other = tmp_path / "kept.db", tmp_path / "link", tmp_path / "other.html"
    store.write_bytes((played / "small.db").read_bytes())
    other.write_bytes(store.read_bytes())
    link.symlink_to(store)
    (tmp_path / "kept.db-wal").write_bytes(b"")
    before = store.read_bytes()
    for place in (store, link, other, tmp_path / "kept.db-wal", tmp_path / "kept.db-shm"):
        assert "a database, or part of one, which would be overwritten" in refused(invoke, store, "-o", place)
    assert store.read_bytes() == other.read_bytes() == before
    assert link.is_symlink()


@pytest.mark.parametrize("through", ["", "a link to "])
@pytest.mark.process
def test_pipes_and_sockets_are_refused(invoke: Arena, tmp_path: Path, through: str) -> None:
    """Opening a named pipe would hang. Both still exist afterwards."""
    pipe, plug = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(plug))
    places = [(pipe, "a named pipe"), (plug, "a socket")]
    for place, what in places:
        name = place
        if through:
            name = tmp_path / f"to-{place.name}"
            name.symlink_to(place)
        assert f"-o {name}: {what}; expected the name of a file" in refused(invoke, "small.db", "-o", name)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISSOCK(plug.stat().st_mode)
    assert len(list(tmp_path.iterdir())) == (4 if through else 2)


def test_a_loop_of_links_is_refused(invoke: Arena, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    assert "form a loop; choose another path" in refused(invoke, "small.db", "-o", one)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_rights_is_refused(invoke: Arena, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be written" in refused(invoke, "small.db", "-o", tmp_path / "r.html")


def test_an_error_of_the_file_system_is_reported(invoke: Arena) -> None:
    """Files cannot be created in /proc, not even by root."""
    assert "cannot be written" in refused(invoke, "small.db", "-o", "/proc/r.html")


def test_an_unknown_format_and_a_missing_option_are_refused(invoke: Arena) -> None:
    assert "write --format tex -o FOLDER" in refused(invoke, "small.db", "-o", "r.tex")
    assert "gif" in refused(invoke, "small.db", "-o", "x", "--format", "gif")
    assert "-o" in refused(invoke, "small.db")


def test_plots_for_a_paper_have_the_requested_agents_size_and_font(tmp_path: Path) -> None:
    """Of seventeen agents one is left out, and a note on stderr says so. Sizes are in inches, at 300 dots per inch."""
    agents = [{"agent": "random", "label": f"random {number}"} for number in range(17)]
    spec = {"game": "tic-tac-toe", "rounds": 1, "agents": agents}
    run(spec, store=tmp_path / "many.db")

    def call(*words: str) -> Result:
        return CliRunner().invoke(cli, ["report", str(tmp_path / "many.db"), "-o", str(tmp_path / "plots"), *words])

    done = call("--format", "svg")
    assert done.exit_code == 0, done.stderr
    assert "note: 1-tic-tac-toe-convergence.svg leaves out 1 agent for lack of space; use --agents LABEL" in done.stderr
    options = ["--size", "7x3", "--font", "serif", "--font-size", "10", "--columns", "2"]
    done = call("--format", "png", "--agents", "random 3", "--agents", "random 16", *options)
    assert "leaves out" not in done.stderr
    for name in ("ratings", "cross", "convergence"):
        header = (tmp_path / "plots" / f"1-tic-tac-toe-{name}.png").read_bytes()[16:24]
        assert struct.unpack(">II", header) == (2100, 900)
    call("--format", "svg", "--agents", "random 3", *options)
    text = (tmp_path / "plots" / "1-tic-tac-toe-ratings.svg").read_text("utf-8")
    assert "random 3<" in text
    assert "random 16" not in text
    assert "serif" in text
    for words, told in (
        (["--format", "png", "--agents", "nobody"], "unknown entry of"),
        (["--format", "png", "--size", "7x"], "expected inches from 1 to 40, as in 3.5 or 7x4, got '7x'"),
        (["--format", "png", "--font", "No Such Font"], "the font 'No Such Font' is not installed"),
        (["--columns", "2"], "apply only to plot files; add --format pdf"),
    ):
        refusal = call(*words)
        assert refusal.exit_code != 0
        assert told in f"{refusal.stderr}{refusal.exception}"


@pytest.mark.parametrize("modules", [("matplotlib", "matplotlib.figure"), ("matplotlib.figure",), ("jinja2",)])
def test_a_missing_library_names_its_extra(
    modules: Sequence[str], invoke: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is written."""
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    said = refused(invoke, "small.db", "-o", tmp_path / "r.html")
    assert modules[0].partition(".")[0] in said.lower()
    assert "pip install 'jinja2>=3.1' 'matplotlib>=3.8'" in said
    assert not (tmp_path / "r.html").exists()


def test_a_report_replaces_the_previous_one_atomically(played: Path, tmp_path: Path) -> None:
    """If the disk is full, the old page stays, and no other file is left."""
    page = tmp_path / "r.html"
    page.write_bytes(old := PAGE_FILE.mark + b"the old page")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        done = CliRunner().invoke(cli, ["report", str(played / "small.db"), "-o", str(page)], standalone_mode=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    told = "cannot be written: File too large; allow larger files there (ulimit -f), or choose another path"
    assert told in str(done.exception)
    assert page.read_bytes() == old
    assert list(tmp_path.iterdir()) == [page]


def test_each_plot_is_a_file(invoke: Arena, tmp_path: Path) -> None:
    """A note counts the plots that are in the folder already. Files with other names stay."""
    old = tmp_path / "plots" / "9-old-ratings.pdf"
    old.parent.mkdir()
    old.write_bytes(b"old")
    done = invoke("report", "small.db", "-o", tmp_path / "plots", "--format", "svg")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"{old.parent} already contains 1 plot; plots with the same names are replaced, and the others are kept" in done.stderr
    assert old.read_bytes() == b"old"
    names = sorted(file.name for file in old.parent.iterdir() if file != old)
    assert names == [f"1-tic-tac-toe-{name}.svg" for name in ("convergence", "cross", "ratings")]
    assert "3 plots" in done.stderr
