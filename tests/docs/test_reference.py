"""The tables of the reference pages are made from the code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
REFERENCE = TOP / "docs" / "reference"


PAGES = ["builtin.md", "cli.md", "extension-api.md", "spec.md"]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Return the pages with tables made from the code, by their names. One process makes them all."""
    code = (
        "import json, sys, make_reference as made; registry = made.load_plugins(environ=False); "
        "print(json.dumps({name: made.write_tables(name, text, registry) for name, text in json.load(sys.stdin).items()}))"
    )
    pages = json.dumps({name: (REFERENCE / name).read_text("utf-8") for name in PAGES})
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code], cwd=TOP / "docs", input=pages, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_are_made_from_the_code(name: str, made: dict[str, str]) -> None:
    """Made anew, the page is the same."""
    assert made[name] == (REFERENCE / name).read_text("utf-8"), "make reference writes it anew"
