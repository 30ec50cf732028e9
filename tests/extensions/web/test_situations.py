"""Pages show outcomes of chance and the observations of a seat, and agents decide within limits."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.plugins.sources import load_plugins
from arena_web.requests import Requests

SLOW = """
from arena import Agent, hookimpl

class Slow(Agent):
    name = "slow"
    def choose(self, game, state, search):
        for _ in range(11):
            game.result(state, 1)
        return 5

@hookimpl
def arena_agents():
    return [Slow]
"""
"""This agent plays the centre after 11 states, and reports no action before the end."""
PIG, KUHN = {"name": "pig"}, {"name": "kuhn-poker"}


@pytest.fixture(scope="module")
def ask() -> Any:
    """Return a function that sends a request to the code of the server that knows games and agents."""
    requests = Requests(load_plugins(()), ())
    return lambda do, **asked: requests.answer({"do": do, **asked})


def test_default_limits_of_a_page_never_replace_an_action(tmp_path: Path) -> None:
    """Under limits that the user has not changed, an agent without reports may finish. Under limits of the user, its move is
    random.
    """
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    requests = Requests(load_plugins((file,)), (str(file),))
    asked = {"do": "move", "game": {"name": "tic-tac-toe"}, "state": ".../.../...", "agent": {"agent": "slow"}}
    replies = [requests.answer({**asked, "seed": seed, "limits": {"nodes": 10, "patient": True}}) for seed in range(6)]
    assert [(reply["fallbacks"], reply["frame"]["action"]) for reply in replies] == [(0, "5")] * 6
    named = [requests.answer({**asked, "seed": seed, "limits": {"nodes": 10}}) for seed in range(6)]
    assert [reply["fallbacks"] for reply in named] == [1] * 6
    assert len({reply["frame"]["action"] for reply in named}) > 1


def test_moves_one_by_one_and_all_at_once_reach_the_same_positions(ask: Any) -> None:
    """A move that is repeated after an undo has the same outcomes of chance, and a saved address leads to the same position."""
    played = ["roll", "roll", "roll", "hold", "roll", "hold", "roll"]
    frames = [ask("position", game=PIG, seed=2)["frame"]]
    while len(frames) <= len(played):
        at, number = frames[-1], len(frames) - 1
        action = played[number]
        frames.append(ask("apply", game=PIG, seed=2, state=at["state"], ply=number, action=action)["frame"])
    whole = ask("position", game=PIG, seed=2, actions=played)["frames"]
    later = ask("position", game=PIG, seed=2, state=frames[3]["state"], ply=3, actions=played[3:])["frames"]
    assert whole == frames
    assert later == [{**frames[3], "chance": [], "action": None, "seat": None}, *frames[4:]]
    assert {len(frame["chance"]) for frame in frames if frame["action"] == "roll"} == {1}


def test_the_shown_face_of_the_die_is_added_to_the_turn_total(ask: Any) -> None:
    """By the rules of Pig, a 1 ends the turn without points, and any other face is added."""
    faces: Counter[str] = Counter()
    for seed in range(30):
        before, after = ask("position", game=PIG, seed=seed, actions=["roll"])["frames"]
        (face,) = after["chance"]
        assert before["state"] == "0:0 +0 a"
        assert after["state"] == ("0:0 +0 b" if face == "1" else f"0:0 +{face} a")
        faces[face] += 1
    assert set(faces) == set("123456")


def test_a_repeated_state_has_new_outcomes_of_chance(ask: Any) -> None:
    """States recur in Pig. If chance depended only on the state, a turn would never end."""
    thrown = {ask("apply", game=PIG, seed=0, state="0:0 +0 a", ply=ply, action="roll")["frame"]["chance"][0] for ply in range(40)}
    assert thrown == set("123456")


def test_an_agent_and_a_person_get_the_same_outcomes(ask: Any) -> None:
    """`hold-at` rolls at the start of a turn."""
    at = {"game": PIG, "seed": 11, "state": "0:0 +0 a", "ply": 4}
    agent = ask("move", **at, agent={"agent": "hold-at"})["frame"]
    person = ask("apply", **at, action="roll")["frame"]
    assert agent["action"] == "roll"
    assert {key: agent[key] for key in ("state", "chance", "ply")} == {key: person[key] for key in ("state", "chance", "ply")}


def test_each_seat_sees_only_its_own_card(ask: Any) -> None:
    for seed in range(6):
        frame = ask("position", game=KUHN, seed=seed)["frame"]
        first, second = frame["state"][:2]
        assert [seen["state"] for seen in frame["seen"]] == [f"{first}?:", f"?{second}:"]
        assert frame["chance"] == []
    assert ask("position", game={"name": "tic-tac-toe"})["frame"]["seen"] is None


def test_an_action_of_chance_is_refused(ask: Any) -> None:
    assert ask("apply", game=PIG, state="0:0 +0 a?", action="6")["error"] == "6 is not legal here"


def test_the_number_of_plies_is_validated(ask: Any) -> None:
    assert "ply: expected a whole number" in ask("position", game=PIG, ply=-1)["error"]
