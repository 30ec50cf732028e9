"""Another version of a plugin beside the current one: taken from a file or from git, described and played elsewhere."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import Spec, SpecError, run
from arena.match.match import seat_identity
from arena.schedule.fingerprint import take_fingerprints
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.spec.named_code import list_named_code
from arena.store import Store
from arena.store.run import run_of
from arena_isolation.describe import _read_checked, _read_description
from arena_isolation.protocol import Broken

AGENT = """
from arena import Agent, hookimpl
{before}
class Edge(Agent):
    name = "edge"
    {options}
    def choose(self, game, state, search):
        return game.actions(state)[{index}]

@hookimpl
def arena_agents():
    return [Edge]
"""


def source(index: int | str, *, before: str = "", options: str = "") -> str:
    """An agent that plays the action of an index, 0 the first and -1 the last one."""
    return AGENT.format(index=index, before=before, options=options)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def commit(tmp_path: Path) -> Callable[..., None]:
    """Write files into a repository in the test's folder, and commit them."""

    def git(*words: str) -> None:
        mine = ["-c", "user.email=a@example.org", "-c", "user.name=a", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *mine, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(files: dict[str, str]) -> None:
        if not (tmp_path / ".git").exists():
            git("init", "-q")
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        git("add", *files)
        git("commit", "-q", "-m", "more")

    return commit


def cup(tmp_path: Path, *agents: Any, **more: Any) -> Path:
    """A spec on connect four, where the first and the last action are columns 1 and 7."""
    import yaml

    values = {"game": "connect-four", "rounds": 1, "plugins": ["edge.py"], "agents": list(agents), **more}
    (tmp_path / "cup.yaml").write_text(yaml.safe_dump(values))
    return tmp_path / "cup.yaml"


def spec_ids(spec: Spec) -> list[str]:
    return [one.match_id(spec) for one in Schedule(spec).take(100)]


def faults(path: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    return [f"{fault.where}: {fault.message}" for fault in caught.value.faults]


@pytest.mark.parametrize("kind", ["git", "file"])
def test_two_versions_meet(tmp_path: Path, commit: Callable[..., None], kind: str) -> None:
    """The old version plays column 1, the new one column 7, whoever begins: six stones fill a column, four in it win."""
    commit({"edge.py": source(0), "old/edge.py": source(0)})
    commit({"edge.py": source(-1)})
    other = "git:HEAD~1" if kind == "git" else "old/edge.py"
    results = run(cup(tmp_path, "edge", {"agent": "edge", "version": other}))
    spec = results.spec
    now, then = (seat.label for seat in spec.boards[0].seats)
    assert (now, then.split("=")[0]) == ("edge", "edge(version")
    for record in results.records:
        assert record.labels in ((now, then), (then, now))
        columns = {label: "7" if label == now else "1" for label in record.labels}
        assert record.actions == tuple([columns[record.labels[ply % 2]] for ply in range(7)])
        assert record.returns == (1.0, -1.0)
    code = {
        found for one in take_fingerprints(spec).values() for key, found in one.hashes.items() if key.startswith("agent edge")
    }
    assert len(code) == 2, "each version has a hash of its own"


def test_nothing_of_a_version_is_run_here(tmp_path: Path) -> None:
    """Its file notes in which process it is loaded: never in this one."""
    note = tmp_path / "loaded"
    before = f"import os\nwith open({str(note)!r}, 'a') as file: file.write(f'{{os.getpid()}} ')"
    (tmp_path / "edge.py").write_text(source(-1))
    (tmp_path / "old.py").write_text(source(0, before=before))
    results = run(cup(tmp_path, "edge", {"agent": "edge", "version": "old.py"}))
    assert len(results.records) == 2
    loaded = note.read_text().split()
    assert len(loaded) >= 2
    assert str(os.getpid()) not in loaded
    assert not [name for name, module in sys.modules.items() if getattr(module, "__file__", None) == str(tmp_path / "old.py")]


def test_a_revision_stays_what_it_was(tmp_path: Path, commit: Callable[..., None]) -> None:
    """What a store keeps names the commit: a later one changes neither the ids of its matches nor who plays them."""
    commit({"edge.py": source(0)})
    commit({"edge.py": source(-1)})
    path = cup(tmp_path, "edge", {"agent": "edge", "version": {"sweep": ["git:HEAD~1", "git:HEAD"]}, "label": None})
    path.write_text(path.read_text().replace("  label: null\n", ""))
    spec = load_spec(path)
    ids = spec_ids(spec)
    kept = run_of(spec)
    commit({"edge.py": source(-1, before="x = 1")})
    assert spec_ids(kept.load(list_named_code(kept.document, kept.plugins_asked, spec.registry))) == ids
    moved = load_spec(path)
    assert len(set(spec_ids(moved)) & set(ids)) < len(ids), "HEAD~1 is another commit by now"


def test_workers_and_a_resume_play_the_same(tmp_path: Path, commit: Callable[..., None]) -> None:
    """Records do not depend on who plays them; a store goes on where it was."""
    commit({"edge.py": source(0)})
    commit({"edge.py": source(-1)})
    path = cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"}, openings={"plies": 2}, rounds=2)
    alone = [record.timeless() for record in run(path).records]
    run(cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"}, openings={"plies": 2}), store=tmp_path / "s.db")
    path = cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"}, openings={"plies": 2}, rounds=2)
    several = run(path, workers=2, store=tmp_path / "s.db")
    assert [record.timeless() for record in several.records] == alone
    with Store.open(tmp_path / "s.db") as store:
        assert len(store) == 4


def test_a_version_has_its_own_siblings(tmp_path: Path, commit: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file imports from beside it comes from the same revision."""
    monkeypatch.syspath_prepend(tmp_path)
    before = "from edge_choice_of_test import INDEX"
    commit({"edge.py": source("INDEX", before=before), "edge_choice_of_test.py": "INDEX = 0"})
    commit({"edge_choice_of_test.py": "INDEX = -1"})
    record = run(cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"})).records[0]
    assert record.labels[0] == "edge"
    assert record.actions == ("7", "1", "7", "1", "7", "1", "7")


def test_options_and_heuristics_are_those_of_the_version(tmp_path: Path) -> None:
    """What its own hints allow, with its own defaults; the current version takes none of it."""
    options = "def __init__(self, *, index: int = -1): self.index = index\n    wants_heuristic = True"
    own = """
from arena import heuristic
@heuristic("own", game="connect-four")
def own(game, state, player=0): return 0.0
@hookimpl
def arena_heuristics(): return [own]
"""
    (tmp_path / "edge.py").write_text(source(0))
    (tmp_path / "old.py").write_text(source("self.index", options=options, before=own))
    entry = {"agent": "edge", "version": "old.py"}
    record = run(cup(tmp_path, "edge", {**entry, "heuristic": "own"})).records[0]
    assert (record.actions[:2], record.termination) == (("1", "7"), "normal")
    record = run(cup(tmp_path, "edge", {**entry, "index": 3})).records[0]
    assert record.actions[:2] == ("1", "4")
    assert faults(cup(tmp_path, "edge", {**entry, "index": "x"})) == ["agents[1].index: expected an integer, got 'x'"]
    assert faults(cup(tmp_path, "edge", {**entry, "indx": 3})) == ["agents[1].indx: unknown key; did you mean 'index'?"]
    assert "no heuristic 'owm'" in faults(cup(tmp_path, "edge", {**entry, "heuristic": "owm"}))[0]
    assert "own" in faults(cup(tmp_path, {"agent": "edge", "heuristic": "own"}, "random"))[0]


def test_faults_are_said_in_words(tmp_path: Path, commit: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each says where it is, what came, and what to do."""
    commit({"edge.py": source(0)})
    (tmp_path / "edge_new.py").write_text(source(1))
    (tmp_path / "other.py").write_text(source(0).replace('"edge"', '"hedge"'))
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    (tmp_path / "ends.py").write_text("import os; os._exit(3)")

    def fault(version: Any, agent: str = "edge", **more: Any) -> str:
        return faults(cup(tmp_path, "random", {"agent": agent, "version": version, **more}))[0]

    assert fault("git:HEAD~7").startswith("agents[1].version: no revision 'HEAD~7'")
    assert fault("no.py").startswith("agents[1].version: no such file")
    assert fault("git:HEAD", agent="random") == "agents[1].version: random comes with arena; versions are for plugins of your own"
    assert "no agent 'edge' in version other.py; did you mean 'hedge'?" in fault("other.py")
    assert "ModuleNotFoundError" in fault("broken.py")
    assert "ended with code 3" in fault("ends.py")
    assert fault(3) == "agents[1].version: expected a Python file or git:REVISION, got 3"
    assert "another version runs in a process of its own" in fault("edge_new.py", isolation="none")
    path = cup(tmp_path, "random", {"agent": "edge", "version": "git:HEAD"}, plugins=["edge_new.py"])
    assert "edge_new.py was not there" in faults(path)[0]
    monkeypatch.setenv("PATH", "/nowhere")
    assert "no git on PATH" in fault("git:HEAD")


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git looks no further than told."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "edge.py").write_text(source(0))
    assert "lies in no git repository" in faults(cup(tmp_path, "random", {"agent": "edge", "version": "git:HEAD"}))[0]


def test_an_option_called_version_stays_an_option(tmp_path: Path) -> None:
    """Where the class declares it, and for programs, whose options nobody knows."""
    (tmp_path / "edge.py").write_text(source("self.index", options="def __init__(self, *, version: int): self.index = version"))
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    entry = {"agent": {"command": ["./program"]}, "version": "git:HEAD"}
    spec = load_spec(cup(tmp_path, {"agent": "edge", "version": 2}, entry))
    seats = spec.boards[0].seats
    assert [seat.program and seat.program.version for seat in seats] == [None, None]
    assert seats[1].program is not None
    assert seats[1].program.options == {"version": "git:HEAD"}
    assert seats[0].label == "edge"


def test_the_hash_is_of_the_code_alone(tmp_path: Path) -> None:
    """A copy with another name and other comments is the same version, and so the same entry; a change of code is another."""
    (tmp_path / "edge.py").write_text(source(0))
    (tmp_path / "copy.py").write_text("# a comment\n" + source(0))
    (tmp_path / "other.py").write_text(source(1))
    entries = [{"agent": "edge", "version": name, "label": "one"} for name in ("edge.py", "copy.py", "other.py")]
    seats = [load_spec(cup(tmp_path, entry, "random")).boards[0].seats[0] for entry in entries]
    assert seats[0].identity == seats[1].identity != seats[2].identity


def test_without_a_version_an_identity_is_what_it_was() -> None:
    """The text of a seat of today, as it has always been."""
    from arena.limits import Limits

    text = seat_identity("random", {}, None, Limits(nodes=5), None)
    assert text == (
        '{"agent":"random","heuristic":null,"label":null,'
        '"limits":{"depth":null,"memory_mb":null,"nodes":5,"seconds":null},"options":{}}'
    )


WHOLE: dict[str, Any] = {"type": "description", "agents": [], "games": [], "heuristics": [], "known": []}
EDGE = {"name": "edge", "needs": [], "wants_heuristic": False, "chooses": True, "solves": False, "options": {}}


@pytest.mark.parametrize(
    "answer",
    [
        {"agents": {}},
        {"agents": [3]},
        {"agents": [{**EDGE, "needs": ["wings"]}]},
        {"agents": [{**EDGE, "name": 3}]},
        {"agents": [{**EDGE, "chooses": "yes"}]},
        {"agents": [{**EDGE, "options": {"depth": 3}}]},
        {"games": [3]},
        {"heuristics": [["hex"]]},
        {"known": "all"},
    ],
)
def test_a_description_is_not_trusted(answer: dict[str, Any]) -> None:
    """A process that was taken over can say anything."""
    assert _read_description({**WHOLE, "agents": [EDGE]}).agents["edge"].chooses
    with pytest.raises(Broken):
        _read_description({**WHOLE, **answer})


@pytest.mark.parametrize(
    "answer", [{}, {"values": 3}, {"faults": [{"path": [[]], "message": "m"}]}, {"faults": 3}, {"values": {}, "optimal": "all"}]
)
def test_checked_options_are_not_trusted(answer: dict[str, Any]) -> None:
    """Likewise."""
    assert _read_checked({"type": "checked", "faults": [], "values": {"type": 3}}).values == {"type": 3}
    with pytest.raises(Broken):
        _read_checked({"type": "checked", "faults": [], "values": None, **answer})
