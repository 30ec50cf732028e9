"""The command `tune`: searches for better options, and tests the best ones on positions that the search has not seen."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
import yaml

from arena.api.cli import Number, Terminal, plugin_option, results_alone, say
from arena.api.errors import Interrupted
from arena.api.results import Leaderboard, TextTable, figures
from arena.clock import monotonic
from arena_compare.verdicts import p_value_words, signed_points
from arena_duel.decision_limits import describe_drawn, describe_plies
from arena_pairings.sprt import MAX_ELO, Sprt, Verdict, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState
from arena_setup.options import limits_option
from arena_tune.matches import AloneResult, PlayedTuning
from arena_tune.search import Found, Search, import_optuna, longest_share
from arena_tune.shared_rivals import SharedRivals
from arena_tune.space import Options, describe_options
from arena_tune.terms import PUZZLE_NODES, Asked, Terms, read_terms

DEFAULT_MATCHES = 2000
SEARCH_SHARE = 0.7
"""The share of the budget that the search gets; the rest is for the confirmation."""
TIMED_STAGES = (8, 16, 32)
"""The number of positions in each stage of a search that ends after a given time."""
UNLIMITED_PAIRS = 10**9
MIN_MATCHES = 40
FIRST_LOOK_POSITIONS = 16
"""The number of positions before the first evaluation in the confirmation of a puzzle. It is doubled for each further
evaluation."""
NOTHING = "nothing better than the default was found"
BETTER, NOT_BETTER = "better", "nothing better"
MORE_MATCHES = "; a longer search with another --seed may give a verdict"
MORE_OPENINGS = "; no unused positions are left; set more plies with --openings to get more"
MAX_STEM = 40
"""The maximum number of letters from the name of an agent in the name of a file."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result on positions that the search has not seen."""

    better: bool
    words: str
    """The result of the confirmation in words."""
    figures: dict[str, Any]
    hint: str = ""
    """Advice for a test that is undecided."""
    verdict: Verdict | None = None
    """The hypothesis that the sequential test has accepted; None if it is undecided."""

    def explain(self) -> str:
        """Return the result with the reason why it does not make the proposed options the better ones."""
        if self.verdict is None:
            return f"{self.words}, but the sequential test is not decided yet{self.hint}"
        if self.verdict == "H0":
            return f"{self.words}; the sequential test found that these options are not better"
        if "positions" in self.figures:
            return f"{self.words}, but these options solve fewer positions"
        return f"{self.words}, but the sequential test does not show that these options are better"


@click.command()
@click.argument("file", metavar="FILE|AGENT")
@click.option("--agent", metavar="NAME|LABEL", help="The agent of FILE, or the entry of a spec; default: the first entry.")
@click.option("--game", metavar="NAME", help="The game; default: a game of FILE, or the first game that the agent can play.")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="OPTION=VALUES",
    help="The values to search for an option, such as depth=1..6, weight=0.1..10:log or order=game,heuristic; or a parameter of "
    "the game, such as rows=4; may be repeated. Default: all options of the agent and its heuristic, within their bounds.",
)
@click.option(
    "--matches", type=click.IntRange(MIN_MATCHES, 10**7), metavar="N", help=f"The budget; default {DEFAULT_MATCHES:,} matches."
)
@click.option("--minutes", type=Number(0, 10**5, min_open=True), metavar="M", help="The budget in minutes, instead of --matches.")
@click.option(
    "--elo",
    nargs=2,
    type=Number(-MAX_ELO["normalized"], MAX_ELO["normalized"]),
    metavar="ELO0 ELO1",
    default=(0.0, 20.0),
    show_default=True,
    help="The two hypotheses of the test.",
)
@limits_option(
    "Limits for each decision, such as nodes=1000; may be repeated; "
    f"default: none in games, nodes={PUZZLE_NODES} for solvers of puzzles."
)
@click.option(
    "--openings",
    "plies",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="Random plies before each game; default: 0 if the games differ anyway, otherwise a quarter of a random game, at most 4.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Seed of the search and of all matches; default: the seed of the spec, or 0.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Number of worker processes; default: one per core.")
