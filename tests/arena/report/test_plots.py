"""What the plots show, held against the store by brute force, and how they are drawn."""

import random
import re
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import median, quantiles
from xml.etree import ElementTree as ET

import pytest

from arena import run
from arena.report.cross import cross_plot
from arena.report.difficulty import groups_of, scale_of, shares_of
from arena.report.drawing import WIDTH, _settings, inline, plots_of, whole
from arena.report.evidence import Evidence, Findings, MatchSummary, read
from arena.report.palette import PAGE, PAPER, VARIABLES
from arena.report.plot import short
from arena.report.ratings import ratings_plot
from arena.report.spread import _summary
from arena.results.leaderboard import Leaderboard
from arena.results.rating_curve import rating_points
from arena.store import Store

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def found(played: Path) -> Findings:
    return read(played / "cup.db")


@pytest.fixture(scope="module")
def versus(found: Findings) -> Evidence:
    return found.boards[0]


@pytest.fixture(scope="module")
def puzzle(found: Findings) -> Evidence:
    return found.boards[2]


def rows(evidence: Evidence, name: str) -> list[tuple[object, ...]]:
    return [row for plot in plots_of(evidence) if plot.name == name for row in plot.rows]


def test_the_evidence_is_what_the_records_say(found: Findings, played: Path) -> None:
    """Moves, nodes and seconds of each seat, match by match, added up from the decisions themselves."""
    with Store.open(played / "cup.db") as store:
        records = {place.number: record for record, place in store.records(boards=True) if place is not None}
    matches = [match for evidence in found.boards for match in evidence.matches]
    assert len(matches) == len(records)
    for match in matches:
        record = records[match.place]
        assert (match.moves, match.cost, match.returns) == (record.moves, record.cost, record.returns)
        for seat, effort in enumerate(match.efforts):
            own = [decision for decision in record.decisions if decision.seat == seat]
            assert (effort.decisions, effort.nodes) == (len(own), sum(decision.nodes for decision in own))
            assert effort.seconds == pytest.approx(sum(decision.seconds for decision in own))


def test_ratings_over_the_run_end_at_the_leaderboard(versus: Evidence) -> None:
    """The last of twenty points has all matches, so its ratings are those of the table, and the points go forward."""
    points = rating_points(versus.sheet, tuple(versus.scored))
    assert len(points) == 20
    assert [point.played for point in points] == sorted({point.played for point in points})
    assert points[-1].played == versus.board.games
    for row in versus.board.rows:
        assert points[-1].values[versus.sheet.labels.index(row["agent"])] == pytest.approx(row["rating"], abs=1e-6)


def test_solved_by_difficulty_counts_every_attempt_once(puzzle: Evidence) -> None:
    """The groups hold all positions, the hard ones last, and their counts add up to the leaderboard's."""
    scale = scale_of(tuple(puzzle.scored))
    assert scale is not None
    assert scale.name == "Least cost found"
    groups = groups_of(scale, {match.round for match in puzzle.scored})
    members = [round_ for group in groups for round_ in group.rounds]
    assert sorted(members) == sorted({match.round for match in puzzle.scored})
    hardest = [max(scale.of[round_] for round_ in group.rounds) for group in groups if group.name != "nobody"]
    assert hardest == sorted(hardest)
    for entry, shares in shares_of(puzzle, groups).items():
        row = next(row for row in puzzle.board.rows if row["agent"] == puzzle.sheet.labels[entry])
        assert sum(share.attempts for share in shares) == row["attempts"]
        assert sum(share.solved for share in shares) == round(row["solved"] * row["attempts"])


def test_least_costs_are_the_optimum_where_a_star_solved(puzzle: Evidence) -> None:
    """A* with an admissible heuristic is optimal, so nobody found less; in whatever order the agents played."""
    scale = scale_of(tuple(puzzle.scored))
    assert scale is not None
    backwards = scale_of(tuple(reversed(list(puzzle.scored))))
    assert backwards is not None
    assert backwards.of == scale.of
    solved = [m for m in puzzle.scored if m.solved and puzzle.sheet.labels[m.seats[0]] == "a-star"]
    assert solved
    assert all(scale.of[match.round] == match.cost for match in solved)


def test_solutions_without_costs_are_told_apart_by_nodes(found: Findings) -> None:
    """Queens cost nothing to compare, so the median of all agents' nodes says what is hard."""
    queens = found.boards[3]
    scale = scale_of(tuple([match._replace(cost=None) for match in queens.scored]))
    assert scale is not None
    assert scale.name == "Median nodes"
    for round_, value in scale.of.items():
        assert value == median([match.efforts[0].nodes for match in queens.scored if match.round == round_])


