"""Reads a bundle. A bundle comes from a stranger, so it is checked completely before anything is written.

The sizes in a zip archive are claims of its author. They are not used: every file is unpacked step by step, and the bytes are
counted.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

from arena.api.errors import cut
from arena_bundle.layout import (
    ALWAYS,
    FORMAT,
    MANIFEST,
    OUTSIDE,
    RECORDS,
    SIGNATURE,
    TOURNAMENT,
    VERSION,
    Contradiction,
    Line,
    Manifest,
    NoBundle,
    read_json,
    read_line,
    read_model,
)
from arena_isolation.archive import BOUNDED_COMPRESSIONS, quote_name

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_RATIO = 200
"""The largest ratio of the unpacked size to the size of the file. Text has a ratio of 5 to 20, a zip bomb more than 1,000."""
MAX_DIRECTORY_BYTES = 16 << 20
"""The maximum size of the directory (the list of files) of a zip archive, because zipfile reads the directory as a whole."""
MAX_NAME_CHARACTERS = 500
MAX_PART_BYTES = 255
"""The largest name of a file or folder, as most file systems allow it."""
MAX_FOLDER_DEPTH = 32
MAX_JSON_BYTES = 32 << 20
"""The largest file that is read as a whole. Records are read line by line."""
MAX_MANIFEST_BYTES = 16 << 20
MAX_RECORD_BYTES = 64 << 20
CHUNK_BYTES = 1 << 20
END_RECORD = b"PK\x05\x06"
END_RECORD_BYTES = 22
LOCAL_HEADER = b"PK\x03\x04"
LOCAL_HEADER_BYTES = 30
DATA_DESCRIPTOR = 0x8
"""The bit in the flags of a file after which more bytes follow; arena does not write such archives."""
ZIP64_LOCATOR = b"PK\x06\x07"
ZIP64_LOCATOR_BYTES = 20


class Archive:
    """An open bundle. Call `check` before any other method."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.digests: dict[str, str] = {}
        """The SHA-256 of each file, computed from its content in the bundle."""
        try:
            if not place.is_file():  # a pipe would wait for ever, and a device may never end
                raise NoBundle(f"{place} is not a bundle: expected a regular file")
            _check_end(place)
            self._zip = zipfile.ZipFile(place)
        except OSError as error:
            raise NoBundle(f"{place} cannot be read: {error.strerror}") from error
        except NoBundle:
            raise
        except Exception as error:  # for a deliberately damaged file, zipfile may raise any error
            raise NoBundle(f"{place} is not a bundle: expected a zip archive, but the file {_describe(error)}") from error

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._zip.close()

    def check(self) -> Manifest:
        """Return the manifest. Raises NoBundle unless the archive is safe to unpack and contains only the files of a bundle."""
        infos = self._zip.infolist()
        if len(infos) > MAX_MEMBERS:
            raise NoBundle(f"{self.place} contains {len(infos):,} files; a bundle contains at most {MAX_MEMBERS:,}")
        self._check_layout(infos)
        names: set[str] = set()
        for info in infos:
            self._check_member(info)
            if info.filename.casefold() in names:
                raise NoBundle(f"{self.place} contains {quote_name(info.filename)} twice")
            names.add(info.filename.casefold())
        for name in names:
            above = [str(parent) for parent in PurePosixPath(name).parents if str(parent) in names]
            if above:
                raise NoBundle(f"{self.place} contains {quote_name(above[0])} as a file and as a folder")
        if MANIFEST not in names:
            raise NoBundle(f"{self.place} is not a bundle: it has no {MANIFEST}")
        manifest = self._read_manifest()
        unknown = [info.filename for info in infos if info.filename not in {*manifest.files, MANIFEST, SIGNATURE}]
        if unknown:
            raise NoBundle(f"{self.place} contains {quote_name(unknown[0])}, which is not in its {MANIFEST}")
        self._unpack_all(infos)
        return manifest

    def _check_layout(self, infos: list[zipfile.ZipInfo]) -> None:
        """Raise NoBundle if the archive has stray bytes between its files, because no hash covers them."""
        end = 0
        with self.place.open("rb") as file:
            for info in sorted(infos, key=lambda info: info.header_offset):
                file.seek(max(0, info.header_offset))
                header = file.read(LOCAL_HEADER_BYTES)
                if info.header_offset != end or len(header) < LOCAL_HEADER_BYTES or header[6] & DATA_DESCRIPTOR:
                    raise NoBundle(f"{self.place} has stray bytes before {quote_name(info.filename)}")
                name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
                end += LOCAL_HEADER_BYTES + name + extra + info.compress_size
        if self._zip.start_dir != end:
            raise NoBundle(f"{self.place} has stray bytes before its list of files")

    def _check_member(self, info: zipfile.ZipInfo) -> None:
        name, path = info.filename, PurePosixPath(info.filename)
        what = f"{self.place}: {quote_name(name)}"
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise NoBundle(f"{what} is a folder, a link or a device; a bundle contains only files")
        if not name.isprintable() or "\\" in info.orig_filename or ":" in name or name != str(path):
            raise NoBundle(f"{what} is not a plain path")
        if path.is_absolute() or ".." in path.parts:
            raise NoBundle(f"{what} is outside the bundle")
        longest = max([len(os.fsencode(part)) for part in path.parts], default=0)
        if len(path.parts) > MAX_FOLDER_DEPTH or not 0 < len(name) <= MAX_NAME_CHARACTERS or longest > MAX_PART_BYTES:
            raise NoBundle(f"{what} is too deep or too long")
        if path.parts[0] not in (TOURNAMENT, OUTSIDE) and name not in (*ALWAYS, MANIFEST, SIGNATURE):
            raise NoBundle(f"{what} does not belong in a bundle")
        if info.flag_bits & 0x1:
            raise NoBundle(f"{what} is encrypted")
        if info.compress_type not in BOUNDED_COMPRESSIONS:
            raise NoBundle(f"{what} is compressed by a method other than deflate")

    def _read_manifest(self) -> Manifest:
        values = read_json(self.read(MANIFEST, MAX_MANIFEST_BYTES), f"{self.place}: {MANIFEST}")
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise NoBundle(f"{self.place} is not a bundle: its {MANIFEST} does not name the format {FORMAT}")
        if isinstance(values.get("version"), int) and values["version"] > VERSION:
            raise NoBundle(
                f"{self.place} was made by a newer version of arena (bundle version {values['version']}, here {VERSION}); "
                "install a newer arena"
            )
        manifest = read_model(Manifest, values, f"{self.place}: {MANIFEST}")
        if manifest.version != VERSION:
            raise NoBundle(f"{self.place}: expected bundle version {VERSION}, got {manifest.version}")
        return manifest

    def _unpack_all(self, infos: list[zipfile.ZipInfo]) -> None:
        """Count the bytes of all files and compute their hashes. Nothing is written."""
        packed, unpacked = self.place.stat().st_size, 0
        for info in infos:
            whole = sha256()
            for chunk in self._chunks(info.filename):
                unpacked += len(chunk)
                if unpacked > MAX_UNPACKED_BYTES:
                    raise NoBundle(f"{self.place} has more than {MAX_UNPACKED_BYTES >> 30} GiB when unpacked")
                if unpacked > MAX_RATIO * packed:
                    raise NoBundle(f"{self.place} is more than {MAX_RATIO} times as large when unpacked")
                whole.update(chunk)
            self.digests[info.filename] = whole.hexdigest()
            self._check_rest(info)

    def _check_rest(self, info: zipfile.ZipInfo) -> None:
        """Raise NoBundle if more bytes follow the compressed content of a file, because zipfile skips them. Its size is known."""
        rest = info.compress_size - info.file_size
        if info.compress_type == zipfile.ZIP_DEFLATED:
            with self.place.open("rb") as file:
                file.seek(info.header_offset)
                header = file.read(LOCAL_HEADER_BYTES)
                file.seek(sum([int.from_bytes(header[at : at + 2], "little") for at in (26, 28)]), os.SEEK_CUR)
                inflate, left = zlib.decompressobj(-zlib.MAX_WBITS), info.compress_size
                while left and not inflate.eof:
                    packed = file.read(min(left, CHUNK_BYTES >> 8))
                    if not packed:
                        break
                    left -= len(packed)
                    inflate.decompress(packed)
                rest = left + len(inflate.unused_data)
        if rest:
            raise NoBundle(f"{self.place} has stray bytes after {quote_name(info.filename)}")

    def _chunks(self, name: str) -> Iterator[bytes]:
        with self._open(name) as file:
            try:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
            except Exception as error:  # zipfile may raise any error, also from zlib
                raise NoBundle(f"{self.place}: {quote_name(name)} cannot be unpacked: the file {_describe(error)}") from error

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(name)
        except Exception as error:  # zipfile may raise any error here, too
            raise NoBundle(f"{self.place}: {quote_name(name)} cannot be unpacked: the file {_describe(error)}") from error

    def has(self, name: str) -> bool:
        """Return whether the bundle has this file."""
        return name in self.digests

    def read(self, name: str, most: int = MAX_JSON_BYTES) -> bytes:
        """Return the content of a file. Raises NoBundle if it has more than `most` bytes."""
        parts: list[bytes] = []
        size = 0
        for chunk in self._chunks(name):
            size += len(chunk)
            if size > most:
                raise NoBundle(f"{self.place}: {name} has more than {most >> 20} MiB")
            parts.append(chunk)
        return b"".join(parts)

    def read_values(self, name: str) -> Any:
        """Return the values of a JSON file."""
        return read_json(self.read(name), f"{self.place}: {name}")

    def lines(self) -> Iterator[Line]:
        """Yield the matches. Raises Contradiction if a line is not a record."""
        with self._open(RECORDS) as file:
            number = 0
            while line := file.readline(MAX_RECORD_BYTES + 1):
                number += 1
                if len(line) > MAX_RECORD_BYTES:
                    raise Contradiction(f"{RECORDS}:{number}: the line has more than {MAX_RECORD_BYTES >> 20} MiB")
                yield read_line(line, number)

    def extract(self, folder: Path) -> None:
        """Write the spec and its files of code and data into an empty folder. The written files are read-only."""
        for info in self._zip.infolist():
            if PurePosixPath(info.filename).parts[0] in (TOURNAMENT, OUTSIDE):
                place = folder / info.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as file:
                    for chunk in self._chunks(info.filename):
                        file.write(chunk)
                place.chmod(0o555 if (info.external_attr >> 16) & 0o100 else 0o444)
        for place in (folder, *[one for one in folder.rglob("*") if one.is_dir()]):
            place.chmod(0o755)  # a sandbox that root starts reads the files as another user


