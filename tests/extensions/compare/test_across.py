"""`arena compare --across`: every figure recomputed from the records by pandas and scipy."""

import json
import re
from dataclasses import replace
from io import StringIO
from itertools import combinations
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.api.store import Store
from arena.cli import cli
from arena.stats import holm_chances
from arena_compare.across import across_csv, across_document, across_text, summarise_store
from arena_compare.domains import (
    AcrossComparison,
    DomainEffect,
    combine_domains,
    correct,
    describe_solvers,
    group_entries,
    rank_entries,
)
from arena_compare.plugin import arena_comparisons
from arena_compare.puzzle_comparison import Attempt
from arena_web.report.evidence import findings
from arena_web.report.latex_report import latex_report
from tests.extensions.compare.test_random_effects import bound, find_spread

SPEC = {
    "name": "across",
    "games": [
        {"name": "sliding-tiles", "shuffle": 12},
        {"name": "sliding-tiles", "shuffle": 25},
        {"name": "pancake", "n": 6},
        {"name": "top-spin", "n": 6, "k": 2, "shuffle": 5},
        {"name": "hanoi", "discs": 3},
        {"name": "tic-tac-toe"},
    ],
    "rounds": 8,
    "seed": 3,
    "limits": {"nodes": 60},
    "openings": {"plies": 2},
    "agents": ["a-star", "bfs", {"agent": "greedy", "label": "greedy"}, "random"],
}
DIGITS = 1e-9


def called(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["compare", *arguments], catch_exceptions=True, standalone_mode=False)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, pd.DataFrame]:
    path = tmp_path_factory.mktemp("store") / "across.db"
    puzzles = {**SPEC, "games": SPEC["games"][:5], "openings": None}  # type: ignore[index]
    return str(path), arena.run(puzzles, store=path).to_dataframe()


@pytest.fixture(scope="module")
def found(played: tuple[str, pd.DataFrame]) -> dict[str, Any]:
    return dict(json.loads(called(played[0], "--across", "--format", "json").output))


def clip(bounds: tuple[float, float]) -> list[float]:
    """The bounds of a difference of shares, which is from -1 to 1."""
    return [min(1.0, max(-1.0, bound)) for bound in bounds]


def refer(frame: pd.DataFrame, one: str, other: str) -> list[tuple[str, list[float]]]:
    """The difference of each position by domain, in the order of the spec."""
    wide = frame.pivot_table(index=["board", "round"], columns="agent", values="solved", sort=False).astype(float)
    leads = wide[one] - wide[other]
    return [(board, list(leads.loc[board])) for board in frame["board"].unique()]


