"""The summary of the decisions of an entry."""

from typing import Any

import pytest

from arena_review.api import BEST, DECISIVE
from arena_review.judges import JUDGES
from arena_review.kept import Judged
from arena_review.summary import sum_up
from arena_review.texts import agents_table, groups_lines, how_sure


def decide(**changes: Any) -> Judged:
    """A decision that loses 1, with other values for some fields."""
    known = dict.fromkeys(Judged._fields, 0) | {"match": "m", "loss": 1.0, "grade": DECISIVE, "judge": "exact"}
    return Judged(**{**known, **changes})


@pytest.mark.parametrize(
    ("plies", "names"),
    [
        (12, ["1 to 5", "6 to 10", "11 to 15"]),
        (40, ["1 to 5", "6 to 10", "11 to 15", "16 to 20", "21 to 25", "26 to 30", "31 to 35", "36 to 40"]),
        (41, ["1 to 10", "11 to 20", "21 to 30", "31 to 40", "41 to 50"]),
        (1000, ["1 to 125", "126 to 250", "251 to 375", "376 to 500", "501 to 625", "626 to 750", "751 to 875", "876 to 1000"]),
    ],
)
def test_long_matches_have_wide_groups_of_plies(plies: int, names: list[str]) -> None:
    """There are at most 8 groups, whose width is a multiple of 5. Each group contains all of its decisions."""
    found = sum_up(0, "one", [decide(number=ply, ply=ply) for ply in range(plies)], {}).by_ply
    assert [group.name for group in found] == names
    width = int(names[0].split()[-1])
    assert [group.decisions for group in found] == [min(width, plies - before) for before in range(0, plies, width)]


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ([2, 9, 10, 19, 20, 89], ["2", "9", "10 to 19", "20 to 29", "80 to 89"]),
        ([2, 9, 10, 19, 20, 90], ["2", "9", "10 to 29", "90 to 109"]),
        ([2, 400], ["2", "360 to 409"]),
    ],
)
def test_large_numbers_of_legal_actions_are_grouped(choices: list[int], names: list[str]) -> None:
    """Numbers below 10 have their own group. Above, there are at most 8 groups, and their width is a multiple of 10."""
    found = sum_up(0, "one", [decide(number=number, choices=count) for number, count in enumerate(choices)], {}).by_choices
    assert [group.name for group in found] == names
    assert sum(group.decisions for group in found) == len(choices)


def test_openings_with_long_names_get_their_own_lines() -> None:
    """Positions of Othello on one line would take 1,000 characters."""
    board = "......../......../...o..../..oo..../...ox.../...xx.../....x.../........ x"
    found = sum_up(0, "one", [decide(number=0, opening=board), decide(number=1, opening="initial")], {})
    lines = list(groups_lines(found))
    assert lines[-3:] == ["one: loss per decision by opening:", f"  {board}: 1 (1)", "  initial: 1 (1)"]


@pytest.mark.parametrize(("exact", "estimated"), [(0, 6), (2, 6)])
def test_the_table_and_the_text_below_it_count_the_same_estimates(exact: int, estimated: int) -> None:
    """The expected number is that of all decisions except the exact ones. Estimates count as not judged."""
    decisions = [decide(number=number, grade=BEST, loss=0.0) for number in range(exact)]
    decisions += [decide(number=exact + number, grade=None, judge="estimate") for number in range(estimated)]
    review = sum_up(0, "one", decisions, {})
    table = agents_table([review], "plain", None)
    assert f"{100 * estimated / (exact + estimated):.1f} %" in table.splitlines()[-1]
    lines = list(how_sure([JUDGES["exact"], JUDGES["estimate"]], [review]))
    judged = [line for line in lines if " judged " in line]
    assert len(judged) == bool(exact)
    assert all(line.startswith(f"The judge exact judged {exact} of {len(decisions)} decisions.") for line in judged)
    assert f"only estimates for {estimated} of {len(decisions)} decisions" in lines[-1]
