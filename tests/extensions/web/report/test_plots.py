"""Plots agree with brute force over the store, and are drawn correctly."""

import re
from dataclasses import replace
from math import inf
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from arena import run
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena_web.live import describe_board
from arena_web.rating_curve import rating_points
from arena_web.report.cross import cross_plot
from arena_web.report.drawing import USUAL, _settings, inline, plots_of, whole
from arena_web.report.evidence import Evidence, Findings, MatchSummary, read
from arena_web.report.palette import PAGE, PAPER, VARIABLES
from arena_web.report.plot import MAX_LINES
from arena_web.report.puzzle_plots import budget_plot, cactus_plot, quality_plot
from arena_web.report.ratings import convergence_plot, ratings_plot

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


def test_the_data_of_the_plots_agrees_with_the_records(found: Findings, played: Path) -> None:
    """Moves, and nodes and seconds of the first seat, are summed over the decisions of each match."""
    with Store.open(played / "cup.db") as store:
        records = {place.number: record for record, place in store.records(boards=True) if place is not None}
    matches = [match for evidence in found.boards for match in evidence.matches]
    assert len(matches) == len(records)
    for match in matches:
        record = records[match.place]
        assert (match.moves, match.cost, match.returns) == (record.moves, record.cost, record.returns)
        own = [decision for decision in record.decisions if decision.seat == 0]
        assert (match.effort.decisions, match.effort.nodes) == (len(own), sum(decision.nodes for decision in own))
        assert match.effort.seconds == pytest.approx(sum(decision.seconds for decision in own))


def test_the_last_ratings_in_the_plot_over_the_run_are_those_of_the_leaderboard(versus: Evidence) -> None:
    """The last of twenty points includes all matches, so its ratings are the ratings of the table. The numbers of matches
    increase.
    """
    points = rating_points(versus.sheet, tuple(versus.scored))
    assert len(points) == 20
    assert [point.played for point in points] == sorted({point.played for point in points})
    assert points[-1].played == versus.board.games
    for row in versus.board.rows:
        assert points[-1].values[versus.sheet.labels.index(row["agent"])] == pytest.approx(row["rating"], abs=1e-6)


def test_the_last_ratings_in_the_plot_are_those_of_the_leaderboard_if_an_agent_lost_all_games(tmp_path: Path) -> None:
    """Games repeat, and one agent loses everything. The last point is the leaderboard, with zero at the mean of the others."""
    agents = ["random", "lookahead", {"agent": "alpha-beta", "depth": 2}, {"agent": "alpha-beta", "depth": 3}]
    run({"game": {"name": "connect-four", "columns": 5}, "agents": agents, "rounds": 6}, store=tmp_path / "open.db")
    (found,) = read(tmp_path / "open.db").boards
    assert "zero" in found.board.facts
    last = rating_points(found.sheet, tuple(found.scored))[-1]
    for row in found.board.rows:
        assert last.values[found.sheet.labels.index(row["agent"])] == pytest.approx(row["rating"], abs=1e-6)


@pytest.mark.parametrize(("ranked_by", "key"), [("score", "score"), ("mean_return", "mean_return"), ("rating", "rating")])
def test_the_curve_over_the_run_shows_the_ranking_value(versus: Evidence, ranked_by: str, key: str) -> None:
    """The last point has the values of the table, whichever of them determines the ranks."""
    plot = convergence_plot(replace(versus, board=replace(versus.board, ranked_by=ranked_by)))
    assert plot is not None
    assert plot.title == {"score": "Score", "mean_return": "Mean return", "rating": "Ratings"}[ranked_by] + " over the run"
    last = dict(zip(plot.headings[1:], plot.rows[-1][1:], strict=True))
    assert last == pytest.approx({row["agent"]: row[key] for row in versus.board.rows}, abs=1e-6)


