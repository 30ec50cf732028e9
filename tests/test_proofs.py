"""The page of proofs has a row for each proof that passed, and names only tests that exist."""

import ast
import re
from pathlib import Path
from typing import Literal

import pytest

from tests.proofs import HEAD, ProofPage

TOP = Path(__file__).parents[1]
PAGE = (TOP / "docs" / "explanation" / "proofs.md").read_text("utf-8")


def make_report(name: str, outcome: str = "passed", *, proof: bool = True, seconds: float = 1800) -> pytest.TestReport:
    keywords: dict[str, Literal[1]] = {"proof": 1} if proof else {}
    report = pytest.TestReport(
        f"tests/{name}",
        ("", 0, ""),
        keywords,
        outcome,  # type: ignore[arg-type]
        None,
        "call",
        duration=seconds,
    )
    report.user_properties = [("covered", "95.1 %")]
    return report


def test_the_page_contains_a_row_for_each_proof_that_passed(tmp_path: Path) -> None:
    page = ProofPage(tmp_path / "proofs.md")
    for report in (
        make_report("test_b.py::test_it_covers[5-0.1]"),
        make_report("test_a.py::test_all_is_well"),
        make_report("test_a.py::test_this_fails", "failed"),
        make_report("test_a.py::test_this_is_fast", proof=False),
    ):
        page.pytest_runtest_logreport(report)
    page.pytest_sessionfinish()
    rows = (tmp_path / "proofs.md").read_text("utf-8").removeprefix(HEAD)
    assert rows == (
        "| all is well | covered: 95.1 % | `tests/test_a.py` |\n"
        "| it covers: `5-0.1` | covered: 95.1 % | `tests/test_b.py` |\n"
        "\nThese 2 proofs took 1.0 hours in total, counted one after the other.\n"
    )


def test_the_page_of_the_manual_names_proofs_that_exist() -> None:
    """Each row names a test function of the file, which has the mark `proof` or a case with it."""
    assert PAGE.startswith(HEAD)
    rows = re.findall(r"^\| ([^|:]+?)(?:: `[^`]*`)? \| .* \| `([^`]+)` \|$", PAGE.removeprefix(HEAD), re.MULTILINE)
    assert len(rows) > 80
    marked: dict[str, set[str]] = {}
    for words, file in rows:
        if file not in marked:
            functions = [one for one in ast.parse((TOP / file).read_text("utf-8")).body if isinstance(one, ast.FunctionDef)]
            marked[file] = {one.name for one in functions if any("proof" in ast.unparse(mark) for mark in one.decorator_list)}
        assert f"test_{words.replace(' ', '_')}" in marked[file], file


def test_each_folder_with_proofs_is_described() -> None:
    described = set(re.findall(r"`(tests[\w/]*)`", HEAD.partition("\n`make proofs` takes")[0]))
    files = [*(TOP / "tests").rglob("test_*.py"), *(TOP / "tests" / "ladder").rglob("test_*.py")]
    folders = {
        "/".join(file.relative_to(TOP).parts[:-1][:2])
        for file in files
        if "mark.proof" in file.read_text("utf-8") and file != Path(__file__)
    }
    assert folders - {"tests"} <= described
