"""Test entries of engines, `{agent: {command: [...], protocol: uci}}`, from the spec to the record."""

import shlex
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


def make_spec(program: Path, protocol: str, **entry: Any) -> dict[str, Any]:
    """Return a spec of an engine against a random player. It has a seed, because the default seed is secret for programs."""
    return {
        "game": "noughts",
        "plugins": [NOUGHTS],
        "rounds": 1,
        "seed": 0,
        "agents": [{"agent": {"command": [str(program)], "protocol": protocol}, **entry}, "random"],
    }


def play_all(values: dict[str, Any]) -> list[Record]:
    """Play all matches of a spec, one after the other."""
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize(("protocol", "entry"), [("uci", {"limits": {"nodes": 50}}), ("gtp", {"options": {"level": 2}})])
def test_an_engine_plays_a_match_in_each_seat(engine: MakeEngine, protocol: str, entry: dict[str, Any], isolation: str) -> None:
    """The engine takes the first free cell from A1, which is cell 7. Its reports are in the record, and a repetition is equal."""
    program = engine(protocol)
    values = make_spec(program, protocol, **entry, isolation=isolation)
    if isolation == "sandbox":  # files that it writes there are lost
        values["agents"][0]["agent"]["command"] = make_sandboxed_command(program)
    first, second = play_all(values)
    assert {first.termination, second.termination} == {"normal"}, (first.message, second.message)
    assert (first.actions[0], second.actions[1]) == ("7", "8" if second.actions[0] == "7" else "7")
    reports = [(one.nodes, one.depth) for one in first.decisions[::2]]
    assert set(reports) == ({(77, 2)} if protocol == "uci" else {(0, None)})
    assert [one.timeless() for one in play_all(values)] == [first.timeless(), second.timeless()]


def make_sandboxed_command(program: Path) -> list[str]:
    """Return the command of an engine with all its files, so that a sandbox shows them, and with a writable log."""
    return [*shlex.split(program.read_text().splitlines()[1])[1:-1], "/tmp/heard"]


ENDS = [
    ("uci", "die", {"nodes": 9}, "exception", "engine ended with code 3 when bestmove was expected"),
    ("gtp", "illegal", {}, "illegal-action", "got 'D9' of engine (ValueError: expected a free cell, got 'D9'"),
    ("gtp", "hang", {"seconds": 0.3}, "timeout", "a decision took longer than its limit of 0.3 s"),
]


@pytest.mark.parametrize(("protocol", "fault", "limits", "ending", "message"), ENDS)
def test_a_faulty_engine_loses_its_match(
    engine: MakeEngine, protocol: str, fault: str, limits: dict[str, Any], ending: str, message: str
) -> None:
    """The engine dies, plays an illegal move or hangs. The next match has a new engine."""
    first, second = play_all(make_spec(engine(protocol, fault), protocol, limits=limits))
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
    ({"protocol": "gtp"}, {"limits": {"nodes": 9}}, "gtp cannot express a limit on nodes; remove it with limits: {nodes: null}"),
    ({"protocol": "gtp"}, {"isolation": "none"}, "a program runs in its own process"),
]


@pytest.mark.unit
@pytest.mark.parametrize(("agent", "entry", "message"), FAULTS)
def test_invalid_entries_are_refused_before_the_first_match(
    engine: MakeEngine, agent: dict[str, Any], entry: dict[str, Any], message: str
) -> None:
    """The message names the place, the expected value and the given one."""
    values = make_spec(engine("uci"), "uci")
    values["agents"][0] = {"agent": {"command": [str(engine("uci"))], **agent}, **entry}
    with pytest.raises(SpecError) as caught:
        load_spec(values)
    assert message in str(caught.value)


@pytest.mark.unit
def test_an_engine_is_refused_for_a_game_that_its_protocol_does_not_have(engine: MakeEngine) -> None:
    """If there are several games, the engine is left out of such games."""
    values = make_spec(engine("gtp"), "gtp")
    with pytest.raises(SpecError, match="gtp cannot play othello: othello has no dialect for gtp"):
        load_spec({**values, "game": "othello"})
    del values["game"]
    spec = load_spec(
        {**values, "games": ["noughts", "connect-four"], "agents": [*values["agents"], {"agent": "random", "label": "r"}]}
    )
    assert [[seat.label for seat in board.seats] for board in spec.boards] == [["engine", "random", "r"], ["random", "r"]]
    assert any("engine is left out of connect-four" in note for note in spec.notes)


@pytest.mark.unit
def test_the_protocol_is_part_of_the_identity_if_it_is_given(engine: MakeEngine) -> None:
    """An engine and a program with the same command are two agents. Without the key, the identity names a program."""
    values = make_spec(engine("uci"), "uci", depth=4)
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


@pytest.mark.unit
@pytest.mark.parametrize(
    ("words", "name"), [(["--mode", "gtp", "--seed", "1"], "engine"), (["own.py", "--level", "3"], "own"), ([], "engine")]
)
def test_an_engine_is_named_after_its_program(engine: MakeEngine, words: list[str], name: str) -> None:
    values = make_spec(engine("gtp"), "gtp")
    values["agents"][0]["agent"]["command"] += words
    assert load_spec(values).boards[0].seats[0].label == name
