"""The plugin of an entry runs only in its own process; under `plugins` it does not."""

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena import Spec, run
from arena.match import referee
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena.spec.named_code import list_named_code
from arena.store.run import Run
from arena_agents.alpha_beta import AlphaBeta
from tests.conftest import Arena

FIRST = """
{attack}
from arena import Agent, hookimpl

class First(Agent):
    name = "{name}"

    def __init__(self):
        {made}

    def choose(self, game, state, search):
        {chosen}
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [First]
"""
REFEREE = """
import sys
import arena.match.referee, arena.schedule.runner

def won(match, *more, _judged=arena.match.referee.play_match):
    record = _judged(match, *more)
    seats = [1.0 if label.startswith("referee") else -1.0 for label in record.labels]
    return record._replace(returns=tuple(seats)) if 1.0 in seats else record

for module in list(sys.modules.values()):
    if getattr(module, "play_match", None) is arena.match.referee.play_match and module is not arena.match.referee:
        module.play_match = won
arena.match.referee.play_match = won
"""
RIVAL = """
from arena_agents.alpha_beta import AlphaBeta

AlphaBeta.choose = lambda self, game, state, search: "no action at all"
"""
MARKER = """
import os, sys

def mark(what):
    print("seen:", what)
    try:
        with open({file!r}, "a") as file:
            main = getattr(sys.modules["__main__"], "__spec__", None)
            file.write(f"{{what}} {{main and main.name}} {{os.getpid()}}\\n")
    except OSError:
        pass

mark("import")
"""
WITNESS = """import sys
        if any("arena_plugin_marker" in name for name in sys.modules):
            raise RuntimeError("the code of a rival is here")"""
HOSTS = {"arena_isolation.agent_host", "arena_isolation.describe_host"}


def source(name: str, attack: str = "", made: str = "pass", chosen: str = "pass") -> str:
    return FIRST.format(name=name, attack=attack, made=made, chosen=chosen)


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """The cheats, and an honest agent of the same kind, in one folder."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "referee.py").write_text(source("referee", REFEREE))
    (folder / "rival.py").write_text(source("rival", RIVAL))
    attack = MARKER.format(file=str(tmp_path / "marks"))
    (folder / "marker.py").write_text(source("marker", attack, made='mark("made")'))
    (folder / "honest.py").write_text(source("honest", chosen=WITNESS))
    return tmp_path


def cup(folder: Path, entries: list[Any], **more: Any) -> Path:
    values = {"game": "tic-tac-toe", "rounds": 1, "agents": entries, **more}
    (folder / "cup.yaml").write_text(yaml.safe_dump(values))
    return folder / "cup.yaml"


def rows(arena: Arena, *words: str) -> dict[str, Any]:
    done = arena("run", "cup.yaml", "--no-store", "--format", "json", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    assert "seen:" not in done.stdout
    return {row["agent"]: row for row in json.loads(done.stdout)["boards"][0]["rows"]}


@pytest.fixture(autouse=True)
def _unpatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheat that this process loads replaces the play of alpha-beta. The fixture puts it back after the test."""
    monkeypatch.setattr(AlphaBeta, "choose", AlphaBeta.choose)
    monkeypatch.setattr(referee, "play_match", referee.play_match)
    monkeypatch.setattr("arena.schedule.runner.play_match", referee.play_match)


NAMES = ("referee", "rival", "marker", "honest")


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="file", isolation=("process", "sandbox"))
def test_the_plugin_of_an_entry_affects_only_itself(isolation: str, submissions: Path, arena: Arena) -> None:
    """The honest agent raises an error if its process has the code of a rival."""
    entries = [{"agent": name, "plugin": f"submissions/{name}.py", "isolation": isolation} for name in NAMES]
    cup(submissions, [*entries, "alpha-beta"])
    if isolation == "process":  # in a sandbox it could leave no mark
        validated = arena("validate", "cup.yaml")
        assert (validated.returncode, validated.stdout) == (0, "cup.yaml: no faults, 20 matches\n")
    found = rows(arena, "--workers", "2")
    assert (found["alpha-beta"]["losses"], found["alpha-beta"]["failures"]) == (0, 0)
    assert [found[name]["failures"] for name in NAMES] == [0, 0, 0, 0]
    assert found["referee"]["wins"] == found["rival"]["wins"] == found["honest"]["wins"], "all four play the same"
    marks = submissions / "marks"
    if isolation == "sandbox":
        assert not marks.exists()
        return
    lines = [line.split() for line in marks.read_text().splitlines()]
    assert {module for _, module, _ in lines} == HOSTS
    told = [pid for what, module, pid in lines if (what, module) == ("import", "arena_isolation.describe_host")]
    assert len(told) == 2, "one process describes it to validate, one to run and all of its workers"


