"""Writes the positions in which an agent lost most, as a file that other commands read and as tests for pytest."""

import os
import pprint
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from arena import Game, Puzzle
from arena.api.games import NO_HEURISTIC
from arena.api.match import legal_action
from arena.api.results import BoardInfo
from arena.api.store import write_whole
from arena_review.api import BEST
from arena_review.judging import Judging
from arena_review.matches import PlayedDecision, list_decisions
from arena_review.summary import CostlyPosition

TESTS = '''"""{count} in which {label} lost most, as `arena review` has found them. Each test asks the agent for a good move."""

from pathlib import Path

import pytest

import arena

GAME = {game}
PLUGINS = [{plugins}]
AGENT = {entry}
HEURISTIC = {heuristic}
LIMITS = {limits}
POSITIONS = {positions}


@pytest.mark.parametrize(("position", "good"), POSITIONS)
def test_it_plays_a_good_move(position, good):
    """It lost here with another move."""
    agents = [AGENT] * {players}
    record = arena.play(GAME, agents, position=position, limits=LIMITS, heuristics=HEURISTIC, plugins=PLUGINS)
    assert record.actions, record.message
    assert record.actions[0] in good
'''


def list_good(judging: Judging, board: int, position: CostlyPosition, find: Callable[[Any], Any]) -> list[str]:
    """Return the actions that lose nothing in a position, according to the judges of the board."""
    game = judging.game_of(board)
    state = game.parse_state(position.position)
    good = []
    for decision in list_decisions(game, position.position):
        verdict = judging.verdict(board, PlayedDecision(decision, 0, 0, 0), lambda key: judging.ask(key, find))
        if verdict is not None and verdict.grade == BEST:
            good.append(decision.action_text)
    if not good and position.best is not None:
        good.append(game.format_action(state, legal_action(game, state, position.best)))
    return good


def describe_positions(
    sheet: BoardInfo, label: str, positions: Sequence[tuple[CostlyPosition, Sequence[str]]], game: Game
) -> dict[str, Any]:
    """Return the contents of a file with positions of `game`."""
    number = sheet.labels.index(label)
    settings = (
        sheet.settings[number] if number < len(sheet.settings) else {"agent": label, "options": {}, "heuristic": None, "key": ""}
    )
    entry: dict[str, Any] = {"agent": settings["agent"], **settings["options"]}
    if settings["heuristic"] is not None:
        heuristic = settings["heuristic"]
        entry["heuristic"] = (
            {"name": heuristic["name"], **heuristic["parameters"]} if heuristic["parameters"] else heuristic["name"]
        )
    elif game.default_heuristic is not None:
        entry["heuristic"] = NO_HEURISTIC
    listed = []
    for one, good in positions:
        told = {"position": one.position, "good": list(good), "played": one.action, "class": one.grade, "games": one.times}
        if one.total is not None:
            told["lost"] = one.total
        listed.append({**told, "judge": one.judge, "match": one.match})
    limits = {name: int(limit) if float(limit).is_integer() else limit for name, limit in sheet.limits_of(number).items()}
    return {
        "game": sheet.game if len(sheet.game) > 1 else sheet.game["name"],
        "entry": entry,
        "limits": limits,
        "positions": listed,
    }


def write_positions(place: Path, label: str, document: Mapping[str, Any]) -> None:
    """Write a file of positions."""
    head = f"# Positions in which {label} lost most, the costliest first, with the moves that lose nothing.\n"
    text = yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    write_whole(place, (head + text).encode())


def write_tests(place: Path, label: str, document: Mapping[str, Any], plugins: Sequence[str], game: Game) -> None:
    """Write tests for pytest. The tests name a plugin file by its path relative to their folder."""
    folder = place.resolve().parent
    named = [
        f"str(Path(__file__).parent / {os.path.relpath(Path(plugin).resolve(), folder)!r})"
        if Path(plugin).is_file()
        else repr(plugin)
        for plugin in plugins
    ]
    positions = [(one["position"], one["good"]) for one in document["positions"]]
    entry = {key: value for key, value in document["entry"].items() if key != "heuristic"}
    text = TESTS.format(
        count="A position" if len(positions) == 1 else f"{len(positions)} positions",
        label=label,
        game=repr(document["game"]),
        plugins=", ".join(named),
        entry=repr(entry["agent"] if len(entry) == 1 else entry),
        heuristic=repr(document["entry"].get("heuristic")),
        limits=repr(document["limits"] | ({} if isinstance(game, Puzzle) else {"moves": 1})),
        positions=pprint.pformat(positions, width=110),
        players=game.players,
    )
    write_whole(place, text.encode())
