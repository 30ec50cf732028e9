"""The arrays of a kernel, which grow with the depth of its search and are kept between decisions.

If there is a memory limit, the arrays grow as far as the limit allows. When no room is left, the search continues uncompiled. So
no match is lost for lack of memory only because a search is compiled.
"""

import ctypes
import sys
from array import array
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from arena.api.search import GoPlain
from arena.compiled import NotCompilable
from arena_compiled.loader import address

_CODES = {"words": "q", "reals": "d", "octets": "B"}
LOADING_BYTES, COMPILING_BYTES = 80 << 20, 400 << 20
"""Bytes of memory that are needed to load code, and to compile code. They include 55 million for the library that loads code, and
235 million for the compiler.
"""
LOADING_MORE_BYTES = 8 << 20
"""Bytes of memory that are needed to load more code after the library that loads code has been loaded."""


def headroom() -> float:
    """Return the bytes that this process may still use under its memory limit, `RLIMIT_DATA`; infinity without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        if limit in (resource.RLIM_INFINITY, -1):
            return inf
        status = Path("/proc/self/status").read_text(errors="replace")
    except ImportError:
        return inf
    except OSError:
        return 0.0
    sizes = {line.split()[0]: int(line.split()[1]) << 10 for line in status.splitlines() if line.endswith(" kB")}
    return limit - max(sizes["VmData:"], sizes["VmRSS:"])


def require(size: int, what: str) -> None:
    """Raise NotCompilable if a memory limit leaves less than `size` bytes for `what`."""
    left = headroom()
    if left < size:
        raise NotCompilable(f"its memory limit leaves {max(left, 0) / (1 << 20):.0f} MiB, and {what} takes {size >> 20} MiB")


def require_loading() -> None:
    """Raise NotCompilable if a memory limit leaves no room to load code."""
    require(LOADING_MORE_BYTES if "llvmlite.binding" in sys.modules else LOADING_BYTES, "compiled code")


class Memory:
    """The arrays of a kernel, by name. `arguments` has their addresses, in the order of the parameters of the kernel."""

    def __init__(self, kinds: tuple[tuple[str, str], ...], sizes: Mapping[str, int]) -> None:
        self.kinds = kinds
        self.arrays: dict[str, Any] = {
            name: array(_CODES[kind], bytes((1 if kind == "octets" else 8) * max(1, sizes[name]))) for name, kind in kinds
        }
        self._look()

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]

    def clear(self, name: str, count: int | None = None) -> None:
        """Fill an array, or its first entries, with zeros."""
        one = self.arrays[name]
        ctypes.memset(address(one), 0, (len(one) if count is None else count) * one.itemsize)

    def fill(self, name: str, byte: int) -> None:
        """Fill an array with a byte."""
        one = self.arrays[name]
        ctypes.memset(address(one), byte, len(one) * one.itemsize)

    def lend(self, arrays: Mapping[str, Any]) -> None:
        """Use borrowed arrays instead of the arrays with the same names."""
        self.arrays.update(arrays)
        self._look()

    def grow(self, sizes: Mapping[str, int]) -> None:
        """Make arrays longer, and keep their contents. Raises GoPlain if a memory limit leaves no room."""
        more = sum(self.arrays[name].itemsize * max(0, size - len(self.arrays[name])) for name, size in sizes.items())
        if headroom() < 2 * more + LOADING_MORE_BYTES:  # an array that moves exists twice for a moment
            raise GoPlain("its memory limit is too small for a compiled search")
        for name, size in sizes.items():
            old = self.arrays[name]
            if size > len(old):
                old.frombytes(bytes(old.itemsize * (size - len(old))))
        self._look()

    def _look(self) -> None:
        self.arguments = tuple([address(one) for one in self.arrays.values()])
