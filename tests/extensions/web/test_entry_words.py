"""The page of an entry explains how to load the file of its agent."""

from importlib.resources import files

from arena.api.results import BoardInfo
from arena.api.spec import load_spec
from arena_web.store_requests import stored_facts


def test_the_page_of_an_entry_that_is_not_loaded_shows_the_command_to_load_it() -> None:
    board = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}).boards[0]
    assert "`arena serve --plugin FILE`" in stored_facts(BoardInfo.of(board), 1)["source"]
    script = files("arena_web") / "static" / "entry.js"
    assert "arena serve STORE --plugin FILE" in script.read_text("utf-8")
