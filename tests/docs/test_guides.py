"""What the guides promise beside their commands: the list of traits, and the ratio of two kinds of states."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena import load_plugins
from arena.traits import Traits
from tests.docs.pages import File, steps

pytestmark = pytest.mark.process

DOCS = Path(__file__).parents[2] / "docs"


def test_every_trait_is_listed_with_those_who_need_it() -> None:
    """In the order of the vocabulary, with what gives it and the built-in agents by their `needs`, as `arena show --traits`."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (.+) \|$", (DOCS / "reference" / "traits.md").read_text("utf-8"), re.MULTILINE)
    assert [(trait, given_by.replace("`", "")) for trait, given_by, _ in rows] == list(Traits.WORDS.items())
    agents = load_plugins(environ=False).agents.items()
    for trait, _, who in rows:
        assert set(re.findall(r"`([a-z0-9-]+)`", who)) == {name for name, agent in agents if trait in agent.needs}, trait


def test_numbers_are_faster_than_rows_as_the_guide_says(tmp_path: Path) -> None:
    """The same count of sequences, by both; rows take at least half as long again."""
    (script,) = [step for step in steps((DOCS / "how-to" / "fast-states.md").read_text("utf-8")) if isinstance(step, File)]
    (tmp_path / script.name).write_text(script.text)
    done = subprocess.run([sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=True)
    rows, bits, ratio = re.findall(r"[\d.]+", done.stdout)
    assert rows == bits == "15120"  # 9 * 8 * 7 * 6 * 5: nobody can have won before the fifth mark
    assert float(ratio) > 1.5, done.stdout
