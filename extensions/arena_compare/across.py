"""Writes comparisons over several domains (the boards of a store), as text and as plain values, for `arena compare --across`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import exp
from typing import Any

from arena.api.results import TextTable, figures, tallies_of
from arena.api.store import Store
from arena.stats import SIGNIFICANCE_LEVEL
from arena_compare.domains import (
    AMOUNTS,
    BOUNDED,
    MIN_DOMAINS,
    VIRTUAL_BEST,
    AcrossComparison,
    DomainEffect,
    Solver,
    compare_across,
    group_entries,
    rank_entries,
    tell_apart,
)
from arena_compare.measures import COSTS_OF_SOLUTIONS
from arena_compare.random_effects import RandomEffects
from arena_compare.verdicts import EVERYWHERE, UNLIKE_PAR2, interval_name, p_value_text, round_p_value

TOO_FEW = f"No overall answer: there are fewer than {MIN_DOMAINS} shared domains, too few to say anything about other domains."
POSITIONS = "Positions"
"""The heading of the numbers of positions behind the means of a domain."""
ALL_DOMAINS = "all domains"
"""The name of the row over all domains."""
SHARES = (None, *BOUNDED)
"""Measures whose effects are from -1 to 1; None is the default measure. Higher values are better."""
NO_RATIO = (
    "Some solutions cost 0, so costs have no ratio: a lead is the share of rounds with the higher cost minus the share of rounds "
    "with the lower cost."
)
"""The remark on comparisons `by_sign`."""


def across_document(
    names: Sequence[str], pairs: Sequence[AcrossComparison], solvers: Sequence[Solver], remarks: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the comparisons as plain values. If values are compared by ratios, effects are written as ratios, and not as
    logarithms. `remarks` are sentences on the boards.
    """
    means, groups = group_entries(names, pairs)
    ranks = rank_entries(names, pairs)
    return {
        "kind": "domains",
        "entries": [{"agent": name, "rank": ranks[name], "mean_rank": means.get(name)} for name in names],
        "groups": groups,
        "pairs": [
            {
                "one": pair.one,
                "other": pair.other,
                "by": pair.by,
                "ratio": pair.ratio,
                "domains": [{**_plain(pair, asdict(effect)), "chance": SIGNIFICANCE_LEVEL} for effect in pair.domains],
                "overall": None
                if pair.overall is None
                else {**_plain(pair, asdict(pair.overall)), "chance": pair.chance, "p_value_holm": pair.p_value_holm},
                "tests": pair.tests,
                "domains_differ": pair.domains_differ,
                "domains_disagree": pair.domains_disagree,
                "cochran": {"p_value": pair.spread_p_value, "p_value_holm": pair.spread_holm},
                "wilcoxon": {"p_value": pair.wilcoxon_p_value, "p_value_holm": pair.wilcoxon_holm},
                "sign": {"p_value": pair.sign_p_value, "p_value_holm": pair.sign_holm},
                **({"by_sign": True} if pair.by_sign else {}),
                **({"caveat": pair.caveat} if pair.caveat else {}),
            }
            for pair in pairs
        ],
        "solvers": [asdict(solver) for solver in solvers],
        **({"remarks": [*remarks]} if remarks else {}),
    }


def across_csv(document: Mapping[str, Any]) -> str:
    """Return the plain values of a comparison as three tables in CSV: a row for each pair in each domain and over all domains,
    the figures of each puzzle domain, and the ranks of the entries.
    """
    pairs = []
    for pair in document["pairs"]:
        facts = {key: pair[key] for key in ("one", "other", "by", "ratio", "tests")}
        tests = flatten({key: pair[key] for key in ("domains_differ", "domains_disagree", "cochran", "wilcoxon", "sign")})
        pairs += [{**facts, **domain} for domain in pair["domains"]]
        pairs.append({**facts, "domain": ALL_DOMAINS, **(pair["overall"] or {}), **tests})
    return "\n\n".join([rows_as_csv(rows) for rows in (pairs, document["solvers"], document["entries"]) if rows])


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with a column for each key. If a row does not have a key, its cell is empty."""
    keys = list(dict.fromkeys([key for row in rows for key in row]))
    return "\n".join([TextTable.csv_line(keys), *[TextTable.csv_line([row.get(key) for key in keys]) for row in rows]])


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flat copy of nested values: `{"low": {"x": 1}}` becomes `{"low.x": 1}`. Lists of mappings are left out.

    >>> flatten({"a": 1, "b": {"low": 2}, "c": (3, 4), "d": [{"x": 5}]})
    {'a': 1, 'b.low': 2, 'c.1': 3, 'c.2': 4}
    """
    found: dict[str, Any] = {}
    nested: Mapping[str, Any] | None
    for key, value in values.items():
        if isinstance(value, (list, tuple)):
            numbered = {str(number): item for number, item in enumerate(value, 1) if not isinstance(item, Mapping)}
            nested = value._asdict() if hasattr(value, "_asdict") else numbered
        else:
            nested = value if isinstance(value, Mapping) else None
        found |= {key: value} if nested is None else {f"{key}.{name}": item for name, item in flatten(nested).items()}
    return found


