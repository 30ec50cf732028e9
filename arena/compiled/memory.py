"""The arrays of a kernel, which grow with the depth of its search and are kept between decisions."""

import ctypes
from array import array
from collections.abc import Mapping
from typing import Any

from arena.compiled.loader import address

_CODES = {"words": "q", "reals": "d", "octets": "B"}


class Memory:
    """Arrays by name; `arguments` are their addresses, in the order of the kernel's parameters."""

    def __init__(self, kinds: tuple[tuple[str, str], ...], sizes: Mapping[str, int]) -> None:
        self.kinds = kinds
        self.arrays = {name: array(_CODES[kind], bytes(_bytes(kind) * max(1, sizes[name]))) for name, kind in kinds}
        self._look()

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]

    def clear(self, name: str, count: int | None = None) -> None:
        """Fill an array with zeros, or its first entries."""
        one = self.arrays[name]
        ctypes.memset(address(one), 0, (len(one) if count is None else count) * one.itemsize)

    def fill(self, name: str, byte: int) -> None:
        """Fill an array with a byte."""
        one = self.arrays[name]
        ctypes.memset(address(one), byte, len(one) * one.itemsize)

    def grow(self, sizes: Mapping[str, int]) -> None:
        """Make arrays longer; what they hold stays where it is."""
        for name, size in sizes.items():
            old = self.arrays[name]
            old.frombytes(bytes(old.itemsize * max(0, size - len(old))))
        self._look()

    def _look(self) -> None:
        self.arguments = tuple([address(one) for one in self.arrays.values()])


def _bytes(kind: str) -> int:
    return 1 if kind == "octets" else 8
