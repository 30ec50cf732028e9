"""Unpacks a zip archive with the code of a stranger."""

import io
import stat
import zipfile
from pathlib import PurePosixPath

from arena import ArenaError
from arena.api.errors import cut

MAX_ZIP_FILES = 200
MAX_FOLDER_DEPTH = 8
"""The maximum depth of nested folders."""
MAX_NAME_LENGTH = 200
CHUNK_BYTES = 1 << 16
BOUNDED_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods that zipfile unpacks in limited steps. With any other method, it unpacks everything at once."""


class BadArchive(ArenaError):
    """An archive that is refused; the message gives the reason."""


def unpack(content: bytes, most_bytes: int) -> dict[str, bytes]:
    """Return the files of an archive by their paths. Raises BadArchive if a file is not allowed or the total size is too large.

    An archive is refused if it has absolute paths, `..`, backslashes, links, devices, duplicate names, encryption, any
    compression other than deflate, or more than `most_bytes` of unpacked data (the size that the archive declares is not
    trusted). If all files are in one folder, paths are relative to this folder.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > MAX_ZIP_FILES:
                raise BadArchive(f"the zip has {len(infos):,} files; at most {MAX_ZIP_FILES} are allowed")
            found: dict[str, bytes] = {}
            left = most_bytes
            for info in infos:
                name = _check_name(info)
                if name in found:
                    raise BadArchive(f"the zip contains {quote_name(name)} twice")
                found[name] = _read(archive, info, left, most_bytes)
                left -= len(found[name])
    except BadArchive:
        raise
    except Exception as error:  # for a deliberately damaged file, zipfile may raise any error
        raise BadArchive(f"the zip cannot be read: {cut(str(error)) or type(error).__name__}; create it again") from error
    tops = {name.partition("/")[0] for name in found}
    if len(tops) == 1 and all("/" in name for name in found):
        return {name.partition("/")[2]: content for name, content in found.items()}
    return found


def _check_name(info: zipfile.ZipInfo) -> str:
    name = info.filename
    path = PurePosixPath(name)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BadArchive(f"{quote_name(name)} in the zip is a link or a device; pack plain files")
    if info.flag_bits & 0x1:
        raise BadArchive(f"{quote_name(name)} in the zip is encrypted; pack it without a password")
    if info.compress_type not in BOUNDED_COMPRESSIONS:
        raise BadArchive(
            f"{quote_name(name)} in the zip is not compressed with deflate; pack it again with the default settings of `zip`"
        )
    if not name.isprintable() or "\\" in info.orig_filename or ":" in name:
        raise BadArchive(f"{quote_name(name)} in the zip is not a plain name; use letters, digits, dots, dashes and /")
    if path.is_absolute() or ".." in path.parts or len(path.parts) > MAX_FOLDER_DEPTH or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise BadArchive(f"{quote_name(name)} in the zip points outside its folder, or is too deep or too long")
    return str(path)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int, most: int) -> bytes:
    """Return the content of a file. It is unpacked only up to `left` bytes, as a protection against zip bombs."""
    parts: list[bytes] = []
    with archive.open(info) as file:
        while part := file.read(min(CHUNK_BYTES, left + 1)):
            left -= len(part)
            if left < 0:
                raise BadArchive(f"the zip contains more than {most >> 10:,} KiB when unpacked, which is the limit")
            parts.append(part)
    return b"".join(parts)


def quote_name(name: str) -> str:
    """Quote a name from an archive for use in a message."""
    return cut(repr(name))
