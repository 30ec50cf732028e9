"""Every extension can be deleted, together with those that import it: the rest works, and what is missing says so in one line."""

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from arena.version import __version__
from tests.conftest import library_folders
from tests.core.test_surface import statements
from tests.fork_server import TIMEOUT_SECONDS, ForkServer

pytestmark = pytest.mark.process

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
EXTENSIONS = sorted(folder.name for folder in (TOP / "extensions").glob("arena_*"))
OTHERS = [TOP / "arena", TOP / "agents/arena_agents", TOP / "bridges/arena_bridges", TOP / "games/arena_games"]
QUICK = "game: tic-tac-toe\nrounds: 2\nagents: [random, greedy]\n"
MISSING: dict[str, list[tuple[list[str], str | None]]] = {
    "arena_bundle": [
        (["bundle", "quick.db", "-o", "quick.arena"], "arena bundle"),
        (["verify", "quick.arena"], "arena verify"),
    ],
    "arena_catalog": [
        (["docs"], "arena docs"),
        (["list", "games"], "arena list"),
        (["matrix"], "arena matrix"),
        (["plugins"], "arena plugins"),
        (["show", "tic-tac-toe"], "arena show"),
    ],
    "arena_check": [
        (["check", "tic-tac-toe"], "arena check"),
        (["try", "mine.py"], "arena try"),
        (["new", "agent", "a"], "arena new"),
    ],
    "arena_cluster": [(["run", "quick.yaml", "--no-store", "--cluster", "local:1"], "--cluster")],
    "arena_compare": [(["compare", "quick.db"], "arena compare"), (["stats", "1", "2", "3"], "arena stats")],
    "arena_compiled": [(words, None) for words in (["run", "quick.yaml", "--no-store"], ["show", "tic-tac-toe"], ["matrix"])],
    "arena_duel": [(["duel", "mine.py"], "arena duel")],
    "arena_review": [(["review", "quick.db"], "arena review")],
    "arena_isolation": [
        (["run", "apart.yaml", "--no-store"], "isolation: process"),
        (["run", "engine.yaml", "--no-store"], "command"),
    ],
    "arena_ladder": [(["ladder", "spec.yaml"], "arena ladder"), (["submit", "mine.py"], "arena submit")],
    "arena_pairings": [(["run", "swiss.yaml", "--no-store"], "the format swiss")],
    "arena_play": [(["play", "tic-tac-toe"], "arena play"), (["solve", "sliding-tiles"], "arena solve")],
    "arena_records": [
        (["export", "quick.db"], "arena export"),
        (["matches", "quick.db"], "arena matches"),
        (["merge", "all.db", "quick.db"], "arena merge"),
        (["replay", "quick.db", "1"], "arena replay"),
    ],
    "arena_setup": [],  # a library of others
    "arena_solution": [(["exploit", "kuhn-poker", "random"], "arena exploit"), (["run", "cfr.yaml", "--no-store"], "cfr-plus")],
    "arena_tune": [(["tune", "greedy"], "arena tune")],
    "arena_web": [(["serve"], "arena serve"), (["compare", "quick.db", "-o", "page.html"], "a page of comparisons")],
}
"""By extension the calls that need it, and what each says that it needs; None if the call works without."""
GROUPS = [
    ["arena_bundle", "arena_compiled", "arena_duel", "arena_ladder"],
    ["arena_play", "arena_review", "arena_tune"],
    ["arena_check", "arena_cluster"],
    ["arena_compare", "arena_solution"],
    *[[name] for name in ("arena_catalog", "arena_isolation", "arena_pairings", "arena_records", "arena_setup", "arena_web")],
]
"""The extensions that are deleted in one test, because Python takes long to start for each test. Of two extensions in different
groups, a test keeps the one and deletes the other, unless the first imports the second.
"""


@cache
def imported(package: str) -> set[str]:
    """The extensions that an extension imports."""
    found = set()
    for file in (TOP / "extensions" / package).rglob("*.py"):
        for node in statements(ast.parse(file.read_text()).body):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {name.partition(".")[0] for name in names} & set(EXTENSIONS)
    return found - {package}


def with_importers(package: str) -> set[str]:
    """An extension and all that import it, however indirectly."""
    gone = {package}
    while more := {other for other in EXTENSIONS if imported(other) & gone} - gone:
        gone |= more
    return gone


def tree(folder: Path, gone: Iterable[str]) -> dict[str, str]:
    """Lay out the packages without some extensions, as an installation; return the environment in which Python finds it."""
    for package in [*OTHERS, *[TOP / "extensions" / name for name in EXTENSIONS if name not in gone]]:
        (folder / package.name).symlink_to(package)
    info = folder / f"{PROJECT['name']}-{__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {__version__}\n")
    lines = []
    for group, points in PROJECT["entry-points"].items():
        left = {name: value for name, value in points.items() if value.partition(".")[0] not in gone}
        lines += [f"[{group}]", *[f"{name} = {value}" for name, value in left.items()]]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *library_folders()])}


def test_each_extension_is_deleted_once() -> None:
    """The groups contain every extension."""
    assert sorted(name for group in GROUPS for name in group) == EXTENSIONS


@pytest.mark.parametrize("group", GROUPS, ids=["+".join(group) for group in GROUPS])
def test_an_extension_can_be_deleted(group: list[str], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The help lists the other commands, and a tournament is played. A command that needs a deleted extension ends with one line
    that names the extension.
    """
    gone = set().union(*map(with_importers, group))
    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir()
    work.mkdir()
    environment = tree(site, gone)
    (work / "quick.yaml").write_text(QUICK)
    (work / "apart.yaml").write_text(f"{QUICK}isolation: process\n")
    (work / "engine.yaml").write_text("game: tic-tac-toe\nagents: [random, {agent: {command: [cat], protocol: uci}}]\n")
    (work / "swiss.yaml").write_text(f"{QUICK}format: swiss\n")
    (work / "cfr.yaml").write_text("game: kuhn-poker\nrounds: 1\nagents: [random, cfr-plus]\n")
    (work / "mine.py").write_text("")

    server = ForkServer(environment, "-S")  # no .pth file leads to the checkout
    request.addfinalizer(server.close)
    call = {name: value for name, value in environment.items() if name != "PYTHONPATH"}  # the server has it from its start

    def arena(*words: str) -> subprocess.CompletedProcess[str]:
        done = server.call([sys.executable, "-m", "arena", *words], work, call, None, TIMEOUT_SECONDS)
        assert done is not None
        return done

    lacking = arena("--help")
    assert (lacking.returncode, lacking.stderr) == (0, "")
    played = arena("run", "quick.yaml", "--store", "quick.db", "--workers", "1", "--quiet")
    assert (played.returncode, played.stderr) == (0, ""), played.stderr
    assert "greedy" in played.stdout
    for name in group:
        for words, needs in MISSING[name]:
            if needs == "a page of comparisons" and "arena_compare" in gone:
                continue  # the whole command is gone
            done = arena(*words)
            if needs is None:
                assert done.returncode == 0, done.stderr
                continue
            assert done.returncode in (1, 2), (words, done.stdout, done.stderr)
            said = [line for line in done.stderr.splitlines() if "needs the extension" in line]
            assert len(said) == 1, (words, done.stderr)
            assert f"{needs} needs the extension {name}, which is not installed" in said[0]
            assert "Traceback" not in done.stderr
