"""Faults of specs: all are reported at once, each as FILE:LINE:COLUMN: path: message."""

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena import Spec, SpecError
from arena.plugins.sources import load_plugins
from arena.spec import Document, load_spec, positions as positions_module, reload_spec
from arena.spec.named_code import list_named_code
from arena_games.tic_tac_toe import TicTacToe
from tests.players import First

Load = Callable[..., Spec]
Faults = Callable[..., list[str]]

TIC = "game: tic-tac-toe\n"
TILES = "game: sliding-tiles\n"
BOTH = "games: [tic-tac-toe, sliding-tiles]\n"
TWO = "agents: [random, greedy]\n"

REFUSAL = "alpha-beta cannot play sliding-tiles: needs two-player, zero-sum; sliding-tiles is single-player, path"


START = "only agents in their own processes need to start, so this key has no effect"


def test_keys_without_effect_are_named_at_their_lines(load: Load) -> None:
    """Agents of arena's own processes need no start and cannot ponder, and a blind search asks for no estimates."""
    spec = load(
        """\
        game: sliding-tiles
        agents:
          - {agent: bfs, heuristic: manhattan}
          - {agent: greedy, limits: {nodes: 5, start_seconds: 3}}
          - {agent: bfs, label: blind, heuristic: none}
          - {agent: uniform-cost, heuristic: {sweep: [manhattan, misplaced]}}
          - {agent: a-star, heuristic: manhattan}
        limits: {start_seconds: 20, nodes: 100}
        pondering: true
        """
    )
    found = [note.partition("cup.yaml:")[2] for note in spec.notes]
    apart = "remove it, or write isolation: process or sandbox"
    assert [note for note in found if "no effect" in note] == [
        "3:18: agents[0].heuristic: bfs uses no heuristic, so manhattan has no effect; remove it",
        f"4:40: agents[1].limits.start_seconds: {START}; {apart}",
        "6:47: agents[3].heuristic.sweep[0]: uniform-cost uses no heuristic, so manhattan has no effect; remove it",
        "6:58: agents[3].heuristic.sweep[1]: uniform-cost uses no heuristic, so misplaced has no effect; remove it",
        f"8:10: limits.start_seconds: {START}; {apart}",
        f"9:1: pondering: only agents in their own processes ponder, so this key has no effect; {apart}",
    ]


def test_limits_of_the_start_have_an_effect_on_one_process(load: Load) -> None:
    spec = load(f"{TIC}limits: {{start_seconds: 3}}\npondering: true\nagents: [random, {{agent: greedy, isolation: process}}]\n")
    assert not [note for note in spec.notes if "no effect" in note]


