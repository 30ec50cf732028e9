"""Another version of a plugin beside the current one: taken from a file or from git, described and played elsewhere."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import Spec, SpecError, run
from arena.match.match import seat_identity
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.spec.named_code import list_named_code
from arena.store import Store
from arena.store.run import Run
from arena_isolation.describe import _read_checked, _read_description
from arena_isolation.protocol import Broken
from arena_isolation.revisions import RevisionError, revision, taken_out

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


@pytest.mark.process
def test_two_versions_play_each_other(tmp_path: Path, commit: Callable[..., None]) -> None:
    """The old version plays column 1, and the new one plays column 7, in either order. Four stones in a column win."""
    commit({"edge.py": source(0)})
    commit({"edge.py": source(-1)})
    results = run(cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"}))
    spec = results.spec
    now, then = (seat.label for seat in spec.boards[0].seats)
    assert (now, then.split("=")[0]) == ("edge", "edge(version")
    for record in results.records:
        assert record.labels in ((now, then), (then, now))
        columns = {label: "7" if label == now else "1" for label in record.labels}
        assert record.actions == tuple([columns[record.labels[ply % 2]] for ply in range(7)])
        assert record.returns == (1.0, -1.0)
    code = {
        found for one in Fingerprint.take_all(spec).values() for key, found in one.hashes.items() if key.startswith("agent edge")
    }
    assert len(code) == 2, "each version has a hash of its own"


@pytest.mark.process
def test_code_of_a_version_runs_only_in_its_own_process(tmp_path: Path) -> None:
    """The file records each process that loads it. The versions play as in the previous test."""
    note = tmp_path / "loaded"
    before = f"import os\nwith open({str(note)!r}, 'a') as file: file.write(f'{{os.getpid()}} ')"
    (tmp_path / "edge.py").write_text(source(-1))
    (tmp_path / "old.py").write_text(source(0, before=before))
    results = run(cup(tmp_path, "edge", {"agent": "edge", "version": "old.py"}))
    assert [record.actions[:2] for record in results.records] == [("7", "1"), ("1", "7")]
    loaded = note.read_text().split()
    assert len(loaded) >= 2
    assert str(os.getpid()) not in loaded
    assert not [name for name, module in sys.modules.items() if getattr(module, "__file__", None) == str(tmp_path / "old.py")]


@pytest.mark.process
def test_later_commits_do_not_change_the_revision_of_a_store(tmp_path: Path, commit: Callable[..., None]) -> None:
    """The store contains the hash of the commit. A later commit changes neither the ids of its matches nor the code that plays
    them.
    """
    commit({"edge.py": source(0)})
    commit({"edge.py": source(-1)})
    path = cup(tmp_path, "edge", {"agent": "edge", "version": {"sweep": ["git:HEAD~1"]}})
    spec = load_spec(path)
    ids = spec_ids(spec)
    kept = Run.of(spec)
    commit({"edge.py": source(-1, before="x = 1")})
    assert spec_ids(kept.load(list_named_code(kept.document, kept.plugins_asked, spec.registry))) == ids
    moved = load_spec(path)
    assert len(set(spec_ids(moved)) & set(ids)) < len(ids), "HEAD~1 is another commit by now"


@pytest.mark.process
def test_workers_and_resumed_runs_give_the_same_records(tmp_path: Path, commit: Callable[..., None]) -> None:
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


@pytest.mark.process
def test_a_version_imports_other_files_of_its_revision(
    tmp_path: Path, commit: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    before = "from edge_choice_of_test import INDEX"
    commit({"edge.py": source("INDEX", before=before), "edge_choice_of_test.py": "INDEX = 0"})
    commit({"edge_choice_of_test.py": "INDEX = -1"})
    record = run(cup(tmp_path, "edge", {"agent": "edge", "version": "git:HEAD~1"})).records[0]
    assert record.labels[0] == "edge"
    assert record.actions == ("7", "1", "7", "1", "7", "1", "7")


@pytest.mark.process
def test_a_version_has_its_own_options_and_heuristics(tmp_path: Path) -> None:
    """The options follow from the code of that version, with its own defaults. The current version has none of them."""
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
    record = run(cup(tmp_path, {**entry, "heuristic": "own"}, {**entry, "index": 3})).records[0]
    assert (record.actions[:2], record.termination) == (("7", "4"), "normal")
    wrong = [{**entry, "index": "x"}, {**entry, "indx": 3}, {**entry, "heuristic": "owm"}, {"agent": "edge", "heuristic": "own"}]
    found = faults(cup(tmp_path, *wrong))
    assert found[:2] == [
        "agents[0].index: expected an integer, got 'x'",
        "agents[1].indx: unknown key; did you mean 'index'?",
    ]
    assert ["no heuristic 'owm'" in found[2], "own" in found[3], len(found)] == [True, True, 4]


@pytest.mark.process
def test_errors_in_the_key_version_are_explained(
    tmp_path: Path, commit: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message gives the place, the given value, and what to do."""
    commit({"edge.py": source(0)})
    (tmp_path / "edge_new.py").write_text(source(1))
    (tmp_path / "other.py").write_text(source(0).replace('"edge"', '"hedge"'))
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    (tmp_path / "ends.py").write_text("import os; os._exit(3)")

    expected: list[tuple[dict[str, Any], str]] = [
        ({"version": "git:HEAD~7"}, ".version: no revision 'HEAD~7'"),
        ({"version": "no.py"}, ".version: no such file"),
        (
            {"version": "git:HEAD", "agent": "random"},
            ".version: random comes with arena; only your own plugins can have versions",
        ),
        ({"version": "other.py"}, "no agent 'edge' in version other.py; did you mean 'hedge'?"),
        ({"version": "broken.py"}, "ModuleNotFoundError"),
        ({"version": "ends.py"}, "ended with code 3"),
        ({"version": 3}, ".version: expected a Python file or git:REVISION, got 3"),
        ({"version": "edge_new.py", "isolation": "none"}, "another version runs in its own process"),
    ]
    found = faults(cup(tmp_path, *[{"agent": "edge", **more} for more, _ in expected]))
    assert len(found) == len(expected)
    for seat, (_, words) in enumerate(expected):
        assert any(fault.startswith(f"agents[{seat}]") and words in fault for fault in found), (words, found)
    path = cup(tmp_path, "random", {"agent": "edge", "version": "git:HEAD"}, plugins=["edge_new.py"])
    assert "edge_new.py did not exist" in faults(path)[0]
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git was not found on PATH" in faults(cup(tmp_path, "random", {"agent": "edge", "version": "git:HEAD"}))[0]


