"""The plugin manager, and the events of a run that it reports to plugins."""

import re
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from textwrap import dedent

import pytest
from click.testing import CliRunner

import arena
from arena import PluginError, hookspecs, load_plugins
from arena.commands.run import list_added, run as command
from arena.hookspecs import PARTS, Part
from arena.lazy import BLOCKED
from arena.plugins.sources import find_installed, load_file
from arena.spec import load_spec
from tests.core.plugins.test_plugins import install, run
from tests.eventually import eventually

CUP = {"name": "cup", "game": "tic-tac-toe", "rounds": 3, "seed": 1, "agents": ["random", "greedy"]}
HEAD = "from arena import hookimpl\nSEEN = []\n"
LOGS = """
@hookimpl
def arena_run_started(run): SEEN.append(("started", run.spec.size, run.store))
@hookimpl
def arena_match_finished(match, record): SEEN.append((match.number, match.board, match.pairing.round, record.id))
@hookimpl
def arena_run_finished(results): SEEN.append(("finished", len(results.records)))
"""
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a plugin file and return its path."""

    def write(source: str, name: str = "follows.py") -> str:
        (tmp_path / name).write_text(HEAD + dedent(source))
        return str(tmp_path / name)

    return write


def play(*plugins: str, store: Path | None = None) -> arena.Results:
    """Play the tournament with plugins that the user names."""
    return arena.run(load_spec(CUP, plugins=plugins), store=store)


# Events


@pytest.mark.parametrize("stored", [False, True])
def test_a_plugin_is_notified_of_each_match_once(write: Write, tmp_path: Path, stored: bool) -> None:
    """Notifications have the order of the records. A second run of the same store plays nothing."""
    store = tmp_path / "cup.db" if stored else None
    file = write(LOGS)
    results = play(file, store=store)
    seen = load_file(file).SEEN
    assert seen[0] == ("started", 6, store)
    assert seen[1:-1] == [(number, 0, number // 2, record.id) for number, record in enumerate(results.records)]
    assert seen[-1] == ("finished", 6)
    if stored:
        seen.clear()
        play(file, store=store)
        assert seen == [("started", 6, store), ("finished", 6)]


def test_plugins_are_notified_of_void_matches(write: Write, tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(
        "from arena import hookimpl\nfrom arena_games.tic_tac_toe import TicTacToe\n"
        "class Broken(TicTacToe):\n    name = 'broken'\n    default_heuristic = None\n"
        "    def result(self, state, action): raise ValueError('no')\n"
        "@hookimpl\ndef arena_games(): return [Broken]\n"
    )
    file = write("@hookimpl\ndef arena_match_finished(record): SEEN.append(record.termination)\n")
    agents = ["random", {"agent": "random", "label": "other"}]
    arena.run(load_spec({**CUP, "game": "broken", "agents": agents}, plugins=[str(tmp_path / "game.py"), file]))
    assert load_file(file).SEEN == ["void"] * 6


def test_a_plugin_named_only_by_a_spec_is_not_notified(write: Write, tmp_path: Path) -> None:
    """A spec may come from a stranger. If the user loads the same file, it is notified."""
    file, spec = write(LOGS, "it follows.py"), tmp_path / "cup.yaml"
    write(LOGS, "too.py")
    spec.write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\nplugins: [it follows.py, too.py]\n")
    ready = load_spec(spec)
    arena.run(ready)
    assert load_file(file).SEEN == load_file(tmp_path / "too.py").SEEN == []
    note, _ = [note for plugin in ready.registry.plugins for note in plugin.notes]
    reason = "because only the spec names the plugin; to call it, use --plugin"
    assert note == f"arena_run_started of {file} is not called, {reason} {shlex.quote(file)}"
    arena.run(load_spec(spec, plugins=[file]))
    assert [seen[0] for seen in load_file(file).SEEN] == ["started", 0, 1, "finished"]
    assert load_file(tmp_path / "too.py").SEEN == []


def test_a_plugin_of_a_spec_is_not_notified_if_the_seed_is_secret(write: Write, tmp_path: Path) -> None:
    file = write(LOGS)
    spec, store = tmp_path / "cup.yaml", tmp_path / "cup.db"
    spec.write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\nseed: secret\nplugins: [follows.py]\n")
    for _ in range(2):
        arena.run(spec, store=store)
    assert load_file(file).SEEN == []


@pytest.mark.parametrize("fault", ["raise ValueError('broken')", "raise SystemExit(3)"])
def test_a_plugin_that_raises_an_exception_is_reported_once(write: Write, fault: str) -> None:
    """It is not called again in this run, but in the next run."""
    fails = write(
        f"@hookimpl\ndef arena_match_finished(record):\n    SEEN.append(1)\n    {fault}\n"
        "@hookimpl\ndef arena_run_finished(): SEEN.append(2)\n",
        "fails.py",
    )
    file = write(LOGS)
    for calls in (1, 2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = play(fails, file)
        assert len(results.records) == 6
        [warning] = [str(one.message) for one in caught]
        assert warning.startswith(f"plugin {fails} will not be called again in this run, because arena_match_finished raised ")
        assert sum(load_file(fails).SEEN) == len(load_file(fails).SEEN) == calls
        assert len(load_file(file).SEEN) == 8 * calls


# Choices

PLAYS = """
from contextlib import contextmanager
import click