@pytest.mark.parametrize("unit", ["nodes", "seconds"])
def test_solved_by_budget_is_a_plain_count(puzzle: Evidence, unit: str) -> None:
    """For each budget of the table, how many attempts were solved with no more than it."""
    plot = next(plot for plot in plots_of(puzzle) if plot.name == f"budget-{unit}")
    for label, *shares in plot.rows:
        own = [match for match in puzzle.scored if puzzle.sheet.labels[match.seats[0]] == label]
        for heading, share in zip(plot.headings[1:], shares, strict=True):
            budget = float(heading)
            within = [match for match in own if match.solved and getattr(match.efforts[0], unit) <= budget]
            assert share == pytest.approx(len(within) / len(own))
    assert max(float(heading) for heading in plot.headings[1:]) > 0


LIMITED = {
    "game": {"name": "sliding-tiles", "shuffle": 40},
    "rounds": 40,
    "limits": {"nodes": 300},
    "agents": ["greedy", "a-star", {"agent": "bfs", "limits": {"nodes": 150}}, {"agent": "a-star", "heuristic": "misplaced"}],
}


@pytest.mark.parametrize("unit", ["nodes", "seconds"])
def test_nothing_is_shown_of_a_budget_that_nobody_had(unit: str, tmp_path: Path) -> None:
    """Solvers stop at 300 nodes, and at 150: their shares end there, in seconds with the first attempt that was stopped."""
    run(LIMITED, store=tmp_path / "limited.db")
    (evidence,) = read(tmp_path / "limited.db").boards
    plot = next(plot for plot in plots_of(evidence) if plot.name == f"budget-{unit}")
    ends = {}
    for entry, label in enumerate(evidence.sheet.labels):
        most = {"bfs": 150, "greedy": inf}.get(label, 300)
        ran_out = [match.efforts[0] for match in evidence.scored if match.seats == (entry,) and match.efforts[0].nodes >= most]
        assert bool(ran_out) == (label != "greedy")
        ends[label] = min((getattr(effort, unit) for effort in ran_out), default=inf)
    if unit == "nodes":
        assert [ends[label] for label in evidence.sheet.labels] == [inf, 300, 150, 300]
    for named, *shares in plot.rows:
        for heading, share in zip(plot.headings[1:], shares, strict=True):
            assert (share is None) == (float(heading) > ends[str(named)])
    assert "A line ends where a limit stopped an attempt" in plot.text
    assert whole(plot, "svg")


@pytest.mark.parametrize("unit", ["nodes", "seconds"])
def test_the_last_budget_is_the_limit_where_all_are_limited(unit: str, tmp_path: Path) -> None:
    """Three solvers alone: no power of ten is above what the most patient of them had."""
    run({**LIMITED, "agents": LIMITED["agents"][1:]}, store=tmp_path / "limited.db")  # type: ignore[index]
    (evidence,) = read(tmp_path / "limited.db").boards
    plot = next(plot for plot in plots_of(evidence) if plot.name == f"budget-{unit}")
    last = max(map(float, plot.headings[1:]))
    if unit == "nodes":
        assert last == 300
    assert last <= max(getattr(match.efforts[0], unit) for match in evidence.scored if match.efforts[0].nodes >= 150)
    assert whole(plot, "svg")


def test_distributions_have_the_quantiles_of_the_standard_library(versus: Evidence) -> None:
    values = sorted(random.Random(5).choices(range(1000), k=41))
    cuts = quantiles(values, n=20, method="inclusive")
    assert list(_summary(values))[3:8] == pytest.approx([cuts[0], cuts[4], cuts[9], cuts[14], cuts[18]])
    for label, count, mean, least, *_, most in rows(versus, "moves"):
        entry = versus.sheet.labels.index(str(label))
        moves = [match.moves or 0 for match in versus.scored if entry in match.seats]
        assert (count, least, most) == (len(moves), min(moves), max(moves))
        assert mean == pytest.approx(sum(moves) / len(moves))


def test_a_drawing_is_well_formed_and_follows_the_page(found: Findings) -> None:
    """Each has a role, a name and a description, text as text, and no colour or font that the page could not change."""
    drawn = [(evidence, plot, inline(plot, f"k{n}")) for evidence in found.boards for n, plot in enumerate(plots_of(evidence))]
    assert {plot.name for _, plot, _ in drawn} == {
        *("ratings", "cross", "convergence", "difficulty", "budget-nodes", "budget-seconds", "moves", "nodes"),
        *("cactus-nodes", "cactus-seconds", "scatter"),
    }
    for _, plot, text in drawn:
        tree = ET.fromstring(text)
        assert tree.get("role") == "img"
        assert [child.tag for child in tree[:2]] == [f"{SVG}title", f"{SVG}desc"]
        assert tree[0].text == plot.title
        assert not set(re.findall(r"#[0-9a-f]{6}", text)) - {"#01a0f1"}, "the one that a label has"
        assert not any(colour in text for colour in VARIABLES if colour != PAGE.ink)
        assert "<style" not in text
        assert "font-family" not in text
        texts = {"".join(part.itertext()) for part in tree.iter(f"{SVG}text")}
        assert texts
        assert not any("mathdefault" in one for one in texts)


