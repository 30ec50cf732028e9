"""Games and agents answer requests of pages. Work that takes too much time or memory, or that no page waits for, is stopped."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena import load_plugins
from arena_web.inventory import inventory
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

EIGHT = {"name": "sliding-tiles"}
HARDEST = "8 6 7 / 2 5 4 / 3 . 1"
"""This is one of the two positions of the 8-puzzle that are 31 moves from the goal (A. Reinefeld, IJCAI 1993)."""


def solving(state: str, agent: str, **more: Any) -> dict[str, Any]:
    return {"game": EIGHT, "state": state, "agent": {"agent": agent}, "seed": 0, **more}


def desks(server: Any) -> list[psutil.Process]:
    children = psutil.Process(server.process.pid).children(recursive=True)
    return [child for child in children if "arena_web.plugin_host" in " ".join(child.cmdline())]


@contextmanager
def request_left(server: Any, path: str, body: dict[str, Any]) -> Iterator[None]:
    """Send a request, and close its connection at the end."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_SECONDS)) as connection:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        yield


def test_the_hardest_eight_puzzle_takes_31_moves(server: Any) -> None:
    view = server.ask("/api/solve", solving(HARDEST, "a-star")).json["view"]
    assert (view["solved"], view["moves"], view["cost"], len(view["frames"])) == (True, 31, 31, 32)
    assert view["frames"][0]["state"] == HARDEST
    assert view["frames"][-1]["state"] == "1 2 3 / 4 5 6 / 7 8 ."


def test_requests_with_the_same_seed_give_the_same_search(server: Any) -> None:
    asked = {"game": {"name": "n-queens", "parameters": {"n": 12}}, "state": "-", "agent": {"agent": "hill-climb"}, "seed": 5}
    one, two = [server.ask("/api/solve", asked).json["view"] for _ in range(2)]
    assert [frame["state"] for frame in one["frames"]] == [frame["state"] for frame in two["frames"]]
    assert one["totals"][0]["nodes"] == two["totals"][0]["nodes"]


def test_an_agent_takes_a_win_and_blocks_a_loss(server: Any) -> None:
    for state, action in (("xx./oo./...", "3"), ("xx./o../...", "3")):
        asked = {"game": {"name": "tic-tac-toe"}, "state": state, "agent": {"agent": "alpha-beta"}}
        assert server.ask("/api/move", asked).json["frame"]["action"] == action


def test_a_hint_for_a_board_with_queens_leads_to_a_solution(server: Any) -> None:
    state = "-"
    for agent in ("min-conflicts", *["dfs"] * 7):
        asked = {"game": {"name": "n-queens"}, "state": state, "agent": {"agent": agent}}
        state = server.ask("/api/move", asked).json["frame"]["state"]
    rows = [int(row) for row in state.split()]
    assert sorted(rows) == list(range(1, 9))
    assert len({row + column for column, row in enumerate(rows)}) == len({row - column for column, row in enumerate(rows)}) == 8


def test_a_whole_game_is_played_through_requests(server: Any) -> None:
    game = {"name": "pebbles", "parameters": {"heap": 4}}
    frame = server.ask("/api/position", {"game": game, "seed": 1}).json["frame"]
    assert frame["rendered"].startswith("o o o o")
    for action in ("2", "2"):
        assert action in frame["actions"]
        frame = server.ask("/api/apply", {"game": game, "state": frame["state"], "action": action}).json["frame"]
    assert (frame["over"], frame["returns"], frame["actions"]) == (True, [-1.0, 1.0], [])


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("/api/position", {"game": {"name": "chess"}}, "unknown game 'chess'"),
        ("/api/position", {"game": {"name": "n-queens", "parameters": {"n": "x"}}}, "n: expected an integer"),
        ("/api/position", {"game": {"name": "n-queens", "parameters": {"m": 8}}}, "unknown key"),
        ("/api/position", {"game": {"name": "tic-tac-toe", "parameters": {"in_a_row": 9}}}, "in_a_row: expected at most 3"),
        ("/api/position", {"game": {"name": "tic-tac-toe"}, "state": "xxx"}, "expected 3 rows"),
        ("/api/position", {"game": {"name": "tic-tac-toe"}, "seed": "x"}, "seed: expected a whole number"),
        ("/api/apply", {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "action": "1"}, "expected one of 2"),
        ("/api/move", {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "agent": {"agent": "a-star"}}, "cannot play"),
        ("/api/solve", solving(HARDEST, "a-star", limits={"seconds": 1000}), "limits.seconds"),
        ("/api/solve", solving(HARDEST, "a-star", limits={"memory_mb": 1}), "limits: unknown 'memory_mb'"),
        ("/api/solve", {**solving(HARDEST, "a-star"), "agent": {"agent": {"command": ["id"]}}}, "agent.agent: expected text"),
        (
            "/api/solve",
            {**solving(HARDEST, "a-star"), "agent": {"agent": "dfs", "options": {"plugins": "x"}}},
            "plugins is not an option of an agent",
        ),
    ],
)
def test_an_invalid_request_is_explained(server: Any, path: str, asked: Any, said: str) -> None:
    answer = server.ask(path, asked)
    assert answer.status == 400
    assert said in answer.json["error"]