@pytest.mark.process
def test_a_revision_outside_a_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git does not search parent folders beyond the given one."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "edge.py").write_text(source(0))
    assert "is not in a git repository" in faults(cup(tmp_path, "random", {"agent": "edge", "version": "git:HEAD"}))[0]


def test_an_option_called_version_stays_an_option(tmp_path: Path) -> None:
    """This applies to agents whose class declares it, and to programs, whose options are unknown."""
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


@pytest.mark.process
def test_the_hash_depends_only_on_the_code(tmp_path: Path) -> None:
    """A copy with another file name and other comments is the same version, and therefore the same entry."""
    (tmp_path / "edge.py").write_text(source(0))
    (tmp_path / "copy.py").write_text("# a comment\n" + source(0))
    entries = [{"agent": "edge", "version": name, "label": "one"} for name in ("edge.py", "copy.py")]
    seats = [load_spec(cup(tmp_path, entry, "random")).boards[0].seats[0] for entry in entries]
    assert seats[0].identity == seats[1].identity


def test_the_identity_of_an_entry_without_a_version_is_unchanged() -> None:
    """Match ids depend on this text, so it must never change."""
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
def test_a_description_from_a_process_is_validated(answer: dict[str, Any]) -> None:
    """A compromised process can send anything."""
    assert _read_description({**WHOLE, "agents": [EDGE]}).agents["edge"].chooses
    with pytest.raises(Broken):
        _read_description({**WHOLE, **answer})


@pytest.mark.parametrize(
    "answer", [{}, {"values": 3}, {"faults": [{"path": [[]], "message": "m"}]}, {"faults": 3}, {"values": {}, "optimal": "all"}]
)
def test_options_checked_by_a_process_are_validated(answer: dict[str, Any]) -> None:
    """A compromised process can send anything."""
    assert _read_checked({"type": "checked", "faults": [], "values": {"type": 3}}).values == {"type": 3}
    with pytest.raises(Broken):
        _read_checked({"type": "checked", "faults": [], "values": None, **answer})


@pytest.mark.process
@pytest.mark.parametrize("bits", [0o020, 0o002])
def test_a_file_of_a_revision_that_others_can_write_is_refused(tmp_path: Path, commit: Callable[..., None], bits: int) -> None:
    """The group of the user may write new folders by default, but not those of the cache."""
    before = os.umask(0o002)
    try:
        commit({"edge.py": source(0), "deep/more.py": ""})
        found = revision("HEAD", tmp_path / "edge.py")
        file = taken_out(found, tmp_path / "edge.py", alone=False)
    finally:
        os.umask(before)
    assert taken_out(found, tmp_path / "edge.py", alone=False) == file
    for place in (file, file.parent / "deep", file.parent, tmp_path / "cache"):
        mode = stat.S_IMODE(place.stat().st_mode)
        place.chmod(mode | bits)
        with pytest.raises(RevisionError, match=r"is not used, because"):
            taken_out(found, tmp_path / "edge.py", alone=False)
        place.chmod(mode)
    assert taken_out(found, tmp_path / "edge.py", alone=False) == file
