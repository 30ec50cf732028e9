"""What pages ask of games with chance and hidden information: what is dealt, what a seat sees of it, and a first tournament."""

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
"""An agent that plays the centre after 11 states, and reports nothing."""
PIG, KUHN = {"name": "pig"}, {"name": "kuhn-poker"}


@pytest.fixture(scope="module")
def ask() -> Any:
    """What the process of the server that knows games and agents answers."""
    requests = Requests(load_plugins(()), ())
    return lambda do, **asked: requests.answer({"do": do, **asked})


def test_a_page_draws_no_move_for_an_agent_by_limits_of_its_own(tmp_path: Path) -> None:
    """Limits that the user has not changed let an agent without reports finish. Under limits of the user, its move is random."""
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    requests = Requests(load_plugins((file,)), (str(file),))
    asked = {"do": "move", "game": {"name": "tic-tac-toe"}, "state": ".../.../...", "agent": {"agent": "slow"}}
    replies = [requests.answer({**asked, "seed": seed, "limits": {"nodes": 10, "patient": True}}) for seed in range(6)]
    assert [(reply["fallbacks"], reply["frame"]["action"]) for reply in replies] == [(0, "5")] * 6
    named = [requests.answer({**asked, "seed": seed, "limits": {"nodes": 10}}) for seed in range(6)]
    assert [reply["fallbacks"] for reply in named] == [1] * 6
    assert len({reply["frame"]["action"] for reply in named}) > 1


def test_moves_one_by_one_and_all_at_once_come_to_the_same_positions(ask: Any) -> None:
    """So a move that was taken back and played again throws the same, and a kept address leads to where one was."""
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


def test_a_face_that_is_told_is_the_one_that_is_gathered(ask: Any) -> None:
    """By the rules of Pig: a 1 ends the turn with nothing, any other face is gathered."""
    faces: Counter[str] = Counter()
    for seed in range(30):
        before, after = ask("position", game=PIG, seed=seed, actions=["roll"])["frames"]
        (face,) = after["chance"]
        assert before["state"] == "0:0 +0 a"
        assert after["state"] == ("0:0 +0 b" if face == "1" else f"0:0 +{face} a")
        faces[face] += 1
    assert set(faces) == set("123456")


def test_the_same_state_throws_anew_further_on_in_the_play(ask: Any) -> None:
    """States recur in Pig; with chance from the state alone a turn would be the same for ever."""
    thrown = {ask("apply", game=PIG, seed=0, state="0:0 +0 a", ply=ply, action="roll")["frame"]["chance"][0] for ply in range(40)}
    assert thrown == set("123456")


def test_an_agent_and_a_person_who_play_the_same_are_dealt_the_same(ask: Any) -> None:
    """`hold-at` rolls with nothing gathered."""
    at = {"game": PIG, "seed": 11, "state": "0:0 +0 a", "ply": 4}
    agent = ask("move", **at, agent={"agent": "hold-at"})["frame"]
    person = ask("apply", **at, action="roll")["frame"]
    assert agent["action"] == "roll"
    assert {key: agent[key] for key in ("state", "chance", "ply")} == {key: person[key] for key in ("state", "chance", "ply")}


def test_each_seat_sees_its_own_card_alone_and_chance_is_not_told(ask: Any) -> None:
    for seed in range(6):
        frame = ask("position", game=KUHN, seed=seed)["frame"]
        first, second = frame["state"][:2]
        assert [seen["state"] for seen in frame["seen"]] == [f"{first}?:", f"?{second}:"]
        assert frame["chance"] == []
    assert ask("position", game={"name": "tic-tac-toe"})["frame"]["seen"] is None


def test_nobody_plays_for_chance(ask: Any) -> None:
    assert ask("apply", game=PIG, state="0:0 +0 a?", action="6")["error"] == "6 is not legal here"


def test_a_place_in_the_play_is_a_number(ask: Any) -> None:
    assert "ply: expected a whole number" in ask("position", game=PIG, ply=-1)["error"]
