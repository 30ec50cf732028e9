"""Sweeps, and the names of boards and entries."""

from collections.abc import Callable

import pytest

from arena import Spec

Load = Callable[..., Spec]
Faults = Callable[..., list[str]]

TIC = "game: tic-tac-toe\n"
TWO = "agents: [random, greedy]\n"


def labels(spec: Spec, board: int = 0) -> list[str]:
    return [seat.label for seat in spec.boards[board].seats]


def test_a_sweep_creates_boards_in_the_order_of_its_values(load: Load) -> None:
    spec = load(f"game: {{name: sliding-tiles, shuffle: {{sweep: [50, 20, 100]}}}}\n{TWO}")
    assert [board.parameters["shuffle"] for board in spec.boards] == [50, 20, 100]
    assert [board.title for board in spec.boards] == [
        "sliding-tiles (shuffle=50)",
        "sliding-tiles (shuffle=20)",
        "sliding-tiles (shuffle=100)",
    ]


@pytest.mark.parametrize(
    ("game", "sizes"),
    [
        ("rows: {sweep: [2, 3]}, columns: {sweep: [4, 5]}", [(2, 4), (2, 5), (3, 4), (3, 5)]),
        ("columns: {sweep: [4, 5]}, rows: {sweep: [2, 3]}", [(2, 4), (3, 4), (2, 5), (3, 5)]),
    ],
)
def test_several_sweeps_of_a_game_give_all_combinations(load: Load, game: str, sizes: list[tuple[int, int]]) -> None:
    spec = load(f"game: {{name: sliding-tiles, {game}}}\n{TWO}")
    assert [(board.parameters["rows"], board.parameters["columns"]) for board in spec.boards] == sizes


def test_sweeps_of_several_games_keep_the_order_of_the_file(load: Load) -> None:
    games = "games: [{name: tic-tac-toe, columns: {sweep: [3, 4]}}, sliding-tiles, {name: tic-tac-toe, rows: 5}]\n"
    assert [board.title for board in load(f"{games}{TWO}").boards] == [
        "tic-tac-toe (rows=3, columns=3)",
        "tic-tac-toe (rows=3, columns=4)",
        "sliding-tiles",
        "tic-tac-toe (rows=5, columns=3)",
    ]


def test_a_swept_option_creates_entries(load: Load) -> None:
    spec = load(f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: [3, 1, 2]}}}}, greedy]\n")
    assert labels(spec) == ["random", "lookahead(depth=3)", "lookahead(depth=1)", "lookahead(depth=2)", "greedy"]


def test_every_key_of_an_entry_may_be_swept(load: Load) -> None:
    tiles = "game: sliding-tiles\n"
    heuristic = load(f"{tiles}agents: [{{agent: greedy, heuristic: {{sweep: [misplaced, manhattan]}}}}]\n")
    assert labels(heuristic) == ["greedy(misplaced)", "greedy(manhattan)"]
    nodes = load(f"{tiles}agents: [{{agent: greedy, limits: {{nodes: {{sweep: [5, 10]}}}}}}]\n")
    assert [seat.limits.nodes for seat in nodes.boards[0].seats] == [5, 10]
    agent = load(f"{tiles}agents: [{{agent: {{sweep: [greedy, random]}}}}]\n")
    assert labels(agent) == ["greedy", "random"]
    label = load(f"{tiles}agents: [{{agent: greedy, label: {{sweep: [one, two]}}}}]\n")
    assert labels(label) == ["one", "two"]


