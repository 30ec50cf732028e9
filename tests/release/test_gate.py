"""The action for pull requests, and the script that it runs: real duels in real repositories."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.docs import pages

ACTION: dict[str, Any] = yaml.safe_load((pages.ROOT / "action.yml").read_text("utf-8"))
AGENT = """
from arena import Agent, hookimpl

class Edge(Agent):
    name = "edge"
    def choose(self, game, state, search):
        return {choice}

@hookimpl
def arena_agents():
    return [Edge]
"""
RANDOM = "search.rng.choice(game.actions(state))"
EQUAL = "search.rng.choice(list(reversed(game.actions(state))))"
LOSES = "None"
"""No action, so the agent loses each of its games."""
QUICK = "--game tic-tac-toe\n--elo 0 120 --openings 2 --workers 1"


class Gate(NamedTuple):
    code: int
    summary: str
    outputs: dict[str, str]
    messages: str


def git(folder: Path, *words: str) -> None:
    mine = ["-c", "user.email=a@example.org", "-c", "user.name=a", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *mine, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of a repository, as a checkout of a pull request: one commit, without the branch main of the origin."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "edge.py").write_text(AGENT.format(choice=RANDOM))
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "edge.py")
    git(origin, "commit", "-q", "-m", "one")
    git(origin, "branch", "change")
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "change", origin.as_uri(), "clone")
    return tmp_path / "clone"


def run_gate(folder: Path, **inputs: str) -> Gate:
    """Run the step `duel` of the action in a folder, as GitHub would: with the inputs in its variables."""
    values = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()} | inputs
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "duel")
    chosen = {}
    for name, text in step["env"].items():
        chosen[name] = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
    files = {"GITHUB_STEP_SUMMARY": folder / "summary.md", "GITHUB_OUTPUT": folder / "outputs"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, **chosen, "PATH": path, "GITHUB_ACTION_PATH": str(pages.ROOT)}
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=folder,
        env={**surroundings, **{name: str(file) for name, file in files.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    read = [file.read_text() if file.exists() else "" for file in files.values()]
    return Gate(done.returncode, read[0], dict(line.split("=", 1) for line in read[1].splitlines()), done.stderr)


def test_a_worse_agent_fails_the_job(clone: Path) -> None:
    """The branch main is fetched first. The summary contains the verdict, and the folder of the artifact contains the games.
    Later calls in the same workspace have no games, and pass: for a new agent, and for the first agent when it does not differ.
    They do not get the verdict, the games or the artifact of the first call.
    """
    (clone / "edge.py").write_text(AGENT.format(choice=LOSES))
    gate = run_gate(clone, agent="edge.py", options=QUICK)
    assert gate.code == 4, gate.messages
    assert gate.outputs["verdict"] == "worse"
    assert gate.summary.startswith("## `arena duel`: worse\n")
    assert "    edge v2 is not 120 normalised Elo better than edge v1" in gate.summary
    assert "The exit code of the duel is 4. This step fails." in gate.summary
    assert [*(clone / gate.outputs["folder"] / "games").glob("*.db")]
    assert (clone / gate.outputs["bundle"]).is_file()
    assert gate.outputs["name"] == "edge"
    (clone / "other.py").write_text(AGENT.format(choice=RANDOM))
    new = run_gate(clone, agent="./other.py", options=QUICK)
    assert (new.code, new.outputs["verdict"], new.outputs["name"]) == (0, "nothing was played", "other"), new.messages
    assert "other.py did not exist at" in new.summary
    assert new.outputs["bundle"] == ""
    assert [*(clone / new.outputs["folder"]).rglob("*.db")] == []
    (clone / "edge.py").write_text(AGENT.format(choice=RANDOM))
    same = run_gate(clone, agent="edge.py", options=QUICK)
    assert (same.code, same.outputs["verdict"]) == (0, "nothing was played"), same.messages


@pytest.mark.parametrize(
    ("code", "verdict", "more", "fail_on", "status"),
    [(5, "undecided", "--games 2", "3", 0), (3, "not better", "", "3 5", 3)],
)
def test_an_undecided_or_negative_verdict_fails_the_job_only_if_requested(
    clone: Path, code: int, verdict: str, more: str, fail_on: str, status: int
) -> None:
    """The edited agent is equally strong, with its actions in a different order. Two games decide nothing, and many show that it
    is not better.
    """
    (clone / "edge.py").write_text(AGENT.format(choice=EQUAL))
    gate = run_gate(clone, agent="edge.py", options=f"{QUICK} {more}", **{"fail-on": fail_on})
    assert (gate.code, gate.outputs["exit-code"], gate.outputs["verdict"]) == (status, str(code), verdict), gate.messages
    assert f"This step {'fails' if status else 'passes'}.\n" in gate.summary


def test_a_better_agent_passes(clone: Path) -> None:
    """The opponent loses every game."""
    git(clone, "switch", "-q", "-c", "worse")
    (clone / "edge.py").write_text(AGENT.format(choice=LOSES))
    git(clone, "commit", "-q", "-a", "-m", "two")
    (clone / "edge.py").write_text(AGENT.format(choice=RANDOM))
    gate = run_gate(clone, agent="edge.py", against="git:worse", options=QUICK)
    assert (gate.code, gate.outputs["verdict"]) == (0, "better"), gate.messages


def test_a_branch_that_cannot_be_fetched_is_a_failure(clone: Path) -> None:
    """The summary reports this with git's reason."""
    gate = run_gate(clone, agent="edge.py", against="git:origin/absent", options=QUICK)
    assert (gate.code, gate.outputs["exit-code"], gate.outputs["verdict"]) == (2, "2", "the duel failed")
    assert "git cannot fetch the branch absent from origin" in gate.summary
    assert "absent" in gate.summary.partition("fatal: ")[2]


