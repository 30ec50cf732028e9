"""Writes the paragraph on methods for a paper: what was played, on what, and how differences were tested.

All of it is read from a store, and nothing is measured again.
"""

from collections.abc import Iterator, Mapping, Sequence

from arena.api.results import BoardInfo, Leaderboard
from arena.api.store import Run
from arena.stats import SIGNIFICANCE_LEVEL
from arena_compare.comparison import Compared, Comparison, GamesComparison
from arena_compare.measures import MeanComparison
from arena_pairings.sprt import Sprt

TESTS = {
    "sign flips": "exact sign-flip tests (Fisher 1935)",
    "McNemar's exact test": "McNemar's exact test (McNemar 1947)",
    "Student's t": "Student's t-test",
    "Student's t of the ratings": "Student's t of the ratings (Bradley and Terry 1952; variance clustered by round)",
}
"""The tests as a paper names them, by the names that comparisons give."""
UNITS = {"nodes": "generated nodes", "seconds": "seconds", "depth": "plies"}
PARTS = {"python": "Python", "arena": "fairarena"}


def methods_text(
    runs: Sequence[Run], boards: Sequence[Leaderboard], found: Sequence[Compared], measure: str | None = None
) -> str:
    """Return the paragraph. `boards` and `found` are the leaderboards and the comparisons of the last run, board by board, and
    `measure` is the name that was given with `--by`.
    """
    last = runs[-1]
    sentences = [
        sentence for board, compared in zip(boards, found, strict=True) for sentence in _describe_board(board, compared, measure)
    ]
    values = last.spec["values"]
    starts = [f"{key}: {_write(values[key])}" for key in ("openings", "positions") if values.get(key)]
    if starts:
        sentences.append(f"The starting positions come from {' and '.join(starts)}.")
    seed = "a seed that is still secret" if last.seed is None else f"seed {last.seed}"
    sentences.append(f"All random numbers follow from {seed}.")
    for number, environment in enumerate(Run.list_environments([run for run in runs if not run.idle] or [last])):
        place = {"system", "machine", "processor", "commit"}
        software = [f"{PARTS.get(name, name)} {text}" for name, text in environment.items() if name not in place]
        machine = [environment[name] for name in ("processor", "machine", "system") if name in environment]
        where = f" on {', '.join(machine)}" if machine else ""
        where += f", at commit {environment['commit']} of the working directory" if "commit" in environment else ""
        sentences.append(f"{'Some' if number else 'The'} matches were played with {', '.join(software)}{where}.")
    plugins = [f"{name.rpartition('/')[2]} {one.version or '(no version)'}" for name, one in last.plugins.items()]
    if others := [text for text in plugins if not text.startswith("fairarena:")]:
        sentences.append(f"Other code: {', '.join(others)}.")
    return " ".join(sentences)


def _describe_board(board: Leaderboard, compared: Compared, measure: str | None) -> Iterator[str]:
    sheet = board.sheet
    parameters = ", ".join([f"{name} = {_write(value)}" for name, value in board.game.items() if name != "name"])
    heuristics = [str((one["heuristic"] or {}).get("name", "")) for one in sheet.settings]
    named = len({*heuristics} - {""}) > 1
    entries = []
    for label, one, heuristic in zip(sheet.labels, sheet.settings, heuristics, strict=True):
        details = [] if one["agent"] in label else [one["agent"]]
        details += [f"heuristic {heuristic}"] if named and heuristic and heuristic not in label else []
        entries.append(f"{label} [{', '.join(details)}]" if details else label)
    game = f"{board.game['name']}{f' ({parameters})' if parameters else ''}"
    counted = f"{board.games:,} {'attempts at' if sheet.kind == 'puzzle' else 'games of'} {game}"
    counted += f", {board.distinct_games:,} of them different" if board.distinct_games < board.games else ""
    yield f"{len(entries)} entries ({', '.join(entries)}) played {counted}, in the format {sheet.format}."
    if any(heuristics) and not named:
        yield f"The heuristic was {max(heuristics)}."
    if board.void:
        yield f"Void matches are left out ({board.void:,})."
    limits = {
        label: " and ".join([f"{limit:,g} {UNITS.get(unit, unit)}" for unit, limit in sheet.limits_of(entry).items()])
        or "nothing"
        for entry, label in enumerate(sheet.labels)
    }
    if len(set(limits.values())) == 1:
        yield f"Each decision was limited to {limits[sheet.labels[0]]}."
    else:
        yield f"Decisions were limited: {', '.join([f'{label} to {limit}' for label, limit in limits.items()])}."
    ranked = next((remark for remark in board.remarks if remark.startswith("Ranked by")), None)
    if ranked is not None:
        yield f"Entries are ranked by{ranked.removeprefix('Ranked by').partition('. ')[0].rstrip('.')}."
    if compared.pairs:
        yield from _describe_tests(sheet, compared, measure)


def _describe_tests(sheet: BoardInfo, compared: Compared, measure: str | None) -> Iterator[str]:
    tests: dict[str, list[str]] = {}
    for pair in compared.pairs:
        for aspect, test in _list_tests(sheet, pair, measure):
            if test:
                tests.setdefault(aspect, [])
                tests[aspect] += [] if test in tests[aspect] else [test]
    by_test: dict[str, list[str]] = {}
    for aspect, names in tests.items():
        by_test.setdefault(" or ".join([TESTS.get(name, name) for name in names]), []).append(aspect)
    said = [f"{' and '.join(aspects)} by {names}" for names, aspects in by_test.items()]
    sizes = []
    for pair in compared.pairs:
        if isinstance(pair, GamesComparison):
            sizes += [sum(pair.counts)] if pair.counts else []
        else:
            sizes.append(pair.rounds if isinstance(pair, MeanComparison) else pair.solved.positions)
    unit = {"puzzle": "positions"}.get(sheet.kind, "rounds")
    if isinstance(compared.pairs[0], GamesComparison):
        unit = "pairs of games, which start from the same position with the seats exchanged"
    if said and sizes:
        number = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        yield f"For every two entries, we compared {', '.join(said)}, two-sided, with n = {number} {unit}."
    if compared.tests > 1:
        yield (
            f"P-values and intervals are corrected for all {compared.tests:,} tests by Holm's method (Holm 1979), so the "
            f"family-wise error rate is at most {100 * SIGNIFICANCE_LEVEL:g} %."
        )


def _list_tests(sheet: BoardInfo, pair: Comparison, measure: str | None) -> Iterator[tuple[str, str]]:
    """Yield the aspects of two entries that are tested, each with the name of its test."""
    if isinstance(pair, MeanComparison):
        yield f"the mean {measure or 'return'}", pair.test
    elif isinstance(pair, GamesComparison):
        if sheet.test is not None:
            test = Sprt(**sheet.test)
            yield "the score", f"a sequential test of {test.describe()} (alpha {test.alpha:g}, beta {test.beta:g})"
            return
        yield "the ratings", pair.test
        yield "the games between the two", "" if pair.direct is None else pair.direct.test
    else:
        yield "the solved positions", pair.test
        for aspect in ("cost", "moves", "nodes", "seconds"):
            means = getattr(pair, aspect)
            yield f"the {aspect} of solutions", "" if means is None or means.test is None else means.test.test


def _write(value: object) -> str:
    """Return a value of a spec without the signs of YAML or JSON, as in `plies 4`."""
    if isinstance(value, Mapping):
        return ", ".join([f"{key} {_write(one)}" for key, one in value.items()])
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value):,}"
    return str(value).lower() if isinstance(value, bool) else str(value)
