"""Control codes of a terminal, and characters that reverse text, in every text of a store and of a spec."""

import json
import re
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import escape_controls
from arena.store import Store
from tests.rehash import rehash

pytestmark = [pytest.mark.promise(hole="text", isolation="any"), pytest.mark.process]
ORDER = "\x1b[2J\u202e\x9b2J\r"
SPECS: dict[str, dict[str, Any]] = {
    "game": {
        "name": "cup",
        "games": ["tic-tac-toe", {"name": "nim", "heaps": [1, 2]}],
        "rounds": 2,
        "seed": 3,
        "agents": [{"agent": "random", "label": "first"}, {"agent": "greedy", "label": "other"}],
        "anchor": "first",
        "columns": ["rank", "agent", "rating"],
        "sort": "rating",
        "report": {"where": "moves > 1", "columns": {"pace": "nodes / moves"}},
    },
    "puzzle": {
        "name": "tiles",
        "game": {"name": "sliding-tiles", "rows": 2, "columns": 3},
        "positions": ["1 2 3 4 0 5", "1 2 0 4 5 3"],
        "agents": ["a-star", {"agent": "best-first", "heuristic": "manhattan"}],
    },
}
PRINTING = [
    *("leaderboard", "leaderboard --format json --explain", "leaderboard --format html", "leaderboard --format csv"),
    *("export", "export --format csv", "export --format tidy", "check", "compare", "compare --across", "matches"),
    *("matches --format csv", "replay ID", "merge -o merged.db", "report -o report.html", "compare -o pairs.html"),
]
CELLS = {
    "run": ("started", "ended", "name", "hash", "spec", "boards", "plugins", "versions", "secret", "commitment", "revealed"),
    "record": ("returns", "termination", "drew", "adjusted"),
    "detail": (*("game", "position", "labels", "actions", "answer", "message", "traceback", "decisions", "timing", "spent"),),
    "place": ("seats",),
}
"""The text columns of a store."""


def find_controls(text: str) -> str | None:
    """Return the first control code in a text, with its surroundings."""
    found = re.search(r".{0,50}[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069].{0,50}", text, re.DOTALL)
    return found and ascii(found[0])


def run_command(words: list[str]) -> str:
    """Run a command in this process, and return what the program would print."""
    done = CliRunner().invoke(cli, words)
    if done.exception is None or isinstance(done.exception, SystemExit):
        return done.output
    assert isinstance(done.exception, arena.ArenaError), "".join(traceback.format_exception(done.exception))
    return done.output + escape_controls(str(done.exception))  # as `arena.cli.main` prints it


def list_changes(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value. In each copy, ORDER is appended to one of the texts or keys."""
    if isinstance(value, str):
        yield value + ORDER
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield {(f"{key}{ORDER}" if one == key else one): kept for one, kept in value.items()}
            for changed in list_changes(inner):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            for changed in list_changes(inner):
                yield [*value[:place], changed, *value[place + 1 :]]


def list_cells(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the table, the column and the new value of each text in a store. A cell with JSON has several texts."""
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in CELLS.items():
            for column in columns:
                (text,) = connection.execute(f"SELECT {column} FROM {table} ORDER BY {column} IS NULL").fetchone()
                yield table, column, f"{text or ''}{ORDER}"
                if text is not None and text[:1] in ("[", "{"):
                    for changed in list_changes(json.loads(text)):
                        yield table, column, json.dumps(changed)


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("stride", [pytest.param(29), pytest.param(1, marks=pytest.mark.proof)], ids=["some", "all"])
def test_no_text_of_a_store_controls_the_terminal(
    kind: str, stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text is replaced in turn, with correct hashes. If a command refuses the store, its message is printable."""
    monkeypatch.chdir(tmp_path)
    store = Path("cup.db")
    arena.run(SPECS[kind], store=store)
    with Store.open(store) as opened:
        keys = [record.id for record, _ in opened.records()]
    whole, cases = store.read_bytes(), list(list_cells(store))
    assert len(cases) > 100
    plain = [case for case in cases if case[2].endswith(ORDER)]
    for number, (table, column, value) in enumerate([*plain, *cases[::stride]]):
        store.write_bytes(whole)
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        rehash(store)
        altered = store.read_bytes()
        for command in PRINTING if stride == 1 else (PRINTING[number % len(PRINTING)], "leaderboard"):
            store.write_bytes(altered)
            for left in [*Path().glob("*.html"), *Path().glob("merged*")]:
                left.unlink()
            words = command.replace("ID", keys[0]).split()
            words = ["merge", words[2], "cup.db"] if words[0] == "merge" else [words[0], "cup.db", *words[1:]]
            shown = [run_command(words), *[page.read_text("utf-8") for page in Path().glob("*.html")]]
            assert not [found for text in shown if (found := find_controls(text))], (table, column, ascii(value), command)


@pytest.mark.parametrize("kind", SPECS)
def test_no_text_of_a_spec_controls_the_terminal(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text and each key is replaced in turn."""
    monkeypatch.chdir(tmp_path)
    for changed in list_changes(SPECS[kind]):
        Path("cup.yaml").write_text(json.dumps(changed), "utf-8")
        for words in (["validate", "cup.yaml"], ["run", "cup.yaml", "--no-store", "--workers", "1"]):
            assert find_controls(run_command(words)) is None, (ascii(changed), words)


def test_a_name_with_control_codes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(arena.ArenaError, match=r"name: expected printable text, got 'x\\x1b\[2J\\u202e'"):
        arena.run({**SPECS["puzzle"], "name": "x\x1b[2J\u202e"})


def test_the_name_of_a_tournament_from_its_file_is_printable(tmp_path: Path) -> None:
    (tmp_path / "x\x1b[2J.yaml").write_text(json.dumps({**SPECS["puzzle"], "name": None}))
    assert arena.run(str(tmp_path / "x\x1b[2J.yaml")).name == "x\\x1b[2J"
