"""Compares entries over several domains. A domain is a board of a store: a game, a puzzle, or one of them with other
parameters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import hypot, log, sqrt
from statistics import fmean, geometric_mean, median, pstdev, stdev
from types import MappingProxyType

from arena.api.results import MIN_SECONDS, Comparison, RoundValues, Strengths, Tally, name_domains
from arena.api.store import Store
from arena.stats import SIGNIFICANCE_LEVEL, effective_size, group_values, holm, holm_chances, student_quantile, subtract
from arena_compare.measures import gather_values, keep_solved, read_points, read_returns, read_solved
from arena_compare.puzzle_comparison import Attempt
from arena_compare.random_effects import ROUNDING_DIGITS, RandomEffects, combine, find_spread_p_value, sign_test, signed_ranks
from arena_records.budgets import par2, reports_nodes

MIN_DOMAINS = 5
"""The smallest number of shared domains for an overall result."""
AMOUNTS = {"nodes": 1.0, "expanded": 1.0, "seconds": MIN_SECONDS, "moves": 1.0, "cost": 1e-9}
"""Measures whose values differ by orders of magnitude, so that they are compared by ratios. Each measure has a smallest value; if
a value is smaller, it counts as the smallest value. Costs have no unit, so a cost of 0 has no ratio, see
`AcrossComparison.by_sign`.
"""
BOUNDED = ("solved", "score", "return")
"""Measures whose differences are from -1 to 1. For returns, only the sign of a difference counts, because each game has its own
scale.
"""
MIN_DEVIATION = 1e-9
"""The typical deviation of leads if no domain has leads that differ. It keeps standard errors above 0."""
EXTRA_ROUNDS = 3
"""The number of rounds with a lead of 1 or -1 that are added to those of all domains together. If no round of many differs, the
interval then reaches from about -3.4 to 3.4 rounds. By the binomial distribution, up to 3.7 rounds are compatible with none.
"""
Values = Mapping[int, float]
"""The value of an entry in each round."""


@dataclass(frozen=True, slots=True)
class DomainEffect:
    """The comparison of two entries in one domain, from the rounds that both have played."""

    domain: str
    rounds: int
    mean_one: float
    """The mean of the values of `one`; the geometric mean if values are compared by ratios. `mean_other` is the same for the
    other entry.
    """
    mean_other: float
    value: float
    """The mean lead of `one` over the other entry. The lead in a round is the difference of the two values, or the sign of this
    difference (see `Domain`); if values are compared by ratios, it is the logarithm of the ratio.
    """
    error: float
    """The standard error of `value`."""
    low: float | None
    """`low` and `high` are the bounds of the 95 % interval; None if fewer than two rounds differ, or if leads are equal within
    each domain, so that nothing says how much they vary.
    """
    high: float | None
    size: float
    """The effective number of rounds, because repetitions count once."""
    deviation: float | None
    """The sample standard deviation of the leads; None for a single lead."""


@dataclass(frozen=True, slots=True)
class AcrossComparison:
    """The comparison of two entries over all domains that both have played."""

    one: str
    other: str
    by: str | None
    """The name of the measure. None means the default: solved puzzles, points in games, or the number of rounds with the higher
    return.
    """
    ratio: bool
    """Whether values are compared by ratios, so that effects are logarithms."""
    domains: tuple[DomainEffect, ...]
    overall: RandomEffects | None
    """The overall result; None with fewer than MIN_DOMAINS domains."""
    wilcoxon_p_value: float
    sign_p_value: float
    lower_is_better: bool = False
    """Whether the entry with the lower values is the better one, such as by nodes."""
    by_sign: bool = False
    """Whether only the sign of each difference of costs counts, because a solution of the store costs 0 and has no ratio. Leaving
    out these rounds would select them by the results.
    """
    differ: bool = True
    """Whether the two entries differ in any round. Otherwise there is nothing to test, so the pair does not count as a test."""
    tests: int = 1
    """The number of overall results for which p-values are corrected, see `correct`."""
    chance: float = SIGNIFICANCE_LEVEL
    """The level at which Holm's method tests the overall result: the probability that its interval misses the true value."""
    p_value_holm: float = 1.0
    """The p-value of the overall result after Holm's correction, like those of the next two; 1 without a test."""
    wilcoxon_holm: float = 1.0
    sign_holm: float = 1.0
    spread_holm: float = 1.0
    """The corrected p-value of `spread_p_value`."""
    caveat: str = ""
    """A sentence for the verdict, if the two searched at different speeds under a time limit; otherwise empty."""

    @property
    def bounded(self) -> bool:
        """Whether effects are from -1 to 1."""
        return self.by in (None, *BOUNDED) or self.by_sign

    @property
    def corrected(self) -> bool:
        """Whether the overall result and its interval are corrected for several tests."""
        return self.tests > 1 and self.differ

    def find_lead(self, value: float) -> float:
        """Return by how much `one` is better, given the difference of the values or the logarithm of their ratio."""
        return -value if self.lower_is_better else value

    @property
    def p_value(self) -> float:
        """The p-value of the overall result; 1 without an overall result."""
        return 1.0 if self.overall is None else self.overall.p_value

    @property
    def spread_p_value(self) -> float | None:
        """The p-value of Cochran's test for the hypothesis that all domains have the same effect; None for a single domain."""
        if len(self.domains) < 2:
            return None
        return find_spread_p_value([effect.value for effect in self.domains], [effect.error for effect in self.domains])

    @property
    def domains_differ(self) -> bool | None:
        """Whether the effects of the domains differ beyond chance, in their sign or only in their size; None for a single
        domain.
        """
        return None if self.spread_p_value is None else self.spread_holm <= SIGNIFICANCE_LEVEL

    @property
    def domains_disagree(self) -> bool | None:
        """Whether the effects differ beyond chance, and not only in their size; None for a single domain."""
        return None if self.domains_differ is None else self.domains_differ and not self.one_sided

    @property
    def one_sided(self) -> bool:
        """Whether no two domains have effects of opposite signs."""
        signs = [effect.value for effect in self.domains]
        return min(signs) >= 0 or max(signs) <= 0


