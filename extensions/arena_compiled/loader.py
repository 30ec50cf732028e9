"""Loads object code and calls it with llvmlite only, which imports ten times faster than numba."""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct
from typing import Any

from arena_compiled.fields import NumberField

FAULT = 4
"""The status that a kernel (the compiled loop of a search) returns if it cannot continue. An exception inside the kernel gives
the same status.
"""


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{llvm.get_default_triple()}"'), machine)


def load_code(symbol: str, code: bytes, kinds: Sequence[str]) -> Callable[..., int]:
    """Return a function that calls the entry function of a module without holding the GIL, and returns its status."""
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    room = ctypes.create_string_buffer(16 + 8 * len(kinds))  # the status, space for an exception, and the arguments
    place, status = ctypes.addressof(room), ctypes.c_int64.from_buffer(room)
    native = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(engine.get_function_address(symbol))
    pack = Struct("".join(["d" if kind == "float" else "q" for kind in kinds])).pack_into

    def call(*arguments: Any) -> int:
        pack(room, 16, *arguments)
        return FAULT if native(place, place + 8, place + 16) else status.value

    return call


def argument(field: NumberField) -> Any:
    """Return the argument for a field: the number, or the address of the table. The caller must keep the table alive."""
    if not field.shape:
        return field.value
    if isinstance(field.value, array):
        return address(field.value) if field.value else 0
    table: Any = field.value or b"\0"
    return ctypes.cast(table, ctypes.c_void_p).value


def address(table: Any) -> int:
    """Return the address of an array."""
    place: int = table.buffer_info()[0]
    return place
