"""Files from git revisions. git extracts them into the user's cache folder. They are kept there, because a commit never
changes.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from arena import ArenaError
from arena.api.errors import cut
from arena.api.store import are_own, cache_folder, describe_cache_fault, make_cache_folder

GIT_TIMEOUT_SECONDS = 120.0
GIT_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")
"""Environment variables that make git use another repository; a git hook or a script of the user may set them."""


GIT = "git:"
"""The prefix of a version that names a revision."""


class RevisionError(ArenaError):
    """A revision is not available: there is no git, no repository or no such revision, or the file is not in it."""


class NotInRevision(RevisionError):
    """The revision exists, but the file is not in it."""


class Revision(NamedTuple):
    """A commit of a repository."""

    root: Path
    """The top folder of the repository's working tree."""
    commit: str
    """The full hash of the commit."""

    @property
    def text(self) -> str:
        """Return the text for the key `version` that always stands for this commit."""
        return f"{GIT}{self.commit}"


def revision(name: str, file: Path) -> Revision:
    """Return the revision `name` (`HEAD~1`, a tag, the start of a hash) in the repository of `file`. Raises RevisionError if
    there is none.
    """
    place = file.resolve()
    if not place.parent.is_dir():
        raise RevisionError(f"no folder {place.parent}")
    found = _git(place.parent, "rev-parse", "--show-toplevel")
    if found.returncode:
        raise RevisionError(f"{file.name} is not in a git repository; give the path of an older copy, or add the file to git")
    root = Path(os.fsdecode(found.stdout).rstrip("\n"))
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit.returncode or not name:
        raise RevisionError(f"no revision {name!r} in {root}; expected one that `git log` shows, such as HEAD~1")
    return Revision(root, commit.stdout.decode().strip())


def taken_out(found: Revision, file: Path, *, alone: bool) -> Path:
    """Return `file` as it was at a revision. The result is a copy in the cache. If `alone` is false, the other files of the
    revision are copied with it.

    Raises NotInRevision if the file did not exist at that revision.
    """
    try:
        name = file.resolve().relative_to(found.root.resolve()).as_posix()
    except ValueError:
        raise RevisionError(f"{file} is not below {found.root}") from None
    cache = cache_folder() / "versions"
    if _git(found.root, "cat-file", "-e", f"{found.commit}:{name}").returncode:
        raise NotInRevision(f"{name} did not exist at {found.commit[:12]}; choose a later revision")
    tree = cache / (f"{found.commit}-files" if alone else found.commit)
    if (fault := describe_cache_fault(tree)) is not None:
        raise RevisionError(fault)
    if not (tree / name).is_file():
        _archive(found, tree, [name] if alone else [])
    if not are_own(tree.rglob("*")):
        raise RevisionError(f"{tree} is not used, because other users may write files in it; delete it")
    return tree / name


def _archive(found: Revision, tree: Path, names: Iterable[str]) -> None:
    """Extract files of a revision. They are first written to a temporary folder, so that no process sees a partial copy."""
    archive = _git(found.root, "archive", "--format=tar", found.commit, "--", *names)
    if archive.returncode:
        raise RevisionError(f"git archive {found.commit[:12]}: {cut(archive.stderr.decode(errors='replace').strip())}")
    try:
        make_cache_folder(tree.parent)
        with tempfile.TemporaryDirectory(dir=tree.parent, prefix=".git-") as folder:
            with tempfile.TemporaryFile() as file:
                file.write(archive.stdout)
                file.seek(0)
                with tarfile.open(fileobj=file) as tar:
                    tar.extractall(folder, filter="data")
            for place in Path(folder).rglob("*"):  # some of the files may exist already
                target = tree / place.relative_to(folder)
                if place.is_dir() and not place.is_symlink():
                    target.mkdir(parents=True, exist_ok=True)
                else:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    place.replace(target)
        for place in (tree, *tree.rglob("*")):
            if place.is_dir() and not place.is_symlink():  # its group may write it, if the user has such a umask
                place.chmod(place.stat().st_mode & ~0o022)
    except (OSError, tarfile.TarError) as error:
        raise RevisionError(
            f"{found.commit[:12]} cannot be unpacked in {tree}: {error}; choose another folder with ARENA_CACHE"
        ) from error


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git")
    if program is None:
        raise RevisionError("git was not found on PATH; install it, or give the path of an older copy of the file")
    surroundings = {key: value for key, value in os.environ.items() if key not in GIT_VARIABLES}
    try:
        return subprocess.run(  # noqa: S603 - git, in the user's own repository
            [program, *words], cwd=folder, env=surroundings, capture_output=True, timeout=GIT_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RevisionError(f"git {words[0]}: {error}") from error
