"""The code of submissions on disk, unpacked from the store so that processes can load it, and the logs of their output."""

import errno
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from arena import ArenaError, Spec
from arena.api.errors import StoreFull
from arena_isolation.agent_log import end_of_log
from arena_isolation.archive import BadArchive, unpack
from arena_isolation.versions import LAID_OUT, seal_submission
from arena_ladder.ledger import PRIVATE_FOLDER, Ledger, private_folders
from arena_ladder.season import Entrant
from arena_ladder.spec import Kind
from arena_ladder.submissions import UNREADABLE, Submission

CHECK_SUFFIX = ".check"
"""The suffix of the file that keeps the output of a check. The file is in the same folder as the log."""
MAIN_FILE = "agent.py"
"""The name of the plugin in a zip, unless there is exactly one Python file at the top."""
ELF_MAGIC = b"\x7fELF"
FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system that mean a full disk or quota."""


class BadSubmission(ArenaError):
    """A submission that cannot be unpacked; the message gives the reason."""


def kind_of(file: str, content: bytes) -> Kind:
    """Return the kind of a submission, which is recognised by the first bytes of the file and by its name."""
    if content.startswith(b"PK\x03\x04") or file.endswith(".zip"):
        return "zip"
    if file.endswith(".py"):
        return "python"
    if content.startswith((b"#!", ELF_MAGIC)) or Path(file).suffix:  # a script without its first line, such as agent.js
        return "program"
    return "python"


class CodeFolder:
    """A folder beside the store with the code of every submission that plays or is being checked. If it is lost, it is created
    again from the store.

    A second folder has one log for each unpacked submission, with the last output of its processes.
    """

    def __init__(self, ledger: Ledger, most_bytes: int) -> None:
        self.ledger = ledger
        self._most = most_bytes
        self.path, self.logs = private_folders(ledger.path)

    def entrant(self, one: Submission, house: Spec) -> Entrant:
        """Return a submission in play as an entry for a season, with its code unpacked. Raises BadSubmission if
        unpacking fails.
        """
        file = self.lay_out(one)
        if one.kind == "program":
            return Entrant({"agent": {"command": [str(file)]}, "label": one.label})
        known = self.ledger.known(one.id)
        if known is None or one.agent is None:
            raise BadSubmission(UNREADABLE)
        return Entrant.of_plugin(seal_submission(file, known.code), one.agent, one.label, known.claims, house)

    def lay_out(self, one: Submission) -> Path:
        """Unpack the code of a submission and return the file to load or to start.

        Raises BadSubmission if the code cannot be unpacked, and StoreFull if the disk is full.
        """
        folder = self.path / one.id
        with suppress(OSError):  # if this fails, the submission plays without a log
            self.logs.mkdir(PRIVATE_FOLDER, exist_ok=True)
            self._log(one).touch()
        if not (folder / LAID_OUT).exists():
            try:
                self._lay_out(one, self._files(one), folder)
            except OSError as error:
                if error.errno in FULL_DISK_ERRORS:
                    raise StoreFull(f"{self.path}: the disk is full; free some space for the code of submissions") from error
                reason = error.strerror or type(error).__name__
                raise BadSubmission(
                    f"its files cannot be unpacked: {reason}; give them shorter names, and each file a different name"
                ) from error
        return folder / (_name(one) if one.kind != "zip" else _module(one))

    def _lay_out(self, one: Submission, files: Mapping[str, bytes], folder: Path) -> None:
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self.path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            for name, content in files.items():
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                (part / name).write_bytes(content)
            if one.kind == "program":
                (part / _name(one)).chmod(0o755)
            (part / LAID_OUT).touch()
            part.replace(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)  # there is none, unless a file could not be written

    def as_handed_in(self, one: Submission, told: Any) -> Any:
        """Replace each path in `told` by the file name that the author used. `told` is a text, or a list or mapping of texts."""
        if isinstance(told, str):
            text = told.replace(f"{self.path / one.id}/", "").replace(str(self.path / one.id), ".")
            return text.replace(_module(one), one.file if one.kind == "python" else MAIN_FILE).replace(_name(one), one.file)
        if isinstance(told, Mapping):
            return {key: self.as_handed_in(one, value) for key, value in told.items()}
        return [self.as_handed_in(one, value) for value in told] if isinstance(told, list) else told

    def texts(self, one: Submission) -> dict[str, str | None]:
        """Return the text of each file of a submission, or None if it is not UTF-8 text; the keys are the names that the
        author gave the files.
        """
        content = self.ledger.content(one.id)
        try:
            files = unpack(content, self._most) if one.kind == "zip" else {one.file: content}
        except BadArchive:
            files = {one.file: content}
        found: dict[str, str | None] = {}
        for name, body in sorted(files.items()):
            try:
                text = body.decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            found[name] = None if "\0" in text else text
        return found

    def log(self, one: Submission, *, of_check: bool = False) -> str:
        """Return the last output of the processes of a submission or, with `of_check`, the output that was kept of its check."""
        return end_of_log(self._log(one).with_suffix(CHECK_SUFFIX) if of_check else self._log(one))

    def keep_check_log(self, one: Submission) -> None:
        """Copy the log to the file for the output of the check. Call this method at the end of the check."""
        with suppress(OSError):
            shutil.copyfile(self._log(one), self._log(one).with_suffix(CHECK_SUFFIX))

    def _log(self, one: Submission) -> Path:
        return self.logs / Path(_name(one) if one.kind == "program" else _module(one)).stem

    def forget(self, one: Submission) -> None:
        """Remove the code of a submission from the disk."""
        shutil.rmtree(self.path / one.id, ignore_errors=True)

    def forget_log(self, one: Submission) -> None:
        """Remove the last output of a submission."""
        for file in (self._log(one), self._log(one).with_suffix(CHECK_SUFFIX)):
            file.unlink(missing_ok=True)

    def _files(self, one: Submission) -> Mapping[str, bytes]:
        content = self.ledger.content(one.id)
        if one.kind == "zip":
            try:
                found = unpack(content, self._most)
            except BadArchive as error:
                raise BadSubmission(str(error)) from error
            main = _main_of(found)
            return {_module(one) if name == main else name: body for name, body in found.items()}
        if one.kind == "program":
            if content.startswith(b"#!") and b"\r" in content.partition(b"\n")[0]:
                raise BadSubmission(
                    "its first line has a Windows line ending (CR LF), so the interpreter cannot be found; save the file with LF"
                )
            if not content.startswith((b"#!", ELF_MAGIC)):
                expected = "#! and its interpreter, such as #!/usr/bin/env python3, or is an ELF file"
                raise BadSubmission(f"a program begins with {expected}")
            return {_name(one): content}
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise BadSubmission(f"{one.file} is not Python: it is not UTF-8 text; submit a .py file, or a zip of .py files")
        return {_name(one): content}


def _name(one: Submission) -> str:
    """Return the name for a single file. It contains the id of the submission, because a store identifies code by file name."""
    return _module(one) if one.kind == "python" else f"program_{one.id}"


def _module(one: Submission) -> str:
    return f"agent_{one.id}.py"


def _main_of(files: Mapping[str, bytes]) -> str:
    """Choose the plugin file among the files of a zip."""
    if MAIN_FILE in files:
        return MAIN_FILE
    top = [name for name in files if PurePosixPath(name).suffix == ".py" and "/" not in name]
    if len(top) != 1:
        told = "none" if not top else f"{len(top)} of them: {', '.join(sorted(top)[:5])}"
        raise BadSubmission(f"expected {MAIN_FILE} at the top of the zip, or a single .py file, found {told}")
    return top[0]
