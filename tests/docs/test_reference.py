"""The tables of the reference pages are made from the code."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import load_plugins
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena.traits import Traits

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
    assert made[name] == (REFERENCE / name).read_text("utf-8"), "make reference writes it anew"


def test_every_taken_name_of_a_column_is_listed_and_refused() -> None:
    """Each name in the manual is refused as a column of `report`, and so is each key of a row of a leaderboard."""
    page = (REFERENCE / "spec.md").read_text("utf-8")
    tables = page[page.index("<!-- report names") : page.index("<!-- end of taken names")]
    cells = [cells for line in tables.splitlines() if line.startswith("| ") for cells in [line.split(" | ")]]
    listed = set(re.findall(r"`([a-z_]+)`", " ".join([cell[0] if len(cell) == 4 else cell[1] for cell in cells])))
    assert {"gap", "rank", "superiority", "kept", "nodes", "own_nodes", "cost"} <= listed
    rows = {key for found in EVERY_KIND for row in Leaderboard.of_results(arena.run(found))[0].rows for key in row}
    for name in sorted(listed | rows):
        with pytest.raises(arena.SpecError, match=r"already have a column with this name|does not end in _low or _high"):
            load_spec({**EVERY_KIND[0], "report": {"columns": {name: "nodes + 1"}}})


EVERY_KIND: list[dict[str, Any]] = [
    {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1},
    {"game": "sliding-tiles", "agents": ["a-star"], "rounds": 1},
    {"game": "2048", "agents": ["random"], "rounds": 1},
]


def test_every_trait_is_listed_with_the_agents_that_need_it() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (.+) \|$", (REFERENCE / "traits.md").read_text("utf-8"), re.MULTILINE)
    assert [(trait, given_by.replace("`", "")) for trait, given_by, _ in rows] == list(Traits.WORDS.items())
    agents = load_plugins(environ=False).agents.items()
    for trait, _, names in rows:
        assert set(re.findall(r"`([a-z0-9-]+)`", names)) == {name for name, agent in agents if trait in agent.needs}, trait