def test_all_errors_are_reported_at_once(faults: Faults) -> None:
    found = faults(
        """\
        game: {name: tic-tac-toe, rows: true, colums: 3}
        rounds: -1
        sed: 3
        agents:
          - randm
          - {agent: greedy, label: 3}
          - {agent: lookahead, depth: four, heuristic: open-lane}
          - {agent: lookahead, dept: 2, label: second}
          - {agent: gredy, limits: {nods: 5}}
        limits: {nodes: many, move: 5}
        plugins: [nowhere.py]
        """
    )
    assert [re.sub(r": (expected|unknown|plugin) .*", r": \1", fault) for fault in found] == [
        "cup.yaml:1:33: game.rows: expected",
        "cup.yaml:1:39: game.colums: unknown",
        "cup.yaml:2:9: rounds: expected",
        "cup.yaml:3:1: sed: unknown",
        "cup.yaml:5:5: agents[0]: unknown",
        "cup.yaml:6:28: agents[1].label: expected",
        "cup.yaml:7:31: agents[2].depth: expected",
        "cup.yaml:7:48: agents[2].heuristic: unknown",
        "cup.yaml:8:24: agents[3].dept: unknown",
        "cup.yaml:9:13: agents[4].agent: unknown",
        "cup.yaml:9:29: agents[4].limits.nods: unknown",
        "cup.yaml:10:17: limits.nodes: expected",
        "cup.yaml:10:23: limits.move: unknown",
        "cup.yaml:11:11: plugins[0]: plugin",
    ]
    hints = {3: "seed", 4: "random", 7: "open-lanes", 8: "depth", 9: "greedy", 10: "nodes", 12: "moves", 1: "columns"}
    assert all(f"did you mean '{hint}'" in found[number] for number, hint in hints.items())


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        # A missing key has no line and column.
        (TWO, "cup.yaml", "game is missing"),
        (TIC, "cup.yaml", "agents is missing"),
        (f"game:\n{TWO}", "cup.yaml:1:6: game", "game is missing"),
        (f"{TIC}agents:\n", "cup.yaml:2:8: agents", "expected a list"),
        (f"{TIC}agents: []\n", "cup.yaml:2:9: agents", "the list of agents is empty"),
        (f"games: []\n{TWO}", "cup.yaml:1:8: games", "at least 1"),
        # Keys.
        (f"{TIC}{TWO}seeds: 1\n", "cup.yaml:3:1: seeds", "did you mean 'seed'?"),
        (f"{TIC}{TWO}Rounds: 1\n", "cup.yaml:3:1: Rounds", "did you mean 'rounds'?"),
        (f"{TIC}{TWO}zzz: 1\n", "cup.yaml:3:1: zzz", "known: adjudicate, agents, "),
        (f'{TIC}{TWO}"a\\nb": 1\n', "cup.yaml:3:1: a\\nb", "unknown key"),
        (f"{TIC}games: [tic-tac-toe]\n{TWO}", "cup.yaml:2:1: games", "got both"),
        (f"{TIC}{TWO}rounds: 3\npositions: [.../.../...]\n", "cup.yaml:3:1: rounds", "got both"),
        # Games.
        (f"game: tic-tac-to\n{TWO}", "cup.yaml:1:7: game", "did you mean 'tic-tac-toe'"),
        (f"game: {{name: tictactoe}}\n{TWO}", "cup.yaml:1:14: game.name", "did you mean 'tic-tac-toe'"),
        (f"games: [tic-tac-toe, chess]\n{TWO}", "cup.yaml:1:22: games[1]", "unknown game 'chess'"),
        (f"game: {{rows: 3}}\n{TWO}", "cup.yaml:1:7: game", "name"),
        (f"game: 3\n{TWO}", "cup.yaml:1:7: game", "got 3"),
        (f"game: [tic-tac-toe]\n{TWO}", "cup.yaml:1:7: game", "a list"),
        (f"games: tic-tac-toe\n{TWO}", "cup.yaml:1:8: games", "expected a list"),
        (f"game: {{name: tic-tac-toe, in_a_row: 4}}\n{TWO}", "cup.yaml:1:7: game", "expected at most 3"),
        (f"game: {{name: tic-tac-toe, rows: '4'}}\n{TWO}", "cup.yaml:1:33: game.rows", "expected an integer, got '4'"),
        (f"game: {{name: tic-tac-toe, rows: 2.5}}\n{TWO}", "cup.yaml:1:33: game.rows", "expected an integer, got 2.5"),
        (f"game: {{name: tic-tac-toe, rows: true}}\n{TWO}", "cup.yaml:1:33: game.rows", "expected an integer, got true"),
        (f"game: {{name: tic-tac-toe, rows: 0}}\n{TWO}", "cup.yaml:1:33: game.rows", "at least 1, got 0"),
        (f"game: {{name: tic-tac-toe, rows: 1e30}}\n{TWO}", "cup.yaml:1:33: game.rows", "integer"),
        (f"game: {{name: sliding-tiles, goal: blank}}\n{TWO}", "cup.yaml:1:35: game.goal", "'blank-last' or 'blank-first'"),
        # Agents.
        (f"{TIC}agents: random\n", "cup.yaml:2:9: agents", "expected a list"),
        (f"{TIC}agents: {{agent: random}}\n", "cup.yaml:2:9: agents", "expected a list"),
        (f"{TIC}agents: [random, 3]\n", "cup.yaml:2:18: agents[1]", "got 3"),
        (f"{TIC}agents: [random, null]\n", "cup.yaml:2:18: agents[1]", "got nothing"),
        (f"{TIC}agents: [random, {{label: x}}]\n", "cup.yaml:2:18: agents[1]", "agent is missing"),
        (f"{TIC}agents: [random, {{agent: 3}}]\n", "cup.yaml:2:26: agents[1].agent", "got 3"),
        (f"{TIC}agents: [random, rnadom]\n", "cup.yaml:2:18: agents[1]", "did you mean 'random'"),
        (f"{TIC}agents: [random]\n", "cup.yaml:2:9: agents", "one agent"),
        # Options, and keys of an entry.
        (f"{TIC}agents: [random, {{agent: lookahead, depth: true}}]\n", "cup.yaml:2:44: agents[1].depth", "integer, got true"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: '4'}}]\n", "cup.yaml:2:44: agents[1].depth", "integer, got '4'"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: 2.5}}]\n", "cup.yaml:2:44: agents[1].depth", "integer, got 2.5"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: null}}]\n", "cup.yaml:2:44: agents[1].depth", "integer, got nothing"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: -1}}]\n", "cup.yaml:2:44: agents[1].depth", "at least 1, got -1"),
        (f"{TIC}agents: [random, {{agent: lookahead, depth: {9**99}}}]\n", "cup.yaml:2:44: agents[1].depth", "at most"),
        (f"{TIC}agents: [random, {{agent: greedy, depth: 1}}]\n", "cup.yaml:2:34: agents[1].depth", "no keys are expected"),
        (
            f"{TIC}agents: [random, {{agent: mcts, iterations: 200}}]\n",
            "cup.yaml:2:32: agents[1].iterations",
            "did you mean 'rollouts'? known: exploration, rollouts; `limits: {nodes: 200}` limits each decision",
        ),
        *(
            (f"{TIC}agents: [random, {{agent: {agent}, {key}: 3}}]\n", f"cup.yaml:2:{28 + len(agent)}: agents[1].{key}", words)
            for agent, key, words in (
                ("mcts", "simulations", "did you mean 'rollouts'? known: exploration, rollouts; `limits: {nodes: 3}` limits"),
                ("mcts", "playouts", "did you mean 'rollouts'?"),
                ("mcts", "time", "known: exploration, rollouts; `limits: {seconds: 3}` limits each decision"),
                ("mcts", "budget", "known: exploration, rollouts; `limits: {nodes: 3}` limits each decision"),
                ("mcts", "c", "did you mean 'exploration'?"),
                ("mcts", "depth", "`limits: {depth: 3}` limits each decision"),
                ("lookahead", "ply", "did you mean 'depth'?"),
                ("lookahead", "plies", "did you mean 'depth'?"),
                ("lookahead", "evaluation", "did you mean 'heuristic'?"),
                ("lookahead", "name", "did you mean 'label'?"),
            )
        ),
        (f"{TIC}{TWO}limits: {{time: 3}}\n", "cup.yaml:3:10: limits.time", "did you mean 'seconds'?"),
        (f"{TIC}{TWO}limits: {{iterations: 3}}\n", "cup.yaml:3:10: limits.iterations", "did you mean 'nodes'?"),
        (f"{TIC}{TWO}time: 3\n", "cup.yaml:3:1: time", "`limits: {seconds: 3}` limits each decision"),
        (f"{TIC}{TWO}repetitions: 3\n", "cup.yaml:3:1: repetitions", "did you mean 'rounds'?"),
        (f"{TIC}{TWO}players: 3\n", "cup.yaml:3:1: players", "did you mean 'agents'?"),
        (f"game: {{name: hex, board_size: 3}}\n{TWO}", "cup.yaml:1:19: game.board_size", "did you mean 'size'?"),
        (f"{TIC}agents: [random, {{agent: greedy, lable: x}}]\n", "cup.yaml:2:34: agents[1].lable", "did you mean 'label'?"),
        (f"{TIC}agents: [random, {{agent: greedy, heuristics: x}}]\n", "cup.yaml:2:34: agents[1].heuristics", "'heuristic'?"),
        (f"{TIC}agents: [random, {{agent: greedy, label: 3}}]\n", "cup.yaml:2:41: agents[1].label", "expected text, got 3"),
        (f"{TIC}agents: [random, {{agent: greedy, label: ''}}]\n", "cup.yaml:2:41: agents[1].label", "at least 1 character"),
        (f"{TIC}agents: [random, {{agent: greedy, label: ' x'}}]\n", "cup.yaml:2:41: agents[1].label", "' x'"),
        (f'{TIC}agents: [random, {{agent: greedy, label: "a\\nb"}}]\n', "cup.yaml:2:41: agents[1].label", "printable"),
        (f"{TIC}agents: [random, {{agent: greedy, isolation: proces}}]\n", "cup.yaml:2:45: agents[1].isolation", "'proces'"),
        # Limits.
        (f"{TIC}{TWO}limits: 5\n", "cup.yaml:3:9: limits", "expected a mapping such as {nodes: 1000}, got 5"),
        (f"{TIC}{TWO}openings: 4\n", "cup.yaml:3:11: openings", "expected a mapping such as {plies: 4}, got 4"),
        (f"{TIC}{TWO}limits: {{node: 5}}\n", "cup.yaml:3:10: limits.node", "did you mean 'nodes'"),
        (f"{TIC}{TWO}limits: {{nodes: 0}}\n", "cup.yaml:3:17: limits.nodes", "at least 1, got 0"),
        (f"{TIC}{TWO}limits: {{nodes: 2.5}}\n", "cup.yaml:3:17: limits.nodes", "integer, got 2.5"),
        (f"{TIC}{TWO}limits: {{seconds: 0}}\n", "cup.yaml:3:19: limits.seconds", "more than 0"),
        (f"{TIC}{TWO}limits: {{seconds: -1.5}}\n", "cup.yaml:3:19: limits.seconds", "more than 0"),
        (f"{TIC}{TWO}limits: {{seconds: .inf}}\n", "cup.yaml:3:19: limits.seconds", "finite"),
        (f"{TIC}{TWO}limits: {{seconds: .nan}}\n", "cup.yaml:3:19: limits.seconds", "finite"),
        (f"{TIC}{TWO}limits: {{moves: 0}}\n", "cup.yaml:3:17: limits.moves", "at least 1"),
        (f"{TIC}agents: [random, {{agent: greedy, limits: {{node: 5}}}}]\n", "cup.yaml:2:43: agents[1].limits.node", "'nodes'"),
        (f"{TIC}agents: [random, {{agent: greedy, limits: {{nodes: x}}}}]\n", "cup.yaml:2:50: agents[1].limits.nodes", "'x'"),
        (f"{TIC}agents: [random, {{agent: greedy, limits: {{moves: 5}}}}]\n", "cup.yaml:2:50: agents[1].limits.moves", "match"),
        # The rest.
        (f"{TIC}{TWO}rounds: 0\n", "cup.yaml:3:9: rounds", "at least 1"),
        (f"{TIC}{TWO}rounds: {10**12}\n", "cup.yaml:3:9: rounds", "at most"),
        (f"{TIC}{TWO}rounds: '5'\n", "cup.yaml:3:9: rounds", "expected an integer, got '5'"),
        (f"{TIC}{TWO}seed: -1\n", "cup.yaml:3:7: seed", "at least 0, got -1"),
        (f"{TIC}{TWO}seed: true\n", "cup.yaml:3:7: seed", "expected an integer, got true"),
        (f"{TIC}{TWO}seed: secrt\n", "cup.yaml:3:7: seed", "expected an integer or `secret`, got 'secrt'"),
        (f"{TIC}{TWO}seed: {2**63}\n", "cup.yaml:3:7: seed", "at most"),
        (f"{TIC}{TWO}name: 3\n", "cup.yaml:3:7: name", "expected text, got 3"),
        (f"{TIC}{TWO}name: ''\n", "cup.yaml:3:7: name", "at least 1 character"),
        (f"{TIC}{TWO}format: round-robbin\n", "cup.yaml:3:9: format", "did you mean 'round-robin'"),
        (f"{TIC}{TWO}format: {{name: round-robin, x: 1}}\n", "cup.yaml:3:29: format.x", "unknown key"),
        (f"{TIC}{TWO}format: {{nam: round-robin}}\n", "cup.yaml:3:9: format", "name"),
        (f"{TIC}{TWO}format: 3\n", "cup.yaml:3:9: format", "got 3"),
        (f"{TIC}{TWO}format: benchmark\n", "cup.yaml:3:9: format", "round-robin"),
        (f"{TIC}{TWO}rank: points\n", "cup.yaml:3:7: rank", "expected one of 'wins' or 'returns', got 'points'"),
        (f"{TIC}{TWO}orders: some\n", "cup.yaml:3:9: orders", "expected one of 'all' or 'rotations', got 'some'"),
        (f"{TIC}{TWO}format: swiss\norders: rotations\n", "cup.yaml:4:1: orders", "the format swiss has no orders"),
        (f"{TILES}{TWO}format: round-robin\n", "cup.yaml:3:9: format", "benchmark"),
        (f"{TIC}{TWO}plugins: mine.py\n", "cup.yaml:3:10: plugins", "expected a list, got 'mine.py'"),
        (f"{TIC}{TWO}plugins: ['']\n", "cup.yaml:3:11: plugins[0]", "at least 1 character"),
    ],
)
def test_an_error_is_one_line_with_its_position(faults: Faults, text: str, place: str, words: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"{place}: ")
    assert words in found.removeprefix(place)
    assert "\n" not in found


