"""The checks of `arena verify` that run no code: hashes, signature, records, leaderboards and citation."""

import json
import math
import posixpath
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version as version_of
from itertools import zip_longest
from math import ceil
from pathlib import Path, PurePosixPath
from typing import Any

from arena import ArenaError, __version__, load_plugins
from arena.api.cli import LiveLine
from arena.api.errors import StoreError, abbreviate, cut, describe, escape_line
from arena.api.games import own_columns, ranks
from arena.api.match import UNREPEATABLE_ENDINGS
from arena.api.results import figures
from arena.api.store import Run
from arena_bundle.citation import write_citation
from arena_bundle.layout import (
    ALWAYS,
    BOARDS,
    CITATION,
    DRAWN,
    ENVIRONMENT,
    MANIFEST,
    PRINTED,
    RECORDS,
    RUN,
    SIGNATURE,
    SPEC,
    SUBMISSIONS,
    TOURNAMENT,
    Code,
    Contradiction,
    Environments,
    Line,
    Manifest,
    NoBundle,
    RunFile,
    is_seed_of,
    read_json,
    read_model,
    runs_of,
)
from arena_bundle.reader import Archive
from arena_bundle.rebuild import build_store, print_boards
from arena_bundle.signature import check_signature
from arena_bundle.verdict import Verdict
from arena_records.contradictions import find_contradiction, find_impossible_ending

