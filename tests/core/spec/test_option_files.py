"""Files that options name are found beside the spec, wherever arena was started and wherever the agent plays."""

from pathlib import Path

import pytest

import arena
from arena.spec import load_spec
from tests.conftest import Missing

SPEC = """
game: {{name: rock-paper-scissors, rounds: 3}}
agents:
- {{agent: policy-table, file: {file}, missing: uniform, isolation: {isolation}}}
- random
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


def spec_of(folders: Path, file: str, isolation: str = "none") -> Path:
    spec = folders / "specs" / "spec.yaml"
    spec.write_text(SPEC.format(file=file, isolation=isolation))
    return spec


@pytest.mark.parametrize("isolation", ["none", "process", "sandbox"])
@pytest.mark.parametrize("file", ["beside.txt", "here.txt"])
def test_an_agent_has_its_file_wherever_it_plays(folders: Path, file: str, isolation: str, missing: Missing) -> None:
    """No match is lost for a file that was there when the spec was read."""
    try:
        done = arena.run(spec_of(folders, file, isolation), workers=1)
    except arena.ArenaError as error:
        if isolation != "sandbox":
            raise
        missing("sandbox", str(error))
    assert [record.termination for record in done.records] == ["normal", "normal"]


def test_what_lies_beside_the_spec_comes_first_and_no_id_changes(folders: Path) -> None:
    (folders / "specs" / "here.txt").write_text("no line of a policy\n")
    with pytest.raises(arena.SpecError, match=r"specs/here\.txt:1: expected OBSERVATION"):
        load_spec(spec_of(folders, "here.txt"))
    seat = load_spec(spec_of(folders, "beside.txt")).boards[0].seats[0]
    assert '"file":"beside.txt"' in seat.identity