@click.option("--store", metavar="FILE.db", help="The file for the matches; default: results/tune-AGENT-HASH.db.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--quiet", is_flag=True, help="Do not print progress or notes on stderr.")
@plugin_option
def tune(**asked: Any) -> int:
    """Find better options for an agent, and confirm them on positions that the search has not used.

    FILE is the Python file of an agent, the name of an agent, or a spec, in which the first entry is tuned against the others.
    After an interruption, the same command continues.
    """
    budget = {"matches": asked.pop("matches"), "minutes": asked.pop("minutes")}
    if budget["matches"] is not None and budget["minutes"] is not None:
        raise click.UsageError("--matches and --minutes both set the budget; give only one of them")
    if budget["minutes"] is None:
        budget["matches"] = budget["matches"] or DEFAULT_MATCHES
    elo, workers, place = asked.pop("elo"), asked.pop("workers"), asked.pop("store")
    style, quiet = asked.pop("style"), asked.pop("quiet")
    with results_alone() as out:
        import_optuna()
        terms, test = read_terms(Asked(**asked)), Sprt(*elo)
        digest = terms.digest({**budget, "elo": elo})
        stem = "".join([letter if letter.isalnum() or letter in "-_" else "-" for letter in terms.name])[:MAX_STEM]
        path = Path(place) if place is not None else Path("results") / f"tune-{stem}-{digest}.db"
        if not quiet:
            against = "the entries of the spec" if terms.rivals else "its default"
            say(f"{terms.name} at {terms.game} against {against}: {terms.space.describe()}")
            if not (terms.alone or terms.keys.get("positions")):
                say(f"{describe_plies((terms.keys.get('openings') or {}).get('plies', 0))} (--openings)")
        with PlayedTuning(terms, path, digest, workers, quiet) as played:
            tuning = Tuning(terms, played, budget["matches"], budget["minutes"], test)
            try:
                found, result = tuning.run()
            except Interrupted:
                played.store.flush()
                say(f"\n{path} has {figures.amount(len(played.store), 'match')}; run the same command again to continue")
                raise
        _show(terms, tuning, found, result, path, style, out)
    return 0


