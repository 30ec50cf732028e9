"""A board of the format `best-of` names the same winner as the contest that scheduled its games."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena
from arena import Pairing
from arena.format import Outcomes
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Tally
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena_pairings.best_of import BestOf, ContestResult

AGENTS = """
from arena import Agent, hookimpl

class Resigning(Agent):
    name = "resigning"
    def choose(self, game, state, search):
        return None

@hookimpl
def arena_agents():
    return [Resigning]
"""


def play(tmp_path: Path, agents: list[Any], **options: Any) -> tuple[arena.Results, Path]:
    (tmp_path / "resigning.py").write_text(AGENTS)
    spec = {
        "game": "tic-tac-toe",
        "plugins": [str(tmp_path / "resigning.py")],
        "openings": {"plies": 2},
        "format": {"name": "best-of", **options},
        "agents": agents,
    }
    return arena.run(spec, store=tmp_path / "cup.db"), tmp_path / "cup.db"


@pytest.mark.parametrize(
    ("agents", "options"),
    [
        (["resigning", "greedy"], {"risk": 0.2}),
        (["resigning", "random", "greedy"], {"risk": 0.3, "margin": 100}),
        (["greedy", {"agent": "greedy", "label": "twin"}, "random"], {"margin": 300, "risk": 0.4, "games": 200}),
        (["random", {"agent": "random", "label": "twin"}], {"games": 16}),
    ],
)
def test_the_leaderboard_agrees_with_the_contest(tmp_path: Path, agents: list[Any], options: dict[str, Any]) -> None:
    """The contest computed from the stored records gives the same result as the contest that drew the pairs."""
    results, store = play(tmp_path, agents, **options)
    format_ = results.spec.boards[0].format
    assert isinstance(format_, BestOf)
    assert format_.contest is not None
    labels = [seat.label for seat in results.spec.boards[0].seats]
    expected = ContestResult.of(labels, format_.contest, format_.margin, format_.risk)
    [board] = Leaderboard.load(store)
    found = board.facts["conclusion"]
    assert (found["winner"], found["still_in"], found["level"]) == (expected.winner, expected.still_in, expected.level)
    assert (found["margin"], found["risk"]) == (options.get("margin", 5.0), options.get("risk", 0.05))
    assert expected.describe(finished=True) in board.remarks
    assert json.loads(json.dumps(board.as_dict()))["conclusion"]["winner"] == expected.winner


def test_the_winner_wins_every_game(tmp_path: Path) -> None:
    _, store = play(tmp_path, ["resigning", "greedy"])
    [board] = Leaderboard.load(store)
    assert "greedy wins the contest: greedy is the best of 2 (error probability at most 5 %)." in board.remarks
    assert board.facts["conclusion"]["winner"] == "greedy"


def test_an_undecided_contest_names_the_remaining_agents(tmp_path: Path) -> None:
    """With two games per round and at most eight games, two evaluations cannot decide at a risk of 5 %."""
    _, store = play(tmp_path, ["resigning", "greedy"], games=8)
    [board] = Leaderboard.load(store)
    assert "The contest ended without a winner: resigning and greedy are still in it." in board.remarks
    with Store.open(store) as opened:
        sheet = opened.last().boards[0]
    assert sheet.options == {"margin": 5.0, "risk": 0.05, "games": 8}
    older = {name: value for name, value in sheet.as_dict().items() if name != "options"}
    read, without = BoardInfo.from_json(json.dumps([sheet.as_dict(), older]))
    assert read == sheet
    assert Tally(without).conclusion() is None, "the margin is unknown"
    for options, words in (({"margin": "x"}, "0.options.margin: expected a number"), ({"size": 1}, "0.options.size: ")):
        with pytest.raises(ValueError, match=words):
            BoardInfo.from_json(json.dumps([{**sheet.as_dict(), "options": options}]))


@pytest.mark.parametrize("missing", [0, 1, 7])
def test_incomplete_rounds_are_not_evaluated(missing: int) -> None:
    """The first agent wins all 40 rounds, but one game is missing, so only the groups of four rounds before it count."""
    board = BoardInfo("cup", {}, "versus", ("a", "b"), 200_000, exact=False)
    outcomes = Outcomes()
    for round_ in range(40):
        for seats in ((0, 1), (1, 0)):
            if (round_, seats) != (missing, (1, 0)):
                outcomes.add(Pairing(round_, seats), (1.0, -1.0) if seats == (0, 1) else (-1.0, 1.0))
    assert BestOf().conclude(board, outcomes).winner is None
    outcomes.add(Pairing(missing, (1, 0)), (-1.0, 1.0))
    assert BestOf().conclude(board, outcomes).winner == "a"


def test_void_games_and_repeats_do_not_count() -> None:
    """No agent wins if each pair has a void game, or if all pairs are the same and without chance."""
    board = BoardInfo("cup", {}, "versus", ("a", "b"), 200_000, exact=False)
    void, same = Outcomes(), Outcomes()
    for round_ in range(40):
        for seats in ((0, 1), (1, 0)):
            got = (1.0, -1.0) if seats == (0, 1) else (-1.0, 1.0)
            void.add(Pairing(round_, seats), got if seats == (0, 1) else None)
            same.add(Pairing(round_, seats), got, play_hash=seats[0])
    assert BestOf().conclude(board, void).winner is BestOf().conclude(board, same).winner is None


def test_an_entry_with_a_bye_scores_half_a_point() -> None:
    """In a round of three, the bye is known before the draw."""
    board = BoardInfo("cup", {}, "versus", ("a", "b", "c"), 200_000, exact=False)
    outcomes = Outcomes()
    for round_ in range(4):
        outcomes.add(Pairing(round_, (0, 1)), (1.0, -1.0))
        outcomes.add(Pairing(round_, (1, 0)), (-1.0, 1.0))
    seen: list[Any] = []
    format_ = BestOf()
    score = format_._score_round
    format_._score_round = lambda *given: seen.append(score(*given)) or seen[-1]  # type: ignore[method-assign,func-returns-value]
    format_.conclude(board, outcomes)
    assert np.array_equal(seen, [[1.0, 0.0, 0.5]] * 4)
