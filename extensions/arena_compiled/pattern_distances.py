"""Tables of distances, such as pattern databases, filled by compiled code."""

import os
from collections.abc import Callable
from typing import Any

from arena.compiled import NotCompilable
from arena.search_engines import PLAIN
from arena_compiled import cache
from arena_compiled.loader import argument
from arena_compiled.memory import Memory
from arena_compiled.module import Module, add_helpers, assemble
from arena_compiled.specialiser import Specialiser

OVER, GROW = 2, 3
UNSEEN = 255
SLICE_STATES = 1 << 20
"""States after which progress is reported."""
FIRST_STATES = 1 << 16
"""States of a level that there is room for at first."""
MIN_COMPILED_ENTRIES = 1 << 20
"""Entries from which on a table takes longer than compiling."""


def distance_table(rules: Any, start: int, states: int, entries: int, tell: Callable[[int], object]) -> bytes | None:
    """Return for each of `entries` the distance from the entry of a state, a byte each, 255 for those that cannot be reached.

    The rules are of states of one number, below `states`, and `entry(state)` tells the entry that a state shares with others: a
    step to one of these costs nothing, any other 1. `tell` is given how many states were looked at, again and again.

    None if this is for the plain path: without numba, if compiled code is not wanted, for small tables, and if a
    distance does not fit.
    """
    mode = os.environ.get(cache.COMPILE)
    if os.environ.get(PLAIN, "") not in ("", "0") or (entries < MIN_COMPILED_ENTRIES and mode != "always"):
        return None
    try:
        call, module, memory = _load(rules, states, entries, compiling=mode != "never")
    except NotCompilable:
        return None
    fields = [argument(field) for field in module.fields]  # addresses: the module has to live as long
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
    from arena_compiled.seam import MISSING, compile_module, is_installed

    if not is_installed("llvmlite"):
        raise NotCompilable(MISSING)
    from arena_compiled.loader import load_code

    one = Specialiser("rules", rules, {"width": rules.width})
    add_helpers(one, 1)
    module = assemble("distances", one, Specialiser("estimate", None), {})
    found = compile_module(module, compiling=compiling)
    if found is None:
        raise NotCompilable("its code is not in the cache")
    sizes = {
        "registers": 8,
        "states": FIRST_STATES,
        "farther": FIRST_STATES,
        "actions": rules.width,
        "seen": (states >> 3) + 1,
        "table": entries,
    }
    return load_code(*found, module.kinds), module, Memory(module.memory, sizes)
