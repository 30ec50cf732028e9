"""Frames on a pipe: whole values, or none."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from arena.workers.messages import Frames, Garbled, make_frame

VALUES = st.lists(st.one_of(st.integers(), st.text(), st.binary(max_size=50), st.lists(st.floats(allow_nan=False))), max_size=6)


def fed(pieces: list[bytes]) -> tuple[list[Any], bool]:
    """The values that come out, and whether garbage was noticed."""
    frames, found = Frames(), []
    try:
        for piece in pieces:
            for value in frames.feed(piece):
                found.append(value)  # noqa: PERF402 - values before the garbage count
    except Garbled:
        return found, True
    return found, False


@given(VALUES, st.integers(1, 40))
def test_values_sent_in_pieces_arrive_complete(values: list[Any], size: int) -> None:
    data = b"".join(map(make_frame, values))
    assert fed([data[start : start + size] for start in range(0, len(data), size)]) == (values, False)


@given(VALUES, st.binary(min_size=1), st.data())
def test_output_of_other_code_is_not_read_as_a_value(values: list[Any], garbage: bytes, data: st.DataObject) -> None:
    """Values before the garbage are read, but nothing after it."""
    frames = [make_frame(value) for value in values]
    place = data.draw(st.integers(0, len(values)))
    mixed = b"".join([*frames[:place], garbage, *frames[place:], make_frame("end")])
    found, noticed = fed([mixed])
    assert found == values[:place]
    assert noticed or garbage.startswith(make_frame("")[:8])


@given(st.binary(min_size=20, max_size=200), st.data())
def test_a_corrupted_frame_is_detected(value: bytes, data: st.DataObject) -> None:
    whole = bytearray(make_frame(value))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    found, _ = fed([bytes(whole), make_frame("end") * 3])
    assert value not in found
    assert all(one == "end" for one in found)


def test_invalid_data_is_detected_at_its_first_byte() -> None:
    with pytest.raises(Garbled):
        list(Frames().feed(b"x"))