def test_two_sweeps_of_an_entry_give_all_combinations(load: Load) -> None:
    entry = "{agent: lookahead, heuristic: {sweep: [misplaced, manhattan]}, depth: {sweep: [1, 2]}}"
    assert labels(load(f"game: sliding-tiles\nagents: [{entry}]\n")) == [
        "lookahead(misplaced, depth=1)",
        "lookahead(misplaced, depth=2)",
        "lookahead(manhattan, depth=1)",
        "lookahead(manhattan, depth=2)",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"game: {{name: sliding-tiles, shuffle: {{sweep: [20, x, -1]}}}}\n{TWO}",
            [
                "cup.yaml:1:51: game.shuffle.sweep[1]: expected an integer, got 'x'",
                "cup.yaml:1:54: game.shuffle.sweep[2]: expected at least 0, got -1",
            ],
        ),
        (
            f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: [1, four, true]}}}}]\n",
            [
                "cup.yaml:2:56: agents[1].depth.sweep[1]: expected an integer, got 'four'",
                "cup.yaml:2:62: agents[1].depth.sweep[2]: expected an integer, got true",
            ],
        ),
        (
            f"{TIC}agents: [random, {{agent: greedy, limits: {{nodes: {{sweep: [1, x]}}}}}}]\n",
            ["cup.yaml:2:62: agents[1].limits.nodes.sweep[1]: expected an integer, got 'x'"],
        ),
    ],
)
def test_an_error_in_a_sweep_has_the_position_of_its_value(faults: Faults, text: str, expected: list[str]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("{agent: greedy, heuristic: {sweep: [open-lanes, open-lane]}}", "2:66: agents[1].heuristic.sweep[1]"),
        (
            "{agent: greedy, heuristic: {tic-tac-toe: {sweep: [open-lanes, open-lane]}}}",
            "2:80: agents[1].heuristic.tic-tac-toe.sweep[1]",
        ),
        ("{agent: {sweep: [greedy, gredy]}}", "2:43: agents[1].agent.sweep[1]"),
    ],
)
def test_an_unknown_name_in_a_sweep_has_the_position_of_its_value(faults: Faults, entry: str, place: str) -> None:
    (found,) = faults(f"{TIC}agents: [random, {entry}]\n")
    assert found.startswith(f"cup.yaml:{place}")
    assert "did you mean" in found


def test_an_unknown_key_with_a_sweep_is_reported_once(faults: Faults) -> None:
    assert faults(f"{TIC}agents: [random, {{agent: lookahead, dept: {{sweep: [1, 2, 3]}}}}]\n") == [
        "cup.yaml:2:37: agents[1].dept: unknown key; did you mean 'depth'?"
    ]


@pytest.mark.parametrize(
    ("sweep", "place"),
    [
        ("{sweep: []}", "2:52: agents[1].depth.sweep"),
        ("{sweep: 3}", "2:52: agents[1].depth.sweep"),
        ("{sweep: null}", "2:52: agents[1].depth.sweep"),
        ("{sweep: {a: 1}}", "2:52: agents[1].depth.sweep"),
        ("{sweep: [1], by: 2}", "2:44: agents[1].depth"),
        ("{sweep: [1, {sweep: [2, 3]}]}", "2:56: agents[1].depth.sweep[1]"),
    ],
)
def test_a_sweep_must_be_a_list_of_values(faults: Faults, sweep: str, place: str) -> None:
    (found,) = faults(f"{TIC}agents: [random, {{agent: lookahead, depth: {sweep}}}]\n")
    assert found.startswith(f"cup.yaml:{place}: ")


def test_an_invalid_sweep_does_not_hide_other_errors_of_its_entry(faults: Faults) -> None:
    found = faults(f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: []}}, heuristic: open-lane, limts: {{}}}}]\n")
    assert [fault.split(": ")[1] for fault in found] == ["agents[1].depth.sweep", "agents[1].heuristic", "agents[1].limts"]


@pytest.mark.parametrize("key", ["limits: {nodes: 0}", "limits: {nods: 5}", "label: 3", "label: ' x'", "heuristic: 3", "dept: 3"])
def test_an_error_outside_a_sweep_is_reported_once(faults: Faults, key: str) -> None:
    assert len(faults(f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: [1, 2, 3]}}, {key}}}]\n")) == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"game: {{name: tic-tac-toe, rows: &n {{sweep: {[*range(3, 40)]}}}, columns: *n}}\n{TWO}", "1:7: game"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: {[*range(1, 1500)]}}}}}]\n", "2:18: agents[1]"),
    ],
)
def test_too_many_combinations_are_refused(faults: Faults, text: str, place: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"cup.yaml:{place}: ")
    assert "combinations" in found


