"""The page about trust agrees with the tests that attack."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
HOSTILE = sorted([*(TOP / "tests" / "hostile").glob("test_*.py"), *(TOP / "ladder" / "tests" / "hostile").glob("test_*.py")])
PAGE = TOP / "docs" / "explanation" / "trust.md"


def made(code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", f"import make_promises as made; {code}"]
    return subprocess.run(words, cwd=TOP / "docs", capture_output=True, text=True, check=False)


@pytest.mark.process
def test_the_table_is_made_from_the_tests() -> None:
    done = made("print(made.page(made.PAGE.read_text('utf-8')), end='')")
    assert done.stdout == PAGE.read_text("utf-8"), f"make figures writes it anew {done.stderr}"


@pytest.mark.parametrize("file", HOSTILE, ids=lambda file: "-".join(file.relative_to(TOP).with_suffix("").parts))
def test_every_file_of_attacks_has_a_mark(file: Path) -> None:
    marks = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute) and node.attr == "promise"]
    assert marks


@pytest.mark.process
@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ('hole="file", isolation="process"', "no promise | holds | no promise"),
        ('hole="file", isolation=("none", "sandbox"), holds=False', "open | no promise | open"),
        ('hole="file", isolation="any"', "holds | holds | holds"),
        ('hole="typo", isolation="any"', "test_made.py:4: promise: expected hole="),
        ('hole="file", isolation="jail"', "test_made.py:4: promise: expected hole="),
        ('hole="file"', "test_made.py:4: promise: expected hole="),
    ],
)
def test_a_mark_becomes_a_row(mark: str, told: str, tmp_path: Path) -> None:
    """A wrong mark is refused with its file and line."""
    (tmp_path / "test_made.py").write_text(f"import pytest\n\n\n@pytest.mark.promise({mark})\ndef test_it() -> None: ...\n")
    done = made(f"made.TOP = made.Path({str(tmp_path)!r}); made.TESTS = [made.TOP]; print(made.table())")
    assert told in done.stdout + done.stderr


@pytest.mark.process
def test_marks_that_differ_hold_in_part(tmp_path: Path) -> None:
    mark = '@pytest.mark.promise(hole="clock", isolation="process", holds={})\ndef test_{}() -> None: ...\n'
    text = "import pytest\n" + mark.format(True, "one") + mark.format(False, "two")
    (tmp_path / "test_made.py").write_text(text)
    done = made(f"made.TOP = made.Path({str(tmp_path)!r}); made.TESTS = [made.TOP]; print(made.table())")
    assert "| no promise | in part | no promise | `test_made.py` |" in done.stdout


def test_the_tests_of_the_table_of_reports_exist() -> None:
    section = PAGE.read_text("utf-8").partition("## Reported elsewhere, right here")[2]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 7
    for fault, reported, _, named in rows:
        assert re.search(r"\]\(https://github\.com/[\w./-]+/(issues|pull)/\d+\)", reported), fault
        tests = [name.split("::") for name in re.findall("`(.*?)`", named)]
        assert tests, fault
        for file, test in tests:
            found = ast.parse((TOP / "tests" / file).read_text("utf-8")).body
            assert test in [node.name for node in found if isinstance(node, ast.FunctionDef)], f"{file}::{test}"