def test_null_stands_for_the_default(load: Load) -> None:
    spec = load(f"{TIC}{TWO}rounds: null\npositions: ~\nformat:\nname:\nlimits: {{}}\nplugins: []\n")
    assert (spec.name, spec.seed, spec.boards[0].size) == ("cup", 0, 20)


# Agents that cannot play a game


def test_an_agent_that_cannot_play_the_game_is_refused_with_the_reason(faults: Faults) -> None:
    assert faults(f"{TILES}agents: [random, alpha-beta]\n") == [f"cup.yaml:2:18: agents[1]: {REFUSAL}"]


def test_other_errors_do_not_hide_that_an_agent_cannot_play_the_game(faults: Faults) -> None:
    found = faults(f"{TILES}agents: [random, {{agent: alpha-beta, depth: x}}]\n")
    assert found[0] == f"cup.yaml:2:18: agents[1]: {REFUSAL}"
    assert found[1].startswith("cup.yaml:2:45: agents[1].depth: ")


def test_a_wrong_parameter_of_the_game_does_not_hide_other_errors(faults: Faults) -> None:
    text = (
        "game: {{name: sliding-tiles, rows: {}}}\nagents: [random, alpha-beta]\nanchor: somebody\n"
        "format: {{name: benchmark, round: 2}}\nsort: nothing\n"
    )
    sound, faulty = faults(text.format("3 ")), faults(text.format("-3"))
    assert [fault.split(" ")[1] for fault in sound] == ["agents[1]:", "anchor:", "format.round:", "sort:"]
    assert faulty[0].startswith("cup.yaml:1:35: game.rows: expected")
    assert [cut_list(fault) for fault in faulty[1:]] == [cut_list(fault) for fault in sound]


