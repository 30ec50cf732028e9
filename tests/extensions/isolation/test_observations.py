"""An agent in a process of its own is sent what its seat observes and nothing else, and meets a deal once in a process."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.game import CHANCE
from arena.spec import load_spec
from arena.tournament.results import Results
from tests.core.match.chancy import Race, TwoCards

pytestmark = pytest.mark.process

PLUGIN = str(Path(__file__).parents[2] / "core" / "match" / "chancy.py")
PROGRAM = """
import json, os, sys

log = open(sys.argv[0].replace("program.py", "log.txt"), "a", buffering=1)
process = int.from_bytes(os.urandom(6), "big")  # in a namespace of its own each has the same number
for line in sys.stdin:
    log.write(f"{process} {line}")
    asked = json.loads(line)
    if asked["type"] == "hello":
        answer = {"type": "hello", "protocol": 2, "can": sys.argv[1].split(",")}
    elif asked["type"] == "start":
        answer, seen = {"type": "ready"}, []
    elif asked["type"] == "choose":
        legal = asked.get("legal") or ["throw", "wait"]
        answer = {"type": "action", "action": legal[len(line) % len(legal)]}
    else:
        break
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that writes down all that it is sent, with its process."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def played(
    program: Path, game: str, can: str, others: Sequence[str] = ("noter",), **keys: Any
) -> tuple[Results, list[tuple[int, dict[str, Any]]]]:
    """A tournament of the program against other agents, and every message that the program was sent, with its process."""
    log = program.with_name("log.txt")
    entry = {"agent": {"command": [sys.executable, str(program), can]}, "label": "program"}
    results = arena.run({"game": game, "agents": [entry, *others], "plugins": [PLUGIN], **keys})
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    return results, [(int(process), json.loads(line)) for process, line in lines]


def test_a_program_gets_only_its_own_observation(program: Path) -> None:
    """Each request contains the program's own card and legal actions, but never the opponent's card, or a position or actions
    that would reveal it.
    """
    results, sent = played(program, "two-cards", "choose,observe", rounds=8)
    assert {one.record.termination for one in results.played} == {"normal"}
    matches = [one.record.actions[:2] for one in results.played for _ in range(1)]
    assert len({frozenset(cards) for cards in matches}) > 1
    seats = []
    for _, message in sent:
        if message["type"] == "start":
            seats.append(message["seat"])
        assert "position" not in message
        if message["type"] == "choose":
            cards, _ = TwoCards().parse_state(message["observation"])
            assert message["played"] == []
            assert message["legal"] == ["pass", "bet"]
            assert (cards[seats[-1]] in "JQK", cards[1 - seats[-1]]) == (True, "?")
    assert Counter(seats) == {0: 8, 1: 8}


def test_no_process_plays_the_same_deal_twice(program: Path) -> None:
    """Both matches of a round use two processes. Other rounds may use the same processes."""
    _, sent = played(program, "race", "choose", rounds=6)
    processes = [process for process, message in sent if message["type"] == "start"]
    rounds = list(zip(processes[::2], processes[1::2], strict=True))
    assert len(rounds) == 6
    assert all(first != second for first, second in rounds)
    assert len(set(processes)) == 2


def test_chance_outcomes_are_sent_with_the_previous_actions(program: Path) -> None:
    """In a game without hidden information, every roll is sent with its face, as in the record."""
    results, sent = played(program, "race", "choose", rounds=3)
    told = {text for _, message in sent if message["type"] == "choose" for text in message["played"]}
    assert told & {"1", "2", "3", "4", "5", "6"}
    for one in results.played:
        state = Race().initial(None)  # type: ignore[arg-type]
        for text in one.record.actions:
            assert (Race().to_move(state) == CHANCE) is text.isdigit()
            state = Race().result(state, Race().parse_action(state, text))
        assert Race().is_terminal(state)


def test_a_program_without_observations_loses_its_matches(program: Path) -> None:
    """The message explains what to do. The program never learns of the match. The matches of the other agents are played."""
    results, sent = played(program, "two-cards", "choose", rounds=2, others=["noter", "random"])
    refusal = 'two-cards has hidden-information, which this program does not support; its `hello` must list "observe" in `can`'
    ends: Counter[str] = Counter()
    for one in results.played:
        record = one.record
        ends[record.termination] += 1
        if "program" in record.labels:
            assert (record.termination, record.labels[record.seat or 0]) == ("crash", "program")
            assert str(record.message).startswith(refusal)
    assert ends == {"crash": 8, "normal": 4}
    assert {message["type"] for _, message in sent} == {"hello"}


def test_a_process_without_observations_loses_its_matches_but_does_not_end_the_run(program: Path) -> None:
    """The first process of the program supports observations, and its later ones do not."""
    program.write_text(PROGRAM.replace('sys.argv[1].split(",")', 'sys.argv[1].split(",")[: 2 if first else 1]').replace(
        "\nlog = ", "\nfirst = not os.path.exists(sys.argv[0].replace('program.py', 'log.txt'))\nlog = "
    ))  # fmt: skip
    results, _ = played(program, "two-cards", "choose,observe", rounds=4)
    ends = Counter(one.record.termination for one in results.played)
    assert ends == {"normal": 4, "crash": 4}
    assert {str(one.record.message)[:9] for one in results.played if one.record.termination == "crash"} == {"two-cards"}


def test_an_agent_plays_the_same_wherever_it_runs() -> None:
    """Records of agents in arena's process and in separate processes are equal except for times."""
    found = []
    for isolation in ("none", "process"):
        spec = {
            "games": ["two-cards", "race"],
            "agents": ["random", {"agent": "noter", "isolation": isolation}],
            "rounds": 2,
            "plugins": [PLUGIN],
        }
        found.append([one.record.timeless() for one in arena.run(spec).played])
    assert found[0] == found[1]
    assert len(found[0]) == 8


def test_a_note_about_shared_deals_is_printed_once() -> None:
    """It names all boards with chance or hidden information, and no others."""
    keys: dict[str, Any] = {"agents": ["random", "noter"], "plugins": [PLUGIN], "rounds": 1}
    notes = load_spec({**keys, "games": ["two-cards", "race", "tic-tac-toe"]}).notes
    told = [note for note in notes if "same deals" in note]
    assert len(told) == 1
    assert told[0].startswith("two-cards, race: ")
    assert "nothing prevents" in told[0]
    assert not [note for note in load_spec({**keys, "game": "tic-tac-toe"}).notes if "same deals" in note]
    assert "nothing prevents" not in str(load_spec({**keys, "game": "race", "isolation": "process"}).notes)
