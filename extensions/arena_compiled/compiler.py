"""Compiles the text of a module to object code with numba. Importing numba takes long, so this module is imported only when
something is compiled.

Numba would optimise every function separately and generate code for each. Here the functions are only translated, and the linked
result is optimised once. Loops are not unrolled: loops over actions and cells are short, and unrolled code takes longer to
generate and uses the registers that the search needs.
"""

import ast
import linecache
import re
from collections import namedtuple
from functools import cache, reduce
from math import log, sqrt
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.core import cgutils, codegen, compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.extending import intrinsic

from arena.api.errors import describe
from arena.compiled import NotCompilable

TYPES = {
    "int": types.int64,
    "float": types.float64,
    "words": types.CPointer(types.int64),
    "reals": types.CPointer(types.float64),
    "octets": types.CPointer(types.uint8),
}
NOT_INLINED = ("_threats", "filled", "kept", "on_path", "ranked", "slot_in")
"""Functions that are not forced to be inlined, because they are long and not called for every state."""
_OPTIONS = {"nopython": True, "boundscheck": None, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
OPTIMISATION_LEVEL = 3
MAX_TUPLE_LENGTH = 30
"""The longest tuple that Python makes without a list."""


class _Part(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A function that is translated, but neither optimised separately nor loaded."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout  # noqa: SLF001 - which numba sets at this place

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _Translator(codegen.JITCPUCodegen):  # type: ignore[misc]
    _library_class = _Part

    def set_env(self, env_name: str, env: Any) -> None:
        pass


class _Processor(CPUTarget):  # type: ignore[misc]
    """The current processor, as the target of translated functions."""

    @property
    def target_context(self) -> Any:
        return _translation()


class _Translated(CPUDispatcher):  # type: ignore[misc]
    """A translated function of a module."""

    targetdescr = _Processor("cpu")


def _inline(function: Any, *, forceinline: bool = True) -> Any:
    """Return a function that is inlined wherever it is called."""
    return _Translated(function, targetoptions={**_OPTIONS, "forceinline": forceinline})


@cache
def _translation() -> Any:
    context = cpu_target.target_context
    context.refresh()
    return context.subtarget(_internal_codegen=_Translator("arena"))


@intrinsic  # type: ignore[untyped-decorator]
def at(_context: Any, table: Any, index: Any) -> Any:
    """Return the entry of a table or a tuple at an index, which is never negative."""
    if not isinstance(table, types.CPointer):
        if not isinstance(table, types.UniTuple):
            return None

        def pick(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            # numba itself would branch to one block per entry
            held, given = arguments
            size, zero = given.type(table.count), given.type(0)
            index = builder.select(builder.icmp_signed("<", given, zero), builder.add(given, size), given)
            with builder.if_then(builder.icmp_unsigned(">=", index, size), likely=False):
                context.call_conv.return_user_exc(builder, IndexError, ("tuple index out of range",))
            read = getattr(held, "opname", None) == "load"
            place = held.operands[0] if read else cgutils.alloca_once_value(builder, held)
            return builder.load(builder.gep(place, [zero, index], inbounds=True))

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
    """Return the part of a table that begins at an index."""

    def shifted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]], inbounds=True)

    return table(table, types.int64), shifted


@intrinsic  # type: ignore[untyped-decorator]
def ones(_context: Any, number: Any) -> Any:
    """Return the number of bits that are set in a number that is not negative."""

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), count


@intrinsic  # type: ignore[untyped-decorator]
def zeros(_context: Any, number: Any) -> Any:
    """Return the number of zero bits above the highest bit that is set."""

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], cgutils.false_bit)

    return types.int64(types.int64), count


def _given(kind: Any) -> Any:
    """Return a function that reads an argument of the entry function: a number, or the address of a table."""

    @intrinsic  # type: ignore[untyped-decorator]
    def given(_context: Any, given: Any, place: Any) -> Any:
        def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = builder.gep(arguments[0], [arguments[1]], inbounds=True)
            return builder.load(builder.bitcast(word, context.get_value_type(kind).as_pointer()))

        return kind(given, types.int64), load

    return given