@dataclass(frozen=True, slots=True)
class Solver:
    """The figures of an entry in one puzzle domain, from the positions that all entries have attempted."""

    domain: str
    agent: str
    positions: int
    solved: float
    """The share of the positions that the entry has solved."""
    cost: float | None
    """The mean cost of its solutions to the positions that all entries solved; None without such positions."""
    nodes: float | None
    """The geometric mean of its nodes on the positions that all entries that report nodes solved; None without such positions."""
    par2: float | None
    """PAR2 by nodes: the mean number of nodes per position, in which an unsolved position counts as twice the entry's node
    limit, see `par2_limits`; None without a limit. The virtual best solver has none if the limits of the entries differ.
    """
    contribution: float | None
    """PAR2 of the virtual best solver (see VIRTUAL_BEST) without this entry, divided by its PAR2 with this entry; None for the
    virtual best solver itself, without PAR2, and if the limits of the entries differ.
    """
    searches: bool = True
    """Whether it reports nodes. Otherwise, such as an agent that moves at random, it has no figures by nodes."""
    cost_positions: int = 0
    """The number of positions in the mean of `cost`."""
    nodes_positions: int = 0
    """The number of positions in the mean of `nodes`."""


VIRTUAL_BEST = "virtual best"
"""The name of an imaginary solver. For each position, it uses the entry that solves this position with the fewest nodes.
Entries that report no nodes are left out."""