def test_plots_by_seconds_show_entries_with_comparable_times(puzzle: Evidence) -> None:
    """The cell of the most solved positions is an entry's longest time. An entry without times on the leaderboard has no line."""
    plot = cactus_plot(puzzle, "seconds")
    assert plot is not None
    labels = puzzle.sheet.labels
    assert [row[0] for row in plot.rows] == [labels[entry] for entry in puzzle.ranked]
    times = {label: sorted(match.effort.seconds for match in puzzle.scored if match.solved and labels[match.seats[0]] == label)
             for label in labels}  # fmt: skip
    most = max(map(len, times.values()))
    assert {row[0]: row[-1] for row in plot.rows} == {
        label: known[-1] if len(known) == most else None for label, known in times.items()
    }
    first, *others = puzzle.board.rows
    untimed = replace(puzzle, board=replace(puzzle.board, rows=({**first, "seconds_per_attempt": None}, *others)))
    for draw in (cactus_plot, budget_plot):
        found, by_nodes = draw(untimed, "seconds"), draw(untimed)
        assert found is None or first["agent"] not in [row[0] for row in found.rows]
        assert by_nodes is not None
        assert first["agent"] in [row[0] for row in by_nodes.rows]


def test_solved_by_budget_agrees_with_a_count(puzzle: Evidence) -> None:
    """The share at each budget of the table counts the attempts that were solved within it."""
    plot = next(plot for plot in plots_of(puzzle) if plot.name == "budget-nodes")
    for label, *shares in plot.rows:
        own = [match for match in puzzle.scored if puzzle.sheet.labels[match.seats[0]] == label]
        for heading, share in zip(plot.headings[1:], shares, strict=True):
            budget = float(heading)
            within = [match for match in own if match.solved and match.effort.nodes <= budget]
            assert share == pytest.approx(len(within) / len(own))
    assert max(float(heading) for heading in plot.headings[1:]) > 0


@pytest.mark.unit
def test_quality_by_budget_agrees_with_a_sum(puzzle: Evidence) -> None:
    """The quality at each budget of the table adds up the lowest cost of the round over the cost of each solution within it. If
    all solutions of each round cost the same, the plot would repeat the solved shares, so it is left out.
    """
    plot = quality_plot(puzzle)
    assert plot is not None
    cheapest = {
        one.round: min(
            other.cost for other in puzzle.scored if other.solved and other.round == one.round and other.cost is not None
        )
        for one in puzzle.scored
        if one.solved
    }
    for label, *values in plot.rows:
        own = [match for match in puzzle.scored if puzzle.sheet.labels[match.seats[0]] == label]
        for heading, value in zip(plot.headings[1:], values, strict=True):
            within = [match for match in own if match.solved and match.effort.nodes <= float(heading)]
            assert value == pytest.approx(sum(cheapest[match.round] / (match.cost or 1) for match in within) / len(own))
    alike = replace(puzzle, matches=tuple(match for match in puzzle.matches if match.cost == cheapest.get(match.round)))
    assert any(match.solved for match in alike.matches)
    assert quality_plot(alike) is None


LIMITED = {
    "game": {"name": "sliding-tiles", "shuffle": 40},
    "rounds": 20,
    "limits": {"nodes": 300},
    "agents": ["greedy", "a-star", {"agent": "bfs", "limits": {"nodes": 150}}, {"agent": "a-star", "heuristic": "misplaced"}],
}


def test_no_share_is_shown_above_the_limit_of_an_agent(tmp_path: Path) -> None:
    """Solvers stop at 300 nodes or at 150, and their curves end there."""
    run(LIMITED, store=tmp_path / "limited.db")
    (evidence,) = read(tmp_path / "limited.db").boards
    plot = next(plot for plot in plots_of(evidence) if plot.name == "budget-nodes")
    ends = {}
    for entry, label in enumerate(evidence.sheet.labels):
        most = {"bfs": 150, "greedy": inf}.get(label, 300)
        ran_out = [match.effort for match in evidence.scored if match.seats == (entry,) and match.effort.nodes >= most]
        assert bool(ran_out) == (label != "greedy")
        ends[label] = min((effort.nodes for effort in ran_out), default=inf)
    assert [ends[label] for label in evidence.sheet.labels] == [inf, 300, 150, 300]
    for named, *shares in plot.rows:
        for heading, share in zip(plot.headings[1:], shares, strict=True):
            assert (share is None) == (float(heading) > ends[str(named)])
    assert "A line ends at the nodes at which a limit stopped an attempt" in plot.text
    assert whole(plot, "svg")


