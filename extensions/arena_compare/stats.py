"""The command `stats`: computes the Elo difference with its interval from counts on the command line, and runs a test on them."""

import json
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

import click

from arena.api.cli import Number, results_alone
from arena.api.results import figures
from arena.stats import EloEstimate
from arena_compare.texts import elo_words, score_words
from arena_pairings.sprt import MAX_ELO, Sprt, forecast, log_likelihood_ratio

MAX_COUNT = 10**12
"""The largest count. With larger counts, rounding errors would be visible in the figures."""


def parse_counts(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[int, ...]:
    """Return the counts as numbers. Raises NoSuchOption for a word that looks like an option, and BadParameter for other words
    that are not counts.
    """
    for value in values:
        if value.startswith("-") and not value[1:2].isdecimal():
            options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
            raise click.NoSuchOption(value, possibilities=get_close_matches(value, options), ctx=context)
        if not (value.isascii() and value.isdecimal() and len(value) < 20 and int(value) <= MAX_COUNT):
            raise click.BadParameter(f"expected whole numbers from 0 to {MAX_COUNT:,}, got {value!r}")
    return tuple(map(int, values))


@click.command(context_settings={"ignore_unknown_options": True})  # so that -1 is a wrong count, not a wrong option
@click.argument("counts", nargs=-1, required=True, callback=parse_counts, metavar="WINS DRAWS LOSSES")
@click.option("--pentanomial", is_flag=True, help="Give five counts instead: pairs of games with 0, 1/2, 1, 1 1/2 and 2 points.")
@click.option(
    "--sprt",
    nargs=2,
    type=Number(-MAX_ELO["normalized"], MAX_ELO["normalized"]),
    metavar="ELO0 ELO1",
    help="With --pentanomial: run a test of these two hypotheses.",
)
@click.option("--format", "style", type=click.Choice(["simple", "json"]), default="simple", show_default=True)
def stats(counts: tuple[int, ...], pentanomial: bool, sprt: tuple[float, float] | None, style: str) -> int:
    """Compute the Elo difference of a result with its interval, and the likelihood of superiority."""
    expected = 5 if pentanomial else 3
    if len(counts) != expected:
        raise click.UsageError(
            f"expected {expected} counts{'' if pentanomial else ', or five after --pentanomial'}, got {len(counts)}"
        )
    if sprt is not None and not pentanomial:
        raise click.UsageError("--sprt needs pairs of games: give five counts after --pentanomial")
    test = None if sprt is None else Sprt(*sprt)
    ratio = None if test is None else log_likelihood_ratio(counts, test)
    if pentanomial:
        worth, counted_words = EloEstimate.of_pairs(counts), figures.amount(sum(counts), "pair")
    else:
        wins, draws, losses = counts
        worth, counted_words = EloEstimate.of_games(wins, draws, losses), f"{wins} won, {draws} drawn, {losses} lost"
    with results_alone() as out:
        if style == "json":
            document: dict[str, Any] = {**asdict(worth), "margin": worth.margin}
            if not any(counts):
                document |= dict.fromkeys(("score", "elo", "superiority", "p_value", "normalized_elo"))
            if test is not None and ratio is not None:
                document["sprt"] = {"llr": ratio, "lower": test.lower, "upper": test.upper, "verdict": test.verdict(ratio)}
            print(json.dumps(document, indent=2, allow_nan=False), file=out)
        else:
            margin = "" if worth.margin is None else f" Margin ± {worth.margin:.2f}."
            if any(counts):
                print(f"{counted_words}: score {score_words(worth)}", file=out)
                print(elo_words(worth).replace("Elo ", "Elo difference ", 1) + margin, file=out)
            else:
                print("Without games, the score and the Elo difference are unknown.", file=out)
            if any(counts) and worth.normalized_elo is not None:
                print(f"Normalised Elo {worth.normalized_elo:+.2f}.", file=out)
            if test is not None and ratio is not None:
                verdict, ahead = test.verdict(ratio), forecast(test, counts, ratio)
                said = "not decided yet"
                if verdict is not None:
                    said = f"{test.explain(verdict, 'the first', 'the second')}; {verdict} is accepted"
                bounds = f"the test ends at {test.lower:.2f} or {test.upper:.2f}"
                found = f"log-likelihood ratio {round(ratio, 2) + 0.0:.2f} ({bounds})"
                print(f"Sequential test ({test.describe()}): {found}, {said}.", file=out)
                if ahead is not None and any(counts):
                    print(f"The test takes {ahead.describe()}.", file=out)
    return 0