def test_an_agent_that_ignores_the_given_state_cannot_give_a_hint_from_it(server: Any) -> None:
    asked = {"game": {"name": "n-queens"}, "state": "1 3 5", "agent": {"agent": "min-conflicts"}}
    assert "has found no action" in server.ask("/api/move", asked).json["error"]


def test_output_of_an_agent_does_not_disturb_the_answer(server: Any) -> None:
    asked = {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "agent": {"agent": "chatty"}}
    assert server.ask("/api/move", asked).json["frame"]["action"] == "9"


def test_an_agent_that_ignores_its_limit_is_stopped(server: Any) -> None:
    asked = {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "agent": {"agent": "stubborn"}, "limits": {"seconds": 0.2}}
    answer = server.ask("/api/move", asked)
    assert answer.status == 503
    assert "stopped: it took longer than" in answer.json["error"]
    assert server.ask("/api/position", {"game": EIGHT, "seed": 1}).status == 200


def test_an_agent_that_exhausts_memory_is_reported(server: Any) -> None:
    asked = {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "agent": {"agent": "hoarder"}}
    answer = server.ask("/api/move", asked)
    assert answer.status in (400, 503)
    assert "memory" in answer.json["error"]
    assert psutil.Process(server.process.pid).memory_info().rss < 300 << 20


def test_work_ends_when_the_page_is_closed(server: Any) -> None:
    hard = {"game": {"name": "sliding-tiles", "parameters": {"rows": 5, "columns": 5}}, "seed": 3}
    found = server.ask("/api/position", hard)
    assert found.status == 200, found.text
    state = found.json["frame"]["state"]
    asked = {**solving(state, "ida-star"), "game": hard["game"], "limits": {"seconds": 60}}

    def used(desk: psutil.Process) -> float:
        return float(sum(desk.cpu_times()[:2]))

    before = {desk.pid: used(desk) for desk in desks(server)}

    def busy() -> list[psutil.Process]:
        """Return the processes that have used more time than needed for a start."""
        return [desk for desk in desks(server) if used(desk) > before.get(desk.pid, 0.0) + 2]

    with request_left(server, "/api/solve", asked):
        working = eventually(busy)
    eventually(lambda: not [desk for desk in working if desk.is_running()])


def test_requests_above_the_limit_wait_and_others_are_answered(server: Any) -> None:
    """The agent of each request is stopped after its time."""
    asked = {"game": {"name": "tic-tac-toe"}, "state": "x../.../...", "agent": {"agent": "stubborn"}, "limits": {"seconds": 3}}
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(server.ask("/api/move", asked).status)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [503] * 8
    eventually(lambda: len(desks(server)) <= 2)
    assert server.ask("/api/position", {"game": EIGHT, "seed": 1}).status == 200


def test_a_spec_is_played_until_it_is_stopped(serve: Any, tmp_path: Path) -> None:
    """Finished matches stay in the store, and a second request to stop is refused."""
    (tmp_path / "long.yaml").write_text("game: othello\nrounds: 1000\nagents: [random, greedy]\n")
    with serve(tmp_path, "long.yaml") as server:
        eventually(lambda: (state := server.ask("/api/t/long").json)["state"] == "running" and state["done"] > 0)
        assert server.ask("/api/t/long/stop", {}).json == {"stopped": True}
        state = eventually(lambda: (found := server.ask("/api/t/long").json)["state"] != "running" and found)
        assert state["state"] == "interrupted"
        assert 0 < state["done"] < 2000
        assert server.ask("/api/t/long/stop", {}).status == 400


