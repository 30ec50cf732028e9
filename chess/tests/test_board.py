"""The board in the browser: it draws the men that python-chess has on the board, and offers every move."""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import arena_web.views
from arena_catalog.board_files import load_board_module
from arena_chess.game import Chess

SCRIPT = """
import * as board from "./board.mjs";
import { readFileSync } from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync("shown.json", "utf-8")).map(({ text, actions }) => {
  const model = board.parse(text), men = {}, keys = [];
  const put = (layer, key, tag, { text, class: kind }) => {
    keys.push(`${layer} ${key}`);
    if (layer === "pieces") men[key] = `${kind.at(-1)} ${text}`;
  };
  board.draw({ put }, model, { last: actions[0], actions });
  const { width, height } = board.extent(model);
  const targets = board.targets(actions, model);
  const inside = targets.every(({ x, y, width: w, height: h }) => x >= 0 && y >= 0 && x + w <= width && y + h <= height);
  return [board.describe(model), men, keys.length === new Set(keys).size && inside, targets.flatMap((target) => target.actions)];
})));
"""
GLYPHS = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def test_it_draws_every_position_of_matches(tmp_path: Path) -> None:
    """Matches of random agents from the start, and positions after castling to either side, before any capture or pawn move."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    game, rng = Chess(), random.Random(4)
    states: list[Any] = [game.parse_state(f"{CASTLING} moves {moves}") for moves in ("e1g1 e8c8", "e1c1 e8g8 c1b1")]
    state: Any = game.initial(rng)
    while not game.is_terminal(state):
        states.append(state)
        state = game.result(state, rng.choice(game.actions(state)))
    asked = [{"text": game.format_state(one), "actions": list(game.actions(one))} for one in states]
    modules = tmp_path / "node_modules" / "arena"
    shutil.copytree(Path(arena_web.views.__file__).with_name("static"), modules)
    (modules / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "board.mjs").write_text(str(load_board_module(Chess).source), "utf-8")
    (tmp_path / "draw.mjs").write_text(SCRIPT, "utf-8")
    (tmp_path / "shown.json").write_text(json.dumps(asked), "utf-8")
    done = subprocess.run([node, "draw.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for one, (words, men, sound, clicked) in zip(states, json.loads(done.stdout), strict=True):
        expected = {}
        for row, line in enumerate(str(one.board).splitlines()):
            for column, mark in enumerate(line.split()):
                if mark != ".":
                    expected[f"{'abcdefgh'[column]}{8 - row}"] = f"{'w' if mark.isupper() else 'b'} {GLYPHS[mark.lower()]}"
        assert men == expected
        assert words.endswith("white to move" if one.board.turn else "black to move")
        assert sound
        assert sorted(clicked) == sorted(game.actions(one))