def cut_list(fault: str) -> str:
    """Leave out the list of names, which has more columns if no board is known."""
    return fault.split("; ", maxsplit=1)[0]


def test_an_anchor_may_be_an_entry_with_an_error(faults: Faults) -> None:
    found = faults("game: {name: tic-tac-toe, rows: 0}\nagents: [random, {agent: lookahead, depth: x}]\nanchor: lookahead\n")
    assert [fault.split(" ")[1] for fault in found] == ["game.rows:", "agents[1].depth:"]


def test_traits_are_checked_only_if_the_parameters_are_valid(faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "import arena\nfrom arena_games.nim import Nim\n\n\nclass Many(Nim):\n    name = 'many'\n\n"
        "    def __init__(self, *, seats: int = 3) -> None:\n        super().__init__()\n        self.players = seats\n\n\n"
        "@arena.hookimpl\ndef arena_games():\n    return [Many]\n"
    )
    found = faults(f"game: {{name: many, seat: 2}}\nplugins: [{tmp_path}/many.py]\nagents: [minimax, random]\n")
    assert [fault.split(" ")[1] for fault in found] == ["game.seat:"]


def test_a_note_names_an_agent_that_cannot_play_one_of_several_games(load: Load) -> None:
    spec = load(f"{BOTH}agents: [random, greedy, alpha-beta]\n")
    assert [[seat.label for seat in board.seats] for board in spec.boards] == [
        ["random", "greedy", "alpha-beta"],
        ["random", "greedy"],
    ]
    (note,) = spec.notes
    assert REFUSAL in note


def test_an_agent_may_refuse_a_game(load: Load, faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(
        "import arena\nfrom arena_agents.simple import Random\n\n\nclass Small(Random):\n    name = 'small'\n\n"
        "    def refuses(self, game):\n        return None if game.name == 'tic-tac-toe' else 'it knows nine squares'\n\n\n"
        "@arena.hookimpl\ndef arena_agents():\n    return [Small]\n"
    )
    plugin = f"plugins: [{tmp_path}/small.py]\n"
    assert faults(f"game: othello\n{plugin}agents: [random, small]\n") == ["cup.yaml:3:18: agents[1]: it knows nine squares"]
    spec = load(f"games: [tic-tac-toe, othello]\n{plugin}agents: [random, greedy, small]\n")
    assert [len(board.seats) for board in spec.boards] == [3, 2]
    assert "small is left out of othello: it knows nine squares" in spec.notes


def test_an_entry_that_can_play_on_no_board_is_refused(faults: Faults) -> None:
    found = faults("games: [sliding-tiles, {name: sliding-tiles, rows: 4}]\nagents: [random, alpha-beta]\n")
    assert found == [f"cup.yaml:2:18: agents[1]: {REFUSAL}"]


def test_a_board_with_too_few_entries_is_refused(load: Load, faults: Faults) -> None:
    (nobody,) = faults(f"{BOTH}agents: [alpha-beta, minimax]\n")
    assert nobody.startswith("cup.yaml:2:9: agents: ")
    assert "no agents for sliding-tiles" in nobody
    one, none = faults(f"{BOTH}agents: [alpha-beta]\n")
    assert "one agent for tic-tac-toe" in one
    assert "no agents for sliding-tiles" in none
    assert load(f"{TILES}agents: [greedy]\n").boards[0].size == 10


@pytest.mark.parametrize(
    ("agents", "place", "label"),
    [
        ("[random, random]", "2:18: agents[1]", "random"),
        ("[{agent: random, label: a}, {agent: greedy, label: a}]", "2:60: agents[1].label", "a"),
        ("[random, {agent: greedy, label: random}]", "2:41: agents[1].label", "random"),
        ("[random, {agent: lookahead, depth: 2}, lookahead]", "2:48: agents[2]", "lookahead"),
        ("[random, {agent: lookahead, label: a, depth: {sweep: [1, 2]}}]", "2:44: agents[1].label", "a"),
        ("[random, {agent: lookahead, depth: {sweep: [2, 2]}}]", "2:18: agents[1]", "lookahead"),
        ("[random, {agent: lookahead, depth: {sweep: [1, 2]}}, lookahead]", "2:62: agents[2]", "lookahead(depth=2)"),
        ("[greedy, {agent: greedy, heuristic: open-lanes}]", "2:18: agents[1]", "greedy"),
        ("[{agent: random, label: \u00e9}, {agent: greedy, label: e\u0301}]", "2:60: agents[1].label", "\u00e9"),
    ],
)
def test_equal_labels_are_refused(faults: Faults, agents: str, place: str, label: str) -> None:
    (found,) = faults(f"{TIC}agents: {agents}\n")
    assert found.startswith(f"cup.yaml:{place}: ")
    assert f"two entries are called '{label}'" in found


def test_the_error_for_equal_labels_names_a_value_that_a_sweep_has_twice(faults: Faults) -> None:
    (found,) = faults(f"{TIC}agents: [random, {{agent: lookahead, depth: {{sweep: [2, 2]}}}}]\n")
    assert found.endswith("two entries are called 'lookahead', because a sweep has the same value twice")
    labelled = "{agent: lookahead, label: deep, depth: {sweep: [1, 2]}}"
    (found,) = faults(f"{TIC}agents: [random, {labelled}]\n")
    assert found.endswith("leave out the label, because the sweep makes several entries")


# Heuristics


@pytest.mark.parametrize(
    ("heuristic", "place", "words"),
    [
        ("manhatan", "2:37: agents[0].heuristic", "did you mean 'manhattan'"),
        ("open-lanes", "2:37: agents[0].heuristic", "belongs to tic-tac-toe"),
        ("{name: manhatan}", "2:44: agents[0].heuristic", "did you mean 'manhattan'"),
        ("{name: manhattan, weight: 2}", "2:55: agents[0].heuristic.weight", "unknown key"),
        ("{sliding-tiles: open-lanes}", "2:53: agents[0].heuristic.sliding-tiles", "belongs to tic-tac-toe"),
        ("{sliding-tiles: manhatan}", "2:53: agents[0].heuristic.sliding-tiles", "did you mean 'manhattan'"),
        ("{sliding-tile: manhattan}", "2:38: agents[0].heuristic.sliding-tile", "did you mean 'sliding-tiles'"),
        ("{tic-tac-toe: open-lanes}", "2:51: agents[0].heuristic.tic-tac-toe", "sliding-tiles"),
        ("{sliding-tiles: 3}", "2:53: agents[0].heuristic.sliding-tiles", "got 3"),
        ("3", "2:37: agents[0].heuristic", "got 3"),
        ("[manhattan]", "2:37: agents[0].heuristic", "a list"),
        ("{name: 3}", "2:37: agents[0].heuristic", "name of a heuristic"),
        ("nothing", "2:37: agents[0].heuristic", "(none stands for no heuristic)"),
        ("{name: none, weight: 2}", "2:44: agents[0].heuristic", "none stands for no heuristic, so it has no parameters"),
    ],
)
def test_a_heuristic_of_another_game_is_refused(faults: Faults, heuristic: str, place: str, words: str) -> None:
    (found,) = faults(f"{TILES}agents: [{{agent: greedy, heuristic: {heuristic}}}]\n")
    assert found.startswith(f"cup.yaml:{place}")
    assert words in found


@pytest.mark.parametrize("none", ["none", "{name: none}", "{sliding-tiles: none}"])
def test_an_entry_may_play_without_the_default_heuristic(load: Load, none: str) -> None:
    """`null` is the same as no key: the entry gets the default heuristic."""
    entries = f"{{agent: greedy, heuristic: null}}, {{agent: greedy, heuristic: {none}}}"
    apart = f"{{agent: greedy, heuristic: {none}, isolation: process, label: apart}}"
    seats = load(f"{TILES}agents: [{entries}, {apart}]\n").boards[0].seats
    assert [seat.heuristic for seat in seats] == ["manhattan", None, None]
    assert [seat.evaluation is None for seat in seats[:2]] == [False, True]
    assert [seat.label for seat in seats] == ["greedy(manhattan)", "greedy(none)", "apart"]
    assert seats[2].program is not None
    assert seats[2].program.heuristic is None


def heuristics_of(spec: Spec) -> list[Any]:
    return [re.findall(r'"heuristic":(null|\{"name":"[a-z-]+")', seat.identity) for board in spec.boards for seat in board.seats]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", ["open-lanes", "manhattan"]),
        (", heuristic: misplaced", ["open-lanes", "misplaced"]),
        (", heuristic: open-lanes", ["open-lanes", "manhattan"]),
        (", heuristic: {tic-tac-toe: open-lanes, sliding-tiles: misplaced}", ["open-lanes", "misplaced"]),
        (", heuristic: {sliding-tiles: misplaced}", ["open-lanes", "misplaced"]),
        (", heuristic: {sliding-tiles: {name: misplaced}}", ["open-lanes", "misplaced"]),
    ],
)
def test_every_board_has_a_heuristic_of_its_game(load: Load, given: str, used: list[str]) -> None:
    spec = load(f"{BOTH}agents: [{{agent: greedy{given}}}, random]\n")
    assert [heuristics[0] for heuristics in heuristics_of(spec)[::2]] == [f'{{"name":"{name}"' for name in used]


