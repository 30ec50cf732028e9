"""Compare the strategies of the Axelrod library with the library itself, in its own matches and by recorded payoffs."""

import json
import os
import random
import subprocess
import sys
import warnings
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.identity import Stream
from arena.spec import load_spec
from arena_bridges.axelrod.agent import AxelrodStrategy
from arena_games.prisoners_dilemma import PrisonersDilemma
from tests.conftest import Missing
from tests.eventually import DEADLINE_SECONDS

ROOT = Path(__file__).parents[3]
PAYOFFS = json.loads((ROOT / "tests" / "agents" / "axelrod_4_14.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def axelrod(missing: Missing) -> Any:
    """Return the library, which takes long to import."""
    if find_spec("axelrod") is None:
        missing("axelrod", "axelrod is not installed: pip install '.[axelrod]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the library itself
        import axelrod
    return axelrod


def entry(strategy: str) -> dict[str, str]:
    return {"agent": "axelrod", "strategy": strategy, "label": strategy}


def choose(agent: AxelrodStrategy, game: PrisonersDilemma, state: Any, seed: str = "seat") -> str:
    """Return the action of an agent with the random stream of a seat."""
    search: Any = type("Asked", (), {"rng": Stream(seed)})()
    return str(agent.choose(game, state, search))


def test_payoffs_of_twelve_strategies_agree_with_the_library(axelrod: Any) -> None:
    """A round-robin of twelve deterministic strategies gives 132 payoffs, and draws no random number."""
    names = PAYOFFS["strategies"]
    records = arena.run({"game": "prisoners-dilemma", "rounds": 1, "agents": [entry(name) for name in names]}).records
    met = {record.labels: record for record in records}
    pairs = list(combinations(names, 2))
    assert 2 * len(pairs) == 132
    for one, two in pairs:
        record = met[one, two]
        assert [round(got * 200) for got in record.returns] == [
            PAYOFFS["totals"][one][names.index(two)],
            PAYOFFS["totals"][two][names.index(one)],
        ]
        assert record.drew == (False, False)


def test_every_strategy_plays_as_in_the_library(axelrod: Any) -> None:
    """Each strategy plays 25 turns against random actions. Stochastic strategies get the same seed."""
    from arena_bridges.axelrod.strategies import all_strategies, refusal

    game, rng = PrisonersDilemma(turns=25), random.Random(7)
    drawn = [rng.choice("CCD") for _ in range(25)]
    playing = {name: kind for name, kind in all_strategies().items() if refusal(kind) is None}
    assert len(playing) > 200
    for name, kind in playing.items():
        agent = AxelrodStrategy(strategy=name)
        player, other = kind(), axelrod.MockPlayer([axelrod.Action.from_char(each) for each in drawn])
        match = axelrod.Match([player, other], turns=25)
        stochastic = axelrod.Classifiers["stochastic"](player)
        player.set_seed(Stream("seat").getrandbits(31) if stochastic else 0)
        player.set_match_attributes(**match.match_attributes)
        state = ""
        for turn in drawn:
            own, _ = match.simultaneous_play(player, other)
            assert choose(agent, game, state) == str(own), (name, state)
            state += str(own) + turn


def test_choices_depend_only_on_history_and_seed(axelrod: Any) -> None:
    """A new agent chooses the same for a history as an agent that has played it. A different seed gives different choices."""
    game, rng = PrisonersDilemma(turns=60, noise=0.1), random.Random(1)
    for name in ("Random", "Grudger", "FirstByJoss", "FirstByGraaskamp", "EvolvedLookerUp2_2_2", "MetaHunter"):
        kept, state, done = AxelrodStrategy(strategy=name), "", []
        for _ in range(30):
            choice = choose(kept, game, state)
            done.append(choice)
            assert choose(kept, game, state) == choice  # a repeated question is the same turn
            flipped = "DC"["CD".index(choice)] if rng.random() < 0.1 else choice
            state += flipped + rng.choice("CD")
        assert choose(AxelrodStrategy(strategy=name), game, state) == choose(kept, game, state)
        assert choose(kept, game, "") == done[0]
    coins = [choose(AxelrodStrategy(strategy="Random"), game, "", seed=str(number)) for number in range(20)]
    assert set(coins) == {"C", "D"}


def test_the_1980_tournament_has_the_strategies_of_the_library(axelrod: Any) -> None:
    """The matches have 200 turns, and the leaderboard is ranked by returns."""
    spec = load_spec(ROOT / "tournaments" / "axelrod-1980.yaml")
    (board,) = spec.boards
    playing = {json.loads(seat.identity)["options"]["strategy"] for seat in board.seats}
    assert playing == {kind.__name__ for kind in axelrod.axelrod_first_strategies}
    assert board.game.turns == 200  # type: ignore[attr-defined]
    assert board.ranked_by == "returns"


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ("TitForTa", r"strategy: unknown 'TitForTa'; did you mean TitForTat"),
        ("grudger", r"did you mean Grudger\?"),
        ("xyzzy", "lists them"),
        ("Darwin", "strategy: Darwin cannot play in arena: it reads the source code or the memory of its opponent"),
        ("MetaMajority", "its matches take too long"),
    ],
)
def test_unknown_and_unplayable_strategies_are_refused(axelrod: Any, strategy: str, message: str) -> None:
    with pytest.raises(arena.SpecError, match=message):
        load_spec({"game": "prisoners-dilemma", "agents": [entry(strategy), "grim"]})


def test_the_error_for_an_entry_without_the_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import is blocked, even if the library is installed."""
    monkeypatch.setitem(sys.modules, "axelrod", None)
    with pytest.raises(arena.SpecError, match=r"agents\[0\]: axelrod is not installed: pip install 'axelrod<4.14,>=4.13'$"):
        load_spec({"game": "prisoners-dilemma", "agents": [entry("TitForTat"), "grim"]})


def test_the_table_of_strategies_says_how_to_install_the_library(tmp_path: Path) -> None:
    (tmp_path / "axelrod.py").write_text('raise ModuleNotFoundError("No module named \'axelrod\'", name="axelrod")\n')
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command, environment = [sys.executable, "-m", "arena_bridges.axelrod"], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=DEADLINE_SECONDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "axelrod is not installed: pip install 'axelrod<4.14,>=4.13'\n"
