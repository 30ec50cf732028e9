"""The board of checkers: the numbers in a state, the neighbours of squares, and positions as text."""

from arena.api.errors import abbreviate

State = tuple[int, ...]

SQUARES = 32
JUMPER, QUIET, SEAT = 32, 33, 34
"""The indices of the three numbers that follow the squares in a state."""
MAN = (1, 3)
KING = (2, 4)
LETTERS = "BW"


def _neighbours(distance: int) -> tuple[int, ...]:
    """Return, for each square, the four squares at a distance from it: up left, up right, down left, down right. A square off the
    board is -1.
    """
    found = []
    for square in range(SQUARES):
        row, column = square // 4, 2 * (square % 4) + (1 - square // 4 % 2)
        for down, right in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            r, c = row + down * distance, column + right * distance
            found.append(4 * r + c // 2 if 0 <= r < 8 and 0 <= c < 8 else -1)
    return tuple(found)


STEPS, JUMPS = _neighbours(1), _neighbours(2)


def draw(state: State) -> list[list[str]]:
    """Return the board: `b` and `w` for men, `B` and `W` for kings, the number of an empty dark square."""
    rows = []
    for row in range(8):
        cells = [("bBwW"[state[place] - 1] if state[place] else str(place + 1)) for place in range(4 * row, 4 * row + 4)]
        rows.append([cell for mark in cells for cell in (("", mark) if row % 2 == 0 else (mark, ""))])
    return rows


def write_position(state: State) -> str:
    """Return the text notation, such as `W:B1,2:W21,K30 0`."""
    sides = []
    for seat in (0, 1):
        pieces = [
            f"{'K' if state[place] == KING[seat] else ''}{place + 1}"
            for place in range(SQUARES)
            if state[place] in (MAN[seat], KING[seat])
        ]
        sides.append(f"{LETTERS[seat]}{','.join(pieces)}")
    jumper = f" x{state[JUMPER] + 1}" if state[JUMPER] >= 0 else ""
    return f"{LETTERS[state[SEAT]]}:{':'.join(sides)} {state[QUIET]}{jumper}"


def read_position(text: str, most_quiet: int) -> State:
    """Parse a text such as `W:B1,2:W21,K30 0`, or a position from PDN, such as `W:W21,K30:B1,2.`, in which either side comes
    first. Raises ValueError for wrong squares, too many pieces, a man in the last row, or more than `most_quiet` quiet plies.
    """
    words = text.split()
    parts = words[0].removesuffix(".").split(":") if words else []
    parts[1:] = sorted(parts[1:])  # black first; in PDN, either side may come first
    if len(parts) != 3 or parts[0] not in LETTERS or [part[:1] for part in parts[1:]] != ["B", "W"] or len(words) > 3:
        raise ValueError(
            f"expected the side to move, the pieces and the quiet plies, such as W:B1,2:W21,K30 0, got {abbreviate(text)}"
        )
    cells = [0] * SQUARES
    for seat, part in enumerate(parts[1:]):
        names = part[1:].split(",") if part[1:] else []
        for name in names:
            number = name.removeprefix("K")
            if not number.isdecimal() or not 1 <= int(number) <= SQUARES or cells[int(number) - 1]:
                raise ValueError(f"expected different squares from 1 to {SQUARES}, got {abbreviate(name)} in {abbreviate(text)}")
            if not name.startswith("K") and (int(number) - 1) // 4 == (0 if seat else 7):
                raise ValueError(f"a man in the last row is a king: write K{name} instead of {name} in {abbreviate(text)}")
            cells[int(number) - 1] = (KING if name.startswith("K") else MAN)[seat]
        if len(names) > 12:
            raise ValueError(f"expected at most 12 pieces per side, got {len(names)} in {abbreviate(text)}")
    quiet, jumper = words[1] if len(words) > 1 else "0", words[2] if len(words) > 2 else ""
    number = jumper.removeprefix("x")
    if not quiet.isdecimal() or int(quiet) > most_quiet or (jumper and not (number.isdecimal() and 1 <= int(number) <= SQUARES)):
        raise ValueError(
            f"expected at most {most_quiet} quiet plies, and optionally a square such as x22, got {abbreviate(text)}"
        )
    return (*cells, int(number) - 1 if jumper else -1, int(quiet), LETTERS.index(parts[0]))
