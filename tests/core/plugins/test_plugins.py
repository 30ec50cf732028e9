"""Plugins: how they are found and loaded, and how faults are reported."""

import json
import linecache
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from textwrap import dedent, indent

import pytest

import arena
from arena import Agent, Game, PluginError, SpecError, encodings, load_plugins
from arena.api.games import BoundEncoding
from arena.plugins.sources import load_file
from arena.spec import load_spec
from tests.fork_server import run_module

Plugin = Callable[..., str]

HEAD = "from arena import Agent, Format, Game, Puzzle, heuristic, hookimpl\n\n"

CAUTIOUS = """
class Cautious(Agent):
    name = "cautious"

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Cautious]
"""


def agent(name: str, body: str = "") -> str:
    """The source of a plugin with one agent."""
    return CAUTIOUS.replace('name = "cautious"\n', f'name = "{name}"\n{indent(dedent(body), "    ")}')


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """Write a plugin file; return its path."""

    def plugin(source: str, name: str = "mine.py") -> str:
        (tmp_path / name).write_text(HEAD + dedent(source))
        return str(tmp_path / name)

    return plugin


def problem(*paths: str) -> str:
    """The error that a plugin is refused with, the folder of the last one left out."""
    with pytest.raises(PluginError) as caught:
        load_plugins(paths)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{Path(paths[-1]).parent}/", "")


# Sources


def test_built_in_plugins_are_entry_points() -> None:
    registry = load_plugins()
    assert {"random", "greedy", "lookahead", "alpha-beta"} <= set(registry.agents)
    assert {"tic-tac-toe", "sliding-tiles"} <= set(registry.games)
    assert ("sliding-tiles", "manhattan") in registry.heuristics
    assert {"round-robin", "benchmark"} <= set(registry.formats)
    bare = load_plugins(entry_points=False, environ=False)
    assert not any((bare.games, bare.agents, bare.heuristics, bare.formats, bare.plugins))


def test_a_plugin_file_adds_games_agents_heuristics_and_formats(plugin: Plugin) -> None:
    file = plugin(
        """
        class Count(Game):
            name = "count"
            def initial(self, rng): return 0
            def to_move(self, state): return state % 2
            def actions(self, state): return (1, 2) if state < 5 else ()
            def result(self, state, action): return state + action
            def returns(self, state): return (1.0, -1.0)

        class First(Agent):
            name = "first"
            def choose(self, game, state, search): return game.actions(state)[0]

        @heuristic("far", game="count")
        def far(game, state, player=0): return 0.1 * state

        class Once(Format):
            name = "once"
            kind = "versus"
            def fewest(self, players): return players
            def size(self, field): return 1
            def schedule(self, field): yield 0, tuple(range(field.players))

        @hookimpl
        def arena_games(): return [Count]
        @hookimpl
        def arena_agents(): return (one for one in [First])
        @hookimpl
        def arena_heuristics(): return {far}
        @hookimpl
        def arena_formats(): return (Once,)
        """
    )
    registry = load_plugins([file], entry_points=False)
    assert [*registry.games, *registry.agents, *registry.heuristics, *registry.formats] == [
        "count",
        "first",
        ("count", "far"),
        "once",
    ]


