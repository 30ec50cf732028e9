"""The benefit of shared dice and deals: the variance of a pair of matches with separate chance, divided by the variance with
shared chance.
"""

from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

import arena

if TYPE_CHECKING:
    from tests.bench.conftest import Bench


def equilibrium(alpha: float) -> str:
    """Return a policy for both seats from Kuhn's family of equilibria (1950). With a jack, the first seat bets with a
    probability of `alpha`.
    """
    bets = {
        "J?:": alpha,
        "Q?:": 0.0,
        "K?:": 3 * alpha,
        "J?:pb": 0.0,
        "Q?:pb": alpha + 1 / 3,
        "K?:pb": 1.0,
        "?J:p": 1 / 3,
        "?Q:p": 0.0,
        "?K:p": 1.0,
        "?J:b": 0.0,
        "?Q:b": 1 / 3,
        "?K:b": 1.0,
    }
    return "".join([f"{seen}\tbet={bet!r} pass={1 - bet!r}\n" for seen, bet in bets.items()])


def saved(spec: dict[str, Any]) -> float:
    """Return the variance of pairs with matches from two rounds, divided by the variance of pairs with matches from one round."""
    records = arena.run(spec).records
    first = records[0].labels[0]
    mine = [record.returns[record.labels.index(first)] for record in records]
    forward, backward = mine[::2], mine[1::2]
    shared = variance([fmean(pair) for pair in zip(forward, backward, strict=True)])
    apart = variance([fmean(pair) for pair in zip(forward, backward[1:] + backward[:1], strict=True)])
    return apart / shared


def test_shared_dice_reduce_the_variance_of_a_pair_of_pig_matches(bench: "Bench") -> None:
    """Hold at 20 plays against hold at 25 for 2,500 rounds. In both matches of a round, a seat has the same dice."""
    agents = [{"agent": "hold-at", "at": 20}, {"agent": "hold-at", "at": 25}]
    bench.at_least(
        2.5, "pig: variance of a pair, own dice / shared dice", saved({"game": "pig", "rounds": 2500, "agents": agents}), "x"
    )


def test_shared_cards_reduce_the_variance_of_a_pair_of_kuhn_poker_matches(bench: "Bench", tmp_path: Path) -> None:
    """Two equilibria play 3,000 rounds."""
    agents = []
    for name, alpha in (("never", 0.0), ("third", 1 / 3)):
        file = tmp_path / f"{name}.txt"
        file.write_text(equilibrium(alpha))
        agents.append({"agent": "policy-table", "file": str(file), "label": name})
    spec = {"game": "kuhn-poker", "rounds": 3000, "agents": agents}
    bench.at_least(4.0, "kuhn: variance of a pair, own cards / shared cards", saved(spec), "x")
