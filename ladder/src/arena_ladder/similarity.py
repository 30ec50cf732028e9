"""Compares the submissions of every two authors: equal code, and equal moves on positions that both authors have met.

Code is compared by winnowing (S. Schleimer, D. Wilkerson and A. Aiken, *Winnowing: Local Algorithms for Document Fingerprinting*,
2003) with the library copydetect, in which names, comments and spaces do not count. Moves are compared with the moves of other
authors of about the same strength, because strong agents agree on good moves.
"""

import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import NormalDist
from typing import Any

import numpy as np

from arena import ArenaError, Game
from arena.api.cli import say
from arena.api.match import Step
from arena.api.store import Store
from arena_check.new import starter
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import Helper
from arena_ladder.code_folder import CodeFolder
from arena_ladder.ledger import Ledger, find_last_run
from arena_ladder.spec import LadderSpec
from arena_ladder.submissions import Submission

NOISE_CHARACTERS = 25
"""The minimum length of equal parts that count, after names are replaced by letters."""
FOUND_CHARACTERS = 30
"""Equal parts of at least this length are always found."""
MIN_CODE_SHARE = 0.3
"""The minimum share of equal code for which a pair can be marked."""
FENCE = 3.0
"""A pair is unusual if it lies more than this many interquartile ranges above the third quartile of all pairs (J. Tukey)."""
NEIGHBOURS = 10
"""The number of authors of about the same strength with whom the moves of an author are compared."""
MIN_POSITIONS = 20
"""A pair with fewer shared positions is not marked because of its moves."""
MAX_POSITIONS = 4000
"""The maximum number of positions that are compared. Positions that more authors have met are chosen first."""
MAX_MATCHES = 200
"""The moves of a submission are read from this many of its latest matches."""
LEXER = "arena_ladder.similarity_process"
LEXER_SECONDS = 5.0
"""The processor time for the tokens of a submission. A file of 256 KiB takes about a second."""
LEXER_BYTES = 1 << 30
MAX_SIMPLE_BYTES = 1 << 28
START_SECONDS, ANSWER_SECONDS = 60.0, 120.0
"""The timeouts of the process that finds tokens; the second one is for a machine that has no processor time left."""
MISSING = "the search for similar agents needs copydetect: pip install 'copydetect>=0.5'"
ERROR = 0.05
"""The bound for the probability that chance marks any pair because of its moves, if positions are independent."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What two authors have in common."""

    one: str
    other: str
    code: float | None
    """The share of the code of `one` that `other` has, too, or the reverse, whichever is larger; None without code to compare."""
    shared: int
    """The number of positions in which both have moved."""
    equal: float | None
    """The share of these positions with equal moves; None if there are none."""
    expected: float | None
    """The share of equal moves that is expected, estimated from other authors of about the same strength."""
    is_unusual: bool
    """True if the code or the moves are unusually alike, compared with the other pairs of authors."""


def compare_authors(ladder: LadderSpec, ledger: Ledger, folder: CodeFolder) -> list[Likeness]:
    """Return all pairs of authors, the most similar ones first. The latest submission with code represents its author.

    Raises ArenaError if copydetect is not installed.
    """
    latest = {one.author: one for one in ledger.submissions() if one.kind != "program" and ledger.content(one.id)}
    authors = sorted(latest)
    texts = [read_code(folder.texts(latest[author])) for author in authors]
    own, *simple = simplify_all([starter(ladder.spec.boards[0].name, ladder.spec.registry), *texts])
    for author, text, tokens in zip(authors, texts, simple, strict=True):
        if tokens is None and is_long(text):
            name, limit = f"{author}/{latest[author].file}", f"{LEXER_SECONDS:g} s"
            say(f"note: {name} is not compared, because its tokens cannot be found in {limit}; look at it yourself")
    code = compare_code(simple, [own])
    moves = read_moves(ladder, ledger, [latest[author] for author in authors])
    ratings = ledger.latest_ratings()
    strengths = [ratings.get(latest[author].label, 0.0) for author in authors]
    shared, equal, expected, deviates = compare_moves(moves, strengths)
    unusual = mark_moves(shared, equal, expected, deviates) | mark_code(code)
    found = []
    for one in range(len(authors)):
        for other in range(one + 1, len(authors)):
            count = int(shared[one, other])
            found.append(
                Likeness(
                    authors[one],
                    authors[other],
                    None if np.isnan(code[one, other]) else round(float(code[one, other]), 3),
                    count,
                    round(float(equal[one, other]) / count, 3) if count else None,
                    round(float(expected[one, other]) / count, 3) if count else None,
                    bool(unusual[one, other]),
                )
            )
    return sorted(found, key=lambda pair: (not pair.is_unusual, -(pair.code or 0.0), -(pair.equal or 0.0), pair.one, pair.other))