class Here:
    def __init__(self, run):
        self.run = run

    def play(self, queue):
        from arena.api.run import MatchRunner

        runner = MatchRunner(self.run.spec)
        while batch := queue.take(1):
            SEEN.append(batch[0].number)
            yield batch[0], runner.play(batch[0])

    def staff(self):
        return "one player"

@hookimpl
def arena_add_options(command):
    command.params.append(click.Option(["--relay"], metavar="NAME", help="Play elsewhere."))
    command.params.append(click.Option(["--fast-lane"], is_flag=True))
    command.params.append(click.Option(["--stop"], multiple=True))

@hookimpl
def arena_play_matches(run):
    @contextmanager
    def open_here():
        SEEN.append("open")
        yield Here(run)
        SEEN.append("closed")

    return open_here() if run.options.get("relay", "alice") else None
"""


@pytest.mark.parametrize("stored", [False, True])
def test_a_plugin_may_play_the_matches_of_a_run(write: Write, tmp_path: Path, stored: bool) -> None:
    file, log = write(PLAYS, "plays.py"), write(LOGS)
    store = tmp_path / "cup.db" if stored else None
    results = play(file, log, store=store)
    assert [one.timeless() for one in results.records] == [one.timeless() for one in play().records]
    assert ["open", *range(6), "closed"] == load_file(file).SEEN
    assert len(load_file(log).SEEN) == 8
    play(file, store=store)
    assert load_file(file).SEEN[8:] == (["open", "closed"] if stored else ["open", *range(6), "closed"])


def test_a_plugin_that_only_a_spec_names_does_not_play_the_matches(write: Write, tmp_path: Path) -> None:
    file, spec = write(PLAYS, "plays.py"), tmp_path / "cup.yaml"
    spec.write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\nplugins: [plays.py]\n")
    arena.run(spec)
    assert load_file(file).SEEN == []


@pytest.mark.parametrize("stored", [False, True])
def test_a_run_ends_before_its_first_match_if_the_plugin_that_plays_it_fails(write: Write, tmp_path: Path, stored: bool) -> None:
    head = "from arena import ArenaError\n@hookimpl\ndef arena_play_matches(run): "
    store = tmp_path / "cup.db" if stored else None
    with pytest.raises(arena.ArenaError, match=r"^nothing answers there$"):
        play(write(f"{head}raise ArenaError('nothing answers there')\n"), store=store)
    file = write(f"{head}raise OSError('no route')\n", "fails.py")
    with pytest.raises(
        PluginError, match=rf"^plugin {re.escape(file)}: arena_play_matches raised OSError: no route \(.*fails\.py:5\)$"
    ):
        play(file, store=store)
    assert store is None or not store.exists()


def test_options_of_plugins_are_listed_and_passed_on(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option that already exists is ignored."""
    monkeypatch.setenv("ARENA_PLUGINS", write(PLAYS, "plays.py"))
    monkeypatch.setattr(command, "_help_option", None)  # click keeps it from an earlier test, which may have had no -h
    for word in ("-h", "--help"):
        shown = CliRunner().invoke(command, [word], help_option_names=["-h", "--help"]).output
        assert "--relay NAME" in shown
        assert "Play elsewhere." in shown
        assert "--cluster ADDRESS" in shown
    words = ["cup.yaml", "--relay", "alice", "--fast-lane", "--stop", "a", "--stop", "b"]
    context = command.make_context("run", words)
    assert [*list_added(command, context.params)] == ["--relay", "alice", "--fast-lane", "--stop", "a", "--stop", "b"]
    assert [*list_added(command, command.make_context("run", ["cup.yaml", "--relay", "bob"]).params)] == ["--relay", "bob"]
    taken = "@hookimpl\ndef arena_add_options(command):\n    import click\n    command.params.append(click.Option(['--store']))\n"
    monkeypatch.setenv("ARENA_PLUGINS", write(taken, "taken.py"))
    done = CliRunner().invoke(command, ["--help"])
    assert "warning: --store of a plugin is ignored, because arena run already has this option" in done.stderr
    assert done.stdout.count("--store PATH") == 1


