"""CFR+ compared with open_spiel's in Python in the same run, and how near it comes to an equilibrium of Leduc poker."""

from typing import TYPE_CHECKING

import pytest

from arena_agents.solved_game import CFRPlus
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_solution.best_response import nash_gap
from arena_solution.sequence_form import sequence_form

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

ITERATIONS = 100
LEDUC = 2000


def test_cfr_plus_on_kuhn_poker(bench: "Bench") -> None:
    """A hundred iterations, including the tree for them; the aim is at most 1.5 times the time of open_spiel in Python."""
    pyspiel = pytest.importorskip("pyspiel")
    cfr = pytest.importorskip("open_spiel.python.algorithms.cfr")

    def theirs() -> None:
        solver = cfr.CFRPlusSolver(pyspiel.load_game("kuhn_poker"))
        for _ in range(ITERATIONS):
            solver.evaluate_and_update_policy()
        solver.average_policy()

    timings = bench.in_turns(lambda: CFRPlus(iterations=ITERATIONS).solution(KuhnPoker()), theirs, rounds=5)
    bench.at_most(1.5, "CFR+ on Kuhn poker, 100 iterations / open_spiel in Python", timings.ratio, "x")


def test_cfr_plus_on_leduc_poker(bench: "Bench") -> None:
    """After two thousand iterations, the exploitability should be below 1e-4."""
    game, agent = LeducPoker(), CFRPlus(iterations=LEDUC)
    gap = nash_gap(sequence_form(game), lambda _, observation: agent.policy(game, observation))
    bench.at_most(1e-4, f"CFR+ on Leduc poker, {LEDUC} iterations: exploitability", gap.exploitability, " chips")