# Positions


def test_positions_in_the_spec_are_checked(faults: Faults) -> None:
    found = faults(f"{TIC}{TWO}positions: [x../.../..., x., .../.../..q, xxx/oo./..., 3, ooo/.../...]\n")
    assert [fault[: fault.index("]") + 1] for fault in found] == [
        "cup.yaml:3:26: positions[1]",
        "cup.yaml:3:30: positions[2]",
        "cup.yaml:3:43: positions[3]",
        "cup.yaml:3:56: positions[4]",
        "cup.yaml:3:59: positions[5]",
    ]
    assert "over" in found[2]


def test_an_unsolvable_position_is_refused_with_the_reason(faults: Faults) -> None:
    """Swapping two tiles makes a position unsolvable (Johnson and Story, 1879)."""
    (found,) = faults(f"{TILES}{TWO}positions: ['2 1 3 / 4 5 6 / 7 8 .', '1 2 3 / 4 5 6 / 7 . 8']\n")
    assert found.startswith("cup.yaml:3:13: positions[0]: ")
    assert "unsolvable" in found


BOTH = "games: [tic-tac-toe, sliding-tiles]\n"
TILES_TEXT = "1 2 3 / 4 5 6 / 7 . 8"


def test_each_game_can_have_its_own_positions(load: Load) -> None:
    mapping = "positions: {tic-tac-toe: openings.txt, sliding-tiles: ['" + TILES_TEXT + "']}\n"
    spec = load(f"{BOTH}{TWO}{mapping}", {"openings.txt": "x../.../...\n.../.x./...\n"})
    assert [board.positions.texts for board in spec.boards] == [("x../.../...", ".../.x./..."), (TILES_TEXT,)]
    given = spec.document.values["positions"]
    assert given == {"tic-tac-toe": ["x../.../...", ".../.x./..."], "sliding-tiles": [TILES_TEXT]}, "no other file is needed"
    again = reload_spec(spec.document, spec.plugins, spec.seed)
    assert [board.positions.texts for board in again.boards] == [board.positions.texts for board in spec.boards]


def test_files_of_positions_are_listed_as_files_that_a_spec_reads() -> None:
    values = {"games": ["nim", "tic-tac-toe"], "positions": {"nim": ["1 2 a"], "tic-tac-toe": "private.txt"}}
    document = Document("cup.yaml", values, Path("/cups"))
    assert list(list_named_code(document, (), load_plugins())) == ["positions private.txt in /cups"]


def test_games_without_positions_of_their_own_draw_them(load: Load) -> None:
    spec = load(f"{BOTH}{TWO}rounds: 7\npositions: {{tic-tac-toe: [x../.../...]}}\n")
    assert [(board.positions.texts, board.field.rounds) for board in spec.boards] == [(("x../.../...",), 1), (None, 7)]


def test_positions_of_two_boards_of_one_game_are_given_by_their_titles(load: Load, faults: Faults) -> None:
    games = "games: [{name: nim, heaps: [1, 2]}, {name: nim, heaps: [1, 2, 3]}]\n"
    titles = [board.title for board in load(f"{games}{TWO}").boards]
    spec = load(f"{games}{TWO}positions: {{nim: [1 1 a], '{titles[1]}': [1 1 1 a]}}\n")
    assert [board.positions.texts for board in spec.boards] == [("1 1 a",), ("1 1 1 a",)]
    (fault,) = faults(f"{games}{TWO}positions: [1 1 a]\n")
    assert f"not a position of {titles[1]}: " in fault
    assert f"as in `positions: {{{titles[1]!r}: [...]}}`" in fault