def compare_across(
    store: Store, tallies: Sequence[Tally], names: Sequence[str], measure: Comparison | None
) -> list[AcrossComparison]:
    """Compare every two of the named entries over the boards that both have played. If `measure` is None, they are compared by
    success (see `AcrossComparison.by`). Tests are corrected for all pairs of the store, whichever entries are named; if the store
    has more than MAX_ENTRIES entries, for the pairs of the named ones.
    """
    sheets = [tally.sheet for tally in tallies]
    every = list(dict.fromkeys([*names, *[label for sheet in sheets for label in sheet.labels]]))
    every = every if len(every) <= Strengths.MAX_ENTRIES else list(names)
    titles = name_domains([sheet.title for sheet in sheets])
    values = _read_values(store, tallies, measure)
    free = measure is not None and measure.name == "cost" and any(0 in one.by_round().values() for one in values.values())
    ratio = measure is not None and measure.name in AMOUNTS and not free
    found = []
    least = AMOUNTS[measure.name] if measure is not None and ratio else None
    for one, other in combinations(every, 2):
        domains: list[Domain] = []
        for number, sheet in enumerate(sheets):
            if one in sheet.labels and other in sheet.labels:
                mine, theirs = [values[number, sheet.labels.index(name)] for name in (one, other)]
                by_sign = sheet.kind == "score" if measure is None else free or measure.name == "return"
                clusters = mine.attempts, theirs.attempts
                differ = None if any(clusters) else _count_rounds(mine, theirs)
                domains.append(Domain(titles[number], mine.by_round(), theirs.by_round(), by_sign, differ, clusters))
        bounded = measure is None or measure.name in BOUNDED or free
        effects = compare_domains(domains, least=least, bounded=bounded)
        if effects:
            by, lower = (None, False) if measure is None else (measure.name, measure.lower_is_better)
            compared = combine_domains(one, other, effects, by=by, ratio=ratio, lower_is_better=lower, by_sign=free)
            differ = any(any(domain.find_leads(least).values()) for domain in domains)
            unlike = {speeds: None for tally in tallies if (speeds := tally.describe_speeds((one, other))) is not None}
            found.append(replace(compared, differ=differ, caveat=write_caveat("; ".join(unlike))))
    return [pair for pair in correct(found) if {pair.one, pair.other} <= {*names}]


def write_caveat(speeds: str | None) -> str:
    """Return the sentence that follows the verdict on two entries, from what `Tally.describe_speeds` says about them; an empty
    string if it says nothing.
    """
    return f"But {speeds} under a time limit, which may be the reason." if speeds else ""


def correct(pairs: Sequence[AcrossComparison]) -> list[AcrossComparison]:
    """Correct the p-values of all pairs of a store by Holm's method, and widen the intervals of overall results to the levels at
    which it tests them, so that both agree. Pairs that do not differ in any round are no tests.

    Differences of shares have no bound beyond -1 and 1.
    """
    tested = [number for number, pair in enumerate(pairs) if pair.differ]
    overall = [number for number in tested if pairs[number].overall is not None]
    raw = [pairs[number].p_value for number in overall]
    p_values, chances = [dict(zip(overall, method(raw), strict=True)) for method in (holm, holm_chances)]
    wilcoxon = dict(zip(tested, holm([pairs[number].wilcoxon_p_value for number in tested]), strict=True))
    sign = dict(zip(tested, holm([pairs[number].sign_p_value for number in tested]), strict=True))
    known = {number: p_value for number in tested if (p_value := pairs[number].spread_p_value) is not None}
    spread = dict(zip(known, holm(list(known.values())), strict=True))
    corrected = []
    for number, pair in enumerate(pairs):
        found, chance = pair.overall, chances.get(number, SIGNIFICANCE_LEVEL)
        if found is not None:
            found = found.widened(chance)
            if found.low is not None and found.high is not None and pair.bounded:
                found = replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))
        one = replace(pair, overall=found, tests=len(overall), chance=chance, p_value_holm=p_values.get(number, 1.0))
        one = replace(one, wilcoxon_holm=wilcoxon.get(number, 1.0), sign_holm=sign.get(number, 1.0))
        corrected.append(replace(one, spread_holm=spread.get(number, 1.0)))
    return corrected


def _read_values(store: Store, tallies: Sequence[Tally], measure: Comparison | None) -> dict[tuple[int, int], RoundValues]:
    """Return the values of each entry of each board, see `keep_solved`."""
    if measure is not None:
        return keep_solved(gather_values(measure, store, tallies), measure, store, tallies)
    solved = gather_values(Comparison("solved", "", read_solved), store, tallies)
    points = gather_values(Comparison("score", "", read_points), store, tallies)
    returns = gather_values(Comparison("return", "", read_returns), store, tallies)
    by_kind = {"puzzle": solved, "versus": points, "score": returns}
    return {place: by_kind[tallies[place[0]].sheet.kind][place] for place in solved}