TOLERANCE = 1e-9
"""Two numbers count as equal if their relative difference is at most this, because processors may differ in the last digits."""
RECOMPUTED = "board recomputed: "
OTHER_RUNS = "that its author did not select this run from several"
UNCHECKED = f"that the times, the messages, the versions and {ENVIRONMENT} are true: a replay does not repeat them"
ISOLATION = "that the agents ran in the isolation that the spec names: records do not depend on it"
AUTHORS = b"authors: "
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line breaks, and characters that change the direction of a text."""
OPTIONS = ("settings", "game", "options", "versions", "plugins")
"""Keys with values that a spec may choose freely, such as prompts, and the commands of programs."""
PACKAGE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
"""A name of a package by PEP 508."""
PACKAGE_VERSION = re.compile(r"[A-Za-z0-9.+!_-]{1,100}")
NO_PACKAGES = ("system", "machine", "processor", "commit")
"""Keys of an environment that name no package."""
MAX_SIZE = 2**53
"""The largest size of a schedule, so that every program can read the number from JSON."""
SECRET_PATTERN = re.compile(r"[0-9a-f]{32}(,[0-9]{1,15}:[0-9a-f]{32})*")
LADDER = (
    "which matches the ladder has played, in which order, and with which limits and isolation; which agents claim optimal "
    "solutions; that its agents chose these actions, or failed as the records say; which submissions have these pseudonyms, and "
    "which have left: the author alone knows"
)
HONEST_CODE = "that the code does what its author says: it may contain recorded moves, so read it"


class FileChecks:
    """The checks that read the files of a bundle and run no code from it. They put its matches into `store`, a new file."""

    def __init__(self, archive: Archive, store: Path, verdict: Verdict) -> None:
        self.archive, self.store, self.verdict = archive, store, verdict
        self._line = LiveLine(sys.stderr)

    def run(self, signers: Path | None) -> bool:
        """Make these checks, and write their results into the verdict. Return whether the records can be compared with the rules.

        Then `replays` says whether the matches can also be replayed.
        """
        manifest = self.archive.check()
        self.verdict.manifest = self.archive.digests[MANIFEST]
        try:
            self._check_hashes(manifest)
            self._check_signature(signers)
            self._read_run()
            self._check_submissions(manifest)
            self._check_records()
            self._check_boards()
            self._check_citation()
        except Contradiction as error:
            self.verdict.contradictions.append(str(error))
            return False
        except (ArenaError, MemoryError, OSError):
            raise
        except Exception as error:  # values in a stranger's bundle may lead to any error
            self.verdict.contradictions.append(f"arena cannot read some values in this bundle: {describe(error)}")
            return False
        finally:
            self._line.show("")
        self._compare_environment(manifest)
        self._note_limits()
        self.replays = manifest.without is None and not self.file.ladder
        if manifest.without is not None:
            self.verdict.not_shown.append(f"not replayed: the bundle does not contain {manifest.without}")
        elif self.file.ladder:
            self.verdict.not_shown.append(
                "not replayed: the records of a ladder contain pseudonyms, which change the random numbers"
            )
        return True

    def _check_hashes(self, manifest: Manifest) -> None:
        if manifest.left_out and manifest.without is None:
            raise Contradiction(f"{MANIFEST}: left_out names files, although no code was left out")
        missing = [name for name in (*ALWAYS, *manifest.files) if name not in manifest.files or not self.archive.has(name)]
        wrong = [name for name, found in manifest.files.items() if self.archive.digests.get(name, found) != found]
        if missing or wrong:
            parts = [f"{name} is missing" for name in dict.fromkeys(missing)]
            parts += [f"{name} does not have the SHA-256 of the manifest" for name in wrong]
            raise Contradiction("; ".join(parts))
        self.verdict.shown.append(f"all {len(manifest.files):,} files have the SHA-256 of the manifest")

    def _check_signature(self, signers: Path | None) -> None:
        signed = self.archive.has(SIGNATURE)
        if signers is None:
            if signed:
                self.verdict.notes.append("the bundle is signed; to check who signed it, use --signers FILE")
            return
        if not signed:
            self.verdict.not_shown.append("its author: the bundle has no signature")
            return
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.archive.read(SIGNATURE, 1 << 16))
            file.flush()
            signer = check_signature(self.archive.read(MANIFEST), Path(file.name), signers)
        if signer is None:
            raise Contradiction(f"the signature was not made by any of the signers in {signers}")
        self.verdict.shown.append(f"the manifest is signed by {signer}")

    def _read_run(self) -> None:
        self.file: RunFile = read_model(RunFile, self.archive.read_values(RUN), f"{self.archive.place}: {RUN}")
        self.values: Any = self.archive.read_values(SPEC)
        if not isinstance(self.values, dict) or not self.file.runs:
            raise Contradiction(f"{SPEC} or {RUN} contains no run")
        self.verdict.name = self.file.name
        self.runs = list(runs_of(self.file, self.values))
        self.last = self.runs[-1]
        self.same_version = self.last.versions.get("arena") == __version__
        self.one_version = all(run.versions.get("arena") == __version__ for run in self.runs)
        secret = self.last.secret
        self._secret = [(0, self.file.seed)] if secret is None else list(split_secret(secret))
        if secret is not None and (self.last.revealed is None or self.file.seed != self._secret[-1][1]):
            raise Contradiction(f"{RUN}: the seed is not the secret seed that was revealed")
        same = [run for run in self.runs if secret is not None and run.secret == secret]
        if any(is_revealed_early(self.last.revealed, run.started) for run in same[:1]):
            raise Contradiction(f"{RUN}: the secret seed was revealed at {self.last.revealed}, before its run started")
        self._used = {0} if secret is None else set[int]()
        check_sheets(self.file.boards)
        check_texts(self.file.model_dump(), RUN)
        self._check_rankings()
        self._check_spec()
        environments = self.archive.read_values(ENVIRONMENT)
        self.environments = read_model(Environments, environments, f"{self.archive.place}: {ENVIRONMENT}")
        check_texts(environments, ENVIRONMENT)
        for name, version in (*self.environments.libraries.items(), *self.last.versions.items()):
            if name not in NO_PACKAGES and not (PACKAGE.fullmatch(name) and PACKAGE_VERSION.fullmatch(version)):
                text = abbreviate(f"{name} {version}")
                raise Contradiction(f"{ENVIRONMENT}: expected the name and the version of a package, got {text}")
        if self.environments.runs != Run.list_environments(self.runs):
            raise Contradiction(f"{ENVIRONMENT}: its runs do not have the versions in {RUN}")

    def _check_rankings(self) -> None:
        """Compare whether and how a format ranks its board with the format, if it is one of arena's own."""
        known = load_plugins(environ=False).formats
        for number, sheet in enumerate(self.last.boards, 1):
            if self.file.ladder and sheet.ranking is not None:
                raise Contradiction(f"{RUN}: board {number}: a ladder has no ranking of its own")
            kind = known.get(sheet.format)
            if kind is None:
                continue
            given = sheet.ranking and (sheet.ranking.columns, sheet.ranking.criteria)
            expected = (own_columns(kind), kind.ranking_criteria) if ranks(kind) else None
            if given == expected:
                continue
            text = f"{RUN}: board {number}: the format {sheet.format} has {'this' if expected else 'no'} ranking"
            if self.same_version:
                raise Contradiction(text)
            self.verdict.not_shown.append(f"{text} in this version of arena")

    def _check_submissions(self, manifest: Manifest) -> None:
        """Compare the code of the submissions to a ladder with the SHA-256 of what was handed in."""
        if self.file.submissions and not self.file.ladder:
            raise Contradiction(f"{RUN}: submissions: expected none, because the bundle is not of a ladder")
        folder, packed = f"{SUBMISSIONS}/", set[str]()
        for name, digest in manifest.files.items() if self.file.ladder else ():
            if name.startswith(folder):
                label = posixpath.dirname(name.removeprefix(folder))
                if self.file.submissions.get(label) != digest:
                    raise Contradiction(f"{name} is not the code that was submitted: {RUN} has a different SHA-256")
                packed.add(label)
        if packed:
            self.verdict.shown.append(f"the code of {figures.amount(len(packed), 'submission')} has the SHA-256 in {RUN}")
        if manifest.without is None and (lacking := [label for label in self.file.submissions if label not in packed]):
            self.verdict.not_shown.append(f"the code of {', '.join(lacking[:5])} is not in the bundle")

    def _check_spec(self) -> None:
        """Compare what the spec says about the run with the run. The sandbox compares its boards."""
        given = self.values.get("seed")
        if not is_seed_of(self.values, self.file.seed, secret=self.last.secret is not None):
            expected = DRAWN if self.last.secret is not None else self.file.seed
            raise Contradiction(f"{SPEC}: seed: expected {abbreviate(expected)}, the seed of the run, got {abbreviate(given)}")
        if self.file.ladder:  # it hides names of people
            return
        name = self.values.get("name") or escape_line(PurePosixPath(self.file.document).stem)
        if name != self.file.name:
            raise Contradiction(
                f"{SPEC}: name: expected {abbreviate(self.file.name)}, the name of the run, got {abbreviate(name)}"
            )
        if self.file.code == Code():
            return
        plugins = self.values.get("plugins") or []
        if not isinstance(plugins, list):
            raise Contradiction(f"{SPEC}: plugins: expected a list, got {abbreviate(plugins)}")
        for plugin in plugins:
            if not {str(plugin), posixpath.normpath(posixpath.join(TOURNAMENT, str(plugin)))} & {*self.file.code.plugins}:
                raise Contradiction(f"{SPEC}: plugins: {abbreviate(plugin)} is not a plugin of the run")

    def _check_records(self) -> None:
        """Check each record on its own, and put all records into a store."""
        self.store.parent.mkdir()
        self.store.parent.chmod(0o755)
        try:
            self.verdict.matches = build_store(self.store, self.runs, self._checked_lines())
        except (StoreError, OverflowError, ValueError, TypeError) as error:
            raise Contradiction(f"the records cannot be put into a store: {self._without_store(error)}") from error
        self.store.chmod(0o644)
        unused = [first for first, _ in self._secret if first not in self._used]
        if unused:
            raise Contradiction(f"{RUN}: no match uses the secret seed for the rounds from {unused[0]:,} on")
        self.verdict.shown.append(
            f"{figures.amount(self.verdict.matches, 'record')} satisf{'ies' if self.verdict.matches == 1 else 'y'} the rules "
            "for records"
        )

    def _checked_lines(self) -> Iterator[Line]:
        boards = self.last.boards
        ids: set[str] = set()
        numbers: set[int] = set()
        taken: set[tuple[int, ...]] = set()
        self._counts = Counter[int]()
        self.endings = Counter[str]()
        unexplained = 0
        for line in self.archive.lines():
            record = line.record
            if record.id in ids:
                raise Contradiction(f"match {record.id} occurs twice in the records")
            ids.add(record.id)
            for place in line.places:
                known = range(len(boards))
                seats = (
                    []
                    if place.board not in known
                    else [one for one in place.pairing.seats if one < len(boards[place.board].labels)]
                )
                if len(seats) != len(record.labels) or place.number in numbers:
                    raise Contradiction(f"match {record.id}: its place {place.number} in the schedule is impossible")
                numbers.add(place.number)
                sheet = boards[place.board]
                key = (place.board, place.pairing.round, *seats)
                if self.file.ladder and key in taken:
                    text = f"board {place.board + 1}, round {place.pairing.round:,} and its seats belong to another match, too"
                    raise Contradiction(f"match {record.id}: {text}")
                taken.add(key)
                expected, got = (
                    (sheet.game.get("name"), tuple([sheet.labels[one] for one in seats])),
                    (record.game, record.labels),
                )
                if got != expected:
                    raise Contradiction(f"match {record.id}: expected {abbreviate(expected)}, got {abbreviate(got)}")
                self._counts[place.board] += 1
                first, seed = [part for part in self._secret if part[0] <= place.pairing.round][-1]
                self._used.add(first)
                if record.seed != seed:
                    raise Contradiction(f"match {record.id}: seed: expected the seed of the run, got {abbreviate(record.seed)}")
            if (wrong := find_contradiction(record, None)) is not None:
                raise Contradiction(f"match {record.id}: {wrong}")
            if self.one_version and record.fallbacks != sum([one.fallback for one in record.decisions]):
                raise Contradiction(f"match {record.id}: fallbacks: expected {record.fallbacks:,} marked decisions, got 0")
            self.endings[record.termination] += 1
            for place in line.places:
                sheet = boards[place.board]
                wrong = find_impossible_ending(record, sheet.timed, (*sheet.apart, *(sheet.left or ())))
                if wrong is None or (self.file.ladder and record.termination == "memory"):  # a ladder gives no messages
                    continue
                # before, an entry may have had another isolation; and earlier versions did not write which entries are apart
                if len(self.runs) == 1 and {"timed", "apart"} <= self.file.boards[place.board].keys():
                    raise Contradiction(f"match {record.id}: {wrong}")
                unexplained += 1
            if len(ids) % 1000 == 0:
                self._line.show(f"{len(ids):,} records")
            yield line
        if unexplained:
            text = f"how {figures.amount(unexplained, 'match')} could end by a timeout, a crash or a lack of memory"
            self.verdict.not_shown.append(f"{text}: now, the entries have no such limits and no processes of their own")

    def _without_store(self, error: Exception) -> str:
        """Return a description of an error about the store without the path of the store, which is a temporary file."""
        return describe(error).replace(f"{self.store}: ", "").partition("; `arena check")[0]

    def _check_boards(self) -> None:
        """Compute the boards again, and compare them with the boards in the bundle.

        Also compare the number of matches of each board with its schedule.
        """
        try:
            boards, printed = print_boards(self.store)
        except Exception as error:  # values in a stranger's bundle may lead to any error
            raise Contradiction(f"the boards cannot be computed from the records: {self._without_store(error)}") from error
        given = self.archive.read_values(BOARDS)
        computed = read_json(boards, BOARDS)
        same_version = self.same_version
        found = list(find_differences(given, computed, "", subset=not same_version))
        if found:
            raise Contradiction(f"{BOARDS}: {'; '.join(found[:3])}")
        there = self.archive.read(PRINTED)
        check_texts(there.decode(errors="replace").split("\n"), PRINTED)
        lacking = [] if same_version else list(find_differences(given, computed, "", subset=False))
        if lacking:
            self.verdict.not_shown.append(f"{BOARDS} lacks values that arena {__version__} computes: {'; '.join(lacking[:3])}")
        if there == printed and not lacking:
            self.verdict.shown.append(f"{RECOMPUTED}every number of {BOARDS} and {PRINTED}")
        elif same_version:
            lines = enumerate(zip_longest(there.decode(errors="replace").splitlines(), printed.decode().splitlines()), 1)
            number, texts = next(((number, both) for number, both in lines if both[0] != both[1]), (0, ("other line ends", "")))
            raise Contradiction(
                f"{PRINTED}:{number} is not a line of these boards: {abbreviate(texts[0])}, recomputed {abbreviate(texts[1])}"
            )
        else:
            if not lacking:
                self.verdict.shown.append(f"{RECOMPUTED}every number of {BOARDS}")
            self.verdict.not_shown.append(f"{PRINTED}: arena {__version__} prints different text than the version that made it")
        boards_full = all(sheet.exact and self._counts[number] == sheet.size for number, sheet in enumerate(self.last.boards))
        self.is_complete = self.last.ended is not None or (boards_full and not self.file.ladder)
        for number, sheet in enumerate(self.last.boards):
            count = self._counts[number]
            if self.file.ladder:
                self.verdict.not_shown.append(
                    f"schedule of {sheet.title}: the spec of a ladder does not determine it, so a dropped match cannot be noticed"
                )
            elif count > sheet.size or (count < sheet.size and sheet.exact and self.last.ended is not None):
                text = f"{sheet.title} has {count:,} of the {figures.amount(sheet.size, 'match')} in its schedule"
                raise Contradiction(f"{text}, although the run has ended" if count < sheet.size else text)
            elif not self.is_complete:
                self.verdict.not_shown.append(
                    f"schedule of {sheet.title}: the run has not ended, so a dropped match cannot be noticed ({count:,} of "
                    f"{'' if sheet.exact else 'at most '}{sheet.size:,} matches)"
                )
            if not sheet.exact and not self.file.ladder:
                self.verdict.notes.append(
                    f"schedule of {sheet.title}: the spec alone does not determine it, because the format {sheet.format} depends "
                    "on the results"
                )

    def _check_citation(self) -> None:
        """Compare the citation with the run, except for the authors that it names."""
        expected = write_citation(self.file, (), self.archive.digests[RECORDS]).splitlines()
        lines = self.archive.read(CITATION).splitlines()
        self.authors: list[str] = []
        for one, other in zip_longest(lines, expected):
            if one != other and not (one and other and one.startswith(AUTHORS) and other.startswith(AUTHORS)):
                shown = ["no line" if text is None else repr(cut(text.decode(errors="replace"), 300)) for text in (one, other)]
                raise Contradiction(f"{CITATION}: expected {shown[1]}, got {shown[0]}")
            if one.startswith(AUTHORS):
                self.authors = read_authors(one.removeprefix(AUTHORS))

    def _compare_environment(self, manifest: Manifest) -> None:
        """Add notes about packages of the author that are missing here or have another version here."""
        versions = {**self.environments.libraries, **self.last.versions}
        missing, other = [], []
        for name, there in versions.items():
            here = __version__ if name == "arena" else ".".join(map(str, sys.version_info[:3])) if name == "python" else None
            if name in NO_PACKAGES:
                continue
            with suppress(PackageNotFoundError, ValueError):  # some of these names are not names of packages
                here = here or version_of(name)
            if here is None:
                missing.append(f"{name} {there}")
            elif here != there:  # a package that is missing here explains no difference, because its import fails
                other.append(f"{name} {there} (here {here})")
        self.verdict.notes += [f"missing packages: {', '.join(missing)}"] if missing else []
        self.verdict.notes += [f"other versions: {', '.join(other)}"] if other else []
        self.has_other_versions = bool(other)

    def _note_limits(self) -> None:
        if self.last.commitment is None:
            self.verdict.limits.append(OTHER_RUNS)
        else:
            hashes = [f"{hash_secret(str(digits))} (from round {first:,} on)" for first, digits in self._secret]
            which = str(self.last.commitment) if len(hashes) == 1 else f"all of {', '.join(hashes)}"
            self.verdict.limits.append(
                f"{OTHER_RUNS}, unless the author published the hash of the secret seed before the run: compare it with {which}"
            )
        names_isolation = '"isolation":' in json.dumps(self.values)
        if self.authors not in ([], ["anonymous"]):
            self.verdict.limits.append(f"that its authors are {', '.join(map(repr, self.authors))}: only {CITATION} says so")
        endings = {reason: self.endings[reason] for reason in sorted(UNREPEATABLE_ENDINGS) if self.endings[reason]}
        if endings:
            count = sum(endings.values())
            named = ", ".join([f"{reason} ({number:,})" for reason, number in endings.items()])
            share = f"{figures.amount(count, 'match')} of {self.verdict.matches:,} ({ceil(100 * count / self.verdict.matches)} %)"
            self.verdict.limits.append(
                f"that {share} ended as recorded: {named}; no replay can repeat such an end, so it may be invented"
            )
        about = [LADDER] if self.file.ladder else [HONEST_CODE]
        self.verdict.limits += [*about, *([ISOLATION] if names_isolation else []), UNCHECKED]


