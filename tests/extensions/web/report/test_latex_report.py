"""`arena report --format tex` writes a file that LaTeX can read. A scanner checks this, because LaTeX itself is too large."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.leaderboard import Leaderboard

STRUCTURE = (
    "begin",
    "end",
    "centering",
    "caption",
    "label",
    "resizebox",
    "linewidth",
    "par",
    "smallskip",
    "parbox",
    "footnotesize",
)
COMMANDS = {*STRUCTURE, "toprule", "midrule", "bottomrule", "includegraphics"}
COMMANDS |= {"textasciitilde", "textbackslash", "textasciicircum", "ensuremath"}
"""The file may use these commands of LaTeX, booktabs and graphicx."""
HOSTILE = r"50 % \end{table} a_b & {x $y$ #1 ~ ^ <z>"
SPEC = {
    "name": HOSTILE,
    "game": "tic-tac-toe",
    "rounds": 4,
    "agents": ["random", "greedy", {"agent": "random", "label": HOSTILE}],
}
TOKEN = re.compile(r"%[^\n]*\n?|\\[a-zA-Z]+|\\.|[{}&~#$^_<>]|[^\\{}&~#$^_<>%]+", re.DOTALL)


def scan(text: str) -> list[list[list[str]]]:
    """Assert that every brace and environment is closed and every character is literal. Return the tables, cell by cell."""
    tables, open_, tokens = [], list[str](), TOKEN.findall(text)
    assert "".join(tokens) == text
    for number, token in enumerate(tokens):
        if token.startswith("%"):
            continue
        if re.fullmatch(r"\\[a-zA-Z]+", token):
            assert token[1:] in COMMANDS, token
        if token in ("\\begin", "\\end"):
            name = tokens[number + 2]
            if token == "\\begin":
                open_.append(name)
            else:
                assert open_.pop() == name, name
            if name == "tabular" and token == "\\begin":
                start = text.index("\\toprule", len("".join(tokens[:number])))
                body = text[start : text.index("\\bottomrule", start)].replace("\\toprule", "").replace("\\midrule", "")
                tables.append([re.split(r"(?<!\\)&", row) for row in body.split("\\\\\n") if row.strip()])
                columns = tokens[number + 5]
                assert {len(row) for row in tables[-1]} == {len(columns)}, columns
        elif token == "{":
            open_.append(token)
        elif token == "}":
            assert open_.pop() == "{"
        assert token not in tuple("~#$^_<>") or (token in "<>" and tokens[number - 2] == "\\ensuremath")
        assert token != "&" or "tabular" in open_
    assert not open_
    return tables


def plain(cell: str) -> str:
    """Return the text that LaTeX shows for a cell."""
    cell = re.sub(r"\\ensuremath\{(.)\}", r"\1", cell).replace("\\textasciitilde{}", "~").replace("\\^{}", "^")
    return re.sub(r"\\(.)", r"\1", cell.replace("\\textbackslash{}", "\0")).replace("\0", "\\").strip()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the store of a finished tournament with names that are full of commands."""
    arena.run({**SPEC, "report": {"where": "moves > 5", "columns": {"length": "moves"}}}, store=tmp_path / "cup.db")
    return tmp_path / "cup.db"


def test_the_file_contains_the_tables_and_includes_the_plots(store: Path, tmp_path: Path) -> None:
    """Each table contains the cells of the leaderboard, each included file exists, and labels are unique."""
    done = CliRunner().invoke(
        cli, ["report", str(store), "-o", str(tmp_path / "paper"), "--format", "tex"], catch_exceptions=False
    )
    assert done.exit_code in (0, None)
    text = (tmp_path / "paper" / "report.tex").read_text()
    board_table, cross = scan(text)
    (board,) = Leaderboard.load(store)
    shown = board.table()
    assert [[plain(cell) for cell in row] for row in board_table] == [shown.headings, *shown.cells]
    assert "Length" in shown.headings
    assert HOSTILE in [plain(row[1]) for row in board_table[1:]]
    assert [[plain(cell) for cell in row[1:]] for row in cross[1:]] == board.cross_cells()
    files = re.findall(r"\\includegraphics\[width=\\linewidth\]\{([^}]*)\}", text)
    assert sorted(files) == sorted(file.name for file in (tmp_path / "paper").glob("*.pdf"))
    assert len(files) >= 2
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels)) == text.count("\\caption{")
    assert "\\graphicspath{{paper/}}" in text
    assert "report.where (moves \\ensuremath{>} 5) leaves out" in text


def test_the_scanner_finds_latex_errors() -> None:
    """The errors are in a brace, an environment, a character or a row."""
    for wrong in ("{", "}", "\\begin{a}\\end{b}", "5 \\% of a_b", "a & b", "\\input{x}"):
        with pytest.raises((AssertionError, IndexError)):
            scan(wrong)
    with pytest.raises(AssertionError):
        scan("\\begin{tabular}{ll}\n\\toprule\n a & b \\\\\n\\midrule\n a \\\\\n\\bottomrule\n\\end{tabular}")
