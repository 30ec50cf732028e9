"""`arena new course`: the ladders are valid, and the hidden tests tell good agents from first files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from arena import load_plugins
from arena.cli import cli
from arena.errors import ArenaError
from arena_check.new_course import EXERCISES, write_course
from arena_ladder.spec import list_assignments

pytestmark = pytest.mark.process

GOOD = {
    "heuristic": "from arena_games.connect_four_heuristics import OpenLines as good\narena_heuristics = lambda: [good]\n",
    "alpha_beta": "from arena_agents.alpha_beta import AlphaBeta as Good\narena_agents = lambda: [Good]\n",
    "mcts": "from arena_agents.mcts import MCTS as Good\narena_agents = lambda: [Good]\n",
    "learner": "from arena_agents.simple import Greedy as Good\narena_agents = lambda: [Good]\n",
    "solver": "from arena_agents.best_first import AStar as Good\narena_agents = lambda: [Good]\n",
}


def test_a_course_is_written_once_and_its_ladders_are_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for another game of two players; neither a puzzle nor a folder that is there is touched."""
    monkeypatch.chdir(tmp_path)
    for name, words in (("term", []), ("spring", ["--game", "othello"])):
        assert cli(["new", "course", name, *words], standalone_mode=False) == 0
        specs = [str(file) for file in list_assignments(Path(name))]
        assert specs == sorted([f"{name}/15-puzzle.yaml", f"{name}/{words[-1] if words else 'connect-four'}.yaml"])
        assert cli(["validate", *specs], standalone_mode=False) == 0
        assert capsys.readouterr().out.count("2 authors, marks pass, good, top") == 2
        for file in specs:
            first, spec = Path(file).read_text().split("\n", 1)
            found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            assert found is not None, first
            schema = Draft202012Validator(json.loads(Path(name, found[1]).read_text()))
            assert not [*schema.iter_errors(yaml.safe_load(spec))]
            late = {"closes": "2026-11-30T18:00+01:00", "late": {"until": "2026-12-02T18:00+01:00", "penalty": 0.2}}
            assert not [*schema.iter_errors({**yaml.safe_load(spec), "submissions": late})]
            for key, wrong in (("rounds", 3), ("submissions", {"keeps": 2}), ("marks", {"margin": -1})):
                assert [*schema.iter_errors({**yaml.safe_load(spec), key: wrong})], key
        texts = [file.read_text() for file in Path(name).rglob("*") if file.is_file() and file.suffix != ".json"]
        assert "$" not in "".join(texts).replace(first, "")
    for name, game, message in (("term", None, "exists"), ("other", "sliding-tiles", "two players")):
        with pytest.raises(ArenaError, match=message):
            write_course(name, tmp_path, load_plugins(()), game)
    assert not Path("other").exists()
    with pytest.raises(Exception, match="no option besides"):
        cli(["new", "course", "third", "--package"], standalone_mode=False)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_hidden_tests_pass_for_a_good_agent_and_not_for_a_first_file(tmp_path: Path, exercise: str) -> None:
    """A built-in agent passes all tests of an exercise. The first file keeps the rules, which the first test checks, but
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
