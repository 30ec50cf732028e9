"""`arena new course` writes a folder, and its hidden tests tell good agents from first files."""

import subprocess
import sys
from pathlib import Path

import pytest

from arena import load_plugins
from arena.cli import cli
from arena.errors import ArenaError
from arena_check.new import EXERCISES, write_course

pytestmark = pytest.mark.process

SCHEMA_LINE = "# yaml-language-server: $schema=course.schema.json"

GOOD = {
    "heuristic": "from arena_games.connect_four_heuristics import OpenLines as good\narena_heuristics = lambda: [good]\n",
    "alpha_beta": "from arena_agents.alpha_beta import AlphaBeta as Good\narena_agents = lambda: [Good]\n",
    "mcts": "from arena_agents.mcts import MCTS as Good\narena_agents = lambda: [Good]\n",
    "learner": "from arena_agents.simple import Greedy as Good\narena_agents = lambda: [Good]\n",
    "solver": "from arena_agents.best_first import AStar as Good\narena_agents = lambda: [Good]\n",
}


def test_a_new_course_is_written_but_never_into_an_existing_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A course on a puzzle is refused, too."""
    monkeypatch.chdir(tmp_path)
    for name, words in (("term", []), ("spring", ["--game", "othello"])):
        assert cli(["new", "course", name, *words], standalone_mode=False) == 0
        texts = [file.read_text() for file in Path(name).rglob("*") if file.is_file() and file.suffix != ".json"]
        assert "$" not in "".join(texts).replace(SCHEMA_LINE, "")
    for name, game, message in (("term", None, "exists"), ("other", "sliding-tiles", "two players")):
        with pytest.raises(ArenaError, match=message):
            write_course(name, tmp_path, load_plugins(()), game)
    assert not Path("other").exists()
    with pytest.raises(Exception, match="accepts only the option"):
        cli(["new", "course", "third", "--package"], standalone_mode=False)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_hidden_tests_pass_for_a_good_agent_and_fail_for_the_unedited_template(tmp_path: Path, exercise: str) -> None:
    """A built-in agent passes all tests of an exercise. The template plays by the rules, which the first test checks, but
    fails a later test.
    """
    write_course("term", tmp_path, load_plugins(()))
    (tmp_path / "good.py").write_text(GOOD[exercise])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"term/exercises/{exercise}"]
    good = subprocess.run([*words, "--submission", "good.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout
    first = subprocess.run([*words, "-x"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert first.returncode == 1, first.stdout
    assert "test_it_keeps_the_rules" not in first.stdout, first.stdout
