"""The code of submissions on disk, unpacked from the store so that processes can load it; and the logs of their output."""

import errno
import io
import shutil
import stat
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from arena import ArenaError, Spec
from arena.api.errors import StoreFull, cut
from arena_isolation.agent_log import end_of_log
from arena_isolation.versions import LAID_OUT, seal_submission
from arena_ladder.ledger import UNREADABLE, Ledger, Submission
from arena_ladder.season import Entrant
from arena_ladder.spec import Kind

MAX_ZIP_FILES = 200
MAX_FOLDER_DEPTH = 8
"""Maximum depth of nested folders."""
MAX_NAME_LENGTH = 200
CHUNK_BYTES = 1 << 16
BOUNDED_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions that zipfile unpacks in limited steps. It unpacks any other compression all at once."""


class BadArchive(ArenaError):
    """An archive that is refused, with the reason."""


def unpack(content: bytes, most_bytes: int) -> dict[str, bytes]:
    """Return the files of an archive by their paths. Raises BadArchive if a file is not allowed or the total size is too large.

    These are refused: absolute paths, `..`, backslashes, links, devices, duplicate names, encryption, any compression other
    than deflate, and more than `most_bytes` of unpacked data, whatever size the archive declares. If all files lie in one
    folder, paths are relative to it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > MAX_ZIP_FILES:
                raise BadArchive(f"the zip has {len(infos):,} files; at most {MAX_ZIP_FILES} may be in it")
            found: dict[str, bytes] = {}
            left = most_bytes
            for info in infos:
                name = _check_name(info)
                if name in found:
                    raise BadArchive(f"the zip has {_quote(name)} twice")
                found[name] = _read(archive, info, left, most_bytes)
                left -= len(found[name])
    except BadArchive:
        raise
    except Exception as error:  # zipfile raises arbitrary errors for a deliberately damaged file
        raise BadArchive(f"the zip cannot be read: {cut(str(error)) or type(error).__name__}; pack it again") from error
    tops = {name.partition("/")[0] for name in found}
    if len(tops) == 1 and all("/" in name for name in found):
        return {name.partition("/")[2]: content for name, content in found.items()}
    return found


def _check_name(info: zipfile.ZipInfo) -> str:
    name = info.filename
    path = PurePosixPath(name)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BadArchive(f"{_quote(name)} in the zip is a link or a device; pack plain files")
    if info.flag_bits & 0x1:
        raise BadArchive(f"{_quote(name)} in the zip is encrypted; pack it without a password")
    if info.compress_type not in BOUNDED_COMPRESSIONS:
        raise BadArchive(f"{_quote(name)} in the zip is not packed by deflate; pack it again, as `zip` does by itself")
    if not name.isprintable() or "\\" in info.orig_filename or ":" in name:
        raise BadArchive(f"{_quote(name)} in the zip is no plain name; use letters, digits, dots, dashes and /")
    if path.is_absolute() or ".." in path.parts or len(path.parts) > MAX_FOLDER_DEPTH or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise BadArchive(f"{_quote(name)} in the zip leads out of its folder, or is too deep or too long")
    return str(path)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int, most: int) -> bytes:
    """Read the content of a file up to its limit and no further, so that a zip bomb is not unpacked."""
    parts: list[bytes] = []
    with archive.open(info) as file:
        while part := file.read(min(CHUNK_BYTES, left + 1)):
            left -= len(part)
            if left < 0:
                raise BadArchive(f"the zip holds more than {most >> 10:,} KiB when unpacked, the most here")
            parts.append(part)
    return b"".join(parts)


def _quote(name: str) -> str:
    """Quote a name from an archive for a message."""
    return cut(repr(name))


