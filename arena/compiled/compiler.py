"""Compiles the text of a module to object code, by numba. Heavy: imported only where something has to be compiled."""

import linecache
import operator
import re
from collections import namedtuple
from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any

from numba import njit, types
from numba.core import cgutils, compiler, typing
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from arena.compiled.fields import NotCompilable
from arena.errors import describe

TYPES = {
    "int": types.int64,
    "float": types.float64,
    "words": types.CPointer(types.int64),
    "halves": types.CPointer(types.int32),
    "reals": types.CPointer(types.float64),
    "octets": types.CPointer(types.uint8),
}
LEFT = ("_threats", "filled", "kept", "on_path", "ranked", "slot_in")
"""Functions that are called and not put in place: they are long, and not called for every state."""
_leave: Callable[..., Any] = njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_force: Callable[..., Any] = njit(forceinline=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@intrinsic  # type: ignore[untyped-decorator]
def at(_context: Any, table: Any, index: Any) -> Any:
    """The entry of a table, or of a tuple, at an index that is never negative."""
    if not isinstance(table, types.CPointer):
        if not isinstance(table, types.UniTuple):
            return None

        def pick(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wanted = typing.signature(table.dtype, table, types.int64)
            return context.get_function(operator.getitem, wanted)(builder, arguments)

        return table.dtype(table, types.int64), pick
    kind = types.int64 if isinstance(table.dtype, types.Integer) else table.dtype

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = builder.load(builder.gep(arguments[0], [arguments[1]], inbounds=True))
        return context.cast(builder, entry, table.dtype, kind)

    return kind(table, types.int64), load


@intrinsic  # type: ignore[untyped-decorator]
def put(_context: Any, table: Any, index: Any, value: Any) -> Any:
    """Write an entry of a table."""

    def store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = context.cast(builder, arguments[2], signature.args[2], table.dtype)
        builder.store(entry, builder.gep(arguments[0], [arguments[1]], inbounds=True))
        return context.get_dummy_value()

    wide = types.int64 if isinstance(table.dtype, types.Integer) else types.float64
    return types.void(table, types.int64, wide), store


@intrinsic  # type: ignore[untyped-decorator]
def offset(_context: Any, table: Any, index: Any) -> Any:
    """The table from an index on."""

    def shifted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]], inbounds=True)

    return table(table, types.int64), shifted


@intrinsic  # type: ignore[untyped-decorator]
def ones(_context: Any, number: Any) -> Any:
    """The number of bits that are set in a number of 0 or more."""

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), count


@intrinsic  # type: ignore[untyped-decorator]
def zeros(_context: Any, number: Any) -> Any:
    """The number of bits above the highest that is set."""

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], cgutils.false_bit)

    return types.int64(types.int64), count


@_force
def bit_count(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """What int.bit_count gives."""
    return ones(number if number >= 0 else -number)


@_force
def bit_length(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """What int.bit_length gives."""
    return 64 - zeros(number if number >= 0 else -number)


def object_code(text: str, kinds: tuple[str, ...], name: str) -> tuple[str, bytes]:
    """Return the symbol of the entry of a module, and its object code. NotCompilable where it cannot be compiled."""
    file = f"<arena {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {
        "__name__": f"arena_{name}", "namedtuple": namedtuple, "at": at, "_put": put, "offset": offset, "_int64": types.int64,
        "bit_count": bit_count, "bit_length": bit_length, "exp": exp, "log": log, "sqrt": sqrt,
    }  # fmt: skip
    exec(compile(text, file, "exec"), space)  # noqa: S102 - it is what has just been written from the author's own code
    entry = space.pop("entry")
    for key, value in list(space.items()):
        if getattr(value, "__code__", None) is not None and value.__code__.co_filename == file:
            space[key] = (_leave if key.endswith(LEFT) else _force)(value)
    flags = compiler.Flags()
    flags.nrt = False
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "python"
    entry.__globals__.update(space)
    context = cpu_target.target_context
    context.refresh()
    try:
        made = compiler.compile_extra(
            cpu_target.typing_context, context, entry, tuple([TYPES[kind] for kind in kinds]), types.int64, flags, {}
        )
    except Exception as error:  # whatever numba makes of it
        refused = NotCompilable(_told(error))
        refused.lines = [int(line) for line in re.findall(rf'File "{re.escape(file)}", line (\d+)', str(error))]
        raise refused from error
    finally:
        linecache.cache.pop(file, None)
    _, _, (code, _) = made.library.serialize_using_object_code()
    return made.fndesc.llvm_func_name, code


def _told(error: Exception) -> str:
    lines = [line.strip() for line in re.sub(r"(, defined)? at <arena \w+> \(\d+\)", "", str(error)).splitlines()]
    return " ".join([line for line in lines if line and not line.startswith(("Failed in ", "File "))][:2])[:300] or describe(
        error
    )