def test_a_position_that_a_board_cannot_read_names_the_board_and_the_mapping(faults: Faults) -> None:
    hint = "; to give each board its own positions, write them below its name, as in `positions: {%s: [...]}`"
    tiles, tic = faults(f"{BOTH}{TWO}positions: ['{TILES_TEXT}', x../.../...]\n")
    assert tiles.startswith("cup.yaml:3:13: positions[0]: not a position of tic-tac-toe: ")
    assert tiles.endswith(hint % "tic-tac-toe")
    assert tic.startswith("cup.yaml:3:38: positions[1]: not a position of sliding-tiles: ")
    assert tic.endswith(hint % "sliding-tiles")
    (fault,) = faults(f"{BOTH}{TWO}positions: p.txt\n", {"p.txt": "x../.../...\n"})
    assert fault.startswith("p.txt:1:1: positions: not a position of sliding-tiles: ")
    assert fault.endswith(hint % "sliding-tiles")
    (fault,) = faults(f"{BOTH}{TWO}positions: {{tic-tac-toe: [x.]}}\n")
    assert fault.startswith("cup.yaml:3:27: positions.tic-tac-toe[0]: not a position of tic-tac-toe: ")
    assert "write them below" not in fault
    (fault,) = faults(f"{TIC}{TWO}positions: [x.]\n")
    assert "write them below" not in fault


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (f"{TIC}{TWO}positions: {{tic-tac-toe: [x../.../...]}}\n", "3:12: positions: a mapping is for specs with `games`"),
        (
            f"{BOTH}{TWO}positions: {{nim: [1 a]}}\n",
            "3:13: positions.nim: no board of this spec plays nim; expected tic-tac-toe or sliding-tiles",
        ),
        (f"{BOTH}{TWO}positions: {{tic-tac-toe: []}}\n", "3:26: positions.tic-tac-toe: expected at least one position"),
        (f"{BOTH}{TWO}positions: {{tic-tac-toe: 3}}\n", "3:26: positions.tic-tac-toe: expected text or a list, got 3"),
        (
            f"{BOTH}{TWO}rounds: 3\npositions: {{tic-tac-toe: [x../.../...], sliding-tiles: ['{TILES_TEXT}']}}\n",
            "3:1: rounds: every board has positions",
        ),
    ],
)
def test_errors_in_a_mapping_of_positions_are_reported(spec: str, fault: str, faults: Faults) -> None:
    (found,) = faults(spec)
    assert found.startswith(f"cup.yaml:{fault}")


def test_errors_in_a_file_of_positions_name_its_lines(faults: Faults) -> None:
    lines = "# openings\n\nx../.../...\nx.\nxxx/oo./...\n"
    found = faults(f"{TIC}{TWO}positions: openings.txt\n", {"openings.txt": lines})
    assert [fault.split(": ")[0] for fault in found] == ["openings.txt:4:1", "openings.txt:5:1"]


def test_a_file_of_positions_is_relative_to_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cups" / "data").mkdir(parents=True)
    (tmp_path / "cups" / "data" / "openings.txt").write_text("x../.../...\n.../.x./...\n")
    (tmp_path / "cups" / "cup.yaml").write_text(f"{TIC}{TWO}positions: data/openings.txt\n")
    monkeypatch.chdir(tmp_path)
    assert load_spec("cups/cup.yaml").boards[0].size == 4
    (tmp_path / "cups" / "data" / "openings.txt").write_text("x../.../...\n.x./...\n")
    with pytest.raises(SpecError) as caught:
        load_spec("cups/cup.yaml")
    assert str(caught.value).startswith("cups/data/openings.txt:2:1: positions: ")


def test_a_file_of_positions_may_come_from_windows(load: Load) -> None:
    spec = load(f"{TIC}{TWO}positions: p.txt\n", {"p.txt": b"\xef\xbb\xbfx../.../...\r\n.../.x./...\r\n"})
    assert [spec.boards[0].positions[number].text for number in range(2)] == ["x../.../...", ".../.x./..."]


@pytest.mark.parametrize(
    ("value", "content", "place"),
    [
        ("nowhere.txt", None, "cup.yaml:3:12: positions"),
        (".", None, "cup.yaml:3:12: positions"),
        ("''", None, "cup.yaml:3:12: positions"),
        ('"a\\0b"', None, "cup.yaml:3:12: positions"),
        ("empty.txt", b"# nothing\n", "cup.yaml:3:12: positions"),
        ("latin.txt", b"x../.../...\n\xe9\n", "latin.txt:2:1: positions"),
        ("[]", None, "cup.yaml:3:12: positions"),
        ("3", None, "cup.yaml:3:12: positions"),
        ("{a: 1}", None, "cup.yaml:3:16: positions.a"),
    ],
)
def test_missing_positions_are_refused(faults: Faults, value: str, content: bytes | None, place: str) -> None:
    (found,) = faults(f"{TIC}{TWO}positions: {value}\n", {} if content is None else {value: content})
    assert found.startswith(f"{place}: ")


def test_an_invalid_position_is_reported_once_for_all_boards(faults: Faults) -> None:
    game = "game: {name: tic-tac-toe, in_a_row: {sweep: [2, 3]}}\n"
    assert len(faults(f"{game}{TWO}positions: p.txt\n", {"p.txt": "x.\n"})) == 1
    assert len(faults(f"{game}{TWO}positions: [x.]\n")) == 1


def test_of_thousands_of_unknown_keys_the_first_are_listed(faults: Faults) -> None:
    """The faults of known keys are listed, too, and no names are suggested for keys that are only counted."""
    lines = "".join([f"x{number}: 1\n" for number in range(20_000)])
    found = faults(f"{TILES}{TWO}{lines}rounds: -1\n")
    assert [fault.partition(": ")[0] for fault in found[:20]] == [f"cup.yaml:{number}:1" for number in range(3, 23)]
    assert all("unknown key" in fault for fault in found[:20])
    assert found[20:] == [
        "cup.yaml:20002:1: 19,980 more errors; the last one is here",
        "cup.yaml:20003:9: rounds: expected at least 1, got -1",
    ]


def test_thousands_of_errors_are_reported_quickly(faults: Faults) -> None:
    """The time grows with their number, not with its square."""
    lines = "".join([f"x{number}\n" for number in range(20_000)])
    *found, last = faults(f"{TILES}{TWO}positions: p.txt\n", {"p.txt": lines})
    assert (len(found), last) == (20, "p.txt:20000:1: positions: 19,980 more errors; the last one is here")


# The values of a sound spec