def test_the_makefile_of_the_guide_fails_for_a_worse_agent(clone: Path) -> None:
    """The same check runs without a service. An agent that is new or unchanged passes."""
    guide = (pages.ROOT / "docs" / "how-to" / "pull-requests.md").read_text("utf-8")
    (text,) = re.findall(r"^<!-- file: Makefile -->\n```make\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    (clone / "Makefile").write_text(text.replace("agent.py", "edge.py").replace("connect-four", "tic-tac-toe"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["make", "duel", "AGAINST=git:HEAD"]
    (clone / "new.py").write_text(AGENT.format(choice=RANDOM).replace('"edge"', '"new"'))
    text = (clone / "Makefile").read_text()
    (clone / "Makefile.new").write_text(text.replace("edge.py", "new.py"))
    new = [*words, "-f", "Makefile.new"]
    added = subprocess.run(new, cwd=clone, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert added.returncode == 0, added.stderr
    assert "new.py did not exist at" in added.stdout
    same = subprocess.run(words, cwd=clone, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert same.returncode == 0, same.stderr
    (clone / "edge.py").write_text(AGENT.format(choice=LOSES))
    worse = subprocess.run(words, cwd=clone, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert worse.returncode, worse.stdout
    assert "Error 4" in worse.stderr


def test_a_failure_gives_no_verdict(clone: Path) -> None:
    """An agent that cannot be loaded, and an invalid input, fail with their own messages, whatever verdicts fail the job."""
    (clone / "edge.py").write_text("import nothing_like_this\n")
    broken = run_gate(clone, agent="edge.py", options=QUICK)
    assert broken.code not in (0, 3, 4, 5)
    assert broken.outputs["verdict"] == "the duel failed"
    assert "nothing_like_this" in broken.summary
    wrong = run_gate(clone, agent="edge.py", **{"fail-on": "worse"})
    assert (wrong.code, wrong.messages) == (2, "ARENA_FAIL_ON: expected 3, 5 or both, got 'worse'\n")