@pytest.mark.promise(hole="file", isolation="none", holds=False)
def test_files_under_plugins_are_trusted(submissions: Path, arena: Arena) -> None:
    """Such an agent can cheat, and wins every match."""
    cup(submissions, ["referee", "marker", "alpha-beta"], plugins=[f"submissions/{name}.py" for name in NAMES])
    found = rows(arena, "--workers", "2")
    assert (found["referee"]["wins"], found["referee"]["games"]) == (4, 4)
    assert found["alpha-beta"]["failures"] > 0
    assert not {line.split()[1] for line in (submissions / "marks").read_text().splitlines()} <= HOSTS


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_an_honest_agent_plays_the_same_with_its_own_plugin(isolation: str, submissions: Path) -> None:
    """The run continues in the same store, and no match is played twice."""
    (submissions / "honest.py").write_text(source("honest"))
    rival = {"agent": "alpha-beta", "limits": {"depth": 2}}
    trusted = run(cup(submissions, ["honest", rival], plugins=["honest.py"])).records
    entry = {"agent": "honest", "plugin": "honest.py", "isolation": isolation}
    path = cup(submissions, [entry, rival])
    own = run(path, store=submissions / "s.db").records
    assert [record.actions for record in own] == [record.actions for record in trusted]
    assert all(record.termination == "normal" for record in own)
    again = run(path, workers=2, store=submissions / "s.db").records
    assert again == own
    spec = load_spec(path)
    kept = Run.of(spec)
    kept_spec = kept.load(list_named_code(kept.document, kept.plugins_asked, spec.registry))
    assert [seat.identity for seat in kept_spec.boards[0].seats] == [seat.identity for seat in spec.boards[0].seats]


SPY = """
def looked():
    for path in {paths!r}:
        try:
            open(path).close()
        except OSError:
            continue
        raise RuntimeError(f"read {{path}}")
    try:
        import honest
    except ImportError:
        return
    raise RuntimeError("imported a rival")
"""