def test_a_minimal_spec_has_the_documented_defaults(load: Load) -> None:
    spec = load(f"{BOTH}{TWO}")
    assert [board.format.name for board in spec.boards] == ["round-robin", "benchmark"]
    assert [board.size for board in spec.boards] == [20, 20]
    assert spec.seed == 0
    limits = spec.boards[0].seats[0].limits
    assert (limits.nodes, limits.seconds, limits.depth, limits.moves, limits.memory_mb) == (None, None, None, 1000, None)


def test_limits_of_an_entry_override_common_limits_one_by_one(load: Load) -> None:
    spec = load(f"{TIC}agents: [random, {{agent: greedy, limits: {{nodes: 7}}}}]\nlimits: {{nodes: 5, seconds: 2, moves: 9}}\n")
    common, own = [seat.limits for seat in spec.boards[0].seats]
    assert (common.nodes, common.seconds, common.moves) == (5, 2, 9)
    assert (own.nodes, own.seconds, own.moves) == (7, 2, 9)


def test_seeds_have_at_most_63_bits(load: Load) -> None:
    assert load(f"{TIC}{TWO}seed: 9223372036854775807\n").seed == 2**63 - 1
    assert load(f"{TIC}{TWO}seed: 0x7FFFFFFFFFFFFFFF\n").seed == 2**63 - 1
    assert load(f"{TIC}{TWO}seed: 2e3\n").seed == 2000


def test_a_seed_argument_overrides_the_seed_of_the_spec() -> None:
    spec = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "seed": 5}
    assert (load_spec(spec).seed, load_spec(spec, seed=0).seed) == (5, 0)


def test_a_repeated_board_is_refused(faults: Any) -> None:
    assert "games[1]: the same board as games[0]" in str(
        faults("games: [tic-tac-toe, {name: tic-tac-toe, rows: 3}]\nagents: [random, greedy]\n")
    )
    assert "the same board as game" in str(
        faults("game: {name: sliding-tiles, shuffle: {sweep: [5, 5]}}\nagents: [random, greedy]\n")
    )


def test_entries_that_are_equal_on_a_board_are_refused(faults: Any) -> None:
    found = faults("games: [tic-tac-toe, sliding-tiles]\nagents: [random, greedy, {agent: greedy, heuristic: open-lanes}]\n")
    assert any("is the same as" in fault and "agents[2]" in fault for fault in found)


@pytest.mark.parametrize(
    ("keys", "formats"),
    [
        ("orders: rotations\n", [("round-robin", "rotations"), ("benchmark", None)]),
        ("format: {name: round-robin, orders: rotations}\n", [("round-robin", "rotations"), ("benchmark", None)]),
        ("format: gauntlet\nchallengers: 1\norders: rotations\n", [("gauntlet", "rotations"), ("benchmark", None)]),
        ("format: benchmark\norders: rotations\n", [("round-robin", "rotations"), ("benchmark", None)]),
        ("openings: {plies: 2}\n", [("round-robin", "all"), ("benchmark", None)]),
    ],
)
def test_a_format_and_its_keys_apply_only_to_boards_that_they_fit(keys: str, formats: list[Any]) -> None:
    spec = load_spec(yaml.safe_load(f"games: [tic-tac-toe, sliding-tiles]\n{TWO}{keys}"))
    assert [(board.format.name, getattr(board.format, "orders", None)) for board in spec.boards] == formats
    gauntlet = "sliding-tiles is played in the format benchmark, because gauntlet is not for it"
    assert [note for note in spec.notes if "is played in" in note] == ([gauntlet] if "gauntlet" in keys else [])


@pytest.mark.parametrize(
    ("games", "keys", "says"),
    [
        ("tic-tac-toe, sliding-tiles", "challengers: 2\n", "3:1: challengers: the formats benchmark and round-robin have no"),
        ("tic-tac-toe, sliding-tiles", "format: swiss\norders: all\n", "4:1: orders: the formats benchmark and swiss have no"),
        ("sliding-tiles, pancake", "orders: all\n", "3:1: orders: the format benchmark has no orders"),
        ("sliding-tiles, pancake", "format: swiss\n", "3:9: format: swiss fits none of the games of the spec; expected bench"),
        ("tic-tac-toe, nim", "format: benchmark\n", "3:9: format: benchmark fits none of the games of the spec; expected round"),
        ("sliding-tiles, pancake", "openings: {plies: 2}\n", "3:1: openings: all games of the spec are puzzles"),
    ],
)
def test_a_key_that_applies_to_no_board_is_refused(faults: Faults, games: str, keys: str, says: str) -> None:
    (found,) = faults(f"games: [{games}]\n{TWO}{keys}")
    assert str(found).startswith(f"cup.yaml:{says}")


@pytest.mark.parametrize(
    ("entry", "where", "says"),
    [
        ("{agent: {command: []}}", "agents[1].agent.command", "at least 1 item"),
        ("{agent: {command: 'node x.js'}}", "agents[1].agent.command", "expected a list"),
        ("{agent: {command: [1]}}", "agents[1].agent.command[0]", "expected text, got 1"),
        ("{agent: {comand: [node]}}", "agents[1].agent", "did you mean 'command'?"),
        (
            "{agent: {command: [no-such-program-here]}}",
            "agents[1].agent.command",
            "no executable program 'no-such-program-here' was found on PATH",
        ),
        (f"{{agent: {{command: ['{'9' * 300}']}}}}", "agents[1].agent.command", "no executable program '999"),
        ("{agent: {command: [./nothing-here]}}", "agents[1].agent.command", "was found in"),
        ("{agent: {command: [sh]}, isolation: none}", "agents[1].isolation", "expected process or sandbox, got 'none'"),
        ("{agent: greedy, isolation: none, limits: {memory_mb: 100}}", "agents[1].isolation", "memory limit needs isolation"),
    ],
)
def test_a_program_that_cannot_play_is_refused(faults: Faults, entry: str, where: str, says: str) -> None:
    text = "\n".join(map(str, faults(f"{TIC}agents: [random, {entry}]\n")))
    assert where in text
    assert says in text


