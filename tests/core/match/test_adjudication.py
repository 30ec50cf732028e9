"""Adjudication: games that end by reported values."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, strategies as st

import arena
from arena.match.adjudication import Adjudication, DrawRule, ResignRule
from arena.match.record import Record
from arena.match.replay import Step
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_records.rules import compare_with_rules

PLUGIN = '''
from arena import Agent, Game, hookimpl

class Walk(Game):
    """Step by step, and the first seat wins at the end."""
    name = "walk"
    def __init__(self, *, steps: int = 20): self.steps = steps
    def initial(self, rng): return 0
    def to_move(self, state): return state % 2
    def actions(self, state): return (1,) if state < self.steps else ()
    def result(self, state, action): return state + action
    def returns(self, state): return (1.0, -1.0)
    def parse_state(self, text): return int(text)

class Trio(Walk):
    """The same for three."""
    name = "trio"
    players = 3
    def to_move(self, state): return state % 3
    def returns(self, state): return (1.0, -0.5, -0.5)

class Teller(Agent):
    """Reports one value after another until none is left."""
    name = "teller"
    def __init__(self, *, values: list[float | None] = ()): self.values = list(values)
    def choose(self, game, state, search):
        if self.values and (value := self.values.pop(0)) is not None:
            search.report(1, value=value)
        return 1

@hookimpl
def arena_games(): return [Walk, Trio]

@hookimpl
def arena_agents(): return [Teller]
'''
Values = list[float | None]
Cup = Callable[..., dict[str, Any]]


@pytest.fixture
def cup(tmp_path: Path) -> Cup:
    """A spec: two agents that report these values walk one round, in both orders of seats."""
    (tmp_path / "walk.py").write_text(PLUGIN)

    def cup(first: Values, second: Values, adjudicate: Mapping[str, Any] | None, **keys: Any) -> dict[str, Any]:
        told = [{"agent": "teller", "label": label, "values": values} for label, values in (("a", first), ("b", second))]
        more = {} if adjudicate is None else {"adjudicate": adjudicate}
        return {"game": "walk", "rounds": 1, "agents": told, "plugins": [str(tmp_path / "walk.py")], **more, **keys}

    return cup


def ahead(spec: Mapping[str, Any]) -> Record:
    """The record of the match in which `a` has the first seat."""
    return next(record for record in arena.run(spec).records if record.labels == ("a", "b"))


RESIGN = {"resign": {"moves": 3, "value": 0.9}}
BOTH = {"resign": {"moves": 3, "value": 0.9, "both": True}}
DRAW = {"draw": {"after": 8, "moves": 2, "value": 0.1}}


@pytest.mark.parametrize(
    ("adjudicate", "first", "second", "moves", "returns"),
    [
        # a's third decision in a row below -0.9 is move 5; b's is move 6
        (RESIGN, [-0.9] * 9, [], 5, (-1.0, 1.0)),
        (RESIGN, [], [-1] * 9, 6, (1.0, -1.0)),
        (RESIGN, [-0.9, -0.9, -0.89, -0.9, -0.9, -0.9], [], 11, (-1.0, 1.0)),
        (RESIGN, [-0.9, -0.9, None, -0.9, -0.9, -0.9], [], 11, (-1.0, 1.0)),
        (RESIGN, [0.99] * 9, [0.99] * 9, 20, (1.0, -1.0)),
        (RESIGN, [-0.9] * 2, [-0.9] * 2, 20, (1.0, -1.0)),
        # both: b says so from its third decision, move 6, to its fifth, move 10
        (BOTH, [-0.95] * 9, [0, 0, 0.9, 0.9, 0.9], 10, (-1.0, 1.0)),
        (BOTH, [-0.95] * 9, [0.5] * 9, 20, (1.0, -1.0)),
        # a draw from move 8 on; level from a's fourth decision, move 7, the second of which is move 9
        (DRAW, [0.1] * 9, [-0.1] * 9, 8, (0.0, 0.0)),
        (DRAW, [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0], 12, (0.0, 0.0)),
        (DRAW, [0.0] * 9, [], 20, (1.0, -1.0)),
        ({**DRAW, **RESIGN}, [0.0, -0.9, -0.9, -0.9], [0.0] * 9, 7, (-1.0, 1.0)),
        (None, [-1] * 9, [0.0] * 9, 20, (1.0, -1.0)),
    ],
)  # fmt: skip
def test_a_game_ends_when_the_values_of_the_last_decisions_agree(
    cup: Cup, adjudicate: Any, first: Values, second: Values, moves: int, returns: tuple[float, float]
) -> None:
    """The expected moves and returns are counted by hand. If the values never agree, the rules end the game after 20 moves."""
    record = ahead(cup(first, second, adjudicate))
    assert (record.moves, record.returns) == (moves, returns)
    assert record.termination == ("normal" if moves == 20 else "adjudicated")
    assert record.seat is None
    assert bool(record.message) is (moves != 20)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"game": {"name": "walk", "steps": 5}}, ("normal", 5, (1.0, -1.0))),
        ({"limits": {"moves": 5}}, ("move-limit", 5, (0.0, 0.0))),
        ({"limits": {"moves": 6}}, ("adjudicated", 5, (-1.0, 1.0))),
    ],
)
def test_the_rules_and_the_move_limit_take_precedence_over_adjudication(cup: Cup, keys: dict[str, Any], expected: Any) -> None:
    record = ahead(cup([-1] * 9, [], RESIGN, **keys))
    assert (record.termination, record.moves, record.returns) == expected


values = st.one_of(st.none(), st.sampled_from([-1.0, -0.9, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9, 1.0]))


@given(
    st.lists(st.tuples(st.integers(0, 1), values), max_size=24),
    st.one_of(st.none(), st.builds(DrawRule, st.integers(0, 9), st.integers(1, 3), st.sampled_from([0.0, 0.1, 0.5]))),
    st.one_of(st.none(), st.builds(ResignRule, st.integers(1, 3), st.sampled_from([0.5, 0.9]), st.booleans())),
)
def test_adjudication_agrees_with_a_naive_implementation(
    reported: list[tuple[int, float | None]], draw: DrawRule | None, resign: ResignRule | None
) -> None:
    """The naive implementation examines all values after each decision. Seats may move several times in a row."""

    def last(seat: int, number: int, moves: int) -> list[float]:
        mine = [value for who, value in reported[:number] if who == seat][-moves:]
        return [value for value in mine if value is not None] if len(mine) == moves else []

    def says(seat: int, number: int, moves: int, fits: Callable[[float], bool]) -> bool:
        return len(last(seat, number, moves)) == moves and all(map(fits, last(seat, number, moves)))

    def end(number: int) -> tuple[float, float] | None:
        for loser in (reported[number - 1][0], 1 - reported[number - 1][0]):
            if resign is None or not says(loser, number, resign.moves, lambda value: value <= -resign.value):
                continue
            if not resign.both or says(1 - loser, number, resign.moves, lambda value: value >= resign.value):
                return (-1.0, 1.0) if loser == 0 else (1.0, -1.0)
        if draw is None or number < draw.after:
            return None
        level = all(says(seat, number, draw.moves, lambda value: abs(value) <= draw.value) for seat in (0, 1))
        return (0.0, 0.0) if level else None

    expected = next(((n, ending) for n in range(1, len(reported) + 1) if (ending := end(n)) is not None), None)
    found = Adjudication(draw, resign).first(reported)
    assert (found and (found[0], found[1].returns)) == expected


def test_different_settings_of_adjudication_give_different_match_ids(cup: Cup) -> None:
    def id_with(adjudicate: Any) -> str:
        spec = load_spec(cup([], [], adjudicate))
        return next(one.match_id(spec) for one in Schedule(spec).take(2) if one.pairing.seats == (0, 1))

    assert id_with(None) == "e441148f213dc33a7cc992696267e552"  # as before there was such a key
    kinds: list[Any] = [
        None,
        RESIGN,
        BOTH,
        DRAW,
        {**DRAW, **RESIGN},
        {"draw": {"after": 9, "moves": 2, "value": 0.1}},
        {"resign": {}},
    ]
    assert len({id_with(kind) for kind in kinds}) == len(kinds)
    assert id_with({"resign": {}}) == id_with({"resign": {"moves": 4, "value": 0.95, "both": False}, "draw": None})
    assert id_with({"draw": {}}) == id_with({"draw": {"after": 40, "moves": 8, "value": 0.05}})
    assert id_with({"resign": {"value": 1}}) == id_with({"resign": {"value": 1.0}})


def test_an_adjudicated_record_must_agree_with_its_reported_values(cup: Cup) -> None:
    spec = load_spec(cup([-1] * 9, [1] * 9, RESIGN))
    board, runner = spec.boards[0], MatchRunner(spec)
    record = next(one for one in map(runner.play, Schedule(spec).take(2)) if one.labels == ("a", "b"))

    def told(**changes: Any) -> list[str]:
        changed = record._replace(**changes)
        gone = list(Step.follow(board.game, changed))
        return compare_with_rules(board.game, changed, gone[0], gone[-1], 1000, board.adjudication)

    level = tuple(decision._replace(value=0.0) for decision in record.decisions)
    twice = [decision._replace(seat=number % 2) for number, decision in enumerate(4 * record.decisions)]
    longer = {"actions": ("1",) * 20, "decisions": tuple(twice)}
    assert told() == []
    assert told(returns=(1.0, -1.0)) == ["returns: recorded (1.0, -1.0), but the reported values give (-1.0, 1.0)"]
    assert told(decisions=level) == [
        "termination: recorded as adjudicated after 5 moves; by the reported values, this is never due"
    ]
    assert told(termination="normal", **longer, returns=(1.0, -1.0)) == [
        "termination: recorded normal, but the reported values end the game after 5 moves (adjudicated)"
    ]
    assert told(termination="timeout", seat=1)[0].startswith(
        "termination: recorded timeout, but the reported values end the game"
    )
    gone = list(Step.follow(board.game, record))
    assert compare_with_rules(board.game, record, gone[0], gone[-1], 1000) != [], "on a board without adjudication"
    assert compare_with_rules(board.game, record, gone[0], gone[-1]) == [], "where nobody knows the board"


def test_adjudicated_matches_are_counted_and_replayed(cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from arena.cli import cli

    results = arena.run(cup([-1] * 9, [], RESIGN), store=tmp_path / "cup.db")
    board = Leaderboard.of_results(results)[0]
    assert [(row["agent"], row["wins"], row["failures"]) for row in board.rows] == [("b", 2, 0), ("a", 0, 0)]
    assert "2 games were adjudicated: they ended early, based on the values that the agents reported." in render(results, [board])
    assert (
        cli.main(
            ["replay", str(tmp_path / "cup.db"), results.records[0].id, "--plugin", str(tmp_path / "walk.py")],
            standalone_mode=False,
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "adjudicated: the first seat reported -0.9 or less in the last 3 moves; returns: -1.0 1.0" in shown
    assert "the agents made the same decisions again" in shown


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"game": "sliding-tiles", "agents": ["a-star"]}, "adjudicate: sliding-tiles is a puzzle, so its matches cannot be"),
        (
            {"game": "trio", "agents": ["random", "teller", {"agent": "random", "label": "c"}]},
            "trio is not a two-player zero-sum game",
        ),
        ({"game": None, "games": ["sliding-tiles", "n-queens"], "agents": ["random"]}, "none of the games can be adjudicated"),
        ({"adjudicate": {}}, "adjudicate: expected draw or resign, as in"),
        ({"adjudicate": {"draw": {"after": -1}}}, "adjudicate.draw.after: expected at least 0, got -1"),
        ({"adjudicate": {"draw": {"moves": 0}}}, "adjudicate.draw.moves: expected at least 1, got 0"),
        ({"adjudicate": {"resign": {"value": 95}}}, "adjudicate.resign.value: expected at most 1, got 95"),
        ({"adjudicate": {"resigns": {}}}, "adjudicate.resigns: unknown key; did you mean 'resign'?"),
    ],
)
def test_invalid_adjudication_settings_are_refused(cup: Cup, keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(arena.SpecError, match=re.escape(expected)):
        load_spec({**cup([], [], {"resign": {}}), **keys})


def test_puzzles_among_several_games_are_not_adjudicated(cup: Cup) -> None:
    games = {"game": None, "games": ["tic-tac-toe", "sliding-tiles"], "agents": ["random", "greedy"]}
    spec = load_spec({**cup([], [], {"resign": {}}), **games})
    assert [board.adjudication is None for board in spec.boards] == [False, True]
    assert spec.notes == ("adjudicate: sliding-tiles is a puzzle, so its matches cannot be adjudicated",)


def test_a_match_without_adjudication_calls_none_of_its_functions(cup: Cup) -> None:
    def called(adjudicate: Any) -> list[str]:
        spec, found = load_spec(cup([0.5] * 20, [0.5] * 20, adjudicate)), []
        runner = MatchRunner(spec)
        (first, *_) = Schedule(spec).take(1)

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and ("adjudication.py" in frame.f_code.co_filename or frame.f_code.co_name == "turn"):
                found.append(f"{Path(frame.f_code.co_filename).name} {frame.f_code.co_name}")

        sys.setprofile(note)
        try:
            runner.play(first)
        finally:
            sys.setprofile(None)
        return found

    assert called(None) == ["stepper.py turn"] * 21
    assert called(RESIGN).count("adjudication.py after") == 19