def read_code(files: Mapping[str, str | None]) -> str:
    """Return the Python code of a submission as one text."""
    return "\n".join([text for name, text in sorted(files.items()) if text is not None and name.endswith(".py")])


def is_long(text: str) -> bool:
    """Return True if a text has enough code to be compared."""
    return len(text.strip()) > 2 * FOUND_CHARACTERS


def simplify_all(texts: Sequence[str]) -> list[str | None]:
    """Return the code of each text without names, comments and spaces; None if it is too short or takes too long.

    The texts are from authors, so other processes read them, with limits. Raises ArenaError if copydetect is not installed.
    """
    if find_spec("copydetect") is None:
        raise ArenaError(MISSING)
    helper: Helper | None = None
    found: list[str | None] = []
    try:
        for text in texts:
            if not is_long(text):
                found.append(None)
                continue
            if helper is None:
                helper = Helper(LEXER, [str(LEXER_SECONDS)], memory=LEXER_BYTES, longest=MAX_SIMPLE_BYTES)
                helper.wait_until_ready(START_SECONDS)
            try:
                found.append(str(helper.ask(text, ANSWER_SECONDS)))
            except ChildLost:
                helper.end()
                helper = None
                found.append(None)
    except ChildLost as lost:
        raise ArenaError(f"the process that reads the code of authors did not start ({lost.why}); try again") from lost
    finally:
        if helper is not None:
            helper.end()
    return found


def compare_code(texts: Sequence[str | None], given: Sequence[str | None] = ()) -> Any:
    """Return a matrix with the share of equal code of each pair, as in `Likeness.code`; NaN if one of the two has no code.

    The texts are those of `simplify_all`. Code that is also in the texts in `given`, which all authors were given, does not
    count. Raises ArenaError if copydetect is not installed.
    """
    try:
        from copydetect import CodeFingerprint, compare_files
        from copydetect.utils import get_token_coverage
    except ImportError as error:
        raise ArenaError(MISSING) from error

    def read(text: str | None, window: int) -> Any:
        if text is None or len(text) <= FOUND_CHARACTERS:
            return None
        return CodeFingerprint("agent.py", NOISE_CHARACTERS, window, filter=False, fp=io.StringIO(text))

    known: set[int] = set().union(*[found.hashes for text in given if (found := read(text, 1)) is not None])
    prints: list[Any] = []
    for text in texts:
        found = read(text, FOUND_CHARACTERS - NOISE_CHARACTERS + 1)
        if found is not None:
            found.hashes = found.hashes - known
            found.hash_idx = {key: places for key, places in found.hash_idx.items() if key not in known}
            found.token_coverage = get_token_coverage(found.hash_idx, NOISE_CHARACTERS, len(found.filtered_code))
        prints.append(found if found is not None and found.hashes else None)
    shares = np.full((len(texts), len(texts)), np.nan)
    for one, first in enumerate(prints):
        for other, second in enumerate(prints[:one]):
            if first is not None and second is not None:
                both = compare_files(first, second)[1] if first.hashes & second.hashes else (0.0, 0.0)
                shares[one, other] = shares[other, one] = min(1.0, max(both))
    return shares


def mark_code(shares: Any) -> Any:
    """Return a matrix that is true for the pairs whose share of equal code is large, and unusual among all pairs of authors."""
    return (np.nan_to_num(shares) >= MIN_CODE_SHARE) & _lies_beyond(shares, ~np.isnan(shares))


