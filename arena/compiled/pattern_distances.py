"""Tables of distances, such as pattern databases, filled by compiled code."""

import os
from collections.abc import Callable
from typing import Any

from arena.compiled import cache
from arena.compiled.fields import NotCompilable
from arena.compiled.loader import argument
from arena.compiled.memory import Memory
from arena.compiled.module import Module, assembled, helpers
from arena.compiled.specialiser import Specialiser

OVER, GROW = 2, 3
UNSEEN = 255
SLICE = 1 << 20
"""States after which progress is told."""
ROOM = 1 << 16
"""States of a level that there is room for at first."""
WORTH = 1 << 20
"""Entries from which on a table takes longer than compiling."""


def distance_table(rules: Any, start: int, states: int, entries: int, tell: Callable[[int], object]) -> bytes | None:
    """Return for each of `entries` the distance from the entry of a state, a byte each, 255 for those that cannot be reached.

    The rules are of states of one number, below `states`, and `entry(state)` tells the entry that a state shares with others: a
    step to one of these costs nothing, any other 1. `tell` is given how many states were looked at, again and again.

    None where this is for the plain path: without numba, where nobody wants compiled code, for small tables, and where a
    distance does not fit.
    """
    mode = os.environ.get(cache.COMPILE)
    if os.environ.get(cache.PLAIN, "") not in ("", "0") or (entries < WORTH and mode != "always"):
        return None
    try:
        call, module, memory = _loaded(rules, states, entries, compiling=mode != "never")
    except NotCompilable:
        return None
    fields = [argument(field) for field in module.fields]  # addresses: the module has to live as long
    registers, seen, table = memory["registers"], memory["seen"], memory["table"]
    memory.fill("table", UNSEEN)
    seen[start >> 3] = 1 << (start & 7)
    table[rules.entry((start,))] = 0
    memory["states"][0] = start
    registers[4], registers[5] = 1, ROOM
    status = 0
    while status != OVER:
        registers[3] = registers[1] + SLICE
        status = call(*fields, *memory.arguments)
        if status == GROW:
            registers[5] *= 2
            memory.grow({"states": registers[5], "farther": registers[5]})
        elif status not in (0, OVER):
            return None
        tell(registers[1])
    return bytes(table)


def _loaded(rules: Any, states: int, entries: int, *, compiling: bool) -> tuple[Any, Module, Memory]:
    from arena.compiled.seam import MISSING, compiled, installed

    if not installed("llvmlite"):
        raise NotCompilable(MISSING)
    from arena.compiled.loader import loaded

    one = Specialiser("rules", rules, {"width": rules.width})
    helpers(one, 1)
    module = assembled("distances", one, Specialiser("estimate", None), {})
    found = compiled(module, compiling=compiling)
    if found is None:
        raise NotCompilable("its code is not in the cache")
    sizes = {"registers": 8, "states": ROOM, "farther": ROOM, "actions": rules.width, "seen": (states >> 3) + 1, "table": entries}
    return loaded(*found, module.kinds), module, Memory(module.memory, sizes)