def read_authors(text: bytes) -> list[str]:
    """Return the names of the authors in a citation. Raises Contradiction if they are not a list of names."""
    try:
        values = read_json(text, CITATION)
    except NoBundle:
        values = None
    if not isinstance(values, list) or not all(isinstance(one, dict) and list(one) == ["name"] for one in values):
        raise Contradiction(f"{CITATION}: authors: expected a list of names")
    names = [one["name"] for one in values]
    if not all(isinstance(one, str) for one in names):
        raise Contradiction(f"{CITATION}: authors: expected a list of names")
    check_texts(names, f"{CITATION}: authors")
    return names


def check_texts(value: Any, where: str) -> None:
    """Raise Contradiction if a text contains a control character, a line break or a change of direction. It could imitate a
    verdict.

    The values of options, such as a prompt, may have several lines, so they are not checked; arena quotes them.
    """
    if isinstance(value, str) and (found := UNPRINTABLE.search(value)):
        raise Contradiction(f"{where}: expected one line without control characters, got {abbreviate(value)} with {found[0]!a}")
    if isinstance(value, dict):
        for key, one in value.items():
            check_texts(key, where)
            if key not in OPTIONS:
                check_texts(one, f"{where}: {key}")
    for one in value if isinstance(value, (list, tuple)) else ():
        check_texts(one, where)