def test_hooks_are_ordered_and_wrapped_as_in_pluggy(write: Write) -> None:
    """A wrapper that raises an exception is left out."""
    log = "import builtins\nORDER = builtins.__dict__.setdefault('_order', [])\n"
    hook = "def arena_run_started(): "
    files = [
        write(f"{log}@hookimpl(trylast=True)\n{hook}ORDER.append('last')\n", "last.py"),
        write(f"{log}@hookimpl(tryfirst=True)\n{hook}ORDER.append('first')\n", "first.py"),
        write(f"{log}@hookimpl\n{hook}ORDER.append('plain')\n", "plain.py"),
        write(f"{log}@hookimpl(wrapper=True)\n{hook}ORDER.append('before'); yield; ORDER.append('after')\n", "wraps.py"),
        write(f"{log}@hookimpl(hookwrapper=True)\n{hook}ORDER.append('old'); yield; ORDER.append('old')\n", "old.py"),
        write(f"@hookimpl(wrapper=True)\n{hook}1 / 0; yield\n", "early.py"),
        write(f"@hookimpl(wrapper=True)\n{hook}yield; 1 / 0\n", "late.py"),
    ]
    with pytest.warns(RuntimeWarning, match="because arena_run_started raised ZeroDivisionError") as caught:
        play(*files)
    assert sorted(Path(str(one.message).partition(" will not")[0]).name for one in caught) == ["early.py", "late.py"]
    order = load_file(files[0]).ORDER
    assert order == ["old", "before", "first", "plain", "last", "after", "old"]
    order.clear()


def test_the_wrapper_of_a_plugin_that_has_failed_is_not_continued(write: Write) -> None:
    """The plugin fails in another function that the wrapper surrounds."""
    file = write(
        """
        LOG = __import__("builtins").__dict__.setdefault("_failed_log", [])
        @hookimpl(wrapper=True)
        def arena_run_started():
            LOG.append("before")
            yield
            LOG.append("after")
        @hookimpl(specname="arena_run_started")
        def fails(): 1 / 0
        """
    )
    with pytest.warns(RuntimeWarning, match="because arena_run_started raised ZeroDivisionError"):
        play(file)
    log = load_file(file).LOG
    assert log == ["before"]
    log.clear()


def test_hook_calls_can_be_monitored(write: Write) -> None:
    registry = load_plugins([write(LOGS)])
    calls: list[str] = []
    undo = registry.manager.add_hookcall_monitoring(lambda name, *_: calls.append(name), lambda *_: None)
    arena.run(load_spec(CUP), workers=1)
    registry.manager.hook.arena_run_finished(results=arena.run(CUP))
    undo()
    assert calls == ["arena_run_finished"]


# Hooks of extensions


