"""Fills tables of distances, such as pattern databases, with compiled code."""

import os
from collections.abc import Callable
from typing import Any

from arena.api.search import COMPILE, wants_plain
from arena.compiled import NotCompilable
from arena_compiled import cache
from arena_compiled.loader import argument
from arena_compiled.memory import Memory
from arena_compiled.module import Module, add_helpers, assemble
from arena_compiled.specialiser import Specialiser

OVER, GROW = 2, 3
UNSEEN = 255
SLICE_STATES = 1 << 20
"""The number of states between two reports of progress."""
FIRST_STATES = 1 << 16
"""The initial capacity of a level, in states."""
MIN_COMPILED_ENTRIES = 1 << 20
"""For a table with at least this many entries, compiling and filling take less time than filling without compiling."""


def distance_table(rules: Any, start: int, states: int, entries: int, tell: Callable[[int], object]) -> bytes | None:
    """Return the distance between each of `entries` entries and the entry of the start state, one byte each; 255 if an entry
    cannot be reached.

    A state of `rules` is a number from 0 to `states` - 1, and `start` is one of them. Several states can share an entry; the
    method `entry(state)` of the rules returns it. A step to a state with the same entry costs nothing, and any other step costs
    1. `tell` is called repeatedly with the number of states examined so far.

    The result is None if the table should be filled by uncompiled code: if numba is missing, if compiled code is not wanted, if
    the table is small, or if a distance does not fit into a byte.
    """
    mode = os.environ.get(COMPILE)
    if wants_plain() or (entries < MIN_COMPILED_ENTRIES and mode != "always"):
        return None
    tell(0)  # called before anything is compiled, because it raises an exception if a spec is only validated
    try:
        call, module, memory = _load(rules, states, entries, compiling=mode != "never")
    except NotCompilable:
        return None
    fields = [argument(field) for field in module.fields]  # these are addresses, so the module must stay alive
    registers, seen, table = memory["registers"], memory["seen"], memory["table"]
    memory.fill("table", UNSEEN)
    seen[start >> 3] = 1 << (start & 7)
    table[rules.entry((start,))] = 0
    memory["states"][0] = start
    registers[4], registers[5] = 1, FIRST_STATES
    status = 0
    while status != OVER:
        registers[3] = registers[1] + SLICE_STATES
        status = call(*fields, *memory.arguments)
        if status == GROW:
            registers[5] *= 2
            memory.grow({"states": registers[5], "farther": registers[5]})
        elif status not in (0, OVER):
            return None
        tell(registers[1])
    return bytes(table)


def _load(rules: Any, states: int, entries: int, *, compiling: bool) -> tuple[Any, Module, Memory]:
    from arena_compiled.background import MISSING
    from arena_compiled.seam import compile_module, is_installed

    if not is_installed("llvmlite"):
        raise NotCompilable(MISSING)
    from arena_compiled.loader import load_code

    one = Specialiser("rules", rules, {"width": rules.width})
    add_helpers(one, 1)
    module = assemble("distances", one, Specialiser("estimate", None), {})
    key = module.key
    found = cache.read(key)
    if found is None:
        if not compiling:
            raise NotCompilable("its code is not in the cache")
        found = compile_module(module, key)
    sizes = {
        "registers": 8,
        "states": FIRST_STATES,
        "farther": FIRST_STATES,
        "actions": rules.width,
        "seen": (states >> 3) + 1,
        "table": entries,
    }
    return load_code(*found, module.kinds), module, Memory(module.memory, sizes)
