"""The ladders that `arena new course` writes are valid."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from arena.cli import cli
from arena_ladder.host import make_turns
from arena_ladder.spec import list_assignments, load_ladder

pytestmark = pytest.mark.process


def test_the_ladder_specs_of_a_course_are_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The course may also use another two-player game."""
    monkeypatch.chdir(tmp_path)
    for name, words in (("term", []), ("spring", ["--game", "othello"])):
        assert cli(["new", "course", name, *words], standalone_mode=False) == 0
        specs = [str(file) for file in list_assignments(Path(name))]
        assert specs == sorted([f"{name}/15-puzzle.yaml", f"{name}/{words[-1] if words else 'connect-four'}.yaml"])
        assert cli(["validate", *specs], standalone_mode=False) == 0
        assert make_turns([load_ladder(spec) for spec in specs]).keep_apart, "one process can host both"
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
