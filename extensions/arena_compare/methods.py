"""Writes the paragraph on methods for a paper: what was played, on what, and how differences were tested.

All of it is read from a store, and nothing is measured again.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from arena import Agent, Hints, load_plugins
from arena.api.errors import escape_line
from arena.api.results import BoardInfo, Leaderboard, figures
from arena.api.spec import Parameters
from arena.api.store import Run, Store
from arena.stats import SIGNIFICANCE_LEVEL
from arena_compare.comparison import Compared, Comparison, GamesComparison
from arena_compare.measures import MeanComparison
from arena_compare.puzzle_comparison import PuzzleComparison
from arena_compare.verdicts import join_sentences
from arena_pairings.sprt import Sprt

TESTS = {
    "sign flips": "exact sign-flip tests (Fisher 1935)",
    "McNemar's exact test": "McNemar's exact test (McNemar 1947)",
    "Student's t": "Student's t-test",
    "Student's t of the ratings": "Student's t of the ratings (Bradley and Terry 1952; variance clustered by round)",
    "exact sign test": "exact sign tests of matches that one entry always won (Dixon and Mood 1946)",
}
"""The tests as a paper names them, by the names that comparisons give."""
UNITS = {
    "nodes": "generated nodes",
    "seconds": "seconds",
    "cpu_seconds": "seconds of processor time",
    "depth": "plies",
    "memory_mb": "MiB of memory",
}
OF_SOLUTIONS = " of solutions"
ASPECTS = {
    "rating": "ratings",
    "games": "the games between the two",
    "return": "mean returns",
    "solved": "solved positions",
    "expanded": "expanded states",
}
"""The aspects of a board that have other names in a paper."""
PARTS = {"python": "Python", "arena": "fairarena"}


def methods_text(store: Store, boards: Sequence[Leaderboard], found: Sequence[Compared], measure: str | None = None) -> str:
    """Return the paragraph. `boards` and `found` are the leaderboards and the comparisons of the last run, board by board, and
    `measure` is the name that was given with `--by`.
    """
    runs = store.runs()
    last, agents = runs[-1], load_plugins(strict=False).agents
    values, users = last.spec["values"], _find_users(store, [board.sheet for board in boards], agents)
    sentences: list[str] = []
    for board, compared, using in zip(boards, found, users, strict=True):
        sentences += [*_describe_board(board, agents, using), *compared.conditions]
        sentences += _describe_tests(board.sheet, compared, measure)
    if moves := (values.get("limits") or {}).get("moves"):
        sentences.append(f"Each match was limited to {figures.amount(moves, 'move')}.")
    starts = [f"{key}: {_write(values[key])}" for key in ("openings", "positions") if values.get(key)]
    if starts:
        sentences.append(f"The starting positions come from {figures.listing(starts)}.")
    seed = "a seed that is still secret" if last.seed is None else f"seed {last.seed}"
    sentences.append(f"All random numbers are derived from {seed}.")
    for number, environment in enumerate(Run.list_environments([run for run in runs if not run.idle] or [last])):
        place = {"system", "machine", "processor", "commit"}
        software = [f"{PARTS.get(name, name)} {text}" for name, text in environment.items() if name not in place]
        machine = [environment[name] for name in ("processor", "machine", "system") if name in environment]
        where = f" on {', '.join(machine)}" if machine else ""
        where += f", at commit {environment['commit']} of the working directory" if "commit" in environment else ""
        sentences.append(f"{'Some' if number else 'The'} matches were played with {', '.join(software)}{where}.")
    plugins = [escape_line(f"{name.rpartition('/')[2]} {one.version or '(no version)'}") for name, one in last.plugins.items()]
    if others := [text for text in plugins if not text.startswith("fairarena:")]:
        sentences.append(f"Other code: {', '.join(others)}.")
    return join_sentences(sentences)


def _find_users(store: Store, sheets: Sequence[BoardInfo], agents: Mapping[str, type[Agent]]) -> list[set[int]]:
    """Return, for each board, the entries that have evaluated a state with their heuristic. Settings have the default heuristic
    of the game for every agent, whether it uses it or not.
    """
    users = [set[int]() for _ in sheets]
    settings = [(board, entry, one) for board, sheet in enumerate(sheets) for entry, one in enumerate(sheet.settings)]
    never = {name for name, agent in agents.items() if not (agent.wants_heuristic or Hints.of(agent).uses_heuristic)}
    unseen = {(board, entry) for board, entry, one in settings if one["heuristic"] and one["agent"] not in never}
    for record, place in store.records(boards=True) if unseen else ():
        if place is not None and any((place.board, entry) in unseen for entry in place.pairing.seats):
            using = {place.pairing.seats[one.seat] for one in record.decisions if one.evaluations}
            users[place.board] |= using
            unseen -= {(place.board, entry) for entry in using}
        if not unseen:
            break
    return users


def _describe_board(board: Leaderboard, agents: Mapping[str, type[Agent]], using: Collection[int]) -> Iterator[str]:
    sheet = board.sheet
    parameters = ", ".join([f"{name} = {_write(value)}" for name, value in board.game.items() if name != "name"])
    known = sheet.settings if len(sheet.settings) == len(sheet.labels) else ()  # old stores have none
    users = {
        label: _describe_heuristic(one["heuristic"])
        for entry, (label, one) in enumerate(zip(sheet.labels, known, strict=False))
        if entry in using and one["heuristic"]
    }
    named = len(set(users.values())) > 1
    entries = [] if known else [*sheet.labels]
    for label, one in zip(sheet.labels, known, strict=False):
        details = [] if label == one["agent"] or label.startswith(f"{one['agent']}(") else [one["agent"]]
        details += [text for text in _describe_options(one, agents.get(one["agent"])) if text.replace(" = ", "=") not in label]
        details += [f"heuristic {users[label]}"] if named and label in users else []
        entries.append(f"{label} [{', '.join(details)}]" if details else label)
    game = f"{board.game['name']}{f' ({parameters})' if parameters else ''}"
    counted = f"{board.games:,} {'attempts at' if sheet.kind == 'puzzle' else 'games of'} {game}"
    counted += f", {board.distinct_games:,} of them different" if board.distinct_games < board.games else ""
    yield f"{len(entries)} entries ({', '.join(entries)}) played {counted}, in the {sheet.format} format."
    if users and not named:
        of = "" if len(users) == len(known) else f" of {figures.listing(list(users))}"
        yield f"The heuristic{of} was {max(users.values())}."
    if board.void:
        yield f"Void matches are left out ({board.void:,})."
    yield from [remark for remark in board.remarks if "more than one version of" in remark]
    limits = {
        label: figures.listing([f"{limit:,.10g} {UNITS.get(unit, unit)}" for unit, limit in sheet.limits_of(entry).items()])
        for entry, label in enumerate(sheet.labels)
    }
    if not sheet.limits:
        pass
    elif len(set(limits.values())) == 1:
        yield f"Each decision was limited to {limits[sheet.labels[0]]}."
    else:
        each = [f"{label} to {limit}" if limit else f"{label} not at all" for label, limit in limits.items()]
        yield f"Decisions were limited: {', '.join(each)}. The limits differ, so a difference may come from them."
    ranked = next((remark for remark in board.remarks if remark.startswith("Ranked by")), None)
    if ranked is not None:
        yield f"Entries are ranked by{ranked.removeprefix('Ranked by').partition('. ')[0].rstrip('.')}."


def _describe_heuristic(heuristic: Mapping[str, Any]) -> str:
    """Return a heuristic with its parameters."""
    parameters = ", ".join([f"{name} = {_write(value)}" for name, value in heuristic["parameters"].items()])
    return f"{heuristic['name']}{f' ({parameters})' if parameters else ''}"


def _describe_options(settings: Mapping[str, Any], agent: type[Agent] | None) -> list[str]:
    """Return the options of an entry that differ from their defaults; all options if the class of its agent is unknown."""
    options = settings["options"] if agent is None else Parameters(agent).drop_defaults(settings["options"])
    return [f"{name} = {_write(value)}" for name, value in options.items()]


def _describe_tests(sheet: BoardInfo, compared: Compared, measure: str | None) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    sizes: dict[str, list[int]] = {}
    for pair in compared.pairs:
        for aspect, test, size in _list_tests(sheet, pair, measure):
            if test:
                names.setdefault(aspect, [])
                names[aspect] += [] if test in names[aspect] else [test]
                sizes.setdefault(aspect, []).extend([] if size is None else [size])
    unit = "positions" if sheet.kind == "puzzle" and not compared.one_position else "rounds"
    if compared.pairs and isinstance(compared.pairs[0], GamesComparison):
        unit = "pairs of games, which start from the same position with the seats exchanged"
    by_test: dict[tuple[str, str], list[str]] = {}
    for aspect, tests in names.items():
        text = figures.listing([TESTS.get(name, name) for name in tests], "or")
        least, most = min(sizes[aspect], default=0), max(sizes[aspect], default=0)
        number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        solved = " that both solved" if aspect.endswith(OF_SOLUTIONS) else ""
        by_test.setdefault((text, f"n = {number} {unit}{solved}" if most else ""), []).append(aspect)
    said = [(f"{figures.listing(aspects)} by {text}", size) for (text, size), aspects in by_test.items()]
    if said:
        whom = "every two entries"
        if len(compared.pairs) == 1 and len(sheet.labels) > 2:
            whom = f"{compared.pairs[0].one} and {compared.pairs[0].other}"
        sided = "" if sheet.test is not None and measure is None else ", two-sided"
        if len({size for _, size in said}) == 1:
            texts, number = ", ".join([text for text, _ in said]), said[0][1]
            yield f"For {whom}, we compared {texts}{sided}{number and f', with {number}'}."
        else:
            parts = "; ".join([f"{text}{number and f', with {number}'}" for text, number in said])
            yield f"For {whom}, we compared {parts}{sided and '; all tests are two-sided'}."
    if compared.tests > 1:
        untimed = [
            pair for pair in compared.pairs if isinstance(pair, PuzzleComparison) and pair.untimed and pair.observations_both > 1
        ]
        seconds = ", which include tests of seconds that could not be made," if untimed else ""
        each = [f"{count:,} of {ASPECTS.get(name, name)}" for name, count in compared.tests_by_aspect.items()]
        which = f"{figures.listing(each)}, " if len(each) > 1 else ""
        yield (
            f"P-values are corrected for all {compared.tests:,} tests of the board ({which}between every two of its "
            f"{len(sheet.labels):,} entries, as far as they differ){seconds} by Holm's method (Holm 1979), so the family-wise "
            f"error rate is at most {100 * SIGNIFICANCE_LEVEL:g} %; each interval of a difference has the level of its test "
            "(Serlin 1993)."
        )


def _list_tests(sheet: BoardInfo, pair: Comparison, measure: str | None) -> Iterator[tuple[str, str, int | None]]:
    """Yield the aspects of two entries that are tested, each with the name of its test and the number of observations."""
    if isinstance(pair, MeanComparison):
        yield f"the mean {measure or 'return'}{OF_SOLUTIONS if pair.solved else ''}", pair.test, pair.observations
    elif isinstance(pair, GamesComparison):
        size = sum(pair.counts) if pair.counts else None
        if sheet.test is not None:
            test = Sprt(**sheet.test)
            yield "the score", f"a sequential test of {test.describe()} (alpha {test.alpha:g}, beta {test.beta:g})", size
            return
        yield "the ratings", pair.test, size
        yield "the games between the two", "" if pair.direct is None else pair.direct.test, size
    else:
        yield "the solved positions", pair.test, pair.observations
        for aspect in ("cost", "moves", "nodes", "seconds"):
            means = getattr(pair, aspect)
            yield (
                f"the {aspect}{OF_SOLUTIONS}",
                "" if means is None or means.test is None else means.test.test,
                pair.observations_both,
            )


def _write(value: object) -> str:
    """Return a value of a spec without the signs of YAML or JSON, as in `plies 4`."""
    if isinstance(value, Mapping):
        return ", ".join([f"{key} {_write(one)}" for key, one in value.items()])
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value):,}"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