def mark_moves(shared: Any, equal: Any, expected: Any, deviates: Any) -> Any:
    """Return a matrix that is true for the pairs whose moves are alike more often than by chance, and unusually often among all
    pairs of authors.

    The arguments are the matrices of `compare_moves`. A test against chance alone is not enough: with many positions, even a
    small error of the expectation would mark a pair.
    """
    authors = len(shared)
    highest = NormalDist().inv_cdf(1 - ERROR / max(1, authors * (authors - 1) // 2))
    enough = shared >= MIN_POSITIONS
    excess = np.divide(equal - expected, shared, out=np.zeros(shared.shape), where=enough)
    return (deviates > highest) & _lies_beyond(excess, enough)


def _lies_beyond(values: Any, known: Any) -> Any:
    """Return a matrix that is true for the pairs of authors with a known value above the upper fence (see FENCE) of all pairs."""
    found = values[np.triu(known, 1)]
    if not len(found):
        return np.zeros(values.shape, bool)
    low, high = np.percentile(found, [25, 75])
    return known & ~np.eye(len(values), dtype=bool) & (np.nan_to_num(values) > high + FENCE * (high - low))


def read_moves(ladder: LadderSpec, ledger: Ledger, submissions: Sequence[Submission]) -> Any:
    """Return the moves of authors as a matrix with a row for each author, and a column for each position that at least three
    authors have met.

    Equal numbers in a column stand for equal moves, and -1 stands for no move. A position is identified by the start of a match
    and all actions so far.
    """
    rows = {one.label: row for row, one in enumerate(submissions) if one.version is not None}
    games: dict[str, Game] = {board.name: board.game for board in ladder.spec.boards}
    chosen: dict[Any, dict[int, str]] = defaultdict(dict)
    with Store.open(ledger.path) as store, store.snapshot():
        left = dict.fromkeys(rows, MAX_MATCHES)
        keys = []
        for key, labels in _list_matches(store):
            if any(left.get(label, 0) > 0 for label in labels):
                keys.append(key)
                for label in labels:
                    left[label] = left.get(label, 0) - 1
        for record, _ in store.found(keys).values():
            game = games.get(record.game)
            path: tuple[str, ...] = ()
            for step in Step.follow(game, record) if game is not None else ():
                if step.action is None or step.seat is None:
                    continue
                row = None if step.decision is None else rows.get(record.labels[step.seat])  # else opening or chance
                if row is not None:
                    chosen[record.game, record.position, path].setdefault(row, step.action)
                path = (*path, step.action)
    kept = sorted((by_row for by_row in chosen.values() if len(by_row) > 2), key=len, reverse=True)[:MAX_POSITIONS]
    moves = np.full((len(submissions), len(kept)), -1)
    for column, by_row in enumerate(kept):
        numbers = {action: number for number, action in enumerate(sorted(set(by_row.values())))}
        for row, action in by_row.items():
            moves[row, column] = numbers[action]
    return moves


def _list_matches(store: Store) -> Iterable[tuple[str, list[str]]]:
    """Return the ids of all matches with the labels of their agents, the latest first."""
    last = find_last_run(store)
    boards = [] if last is None else [board.labels for board in last.boards]
    question = "SELECT r.id, p.board, p.seats FROM place p JOIN record r ON r.number = p.record ORDER BY p.number DESC"
    for key, board, seats in store.query(question):
        yield key.hex(), [boards[board][entry] for entry in Store.seats_of(seats)]


def compare_moves(moves: Any, strengths: Sequence[float]) -> tuple[Any, Any, Any, Any]:
    """Return four matrices for all pairs of authors: the number of positions in which both have moved, the number of equal moves,
    the expected number of equal moves, and by how many standard deviations the moves are more alike than expected.

    `moves` is the matrix of `read_moves`. The probability that a pair agrees on a position is estimated from the neighbours of
    the two, which are the authors nearest to each of them in strength. The estimate is the share of these neighbours that chose
    the same move as the author whose neighbours they are.
    """
    authors, positions = moves.shape
    zero = np.zeros((authors, authors))
    if not positions or authors < 3:
        return zero, zero, zero, zero
    order = np.argsort(np.asarray(strengths, float), kind="stable")
    place = np.empty(authors, int)
    place[order] = np.arange(authors)
    distance = np.abs(place[:, None] - place[None, :])
    near = (distance > 0) & (distance <= NEIGHBOURS // 2)
    met = moves >= 0
    agree = np.zeros((authors, positions))
    asked = np.zeros((authors, positions))
    for one in range(authors):
        same = (moves[near[one]] == moves[one]) & met[one]
        agree[one], asked[one] = same.sum(axis=0), (met[near[one]] & met[one]).sum(axis=0)
    shared, equal, expected, deviates = zero, zero.copy(), zero.copy(), zero.copy()
    for one in range(authors):
        both = met & met[one]
        same = (moves == moves[one]) & both
        own = near[one][:, None]  # if the two of a pair are neighbours, they do not count
        agreeing = agree[one] + agree - 2 * (same & own)
        number = asked[one] + asked - 2 * (both & own)
        chance = np.where(both, (agreeing + 0.5) / (number + 1), 0.0)
        shared[one], equal[one], expected[one] = both.sum(axis=1), same.sum(axis=1), chance.sum(axis=1)
        spread = np.sqrt((chance * (1 - chance)).sum(axis=1))
        deviates[one] = np.divide(equal[one] - expected[one], spread, out=np.zeros(authors), where=spread > 0)
    return shared, equal, expected, deviates


def describe_pairs(pairs: Sequence[Likeness], most: int) -> str:
    """Return the first pairs as a table."""
    from tabulate import tabulate

    def percent(share: float | None) -> str:
        return "-" if share is None else f"{100 * share:.0f} %"

    rows = [
        ["*" if pair.is_unusual else "", pair.one, pair.other, *map(percent, (pair.code, pair.equal, pair.expected)), pair.shared]
        for pair in pairs[:most]
    ]
    table = tabulate(
        rows,
        ["", "Author", "Author", "Equal code", "Equal moves", "Expected", "Positions"],
        colalign=("left",) * 3 + ("right",) * 4,
    )
    return (
        f"{table}\n* far more similar than other pairs in the class; this is evidence, not proof"
        if rows
        else "There is nothing to compare, because fewer than two authors have submitted code."
    )