def test_the_last_budget_is_the_largest_limit_if_all_are_limited(tmp_path: Path) -> None:
    """Only three limited solvers play, so the budgets do not continue to the next power of ten."""
    run({**LIMITED, "agents": LIMITED["agents"][1:]}, store=tmp_path / "limited.db")  # type: ignore[index]
    (evidence,) = read(tmp_path / "limited.db").boards
    plot = next(plot for plot in plots_of(evidence) if plot.name == "budget-nodes")
    last = max(map(float, plot.headings[1:]))
    assert last == 300
    assert whole(plot, "svg")


def test_a_drawing_is_well_formed_and_follows_the_theme(versus: Evidence, puzzle: Evidence) -> None:
    """Each drawing has a role, a name, a description and real text, and the page can change all its colours and fonts. A label
    that looks like a part of the drawing is unchanged. As in tables, the minus is a hyphen, so that a search of the page for
    -100 succeeds.
    """
    drawn = [
        (evidence, plot, inline(plot, f"k{n}")) for evidence in (versus, puzzle) for n, plot in enumerate(plots_of(evidence))
    ]
    assert {plot.name for _, plot, _ in drawn} == {
        *("ratings", "cross", "convergence", "budget-nodes", "cactus-nodes", "budget-seconds", "cactus-seconds", "scatter"),
        *("quality-nodes", "quality-seconds"),
    }
    for _, plot, text in drawn:
        tree = ET.fromstring(text)
        assert tree.get("role") == "img"
        assert [child.tag for child in tree[:2]] == [f"{SVG}title", f"{SVG}desc"]
        assert tree[0].text == plot.title
        assert not set(re.findall(r"#[0-9a-f]{6}", text)) - {"#01a0f1"}, "a label has this colour"
        assert not any(colour in text for colour in VARIABLES if colour != PAGE.ink)
        assert "<style" not in text
        assert "font-family" not in text
        texts = {"".join(part.itertext()) for part in tree.iter(f"{SVG}text")}
        assert texts
        assert not any("mathdefault" in one for one in texts)
        assert "\u2212" not in text
    assert any(">-" in text for _, _, text in drawn)
    ratings = ET.fromstring(next(text for _, plot, text in drawn if plot.name == "ratings"))
    texts = {"".join(part.itertext()).strip("\u200b") for part in ratings.iter(f"{SVG}text")}
    assert '_ id="x" #01a0f1 $囲$' in texts
    assert "<script>alert(1)</script>" in texts, "a long label is not cut"


def test_axes_of_counts_have_ticks_only_at_whole_numbers(puzzle: Evidence) -> None:
    """One or two positions are solved. The ticks are at 0, 1 and 2, but not at 0.25 or 0.5."""
    from matplotlib.figure import Figure

    few = replace(puzzle, matches=tuple([match._replace(solved=match.solved and match.round < 2) for match in puzzle.matches]))
    plot = next(plot for plot in plots_of(few) if plot.name == "cactus-nodes")
    axes = Figure().add_subplot()
    plot.draw(axes, PAPER)
    ticks = axes.get_xticks()
    assert len(ticks) >= 2
    assert [tick for tick in ticks if tick != int(tick)] == []


def test_one_sided_intervals_are_drawn_to_the_edge_of_the_plot(versus: Evidence) -> None:
    """An agent that won everything has only a lower bound, so its line ends in an arrow."""
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