def test_a_plugin_may_declare_hooks(write: Write, tmp_path: Path) -> None:
    adds = write(
        """
        from arena.hookspecs import hookspec
        class Specs:
            @hookspec(firstresult=True)
            def arena_choose_colour(self, seat): "Return a colour."
        @hookimpl
        def arena_add_hookspecs(manager): manager.add_hookspecs(Specs)
        """,
        "adds.py",
    )
    has = write("@hookimpl\ndef arena_choose_colour(seat): return ['red', 'blue'][seat]\n", "has.py")
    assert load_plugins([adds, has]).manager.hook.arena_choose_colour(seat=1) == "blue"
    wrong = write("@hookimpl\ndef arena_choose_colour(place): return 'red'\n", "wrong.py")
    with pytest.raises(PluginError, match="arena_choose_colour accepts the arguments seat, got 'place'"):
        load_plugins([adds, wrong])
    with pytest.raises(PluginError, match="unknown hook 'arena_choose_colour'"):
        load_plugins([has])


def test_a_wrapper_may_filter_the_results_of_later_plugins(write: Write) -> None:
    wraps = write("@hookimpl(wrapper=True)\ndef arena_agents():\n    return [found[:1] for found in (yield)]\n", "wraps.py")
    brings = write(
        """
        from arena import Agent
        class One(Agent):
            name = "one"
            def choose(self, game, state, search): return game.actions(state)[0]
        class Two(One):
            name = "two"
        @hookimpl
        def arena_agents(): return [One, Two]
        """,
        "brings.py",
    )
    assert {"one", "two"} <= {*load_plugins([brings]).agents}
    found = load_plugins([wraps, brings]).agents
    assert "one" in found
    assert "two" not in found


def test_a_broken_plugin_is_not_registered(write: Write) -> None:
    registry = load_plugins()
    before = registry.manager.list_name_plugin()
    with pytest.raises(PluginError):
        load_plugins([write(LOGS + "@hookimpl\ndef arena_agents(): return [1]\n")])
    assert registry.manager.list_name_plugin() == before
    assert load_plugins().manager is registry.manager


# Blocking


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BLOCKED, "fairarena:bundle,fairarena:web")


@pytest.mark.usefixtures("blocked")
def test_the_hook_specifications_of_a_blocked_plugin_stay_registered() -> None:
    """Plugins that implement these hooks can still be loaded."""
    registry = load_plugins()
    assert registry.manager.is_blocked("fairarena:web")
    assert "comparison-page" not in registry.parts["export"]
    assert "arena_panels" in registry.manager.list_hooks()
    assert [plugin.source.name for plugin in registry.plugins if plugin.blocked] == ["fairarena:bundle", "fairarena:web"]


def test_an_installed_plugin_is_found_by_its_full_name_or_its_entry_point() -> None:
    assert find_installed("cluster") == find_installed("fairarena:cluster") == "fairarena:cluster"
    with pytest.raises(arena.UnknownName, match="unknown installed plugin 'clustr'; did you mean 'cluster'"):
        find_installed("clustr")


@pytest.mark.process
def test_the_command_line_blocks_plugins_in_workers_too(tmp_path: Path) -> None:
    source = """
        import os
        class Mine(Agent):
            name = "mine"
            def choose(self, game, state, search): return game.actions(state)[0]
        @hookimpl
        def arena_agents():
            open("asked", "a").write(f"{os.getpid()}\\n")
            return [Mine]
    """
    install(tmp_path, "other-players", source)
    spec = tmp_path / "cup.yaml"
    spec.write_text("game: {name: connect-four}\nagents: [random, greedy]\nrounds: 30\n")
    assert run(tmp_path, "run", "cup.yaml", "--workers", "2", "--quiet").returncode == 0
    assert len({*(tmp_path / "asked").read_text().split()}) >= 1
    (tmp_path / "asked").unlink()
    done = run(tmp_path, "-p", "no:players", "run", "cup.yaml", "--workers", "2", "--fresh", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "asked").exists()
    listed = run(tmp_path, "-p", "no:other-players:players", "plugins").stdout
    assert "left out: blocked by -p no:other-players:players" in listed
    unknown = run(tmp_path, "-p", "no:player", "plugins")
    assert unknown.returncode == 2
    assert "unknown installed plugin 'player'; did you mean 'players'" in unknown.stderr
    assert "expected no:NAME" in run(tmp_path, "-p", "players", "plugins").stderr