@pytest.mark.parametrize(
    ("keys", "kinds"),
    [
        ("agents: [random, greedy]", ["none", "none"]),
        ("limits: {nodes: 9, depth: 2}\nagents: [random, greedy]", ["none", "none"]),
        ("limits: {seconds: 1}\nagents: [random, greedy]", ["process", "process"]),
        ("agents: [random, {agent: greedy, limits: {memory_mb: 500}}]", ["none", "process"]),
        ("isolation: none\nlimits: {seconds: 1}\nagents: [random, {agent: greedy, isolation: sandbox}]", ["none", "sandbox"]),
        ("isolation: process\nagents: [random, {agent: greedy, isolation: none}]", ["process", "none"]),
        ("agents: [random, {agent: {command: [sh]}}]", ["none", "process"]),
    ],
)
def test_the_spec_determines_the_isolation_of_an_agent(load: Load, keys: str, kinds: list[str]) -> None:
    seats = load(f"{TIC}{keys}\n").boards[0].seats
    assert [seat.isolation for seat in seats] == kinds
    assert all((seat.program is not None) == (seat.isolation != "none") for seat in seats)


def test_a_program_without_a_label_is_named_after_its_file(load: Load) -> None:
    seat = load(f"{TIC}agents: [random, {{agent: {{command: [sh, my_agent.js]}}, temper: cold}}]\n").boards[0].seats[1]
    assert seat.label == "my_agent"
    assert seat.program is not None
    assert seat.program.command == ("sh", "my_agent.js")
    assert dict(seat.program.options) == {"temper": "cold"}


@pytest.mark.parametrize(
    ("game", "isolation", "expected"),
    [
        ("tic-tac-toe", "none", None),
        ("kuhn-poker", "none", "nothing prevents agents from remembering them"),
        ("kuhn-poker", "process", "a process sees each deal only once; `isolation: sandbox` also prevents it from leaving files"),
        ("kuhn-poker", "sandbox", None),
        ("pig", "process", "a process sees each deal only once"),
        ("rock-paper-scissors", "none", None),  # hidden choices are no deals
        ("goofspiel", "none", "nothing prevents agents from remembering them"),
    ],
)
def test_a_note_explains_how_agents_could_remember_deals_that_others_get_later(
    game: str, isolation: str, expected: str | None
) -> None:
    spec = load_spec({"game": game, "agents": ["random", {"agent": "random", "label": "other"}], "isolation": isolation})
    notes = [note for note in spec.notes if "have the same deals" in note]
    assert [expected in note for note in notes if expected] == ([] if expected is None else [True]), notes
    assert len(notes) == (expected is not None)


COINS = """
import math
from arena import Game, hookimpl

class Coins(Game):
    name = "coins"

    def __init__(self, *, bounded: bool = True) -> None:
        self.min_return, self.max_return = (-5, 5) if bounded else (-math.inf, math.inf)

    def initial(self, rng): return ()
    def to_move(self, state): return len(state) % 2
    def actions(self, state): return () if len(state) == 2 else range(5)
    def result(self, state, action): return (*state, action)
    def returns(self, state): return (state[0] - state[1], state[1] - state[0])

@hookimpl
def arena_games(): return [Coins]
"""


def test_the_returns_of_a_game_with_its_parameters_are_checked(faults: Faults) -> None:
    spec = "plugins: [coins.py]\nagents: [minimax, random]\ngames: [coins, {name: coins, bounded: false}]\n"
    (fault,) = faults(spec, {"coins.py": COINS})
    expected = "a finite number, because it is the return of a seat that commits a fault"
    assert fault == f"cup.yaml:3:16: games[1]: coins: min_return must be finite: expected {expected}, got -inf"


def test_empty_lines_of_a_file_with_positions_take_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple for each of them would take 100 times as much memory as the file. Lines with text are limited, too."""
    (tmp_path / "positions.txt").write_text("\n" * 1_000_000 + ".../.../...\n")
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\npositions: positions.txt\nagents: [random, greedy]\n")
    tracemalloc.start()
    try:
        assert load_spec(tmp_path / "cup.yaml").boards[0].field.rounds == 1
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(positions_module, "MAX_LINES", 2)
    (tmp_path / "positions.txt").write_text("# a comment\n" + ".../.../...\n" * 3)
    with pytest.raises(SpecError, match=r"positions\.txt cannot be read: expected at most 2 lines with positions"):
        load_spec(tmp_path / "cup.yaml")


def test_only_the_first_20_errors_under_a_key_are_listed_and_the_rest_are_counted(tmp_path: Path) -> None:
    """The message about a long line is cut. Errors under other keys are still listed."""
    lines = ["y" * 100_000] + ["q" * number for number in range(1, 5_000)]
    (tmp_path / "positions.txt").write_text("\n".join(lines))
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\npositions: positions.txt\nrounds: 0\nagents: [random, greedy]\n")
    with pytest.raises(SpecError) as caught:
        load_spec(tmp_path / "cup.yaml")
    positions = [fault for fault in caught.value.faults if fault.where == "positions"]
    assert [fault.line for fault in positions] == [*range(1, 21), 5_000]
    assert positions[-1].message == "4,980 more errors; the last one is here"
    assert len(str(caught.value)) < 20_000
    assert "rounds: expected at least 1, got 0" in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "path", "got"),
    [
        ({"agents": [First(), "random"]}, "agents[0]", "an object of the class First"),
        ({"agents": ["random", First]}, "agents[1]", "the class First"),
        ({"agents": ["random", {"agent": First()}]}, "agents[1].agent", "an object of the class First"),
        ({"game": TicTacToe()}, "game", "an object of the class TicTacToe"),
        ({"game": {"name": TicTacToe()}}, "game.name", "an object of the class TicTacToe"),
        ({"agents": [{"agent": "greedy", "heuristic": len}]}, "agents[0].heuristic", "the function len"),
    ],
)
def test_an_object_in_a_spec_is_refused(changed: dict[str, Any], path: str, got: str) -> None:
    """Worker processes and stores need a name that they can load."""
    with pytest.raises(SpecError) as caught:
        load_spec({"game": "tic-tac-toe", "agents": ["random"], **changed})
    told = f"<spec>: {path}: expected a plain value, as in a file, got {got}; write its name and list its file under `plugins`"
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "agents",
    [
        "[" + "random, " * 20_000 + "greedy]",
        "[" + f"{{agent: lookahead, depth: {{sweep: {list(range(1, 501))}}}}}, " * 5 + "greedy]",
    ],
    ids=["listed", "swept"],
)
def test_the_entries_of_a_spec_are_limited(faults: Faults, agents: str) -> None:
    """20,000 entries would have 200 million pairs."""
    (fault,) = faults(f"game: tic-tac-toe\nagents: {agents}\n")
    assert fault == "cup.yaml:2:9: agents: expected at most 2,000 entries, with sweeps expanded; split the spec"
