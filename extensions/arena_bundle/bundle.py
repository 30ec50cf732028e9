"""The command `bundle`, which packs a store into one file."""

import json
import shlex
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import click

from arena import ArenaError, PluginError, Record, SpecError, __version__
from arena.api.cli import OutputKind, check_place, distribution, load, plugin_option, results_alone, say
from arena.api.errors import StoreError, abbreviate, escape_line
from arena.api.games import read_whole
from arena.api.results import figures
from arena.api.run import Scheduled
from arena.api.spec import PluginPlace, list_named_code, load_spec
from arena.api.store import ForeignCode, Run, Store
from arena_bundle.citation import write_citation
from arena_bundle.code_files import CodeFiles, list_libraries
from arena_bundle.file_checks import FileChecks
from arena_bundle.layout import (
    ALWAYS,
    BOARDS,
    CITATION,
    DRAWN,
    ENVIRONMENT,
    FORMAT,
    MANIFEST,
    PRINTED,
    RECORDS,
    RUN,
    SIGNATURE,
    SPEC,
    SUBMISSIONS,
    VERSION,
    Code,
    Manifest,
    RunData,
    RunFile,
    is_seed_of,
    read_line,
    runs_of,
    write_json,
    write_line,
)
from arena_bundle.privacy import LadderNames, Privacy, house_agents
from arena_bundle.reader import MAX_JSON_BYTES, MAX_RECORD_BYTES, Archive
from arena_bundle.rebuild import build_store, print_boards
from arena_bundle.signature import sign_file
from arena_bundle.verdict import Verdict
from arena_isolation.archive import unpack

MAX_CODE_BYTES = 1 << 30
"""The largest file of code or data in a bundle, in bytes."""
MAX_SUBMISSION_BYTES = 256 << 20
"""The largest size of an unpacked submission to a ladder. The limits of ladders are much smaller."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a bundle, so that equal stores give equal bundles."""


@click.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "out",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The bundle file to write, such as result.arena.",
)
@plugin_option
@click.option(
    "--spec", "spec_file", metavar="FILE", help="The spec that was played; arena then reads and loads the code that it names."
)
@click.option("--without-code", is_flag=True, help="Leave out code and data files; the bundle contains only their hashes.")
@click.option("--with-code", is_flag=True, help="For a ladder: include the code of the submissions, too.")
@click.option(
    "--data", "data", multiple=True, metavar="PATH", type=click.Path(exists=True, path_type=Path),
    help="A file or folder that the code reads; may be repeated.",
)  # fmt: skip
@click.option("--author", "authors", multiple=True, metavar="NAME", help="An author to cite; may be repeated.")
@click.option("--sign", metavar="KEY", type=click.Path(exists=True, path_type=Path), help="Sign with this private SSH key.")
def bundle(
    store: Path,
    out: Path,
    plugins: tuple[str, ...],
    spec_file: str | None,
    *,
    without_code: bool,
    with_code: bool,
    data: tuple[Path, ...],
    authors: tuple[str, ...],
    sign: Path | None,
) -> int:
    """Pack STORE into one file that others can verify with `arena verify`.

    The file contains the spec, the code, the records, the leaderboards, and a list of hashes. It contains no host names,
    e-mail addresses or keys. A store only names code: arena packs code if it is installed, or if you name it with --plugin
    or --spec.
    """
    check_place(out, OutputKind(".arena", "a bundle", MANIFEST.encode()))
    with results_alone() as shown, tempfile.TemporaryDirectory() as folder, Store.open(store) as opened, opened.snapshot():
        runs = opened.runs()
        if not runs:
            raise StoreError(f"{store} contains no run yet")
        if (shard := runs[-1].shard) is not None:
            raise StoreError(
                f"{store} contains only shard {shard} of its tournament; put all shards into one store with `arena merge`, "
                "and pack that store"
            )
        is_ladder = LadderNames.is_ladder(opened)
        if is_ladder:
            say("note: `arena verify` cannot check which matches a ladder has played, and does not replay them (exit code 3)")
        elif runs[-1].ended is None:
            say(
                "note: the last run has not ended, so `arena verify` cannot check everything (exit code 3); "
                f"`arena run SPEC --store {shlex.quote(str(store))}` continues the run, or ends it if no match is missing"
            )
        if any(run.hidden for run in runs):
            advice = (
                "`arena ladder admin SPEC reveal` ends the ladder for ever and reveals the seed"
                if is_ladder
                else "`arena run` reveals the seed when the run ends, so finish the run first"
            )
            raise StoreError(f"{store} has a seed that is still secret, and a bundle would reveal it; {advice}")
        ladder = LadderNames(opened, [key[-1] for key in load(plugins).sources]) if is_ladder else None
        if with_code and (ladder is None or without_code):
            raise click.UsageError(
                "--with-code is only for ladders and cannot be combined with --without-code; "
                "other bundles contain the code unless you give --without-code"
            )
        code = None
        if ladder is None:
            command = f"arena bundle {shlex.quote(str(store))} -o {shlex.quote(str(out))}"
            code = _collect_code(runs, plugins, data, spec_file, command, optional=without_code)
            for one in data:
                if code is not None:
                    code.add_data(one)
            for note in () if code is None else code.notes:
                say(f"note: {note}")
            if code is not None and not (data or without_code) and (readers := code.list_readers()):
                names = escape_line(", ".join(readers[:5]))
                say(
                    f"note: {names} may read data files by `__file__`; add the files that it reads with --data, or replays differ"
                )
        content = BundleContent(opened, runs, Path(folder), ladder, code, packs_code=with_code or not (without_code or ladder))
        content.write_all(authors)
        if sign is not None:
            sign_file(Path(folder, MANIFEST), sign)
        size = content.pack(out)
        print(
            f"{escape_line(str(out))}: {figures.amount(content.matches, 'match')},",
            f"{len(content.names) + 1} files, {size:,} bytes",
            file=shown,
        )
        print(f"SHA-256 of {MANIFEST}: {sha256(Path(folder, MANIFEST).read_bytes()).hexdigest()}", file=shown)
    return 0


