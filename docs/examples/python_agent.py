"""An agent that needs nothing but Python: it plays tic-tac-toe and solves sliding tiles.

It speaks the protocol of docs/reference/protocol.md. In a spec: `{agent: {command: [python3, python_agent.py]}, label: python}`.
"""

import json
import sys


class TicTacToe:
    """Searches every game to its end. A position is written as `x../.o./...`, and an action is the number of its cell, from 1."""

    def __init__(self, start):
        self.rows, self.columns = start["parameters"]["rows"], start["parameters"]["columns"]
        if (self.rows, self.columns) != (3, 3):
            raise ValueError("this agent knows only the 3x3 board")
        self.cells = []
        self.nodes = 0
        self.limit = start["limits"]["nodes"]
        self.known = {}

    def place(self, position):
        """Begin at a position."""
        self.cells = list(position.replace("/", ""))

    def play(self, action):
        """Update the position after an action of either side."""
        self.cells[int(action) - 1] = self.to_move()

    def to_move(self):
        """Return the side to move; x begins."""
        return "x" if self.cells.count("x") == self.cells.count("o") else "o"

    def choose(self):
        """Return the first of the best cells, and its value: 1 is a win, 0 a draw, and -1 a loss."""
        self.nodes = 0
        values = {cell: self.value(cell) for cell in self.empty()}
        best = max(values, key=values.get)
        return {"type": "action", "action": str(best + 1), "value": values[best], "nodes": self.nodes}

    def value(self, cell):
        """Return the value of a move for the side that makes it. Beyond the node limit, every position counts as a draw."""
        if self.nodes == self.limit:
            return 0
        self.nodes += 1
        self.cells[cell] = self.to_move()
        position = "".join(self.cells)
        if self.won(cell):
            value = 1
        elif position in self.known:
            value = self.known[position]
        else:
            value = -max(map(self.value, self.empty()), default=0)
            if self.nodes != self.limit:  # otherwise the value may be that of a draw that is none
                self.known[position] = value
        self.cells[cell] = "."
        return value

    def empty(self):
        """Return the cells without a mark."""
        return [cell for cell in range(9) if self.cells[cell] == "."]

    def won(self, cell):
        """Return whether a line through a cell has three equal marks."""
        return any(cell in line and len({self.cells[other] for other in line}) == 1 for line in LINES)


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class SlidingTiles:
    """Finds a shortest solution by breadth first search, from both ends. An action is the number of the tile that slides."""

    def __init__(self, start):
        parameters = start["parameters"]
        self.limit = start["limits"]["nodes"]
        self.columns = parameters["columns"]
        self.tiles = ()
        ordered = range(1, parameters["rows"] * parameters["columns"])
        self.goal = (*ordered, 0) if parameters["goal"] == "blank-last" else (0, *ordered)

    def place(self, position):
        """Begin at a position."""
        self.tiles = tuple(0 if word == "." else int(word) for word in position.replace("/", " ").split())

    def play(self, action):
        """Update the position after an action."""
        self.tiles = next(after for tile, after in self.slides(self.tiles) if tile == int(action))

    def choose(self):
        """Return the first action of a solution, or any action if the node limit was too low to find one."""
        path, nodes = self.search()
        tile = path[0] if path else next(self.slides(self.tiles))[0]
        return {"type": "action", "action": str(tile), "nodes": nodes}

    def solve(self):
        """Return a solution, or give up at the node limit."""
        path, nodes = self.search()
        if path is None:
            return {"type": "none", "nodes": nodes}
        return {"type": "path", "actions": [str(tile) for tile in path], "nodes": nodes, "depth": len(path)}

    def search(self):
        """Return a shortest path (the tiles to slide, in order) and the number of positions that were generated. At the limit of
        nodes, the path is None.
        """
        sides = [{self.tiles: ()}, {self.goal: ()}]
        edges = [[self.tiles], [self.goal]]
        nodes = 0
        while edges[0] and edges[1]:
            met = [tiles for tiles in edges[0] if tiles in sides[1]]
            if met:
                return min((sides[0][tiles] + sides[1][tiles][::-1] for tiles in met), key=len), nodes
            side = int(len(edges[1]) < len(edges[0]))
            seen, following = sides[side], []
            for tiles in edges[side]:
                for tile, after in self.slides(tiles):
                    if nodes == self.limit:
                        return None, nodes
                    nodes += 1
                    if after not in seen:
                        seen[after] = (*seen[tiles], tile)
                        following.append(after)
            edges[side] = following
        raise ValueError("no solution")

    def slides(self, tiles):
        """Yield every tile that can slide, with the position after the slide."""
        blank = tiles.index(0)
        row, column = divmod(blank, self.columns)
        for cell in (blank - self.columns, blank - 1, blank + 1, blank + self.columns):
            if 0 <= cell < len(tiles) and (cell // self.columns == row or cell % self.columns == column):
                after = list(tiles)
                after[blank], after[cell] = after[cell], 0
                yield tiles[cell], tuple(after)


GAMES = {"tic-tac-toe": TicTacToe, "sliding-tiles": SlidingTiles}


def main():
    """Answer every message from arena."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "protocol": 2, "name": "python example", "can": ["choose", "solve"]})
        elif message["type"] == "start":
            if message["game"] in GAMES:
                game = GAMES[message["game"]](message)
                say({"type": "ready"})
            else:
                say({"type": "failed", "message": f"knows {' and '.join(GAMES)}, not {message['game']}"})
        elif message["type"] in ("choose", "solve"):
            if "position" in message:  # the first decision of a match
                game.place(message["position"])
            for action in message.get("played", ()):
                game.play(action)
            say(game.choose() if message["type"] == "choose" else game.solve())
        elif message["type"] == "quit":
            return


def say(message):
    """Write one message, and flush the buffer so that arena gets it at once."""
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