def _check_end(place: Path) -> None:
    """Check the end of the archive, which states the size of the directory. This comes before zipfile reads the directory."""
    with place.open("rb") as file:
        start = file.read(len(LOCAL_HEADER))
        size = file.seek(0, 2)
        file.seek(max(0, size - END_RECORD_BYTES - ZIP64_LOCATOR_BYTES))
        end = file.read()
    record = end[-END_RECORD_BYTES:]
    if len(record) < END_RECORD_BYTES or not record.startswith(END_RECORD) or record[-2:] != b"\0\0":
        if start != LOCAL_HEADER:
            raise NoBundle(f"{place} is not a bundle: expected a zip archive")
        raise NoBundle(f"{place} is damaged or cut off: it begins as a zip archive, but ends differently; copy it again")
    if end[:-END_RECORD_BYTES].startswith(ZIP64_LOCATOR):
        raise NoBundle(f"{place} is a zip archive for files of more than 4 GiB; a bundle is smaller")
    if int.from_bytes(record[12:16], "little") > MAX_DIRECTORY_BYTES:
        raise NoBundle(f"{place} contains too many files; a bundle contains at most {MAX_MEMBERS:,}")


def _describe(error: Exception) -> str:
    return f"is damaged ({cut(str(error)) or type(error).__name__})"