@dataclass(slots=True)
class Tuning:
    """The search and the confirmation of one call of the command."""

    terms: Terms
    played: PlayedTuning
    matches: int | None
    minutes: float | None
    test: Sprt
    used: int = 0
    """The number of matches that the search has used."""

    def run(self) -> tuple[Found, Confirmation | None]:
        """Return the results of the search and of its confirmation. The confirmation is None if the search found nothing better
        than the default, or if no games could be played to confirm the result.
        """
        began = monotonic()
        known, before = self.played.searched()
        pair = self.played.pair_matches
        pairs = UNLIMITED_PAIRS if self.matches is None else int(self.matches * SEARCH_SHARE) // pair
        if self.terms.alone:  # the default plays as many positions as the longest trial
            pairs = int(pairs / (1 + longest_share(self.terms.space.size)))
        stages, seconds = 0, 60 * (self.minutes or 0)

        def play(trials: Sequence[Options], positions: int) -> list[Any]:
            nonlocal stages
            stages += 1
            return self.played.play_trials(trials, positions)

        search = Search(
            self.terms.space, self.terms.default, play, pairs, self.terms.seed, rivals=bool(self.terms.rivals),
            stages=TIMED_STAGES if self.matches is None else None, positions=self.played.positions,
        )  # fmt: skip
        self.played.check_openings(search.stages[-1])
        found = search.answer()
        for found in search.generations():
            self.used = (pairs - search.left) * pair + (max(len(one.scores) for one in found.trials) if self.terms.alone else 0)
            words = describe_options(found.options)
            self.played.note(f"best so far: {words}, about {figures.elo(found.gain)} Elo on the positions of the search")
            if known is not None:
                over = self.matches is None and stages >= known
            else:
                over = self.matches is None and before + monotonic() - began >= SEARCH_SHARE * seconds
            if over:
                break
        if repr(found.options) == repr(self.terms.default) or found.gain <= 0:
            return found, None
        self.played.note(f"confirming {describe_options(found.options)}")
        left = self._left(found, seconds, monotonic() - began + before)
        if self.terms.alone:
            return found, self._confirm_alone(found, left, search.stages[-1])
        if self.terms.rivals:
            positions = max(1, left // (4 * len(self.terms.rivals)))
            scores = self.played.confirm_rivals(found.options, self.test, positions, search.stages[-1])
            return found, _judge_rivals(scores, self.test, positions) if scores.scores else None
        pairs = max(1, left // 2)
        state = self.played.confirm_pairs(found.options, self.test, pairs, search.stages[-1])
        return found, None if state is None else _judge_pairs(state, pairs)

    def _left(self, found: Found, seconds: float, spent: float) -> int:
        """Return the number of matches for the confirmation."""
        if self.matches is not None:
            return self.matches - self.used
        for run in self.played.store.runs():  # a confirmation that is continued is as long as it was planned
            if run.name.startswith("confirm"):
                return run.boards[0].size
        rate = max(1, len(self.played.store)) / max(spent, 1.0)
        return max(MIN_MATCHES, int(rate * max(0.0, seconds - spent)))

    def _confirm_alone(self, found: Found, left: int, first: int) -> Confirmation | None:
        positions, most = min(FIRST_LOOK_POSITIONS, max(1, left // 2)), max(1, left // 2)
        while True:
            result = self.played.confirm_alone(found.options, positions, first)
            if not result.records:
                return None
            llr = log_likelihood_ratio(result.counts(), self.test)
            verdict = self.test.verdict(llr)
            if verdict is not None or positions >= most or len(result.records) < positions // 2:
                better = self.test.find_better(verdict, partial(log_likelihood_ratio, result.counts())) > 0
                return _judge_alone(result, verdict, better, llr)
            positions = min(most, 2 * positions)


def _judge_pairs(state: SprtState, planned: int) -> Confirmation:
    """Return the result of a sequential test for which `planned` pairs were available."""
    worth, pairs = state.worth, sum(state.counts)
    hint = "" if state.verdict else MORE_MATCHES if pairs >= planned else MORE_OPENINGS
    lead = state.lead
    elo = "every game won" if worth.score == 1 else "no Elo"
    if worth.score < 1 and lead.elo is not None:
        elo = f"{figures.elo(lead.elo)} Elo{figures.elo_interval(lead.elo_low, lead.elo_high)}"
    words = f"{elo} over the default on {figures.amount(pairs, 'held-out pair')}"
    words += "" if state.adjusted is None else ", adjusted for luck"
    listed = {
        "pairs": list(state.counts), "llr": state.llr, "lower": state.test.lower, "upper": state.test.upper,
        "hypothesis": state.verdict, "elo": lead.elo, "elo_low": lead.elo_low, "elo_high": lead.elo_high,
    }  # fmt: skip
    return Confirmation(state.better > 0, words, listed, hint, state.verdict)


def _judge_rivals(scores: SharedRivals, test: Sprt, planned: int) -> Confirmation:
    """Return the result of a sequential test against the opponents of a spec, for which `planned` positions were available."""
    llr, lead, (mine, theirs), positions = scores.ratio(test), scores.lead(), scores.means(), len(scores.scores)
    verdict = test.verdict(llr)
    if lead.elo is None:
        words = f"{figures.share(mine)} of the points"
    else:
        elo = f"{figures.elo(lead.elo)} Elo{figures.elo_interval(lead.low, lead.high)}"
        words = f"{elo} over the default, with {figures.share(mine)} of the points"
    rivals = "the opponent" if scores.rivals == 1 else f"the {scores.rivals} opponents"
    words = f"{words} instead of {figures.share(theirs)} against {rivals}, on {figures.amount(positions, 'held-out position')}"
    listed = {
        "positions": positions, "scores": {"best": mine, "default": theirs}, "llr": llr, "lower": test.lower, "upper": test.upper,
        "hypothesis": verdict, "elo": lead.elo, "elo_low": lead.low, "elo_high": lead.high,
    }  # fmt: skip
    hint = "" if verdict else MORE_MATCHES if positions >= planned else MORE_OPENINGS
    return Confirmation(test.find_better(verdict, scores.ratio) > 0, words, listed, hint, verdict)


def _judge_alone(result: AloneResult, verdict: Verdict | None, shown: bool, llr: float) -> Confirmation:
    means = result.means()
    solved = means.get("solved", (1.0, 1.0))
    parts = [
        f"{name} {figures.figure(one)} instead of {figures.figure(other)}"
        for name, (one, other) in means.items()
        if name != "solved" and one != other and (name != "seconds" or not any(means.get("nodes", (0, 0))))
    ]
    positions, counts = figures.amount(len(result.records), "held-out position"), result.counts()
    words = f"{', '.join(parts)} on {positions}"
    listed: dict[str, Any] = {
        "positions": {"worse": counts[0], "equal": counts[2], "better": counts[4]}, "llr": llr,
        **{name: {"best": one, "default": other} for name, (one, other) in means.items()},
    }  # fmt: skip
    lead = result.compare_solved()
    if lead is not None:
        words, bounds = f"{figures.share(solved[0])} solved", lead.interval()
        words += "" if solved[0] == solved[1] else f" instead of {figures.share(solved[1])}"
        if lead.differ:
            tested = p_value_words(lead.test.p_value, lead.test.name)
            interval = f"95 % interval {figures.between(*[None if one is None else signed_points(one) for one in bounds])}"
            words += f" ({signed_points(lead.lead)} points, {interval}, {tested})"
        words += f" on {positions}"
        if parts:
            both = len(result.both)
            which = "the positions" if both == len(result.records) else f"the {both:,}" if both > 1 else "the only position"
            words += f"; on {which} that both solved, {', '.join(parts)}"
        listed["solved"] |= {"low": bounds[0], "high": bounds[1], "p_value": lead.test.p_value, "test": lead.test.name}
        listed["both_solved"] = len(result.both)
    better = shown and solved[0] >= solved[1]
    return Confirmation(better, words, listed, verdict=verdict)


def _show(terms: Terms, tuning: Tuning, found: Found, result: Confirmation | None, path: Path, style: str, out: IO[str]) -> None:
    better = result is not None and result.better
    best = found.options if better else terms.default
    entry = terms.entry_of(found.options) if better else {key: one for key, one in terms.entry.items() if key != "label"}
    sentence = f"{describe_options(found.options)}: {result.words}" if better and result else NOTHING
    drawn = {row["agent"]: row["fallback_share"] for row in Leaderboard.load(path)[0].rows if row["fallback_share"]}
    trials = sorted(found.trials, key=lambda one: (-len(one.scores), -one.share))
    if style == "json":
        listed = [{"options": one.options, "score": one.share, "positions": len(one.scores)} for one in trials]
        document = {
            "verdict": BETTER if better else NOT_BETTER,
            "sentence": sentence,
            "best": dict(best),
            "default": dict(terms.default),
            "entry": entry,
            "space": terms.space.describe(),
            "search": {"answer": found.options, "elo": found.gain, "matches": tuning.used, "trials": listed},
            "confirmation": None if result is None else result.figures,
            "limits": dict(terms.keys.get("limits") or {}),
            "random_moves": drawn,
            "store": str(path),
        }
        print(json.dumps(document, indent=2, allow_nan=False, default=str), file=out)
        return
    lines = [f"{sentence}."]
    if result is not None and not better:
        lines.append(f"The search proposed {describe_options(found.options)}: {result.explain()}.")
    lines += [told] if (told := describe_drawn(terms.keys.get("limits") or {}, drawn)) else []
    lines.append(
        f"{figures.amount(len(trials), 'trial')} in {figures.amount(tuning.used, 'match')} of the search, kept in {path}."
    )
    print(TextTable.fold("\n".join(lines), Terminal(out).room), file=out)
    print(f"\n{yaml.safe_dump(entry, sort_keys=False, allow_unicode=True).rstrip()}", file=out)
