"""Tables of distances, such as pattern databases, filled by compiled code."""

import os
from collections.abc import Callable
from typing import Any

from arena.api.search import PLAIN
from arena.compiled import NotCompilable
from arena_compiled import cache
from arena_compiled.loader import argument
from arena_compiled.memory import Memory
from arena_compiled.module import Module, add_helpers, assemble
from arena_compiled.specialiser import Specialiser

OVER, GROW = 2, 3
UNSEEN = 255
SLICE_STATES = 1 << 20
"""Number of states between two progress reports."""
FIRST_STATES = 1 << 16
"""Initial capacity in states of a level."""
MIN_COMPILED_ENTRIES = 1 << 20
"""From this number of entries on, compiling takes less time than filling the table plain."""


def distance_table(rules: Any, start: int, states: int, entries: int, tell: Callable[[int], object]) -> bytes | None:
    """Return the distance of each of `entries` from the start state's entry, one byte each; 255 for unreachable ones.

    The rules have states of one number, from 0 to `states` - 1, and `start` is one of them. `entry(state)` returns the entry
    that a state shares with others. A step to a state of the same entry costs nothing, and any other step costs 1. `tell` is
    called repeatedly with the number of examined states.

    The result is None if the plain path should be used: without numba, if compiled code is not wanted, for small tables, and if
    a distance does not fit.
    """
    mode = os.environ.get(cache.COMPILE)
    if os.environ.get(PLAIN, "") not in ("", "0") or (entries < MIN_COMPILED_ENTRIES and mode != "always"):
        return None
    try:
        call, module, memory = _load(rules, states, entries, compiling=mode != "never")
    except NotCompilable:
        return None
    fields = [argument(field) for field in module.fields]  # addresses: the module must stay alive as long
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
    key = cache.key_of(module.text, module.kinds)
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