MAIN_FILE = "agent.py"
"""The plugin of a zip, unless exactly one Python file lies at its top."""
ELF_MAGIC = b"\x7fELF"
FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system for a full disk or quota."""


class BadSubmission(ArenaError):
    """A submission that cannot be unpacked, with the reason."""


def kind_of(file: str, content: bytes) -> Kind:
    """Return the kind of a submission, judged by its first bytes, or else by its name."""
    if content.startswith(b"PK\x03\x04") or file.endswith(".zip"):
        return "zip"
    if file.endswith(".py"):
        return "python"
    if content.startswith((b"#!", ELF_MAGIC)):
        return "program"
    return "python"


class CodeFolder:
    """A folder beside the store with the code of every submission that plays or is checked. All of it can be recreated.

    A second folder has one log for each unpacked submission, with the last output of its processes.
    """

    def __init__(self, ledger: Ledger, most_bytes: int) -> None:
        self._ledger = ledger
        self._most = most_bytes
        self.path = ledger.path.resolve().with_name(f"{ledger.path.name}.code")
        self.logs = self.path.with_suffix(".logs")

    def entrant(self, one: Submission, house: Spec) -> Entrant:
        """Return a submission in play as an entry of a season, with its code unpacked. Raises BadSubmission if that fails."""
        file = self.lay_out(one)
        if one.kind == "program":
            return Entrant({"agent": {"command": [str(file)]}, "label": one.label})
        known = self._ledger.known(one.id)
        if known is None or one.agent is None:
            raise BadSubmission(UNREADABLE)
        return Entrant.of_plugin(seal_submission(file, known.code), one.agent, one.label, known.claims, house)

    def lay_out(self, one: Submission) -> Path:
        """Unpack the code of a submission and return the file to load or to start.

        Raises BadSubmission if the code cannot be unpacked, and StoreFull if the disk is full.
        """
        folder = self.path / one.id
        with suppress(OSError):  # the submission plays without a log, too
            self.logs.mkdir(exist_ok=True)
            self._log(one).touch()
        if not (folder / LAID_OUT).exists():
            try:
                self._lay_out(one, self._files(one), folder)
            except OSError as error:
                if error.errno in FULL_DISK_ERRORS:
                    raise StoreFull(f"{self.path}: the disk is full; make room for the code of what is handed in") from error
                reason = error.strerror or type(error).__name__
                raise BadSubmission(f"its files cannot be laid out: {reason}; give them shorter names, each its own") from error
        return folder / (_name(one) if one.kind != "zip" else _module(one))

    def _lay_out(self, one: Submission, files: Mapping[str, bytes], folder: Path) -> None:
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        for name, content in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_bytes(content)
        if one.kind == "program":
            (part / _name(one)).chmod(0o755)
        (part / LAID_OUT).touch()
        part.replace(folder)

    def as_handed_in(self, one: Submission, told: Any) -> Any:
        """Return texts, or lists and mappings of texts, with each path replaced by the file name that the author used."""
        if isinstance(told, str):
            text = told.replace(f"{self.path / one.id}/", "").replace(str(self.path / one.id), ".")
            return text.replace(_module(one), one.file if one.kind == "python" else MAIN_FILE).replace(_name(one), one.file)
        if isinstance(told, Mapping):
            return {key: self.as_handed_in(one, value) for key, value in told.items()}
        return [self.as_handed_in(one, value) for value in told] if isinstance(told, list) else told

    def log(self, one: Submission) -> str:
        """Return the last output of a submission's processes."""
        return end_of_log(self._log(one))

    def _log(self, one: Submission) -> Path:
        return self.logs / Path(_name(one) if one.kind == "program" else _module(one)).stem

    def forget(self, one: Submission) -> None:
        """Remove the code of a submission from the disk."""
        shutil.rmtree(self.path / one.id, ignore_errors=True)

    def _files(self, one: Submission) -> Mapping[str, bytes]:
        content = self._ledger.content(one.id)
        if one.kind == "zip":
            try:
                found = unpack(content, self._most)
            except BadArchive as error:
                raise BadSubmission(str(error)) from error
            main = _main_of(found)
            return {_module(one) if name == main else name: body for name, body in found.items()}
        if one.kind == "program":
            if content.startswith(b"#!") and b"\r" in content.partition(b"\n")[0]:
                raise BadSubmission("its first line ends as on Windows (CR LF), so its interpreter is not found; save it with LF")
            if not content.startswith((b"#!", ELF_MAGIC)):
                expected = "#! and its interpreter, such as #!/usr/bin/env python3, or is an ELF file"
                raise BadSubmission(f"a program begins with {expected}")
            return {_name(one): content}
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise BadSubmission(f"{one.file} is no Python: it is not UTF-8 text; hand in a .py file, or a zip of such files")
        return {_name(one): content}


def _name(one: Submission) -> str:
    """Name of a single file. It contains the submission's id, because a store identifies code by its name."""
    return _module(one) if one.kind == "python" else f"program_{one.id}"


def _module(one: Submission) -> str:
    return f"agent_{one.id}.py"


def _main_of(files: Mapping[str, bytes]) -> str:
    """Choose the plugin among the files of a zip."""
    if MAIN_FILE in files:
        return MAIN_FILE
    top = [name for name in files if PurePosixPath(name).suffix == ".py" and "/" not in name]
    if len(top) != 1:
        told = "none" if not top else f"{len(top)} of them: {', '.join(sorted(top)[:5])}"
        raise BadSubmission(f"expected {MAIN_FILE} at the top of the zip, or one .py file alone, found {told}")
    return top[0]