SHARES = """
from arena import Game, hookimpl

class Shares(Game):
    name = "shares"
    def __init__(self, *, players: int = 2): self.players = players
    def initial(self, rng): return 0
    def to_move(self, state): return state % self.players
    def actions(self, state): return (1,) if state < 6 else ()
    def result(self, state, action): return state + 1
    def returns(self, state): return (0.0,) * self.players

@hookimpl
def arena_games(): return [Shares]
"""


def test_an_entry_must_fit_every_board_of_a_swept_game(faults: Faults, load: Load) -> None:
    entries = "agents: [random, greedy, lookahead, alpha-beta]\nplugins: [shares.py]\n"
    swept = "{name: shares, players: {sweep: [2, 3]}}"
    (found,) = faults(f"game: {swept}\n{entries}", {"shares.py": SHARES})
    reason = "alpha-beta cannot play shares: needs two-player; shares is multi-player, zero-sum"
    assert found == f"cup.yaml:2:37: agents[3]: {reason}"
    spec = load(f"games: [{swept}]\n{entries}", {"shares.py": SHARES})
    assert [len(board.seats) for board in spec.boards] == [4, 3]
    assert [reason in note for note in spec.notes if "alpha-beta" in note] == [True]


# Names


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        # The label is the name of the agent, and the options in which entries of this agent differ.
        ("[random, greedy]", ["random", "greedy"]),
        ("[random, {agent: lookahead, depth: 3}]", ["random", "lookahead"]),
        ("[lookahead, {agent: lookahead, depth: 3}]", ["lookahead(depth=2)", "lookahead(depth=3)"]),
        ("[minimax, {agent: minimax, depth: 3}]", ["minimax(depth=none)", "minimax(depth=3)"]),
        # A label that is given stands, and asks nothing of the others.
        ("[lookahead, {agent: lookahead, depth: 3, label: deep}]", ["lookahead", "deep"]),
        ("[{agent: random, label: Zufällig & Söhne}, greedy]", ["Zufällig & Söhne", "greedy"]),
    ],
)
def test_labels_are_as_short_as_possible(load: Load, agents: str, expected: list[str]) -> None:
    assert labels(load(f"{TIC}agents: {agents}\n")) == expected


def test_labels_distinguish_heuristics(load: Load) -> None:
    spec = load("game: sliding-tiles\nagents: [greedy, {agent: greedy, heuristic: misplaced}, random]\n")
    assert labels(spec) == ["greedy(manhattan)", "greedy(misplaced)", "random"]


def test_labels_distinguish_limits(load: Load) -> None:
    spec = load(f"{TIC}agents: [minimax, {{agent: minimax, limits: {{nodes: 50}}}}]\nlimits: {{nodes: 9, seconds: 5}}\n")
    first, second = labels(spec)
    assert first != second
    assert second == "minimax(nodes=50)"


def test_a_tournament_is_named_after_its_file(load: Load) -> None:
    assert load(f"{TIC}{TWO}").name == "cup"
    assert load(f"{TIC}{TWO}name: The cup\n").name == "The cup"


@pytest.mark.parametrize(
    ("games", "titles"),
    [
        ("game: tic-tac-toe", ["tic-tac-toe"]),
        ("game: {name: tic-tac-toe, rows: 4}", ["tic-tac-toe"]),
        ("games: [tic-tac-toe, sliding-tiles]", ["tic-tac-toe", "sliding-tiles"]),
        ("games: [tic-tac-toe, {name: tic-tac-toe, rows: 4}]", ["tic-tac-toe (rows=3)", "tic-tac-toe (rows=4)"]),
        (
            "games: [sliding-tiles, {name: sliding-tiles, shuffle: 20}]",
            ["sliding-tiles (shuffle=none)", "sliding-tiles (shuffle=20)"],
        ),
    ],
)
def test_a_board_is_named_after_its_game_and_different_parameters(load: Load, games: str, titles: list[str]) -> None:
    assert [board.title for board in load(f"{games}\n{TWO}").boards] == titles