def _count_rounds(one: RoundValues, other: RoundValues) -> float | None:
    """Return the effective number of rounds that differ, if games were repeated, as on boards; None if none were."""
    if one.unknown or other.unknown:
        return 1.0
    return min(one.stratify().clusters, other.stratify().clusters) if one.has_repeats or other.has_repeats else None


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of two entries in one domain."""

    name: str
    one: Values
    other: Values
    by_sign: bool = False
    """Whether only the sign of each difference counts."""
    differ: float | None = None
    """The effective number of rounds that differ, if games were repeated, because repetitions count once."""
    clusters: tuple[Mapping[int, int] | None, Mapping[int, int] | None] = (None, None)
    """For each entry, the clusters of its rounds if it plays alone and repeated attempts, see `group_values`."""

    def find_leads(self, least: float | None) -> dict[int, float]:
        """Return the lead of `one` in each shared round. With `least`, it is the logarithm of the ratio, and smaller values count
        as `least`.
        """
        leads = {}
        for number in sorted(self.one.keys() & self.other.keys()):
            mine, theirs = self.one[number], self.other[number]
            lead = subtract(mine, theirs) if least is None else round(log(max(mine, least) / max(theirs, least)), ROUNDING_DIGITS)
            leads[number] = float(lead > 0) - float(lead < 0) if self.by_sign else lead
        return leads

    def find_means(self, least: float | None) -> list[float]:
        """Return the leads, but the mean of those in one cluster."""
        return [fmean(group) for group in group_values(self.find_leads(least), *self.clusters)]

    def count_rounds(self, least: float | None) -> float:
        """Return the effective number of shared rounds, at least 1."""
        leads = self.find_leads(least)
        if any(one is not None for one in self.clusters):
            return effective_size(group_values(leads, *self.clusters))
        return len(leads) if self.differ is None else min(len(leads), max(1.0, self.differ))


def compare_domains(domains: Sequence[Domain], *, least: float | None = None, bounded: bool = True) -> list[DomainEffect]:
    """Compare two entries in each domain. Domains without a shared round are left out.

    With `least`, values are compared by ratios, and smaller values count as `least`. `bounded` means that differences are from -1
    to 1. Otherwise, standard errors take into account how much leads typically deviate from their mean in a domain: the median of
    the standard deviations above 0. With the others, it could be 0, so that equal leads would have no error.
    """
    typical = None
    if not bounded:
        deviations = [stdev(leads) for one in domains if len(leads := one.find_means(least)) > 1]
        typical = median([one for one in deviations if one > 0] or [MIN_DEVIATION if deviations else 1.0])
    effects = [compare_domain(one, least=least, typical=typical) for one in domains]
    return [effect for effect in effects if effect is not None]


def compare_domain(domain: Domain, *, least: float | None = None, typical: float | None = None) -> DomainEffect | None:
    """Compare two entries in one domain; None if they share no round. With `least`, values are compared by ratios.

    The standard error is never 0. If differences are from -1 to 1, it is computed as if there were three more rounds. Two of
    them, with half the weight of a round, have the leads 1 and -1; the third one has the lead 0. For values of 0 and 1, this is
    the interval of A. Agresti and Y. Min, Simple improved confidence intervals for comparing matched proportions, 2005. With
    `typical`, the variance of the leads is computed as if one more lead deviated from the mean by this much.
    """
    leads = list(domain.find_leads(least).values())
    if not leads:
        return None
    value, number = fmean(leads), domain.count_rounds(least)
    if abs(value) <= max(map(abs, leads)) * 10**-ROUNDING_DIGITS:  # leads that cancel out, but for rounding
        value = 0.0
    if typical is None:
        squares = sum([lead**2 for lead in leads]) * number / len(leads)
        error = sqrt((squares + 1 - (number * value) ** 2 / (number + 2)) / (number + 2) ** 2)
    else:
        error = hypot(sqrt(number) * pstdev(leads), typical) / number
    reach = student_quantile(number - 1, 0.975) * error if number >= 2 and typical != MIN_DEVIATION else None
    low, high = (None, None) if reach is None else (value - reach, value + reach)
    if typical is None and low is not None and high is not None:  # no difference of shares is beyond this range
        low, high = max(-1.0, low), min(1.0, high)
    shared = domain.one.keys() & domain.other.keys()
    values = [[entry[round_] for round_ in shared] for entry in (domain.one, domain.other)]
    means = [fmean(each) if least is None else geometric_mean([max(one, least) for one in each]) for each in values]
    return DomainEffect(
        domain.name, len(leads), means[0], means[1], value, error, low, high, number, stdev(leads) if len(leads) > 1 else None
    )


def combine_domains(
    one: str,
    other: str,
    effects: Sequence[DomainEffect],
    *,
    by: str | None = None,
    ratio: bool = False,
    lower_is_better: bool = False,
    by_sign: bool = False,
) -> AcrossComparison:
    """Return the comparison of two entries, including the overall result, from the effects in each domain. Its p-values are not
    corrected yet, see `correct`.
    """
    values = [effect.value for effect in effects]
    overall = None
    if len(effects) >= MIN_DOMAINS:
        within = find_error_within(effects, bounded=by_sign or by in (None, *BOUNDED))
        overall = combine(values, [effect.error for effect in effects], within)
    tests = signed_ranks(values), sign_test(values)
    return AcrossComparison(one, other, by, ratio, tuple(effects), overall, *tests, lower_is_better, by_sign)


def find_error_within(effects: Sequence[DomainEffect], *, bounded: bool = True) -> tuple[float, float] | None:
    """Return the standard error of the mean of the effects if all domains have the same effect, and its degrees of freedom; None
    if no domain has two rounds, or if leads are equal within each domain.

    Leads have one variance, which is pooled over all domains. If they are `bounded`, it is computed as if there were EXTRA_ROUNDS
    more rounds with the leads 1 or -1, so that it is above 0 if no round differs.
    """
    extra = EXTRA_ROUNDS if bounded else 0
    freedom = sum([effect.size for effect in effects]) - len(effects) + extra
    spread = [sqrt(effect.size - 1) * (effect.deviation or 0.0) for effect in effects]
    deviation = hypot(*spread, sqrt(extra)) / sqrt(max(1, freedom))
    if freedom < 1 or deviation <= MIN_DEVIATION:
        return None
    return deviation * sqrt(sum([1 / effect.size for effect in effects])) / len(effects), freedom


def rank_entries(names: Sequence[str], pairs: Sequence[AcrossComparison]) -> dict[str, int]:
    """Return the rank of each entry: 1 plus the number of entries that are significantly better on shared domains, from pairs
    that `correct` returned.

    Two entries are compared only on the domains that they share. An entry that plays on more boards may meet a better one there,
    and each further pair makes Holm's correction stronger. So its rank may change although its other comparisons stay the same.
    """
    ahead = dict.fromkeys(names, 0)
    for pair in pairs:
        if pair.overall is not None and pair.p_value_holm <= SIGNIFICANCE_LEVEL:
            ahead[pair.other if pair.find_lead(pair.overall.value) > 0 else pair.one] += 1
    return {name: 1 + count for name, count in ahead.items()}


def tell_apart(names: Sequence[str], pairs: Sequence[AcrossComparison]) -> dict[str, set[str]]:
    """Return for each entry the others that are significantly better or worse: the one decision behind ranks and groups."""
    apart: dict[str, set[str]] = {name: set() for name in names}
    for pair in pairs:
        if pair.overall is not None and pair.p_value_holm <= SIGNIFICANCE_LEVEL:
            apart[pair.one].add(pair.other)
            apart[pair.other].add(pair.one)
    return apart


def group_entries(names: Sequence[str], pairs: Sequence[AcrossComparison]) -> tuple[dict[str, float], list[list[str]]]:
    """Return the mean rank of each entry over the domains that all entries share, and the groups of entries that do not differ
    significantly.

    No two entries of a group are told apart by the overall results, as in a critical-difference diagram (J. Demsar, Statistical
    comparisons of classifiers over multiple data sets, 2006). Every two entries that are not told apart are in a group, also if
    they share too few domains for an overall result. The mean ranks are empty if no domain is shared by all entries.
    """
    shared = set.intersection(*[{effect.domain for effect in pair.domains} for pair in pairs]) if pairs else set()
    means: dict[str, float] = {}
    if shared and len(pairs) == len(names) * (len(names) - 1) // 2:
        ranks = dict.fromkeys(names, 0.0)
        for pair in pairs:
            for effect in pair.domains:
                if effect.domain in shared:
                    lead = pair.find_lead(effect.value)
                    ranks[pair.one] += (lead < 0) + (lead == 0) / 2
                    ranks[pair.other] += (lead > 0) + (lead == 0) / 2
        means = {name: 1 + behind / len(shared) for name, behind in ranks.items()}
    apart, places = tell_apart(names, pairs), rank_entries(names, pairs)
    order = sorted(names, key=lambda name: (places[name], means.get(name, 0.0)))
    groups: list[list[str]] = []
    for one, other in combinations(order, 2):
        if other in apart[one] or any({one, other} <= {*group} for group in groups):
            continue
        members = {one, other}
        for name in order:
            if not apart[name] & members:
                members.add(name)
        groups.append([name for name in order if name in members])
    return means, groups


def describe_solvers(
    domain: str,
    attempts: Mapping[str, Mapping[int, Attempt]],
    *,
    limits: Mapping[str, float] = MappingProxyType({}),
    same: Mapping[int, int] = MappingProxyType({}),
    path_matters: bool = True,
) -> list[Solver]:
    """Return the figures of the entries of a puzzle board, and then those of the virtual best solver; an empty list without
    positions.

    `attempts` contains the attempts of each entry by round, and `same` the first round with the same position. `limits` has
    the node limit of each entry that has one, for PAR2. Without `path_matters`, solutions have no cost.
    """
    played = list(attempts.items())
    positions = sorted(set.intersection(*[set(mine) for _, mine in played])) if played else []
    if not positions:
        return []

    def count_different(rounds: Iterable[int]) -> int:
        return len({same.get(position, position) for position in rounds})

    def find_solved(entries: Iterable[int]) -> list[int]:
        return [position for position in positions if all(played[entry][1][position].solved for entry in entries)]

    def spend(entries: Sequence[int]) -> list[float | None]:
        """Return, for each position, the fewest nodes with which one of the given entries solved it; None if none of them did."""
        each = [[played[entry][1][position] for entry in entries] for position in positions]
        return [min([float(one.nodes) for one in some if one.solved], default=None) for some in each]

    def score(spent: Sequence[float | None], limit: float | None) -> float | None:
        return None if limit is None else par2(spent, limit)

    found = []
    searching = [entry for entry, (_, mine) in enumerate(played) if reports_nodes(attempt.nodes for attempt in mine.values())]
    budgets = {limits.get(played[entry][0]) for entry in searching}
    shared = budgets.pop() if len(budgets) == 1 else None  # otherwise, an unsolved position has no price for all of them
    best, every, counts = spend(searching), find_solved(range(len(played))), find_solved(searching)
    for entry, (label, mine) in enumerate(played):
        counted = entry in searching
        with_it, without = [score(spent, shared) for spent in (best, spend([other for other in searching if other != entry]))]
        costs = {position: cost for position in every if path_matters and (cost := mine[position].cost) is not None}
        found.append(
            Solver(
                domain,
                label,
                count_different(positions),
                fmean([mine[position].solved for position in positions]),
                fmean(costs.values()) if costs else None,
                geometric_mean([max(1, mine[position].nodes) for position in counts]) if counts and counted else None,
                score(spend([entry]), limits.get(label)) if counted else None,
                without / with_it if with_it and without is not None and counted else None,
                counted,
                count_different(costs),
                count_different(counts) if counted else 0,
            )
        )
    if not searching:
        return found
    candidates = {position: [played[entry][1][position] for entry in searching] for position in every}
    chosen = {position: min(some, key=lambda one: (one.nodes, one.cost or 0.0)).cost for position, some in candidates.items()}
    costs = {position: cost for position, cost in chosen.items() if path_matters and cost is not None}
    fewest = dict(zip(positions, best, strict=True))
    nodes = [max(1.0, spent) for position in counts if (spent := fewest[position]) is not None]
    virtual = Solver(
        domain,
        VIRTUAL_BEST,
        count_different(positions),
        fmean([spent is not None for spent in best]),
        fmean(costs.values()) if costs else None,
        geometric_mean(nodes) if nodes else None,
        score(best, shared),
        None,
        cost_positions=count_different(costs),
        nodes_positions=count_different(counts),
    )
    return [*found, virtual]