def test_a_label_that_looks_like_the_drawings_own_words_stays_as_it_is(versus: Evidence) -> None:
    plot = next(plot for plot in plots_of(versus) if plot.name == "ratings")
    texts = {"".join(part.itertext()).strip("\u200b") for part in ET.fromstring(inline(plot, "k")).iter(f"{SVG}text")}
    assert '_ id="x" #01a0f1 $囲$' in texts
    assert "<script>al…</script>" in texts, "a long one keeps both its ends"


def test_counts_have_ticks_at_whole_numbers_alone(puzzle: Evidence) -> None:
    """Solutions that all have eight moves: one tick, at 8, and not at 7.6 and 7.8."""
    same = replace(puzzle, matches=tuple([match._replace(moves=8, solved=True) for match in puzzle.matches]))
    plot = next(plot for plot in plots_of(same) if plot.name == "moves")
    labels = {row[0] for row in plot.rows} | {"Moves of a solution"}
    texts = {"".join(part.itertext()) for part in ET.fromstring(inline(plot, "k")).iter(f"{SVG}text")}
    assert texts - {short(str(label)) for label in labels} == {"8"}


def test_one_sided_intervals_reach_the_edge(versus: Evidence) -> None:
    """An agent that won everything has a lower bound alone: its line ends in an arrow, one more mark than it would have."""
    board = versus.board
    sure = [row | {"rating_low": -100.0, "rating_high": 100.0} for row in board.rows]
    open_ = [sure[0] | {"rating_high": None}, *sure[1:]]
    plots = [ratings_plot(changed(board, made)) for made in (sure, open_)]
    assert all(plots)
    assert plots[1] is not None
    assert plots[1].rows[0][3] is None
    assert inline(plots[1], "k") != inline(plots[0], "k")  # type: ignore[arg-type]


def changed(board: Leaderboard, made: list[dict[str, object]]) -> Leaderboard:
    return replace(board, rows=tuple(made))


@pytest.mark.parametrize(("agents", "letter"), [(2, "W"), (9, "W"), (9, "a"), (10, "a"), (12, "i")])
def test_numbers_in_a_cross_table_stay_in_their_squares(versus: Evidence, agents: int, letter: str) -> None:
    """As they are drawn, beside long labels and with 100.0 everywhere; where they would be too small to read there are none."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = tuple([{**versus.board.rows[0], "agent": letter * 20 + str(number)} for number in range(agents)])
    plot = cross_plot(replace(versus.board, rows=rows, cross=tuple([tuple([1.0] * agents)] * agents)))
    assert plot is not None
    with rc_context(_settings(PAPER)):
        figure = Figure(figsize=(WIDTH, plot.height), layout="constrained")
        axes = figure.add_subplot()
        plot.draw(axes, PAPER)
        figure.draw_without_rendering()
        wide = [text.get_window_extent().width for text in axes.texts]
        left, right = axes.transData.transform([(0, 0), (0.96, 0)])[:, 0]
    assert len(wide) == (0 if (agents, letter) == (9, "W") else agents**2)
    assert all(width < right - left for width in wide)


def test_minus_is_one_sign(versus: Evidence) -> None:
    """The one of the tables, in every plot: a page that is searched for -100 finds it."""
    found = [inline(plot, "k") for plot in plots_of(versus)]
    assert any(">-" in drawn for drawn in found)
    assert not any("\u2212" in drawn for drawn in found)


def test_a_board_without_matches_has_no_plots(versus: Evidence, puzzle: Evidence) -> None:
    for evidence in (versus, puzzle):
        nobody = tuple([tuple([None] * len(evidence.board.rows))] * len(evidence.board.rows))
        rows = tuple([row | {"rating": None} for row in evidence.board.rows])
        board = replace(evidence.board, rows=rows, cross=None if evidence.board.cross is None else nobody)
        assert plots_of(replace(evidence, board=board, matches=())) == []


@pytest.mark.parametrize(("style", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_files_are_what_they_are_called_and_the_same_again(versus: Evidence, style: str, begins: bytes) -> None:
    plot = plots_of(versus)[0]
    content = whole(plot, style)
    assert content.startswith(begins)
    assert content == whole(plot, style)


def test_a_field_too_large_for_a_plot_says_so(versus: Evidence) -> None:
    """Fifty agents: the plot has the best of them, the table all."""
    row = dict(versus.board.rows[0])
    many = replace(versus.board, rows=tuple([row | {"agent": f"agent {k}"} for k in range(50)]))
    plot = ratings_plot(many)
    assert plot is not None
    assert "best 30 of 50" in plot.text
    assert len(plot.rows) == 50


def test_matches_are_light_enough_for_a_night(versus: Evidence) -> None:
    """Pairings share one object for who sat where."""
    seats = [match.seats for match in versus.matches]
    assert len({id(one) for one in seats}) == len(set(seats))
    assert all(isinstance(match, MatchSummary) for match in versus.matches)
