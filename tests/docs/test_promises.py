"""The page about trust agrees with the tests that attack."""

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
HOSTILE = sorted([*(TOP / "tests" / "hostile").glob("test_*.py"), *(TOP / "ladder" / "tests" / "hostile").glob("test_*.py")])
PAGE = TOP / "docs" / "explanation" / "trust.md"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script that writes the table."""
    monkeypatch.syspath_prepend(TOP / "docs")
    return import_module("make_promises")


def test_the_table_is_made_from_the_tests(script: Any) -> None:
    text = PAGE.read_text("utf-8")
    assert script.page(text) == text, "make figures writes it anew"


@pytest.mark.parametrize("file", HOSTILE, ids=lambda file: "-".join(file.relative_to(TOP).with_suffix("").parts))
def test_every_file_of_attacks_has_a_mark(file: Path) -> None:
    marks = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute) and node.attr == "promise"]
    assert marks


@pytest.mark.parametrize(
    ("mark", "row"),
    [
        ('hole="file", isolation="process"', "no promise | holds | no promise"),
        ('hole="file", isolation=("none", "sandbox"), holds=False', "open | no promise | open"),
        ('hole="file", isolation="any"', "holds | holds | holds"),
    ],
)
def test_a_pytest_mark_becomes_a_row_of_the_table(
    mark: str, row: str, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert row in make_table(script, f"@pytest.mark.promise({mark})\ndef test_it() -> None: ...\n", tmp_path, monkeypatch)


@pytest.mark.parametrize("mark", ['hole="typo", isolation="any"', 'hole="file", isolation="jail"', 'hole="file"'])
def test_an_invalid_mark_is_refused(mark: str, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names its file and line."""
    with pytest.raises(ValueError, match=r"test_made\.py:4: promise: expected hole="):
        make_table(script, f"@pytest.mark.promise({mark})\ndef test_it() -> None: ...\n", tmp_path, monkeypatch)


def test_promises_with_differing_marks_are_listed_as_partial(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = '@pytest.mark.promise(hole="clock", isolation="process", holds={})\ndef test_{}() -> None: ...\n'
    table = make_table(script, mark.format(True, "one") + mark.format(False, "two"), tmp_path, monkeypatch)
    assert "| no promise | in part | no promise | `test_made.py` |" in table


def make_table(script: Any, tests: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the table for a folder with one file of tests."""
    (folder / "test_made.py").write_text(f"import pytest\n\n\n{tests}")
    monkeypatch.setattr(script, "TOP", folder)
    monkeypatch.setattr(script, "TESTS", [folder])
    return str(script.table())


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