def _plain(pair: AcrossComparison, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an effect. Logarithms of ratios are converted into ratios."""
    shown = {"value", "low", "high"} if pair.ratio else set()
    return {name: exp(value) if name in shown and value is not None else value for name, value in values.items()}


def across_text(
    names: Sequence[str],
    pairs: Sequence[AcrossComparison],
    solvers: Sequence[Solver],
    style: str,
    width: int | None,
    remarks: Sequence[str] = (),
) -> str:
    """Return the comparisons as text, with tables in a style of tabulate. First come tables with the figures of each puzzle
    domain, then the pairs, then all entries, then `remarks` on the boards.
    """
    titles = list(dict.fromkeys([effect.domain for pair in pairs for effect in pair.domains]))
    puzzles = {solver.domain for solver in solvers}
    success = ["solved puzzles"] if puzzles.intersection(titles) else []
    success += ["points in games"] if not puzzles.issuperset(titles) else []
    by = pairs[0].by or figures.listing(success)
    counted = figures.amount(len(titles), "domain")
    if pairs[0].by in COSTS_OF_SOLUTIONS and puzzles.intersection(titles):
        by += f", {'' if puzzles.issuperset(titles) else 'in puzzles '}over the rounds that both solved"
    blocks = [f"{figures.listing(names) if len(names) == 2 else f'{len(names)} entries'} across {counted} by {by}"]
    blocks += _solver_tables(solvers, style, width)
    if len(pairs) == 1:
        blocks += _pair_blocks(pairs[0], style, width)
    else:
        blocks.append(TextTable(_pair_headings(pairs), _pair_rows(pairs)).text(style, width))
        blocks += [_verdict(pair) for pair in pairs if pair.overall is not None]
        if all(pair.overall is None for pair in pairs):
            blocks.append(TOO_FEW)
        blocks.append(_entries_table(names, pairs, style, width))
    return "\n\n".join([*blocks, *remarks])


def _amount(pair: AcrossComparison) -> Callable[[float | None], str]:
    """Return the function that formats the effects of a pair: as percentage points, as ratios, or as signed figures."""

    def write(value: float | None) -> str:
        if value is None:
            return figures.NONE
        if pair.ratio:
            return figures.Figure(f"x {figures.figure(exp(value))}")
        return figures.Figure(f"{100 * value:+.1f}") if pair.bounded else figures.signed(value)

    return write


def _interval(write: Callable[[float | None], str], found: DomainEffect | RandomEffects) -> str:
    return figures.between(*[None if bound is None else write(bound) for bound in (found.low, found.high)])


def _pair_blocks(pair: AcrossComparison, style: str, width: int | None) -> list[str]:
    write = _amount(pair)
    unit = "Ratio" if pair.ratio else "Points" if pair.bounded else "Difference"

    def row(name: str, rounds: str, means: tuple[str, str], found: Any) -> list[str]:
        return [name, rounds, *means, write(found.value), _interval(write, found)]

    def means(effect: DomainEffect) -> tuple[str, str]:
        shares = (
            pair.by in SHARES and pair.by != "return" and all(0 <= mean <= 1 for mean in (effect.mean_one, effect.mean_other))
        )
        text: Callable[[float], str] = figures.share if shares else figures.figure
        return text(effect.mean_one), text(effect.mean_other)

    rows = [row(effect.domain, f"{effect.rounds:,}", means(effect), effect) for effect in pair.domains]
    if pair.overall is not None:
        rows.append(row(ALL_DOMAINS, "", ("", ""), pair.overall))
        if pair.corrected and pair.overall.low is not None:
            rows[-1][-1] = figures.Figure(f"{rows[-1][-1]} (corrected)")
    means_of = [f"{name} (geometric mean)" if pair.ratio else name for name in (pair.one, pair.other)]
    headings = ["Domain", "Rounds", *means_of, unit, "95 % interval"]
    blocks = [TextTable(headings, rows).text(style, width)]
    blocks.append(f"{TOO_FEW}{_disagreement(pair)}" if pair.overall is None else _verdict(pair))
    if pair.overall is not None:
        tests = f"{p_value_text(pair.wilcoxon_holm)}; sign test: {p_value_text(pair.sign_holm)}"
        blocks[-1] += f"\nOther tests over domains, which do not affect the verdicts here: Wilcoxon's signed-rank test: {tests}."
    return blocks


def _has_most(pair: AcrossComparison, *, most: bool, several: bool = False) -> str:
    """Return that an entry (or `several`) has the higher values of a measure, or the lower ones if `most` is false."""
    if pair.by == "seconds":
        verb, amount = "take" if several else "takes", "more" if most else "fewer"
    else:
        verb = "have" if several else "has"
        if pair.by in AMOUNTS:
            amount = "more" if most else "less" if pair.by == "cost" else "fewer"
        else:
            amount = "a higher" if most else "a lower"
    often = " more often" if pair.by_sign else ""
    return f"{verb} {amount} {'expanded states' if pair.by == 'expanded' else pair.by}{often}"


def _verdict(pair: AcrossComparison) -> str:
    """Return sentences about the overall result, and about whether the domains disagree."""
    assert pair.overall is not None
    found, write = pair.overall, _amount(pair)
    unit = " points" if pair.bounded else ""
    interval = EVERYWHERE
    if found.low is not None:
        interval = f"{interval_name(corrected=pair.corrected)} {_interval(write, found)}"
    corrected = f" after correction for {pair.tests} tests" if pair.corrected else ""
    said = f"{write(found.value)}{unit} ({interval}), {p_value_text(pair.p_value_holm)}{corrected}"
    if pair.p_value_holm > SIGNIFICANCE_LEVEL:
        text = f"Over all domains, {pair.one} and {pair.other} cannot be told apart: {said}."
    elif pair.by in SHARES:
        ahead, behind = (pair.one, pair.other) if found.value > 0 else (pair.other, pair.one)
        text = f"Over all domains, {ahead} is better than {behind}: {pair.one} has {said}."
    else:
        text = f"Over all domains, {pair.one} {_has_most(pair, most=found.value > 0)} than {pair.other}: {said}."
    caveat = f" {pair.caveat}" if pair.caveat else ""
    return f"{text}{caveat}{_disagreement(pair)}"


def _disagreement(pair: AcrossComparison) -> str:
    """Return a line about domains that disagree, after a line break; an empty string if they do not."""
    if not pair.domains_differ or pair.spread_p_value is None:
        return ""
    write, spread = _amount(pair), ""
    if pair.overall is not None:
        spread = f"x {figures.figure(exp(pair.overall.spread))}" if pair.ratio else write(pair.overall.spread).lstrip("+")
        unit = " points" if pair.bounded else ""
        spread = f": the true differences spread by {spread}{unit} (standard deviation)"
    differ = "differ in the size of the difference" if pair.one_sided else "disagree"
    sides = [
        f"{name} {'has more' if pair.by in SHARES else _has_most(pair, most=True)} in {', '.join(leads)}"
        for name, leads in (
            (pair.one, [effect.domain for effect in pair.domains if effect.low is not None and effect.low > 0]),
            (pair.other, [effect.domain for effect in pair.domains if effect.high is not None and effect.high < 0]),
        )
        if leads
    ]
    return (
        f"\nThe domains {differ} ({p_value_text(pair.spread_holm)}){spread}. "
        f"By the 95 % intervals of single domains, {'; '.join(sides) or 'neither entry leads in any domain'}."
    )


def _pair_headings(pairs: Sequence[AcrossComparison]) -> list[str]:
    interval = interval_name(corrected=any(pair.corrected for pair in pairs)).capitalize()
    return ["Agent", "Other", "Domains", "Lead", interval, "p", "p (Wilcoxon)", "p (sign)", "Disagree"]


def _pair_rows(pairs: Sequence[AcrossComparison]) -> list[list[str]]:
    """Return a row for each pair, with the columns of `_pair_headings`. All p-values are corrected."""
    rows = []
    several = any(pair.corrected for pair in pairs)
    for pair in pairs:
        write, found = _amount(pair), pair.overall
        single = " (95 %)" if several and not pair.corrected and found is not None and found.low is not None else ""
        rows.append(
            [
                pair.one,
                pair.other,
                f"{len(pair.domains)}",
                *(
                    [figures.NONE] * 3
                    if found is None
                    else [
                        write(found.value),
                        figures.Figure(f"{_interval(write, found)}{single}"),
                        round_p_value(pair.p_value_holm),
                    ]
                ),
                round_p_value(pair.wilcoxon_holm),
                round_p_value(pair.sign_holm),
                {None: figures.NONE, False: "no", True: "in size" if pair.one_sided else "yes"}[pair.domains_differ],
            ]
        )
    return rows


def _entries_table(names: Sequence[str], pairs: Sequence[AcrossComparison], style: str, width: int | None) -> str:
    ranks, (means, groups) = rank_entries(names, pairs), group_entries(names, pairs)
    order = sorted(names, key=lambda name: (ranks[name], means.get(name, 0.0)))
    known, apart = any(pair.overall is not None for pair in pairs), tell_apart(names, pairs)
    marks = {name: f"{ranks[name]}{' ~' if len(apart[name]) < len(names) - 1 else ''}" for name in names}
    rows = [
        [marks[name] if known else figures.NONE, name, f"{means[name]:.2f}" if name in means else figures.NONE] for name in order
    ]
    text = TextTable(["Rank", "Agent", "Mean rank"], rows).text(style, width)
    ahead = "are better" if pairs[0].by in SHARES else _has_most(pairs[0], most=not pairs[0].lower_is_better, several=True)
    said = (
        f"Rank: one more than the number of entries that {ahead} beyond noise over shared domains. "
        "Mean rank: the mean over the domains that all entries share."
    )
    if known and any("~" in mark for mark in marks.values()):
        said += "\n~ : not distinguishable from another entry over all domains, according to column p."
    if known and groups:
        said += f"\nNot told apart: {'; '.join([', '.join(group) for group in groups])}."
    return f"{text}\n\n{said}"


def _solver_tables(solvers: Sequence[Solver], style: str, width: int | None) -> list[str]:
    """Return tables with a row for each puzzle domain, a column for each entry, and a column for the virtual best solver."""
    domains = list(dict.fromkeys([solver.domain for solver in solvers]))
    agents = list(dict.fromkeys([solver.agent for solver in solvers if solver.agent != VIRTUAL_BEST]))
    at = {(solver.domain, solver.agent): solver for solver in solvers}
    every = [*agents, VIRTUAL_BEST]
    idle = {agent: [one.domain for one in solvers if one.agent == agent and not one.searches] for agent in agents}
    solve = "on positions that all entries with nodes solve" if any(idle.values()) else "on positions that all entries solve"
    tables: list[tuple[str, list[str], Callable[[Solver], str], Callable[[Solver], int]]] = [
        ("Solved", every, lambda one: figures.share(one.solved), lambda one: one.positions),
        (
            "Mean cost on positions that all entries solve",
            every,
            lambda one: figures.figure(one.cost),
            lambda one: one.cost_positions,
        ),
        (
            f"Geometric mean of the nodes {solve}",
            every,
            lambda one: figures.figure(one.nodes),
            lambda one: one.nodes_positions,
        ),
        ("PAR2 by nodes", every, lambda one: figures.figure(one.par2), lambda one: one.positions),
        (
            "Contribution: PAR2 of the virtual best without the entry, divided by PAR2 with it",
            agents,
            lambda one: figures.NONE if one.contribution is None else f"x {figures.figure(one.contribution)}",
            lambda one: one.positions,
        ),
    ]
    texts = []
    for title, columns, text, count in tables if solvers else ():
        cells = [
            [
                f"{max([count(one) for one in solvers if one.domain == domain]):,}",
                *[text(at[key]) if (key := (domain, agent)) in at else figures.NONE for agent in columns],
            ]
            for domain in domains
        ]
        texts.append(f"{title}:\n\n{TextTable.crossing(domains, [POSITIONS, *columns], cells, style, width)}")
    unlike = [
        domain
        for domain in domains
        if any(at[domain, agent].par2 is not None for agent in agents if (domain, agent) in at)
        and ((domain, VIRTUAL_BEST) not in at or at[domain, VIRTUAL_BEST].par2 is None)
    ]
    if unlike:
        where = "" if len(unlike) == len(domains) else f" in {figures.listing(unlike)}"
        texts.append(
            f"The node limits differ{where}. {UNLIKE_PAR2} The virtual best has no PAR2 there, and entries have no contribution."
        )
    played = Counter([one.agent for one in solvers])
    told = [agent if len(there) == played[agent] else f"{agent} ({', '.join(there)})" for agent, there in idle.items() if there]
    if told:
        texts.append(
            f"Left out of the virtual best and of all comparisons of nodes, because they report no nodes: {'; '.join(told)}."
        )
    return texts


def summarise_store(store: Store) -> list[dict[str, str]] | None:
    """Return the overall result for every two entries of a store, as the rows of a table; None if no two entries have one."""
    boards = store.last().boards
    if len(boards) < MIN_DOMAINS:
        return None
    names = list(dict.fromkeys([label for sheet in boards for label in sheet.labels]))
    pairs = compare_across(store, tallies_of(store, boards), names, None)
    known = [pair for pair in pairs if pair.overall is not None]
    return [dict(zip(_pair_headings(known), cells, strict=True)) for cells in _pair_rows(known)] or None
