"""Requests from pages of `arena serve`, which name files or try to use the keys of the user.

Each attack is first tried as a spec of the user, to see that it would succeed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from arena import load_plugins
from arena.spec import load_spec
from arena_bridges.llm import endpoint
from arena_web.inventory import inventory
from arena_web.plugin_process import PluginProcess
from arena_web.requests import Requests
from tests.bridges.llm.stub import Reply, first, move, serving
from tests.extensions.web.conftest import served

pytestmark = pytest.mark.promise(hole="page", isolation="any")

SECRET = "root:x:0:0:secret"
START = {"do": "move", "game": {"name": "tic-tac-toe"}, "state": ".../.../..."}
LEAK = """
import os
from arena import Game, hookimpl

class Leak(Game):
    name = "leak"
    def initial(self, rng): return os.environ.get("OPENAI_API_KEY", "")
    def to_move(self, state): return 0
    def actions(self, state): return [1]
    def result(self, state, action): return state
    def returns(self, state): return (0.0, 0.0)

@hookimpl
def arena_games():
    return [Leak]
"""
"""A game whose first state is a key of the user."""


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """Return the path of a file of the user."""
    path = tmp_path / "passwd"
    path.write_text(SECRET)
    return str(path)


def refused(asked: dict[str, Any]) -> str:
    """Return the error with which a request is refused."""
    error: str = Requests(load_plugins(), ()).answer(asked)["error"]
    return error


@pytest.mark.parametrize(
    ("game", "parameter", "others"),
    [
        ("sokoban", "file", {}),
        ("grid-path", "map", {}),
        ("grid-path", "scenario", {}),
        ("openspiel", "file", {"game": "efg_game"}),
    ],
    ids=["sokoban-file", "grid-path-map", "grid-path-scenario", "openspiel-file"],
)
def test_a_page_cannot_load_a_file_for_a_game(game: str, parameter: str, others: dict[str, str], secret: str) -> None:
    """A spec may load the file: the error that follows quotes its path. A page is refused before the file is opened."""
    parameters = {**others, parameter: secret}
    with pytest.raises(Exception, match="passwd"):
        load_spec({"game": {"name": game, **parameters}, "agents": ["a-star"]})
    for do in ("position", "apply", "move", "solve"):
        asked = {"do": do, "game": {"name": game, "parameters": parameters}, "state": "", "action": ""}
        error = refused({**asked, "agent": {"agent": "a-star"}})
        assert f"{parameter}: pages cannot load files" in error
        assert "secret" not in error


@pytest.mark.parametrize(
    ("agent", "option"), [("policy-table", "file"), ("policy", "weights"), ("llm", "prompt")], ids=["table", "weights", "prompt"]
)
def test_a_page_cannot_load_a_file_for_an_agent(agent: str, option: str, secret: str) -> None:
    error = refused({**START, "agent": {"agent": agent, "options": {option: secret}}})
    assert f"agent.options.{option}: pages cannot load files" in error
    assert "secret" not in error


def test_a_page_can_choose_a_name_that_is_not_a_file() -> None:
    asked = {"do": "position", "game": {"name": "grid-path", "parameters": {"map": "maze"}}}
    assert "frame" in Requests(load_plugins(), ()).answer(asked)


def test_forms_offer_no_files_and_no_agents_that_cannot_be_started() -> None:
    offered = inventory(load_plugins())
    fields = {game["name"]: {one["name"]: one["kind"] for one in game["parameters"]} for game in offered["games"]}
    assert fields["grid-path"]["map"] == "choice"
    assert not {"scenario", "file"} & {*fields["grid-path"], *fields["sokoban"]}
    assert not {"llm", "policy", "policy-table", "human"} & {agent["name"] for agent in offered["agents"]}
    assert not {"llm", "policy", "policy-table", "human"} & {agent for game in offered["games"] for agent in game["agents"]}


def test_a_page_starts_a_model_only_with_the_options_of_the_served_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests with another address or key are refused. An entry of the spec with exactly its options is started."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OTHER_API_KEY", "sk-other")
    requests = Requests(load_plugins(), ())
    with serving(first) as own, serving(first) as attacker:
        entry = {"url": own.url, "model": "m", "key_env": "OTHER_API_KEY"}
        spec = tmp_path / "cup.json"
        spec.write_text(json.dumps({"game": "tic-tac-toe", "agents": [{"agent": "llm", **entry, "retries": 2}, "random"]}))

        def ask(options: dict[str, Any], *specs: str) -> dict[str, Any]:
            return requests.answer({**START, "specs": specs, "keys": True, "agent": {"agent": "llm", "options": options}})

        for options in ({**entry, "url": attacker.url}, {**entry, "key_env": "OPENAI_API_KEY"}, {**entry, "retries": 9}, {}):
            assert "a page cannot start llm with these options" in ask(options, str(spec))["error"]
        assert "a page cannot start llm" in ask(entry)["error"], "only a store is served"
        assert "frame" in ask(entry, str(spec))
        assert attacker.requests == []
        assert len(own.requests) == 1
        offered = requests.answer({"do": "inventory", "specs": [str(spec)]})
        assert "llm" in [agent["name"] for agent in offered["agents"]]
    endpoint.endpoint.cache_clear()


def test_a_page_starts_a_model_with_the_prompt_of_its_entry_and_names_no_prompt(tmp_path: Path) -> None:
    """The page sends the other options of the entry. The prompt comes from the folder of the spec."""
    asked_with: list[str] = []

    def answer(request: dict[str, Any]) -> Reply:
        asked_with.append(request["messages"][0]["content"])
        return move(asked_with[-1].split()[-1])

    for name in ("short", "long"):
        (tmp_path / f"{name}.txt").write_text(name + " {{ legal[0] }}")
    with serving(answer) as own:

        def serve(folder: str, *prompts: str) -> dict[str, Any]:
            entry = {"agent": "llm", "url": own.url, "model": "m"}
            agents = [{**entry, "prompt": prompt, "label": prompt} for prompt in prompts]
            spec = tmp_path / f"{folder}.json"
            spec.write_text(json.dumps({"game": "tic-tac-toe", "agents": [*agents, "random"]}))
            form = {"agent": "llm", "options": {"url": own.url, "model": "m"}}
            return Requests(load_plugins(), ()).answer({**START, "specs": [str(spec)], "keys": True, "agent": form})

        assert "frame" in serve("one", "short.txt")
        assert [text.split()[0] for text in asked_with] == ["short"]
        assert (
            "several entries of the spec have them and differ only in their files"
            in serve("two", "short.txt", "long.txt")["error"]
        )
        assert len(asked_with) == 1
    endpoint.endpoint.cache_clear()


@pytest.mark.parametrize("keys", [False, True])
def test_the_code_behind_pages_has_no_keys(keys: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    file = tmp_path / "leak.py"
    file.write_text(LEAK)
    process = PluginProcess([str(file)], 1024, keys=keys)
    try:
        answer = process.ask({"do": "position", "game": {"name": "leak"}}, 60)
    finally:
        process.end()
    assert answer["frame"]["state"] == ("'sk-secret'" if keys else "''")


def test_a_served_model_gets_its_key_and_other_code_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spec has a model and a game that shows the key. Only the process that starts the model has the key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "leak.py").write_text(LEAK)
    with serving(first) as stub:
        entry = {"url": stub.url, "model": "m", "key_env": "OPENAI_API_KEY"}
        agents = ["random", {"agent": "llm", **entry}]
        (tmp_path / "cup.json").write_text(json.dumps({"game": "tic-tac-toe", "agents": agents, "rounds": 1}))
        with served(tmp_path, "cup.json", "--plugin", "leak.py") as server:
            moved = server.ask("/api/move", {**START, "agent": {"agent": "llm", "options": entry}})
            shown = server.ask("/api/position", {"game": {"name": "leak"}})
    assert moved.status == 200, moved.text
    assert {headers["Authorization"] for headers in stub.headers} == {"Bearer sk-secret"}
    assert shown.json["frame"]["state"] == "''"
    endpoint.endpoint.cache_clear()


def test_a_process_without_keys_starts_no_model(tmp_path: Path) -> None:
    entry = {"url": "http://127.0.0.1:9/v1", "model": "m"}
    spec = tmp_path / "cup.json"
    spec.write_text(json.dumps({"game": "tic-tac-toe", "agents": [{"agent": "llm", **entry}, "random"]}))
    asked = {**START, "specs": [str(spec)], "agent": {"agent": "llm", "options": entry}}
    assert Requests(load_plugins(), ()).answer(asked) == {"needs_keys": True}
