"""Files that are written in one step."""

import os
from pathlib import Path

import pytest

from arena.whole_files import write_whole


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_has_the_requested_mode(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "file"
    before = os.umask(0o077)
    try:
        for text in (b"first", b"second"):
            write_whole(place, text[:3], text[3:], mode=mode)
            assert (place.read_bytes(), place.stat().st_mode & 0o777) == (text, mode)
            place.chmod(0o604)
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == [place]


def test_a_failed_replacement_keeps_the_file_and_leaves_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file"):
        write_whole(tmp_path / "file", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
