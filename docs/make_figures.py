"""Draws the figures of the manual as SVG, from matches that this script plays: `make figures`."""

from html import escape
from pathlib import Path

import arena
from arena import load_plugins
from arena.heuristics import bind

FOLDER = Path(__file__).parent / "figures"
INK, SOFT, ONE, TWO = "#24292f", "#8c959f", "#0072b2", "#d55e00"


class Drawing:
    """A drawing on a white background, so that it is readable on light and dark pages."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
            ' font-family="sans-serif" font-size="14">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
        ]

    def line(self, points: list[tuple[float, float]], color: str = INK, width: float = 2, dash: str = "") -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"{more}/>')

    def text(self, x: float, y: float, words: str, color: str = INK, anchor: str = "start") -> None:
        """Write words at a point."""
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, words: list[str], color: str = INK) -> None:
        """Draw a box with lines of words in it."""
        self.lines.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="none" stroke="{color}" stroke-width="2"/>'
        )
        for number, line in enumerate(words):
            self.text(x + width / 2, y + height / 2 + 5 + 18 * (number - (len(words) - 1) / 2), line, anchor="middle")

    def dot(self, x: float, y: float, color: str = INK, radius: float = 4) -> None:
        """Draw a dot."""
        self.lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def save(self, name: str) -> None:
        """Write the figure to a file."""
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / name).write_text("\n".join([*self.lines, "</svg>"]) + "\n", "utf-8")


def axes(drawing: Drawing, width: int, height: int, across: str, up: str) -> None:
    """Draw two axes with their names."""
    drawing.line([(60, 20), (60, height - 50), (width - 20, height - 50)], SOFT, 1)
    drawing.text((width + 40) / 2, height - 12, across, anchor="middle")
    drawing.text(60, 14, up, anchor="start")


def greedy() -> None:
    """Draw how the Manhattan distance changes along a shortest solution, and along the path of an agent that gets stuck."""
    registry = load_plugins(environ=False)
    game = registry.game("sliding-tiles")(shuffle=30)
    manhattan = bind(registry.heuristic("sliding-tiles", "manhattan"), game)
    for seed in range(200):
        best = arena.play(game, ["a-star"], seed=seed, limits={"moves": 24})
        stuck = arena.play(game, ["greedy"], seed=seed, limits={"moves": 24})
        if best.moves == 12 and not stuck.solved:
            break
    width, height = 640, 320
    drawing = Drawing(width, height, "The estimate along a shortest way, and along greedy's")
    axes(drawing, width, height, "slides", "Manhattan distance")
    for record, color, name in ((best, ONE, "a shortest way"), (stuck, TWO, "greedy")):
        state = game.parse_state(record.position)
        values = [manhattan(state, 0)]
        for action in record.actions:
            state = game.result(state, next(one for one in game.actions(state) if game.format_action(state, one) == action))
            values.append(manhattan(state, 0))
        points = [(60 + 23 * n, height - 50 - 17 * value) for n, value in enumerate(values)]
        drawing.line(points, color, 2.5, "" if color == ONE else "6 4")
        for x, y in points:
            drawing.dot(x, y, color)
        x, y = points[-1]
        if color == ONE:  # the name stands above the line, which falls
            drawing.text(x - 50, y - 62, name, color)
        else:
            drawing.text(x - 4, y - 14, name, color, "end")
    for value in range(0, 15, 2):
        drawing.text(50, height - 45 - 17 * value, str(value), SOFT, "end")
    for slide in range(0, 25, 4):
        drawing.text(60 + 23 * slide, height - 32, str(slide), SOFT, "middle")
    drawing.save("greedy.svg")


def seeds() -> None:
    """Draw how the random streams of the seats follow from the seed of a spec."""
    drawing = Drawing(680, 250, "From the seed of a spec to every stream")
    drawing.box(20, 95, 80, 50, ["seed"])
    drawing.box(140, 20, 220, 70, ["position k", "game, parameters, seed, k"], ONE)
    drawing.box(140, 150, 220, 70, ["who sits where", "options, heuristic, limits"], TWO)
    drawing.box(410, 85, 110, 70, ["identity", "of a match"])
    drawing.box(570, 20, 90, 60, ["stream of", "seat 0"])
    drawing.box(570, 160, 90, 60, ["stream of", "seat 1"])
    for start, end in (
        ((100, 112), (140, 60)),
        ((360, 60), (410, 108)),
        ((360, 185), (410, 132)),
        ((520, 110), (570, 55)),
        ((520, 130), (570, 185)),
    ):
        drawing.line([start, end], SOFT, 2)
        drawing.dot(*end, SOFT, 3)
    drawing.save("seeds.svg")


LEVELS = (50.0, 110.0, 170.0, 225.0, 280.0)
"""The vertical positions of the plies of a tree."""


def tree(drawing: Drawing, x: float) -> list[tuple[float, float]]:
    """Draw two plies of a tree with three actions in each state. Return the line in the middle."""
    root = (x, LEVELS[0])
    for across in (-90.0, 0.0, 90.0):
        child = (x + across, LEVELS[1])
        drawing.line([root, child], SOFT, 1)
        for further in (-28.0, 0.0, 28.0):
            leaf = (child[0] + further, LEVELS[2])
            drawing.line([child, leaf], SOFT, 1)
            drawing.dot(*leaf, SOFT, 3)
        drawing.dot(*child, SOFT, 3)
    return [root, (x, LEVELS[1]), (x + 28, LEVELS[2])]


def quiet() -> None:
    """Draw a line of moves that is cut off in the middle of an exchange, and one that is searched farther."""
    drawing = Drawing(680, 310, "A search that stops too early")
    drawing.line([(20, LEVELS[2]), (660, LEVELS[2])], SOFT, 1, "4 4")
    drawing.text(340, LEVELS[2] + 20, "the depth", SOFT, "middle")
    for x, words, color in ((160.0, "stops at the depth: looks won", ONE), (520.0, "goes on until it is quiet: is lost", TWO)):
        drawing.text(x, 26, words, color, "middle")
        line = tree(drawing, x)
        if color == TWO:
            for across in (-22.0, 22.0):
                drawing.line([line[-1], (line[-1][0] + across, LEVELS[3])], SOFT, 1)
                drawing.dot(line[-1][0] + across, LEVELS[3], SOFT, 3)
            line += [(line[-1][0] + 22, LEVELS[3]), (line[-1][0] + 22, LEVELS[4])]
        drawing.line(line, color, 3)
        for place in line:
            drawing.dot(*place, color, 6)
    drawing.save("quiet.svg")


def budget() -> None:
    """Draw the share of positions that two heuristics solve, against the number of nodes."""
    spec = {
        "game": {"name": "sliding-tiles", "shuffle": 40},
        "rounds": 150,
        "limits": {"nodes": 1000},
        "agents": [{"agent": "best-first", "heuristic": name, "label": name} for name in ("manhattan", "misplaced")],
    }
    records = arena.run(spec).records
    width, height = 640, 320
    drawing = Drawing(width, height, "Solved shares against budget")
    axes(drawing, width, height, "nodes", "solved")
    for name, color, dash in (("manhattan", ONE, ""), ("misplaced", TWO, "6 4")):
        mine = [record for record in records if record.labels == (name,)]
        spent = sorted(record.decisions[0].nodes for record in mine if record.solved)
        points, share = [(60.0, float(height - 50))], 0.0
        for nodes in spent:
            x = 60 + nodes * 0.55
            points.append((x, points[-1][1]))
            share += 1 / len(mine)
            points.append((x, height - 50 - 240 * share))
        points.append((610, points[-1][1]))
        drawing.line(points, color, 2.5, dash)
        drawing.text(605, points[-1][1] - 8, name, color, "end")
    for share in (0, 25, 50, 75, 100):
        drawing.text(52, height - 45 - 2.4 * share, f"{share} %", SOFT, "end")
    for nodes in range(0, 1001, 250):
        drawing.text(60 + nodes * 0.55, height - 32, f"{nodes:,}", SOFT, "middle")
    drawing.save("budget.svg")


if __name__ == "__main__":
    for draw in (greedy, seeds, quiet, budget):
        draw()
