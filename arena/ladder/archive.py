"""Zip files of strangers: what is in them, within bounds, and nothing outside the folder that they are laid out in."""

import io
import stat
import zipfile
from pathlib import PurePosixPath

from arena.errors import ArenaError, cut

MOST_FILES = 200
DEEPEST = 8
"""Folders within folders."""
LONGEST_NAME = 200
CHUNK = 1 << 16
BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions that zipfile unpacks as far as it is asked to: of all others it unpacks everything at once."""


class BadArchive(ArenaError):
    """An archive that is not laid out, and why."""


def unpacked(content: bytes, most_bytes: int) -> dict[str, bytes]:
    """Return the files of an archive by their paths; BadArchive where one is not as it should be, or all are too large.

    Refused are absolute paths, `..`, backslashes, links, devices, names that come twice, encryption, other compression than
    deflate, and more than `most_bytes` when unpacked, whatever the archive says of itself. Where all files lie in one folder,
    paths begin below it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > MOST_FILES:
                raise BadArchive(f"the zip has {len(infos):,} files; at most {MOST_FILES} may be in it")
            found: dict[str, bytes] = {}
            left = most_bytes
            for info in infos:
                name = _name(info)
                if name in found:
                    raise BadArchive(f"the zip has {shown(name)} twice")
                found[name] = _read(archive, info, left, most_bytes)
                left -= len(found[name])
    except BadArchive:
        raise
    except Exception as error:  # zipfile raises whatever it stumbles over in a file that is damaged on purpose
        raise BadArchive(f"the zip cannot be read: {cut(str(error)) or type(error).__name__}; pack it again") from error
    return _below_one_folder(found)


def _name(info: zipfile.ZipInfo) -> str:
    name = info.filename
    path = PurePosixPath(name)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BadArchive(f"{shown(name)} in the zip is a link or a device; pack plain files")
    if info.flag_bits & 0x1:
        raise BadArchive(f"{shown(name)} in the zip is encrypted; pack it without a password")
    if info.compress_type not in BOUNDED:
        raise BadArchive(f"{shown(name)} in the zip is not packed by deflate; pack it again, as `zip` does by itself")
    if not name.isprintable() or "\\" in info.orig_filename or ":" in name:
        raise BadArchive(f"{shown(name)} in the zip is no plain name; use letters, digits, dots, dashes and /")
    if path.is_absolute() or ".." in path.parts or len(path.parts) > DEEPEST or not 0 < len(name) <= LONGEST_NAME:
        raise BadArchive(f"{shown(name)} in the zip leads out of its folder, or is too deep or too long")
    return str(path)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int, most: int) -> bytes:
    """The content of a file, read as far as it may go and no further: a bomb is not unpacked."""
    parts: list[bytes] = []
    with archive.open(info) as file:
        while part := file.read(min(CHUNK, left + 1)):
            left -= len(part)
            if left < 0:
                raise BadArchive(f"the zip holds more than {most >> 10:,} KiB when unpacked, the most here")
            parts.append(part)
    return b"".join(parts)


def _below_one_folder(found: dict[str, bytes]) -> dict[str, bytes]:
    tops = {name.partition("/")[0] for name in found}
    if len(tops) == 1 and all("/" in name for name in found):
        return {name.partition("/")[2]: content for name, content in found.items()}
    return found


def shown(name: str) -> str:
    """A name of an archive for a message."""
    return cut(repr(name))