def split_secret(secret: str) -> Iterator[tuple[int, int | str]]:
    """Yield the first round and the digits of each part of a secret seed. Raises Contradiction if it is not a secret seed."""
    if SECRET_PATTERN.fullmatch(secret) is None:
        raise Contradiction(f"{RUN}: {abbreviate(secret)} is not a secret seed")
    before = -1
    for part in secret.split(","):
        first, _, digits = part.rpartition(":")
        if int(first or 0) <= before:
            raise Contradiction(f"{RUN}: the parts of the secret seed are not in the order of their rounds")
        before = int(first or 0)
        yield before, digits


def hash_secret(digits: str) -> str:
    """Return the hash of a part of a secret seed. `arena run` prints this hash before the first match that uses the part."""
    return blake2b(digits.encode(), digest_size=32).hexdigest()


def is_revealed_early(revealed: str | None, started: str) -> bool:
    """Return whether a secret seed was revealed before its run started. Raises Contradiction if one of them is not a time."""
    if revealed is None:
        return False
    try:
        return datetime.fromisoformat(revealed) < datetime.fromisoformat(started)
    except (ValueError, TypeError):  # no time, or only one of them has a time zone
        raise Contradiction(f"{RUN}: {abbreviate(revealed)} and {abbreviate(started)} are not times in UTC") from None


