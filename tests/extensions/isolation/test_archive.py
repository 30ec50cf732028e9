"""Archives from strangers are unpacked within bounds, or refused."""

import io
import stat
import tracemalloc
import zipfile
from collections.abc import Mapping

import pytest

from arena_isolation.archive import BadArchive, unpack

MOST = 1 << 20


def packed(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_files_are_unpacked_without_a_single_top_folder() -> None:
    assert unpack(packed({"agent.py": b"x", "more/b.py": b"y"}), MOST) == {"agent.py": b"x", "more/b.py": b"y"}
    assert unpack(packed({"mine/agent.py": b"x", "mine/more/b.py": b"y"}), MOST) == {"agent.py": b"x", "more/b.py": b"y"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../agent.py": b"x"}, "points outside its folder"),
        ({"a/../../agent.py": b"x"}, "points outside its folder"),
        ({"/etc/passwd": b"x"}, "points outside its folder"),
        ({"a/" * 20 + "b.py": b"x"}, "too deep"),
        ({"C:evil.py": b"x"}, "not a plain name"),
        ({"a\x1b[2J.py": b"x"}, "not a plain name"),
        ({f"{number}.py": b"" for number in range(201)}, "201 files; at most 200"),
        ({"big.bin": bytes(MOST + 1)}, "more than 1,024 KiB when unpacked"),
        ({f"{number}.bin": bytes(MOST // 4) for number in range(5)}, "more than 1,024 KiB when unpacked"),
    ],
)
def test_zips_with_unsafe_names_are_refused(files: Mapping[str, bytes], message: str) -> None:
    with pytest.raises(BadArchive, match=message):
        unpack(packed(files), MOST)


def test_a_zip_bomb_with_a_false_size_is_not_unpacked() -> None:
    """The header of a megabyte of zeros says ten bytes. The limit applies to the unpacked bytes."""
    bomb = bytearray(packed({"bomb": bytes(64 << 20)}))
    size = (64 << 20).to_bytes(4, "little")
    while (place := bomb.find(size)) >= 0:
        bomb[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(BadArchive):
        unpack(bytes(bomb), MOST)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_a_zip_bomb_with_another_compression_is_not_unpacked(compression: int) -> None:
    """Python unpacks such a file completely even if little is read, so a few hundred bytes could fill the memory."""
    bomb = packed({"agent.py": bytes(16 << 20)}, compression)
    tracemalloc.start()
    try:
        with pytest.raises(BadArchive, match="is not compressed with deflate; pack it again"):
            unpack(bomb, MOST)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(kind: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("agent.py")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(BadArchive, match="link or a device"):
        unpack(out.getvalue(), MOST)


def test_a_repeated_name_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("agent.py", "x")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("agent.py", "y")
    with pytest.raises(BadArchive, match="twice"):
        unpack(out.getvalue(), MOST)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all", packed({"a.py": b"x" * 5000})[:-40]], ids=range(4))
def test_files_other_than_zips_are_refused(content: bytes) -> None:
    with pytest.raises(BadArchive, match="cannot be read"):
        unpack(content, MOST)


def test_a_zip_whose_content_was_changed_is_refused() -> None:
    content = bytearray(packed({"a.py": b"x" * 50}, zipfile.ZIP_STORED))
    content[content.find(b"xxxx")] = ord("y")
    with pytest.raises(BadArchive, match="cannot be read"):
        unpack(bytes(content), MOST)


def test_truncated_and_changed_zips_are_refused_or_read_within_limits() -> None:
    content = packed({"agent.py": b"print(1)\n" * 20, "data.bin": bytes(range(256))})
    for place in range(len(content)):
        changed = content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :]
        for one in (content[:place], changed):
            try:
                files = unpack(one, MOST)
            except BadArchive:
                continue
            assert sum(map(len, files.values())) <= MOST
            assert all(".." not in name and not name.startswith("/") for name in files)