def test_a_form_has_fields_for_the_options_of_a_heuristic(tmp_path: Path) -> None:
    """The options are keyword-only parameters. Parameters that arena supplies have no field."""
    source = """
from arena import heuristic, hookimpl

@heuristic("lopsided", game="tic-tac-toe")
def lopsided(game, state, player=0, *, weight: float = 0.5):
    return 0.0

@hookimpl
def arena_heuristics():
    return [lopsided]
"""
    (tmp_path / "lopsided.py").write_text(source)
    known = inventory(load_plugins([str(tmp_path / "lopsided.py")]))["games"]
    found = next(game["heuristics"] for game in known if game["name"] == "tic-tac-toe")
    (field,) = next(one["parameters"] for one in found if one["name"] == "lopsided")
    assert (field["name"], field["default"], field["kind"]) == ("weight", 0.5, "number")


def test_dice_depend_on_the_number_of_actions_so_far(server: Any) -> None:
    """The same state of Pig gives different rolls later in the match."""
    asked = {"game": {"name": "pig"}, "state": "0:0 +0 a", "action": "roll", "seed": 0}
    frames = [server.ask("/api/apply", {**asked, "ply": ply}).json["frame"] for ply in range(12)]
    assert len({frame["chance"][0] for frame in frames}) > 2
    assert [frame["ply"] for frame in frames] == list(range(1, 13))


def test_a_position_is_reached_by_its_actions(server: Any) -> None:
    asked = {"game": {"name": "tic-tac-toe"}, "state": ".../.../...", "actions": ["1", "5", "9"]}
    frames = server.ask("/api/position", asked).json["frames"]
    assert [frame["action"] for frame in frames] == [None, "1", "5", "9"]
    assert [frame["seat"] for frame in frames] == [None, 0, 1, 0]
    assert frames[-1]["state"] == "x../.o./..x"
    refused = server.ask("/api/position", asked | {"actions": ["1", "1"]})
    assert refused.status == 400


BOARD = """
import os
from pathlib import Path
from arena import Game, hookimpl

with Path(__file__).with_name("loaded").open("a") as told:
    told.write(f"{os.getpid()}\\n")

class Light(Game):
    "One light to be put out."
    name = "light"
    board = "light.js"
    def initial(self, rng): return 1
    def to_move(self, state): return 0
    def actions(self, state): return [0] if state else []
    def result(self, state, action): return 0
    def returns(self, state): return (1.0, -1.0)

@hookimpl
def arena_games():
    return [Light]
"""
MODULE = """import { CELL } from "arena/grid.js";
export const parse = Number;
export const extent = () => ({ width: CELL, height: CELL });
export const draw = () => {};
"""


def test_a_board_is_loaded_by_a_process_other_than_the_server(serve: Any, tmp_path: Path) -> None:
    """The server does not load the plugin. An edited board has another address, and the old address keeps its content."""
    (tmp_path / "light.py").write_text(BOARD)
    (tmp_path / "light.js").write_text(MODULE)
    with serve(tmp_path, "--plugin", "light.py") as running:

        def board() -> str:
            return str(running.ask("/api/position", {"game": {"name": "light"}, "seed": 1}).json["game"]["board"])

        address = board()
        found = running.ask(address)
        assert (found.status, found.text) == (200, MODULE.replace("arena/grid.js", "/static/grid.js"))
        assert found.headers["content-type"].startswith("text/javascript")
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self';" in found.headers["content-security-policy"]
        (tmp_path / "light.js").write_text(MODULE + "// edited\n")
        assert board() != address
        assert running.ask(board()).text.endswith("// edited\n")
        assert running.ask(address).text == found.text
        (tmp_path / "light.js").unlink()
        assert board() == "None"
        loaded = {int(pid) for pid in (tmp_path / "loaded").read_text().split()}
        assert loaded
        assert running.process.pid not in loaded