def test_each_figure_agrees_with_a_recomputation(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    """These are effects and errors for each domain, the overall answer and both tests. Agents without an overall answer are
    included.
    """
    _, frame = played
    pairs = {(pair["one"], pair["other"]): pair for pair in found["pairs"]}
    assert len(pairs) == 6
    chances = dict(zip(pairs, holm_chances([pair["overall"]["p_value"] for pair in pairs.values()]), strict=True))
    for (one, other), pair in pairs.items():
        domains = refer(frame, one, other)
        assert [domain["domain"] for domain in pair["domains"]] == [board for board, _ in domains]
        effects, errors = [], []
        for domain, (_, leads) in zip(pair["domains"], domains, strict=True):
            padded = pd.Series([*leads, 0.0])
            number = len(leads)
            squares = float((padded**2).sum()) + 1  # +1 and -1, each with half weight
            variance = (squares - float(padded.sum()) ** 2 / (number + 2)) / (number + 2) ** 2
            assert domain["rounds"] == number
            assert domain["value"] == pytest.approx(sum(leads) / number, abs=DIGITS)
            assert domain["error"] == pytest.approx(variance**0.5, rel=DIGITS)
            low, high = clip(stats.t.interval(0.95, number - 1, domain["value"], domain["error"]))
            assert [domain["low"], domain["high"]] == pytest.approx([low, high], rel=DIGITS)
            effects.append(domain["value"])
            errors.append(domain["error"])
        overall, level = pair["overall"], chances[one, other]
        assert overall["value"] == pytest.approx(sum(effects) / 5, abs=DIGITS)
        squares = sum(float(((pd.Series(leads) - pd.Series(leads).mean()) ** 2).sum()) for _, leads in domains)
        freedom = 40 - 5 + 3  # three more rounds differ
        within = sqrt((squares + 3) / freedom / 40), freedom
        assert overall["within"] == pytest.approx(within, rel=DIGITS)
        bounds = clip(bound(effects, within, level))
        assert [overall["low"], overall["high"]] == pytest.approx(bounds, rel=DIGITS, abs=DIGITS)
        assert overall["spread"] == pytest.approx(find_spread(effects, errors), rel=DIGITS, abs=1e-7)
        if len({abs(effect) for effect in effects}) == 5 and 0 not in effects:
            assert pair["wilcoxon"]["p_value"] == pytest.approx(stats.wilcoxon(effects, method="exact").pvalue)
        moved = [effect for effect in effects if effect]
        sign = stats.binomtest(sum(effect > 0 for effect in moved), len(moved)).pvalue if moved else 1
        assert pair["sign"]["p_value"] == pytest.approx(sign)
        weights = 1 / pd.Series(errors) ** 2
        squared = (weights * (pd.Series(effects) - (weights * pd.Series(effects)).sum() / weights.sum()) ** 2).sum()
        assert pair["cochran"]["p_value"] == pytest.approx(stats.chi2.sf(squared, 4), rel=DIGITS)
        assert pair["cochran"]["p_value_holm"] >= pair["cochran"]["p_value"] == overall["spread_p_value"]
    assert pairs["a-star", "random"]["overall"]["value"] > 0.2


def test_figures_of_solvers_agree_with_a_recomputation(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    """These are solved shares, PAR2 and the contribution of each entry for each domain."""
    _, frame = played
    solvers = {(one["domain"], one["agent"]): one for one in found["solvers"]}
    for board, part in frame.groupby("board"):
        limit = 2 * part["nodes"].max()
        spent = part.pivot_table(index="round", columns="agent", values="nodes").where(
            part.pivot_table(index="round", columns="agent", values="solved").astype(bool)
        )
        searching = spent.drop(columns="random")  # which reports no nodes
        best = searching.min(axis=1)
        everywhere, counted = spent.notna().all(axis=1), searching.notna().all(axis=1)
        for agent in spent.columns:
            one = solvers[board, agent]
            assert one["solved"] == pytest.approx(spent[agent].notna().mean(), abs=DIGITS)
            assert one["searches"] == (agent != "random")
            if agent == "random":
                assert (one["par2"], one["contribution"], one["nodes"]) == (None, None, None)
                continue
            assert one["par2"] == pytest.approx(spent[agent].fillna(limit).mean(), rel=DIGITS)
            without, virtual_par2 = searching.drop(columns=agent).min(axis=1).fillna(limit).mean(), best.fillna(limit).mean()
            assert one["contribution"] == (pytest.approx(without / virtual_par2, rel=DIGITS) if virtual_par2 else None)
            logs = spent.loc[counted, agent].clip(lower=1).map(log)
            assert one["nodes"] == (pytest.approx(exp(logs.mean()), rel=DIGITS) if counted.any() else None)
        virtual = solvers[board, "virtual best"]
        assert virtual["solved"] == pytest.approx(best.notna().mean())
        assert virtual["par2"] == pytest.approx(best.fillna(limit).mean(), rel=DIGITS)
        solved = part[part["round"].isin(everywhere[everywhere].index) & (part["agent"] != "random")]
        chosen = solved.sort_values(["nodes", "path_cost"]).drop_duplicates("round")  # the cost is that of the entry chosen
        assert virtual["cost"] == (pytest.approx(chosen["path_cost"].mean(), rel=DIGITS) if len(chosen) else None)


def test_ratios_of_nodes_use_positions_that_both_solved(played: tuple[str, pd.DataFrame]) -> None:
    path, frame = played
    document = json.loads(called(path, "a-star", "bfs", "--across", "--by", "nodes", "--format", "json").output)
    (pair,) = document["pairs"]
    assert pair["ratio"] is True
    solved = (
        frame[frame["solved"].astype(bool)]
        .pivot_table(index=["board", "round"], columns="agent", values="nodes")
        .dropna(subset=["a-star", "bfs"])
    )
    logs = (solved["a-star"].map(log) - solved["bfs"].map(log)).groupby(level="board").mean()
    assert {one["domain"]: one["value"] for one in pair["domains"]} == pytest.approx(
        {board: exp(value) for board, value in logs.items()}, rel=DIGITS
    )
    text = called(path, "a-star", "bfs", "--across", "--by", "nodes").output
    assert text.startswith("a-star and bfs across 5 domains by nodes, over the rounds that both solved\n")
    assert f"x {pair['overall']['value']:.3g} (corrected interval x {pair['overall']['low']:.3g}" in text
    assert "Over all domains, a-star and bfs cannot be told apart" in text, "the nodes of 15 positions differ too much"


def test_par2_counts_an_unsolved_position_as_twice_the_budget() -> None:
    """The budget is the limit, even if no attempt used all of it. Without a limit, PAR2 and figures based on it are unknown."""
    attempts = {"one": {0: Attempt(True, 4, 4.0, 30, 0.1, False), 1: Attempt(False, None, None, 70, 0.1, True)}}
    one, virtual = describe_solvers("d", attempts, limits=dict.fromkeys(attempts, 100))
    assert (one.par2, virtual.par2) == ((30 + 200) / 2, (30 + 200) / 2)
    assert [(each.par2, each.contribution) for each in describe_solvers("d", attempts)] == [(None, None), (None, None)]


def test_csv_output_contains_the_same_values_as_json(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    """There are three tables: pairs in each domain and overall, figures of solvers, and ranks. Without --across, there is a table
    of pairs.
    """
    tables = called(played[0], "--across", "--format", "csv").output.split("\n\n")
    pairs, solvers, entries = [pd.read_csv(StringIO(table)) for table in tables]
    overall = pairs[pairs["domain"] == "all domains"]
    assert overall["value"].tolist() == pytest.approx([pair["overall"]["value"] for pair in found["pairs"]], rel=1e-12)
    assert overall["wilcoxon.p_value"].tolist() == [pair["wilcoxon"]["p_value"] for pair in found["pairs"]]
    assert len(pairs) == 6 * 6
    known = [one["par2"] for one in found["solvers"] if one["par2"] is not None]
    assert solvers["par2"].dropna().tolist() == pytest.approx(known, rel=1e-12)
    assert entries["rank"].tolist() == [entry["rank"] for entry in found["entries"]]
    boards = json.loads(called(played[0], "--format", "json").output)
    simple = pd.read_csv(StringIO(called(played[0], "--format", "csv").output))
    assert simple["difference"].tolist() == pytest.approx([pair["difference"] for board in boards for pair in board["pairs"]])
    assert simple["nodes.estimate.value"].notna().any()


def test_boards_that_an_entry_does_not_share_do_not_change_its_comparisons(
    played: tuple[str, pd.DataFrame], found: dict[str, Any], tmp_path: Path
) -> None:
    """On top of the puzzles, greedy and random play two games. Only their own comparison gets more domains. Without correction,
    all others keep their values. A board that only one entry can play changes nothing at all.
    """
    games: dict[str, list[Any]] = {"puzzles": [], "games": ["tic-tac-toe", "nim"], "alone": ["2048"]}
    agents = [*SPEC["agents"][:3], "ida-star"]  # type: ignore[index]
    documents = {}
    for name, more in games.items():
        spec = {**SPEC, "games": [*SPEC["games"][:5], *more], "openings": None}  # type: ignore[index]
        if name != "games":
            spec |= {"agents": agents, "limits": {"nodes": 60, "moves": 20}}
        arena.run(spec, store=tmp_path / f"{name}.db")
        documents[name] = json.loads(called(str(tmp_path / f"{name}.db"), "--across", "--format", "json").output)
    for pair, same in zip(found["pairs"], documents["games"]["pairs"], strict=True):
        assert (pair["one"], pair["other"]) == (same["one"], same["other"])
        if (pair["one"], pair["other"]) == ("greedy", "random"):
            assert len(same["domains"]) == len(pair["domains"]) + 2
            continue
        assert same["domains"] == pair["domains"]
        for key in ("value", "p_value", "deviation", "within", "spread"):
            assert same["overall"][key] == pair["overall"][key]
    with Store.open(tmp_path / "alone.db") as store:
        assert store.last().boards[-1].labels == ("greedy",)
    for key in ("entries", "groups", "pairs"):
        assert documents["alone"][key] == documents["puzzles"][key]


def find_paths(value: Any, path: str = "") -> set[str]:
    """The dotted paths to all values of a document. Lists of objects count as their objects."""
    if isinstance(value, dict):
        return set().union(*[find_paths(inner, f"{path}.{key}") for key, inner in value.items()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*[find_paths(inner, path) for inner in value])
    return {path.removeprefix(".")}


def test_the_manual_describes_all_keys_in_json(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "runs.md").read_text("utf-8")
    section = page.partition("## Leaderboards and comparisons as JSON\n")[2].partition("\n## ")[0]
    boards, comparison = [
        {key for line in part.splitlines() if line.startswith("| `") for key in re.findall(r"`([^`]+)`", line.split("|")[1])}
        for part in section.split("arena compare STORE --across")
    ]
    assert comparison == find_paths(found) | {"pairs.overall"}
    document = json.loads(CliRunner().invoke(cli, ["leaderboard", played[0], "--format", "json"]).output)
    shown = {path.partition(".rows")[0] + ".rows" if ".rows" in path else path for path in find_paths(document)}
    shown = {re.sub(r"^(environments|boards\.game)\..*", r"\1", path) for path in shown}
    assert boards == shown | {"commitment"}


def test_few_domains_have_no_overall_answer(tmp_path: Path) -> None:
    """There are two games and a puzzle. The output contains the results for each domain and a sentence about the missing overall
    result, and names agents without a common domain.
    """
    spec = {**SPEC, "games": ["tic-tac-toe", {"name": "hanoi", "discs": 2}], "rounds": 3}
    arena.run(spec, store=tmp_path / "few.db")
    text = called(str(tmp_path / "few.db"), "greedy", "random", "--across").output
    assert "No overall answer: there are fewer than 5 shared domains" in text
    assert "all domains" not in text
    every = called(str(tmp_path / "few.db"), "--across").output
    assert "across 2 domains by" in every
    assert "Not told apart" not in every, "so few domains tell nothing of anybody"
    document = json.loads(called(str(tmp_path / "few.db"), "--across", "--format", "json").output)
    assert all(pair["overall"] is None and not pair["domains_disagree"] for pair in document["pairs"])
    assert {entry["rank"] for entry in document["entries"]} == {1}
    tic_tac_toe = {(pair["one"], pair["other"]): pair["domains"][0] for pair in document["pairs"]}["greedy", "random"]
    frame = arena.open_store(tmp_path / "few.db").to_dataframe()
    games = frame[frame["board"] == "tic-tac-toe"]
    points = {
        agent: pd.concat(
            [(games.loc[games[seat] == agent, ["round", f"returns_{seat}"]].rename(columns={f"returns_{seat}": "got"}))
             for seat in ("first", "second")]
        ).groupby("round")["got"].apply(lambda got: ((got + 1) / 2).mean())
        for agent in ("greedy", "random")
    }  # fmt: skip
    assert tic_tac_toe["value"] == pytest.approx((points["greedy"] - points["random"]).mean(), abs=DIGITS)


def test_tables_for_latex_are_valid(played: tuple[str, pd.DataFrame], tmp_path: Path) -> None:
    """They use booktabs, and special characters outside tables are escaped."""
    file = tmp_path / "across.tex"
    assert called(played[0], "--across", "-o", str(file)).return_value == 0
    text = file.read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == text.count(r"\end{tabular}") == 7
    outside, inside = [], False
    for line in text.splitlines()[1:]:
        inside = inside or line.startswith(r"\begin{tabular}")
        outside += [] if inside else [line]
        inside = inside and not line.startswith(r"\end{tabular}")
    assert r"95 \% interval" in " ".join(outside)
    assert not any(character in line.replace(f"\\{character}", "") for line in outside for character in "%_&#$")


def test_all_pairs_are_listed_with_corrected_tests(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    """Pairs have the order of the entries, and Holm's correction covers all of them."""
    names = [entry["agent"] for entry in found["entries"]]
    assert [(pair["one"], pair["other"]) for pair in found["pairs"]] == list(combinations(names, 2))
    raw = sorted(pair["overall"]["p_value"] for pair in found["pairs"])
    assert min(pair["overall"]["p_value_holm"] for pair in found["pairs"]) == pytest.approx(min(1, 6 * raw[0]))
    text = called(played[0], "--across").output
    assert "Not told apart: " in text
    assert "Left out of the virtual best and of all comparisons of nodes, because they report no nodes: random." in text
    assert "Contribution: PAR2 of the virtual best without the entry" in text


def test_a_page_contains_the_tables_and_plots_over_all_domains(played: tuple[str, pd.DataFrame], tmp_path: Path) -> None:
    """Each round that both solved is a point in the colour of its domain, and the page contains the numbers of the plot."""
    path, frame = played
    refused = called(path, "a-star", "greedy", "--across", "-o", "two plots.txt")
    assert "expected a name that ends in .html or .tex" in str(refused.exception)
    assert str(refused.exception).endswith("write --format NAME > 'two plots.txt'")
    refused = called(path, "a-star", "greedy", "--across", "-o", "plots.png")
    assert str(refused.exception).endswith("ends in .html or .tex; a picture alone cannot be written")
    written = called(path, "a-star", "greedy", "--across", "-o", str(tmp_path / "two.html"))
    assert re.search(r"two.html: 1 comparison over \d+ domains, ", written.output)
    page = (tmp_path / "two.html").read_text()
    both = frame[frame["solved"].astype(bool)].pivot_table(index=["board", "round"], columns="agent", values="nodes")
    both = both.dropna(subset=["a-star", "greedy"])
    start = page.index('aria-label="numbers of the plot Generated nodes of greedy divided by those of a-star of all domains"')
    assert page[start : page.index("</table>", start)].count("<tr>") == len(both) + 1
    fewer = int((both["a-star"] < both["greedy"]).sum())
    assert f"a-star needed fewer on {fewer} of {len(both)} rounds, above the line." in page
    assert all(board in page for board in frame["board"].unique())
    assert page.count("<svg") == 2


def test_a_report_contains_the_overall_comparison_of_all_boards(played: tuple[str, pd.DataFrame], found: dict[str, Any]) -> None:
    """The rows of the panel are the pairs of the comparison."""
    with Store.open(Path(played[0])) as store:
        rows = summarise_store(store)
    assert rows is not None
    assert [(row["Agent"], row["Other"]) for row in rows] == [(pair["one"], pair["other"]) for pair in found["pairs"]]
    panel = {"name": "domains", "title": "All boards together", "script": None, "error": None, "data": rows}
    with Store.open(Path(played[0])) as store:
        text = latex_report(findings(store), [], [panel, {**panel, "name": "drawn", "script": "draw"}], "paper")
    assert text.count(r"\label{tab:panel-") == text.count(r"\label{tab:panel-domains}") == 1
    assert text.count(r"\\") == len(rows) + 1
    leads = [round(100 * pair["overall"]["value"], 1) for pair in found["pairs"]]
    assert [float(row["Lead"]) for row in rows] == pytest.approx(leads, abs=0.051)


def test_an_agent_without_nodes_is_not_the_best_by_nodes(played: tuple[str, pd.DataFrame]) -> None:
    """Random play reports no nodes but solves some positions, so it is left out of comparisons by nodes."""
    refused = called(played[0], "a-star", "random", "--across", "--by", "nodes")
    assert "no round of them has a value of nodes for both" in str(refused.exception)
    document = json.loads(called(played[0], "--across", "--by", "nodes", "--format", "json").output)
    assert "random" not in [entry["agent"] for entry in document["entries"]]
    attempts = {
        "one": {0: Attempt(True, 4, 4.0, 30, 0.1, False), 1: Attempt(True, 4, 4.0, 50, 0.1, False)},
        "idle": {0: Attempt(True, 9, 9.0, 0, 0.1, False), 1: Attempt(False, None, None, 0, 0.1, False)},
    }
    one, idle, virtual = describe_solvers("d", attempts, limits=dict.fromkeys(attempts, 100))
    assert (idle.searches, idle.nodes, idle.par2, idle.contribution) == (False, None, None, None)
    assert (virtual.nodes, virtual.par2, virtual.cost) == (one.nodes, one.par2, one.cost)
    assert (one.nodes, one.par2, one.cost) == pytest.approx((sqrt(30 * 50), 40, 4)), "idle decides only where costs count"
    assert [(each.cost_positions, each.nodes_positions) for each in (one, idle, virtual)] == [(1, 2), (1, 0), (1, 2)]
    same = describe_solvers("d", attempts, same={0: 0, 1: 0})
    assert [(each.positions, each.nodes_positions) for each in same] == [(1, 1), (1, 0), (1, 1)]
    text = across_text(["one", "idle"], [combine_domains("one", "idle", [])], [one, idle, virtual], "simple", None)
    assert re.search(
        r"Geometric mean of the nodes on positions that all entries with nodes solve:\n\n +Positions .*\n.*\n *d +2 ", text
    )
    assert re.search(r"Mean cost on positions that all entries solve:\n\n +Positions .*\n.*\n *d +1 ", text)
    assert describe_solvers("d", {"idle": attempts["idle"]}, limits={"idle": 100}) == [replace(idle, solved=0.5, cost=9)]


def test_ranks_marks_and_groups_agree() -> None:
    """With five domains, the p-value of Wilcoxon's test is at least 0.0625. The overall results distinguish two of three
    entries.
    """
    errors = {"same": 0.05, "worse": 0.01}
    effects = {"same": [0.01, -0.02, 0.0, 0.02, -0.01], "worse": [0.5, 0.52, 0.49, 0.51, 0.5]}

    def compare(one: str, other: str, leads: list[float], error: float) -> AcrossComparison:
        found = [
            DomainEffect(f"d{number}", 9, 0.5, 0.5, lead, error, lead - error, lead + error, 9, 0.1)
            for number, lead in enumerate(leads)
        ]
        return combine_domains(one, other, found)

    names = ["best", "same", "worse"]
    pairs = correct(
        [
            compare("best", "same", effects["same"], errors["same"]),
            compare("best", "worse", effects["worse"], errors["worse"]),
            compare("same", "worse", effects["worse"], errors["worse"]),
        ]
    )
    assert min(pair.wilcoxon_p_value for pair in pairs) > 0.05
    assert rank_entries(names, pairs) == {"best": 1, "same": 1, "worse": 3}
    assert group_entries(names, pairs)[1] == [["best", "same"]]
    text = across_text(names, pairs, [], "simple", None)
    assert [line.split()[:2] for line in text.splitlines()[-9:] if line[:1].isdigit()] == [["1", "~"], ["1", "~"], ["3", "worse"]]
    assert "Not told apart: best, same." in text


@pytest.mark.parametrize("by", ["nodes", "cost", "seconds", "solved"])
def test_the_entry_with_lower_amounts_ranks_first(by: str) -> None:
    """Both agents solve all positions, one with a tenth of the other's nodes, cost and seconds in each domain."""
    ranks: dict[str, set[Any]] = {"more": set(), "less": set()}
    for names in (["more", "less"], ["less", "more"]):
        effects = [
            DomainEffect(
                f"d{number}", 9, 1, 1, log(10.0) * (1 if names[0] == "more" else -1), 0.05 + number / 100, None, None, 9, 0.1
            )
            for number in range(6)
        ]
        lower = {one.name: one.lower_is_better for one in arena_comparisons()}[by]
        [pair] = correct([combine_domains(names[0], names[1], effects, by=by, ratio=by != "solved", lower_is_better=lower)])
        document = across_document(names, [pair], [])
        for entry in document["entries"]:
            ranks[entry["agent"]].add((entry["rank"], entry["mean_rank"]))
        csv = across_csv(document).split("\n\n")[-1]
        assert {row["agent"]: row["rank"] for _, row in pd.read_csv(StringIO(csv)).iterrows()} == {
            entry["agent"]: entry["rank"] for entry in document["entries"]
        }
        assert group_entries(names, [pair])[1] == []
    best, worst = ("more", "less") if by == "solved" else ("less", "more")
    assert ranks[best] == {(1, 1.0)}
    assert ranks[worst] == {(2, 2.0)}


@pytest.mark.parametrize("by", ["nodes", "cost"])
def test_mean_ranks_by_amounts_agree_with_scipy(played: tuple[str, pd.DataFrame], by: str) -> None:
    """scipy ranks geometric means over the positions that both agents of a pair solved. The lowest mean ranks first."""
    path, frame = played
    names = ["a-star", "bfs"]
    document = json.loads(called(path, *names, "--across", "--by", by, "--format", "json").output)
    column = {"nodes": "nodes", "cost": "path_cost"}[by]
    solved = frame[frame["solved"].astype(bool)]
    wide = solved.pivot_table(index=["board", "round"], columns="agent", values=column)[names].dropna()
    means = wide.clip(lower=1e-9).map(log).groupby("board").mean().round(9)
    expected = stats.rankdata(means, axis=1).mean(axis=0)
    assert [entry["mean_rank"] for entry in document["entries"]] == pytest.approx(list(expected))
    text = called(path, "--across", "--by", by).output
    words = {"nodes": "have fewer nodes", "cost": "have less cost"}[by]
    assert f"number of entries that {words} beyond noise" in text


def test_p_values_are_corrected_for_all_pairs_that_differ(tmp_path: Path) -> None:
    """Two of three entries find the cheapest solutions, so their costs never differ: two tests are left. Both have the same
    p-value, so Holm's method doubles it, whichever entries are named.
    """
    agents = [{"agent": "a-star", "label": "one"}, {"agent": "uniform-cost", "label": "two"}, "best-first"]
    games = [{"name": "pancake", "n": number, "burnt": burnt} for number in (4, 5) for burnt in (False, True)]
    games += [{"name": "pancake", "n": 7}, {"name": "top-spin", "n": 6, "k": 4, "shuffle": 20}]
    store = str(tmp_path / "cost.db")
    arena.run({"name": "cost", "games": games, "rounds": 8, "agents": agents}, store=store)

    def compare(*named: str) -> list[dict[str, Any]]:
        found: dict[str, Any] = json.loads(called(store, *named, "--across", "--by", "cost", "--format", "json").output)
        return found["pairs"]  # type: ignore[no-any-return]

    equal, *tested = compare()
    assert (equal["one"], equal["other"], equal["overall"]["p_value_holm"]) == ("one", "two", 1)
    for pair in tested:
        assert pair["overall"]["p_value_holm"] == pytest.approx(2 * pair["overall"]["p_value"])
        for test in ("wilcoxon", "sign"):
            assert pair[test]["p_value_holm"] == pytest.approx(2 * pair[test]["p_value"])
        values = [log(one["value"]) for one in pair["domains"]]
        assert pair["wilcoxon"]["p_value"] == pytest.approx(stats.wilcoxon(values).pvalue)
    assert compare("two", "best-first") == [tested[1]]
    assert compare("one", "best-first") == [tested[0]]
    assert "after correction for 2 tests" in called(store, "two", "best-first", "--across", "--by", "cost").output
    assert "(everywhere), p = 1.\n" in called(store, "one", "two", "--across", "--by", "cost").output


TOLL = '''
from arena import Puzzle, heuristic, hookimpl

class Toll(Puzzle):
    """Two roads to the goal. In nine of ten positions, one is free and one costs 10; in the others, they cost 1 and 1 + k."""
    name = "toll"
    def __init__(self, *, k: int = 1) -> None: self.k = k
    def initial(self, rng): return (rng.randrange(1000), 0)
    def actions(self, state): return range(2) if state[1] == 0 else range(1)
    def result(self, state, action): return (state[0], 3 if state[1] else 1 + action)
    def is_goal(self, state): return state[1] == 3
    def step_cost(self, state, action, successor):
        return 0 if state[1] else ((0, 10) if state[0] % 10 else (1, 1 + self.k))[action]

@heuristic("payer", game="toll")
def payer(game, state, player=0): return 0 if state[1] in (2 if state[0] % 10 else 1, 3) else 1

@heuristic("saver", game="toll")
def saver(game, state, player=0): return 0 if state[1] in (1 if state[0] % 10 else 2, 3) else 1

@hookimpl
def arena_games(): return [Toll]

@hookimpl
def arena_heuristics(): return [payer, saver]
'''
"""A puzzle with heuristics of which `saver` pays 0 in nine of ten positions, and `payer` is cheaper in the others."""


def test_costs_of_0_are_compared_by_sign_and_not_left_out(tmp_path: Path) -> None:
    """Without the free solutions of one entry, only the rounds that it loses would count. The shares are counted by hand."""
    path = tmp_path / "toll.db"
    (tmp_path / "toll.py").write_text(TOLL)
    games = [{"name": "toll", "k": k} for k in range(1, 7)]
    agents = [{"agent": "best-first", "heuristic": name, "label": name} for name in ("payer", "saver")]
    spec = {"plugins": [str(tmp_path / "toll.py")], "games": games, "rounds": 30, "agents": agents}
    frame = arena.run(spec, store=path).to_dataframe()
    wide = frame.pivot_table(index=["board", "round"], columns="agent", values="path_cost")
    signs = np.sign(wide["payer"] - wide["saver"])
    expected = signs.groupby("board").mean().loc[frame["board"].unique()]
    assert (expected > 0.5).all()

    def compare(form: str) -> str:
        return CliRunner().invoke(cli, ["compare", str(path), "--across", "--by", "cost", *form.split()]).output

    document = json.loads(compare("--format json"))
    (pair,) = document["pairs"]
    assert [effect["rounds"] for effect in pair["domains"]] == [30] * 6
    assert [effect["value"] for effect in pair["domains"]] == pytest.approx(list(expected))
    assert (pair["ratio"], pair["by_sign"]) == (False, True)
    assert pair["overall"]["value"] == pytest.approx(expected.mean())
    assert [entry["rank"] for entry in document["entries"]] == [2, 1]
    assert document["remarks"][0].startswith("Some solutions cost 0, so costs have no ratio")
    text = compare("")
    assert f"payer has more cost more often than saver: {100 * expected.mean():+.1f} points (" in text
    assert "Some solutions cost 0, so costs have no ratio" in text
    compare(f"-o {tmp_path / 'page.html'}")
    assert "Some solutions cost 0, so costs have no ratio" in (tmp_path / "page.html").read_text()


def test_no_mean_gap_leaves_out_solutions_above_an_optimum_of_0(tmp_path: Path) -> None:
    """The gap of `saver` is 100 % where the optimum is 1, and 0 elsewhere. A mean for `payer` would include only its best
    rounds.
    """
    path = tmp_path / "toll.db"
    (tmp_path / "toll.py").write_text(TOLL)
    agents = [{"agent": "best-first", "heuristic": name, "label": name} for name in ("payer", "saver")]
    spec = {"plugins": [str(tmp_path / "toll.py")], "game": "toll", "rounds": 30, "agents": [*agents, "uniform-cost"]}
    frame = arena.run(spec, store=path).to_dataframe()
    optima = frame[frame["agent"] == "uniform-cost"]["path_cost"]
    free = frame[(frame["agent"] == "payer") & (frame["path_cost"] == 10)]["position"].nunique()
    assert 0 < free < 30

    def compare(form: str) -> str:
        return CliRunner().invoke(cli, ["compare", str(path), "payer", "saver", *form.split()]).output

    (pair,) = json.loads(compare("--format json"))[0]["pairs"]
    assert pair["gaps"] == [None, pytest.approx((optima == 1).mean())]
    reason = "No mean cost above the optimum: a solution that costs more than an optimum of 0 has no percentage, and payer has"
    assert pair["no_gap"] == f"{reason} such solutions to {free} positions."
    text = compare("")
    assert pair["no_gap"] in text
    assert re.search(rf"Cost above the optimum.*  -  +{100 * pair['gaps'][1]:.1f} %", text)
    compare(f"-o {tmp_path / 'page.html'}")
    assert reason in (tmp_path / "page.html").read_text()


def test_the_heading_names_the_kind_of_domains(tmp_path: Path) -> None:
    """Games have no solved positions, and puzzles have no points."""
    tiles = [{"name": "sliding-tiles", "shuffle": shuffle} for shuffle in (5, 6)]
    for games, agents, by in (
        (["tic-tac-toe", "connect-four"], ["random", "greedy"], "points in games"),
        (tiles, ["bfs", "a-star"], "solved puzzles"),
    ):
        store = tmp_path / f"{agents[0]}.db"
        arena.run({"games": games, "agents": agents, "rounds": 2}, store=store)
        text = called(str(store), "--across").stdout
        assert text.startswith(f"{' and '.join(agents)} across 2 domains by {by}\n")