def _collect_code(
    runs: Sequence[Run], plugins: tuple[str, ...], data: tuple[Path, ...], spec_file: str | None, command: str, *, optional: bool
) -> CodeFiles | None:
    """Return the code of the last run. If it cannot be loaded, return None if the code is `optional`, and else raise an error."""
    known = None if spec_file is None else load_spec(spec_file, plugins=plugins)
    if known is None:
        load(plugins)
        allowed = dict.fromkeys([PluginPlace(plugin).real for plugin in plugins])
    else:
        allowed = list_named_code(known.document, known.plugins, known.registry)
    try:
        spec = runs[-1].load(allowed, None if known is None else known.document.folder)
    except ForeignCode as error:
        if not optional:
            raise StoreError(f"{error}; to pack it: {command} {shlex.join(error.options(runs[-1].document))}") from error
        say(f"note: {error}, so the bundle contains only the hashes from the store")
        return None
    except (SpecError, PluginError) as error:
        if not optional:
            faults = escape_line("; ".join(str(error).splitlines()))
            raise StoreError(f"the spec of the run cannot be loaded here: {faults}; or use --without-code") from error
        return None
    if changed := _list_mixed([runs[-1], Run.of(spec)]):
        raise StoreError(
            f"{', '.join(changed)} changed since the matches were played, so they cannot be replayed with the current code; "
            "restore the old code, or play the matches again with --fresh"
        )
    if (mixed := _list_mixed(runs)) and not optional:
        say(
            f"note: the matches were played with more than one version of {', '.join(mixed)}, and the bundle contains only the "
            "last one, so `arena verify` finds differences; play the old matches again with --fresh-for AGENT"
        )
    files = CodeFiles(spec)
    shown = [place.resolve() for place in data]
    # The store may come from a stranger, who would get any file that it names.
    private = [text for text, file in files.data.items() if not any(file.resolve().is_relative_to(place) for place in shown)]
    if known is None and private:
        words = ForeignCode(dict.fromkeys(private)).options(runs[-1].document)
        what = f"not packed, because only the store names these data files: {escape_line(', '.join(private))}"
        if not optional:
            raise StoreError(f"{what}; to pack them: {command} {shlex.join(words)}")
        say(f"note: {what}, so the bundle contains only the hashes from the store")
        return None
    return files