@pytest.mark.process
def test_a_file_saved_twice_within_a_second_is_read_again(tmp_path: Path) -> None:
    """Python's own loader would use the outdated bytecode."""
    file = tmp_path / "saved.py"
    for value in (1, 2):
        file.write_text(f"VALUE = {value}\n")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        command = [sys.executable, "-c", f"from arena.plugins.sources import load_file; print(load_file({str(file)!r}).VALUE)"]
        environment = {name: word for name, word in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == f"{value}\n"


def test_a_module_is_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").write_text("")
    (tmp_path / "my_package" / "players.py").write_text(HEAD + CAUTIOUS)
    monkeypatch.syspath_prepend(tmp_path)
    assert "cautious" in load_plugins(["my_package.players"]).agents


def test_the_environment_variable_names_plugins(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [plugin(agent("first"), "first.py"), plugin(agent("second"), "second.py")]
    monkeypatch.setenv("ARENA_PLUGINS", os.pathsep.join(["", *files, ""]))
    assert {"first", "second"} <= set(load_plugins().agents)
    assert not {"first", "second"} & set(load_plugins(environ=False).agents)


def test_a_broken_plugin_of_the_environment_stops_the_run(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_PLUGINS", plugin("1 / 0\n"))
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        load_plugins()


def test_plugins_of_a_spec_are_relative_to_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cups" / "players").mkdir(parents=True)
    (tmp_path / "cups" / "players" / "mine.py").write_text(HEAD + CAUTIOUS)
    (tmp_path / "cups" / "cup.yaml").write_text("game: tic-tac-toe\nagents: [cautious, random]\nplugins: [players/mine.py]\n")
    for folder in (tmp_path, tmp_path / "cups", tmp_path / "cups" / "players"):
        monkeypatch.chdir(folder)
        assert load_spec(tmp_path / "cups" / "cup.yaml").boards[0].size == 20


def test_every_broken_plugin_of_a_spec_is_a_fault_at_its_line(tmp_path: Path, plugin: Plugin) -> None:
    plugin(CAUTIOUS)
    plugin("def f(:\n", "broken.py")
    spec = tmp_path / "cup.yaml"
    spec.write_text("game: tic-tac-toe\nagents: [cautious, random]\nplugins:\n  - mine.py\n  - broken.py\n  - nowhere.py\n")
    with pytest.raises(SpecError) as caught:
        load_spec(spec)
    found = [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]
    assert [fault[:31] for fault in found] == ["cup.yaml:5:5: plugins[1]: plugi", "cup.yaml:6:5: plugins[2]: plugi"]
    assert "broken.py" in found[0]
    assert "SyntaxError" in found[0]
    assert "nowhere.py" in found[1]


def test_plugins_of_the_command_and_of_the_spec_are_both_loaded(tmp_path: Path, plugin: Plugin) -> None:
    plugin(CAUTIOUS)
    spec = tmp_path / "cup.yaml"
    spec.write_text("game: tic-tac-toe\nagents: [cautious, second]\nplugins: [mine.py]\n")
    assert load_spec(spec, plugins=[plugin(agent("second"), "second.py")]).boards[0].size == 20
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        load_spec(spec, plugins=[plugin("1 / 0\n", "broken.py")])


def test_a_file_that_is_named_twice_is_loaded_once(tmp_path: Path, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "loaded"
    file = plugin(f"with open({str(mark)!r}, 'a') as out:\n    out.write('x')\n{CAUTIOUS}")
    (tmp_path / "link.py").symlink_to(file)
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nagents: [cautious, random]\nplugins: [mine.py, ./mine.py, link.py]\n")
    monkeypatch.setenv("ARENA_PLUGINS", file)
    monkeypatch.chdir(tmp_path)
    spec = load_spec("cup.yaml", plugins=["mine.py", f"{tmp_path}/../{tmp_path.name}/mine.py"])
    assert spec.boards[0].size == 20
    assert mark.read_text() == "x"


def test_the_hooks_of_a_plugin_are_called_once(tmp_path: Path, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    count = "    arena_agents.asked = getattr(arena_agents, 'asked', 0) + 1\n"
    names = ["environment", "command", "first", "second"]
    files = [plugin(agent(name).replace("    return [", f"{count}    return ["), f"{name}.py") for name in names]
    monkeypatch.setenv("ARENA_PLUGINS", files[0])
    listed = "first.py, command.py, environment.py, second.py, ./first.py"
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nagents: [{', '.join(names)}]\nplugins: [{listed}]\n")
    spec = load_spec(tmp_path / "cup.yaml", plugins=[files[1]])
    assert [load_file(file).arena_agents.asked for file in files] == [1, 1, 1, 1]
    assert [Path(one.source.name).stem for one in spec.registry.plugins if one.source.asked] == names


def test_installed_plugins_are_checked_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_plugins(environ=False)

    def check(*checked: object) -> None:
        raise AssertionError(f"{checked} is checked again")

    monkeypatch.setattr("arena.plugins.manager.check_value", check)
    again = load_plugins(environ=False)
    assert again.sources.keys() == loaded.sources.keys()
    assert [plugin.notes for plugin in again.plugins] == [plugin.notes for plugin in loaded.plugins]


def test_loading_a_plugin_does_not_read_its_source(plugin: Plugin) -> None:
    """Only messages need line numbers, which are slow to find."""
    path = plugin(agent("unread"))
    load_plugins([path], entry_points=False)
    assert path not in linecache.cache


def test_two_files_with_the_same_name_are_two_plugins(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(HEAD + agent(name))
        files.append(tmp_path / name / "mine.py")
    assert {"one", "two"} <= set(load_plugins(files).agents)


def test_a_plugin_file_may_have_the_name_of_a_standard_module(plugin: Plugin) -> None:
    import random

    load_plugins([plugin(agent("mine"), "random.py")])
    assert random.Random(1).random() != 0
    assert sys.modules["random"] is random


def test_dataclasses_and_pickle_work_in_a_plugin_file(plugin: Plugin) -> None:
    file = plugin(
        """
        from dataclasses import dataclass, field

        @dataclass(frozen=True, slots=True)
        class State:
            left: int = 3

        @dataclass
        class Careful(Agent):
            name = "careful"
            depth: int = 2
            notes: list[str] = field(default_factory=list)

            def choose(self, game, state, search):
                return game.actions(state)[0]

        import pickle
        assert pickle.loads(pickle.dumps(State(2))) == State(2)

        @hookimpl
        def arena_agents():
            return [Careful]
        """
    )
    Path(file).write_text(f"from __future__ import annotations\n{Path(file).read_text()}")
    careful = load_plugins([file]).agents["careful"]
    again = pickle.loads(pickle.dumps(careful(depth=5)))
    assert (type(again), vars(again)["depth"]) == (careful, 5)
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [file], "agents": [{"agent": "careful", "depth": 3}, "random"]}
    assert [record.termination for record in arena.run(spec).records] == ["normal", "normal"]
    with pytest.raises(SpecError, match="expected an integer, got 'x'"):
        load_spec({**spec, "agents": [{"agent": "careful", "depth": "x"}, "random"]})


# Objects that a plugin names by their places


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write a module with parts; return its name. It is not imported."""
    name = f"parts_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(
        f"from arena import encoding\n{HEAD}{CAUTIOUS}"
        "@heuristic('first', game='nim')\ndef first(game, state, player=0): return 0.0\n"
        "@encoding('ones', game='nim', shape=(1,))\ndef ones(game, observation, seat): return [1.0]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)
    for places in (encodings._NAMED, encodings._DECLARED):  # other tests would find an encoding that cannot be imported any more
        places.get("nim", {}).pop("ones", None)


def test_an_object_that_a_plugin_names_by_its_path_is_imported_on_first_use(plugin: Plugin, parts: str) -> None:
    file = plugin(
        f"""
        @hookimpl
        def arena_agents(): return {{"cautious": "{parts}:Cautious"}}

        @hookimpl
        def arena_heuristics(): return {{("nim", "first"): "{parts}:first"}}

        @hookimpl
        def arena_encodings(): return {{("nim", "ones"): "{parts}:ones"}}
        """
    )
    registry = load_plugins([file])
    assert "cautious" in registry.agents
    assert "first" in registry.heuristics_of("nim")
    assert registry.encodings_of("nim") == ["features", "ones"]
    (loaded,) = [one for one in registry.plugins if one.source.name == file]
    assert loaded.names == ("agent cautious", "heuristic nim first", "encoding nim ones")
    assert parts not in sys.modules
    minimax = {"agent": "minimax", "depth": 1, "heuristic": "first"}
    spec = {"game": "nim", "rounds": 1, "plugins": [file], "agents": ["cautious", minimax]}
    assert [record.termination for record in arena.run(spec).records] == ["normal", "normal"]
    assert registry.agent("cautious") is sys.modules[parts].Cautious


def test_encodings_by_plugins_are_among_the_encodings_of_a_game(plugin: Plugin, parts: str) -> None:
    game = load_plugins().game("nim")()
    load_plugins([plugin(f'@hookimpl\ndef arena_encodings(): return {{("nim", "ones"): "{parts}:ones"}}\n')])
    assert list(BoundEncoding.find_all(game)) == ["features", "ones"]


def test_every_built_in_object_has_the_name_that_its_hook_gives_it() -> None:
    """`items` imports them, and raises PluginError for a place or a name that is wrong."""
    assert {key[0] for key, _ in load_plugins(environ=False).items()} == {"game", "agent", "heuristic", "encoding", "format"}


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ({"cautious": "no_such_module:Cautious"}, "no_such_module:Cautious: ModuleNotFoundError: .*no_such_module"),
        ({"cautious": "PARTS:Missing"}, "Missing: AttributeError: .*Missing"),
        ({"careful": "PARTS:Cautious"}, "Cautious: is 'agent cautious', but arena_agents calls it 'agent careful'"),
        ({"cautious": "PARTS:first"}, "first: arena_agents returned .*; expected classes derived from Agent"),
    ],
)
def test_an_error_in_an_object_named_by_its_path_is_reported_on_first_use(
    plugin: Plugin, parts: str, agents: dict[str, str], words: str
) -> None:
    registry = load_plugins([plugin(f"@hookimpl\ndef arena_agents(): return {agents}\n".replace("PARTS", parts))])
    with pytest.raises(PluginError, match=rf"plugin .*mine\.py: .*{words}"):
        registry.agent(*agents)


@pytest.mark.parametrize(
    ("hook", "objects", "words"),
    [
        ("agents", {"Cautious": "parts:Cautious"}, "the key 'Cautious'; expected the name of the agent"),
        ("agents", {("nim", "a"): "parts:A"}, "the key .*; expected the name of the agent"),
        ("heuristics", {"first": "parts:first"}, "the key 'first'; expected the name of a game and of its heuristic"),
        ("agents", {"cautious": "parts"}, "returned 'parts' for 'cautious'; expected a place such as"),
        ("agents", {"cautious": 3}, "returned 3 for 'cautious'; expected a place such as"),
    ],
)
def test_a_wrong_name_or_place_is_refused(plugin: Plugin, hook: str, objects: dict[object, object], words: str) -> None:
    assert re.search(words, problem(plugin(f"@hookimpl\ndef arena_{hook}(): return {objects}\n")))


# Faults of plugins


@pytest.mark.parametrize(
    ("source", "words"),
    [
        # It does not import. The line is counted in the file, which has a head of two lines.
        ("def f(:\n", r"SyntaxError: .*\(mine\.py:3\)"),
        ("x = 'no end\n", r"SyntaxError: .*\(mine\.py:3\)"),
        ("if True:\nx = 1\n", r"IndentationError: .*\(mine\.py:4\)"),
        ("import no_such_module\n", r"ModuleNotFoundError: .*no_such_module.*\(mine\.py:3\)"),
        ("from arena import Agnt\n", r"ImportError: .*Agnt.*\(mine\.py:3\)"),
        ("\n1 / 0\n", r"ZeroDivisionError: .*\(mine\.py:4\)"),
        ("def f():\n    raise ValueError('no\\nway')\nf()\n", r"ValueError: no way \(mine\.py:4\)"),
        ("import json\njson.loads('{')\n", r"JSONDecodeError: .*\(mine\.py:4\)"),
        ("import sys\nsys.exit(0)\n", r"SystemExit: 0 \(mine\.py:4\)"),
        ("raise SystemExit\n", r"SystemExit \(mine\.py:3\)"),
        ("raise KeyboardInterrupt\n", r"KeyboardInterrupt \(mine\.py:3\)"),
        ("class Odd(BaseException): pass\nraise Odd('odd')\n", r"Odd: odd \(mine\.py:4\)"),
        # Its hooks.
        ("@hookimpl\ndef arena_agent(): return []\n", r"unknown hook 'arena_agent'; did you mean 'arena_agents'"),
        (f"{CAUTIOUS}\n@hookimpl\ndef arena_heuristic(): return []\n", r"'arena_heuristic'; did you mean 'arena_heuristics'"),
        (
            "@hookimpl\ndef zzz(): return []\n",
            r"unknown hook 'zzz'; known: arena_add_hookspecs, .*arena_encodings, .*arena_games, arena_heur",
        ),
        ("@hookimpl\ndef arena_agents(registry): return []\n", r"arena_agents.*registry"),
        ("def arena_agents(): return []\n", r"arena_agents is not decorated with @hookimpl"),
        ("@hookimpl\ndef arena_agents(): return 1 / 0\n", r"ZeroDivisionError: .*\(mine\.py:4\)"),
        ("@hookimpl\ndef arena_agents(): raise SystemExit(1)\n", r"SystemExit: 1 \(mine\.py:4\)"),
        ("@hookimpl\ndef arena_agents(): return None\n", r"arena_agents returned None; expected a list"),
        ("@hookimpl\ndef arena_agents(): return Agent\n", r"arena_agents returned <class .*Agent'>; expected a list"),
        ("@hookimpl\ndef arena_agents(): return 'random'\n", r"arena_agents returned 'r'; expected classes derived from Agent"),
        ("@hookimpl\ndef arena_agents(): return [None]\n", r"arena_agents returned None; expected classes derived from Agent"),
        ("@hookimpl\ndef arena_agents(): return [Game]\n", r"returned <class 'arena.game.Game'>; expected .* Agent"),
        ("@hookimpl\ndef arena_games(): return [Agent]\n", r"returned <class 'arena.agent.Agent'>; expected .* Game"),
        (
            "@hookimpl\ndef arena_search_engines(): return [3]\n",
            r"arena_search_engines returned 3; expected objects of SearchEngine",
        ),
        ("@hookimpl\ndef arena_formats(): return [3]\n", r"arena_formats returned 3; expected classes derived from Format"),
        (CAUTIOUS.replace("[Cautious]", "[Cautious()]"), r"arena_agents returned <.*>; expected classes derived from Agent"),
        (CAUTIOUS.replace("[Cautious]", "[Cautious, Cautious]"), r"'agent cautious' twice"),
        ("def h(): ...\n@hookimpl\ndef arena_heuristics(): return [h]\n", r"decorated with @heuristic"),
        # Its classes.
        (
            "class G(Game): name = 'g'\n@hookimpl\ndef arena_games(): return [G]\n",
            r"lacks actions, initial, result, returns, to_move",
        ),
        (
            "class P(Puzzle): name = 'p'\n@hookimpl\ndef arena_games(): return [P]\n",
            r"game p .*lacks actions, initial, is_goal, result",
        ),
        ("class F(Format): name = 'f'\n@hookimpl\ndef arena_formats(): return [F]\n", r"format f .*lacks fewest, schedule, size"),
        (
            "class A(Agent): name = 'a'\n@hookimpl\ndef arena_agents(): return [A]\n",
            r"a \(mine\.py:3\) defines neither choose nor solve",
        ),
        (agent("a").replace("choose", "chose"), r"a \(mine\.py:\d\) defines neither .*; did you mean choose instead of chose\?"),
        (agent("a").replace("choose", "slove"), r"a \(mine\.py:\d\) defines neither .*; did you mean solve instead of slove\?"),
        (
            agent("a").replace("game, state, search", "state, game, search"),
            r"expected choose\(self, game, state, search\), got choose\(self, state, game, search\); the arguments are swapped",
        ),
        (
            """
            from arena import heuristic
            @heuristic("h", game="nim")
            def h(state, game, player=0): ...
            @hookimpl
            def arena_heuristics(): return [h]
            """,
            r"expected \(game, state, player=0\), got \(state, game, player=0\); the arguments are swapped",
        ),
        (agent("a").replace("def choose", "async def choose"), r"choose is asynchronous; write `def choose` without `async`"),
        (agent("a", "def solve(self, *_): yield 1"), r"solve is a generator; write `return` instead of `yield`"),
        (agent("a", "needs = frozenset({'two-players'})"), r"needs 'two-players', .*; did you mean 'two-player'"),
        (agent("a", "needs = frozenset({'path', 'zero_sum'})"), r"needs 'zero_sum', .*; did you mean 'zero-sum'"),
        (agent("a", "needs = 'path'"), r"needs: expected a frozenset of traits, got 'path'"),
        (agent("a", "needs = ('path',)"), r"needs: expected a frozenset of traits, got \('path',\)"),
        (agent("a", "games = ['pig']"), r"games: expected a frozenset of names of games, got \['pig'\]"),
        (agent("a", "games = 'pig'"), r"games: expected a frozenset of names of games, got 'pig'"),
        (agent("a", "needs = 3"), r"needs: expected a frozenset of traits, got 3"),
        # Its names.
        (agent("Cautious"), r"lowercase letters, digits and dashes, got 'Cautious'"),
        (agent("very cautious"), r"lowercase letters, digits and dashes, got 'very cautious'"),
        (agent(""), r"lowercase letters, digits and dashes, got ''"),
        (agent("a", "name = 3"), r"lowercase letters, digits and dashes, got 3"),
        (CAUTIOUS.replace('name = "cautious"', ""), r"lowercase letters, digits and dashes, got None"),
    ],
)
def test_a_broken_plugin_is_described_in_one_line(plugin: Plugin, source: str, words: str) -> None:
    said = problem(plugin(source))
    assert said.startswith("plugin mine.py: ")
    assert re.search(words, said), said


def test_a_missing_module_beside_a_plugin_is_explained(plugin: Plugin, tmp_path: Path) -> None:
    """Python does not search the folder of a plugin, and the message says so. Other missing modules have no such hint."""
    file = plugin("import plugin_helper\n")
    assert "beside" not in problem(file)
    Path(file).with_name("plugin_helper.py").touch()
    folder = quote(str(Path(file).absolute().parent))
    said = "plugin_helper is beside the plugin, but Python does not search there: set PYTHONPATH="
    assert problem(file).endswith(f"; {said}{folder}")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            CAUTIOUS.partition("@hookimpl")[0],
            "the agent class Cautious, but no hook that returns it; add: @hookimpl def arena_agents",
        ),
        (
            "class A(Agent):\n    def choose(self, game, state, search): ...\nclass B(A): ...\n",
            "the agent classes A and B, but no",
        ),
        (
            "@heuristic('near', game='nim')\ndef near(game, state, player=0): return 0.0\n",
            "def arena_heuristics(): return [near]",
        ),
    ],
)
def test_the_error_names_a_class_that_no_hook_returns(plugin: Plugin, source: str, words: str, tmp_path: Path) -> None:
    """Imported and abstract classes are ignored."""
    file = plugin(source)
    assert words in problem(file)
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nplugins: [mine.py]\nagents: [random, greedy]\n")
    with pytest.raises(SpecError) as refused:
        load_spec(tmp_path / "cup.yaml")
    (fault,) = refused.value.faults
    assert fault.where == "plugins[0]"
    assert words in fault.message


@pytest.mark.parametrize(
    "source", ["", "from arena import Agent as Other\n", "class Half(Game): ...\n", "WORDS = [Agent, heuristic]\n"]
)
def test_a_file_without_anything_to_register_may_be_a_plugin(plugin: Plugin, source: str) -> None:
    file = plugin(source)
    (loaded,) = [one for one in load_plugins([file]).plugins if one.source.name == file]
    assert (loaded.names, loaded.problem) == ((), None)


@pytest.mark.parametrize("option", ["agent", "command", "heuristic", "isolation", "label", "limits"])
def test_an_option_may_not_have_the_name_of_a_key_of_an_entry(plugin: Plugin, option: str) -> None:
    said = problem(plugin(agent("a", f"def __init__(self, *, {option}=1): ...")))
    assert f"a parameter may not be called '{option}'" in said


def test_a_parameter_of_a_game_or_a_heuristic_may_not_be_called_name(plugin: Plugin) -> None:
    game = """
    class Endless(Game):
        name = "endless"
        def __init__(self, *, name: str = "x"): ...
        def initial(self, rng): return 0
        def to_move(self, state): return 0
        def actions(self, state): return (0,)
        def result(self, state, action): return state
        def returns(self, state): return (0.0, 0.0)

    @hookimpl
    def arena_games(): return [Endless]
    """
    heuristic = """
    @heuristic("near", game="tic-tac-toe")
    class Near:
        def __init__(self, game, *, name: str = "x"): ...

    @hookimpl
    def arena_heuristics(): return [Near]
    """
    assert "game endless: a parameter may not be called 'name'" in problem(plugin(game, "game.py"))
    assert "heuristic near: a parameter may not be called 'name'" in problem(plugin(heuristic, "heuristic.py"))


def test_names_consist_of_lowercase_letters_digits_and_dashes(plugin: Plugin) -> None:
    assert {"a", "2", "a-2-b"} <= set(load_plugins([plugin(agent(name), f"{name}.py") for name in ("a", "2", "a-2-b")]).agents)


def test_unreadable_type_hints_are_a_fault_when_an_option_is_set(plugin: Plugin) -> None:
    file = plugin(agent("a", "def __init__(self, *, depth: 'NoSuchType' = 1): ..."))
    spec = {"game": "tic-tac-toe", "plugins": [file], "agents": ["a", "random"]}
    assert load_spec(spec).boards[0].size == 20
    with pytest.raises(SpecError, match=r"agents\[0\]\.depth: .*NoSuchType"):
        load_spec({**spec, "agents": [{"agent": "a", "depth": 2}, "random"]})


@pytest.mark.parametrize(
    ("init", "option", "words"),
    [
        ("def __init__(self, *, depth: int): ...", {}, r"agents\[0\]: depth is missing"),
        ("def __init__(self, *, depth: int = 1): raise ValueError('depth is odd')", {}, r"agents\[0\]: depth is odd"),
        ("def __init__(self, *, depth: int = 1): 1 / 0", {}, r"agents\[0\]: cannot be created: ZeroDivisionError.*mine\.py:\d+"),
        ("def __init__(self, *, depth: int = 1): raise SystemExit", {}, r"agents\[0\]: cannot be created: SystemExit"),
        ("def __init__(self, *, mode: str = 'a'): ...", {"mode": 3}, r"agents\[0\]\.mode: expected text, got 3"),
        ("def __init__(self, *, on: bool = True): ...", {"on": "yes"}, r"agents\[0\]\.on: expected true or false, got 'yes'"),
        ("def __init__(self, *, on: bool = True): ...", {"on": 1}, r"agents\[0\]\.on: expected true or false, got 1"),
        ("def __init__(self, *, rate: float = 1.0): ...", {"rate": True}, r"agents\[0\]\.rate: expected a number, got true"),
        ("def __init__(self, *, to: int | str = 1): ...", {"to": 2.5}, r"agents\[0\]\.to: expected an integer or text, got 2\.5"),
        (
            "def __init__(self, *, all: list[int] = []): ...",
            {"all": [1, "x"]},
            r"agents\[0\]\.all\[1\]: expected an integer, got 'x'",
        ),
        ("def __init__(self, *, by: dict[str, int] = {}): ...", {"by": {"a": "x"}}, r"agents\[0\]\.by\.a: expected an integer"),
    ],
)
def test_options_are_checked_against_type_hints(plugin: Plugin, init: str, option: Mapping[str, object], words: str) -> None:
    file = plugin(agent("a", init))
    with pytest.raises(SpecError, match=words):
        load_spec({"game": "tic-tac-toe", "plugins": [file], "agents": [{"agent": "a", **option}, "random"]})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.py", "no such file"),
        ("folder/nowhere.py", "no such file"),
        ("no_such_module", "no such file or module"),
        ("no.such.module", "no such file or module"),
        ("json.nothing", "no such file or module"),
        (".", "no such file or module"),
        ("..mine", "no such file or module"),
        ("./", "directory"),
        ("words.txt", "expected a name that ends in .py"),
        ("a\0b.py", "null"),
    ],
)
def test_paths_that_are_not_plugins_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    (tmp_path / "words.txt").write_text("just words\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PluginError) as caught:
        load_plugins([name])
    assert str(caught.value).startswith(f"plugin {name}: ")
    assert words in str(caught.value)


def test_a_folder_is_refused_as_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder_of_plugins").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    for name in (str(tmp_path / "folder_of_plugins"), "folder_of_plugins"):
        with pytest.raises(PluginError, match="is a directory"):
            load_plugins([name])


def test_a_duplicate_name_is_reported_with_both_sources(plugin: Plugin) -> None:
    said = problem(plugin(agent("random"), "mine.py"))
    assert said.startswith("plugin mine.py: ")
    assert f"fairarena:builtin-agents {arena.__version__}" in said
    both = problem(plugin(agent("mine"), "first.py"), plugin(agent("mine"), "second.py"))
    assert both.startswith("plugin second.py: ")
    assert "first.py" in both
    assert "'agent mine'" in both


def test_names_of_heuristics_are_unique_within_a_game(plugin: Plugin) -> None:
    source = (
        "@heuristic('{name}', game='{game}')\n"
        "def h(game, state, player=0): return 0\n"
        "@hookimpl\n"
        "def arena_heuristics(): return [h]\n"
    )
    assert "open-lanes" in problem(plugin(source.format(name="open-lanes", game="tic-tac-toe")))
    registry = load_plugins([plugin(source.format(name="open-lanes", game="sliding-tiles"), "other.py")])
    assert ("sliding-tiles", "open-lanes") in registry.heuristics
    assert "tic-tac-toe" in load_plugins([plugin(agent("tic-tac-toe"), "agent.py")]).agents


def test_a_heuristic_cannot_be_called_none(plugin: Plugin) -> None:
    source = (
        "@heuristic('none', game='tic-tac-toe')\n"
        "def h(game, state, player=0): return 0\n"
        "@hookimpl\n"
        "def arena_heuristics(): return [h]\n"
    )
    assert "in a spec, none stands for no heuristic" in problem(plugin(source))


def test_a_plugin_can_be_loaded_after_its_error_was_corrected(plugin: Plugin) -> None:
    file = plugin("1 / 0\n")
    problem(file)
    plugin(CAUTIOUS)
    assert issubclass(load_plugins([file]).agents["cautious"], Agent)


def test_an_unknown_name_suggests_the_nearest_name() -> None:
    registry = load_plugins()
    for find, name, near in (
        (registry.game, "tictactoe", "tic-tac-toe"),
        (registry.agent, "alphabeta", "alpha-beta"),
        (registry.format, "roundrobin", "round-robin"),
        (lambda name: registry.heuristic("sliding-tiles", name), "manhatten", "manhattan"),
    ):
        with pytest.raises(arena.UnknownName, match=f"'{name}'; did you mean '{near}'"):
            find(name)
    assert issubclass(registry.game("tic-tac-toe"), Game)


# Installed plugins, in a process of their own that finds a real distribution


def install(folder: Path, name: str, source: str, *, metadata: bool = True, module: str | None = None) -> None:
    """Put a distribution with one entry point into a folder, as pip would."""
    module = module or name.replace("-", "_")
    info = folder / f"{name.replace('-', '_')}-2.5.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(HEAD + dedent(source))
    (info / "entry_points.txt").write_text(f"[arena]\nplayers = {module}\n")
    if metadata:
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the distributions that are installed in a folder."""
    return run_module("arena", arguments, folder=folder, environment={**os.environ, "PYTHONPATH": str(folder)})


@pytest.fixture
def cup(tmp_path: Path) -> Callable[..., str]:
    """Write a small spec; return its name."""

    def cup(*agents: str) -> str:
        (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nrounds: 1\nagents: [{', '.join(agents)}]\n")
        return "cup.yaml"

    return cup


@pytest.mark.process
def test_an_installed_plugin_is_found(tmp_path: Path, cup: Callable[..., str]) -> None:
    install(tmp_path, "careful-players", CAUTIOUS)
    played = run(tmp_path, "run", cup("cautious", "random"))
    assert (played.returncode, played.stderr) == (0, "")
    assert "cautious" in played.stdout
    listed = run(tmp_path, "plugins").stdout
    assert re.search(r"careful-players:players 2\.5\n  file: .*\n  agents: cautious\n", listed)


@pytest.mark.process
def test_two_plugins_that_share_a_name_are_listed_once_each(tmp_path: Path, cup: Callable[..., str]) -> None:
    """Neither of the two can be used by the shared name, but both by their other names."""
    other = 'class Other(Cautious):\n    name = "other"\n\n@hookimpl'
    install(tmp_path, "careful-players", CAUTIOUS)
    both_agents = CAUTIOUS.replace("@hookimpl", other).replace("[Cautious]", "[Cautious, Other]")
    install(tmp_path, "second-players", both_agents)
    listed = run(tmp_path, "plugins").stdout
    both = "careful-players:players 2.5 and second-players:players 2.5 both define 'agent cautious'; uninstall one of them"
    assert listed.count("second-players:players 2.5\n") == 1
    assert listed.count(both) == 1
    assert f"note: {both}" in listed
    played = run(tmp_path, "run", cup("other", "random"), "--format", "csv")
    assert played.returncode == 0
    assert played.stderr.count(both) == 1
    assert both in run(tmp_path, "run", cup("cautious", "random")).stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import no_such_module\n", r"ModuleNotFoundError: .*no_such_module.* \(.*/broken_players\.py:3\)"),
        ("raise KeyboardInterrupt\n", r"KeyboardInterrupt \(.*/broken_players\.py:3\)"),
        ("@hookimpl\ndef arena_agent(): return []\n", r"unknown hook 'arena_agent'; did you mean 'arena_agents'"),
    ],
)
def test_a_broken_installed_plugin_is_reported_in_one_line(
    tmp_path: Path, cup: Callable[..., str], source: str, words: str
) -> None:
    install(tmp_path, "broken-players", source)
    install(tmp_path, "careful-players", CAUTIOUS)
    played = run(tmp_path, "run", cup("cautious", "random"), "--format", "csv")
    assert played.returncode == 0
    assert len(played.stdout.splitlines()) == 3
    (line,) = played.stderr.splitlines()
    assert re.search(rf"broken-players:players 2\.5 .*{words}", line)


@pytest.mark.process
def test_a_spec_that_needs_a_broken_installed_plugin_stops(tmp_path: Path, cup: Callable[..., str]) -> None:
    install(tmp_path, "broken-players", f"1 / 0\n{CAUTIOUS}")
    stopped = run(tmp_path, "run", cup("cautious", "random"))
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert re.search(r"cup\.yaml:3:10: agents\[0\]: unknown agent 'cautious'", stopped.stderr)
    assert re.search(r"broken-players:players 2\.5 .*ZeroDivisionError.*broken_players\.py:3", stopped.stderr)
    assert len(stopped.stderr.splitlines()) == 2


@pytest.mark.process
def test_a_name_that_two_installed_plugins_share_cannot_be_used(tmp_path: Path, cup: Callable[..., str]) -> None:
    install(tmp_path, "careful-players", CAUTIOUS)
    install(
        tmp_path,
        "other-players",
        f"{CAUTIOUS.replace('[Cautious]', '[Cautious, Other]')}\nclass Other(Cautious): name = 'other'\n",
    )
    played = run(tmp_path, "run", cup("other", "random"))
    assert played.returncode == 0
    (line,) = played.stderr.splitlines()
    stopped = run(tmp_path, "run", cup("cautious", "random"))
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert "cup.yaml:3:10: agents[0]: " in stopped.stderr
    for said in (line, stopped.stderr):
        assert "careful-players:players 2.5" in said
        assert "other-players:players 2.5" in said
        assert "'agent cautious'" in said


@pytest.mark.process
def test_a_plugin_file_replaces_an_installed_plugin_of_the_same_name(tmp_path: Path, cup: Callable[..., str]) -> None:
    install(tmp_path, "careful-players", CAUTIOUS)
    (tmp_path / "mine.py").write_text(HEAD + CAUTIOUS.replace("[0]", "[-1]"))
    played = run(tmp_path, "run", cup("cautious", "random"), "--plugin", "mine.py", "--store", "cup.db")
    assert played.returncode == 0
    records = [json.loads(line) for line in run(tmp_path, "export", "cup.db").stdout.splitlines()]
    assert [record["actions"][0] for record in records if record["labels"][0] == "cautious"] == ["9"]
    (line,) = [one for one in played.stderr.splitlines() if "note: " in one]
    assert line == "note: agent cautious of mine.py is used instead of the one from careful-players:players 2.5"


@pytest.mark.process
def test_a_partly_removed_distribution_is_reported(tmp_path: Path, cup: Callable[..., str]) -> None:
    install(tmp_path, "half-players", "1 / 0\n", metadata=False)
    played = run(tmp_path, "run", cup("greedy", "random"))
    assert played.returncode == 0
    (line,) = played.stderr.splitlines()
    assert re.search(r"players .*ZeroDivisionError.*half_players\.py:3", line)
