"""Frames of a match follow the rules, and the modules of the boards are bundled into one script."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.game import gives
from arena.match.replay import Differs, Step
from arena.plugins.registry import Registry
from arena_catalog.board_files import load_board_module
from arena_play.endings import result
from arena_web.report.plot import printable
from arena_web.views import bundle, static_files, view

GAMES = [
    ("tic-tac-toe", ["random", "greedy"]),
    ("connect-four", ["random", "random"]),
    ("othello", ["random", "greedy"]),
    ("sliding-tiles", "a-star"),
    ("sudoku", "dfs"),
    ("n-queens", "hill-climb"),
]


def test_results_are_described_in_sentences(node: str, tmp_path: Path) -> None:
    """The text is the same as in the terminal. A win shared by some seats is not a draw."""
    told: list[tuple[list[str], list[float]]]
    told = [(["You", "minimax"], [1, -1]), (["You", "minimax"], [-1, 1]), (["a", "b"], [0, -0.0]), (["a", "b", "c"], [1, 1, -1])]
    told += [(["a", "b", "c", "d"], [1, 1, 1, -1])]
    matches = [{"termination": "normal", "labels": labels, "returns": returns} for labels, returns in told]
    (tmp_path / "results.mjs").write_text(
        f"import {{ result }} from {json.dumps(static_files()['player.js'].as_uri())};\n"
        f"console.log(JSON.stringify({json.dumps(matches)}.map(result)));"
    )
    done = subprocess.run([str(node), str(tmp_path / "results.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["You win", "minimax wins", "a draw", "a and b share the win", "a, b and c share the win"]
    assert [result(labels, returns) for labels, returns in told] == json.loads(done.stdout)


def test_texts_on_pages_contain_no_control_characters(node: str, tmp_path: Path) -> None:
    """The pages replace the same characters as reports. Letters of all scripts, tabs and line ends are kept."""
    texts = ["a\x1b[2J\x9b", "\u202eabc\u2066", "\tü\n\u05d0\U0001f600"]
    (tmp_path / "visible.mjs").write_text(
        f"import {{ visible }} from {json.dumps(static_files()['dom.js'].as_uri())};\n"
        f"console.log(JSON.stringify({json.dumps(texts)}.map(visible)));"
    )
    done = subprocess.run([str(node), str(tmp_path / "visible.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["a\ufffd[2J\ufffd", "\ufffdabc\ufffd", texts[2]]
    assert [printable(text) for text in texts] == json.loads(done.stdout)


@pytest.mark.parametrize(("name", "agents"), GAMES)
def test_the_frames_of_a_match_lead_from_its_position_to_its_result(registry: Registry, name: str, agents: Any) -> None:
    game = registry.games[name]()
    record = arena.play(name, agents, seed=7)
    shown = view(game, record)
    assert shown.differences == ()
    assert shown.frames[0].state == record.position
    assert [frame.action for frame in shown.frames if frame.action is not None] == list(record.actions)
    for before, after in zip(shown.frames, shown.frames[1:], strict=False):
        if after.action is not None:
            state = game.parse_state(before.state)
            assert after.seat == game.to_move(state)
            assert game.format_state(game.result(state, game.parse_action(state, after.action))) == after.state
    last = game.parse_state(shown.frames[-1].state)
    if record.answer is not None:
        assert shown.frames[-1].number == -1
        assert shown.frames[-1].state == record.answer
    else:
        assert game.is_terminal(last)
        assert tuple(game.returns(last)) == record.returns
    assert json.loads(json.dumps(shown.as_dict()))["frames"][0]["rendered"] == game.render(game.parse_state(record.position))


def test_decisions_are_shown_with_their_actions(registry: Registry) -> None:
    record = arena.play("tic-tac-toe", [{"agent": "alpha-beta", "depth": 2}, "random"])
    shown = view(registry.games["tic-tac-toe"](), record, drawn=True)
    assert [frame.nodes for frame in shown.frames[1:]] == [decision.nodes for decision in record.decisions]
    assert [total["nodes"] for total in shown.totals] == [
        sum(decision.nodes for decision in record.decisions if decision.seat == seat) for seat in (0, 1)
    ]
    assert all(frame.rendered is None for frame in shown.frames)


def test_a_record_that_breaks_the_rules_is_shown_up_to_the_breach(registry: Registry) -> None:
    game = registry.games["tic-tac-toe"]()
    record = arena.play("tic-tac-toe", ["random", "random"], seed=1)
    forged = record._replace(actions=(*record.actions[:2], record.actions[0], *record.actions[3:]))
    shown = view(game, forged)
    assert len(shown.frames) == 3
    assert "action 3" in shown.differences[0]
    with pytest.raises(Differs):
        list(Step.follow(game, forged))


def test_a_long_match_keeps_its_beginning_and_its_end(registry: Registry) -> None:
    game = registry.games["othello"]()
    record = arena.play("othello", ["random", "random"])
    whole = view(game, record, drawn=True).frames
    shown = view(game, record, drawn=True, most=10)
    assert shown.frames == (*whole[:10], whole[-1])
    assert shown.left_out == len(whole) - 11


def test_every_built_in_game_has_a_board(registry: Registry) -> None:
    built_in = {key[1] for key, source in registry.sources.items() if key[0] == "game" and source.name.startswith("fairarena:")}
    built_in -= {"openspiel"}  # a hundred games with their own texts
    assert {name for name in built_in if gives(registry.games[name], "grid")} == {
        "checkers",
        "grid-path",
        "kalah",
        "sokoban",
    }
    built_in -= {"checkers", "grid-path", "kalah", "sokoban"}  # these are drawn by their grids
    modules = {name: load_board_module(registry.games[name]) for name in built_in or {name for name, _ in GAMES}}
    assert {name: module.note for name, module in modules.items()} == dict.fromkeys(modules)
    assert all("export function draw" in str(module.source) for module in modules.values())


def test_the_bundle_is_one_script_without_imports(node: str, tmp_path: Path) -> None:
    script = bundle()
    assert "\nimport " not in script
    assert "\nexport " not in script
    (tmp_path / "bundle.js").write_text(script + "console.log(Object.keys(arena).sort().join(' '))")
    done = subprocess.run([str(node), str(tmp_path / "bundle.js")], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Player", "mountBoard", "mountPlayer", "result", "win", "winners"]


@pytest.mark.parametrize(("rows", "columns", "length"), [(3, 3, 3), (4, 6, 4), (6, 7, 4)])
def test_the_boards_find_the_same_lines_as_the_rules(
    registry: Registry, node: str, tmp_path: Path, rows: int, columns: int, length: int
) -> None:
    game = registry.games["tic-tac-toe"](rows=rows, columns=columns, in_a_row=length)
    rng = random.Random(rows)
    texts, won = [], []
    for _ in range(60):
        state = game.initial(rng)
        while not game.is_terminal(state):
            state = game.result(state, rng.choice(game.actions(state)))
        texts.append(game.format_state(state))
        won.append(any(game.returns(state)))
    module = static_files()["grid.js"].as_uri()
    (tmp_path / "lines.mjs").write_text(
        f"import {{ lines, rowsOf }} from {json.dumps(module)};\n"
        f"console.log(JSON.stringify({json.dumps(texts)}.map((text) => lines(rowsOf(text, 'xo.'), {length}).size >= {length})));"
    )
    done = subprocess.run([str(node), str(tmp_path / "lines.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == won
    assert any(won)