def _list_mixed(runs: Sequence[Run]) -> list[str]:
    """Return the plugins whose code differs between runs, except for the plugins of arena itself."""
    return [name for name in Run.list_mixed_plugins(runs) if not name.startswith(f"{distribution()}:")]


@dataclass
class BundleContent:
    """The files of a bundle, which are written into a folder and then packed."""

    store: Store
    runs: Sequence[Run]
    folder: Path
    ladder: LadderNames | None
    code: CodeFiles | None
    packs_code: bool
    matches: int = 0

    def __post_init__(self) -> None:
        """Find out which values are private."""
        self.names: dict[str, bool] = {}
        """The files by name, each with a flag that is true if the file is executable."""
        self._left_out: dict[str, str] = {}
        values = self.runs[-1].spec["values"] if self.code is None else self.code.document_values()
        self.values = dict(values)
        folder = str(self.runs[-1].spec["folder"])
        self.privacy = Privacy(self.values, folder, shortens_paths=self.code is None)
        self._numbers: dict[str, int] = {}
        """A number for each plugin. A plugin has the same number in all runs, so that its versions can be compared."""
        self._parts: dict[str, dict[str, int]] = {}
        """For each plugin of a ladder, a number for each of its parts."""
        self._taken: set[str] = set()
        self._folders: set[str] = set()
        if self.ladder is not None:
            self.values["agents"] = house_agents(self.values.get("agents", ()), self.ladder.digests, self.ladder.labels)
            self.values = self.ladder.rename(self.values)
        self.values = self.privacy.rename_hosts(self.values)
        last = self.runs[-1]
        if not is_seed_of(self.values, last.seed, secret=last.secret is not None):  # `arena run --seed` has replaced it
            self.values["seed"] = last.seed if last.secret is None else DRAWN

    def write_all(self, authors: Sequence[str]) -> None:
        """Write all files and the manifest."""
        file = self._run_file()
        self._write(SPEC, write_json(self.values))
        self._write(RUN, write_json(file.model_dump()))
        self._write_records()
        environments = {"runs": Run.list_environments(self.runs), "libraries": list_libraries(self.code)}
        self._write(ENVIRONMENT, write_json(environments))
        self._write_boards(file)
        self._write_code()
        self._write(CITATION, write_citation(file, authors, _digest(self.folder / RECORDS)))
        left = None if self.packs_code else "code" if self.ladder is None else "code of a ladder"
        manifest = Manifest.model_validate(
            {
                "format": FORMAT,
                "version": VERSION,
                "arena": __version__,
                "files": {name: _digest(self.folder / name) for name in sorted(self.names)},
                "left_out": self._left_out,
                "without": left,
            }
        )
        (self.folder / MANIFEST).write_bytes(write_json(manifest.model_dump()))

    def _write(self, name: str, content: bytes, *, executable: bool = False) -> None:
        if name in self.names:
            raise ArenaError(f"{name} would appear twice in the bundle; rename the file with this name in the folder of the spec")
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ArenaError(f"{abbreviate(name)} would be outside the bundle; the store may be damaged")
        short, above = name.casefold(), {str(one).casefold() for one in path.parents}
        if short in self._taken | self._folders or above & self._taken:
            raise ArenaError(
                f"{abbreviate(name)} differs from the name of another file or folder only in upper and lower case; rename it"
            )
        if name in ALWAYS and len(content) > MAX_JSON_BYTES:
            raise ArenaError(
                f"{name} takes {len(content) / (1 << 20):,.1f} MiB; a bundle allows {MAX_JSON_BYTES >> 20} MiB: use fewer "
                "entries or fewer positions in one spec, so that each spec gets its own bundle"
            )
        self.privacy.check(name, content)
        self.names[name] = executable
        self._taken.add(short)
        self._folders |= above
        place = self.folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        except OSError as error:
            raise ArenaError(f"{abbreviate(name)} cannot be written: {error.strerror}") from error

    def _run_file(self) -> RunFile:
        last = self.runs[-1]
        boards: Any = json.loads(json.dumps([board.as_dict() for board in last.boards], default=str))
        code = Code() if self.code is None or not self.packs_code else self.code.code
        if self.ladder is None and any(len(board.settings) != len(board.labels) for board in last.boards):
            raise StoreError(
                f"{self.store.path} lacks the settings of some entries; `arena run SPEC --store {self.store.path}` adds them"
            )
        if self.ladder is not None:
            boards = [{**board, "settings": []} for board in self.ladder.rename(boards)]
        seed: Any = last.seed
        document = PurePosixPath(last.document.name).name
        renamed = self.privacy.rename_hosts(boards)
        self._renamed = renamed != boards
        return RunFile(
            name=last.name if self.ladder is None else self.ladder.hide(last.name),
            document=document if self.ladder is None else self.ladder.hide(document),
            seed=seed,
            ladder=self.ladder is not None,
            submissions={} if self.ladder is None else self.ladder.digests,
            boards=renamed,
            runs=[self._run_data(run) for run in self.runs],
            code=code,
        )

    def _run_data(self, run: Run) -> RunData:
        """Return the data about a run. Folders are removed from the names of plugins.

        On a ladder, the plugins get numbers instead of names, except for the plugins of arena itself.
        """
        plugins: dict[str, tuple[str | None, str]] = {}
        for name, found in run.plugins.items():
            number = self._numbers.setdefault(name, len(self._numbers))
            text = found.text
            short = name if "/" not in name else f"{number}/{name.rpartition('/')[2]}"
            if self.ladder is not None and not name.startswith(f"{distribution()}:"):
                short = f"plugin-{number}"
                parts = self._parts.setdefault(name, {})
                text = ", ".join([f"part-{parts.setdefault(part, len(parts))}={one}" for part, one in found.hashes.items()])
            plugins[short] = (found.version, text)
        return RunData(
            hash=run.hash,
            plugins=plugins,
            versions=dict(run.versions),
            secret=run.secret,
            commitment=run.commitment,
            revealed=run.revealed,
            started=run.started,
            ended=run.ended,
            idle=run.idle,
        )

    def _records(self) -> Iterator[tuple[Record, list[Scheduled]]]:
        """Yield each match on the boards of the last run once, with all its places in the schedule."""
        several: dict[int, int] = dict(self.store.query("SELECT record, count(*) FROM place GROUP BY 1 HAVING count(*) > 1"))
        seen: dict[str, list[Scheduled]] = {}
        repeated: set[str] = set()
        if several:
            marks = ", ".join(map(str, several))
            rows = self.store.query(f"SELECT lower(hex(id)) FROM record WHERE number IN ({marks})")  # noqa: S608 - numbers
            repeated = {key for (key,) in rows}
            for record, place in self.store.records(boards=True):
                if record.id in repeated and place is not None:
                    seen.setdefault(record.id, []).append(place)
        done: set[str] = set()
        for record, place in self.store.records(boards=True):
            if record.id in repeated:
                if record.id not in done:
                    done.add(record.id)
                    yield record, seen[record.id]
            elif place is not None:
                yield record, [place]

    def _write_records(self) -> None:
        clean: Callable[[Record], Record] = self.privacy.clean if self.ladder is None else self.ladder.clean
        self.names[RECORDS] = False
        with (self.folder / RECORDS).open("wb") as file:
            for record, places in self._records():
                line = write_line(clean(record), places)
                self.privacy.check(RECORDS, line)
                if len(line) > MAX_RECORD_BYTES:
                    raise ArenaError(f"match {record.id} takes {len(line):,} bytes; a bundle allows {MAX_RECORD_BYTES:,}")
                file.write(line)
                self.matches += 1

    def _write_boards(self, file: RunFile) -> None:
        """Compute the boards from the files of the bundle, and write them.

        Raises ArenaError if they differ from the boards of the store (not checked if labels or hosts were replaced).
        """
        place = self.folder / "check.db"
        with (self.folder / RECORDS).open("rb") as records:
            lines = (read_line(line, number) for number, line in enumerate(records, 1))
            build_store(place, list(runs_of(file, self.values)), lines)
        boards, printed = print_boards(place)
        place.unlink()
        if self.ladder is None and not self.privacy.hosts and not self._renamed and boards != print_boards(self.store.path)[0]:
            raise ArenaError(
                "the bundle was not written, because its boards differ from the boards of the store; please report this"
            )
        self._write(BOARDS, boards)
        self._write(PRINTED, printed)

    def _write_code(self) -> None:
        files = {}
        try:
            for name, place in {} if self.code is None else self.code.files.items():
                files[name] = read_whole(place, MAX_CODE_BYTES)
        except ValueError as error:
            raise ArenaError(f"the bundle was not written: {error}") from error
        if self.ladder is not None and self.packs_code:
            self._write_submissions(self.ladder)
        for name, content in files.items():
            executable = self.code is not None and bool(self.code.files[name].stat().st_mode & 0o100)
            if self.packs_code:
                self._write(name, content, executable=executable)
            else:
                self.privacy.check_name(name)
                self._left_out[name] = sha256(content).hexdigest()

    def _write_submissions(self, ladder: LadderNames) -> None:
        """Write the code of the submissions to a ladder. If some code cannot be in a bundle, it is left out with a note."""
        for label, key in ladder.keys.items():
            try:
                name, content, files = _submitted_files(self.store, label, key)
                ladder.check(label, {name: content, **files})
                for inside, body in files.items():
                    self.privacy.check(f"{name}/{inside}", body)
                self._write(name, content)
            except ArenaError as error:
                say(f"note: the code of {label} is left out: {error}")

    def pack(self, out: Path) -> int:
        """Write the bundle and return its size. A bundle that arena itself would refuse or contradict is not written."""
        part = out.with_name(f".{out.name}.part")
        names = [MANIFEST, *([SIGNATURE] if (self.folder / SIGNATURE).exists() else []), *sorted(self.names)]
        try:
            # Very regular files shrink so much that arena refuses them as a zip bomb. Then the files are stored uncompressed.
            for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
                part.unlink(missing_ok=True)  # it may be a link
                with zipfile.ZipFile(part, "w", method, compresslevel=9) as archive:
                    for name in names:
                        info = zipfile.ZipInfo(name, EPOCH)
                        info.compress_type, info.create_system = method, 3
                        info.external_attr = (0o100755 if self.names.get(name) else 0o100644) << 16
                        with (self.folder / name).open("rb") as source, archive.open(info, "w") as target:
                            shutil.copyfileobj(source, target, 1 << 20)
                try:
                    with Archive(part) as checked:
                        checked.check()
                    break
                except ArenaError:
                    if method == zipfile.ZIP_STORED:
                        raise
            self._check(part)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
        return out.stat().st_size

    def _check(self, part: Path) -> None:
        """Raise ArenaError if `arena verify` would find a contradiction in the files of a bundle."""
        verdict = Verdict(str(part))
        with Archive(part) as archive:
            FileChecks(archive, self.folder / "verified" / "store.db", verdict).run(None)
        if verdict.contradictions:
            raise ArenaError(
                f"the bundle was not written, because `arena verify` would contradict it: {verdict.contradictions[0]}"
            )


def _digest(place: Path) -> str:
    with place.open("rb") as file:
        whole = sha256()
        while chunk := file.read(1 << 20):
            whole.update(chunk)
    return whole.hexdigest()


def _submitted_files(store: Store, label: str, key: str) -> tuple[str, bytes, dict[str, bytes]]:
    """Return the name and the content of the file of a submission to a ladder, and the files in it if it is an archive.

    The bundle contains the archive itself, because the SHA-256 of the submission covers it.
    """
    [(kind, content)] = store.query("SELECT kind, content FROM ladder_submission WHERE id = ?", [key])
    if not content:
        raise ArenaError("the ladder has deleted it")
    suffix = {"python": ".py", "zip": ".zip"}.get(kind, "")
    return f"{SUBMISSIONS}/{label}/agent{suffix}", content, unpack(content, MAX_SUBMISSION_BYTES) if kind == "zip" else {}