def check_sheets(sheets: Sequence[Mapping[str, Any]]) -> None:
    """Raise Contradiction if a board in `run.json` contains values of wrong types."""
    for number, sheet in enumerate(sheets, 1):
        game, labels, size = sheet.get("game"), sheet.get("labels"), sheet.get("size")
        sound = {
            "game": isinstance(game, dict) and isinstance(game.get("name"), str),
            "labels": isinstance(labels, list) and all(isinstance(one, str) for one in labels),
            "size": type(size) is int and 0 <= size <= MAX_SIZE,
            "exact": isinstance(sheet.get("exact"), bool),
            "title": isinstance(sheet.get("title"), str),
            "format": isinstance(sheet.get("format", ""), str),
        }
        for key, right in sound.items():
            if not right:
                raise Contradiction(f"{RUN}: board {number}: {key} cannot be {abbreviate(sheet.get(key))}")


def find_differences(given: Any, computed: Any, path: str, *, subset: bool) -> Iterator[str]:
    """Yield the differences between plain values. If `subset` is true, `computed` may have keys that `given` lacks."""
    if isinstance(given, dict) and isinstance(computed, dict):
        keys = given.keys() if subset else {**given, **computed}
        for key in keys:
            if key not in given or key not in computed:
                yield f"{path}.{key}".lstrip(".") + (" is missing" if key not in given else " is unknown")
            else:
                yield from find_differences(given[key], computed[key], f"{path}.{key}".lstrip("."), subset=subset)
    elif isinstance(given, list) and isinstance(computed, list) and len(given) == len(computed):
        for number, (one, other) in enumerate(zip(given, computed, strict=True)):
            yield from find_differences(one, other, f"{path}[{number}]", subset=subset)
    elif isinstance(given, float) and isinstance(computed, float):
        if not math.isclose(given, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path} is {given}, recomputed {computed}"
    elif given != computed or (isinstance(given, bool) is not isinstance(computed, bool)):
        yield f"{path} is {abbreviate(given)}, recomputed {abbreviate(computed)}"
