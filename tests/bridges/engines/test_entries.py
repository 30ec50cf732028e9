"""Entries of engines: `{agent: {command: [...], protocol: uci}}` from the spec to the record."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena import SpecError
from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec

NOUGHTS = str(Path(__file__).with_name("noughts.py"))
MakeEngine = Callable[..., Path]


def spec_of(program: Path, protocol: str, **entry: Any) -> dict[str, Any]:
    """A spec of an engine against a player at random. The seed is named, because by default it is secret against a program."""
    return {
        "game": "noughts",
        "plugins": [NOUGHTS],
        "rounds": 1,
        "seed": 0,
        "agents": [{"agent": {"command": [str(program)], "protocol": protocol}, **entry}, "random"],
    }


def played(values: dict[str, Any]) -> list[Record]:
    """All matches of a spec, one after the other."""
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize(("protocol", "entry"), [("uci", {"limits": {"nodes": 50}}), ("gtp", {"options": {"level": 2}})])
def test_an_engine_plays_a_match_in_each_seat(engine: MakeEngine, protocol: str, entry: dict[str, Any], isolation: str) -> None:
    """It takes the first free cell from A1, which is cell 7, and what it tells stands in the record; the same again is equal."""
    program = engine(protocol)
    values = spec_of(program, protocol, **entry, isolation=isolation)
    if isolation == "sandbox":  # what it writes there is gone
        values["agents"][0]["agent"]["command"] = sandboxed(program)
    first, second = played(values)
    assert {first.termination, second.termination} == {"normal"}, (first.message, second.message)
    assert (first.actions[0], second.actions[1]) == ("7", "8" if second.actions[0] == "7" else "7")
    told = [(one.nodes, one.depth) for one in first.decisions[::2]]
    assert set(told) == ({(77, 2)} if protocol == "uci" else {(0, None)})
    assert [one.timeless() for one in played(values)] == [first.timeless(), second.timeless()]


def sandboxed(program: Path) -> list[str]:
    """The command of an engine with every file named, so that a sandbox shows them, and a log that it can write."""
    words = [word.strip("'") for word in program.read_text().splitlines()[1].split()[1:]]
    return [*words[:-1], "/tmp/heard"]


ENDS = [
    ("uci", "die", {"nodes": 9}, "exception", "engine ended with code 3 when bestmove was expected"),
    ("gtp", "illegal", {}, "illegal-action", "got 'D9' of engine (ValueError: expected a free cell, got 'D9'"),
    ("gtp", "hang", {"seconds": 0.3}, "timeout", "a decision took longer than its limit of 0.3 s"),
]


@pytest.mark.parametrize(("protocol", "fault", "limits", "ending", "message"), ENDS)
def test_whose_fault_it_is(
    engine: MakeEngine, protocol: str, fault: str, limits: dict[str, Any], ending: str, message: str
) -> None:
    """An engine that dies, plays what is illegal or does not answer has lost; the next match has another."""
    first, second = played(spec_of(engine(protocol, fault), protocol, limits=limits))
    assert (first.termination, first.seat, first.returns) == (ending, 0, (-1.0, 1.0))
    assert (second.termination, second.seat, second.returns) == (ending, 1, (1.0, -1.0))
    assert message in (first.message or "")


FAULTS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"protocol": "uic"}, {}, "agents[0].agent.protocol: unknown protocol 'uic'; did you mean 'uci'?"),
    ({"protocol": 2}, {}, "agents[0].agent.protocol: unknown protocol 2; expected one of gtp, uci"),
    ({"protocl": "uci"}, {}, "agents[0].agent.protocl: unknown key; did you mean 'protocol'?"),
    ({"protocol": "uci"}, {}, "an engine without limits never stops: give it limits: {nodes: 100000}"),
    ({"protocol": "uci"}, {"depth": 0}, "agents[0].depth: expected at least 1, got 0"),
    ({"protocol": "uci"}, {"depht": 4}, "agents[0].depht: unknown key; did you mean 'depth'?"),
    ({"protocol": "gtp"}, {"limits": {"nodes": 9}}, "gtp cannot express a limit of nodes; write limits: {nodes: null}"),
    ({"protocol": "gtp"}, {"isolation": "none"}, "a program runs in a process of its own"),
]


@pytest.mark.parametrize(("agent", "entry", "message"), FAULTS)
def test_what_is_wrong_with_an_entry_is_told_before_the_first_match(
    engine: MakeEngine, agent: dict[str, Any], entry: dict[str, Any], message: str
) -> None:
    """Where it stands, what was expected and what came."""
    values = spec_of(engine("uci"), "uci")
    values["agents"][0] = {"agent": {"command": [str(engine("uci"))], **agent}, **entry}
    with pytest.raises(SpecError) as caught:
        load_spec(values)
    assert message in str(caught.value)


def test_an_engine_needs_a_game_that_says_how_it_speaks(engine: MakeEngine) -> None:
    """With one game that is a fault; with several the engine is left out of the others."""
    values = spec_of(engine("gtp"), "gtp")
    with pytest.raises(SpecError, match="gtp cannot play othello: othello has no dialect for gtp"):
        load_spec({**values, "game": "othello"})
    del values["game"]
    spec = load_spec(
        {**values, "games": ["noughts", "connect-four"], "agents": [*values["agents"], {"agent": "random", "label": "r"}]}
    )
    assert [[seat.label for seat in board.seats] for board in spec.boards] == [["engine", "random", "r"], ["random", "r"]]
    assert any("engine is left out of connect-four" in note for note in spec.notes)


def test_the_protocol_is_part_of_the_id_where_it_is_given(engine: MakeEngine) -> None:
    """An engine and a program of the same command are two agents; without the key the identity is that of a program."""
    values = spec_of(engine("uci"), "uci", depth=4)
    with_it = load_spec(values).boards[0].seats[0].identity
    del values["agents"][0]["agent"]["protocol"]
    without = load_spec(values).boards[0].seats[0].identity
    limits = '{"depth":null,"memory_mb":null,"nodes":null,"seconds":null}'
    command = f'["{engine("uci")}"]'
    expected = (
        f'{{"agent":"command","heuristic":null,"label":null,"limits":{limits},"options":{{"command":{command},"depth":4}}}}'
    )
    assert without == expected
    assert with_it == expected.replace('"agent":"command"', '"agent":"uci"')


@pytest.mark.parametrize(
    ("words", "name"), [(["--mode", "gtp", "--seed", "1"], "engine"), (["own.py", "--level", "3"], "own"), ([], "engine")]
)
def test_an_engine_is_called_after_its_program_and_not_after_an_option(engine: MakeEngine, words: list[str], name: str) -> None:
    values = spec_of(engine("gtp"), "gtp")
    values["agents"][0]["agent"]["command"] += words
    assert load_spec(values).boards[0].seats[0].label == name
