"""The strategies of the Axelrod library against the library itself: its own matches, and payoffs that it gave elsewhere."""

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
from arena_bridges.axelrod import AxelrodStrategy
from arena_games.prisoners_dilemma import PrisonersDilemma
from tests.conftest import Missing
from tests.eventually import DEADLINE_SECONDS

ROOT = Path(__file__).parents[3]
PAYOFFS = json.loads((ROOT / "tests" / "agents" / "axelrod_4_14.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def axelrod(missing: Missing) -> Any:
    """The library, which takes long to import."""
    if find_spec("axelrod") is None:
        missing("axelrod", "axelrod is not installed: pip install '.[axelrod]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        import axelrod
    return axelrod


def entry(strategy: str) -> dict[str, str]:
    return {"agent": "axelrod", "strategy": strategy, "label": strategy}


def asked(agent: AxelrodStrategy, game: PrisonersDilemma, state: Any, seed: str = "seat") -> str:
    """What an agent does, with the random stream of a seat."""
    search: Any = type("Asked", (), {"rng": Stream(seed)})()
    return str(agent.choose(game, state, search))


def test_all_payoffs_of_twelve_deterministic_strategies_are_the_library_s(axelrod: Any) -> None:
    """132 of them, played by the referee in a round-robin; no random number is drawn."""
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


def test_every_strategy_plays_as_it_does_in_the_library(axelrod: Any) -> None:
    """All that can play, stochastic ones with their seeds: 25 turns against an opponent that does anything."""
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
            assert asked(agent, game, state) == str(own), (name, state)
            state += str(own) + turn


def test_choices_follow_from_history_and_seed_alone(axelrod: Any) -> None:
    """An agent that meets a history anew does what one does that has seen it grow; with another seed, something else."""
    game, rng = PrisonersDilemma(turns=60, noise=0.1), random.Random(1)
    for name in ("Random", "Grudger", "FirstByJoss", "FirstByGraaskamp", "EvolvedLookerUp2_2_2", "MetaHunter"):
        kept, state, done = AxelrodStrategy(strategy=name), "", []
        for _ in range(30):
            choice = asked(kept, game, state)
            done.append(choice)
            assert asked(kept, game, state) == choice  # asked twice, it is the same turn
            flipped = "DC"["CD".index(choice)] if rng.random() < 0.1 else choice
            state += flipped + rng.choice("CD")
        assert asked(AxelrodStrategy(strategy=name), game, state) == asked(kept, game, state)
        assert asked(kept, game, "") == done[0]
    coins = [asked(AxelrodStrategy(strategy="Random"), game, "", seed=str(number)) for number in range(20)]
    assert set(coins) == {"C", "D"}


def test_the_spec_of_the_first_tournament_has_its_strategies(axelrod: Any) -> None:
    """As the library lists them, over 200 turns; Elo is not what ranks."""
    spec = load_spec(ROOT / "tournaments" / "axelrod-1980.yaml")
    (board,) = spec.boards
    playing = {json.loads(seat.identity)["options"]["strategy"] for seat in board.seats}
    assert playing == {kind.__name__ for kind in axelrod.axelrod_first_strategies}
    assert board.game.turns == 200  # type: ignore[attr-defined]
    assert board.ranked_by == "returns"


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ("TitForTa", r"strategy: unknown 'TitForTa'; did you mean TitForTat"),
        ("grudger", r"did you mean Grudger\?"),
        ("xyzzy", "lists them"),
        ("Darwin", "strategy: Darwin cannot play here: it reads the source code or the memory of its opponent"),
        ("MetaMajority", "its matches take too long"),
    ],
)
def test_a_strategy_that_cannot_play_is_a_fault_of_the_spec(axelrod: Any, strategy: str, told: str) -> None:
    with pytest.raises(arena.SpecError, match=told):
        load_spec({"game": "prisoners-dilemma", "agents": [entry(strategy), "grim"]})


def test_without_the_library_the_name_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is installed or not: here it cannot be imported."""
    monkeypatch.setitem(sys.modules, "axelrod", None)
    with pytest.raises(arena.SpecError, match=r"agents\[0\]: axelrod is not installed: pip install 'axelrod<4.14,>=4.13'$"):
        load_spec({"game": "prisoners-dilemma", "agents": [entry("TitForTat"), "grim"]})


def test_without_the_library_the_table_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "axelrod.py").write_text('raise ModuleNotFoundError("No module named \'axelrod\'", name="axelrod")\n')
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command, environment = [sys.executable, "-m", "arena_bridges.axelrod"], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=DEADLINE_SECONDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "axelrod is not installed: pip install 'axelrod<4.14,>=4.13'\n"
