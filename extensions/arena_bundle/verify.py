"""The command `verify`, which checks the results in a bundle."""

import json
import tempfile
from pathlib import Path

import click

from arena.api.cli import results_alone, say
from arena.api.errors import StoreError
from arena.api.store import Store
from arena_bundle.file_checks import FileChecks
from arena_bundle.layout import NoBundle, write_json
from arena_bundle.lot import LotSize, LotSizeType
from arena_bundle.reader import Archive
from arena_bundle.sandbox_checks import SandboxChecks
from arena_bundle.verdict import Verdict, digest_store, sign_verdict, verdict_file


@click.command()
@click.argument("bundle", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--replay", "size", type=LotSizeType(), default=LotSize(), show_default="60 matches or 1 %, whichever is more",
    help="Number or percentage of matches to replay.",
)  # fmt: skip
@click.option("--seed", type=int, metavar="N", help="Seed for choosing these matches, which makes the choice repeatable.")
@click.option(
    "--signers",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="File of allowed signers, in the format of `ssh-keygen`.",
)
@click.option(
    "--store", "keep", type=click.Path(path_type=Path), metavar="S", help="Write the matches and the verdict to a new store."
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The output.")
def verify(bundle: Path, size: LotSize, seed: int | None, signers: Path | None, keep: Path | None, style: str) -> int:
    """Verify the results in BUNDLE, a file from `arena bundle`. Nothing else is needed.

    It compares the hashes, checks the records, computes the leaderboards again, and replays matches that it draws at random. Code
    from the bundle runs only in a sandbox.

    Exit codes: 0 verified, 1 contradicted, 2 not a bundle or a newer version, 3 nothing contradicts but not all was shown.
    """
    for place in () if keep is None else (keep, verdict_file(keep)):
        if place.exists():
            raise StoreError(f"{place} exists; choose a new file with --store")
    with results_alone() as out, tempfile.TemporaryDirectory() as folder:
        verdict, store = Verdict(str(bundle)), Path(folder) / "store" / "store.db"
        Path(folder).chmod(0o755)  # a sandbox that root starts reads the files as another user
        try:
            with Archive(bundle) as archive:
                files = FileChecks(archive, store, verdict)
                if files.run(signers):
                    SandboxChecks(files, Path(folder) / "files", size, seed).run()
        except (NoBundle, MemoryError, OSError) as error:
            text = f"{bundle} needs too much memory" if isinstance(error, MemoryError) else str(error)
            text = f"{bundle} cannot be verified here: {text}" if isinstance(error, OSError) else text
            if style != "json":
                raise NoBundle(text) from None
            print(json.dumps({"verdict": "refused", "bundle": str(bundle), "message": text}, indent=2), file=out)
            return NoBundle.EXIT_CODE
        print(json.dumps(verdict.as_dict(), indent=2) if style == "json" else verdict.text(), file=out)
        if keep is not None:
            keep_store(store, keep, verdict)
    return verdict.exit_code


def keep_store(store: Path, place: Path, verdict: Verdict) -> None:
    """Copy `store`, which has the matches, to `place`, and write the verdict next to it.

    If there is no store, because an earlier check failed, only say so.
    """
    if not verdict.matches:
        say(f"{place} was not written, because not all records of {verdict.bundle} are valid")
        return
    with Store.open(store) as opened:
        opened.copy(place)
        values = {**verdict.as_dict(), "store": digest_store(opened)}
    verdict_file(place).write_bytes(write_json({**values, "mac": sign_verdict(values)}))