@pytest.mark.parametrize(("agents", "letter"), [(2, "W"), (9, "W"), (10, "a"), (12, "i")])
def test_numbers_in_a_cross_table_fit_into_their_squares(versus: Evidence, agents: int, letter: str) -> None:
    """All cells are 100.0 and the labels are long. Numbers that would be too small to read are left out."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = tuple([{**versus.board.rows[0], "agent": letter * 20 + str(number)} for number in range(agents)])
    plot = cross_plot(replace(versus.board, rows=rows, cross=tuple([tuple([1.0] * agents)] * agents)))
    assert plot is not None
    with rc_context(_settings(PAPER, USUAL)):
        figure = Figure(figsize=(USUAL.width, plot.height), layout="constrained")
        axes = figure.add_subplot()
        plot.draw(axes, PAPER)
        figure.draw_without_rendering()
        wide = [text.get_window_extent().width for text in axes.texts]
        left, right = axes.transData.transform([(0, 0), (0.96, 0)])[:, 0]
    assert len(wide) == (0 if (agents, letter) == (9, "W") else agents**2)
    assert all(width < right - left for width in wide)


def test_a_board_without_matches_has_no_plots(versus: Evidence, puzzle: Evidence) -> None:
    for evidence in (versus, puzzle):
        nobody = tuple([tuple([None] * len(evidence.board.rows))] * len(evidence.board.rows))
        rows = tuple([row | {"rating": None} for row in evidence.board.rows])
        board = replace(evidence.board, rows=rows, cross=None if evidence.board.cross is None else nobody)
        assert plots_of(replace(evidence, board=board, matches=())) == []


@pytest.mark.parametrize(("style", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_plot_files_have_the_right_type_and_are_reproducible(versus: Evidence, style: str, begins: bytes) -> None:
    plot = plots_of(versus)[0]
    content = whole(plot, style)
    assert content.startswith(begins)
    assert content == whole(plot, style)


def test_a_plot_of_a_large_field_mentions_its_limit(versus: Evidence) -> None:
    """Of fifty agents, the plot shows the best ones, and the table shows all."""
    row = dict(versus.board.rows[0])
    many = replace(versus.board, rows=tuple([row | {"agent": f"agent {k}"} for k in range(50)]))
    plot = ratings_plot(many)
    assert plot is not None
    assert "best 30 of 50" in plot.text
    assert len(plot.rows) == 50


def test_sixteen_agents_have_distinct_lines_and_whole_labels(puzzle: Evidence) -> None:
    """Colours, markers and fillings distinguish sixteen agents. Of seventeen, one is left out, and the plot knows the number."""
    styles = [tuple(map(str, PAPER.line(number).items())) for number in range(MAX_LINES)]
    assert (
        len({(dict(PAPER.line(number))["color"], "markerfacecolor" in PAPER.line(number)) for number in range(MAX_LINES)}) == 16
    )
    assert len(set(styles)) == 16
    for count in (16, 17):
        label = "an-agent-with-a-long-name(heuristic=linear-conflict, weight=1.5)"
        labels = tuple([f"{label} {number}" for number in range(count)])
        rows = tuple([{**puzzle.board.rows[0], "agent": one} for one in labels])
        matches = tuple([match._replace(seats=(number,)) for number in range(count) for match in puzzle.matches[:2]])
        sheet = replace(puzzle.sheet, labels=labels)
        many = replace(puzzle, sheet=sheet, board=replace(puzzle.board, rows=rows, sheet=sheet), matches=matches)
        for plot in [plot for plot in plots_of(many) if plot.name != "scatter"]:
            assert (len(plot.lines), plot.left_out) == (16, count - 16), plot.name
            if count > MAX_LINES:
                continue
            texts = " ".join(["".join(part.itertext()) for part in ET.fromstring(inline(plot, "k")).iter(f"{SVG}text")])
            assert all(one.replace(" ", "") in texts.replace(" ", "") for one in labels[:16])


def test_matches_of_a_pairing_share_one_tuple_of_seats(versus: Evidence) -> None:
    """This saves memory for large runs."""
    seats = [match.seats for match in versus.matches]
    assert len({id(one) for one in seats}) == len(set(seats))
    assert all(isinstance(match, MatchSummary) for match in versus.matches)


def test_plots_of_a_puzzle_count_attempts(tmp_path: Path) -> None:
    """Each attempt at the only position counts."""
    spec = {"game": {"name": "hanoi", "discs": 2}, "rounds": 4, "agents": ["bfs", "uniform-cost"]}
    run(spec, store=tmp_path / "cup.db")
    plot = cactus_plot(read(tmp_path / "cup.db").boards[0])
    assert plot is not None
    assert (plot.title, plot.headings[-1]) == ("Attempts solved, by nodes", "4 solved")


@pytest.mark.parametrize(("game", "caption"), [("tic-tac-toe", "Score of each row"), ("hearts", "How often each row finishes")])
def test_the_cross_table_of_every_page_says_what_its_numbers_are(game: str, caption: str) -> None:
    """Hearts has four seats, so its cross-table compares the order in which agents finish."""
    labels = [{"agent": "random", "label": name} for name in "abcd"][: 4 if game == "hearts" else 2]
    [board] = Leaderboard.of_results(run({"game": game, "rounds": 1, "agents": labels}))
    plot = cross_plot(board)
    assert plot is not None
    assert plot.text.startswith(caption)
    assert describe_board(board)["cross_title"].startswith(caption)
