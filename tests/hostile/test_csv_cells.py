"""Texts in a store cannot become formulas in a spreadsheet or control a terminal."""

import csv
import io
from pathlib import Path

import pytest

import arena as api
from arena.results.figures import Figure
from arena.results.layout import TextTable, csv_line
from tests.conftest import Arena

pytestmark = pytest.mark.promise(hole="text", isolation="any")

PLUGIN = '''
from arena import Agent, hookimpl
class Evil(Agent):
    """Raises an order to the terminal."""
    name = "evil"
    def choose(self, game, state, search): raise ValueError("\\\\x1b]0;owned\\\\x07")
@hookimpl
def arena_agents(): return [Evil]
'''


@pytest.mark.unit
@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1+1", "＝1+1", "＋1", "－1", "＠SUM(A1)"])  # noqa: RUF001
def test_a_text_that_begins_like_a_formula_stays_text(text: str) -> None:
    """The characters come from OWASP's list, which also names their full-width forms."""
    (cells,) = csv.reader([csv_line([text, -1, -0.5, None, "a=b"])])
    assert cells[0].startswith("'")
    assert cells[1:] == ["-1", "-0.5", "", "a=b"]
    _, row = TextTable(["=agent", "score"], [[f"{text}a", Figure("-12.5")]]).text("tsv").split("\n")
    label, score = row.split("\t")
    assert label.startswith("'")
    assert score.strip() == "-12.5"


@pytest.mark.unit
def test_only_cells_whose_type_is_a_number_are_written_as_numbers() -> None:
    """A label is written as text even if it looks like a number."""
    shown = ["-496 (-600 to -5)", "+35 points", "-3.4 (p = 0.01)", "+35 (x 0.935)", "-496 (< 0.1 %)", "-1.5e-05"]
    labels = [*shown, "-2+HYPERLINK(1)", "+1 cmd|' /C calc'!A0", "-1+A1", "=1+1", "-"]
    _, *rows = TextTable(["cell"], [[text] for text in [*map(Figure, shown), -3, *labels]]).text("tsv").split("\n")
    assert [row.strip() for row in rows] == [*shown, "-3", *[f"'{text}" for text in labels]]


@pytest.mark.unit
@pytest.mark.parametrize(
    "arguments",
    [
        ["leaderboard", "cup.db"],
        ["matches", "cup.db"],
        ["compare", "cup.db", "--across"],
        ["compare", "cup.db", "greedy", "random", "--across"],
        ["compare", "puzzles.db"],
        ["compare", "puzzles.db", "a-star", "random"],
        ["heuristic", "--on", "sliding-tiles", "--set", "rows=2", "manhattan"],
    ],
)
def test_numbers_with_signs_are_not_escaped_as_formulas(arguments: list[str], invoke: Arena, tmp_path: Path) -> None:
    """Elo, returns and differences have signs. No label in these tables begins like a formula."""
    if "heuristic" not in arguments:
        seats = {"agents": ["greedy", "random"], "games": ["tic-tac-toe", "breakthrough", "connect-four"], "rounds": 3}
        puzzles = {"agents": ["a-star", "random", "greedy"], "game": "sliding-tiles", "rounds": 5}
        for name, spec in (("cup.db", seats), ("puzzles.db", puzzles)):
            if name in arguments:
                api.run(spec, store=tmp_path / name)
    told = invoke(*arguments, "--format", "tsv").stdout
    cells = [cell for line in told.split("\n") if "\t" in line for cell in line.split("\t")]
    assert len(cells) > 10
    assert [cell for cell in cells if cell.strip().startswith("'")] == []


@pytest.mark.unit
@pytest.mark.parametrize("start", ["\t", "\r", "\n"])
def test_a_text_that_begins_with_a_control_character_stays_text(start: str) -> None:
    """OWASP lists these, too, because a spreadsheet may skip them."""
    ((cell,),) = csv.reader(io.StringIO(csv_line([f"{start}=1+1"])))
    assert cell.startswith(("\\", "'"))
    assert TextTable(["agent"], [[f"{start}=1+1"]]).text("tsv").split("\n")[1].strip().startswith("\\")


@pytest.mark.unit
def test_labels_stay_different_after_escaping() -> None:
    """The reader of a cell removes one leading apostrophe."""
    labels = ["-d", "'-d", "''-d", " =1", "' =1", "d'", "+", "@x", "plain"]
    read = [row[0] for row in csv.reader(io.StringIO("\n".join(csv_line([label]) for label in labels)))]
    assert [cell.removeprefix("'") for cell in read] == labels
    assert [cell[0] for cell in read] == ["'"] * 5 + ["d", "'", "'", "p"]
    cells = [TextTable(["agent"], [[label]]).text("tsv").split("\n")[1] for label in labels if label[0] != " "]
    assert [cell.strip().removeprefix("'") for cell in cells] == [label for label in labels if label[0] != " "]


def test_csv_and_tables_contain_no_control_characters(arena: Arena, tmp_path: Path) -> None:
    """Labels are formulas, and the message of an exception contains escape codes."""
    (tmp_path / "evil.py").write_text(PLUGIN)
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [str(tmp_path / "evil.py")]}
    api.run({**spec, "agents": ["evil", {"agent": "random", "label": "=HYPERLINK(1)"}]}, store=tmp_path / "cup.db")
    for words in (["export", "--format", "csv"], ["export", "--format", "tidy"], ["leaderboard", "--format", "csv"]):
        said = arena(words[0], "cup.db", *words[1:]).stdout
        assert "\x1b" not in said
        cells = [cell for row in csv.reader(io.StringIO(said)) for cell in row]
        assert not [cell for cell in cells if cell.startswith("=")]
        assert (words[-1] == "csv" and words[0] == "export") or "'=HYPERLINK(1)" in cells
    listed = arena("matches", "cup.db", "--format", "csv").stdout
    assert "'=HYPERLINK(1)" in next(csv.reader([listed.splitlines()[1]]))
    checked = arena("check", "evil.py", "--game", "tic-tac-toe", "--matches", "1").stdout
    assert "owned" in checked
    assert "\x1b" not in checked


@pytest.mark.unit
def test_a_label_in_a_cell_is_plain_text() -> None:
    assert "\x1b" not in TextTable(["agent"], [["\x1b[2J"]]).text()
    assert r"\x1b[2J" in TextTable(["agent"], [["\x1b[2J"]]).text()