@pytest.mark.promise(hole="network", isolation="sandbox")
def test_a_sandbox_shows_no_other_plugins(bubblewrap: str, submissions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hides files of other entries, and files of the organiser that the agent does not need."""
    for name in ("named", "surrounding"):
        (submissions / f"{name}.py").write_text(source(name))
    monkeypatch.setenv("ARENA_PLUGINS", str(submissions / "surrounding.py"))
    paths = [str(submissions / name) for name in ("submissions/honest.py", "named.py", "surrounding.py")]
    (submissions / "submissions" / "spy.py").write_text(source("spy", SPY.format(paths=paths), chosen="looked()"))
    entries = [{"agent": name, "plugin": f"submissions/{name}.py", "isolation": "sandbox"} for name in ("spy", "honest")]
    for record in run(cup(submissions, entries, plugins=["named.py"])).records:
        assert (record.termination, record.message) == ("normal", None)


def test_a_plugin_in_its_own_folder_can_read_that_folder(bubblewrap: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "choice_of_test.py").write_text("INDEX = 0")
        (tmp_path / name / f"{name}.py").write_text(source(name, "from choice_of_test import INDEX"))
    entries = [{"agent": name, "plugin": f"{name}/{name}.py", "isolation": "sandbox"} for name in ("one", "two")]
    assert [record.termination for record in run(cup(tmp_path, entries)).records] == ["normal", "normal"]
    shutil.move(tmp_path / "two" / "two.py", tmp_path / "one" / "two.py")
    entries[1]["plugin"] = "one/two.py"
    with pytest.raises(Exception, match="No module named 'choice_of_test'"):
        load_spec(cup(tmp_path, entries))


def test_trusted_agents_are_listed(bubblewrap: str, submissions: Path, arena: Arena) -> None:
    cup(submissions, [{"agent": "honest", "isolation": "sandbox"}, "random"], plugins=["submissions/honest.py"])
    note = (
        "honest plays in a sandbox, but arena itself loads its plugin submissions/honest.py, so it is trusted; "
        "to avoid this, write {agent: honest, plugin: submissions/honest.py, isolation: sandbox} and do not list it under "
        "plugins or load it elsewhere"
    )
    assert arena("validate", "cup.yaml").stderr == f"note: {note}\n"
    assert f"note: {note}\n" in arena("run", "cup.yaml", "--no-store", "--workers", "1").stderr
    both = [{"agent": "honest", "plugin": "submissions/honest.py", "isolation": "sandbox"}, "random"]
    (said,) = load_spec(cup(submissions, both, plugins=["submissions/honest.py"], seed=0)).notes
    assert said.endswith("and trusts it; to avoid this, list the plugin only in the entry of the agent")
    assert load_spec(cup(submissions, both, seed=0)).notes == ()


def test_a_process_gets_only_plugins_of_its_agent_and_its_game(submissions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other plugins are not passed on, even if they are in ARENA_PLUGINS."""
    monkeypatch.setenv("ARENA_PLUGINS", str(submissions / "submissions" / "marker.py"))
    plugins = ["submissions/honest.py", "submissions/rival.py"]
    entries = [{"agent": "honest", "isolation": "process"}, {"agent": "referee", "plugin": "submissions/referee.py"}]
    spec: Spec = load_spec(cup(submissions, entries, plugins=plugins))
    given = [seat.program and [os.path.basename(one) for one in seat.program.plugins] for seat in spec.boards[0].seats]  # noqa: PTH119
    assert given == [["honest.py"], []]


SIGHT = """
import json, os, sys
from pathlib import Path
from arena import Agent, hookimpl

if False:
    import rival, house, old, organiser_table
    import own
HERE = Path(FOLDER)
SEEN = sorted(str(Path(place, name).relative_to(HERE)) for place, _, names in os.walk(HERE) for name in names)

class Spy(Agent):

    name = "spy"

    def choose(self, game, state, search):
        raise RuntimeError(" ".join(SEEN))

@hookimpl
def arena_agents():
    return [Spy]
"""
HOUSE = """
import house_book, house_package
from arena import Agent, hookimpl

class House(Agent):

    name = "house"

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [House]
"""
GAME = """
import game_table
from arena import hookimpl
from arena_games.tic_tac_toe import TicTacToe

class Mine(TicTacToe):

    name = "mine"
    default_heuristic = None

@hookimpl
def arena_games():
    return [Mine]
"""


@pytest.mark.promise(hole="network", isolation="sandbox")
def test_a_sandbox_hides_the_organisers_agents_and_their_imports(
    bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent does not see the files of rivals that a plugin imports from its folder, whichever key of the spec
    names them. It sees only its own file, a module of its own, and the game with the module that the game imports.
    """
    monkeypatch.syspath_prepend(tmp_path)
    files = {
        "game.py": GAME,
        "game_table.py": "",
        "house.py": HOUSE,
        "house_book.py": "BOOK = 'secret'",
        "house_package/__init__.py": "",
        "house_package/.env": "KEY=secret",
        "house_package/weights.bin": "weights",
        "spies/spy.py": SIGHT.replace("FOLDER", repr(str(tmp_path))),
        "spies/own.py": "",
        "spies/rival.py": "import rival_book",
        "spies/rival_book.py": "",
        "spies/old.py": HOUSE.replace("import house_book, house_package\n", ""),
        "spies/organiser_table.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    entries: list[Any] = [
        {"agent": "spy", "plugin": "spies/spy.py", "isolation": "sandbox"},
        "house",
        {"agent": {"command": ["python3", "./spies/rival.py"]}, "table": "spies/organiser_table.py"},
        {"agent": "house", "version": "spies/old.py", "label": "before"},
    ]
    (tmp_path / "cup.yaml").write_text(
        json.dumps(
            {"game": "mine", "rounds": 1, "plugins": ["game.py", "house.py"], "agents": entries, "limits": {"start_seconds": 20}}
        )
    )
    spec = load_spec(tmp_path / "cup.yaml")
    labels = [seat.label for seat in spec.boards[0].seats]
    match = next(one for one in Schedule(spec).take(10**6) if {labels[seat] for seat in one.pairing.seats} == {"spy", "house"})
    with closing(MatchRunner(spec)) as runner:
        message = runner.play(match).message
    assert str(message).startswith("RuntimeError: game.py game_table.py spies/own.py spies/spy.py")
