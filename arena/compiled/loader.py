"""Loads object code and calls it: by llvmlite alone, which takes a tenth of the time that numba takes to import."""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from arena.compiled.fields import NumberField

FAULT = 4
"""The status of a kernel that cannot go on; an exception inside it counts as one."""
_ARGUMENTS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double}
_kept: list[Any] = []
"""What has to live as long as the code."""


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{llvm.get_default_triple()}"'), machine)


def loaded(symbol: str, code: bytes, kinds: Sequence[str]) -> Callable[..., int]:
    """Return a function that calls the entry of a module, without Python's lock, and returns its status."""
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    kinds_of = [_ARGUMENTS.get(kind, ctypes.c_void_p) for kind in kinds]
    native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *kinds_of)(engine.get_function_address(symbol))
    status, error = ctypes.c_int64(), ctypes.c_void_p()
    places = ctypes.addressof(status), ctypes.addressof(error)
    _kept.append((status, error))

    def call(*arguments: Any) -> int:
        return FAULT if native(*places, *arguments) else status.value

    return call


def argument(field: NumberField) -> Any:
    """Return what the entry takes for a field: the number, or the address of the table, which has to be kept."""
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
