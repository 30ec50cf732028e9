"""How many games a ladder of forty agents needs until every interval is narrow, and whether the intervals then hold."""

from typing import TYPE_CHECKING

from tests.extensions.ladder.simulation import ideal, ladder, round_robin, strengths

if TYPE_CHECKING:
    from tests.bench.conftest import Bench


def test_forty_agents_take_half_the_games_of_a_round_robin(bench: "Bench") -> None:
    """The strengths have a normal distribution with a standard deviation of 200 Elo. Equal agents draw 20 % of their games. The
    half-widths must be at most 50 Elo, relative to the median agent.
    """
    truth = strengths(40, 1)
    course, (low, high) = ladder(truth, 50, 1), ideal(truth, 50)
    bench.at_most(
        0.5, "games of a ladder / of a round-robin", course.games / round_robin(truth, 50, 1), "", games=f"{course.games:,}"
    )
    bench.at_most(1.3, "games of a ladder / of the ideal design", course.games / low, "", bounds=f"{low:,.0f} to {high:,.0f}")


def test_the_intervals_hold_though_the_games_were_chosen(bench: "Bench") -> None:
    """When ladders of twelve agents stop, 93 to 97 % of the intervals contain the true strength."""
    fields = [ladder(strengths(12, seed), 50, seed) for seed in range(300, 340)]
    share = sum(one.covered for one in fields) / sum(len(one.widths) for one in fields)
    bench.at_least(0.93, "coverage of 440 intervals", share, "")
    bench.at_most(0.97, "coverage of 440 intervals, from above", share, "")
