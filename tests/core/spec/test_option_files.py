"""Paths in options are relative to the spec."""

from pathlib import Path
from typing import Annotated, Literal

import pytest

import arena
from arena.api.games import SpecFile
from arena.schedule.fingerprint import Fingerprint
from arena.spec import load_spec
from arena.spec.parameters import Parameters
from tests.conftest import arena_in

SPEC = """
game: {{name: rock-paper-scissors, rounds: 3}}
agents:
- {{agent: policy-table, file: {file}, missing: uniform, isolation: {isolation}, label: one}}
- {{agent: policy-table, file: {other}, missing: uniform, isolation: {isolation}, label: other}}
rounds: 1
"""
LINE = "-\trock=1\n"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a spec's file, and one in which arena is started, with another file."""
    for folder, file in (("specs", "beside.txt"), ("started", "here.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text(LINE)
    monkeypatch.chdir(tmp_path / "started")
    return tmp_path


def spec_of(folders: Path, file: str, other: str = "beside.txt", isolation: str = "none") -> Path:
    spec = folders / "specs" / "spec.yaml"
    spec.write_text(SPEC.format(file=file, other=other, isolation=isolation))
    return spec


@pytest.mark.process
@pytest.mark.parametrize("isolation", ["none", "process", "sandbox"])
def test_an_agent_finds_the_file_of_its_option_in_every_process(folders: Path, isolation: str) -> None:
    done = arena.run(spec_of(folders, "beside.txt", "here.txt", isolation), workers=1)
    assert [record.termination for record in done.records] == ["normal", "normal"]


def test_a_file_beside_the_spec_takes_precedence_over_one_in_the_working_directory(folders: Path) -> None:
    (folders / "specs" / "here.txt").write_text("no line of a policy\n")
    with pytest.raises(arena.SpecError, match=r"specs/here\.txt:1: expected OBSERVATION"):
        load_spec(spec_of(folders, "here.txt"))
    seat = load_spec(spec_of(folders, "beside.txt")).boards[0].seats[0]
    assert '"file":"beside.txt"' in seat.identity


GRID = """
game: {{name: grid-path, map: {map}, neighbours: 4}}
agents: [{{agent: a-star, heuristic: differential, isolation: {isolation}}}]
rounds: 2
"""
MAP = "type octile\nheight 1\nwidth {}\nmap\n{}\n"


def map_of(width: int) -> str:
    """A corridor."""
    return MAP.format(width, "." * width)


@pytest.mark.process
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_a_game_finds_the_file_of_its_option_in_every_process(folders: Path, isolation: str) -> None:
    """A file of the same name in the current folder is ignored."""
    (folders / "specs" / "own.map").write_text(map_of(30))
    (folders / "started" / "own.map").write_text(map_of(2))
    spec = folders / "specs" / "grid.yaml"
    spec.write_text(GRID.format(map="own.map", isolation=isolation))
    store = folders / "started" / "grid.db"
    done = arena.run(spec, workers=1, store=store)
    assert [record.termination for record in done.records] == ["normal", "normal"]
    assert max(len(record.actions) for record in done.records) > 1
    assert "content" in Fingerprint.take_all(load_spec(spec))["own.map"].hashes
    assert load_spec(spec).boards[0].positions.changed == {"map": "own.map", "neighbours": 4}
    shown = arena_in(folders / "started")("replay", store, done.records[0].id)
    assert shown.returncode == 0, shown.stdout


def test_a_file_option_may_be_optional_or_accept_names(folders: Path) -> None:
    class Reader:
        def __init__(self, *, prompt: SpecFile | None = None, board: Literal["rooms"] | SpecFile = "rooms") -> None: ...

    (folders / "specs" / "rooms").mkdir()
    found = Parameters(Reader).find_files({"prompt": "beside.txt", "board": "rooms"}, folders / "specs")
    assert found == {"prompt": str(folders / "specs" / "beside.txt")}
    assert Parameters(Reader).find_files({"prompt": None, "board": "here.txt"}, folders) == {
        "board": str(Path.cwd() / "here.txt")
    }


def test_a_type_hint_may_contain_a_file_at_any_depth() -> None:
    class Reader:
        def __init__(
            self,
            *,
            deep: Annotated[Annotated[SpecFile, "more"] | Literal["own", 3] | int | None, "most"] = None,
            many: list[dict[str, SpecFile]] | str = "",
            plain: Annotated[str, "a text"] = "",
        ) -> None: ...

    found = Parameters(Reader)
    assert found.names_file("deep", "x")
    assert found.names_file("many", "x")
    assert not any(found.names_file("deep", value) for value in ("own", 3, None))
    assert not found.names_file("plain", "x")
    assert not found.names_file("unknown", "x")