GIVEN = {f"_{name}_given": _given(kind) for name, kind in TYPES.items()}


@_inline
def bit_count(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Equivalent of int.bit_count."""
    return ones(number if number >= 0 else -number)


@_inline
def bit_length(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Equivalent of int.bit_length."""
    return 64 - zeros(number if number >= 0 else -number)


class _TupleSplitter(ast.NodeTransformer):
    """Writes long tuples as sums of short ones. Python makes a longer tuple from a list, which numba cannot compile."""

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        """Split a long tuple."""
        self.generic_visit(node)
        if len(node.elts) <= MAX_TUPLE_LENGTH or not isinstance(node.ctx, ast.Load):
            return node
        starts = range(0, len(node.elts), MAX_TUPLE_LENGTH)
        parts: list[ast.expr] = [ast.Tuple(node.elts[start : start + MAX_TUPLE_LENGTH], node.ctx) for start in starts]
        whole = reduce(lambda one, other: ast.BinOp(one, ast.Add(), other), parts)
        return ast.copy_location(whole, node)


def object_code(text: str, kinds: tuple[str, ...], name: str) -> tuple[str, bytes]:
    """Compile the text of a module. Return a symbol and its object code: a function that calls the entry function with the
    contents of an array of words.

    Raises NotCompilable if the module cannot be compiled.
    """
    given = ", ".join([f"_{kind}_given(_given, {place})" for place, kind in enumerate(kinds)])
    text += f"\ndef entry_given(_given):\n    return entry({given})\n"
    file = f"<arena {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {
        "__name__": f"arena_{name}", "namedtuple": namedtuple, "at": at, "_put": put, "offset": offset, "_int64": types.int64,
        "bit_count": bit_count, "bit_length": bit_length, "log": log, "sqrt": sqrt, **GIVEN,
    }  # fmt: skip
    tree = ast.fix_missing_locations(_TupleSplitter().visit(ast.parse(text)))
    exec(compile(tree, file, "exec"), space)  # noqa: S102 - it is what has just been written from the author's own code
    entry = space.pop("entry_given")
    for key, value in list(space.items()):
        if getattr(value, "__code__", None) is not None and value.__code__.co_filename == file:
            space[key] = _inline(value, forceinline=not key.endswith(NOT_INLINED))
    flags = compiler.Flags()
    flags.nrt = False
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "python"
    entry.__globals__.update(space)
    context = _translation()
    context.refresh()
    try:
        with global_compiler_lock:
            made = compiler.compile_extra(cpu_target.typing_context, context, entry, (TYPES["words"],), types.int64, flags, {})
            symbol: str = made.fndesc.llvm_func_name
            return symbol, _optimise(made)
    except Exception as error:  # numba may raise anything
        lines = [line.strip() for line in re.sub(r"(, defined)? at <arena \w+> \(\d+\)", "", str(error)).splitlines()]
        said = [line for line in lines if line and not line.startswith(("Failed in ", "File "))]
        refused = NotCompilable(" ".join(said[:2])[:300] or describe(error))
        refused.lines = [int(line) for line in re.findall(rf'File "{re.escape(file)}", line (\d+)', str(error))]
        raise refused from error
    finally:
        linecache.cache.pop(file, None)


def _optimise(made: Any) -> bytes:
    """Return the object code of the translated functions."""
    made.library.finalize()
    module, machine = made.library._final_module, made.library.codegen._tm  # noqa: SLF001 - for which numba has no other names
    for function in module.functions:
        if not function.is_declaration and function.name != made.fndesc.llvm_func_name:
            function.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMISATION_LEVEL)
    options.loop_vectorization, options.loop_unrolling = True, False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    code: bytes = machine.emit_object(module)
    return code
