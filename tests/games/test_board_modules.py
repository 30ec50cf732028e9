"""Test that board modules in JavaScript draw every state and observation of random matches."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from arena import CHANCE, Game
from arena.configured import settings
from arena_catalog.board_files import HELPERS, load_board_module
from arena_games.breakthrough import Breakthrough
from arena_games.dots_and_boxes import DotsAndBoxes
from arena_games.gomoku import Gomoku
from arena_games.goofspiel import Goofspiel
from arena_games.hanoi import Hanoi
from arena_games.hearts import Hearts
from arena_games.hex import Hex
from arena_games.nim import Nim
from arena_games.pancake import Pancake
from arena_games.prisoners_dilemma import PrisonersDilemma
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.sliding_tiles import SlidingTiles
from arena_games.top_spin import TopSpin
from arena_web.views import static_files
from tests.games.game_tree import random_match

SCRIPT = """
import * as board from "./board.mjs";
import { readFileSync } from "node:fs";
const { game, shown } = JSON.parse(readFileSync("shown.json", "utf-8"));
console.log(JSON.stringify(shown.map(({ text, actions }) => {
  const model = board.parse(text, game), keys = [];
  board.draw({ put: (layer, key, tag, attributes) => keys.push(`${layer} ${key}`) }, model, { game, actions });
  const { width, height } = board.extent(model);
  const targets = board.targets(actions, model);
  const inside = targets.every(({ x, y, width: w, height: h }) => x >= 0 && y >= 0 && x + w <= width + 0.01 && y + h <= height);
  return [board.describe(model, game), keys.length, new Set(keys).size, inside, targets.flatMap((target) => target.actions)];
})));
"""


def draw_states(game: Game, folder: Path, texts: list[tuple[str, list[str]]]) -> list[list[Any]]:
    """Return the description, the numbers of shapes and keys, and the clickable actions that the module gives for each state."""
    module = load_board_module(type(game))
    assert module.note is None
    (folder / "board.mjs").write_text(str(module.source), "utf-8")
    (folder / "draw.mjs").write_text(SCRIPT, "utf-8")
    shared = folder / "node_modules" / "arena"
    shared.mkdir(parents=True, exist_ok=True)
    (shared / "package.json").write_text('{"type": "module"}')
    for helper in HELPERS:
        copy(static_files()[helper], shared)
    asked = {"game": {"name": game.name, "parameters": settings(game)}, "shown": [{"text": t, "actions": a} for t, a in texts]}
    (folder / "shown.json").write_text(json.dumps(asked), "utf-8")
    done = subprocess.run([str(shutil.which("node")), "draw.mjs"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[list[Any]] = json.loads(done.stdout)
    return found


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(
    "game",
    [
        Goofspiel(),
        Goofspiel(cards=4, hidden=False),
        Hearts(),
        PrisonersDilemma(turns=20, noise=0.2),
        RockPaperScissors(rounds=15),
        Nim(),
        Gomoku(rows=4, columns=5, in_a_row=3),
        Hex(size=4),
        Breakthrough(rows=6, columns=4),
        DotsAndBoxes(rows=2, columns=3),
        Pancake(n=4),
        Pancake(n=3, burnt=True),
        Hanoi(discs=2),
        TopSpin(n=5, k=2),
    ],
    ids=lambda game: f"{game.name}-{len(settings(game))}",
)
def test_a_board_draws_every_state_and_offers_every_action(game: Game, tmp_path: Path) -> None:
    """Each shape has a key of its own. Each action of a seat can be clicked within the picture."""
    asked: list[tuple[str, list[str]]] = []
    for state, _ in random_match(game, 3):
        seat = game.to_move(state)
        moving = seat != CHANCE and not game.is_terminal(state)
        actions = [game.format_action(state, action) for action in game.actions(state)] if moving else []
        asked.append((game.format_state(state), actions))
        asked += [
            (game.format_state(game.observation(state, each)), actions if each == seat else []) for each in range(game.players)
        ]
    for (text, actions), (words, shapes, keys, inside, clicked) in zip(asked, draw_states(game, tmp_path, asked), strict=True):
        assert words, text
        assert shapes == keys > 0, text
        assert (inside, sorted(clicked)) == (True, sorted(actions)), text


@pytest.mark.usefixtures("node")
def test_scores_on_boards_agree_with_the_rules(tmp_path: Path) -> None:
    """The scores are points in Hearts, mean payoffs in the prisoner's dilemma, and rounds won, at the end of random matches."""
    hearts, dilemma = Hearts(), PrisonersDilemma(turns=9)
    for seed in range(3):
        *_, (end, _) = random_match(hearts, seed)
        ((words, *_),) = draw_states(hearts, tmp_path, [(hearts.format_state(end), [])])
        assert words.startswith(f"points {', '.join(map(str, end.points))};")
        *_, (played, _) = random_match(dilemma, seed)
        ((words, *_),) = draw_states(dilemma, tmp_path, [(dilemma.format_state(played), [])])
        assert words.endswith("a {:.2f}, b {:.2f}".format(*dilemma.returns(played)))
    rounds = RockPaperScissors(rounds=7)
    *_, (last, _) = random_match(rounds, random.Random(1).randrange(9))
    ((words, *_),) = draw_states(rounds, tmp_path, [(rounds.format_state(last), [])])
    assert words.endswith("a {:.0f}, b {:.0f}".format(*(7 * share for share in rounds.returns(last))))


def test_tiles_in_their_goal_positions_have_no_colour() -> None:
    """Colours mark the other tiles. A colour counts as grey if its channels differ by at most a tenth."""
    source = str(load_board_module(SlidingTiles).source)
    rules = dict(re.findall(r"\.(tile-home|tile-number-home) \{(.*?)\}", source))
    assert len(rules) == 2
    for colour in re.findall("#([0-9a-f]{6})", "".join(rules.values())):
        channels = bytes.fromhex(colour)
        assert max(channels) - min(channels) <= 25, colour
