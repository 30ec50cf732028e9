"""A program that plays noughts and crosses by the protocol. It always chooses the first free cell."""

PLAYS = 'answer = {"type": "action", "action": str(free + 1)}'
"""The Python code that makes the answer with the move. `free` is the number of the cell, from 0."""


def write_program(name: str, plays: str = PLAYS) -> str:
    """Return the source code of the program. `name` is a Python literal, and `plays` has the lines that make the answer."""
    return _PROGRAM.replace("NAME", name).replace("PLAYS", plays.replace("\n", "\n        "))


_PROGRAM = r"""#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        answer = {"type": "hello", "protocol": 2, "name": NAME, "can": ["choose"]}
    elif asked["type"] == "start":
        answer = {"type": "ready"}
    elif asked["type"] == "choose":
        if "position" in asked:
            cells = list(asked["position"].replace("/", ""))
        for action in asked["played"]:
            cells[int(action) - 1] = "?"
        free = cells.index(".")
        cells[free] = "?"
        PLAYS
    else:
        break
    print(json.dumps(answer), flush=True)
"""