@pytest.mark.process
def test_a_module_of_two_entry_points_is_loaded_once(tmp_path: Path) -> None:
    """The second entry point is left out. Both have the same short name, so only their full names can block them."""
    for name in ("one-distribution", "other-distribution"):
        install(tmp_path, name, "@hookimpl\ndef arena_agents(): return []\n", module="shared")
    listed = run(tmp_path, "plugins").stdout
    (line,) = [line for line in listed.splitlines() if "left out" in line]
    assert line == "  left out: is already loaded as one-distribution:players; remove one of the two entry points"
    refused = run(tmp_path, "-p", "no:players", "plugins")
    assert refused.returncode == 2
    assert "use one-distribution:players or other-distribution:players" in " ".join(refused.stderr.split())
    assert run(tmp_path, "-p", "no:one-distribution:players", "plugins").stdout.count("left out") == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("isolation: sandbox", "agents[1].isolation: expected one of 'none', got 'sandbox'"),
        ("plugin: mine.py", "agents[1].plugin: unknown key"),
        ("limits: {seconds: 1}", "agents[1]: a time limit needs its own process, and no installed plugin can start one"),
    ],
)
def test_an_entry_that_needs_a_blocked_plugin_is_refused(tmp_path: Path, entry: str, fault: str) -> None:
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nrounds: 1\nagents: [random, {{agent: greedy, {entry}}}]\n")
    found = run(tmp_path, "-p", "no:isolation", "validate", "cup.yaml")
    assert found.returncode == 2
    assert fault in found.stderr
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    assert run(tmp_path, "-p", "no:isolation", "run", "cup.yaml", "--quiet").returncode == 0


@pytest.mark.process
def test_a_resumed_run_notifies_plugins_of_each_match_once(tmp_path: Path) -> None:
    """The run has two workers and is interrupted by SIGINT. The log has the order of the store."""
    (tmp_path / "follows.py").write_text(
        "from arena import hookimpl\n\n@hookimpl\ndef arena_match_finished(match, record):\n"
        "    with open('log', 'a') as file:\n        file.write(f'{match.number} {record.id}\\n')\n"
    )
    (tmp_path / "cup.yaml").write_text("game: connect-four\nagents: [random, {agent: alpha-beta, depth: 2}]\nrounds: 150\n")
    command = [sys.executable, "-m", "arena", "run", "cup.yaml", "--workers", "2", "--plugin", "follows.py", "--quiet"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = tmp_path / "log"
    eventually(lambda: log.exists() and len(log.read_text().splitlines()) >= 20)
    first.send_signal(signal.SIGINT)
    first.communicate()
    told = log.read_text().splitlines()
    assert first.returncode == 130
    assert len(told) < 300
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    told = log.read_text().splitlines()
    assert sorted(int(line.split()[0]) for line in told) == list(range(300))
    from arena.store import Store

    with Store.open(tmp_path / "results" / "cup.db") as store:
        assert [line.split()[1] for line in told] == [
            one for (one,) in store.query("SELECT lower(hex(id)) FROM record ORDER BY number")
        ]


@pytest.mark.process
def test_a_plugin_of_an_isolated_entry_is_not_notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "from arena import Agent, hookimpl\n\nclass Mine(Agent):\n    name = 'mine'\n"
        "    def choose(self, game, state, search): return game.actions(state)[0]\n\n"
        "@hookimpl\ndef arena_agents(): return [Mine]\n\n"
        "@hookimpl\ndef arena_match_finished(record): open('told', 'w').close()\n"
    )
    agents = [{"agent": "mine", "plugin": str(tmp_path / "mine.py"), "isolation": "process"}, "random"]
    monkeypatch.chdir(tmp_path)
    arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": agents})
    assert not (tmp_path / "told").exists()


@pytest.mark.parametrize("hook", PARTS)
def test_the_classes_named_by_hooks_exist(hook: str) -> None:
    """Hook specifications name these classes as strings."""
    found = resolve_name(PARTS[hook])
    assert issubclass(found, Part)
    named = re.findall(r"`(arena\.api\.\w+)\.(\w+)`", getattr(hookspecs, hook).__doc__)
    assert found in [getattr(import_module(module), name) for module, name in named]
