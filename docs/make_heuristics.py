"""Writes docs/explanation/heuristics.md and its figures: plays `tournaments/heuristics.yaml`, and compares the entries over all
boards. Run it with `make results`; `docs/make_heuristics.py STORE` uses the matches in a store, and plays those that are missing.

Every figure on the page comes from the matches. The sentences around them hold whatever the figures are.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from math import log10
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

import yaml
from make_figures import INK, ONE, SOFT, TWO, Drawing, axes

import arena
from arena.results import figures

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "tournaments" / "heuristics.yaml"
PAGE = ROOT / "docs" / "explanation" / "heuristics.md"
STRONG, WEAK = "a-star strong", "a-star weak"
SIZES = {"sliding-tiles": " {rows}x{columns}", "grid-path": ", {map}"}
"""What the name of a board has besides the name of its puzzle."""
LINE = 118
"""The most characters of a line of the page."""


def compare(store: Path, *words: str) -> str:
    """Return the output of `arena compare STORE --across` with more words."""
    command = [sys.executable, "-m", "arena", "compare", str(store), *words]
    return subprocess.run([*command, "--across"], check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def name_boards(spec: Mapping[str, Any]) -> list[str]:
    """Return a short name for each board of a spec, in which no two boards have equal names."""
    return [one["name"] + SIZES.get(one["name"], "").format(**{"rows": 3, "columns": 3, **one}) for one in spec["games"]]


def describe_heuristic(heuristic: str | Mapping[str, Any]) -> str:
    """Return the name of a heuristic and its options, as in `pattern-db, partition 6-1`."""
    if isinstance(heuristic, str):
        return heuristic
    return ", ".join([heuristic["name"], *[f"{key} {value}" for key, value in heuristic.items() if key != "name"]])


def find_verdict(text: str) -> str:
    """Return the sentences of a comparison of two entries about all domains, as a quotation."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("Over all domains"))
    folded = [
        fill(line.replace(" = ", "\0=\0"), LINE, initial_indent="> ", subsequent_indent="> ") for line in lines[first:] if line
    ]
    return "\n>\n".join(folded).replace("\0", " ")


def make_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join([f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows)])


TEXT = """# Stronger heuristics over all puzzles

<!-- docs/make_heuristics.py writes this page: `make results` -->

This page shows how much a stronger heuristic helps, on the built-in puzzles that have a stronger and a weaker
heuristic. In the spec (tournament file) `tournaments/heuristics.yaml`, A* and greedy best-first search solve {rounds}
positions on each of {boards} boards. Each search runs once with a stronger heuristic and once with a weaker one, and
may generate at most {limit} nodes (states) per position. Breadth-first search takes part as a baseline. The run takes
about five minutes on two cores.

```text
arena run tournaments/heuristics.yaml
arena compare results/heuristics.db --across
arena compare results/heuristics.db "a-star strong" "a-star weak" --across --by nodes -o nodes.html
```

The last command writes a page with two plots of the ratio of nodes. The first shows one ratio per puzzle, with its
interval. The second shows one ratio per position, with a colour for each puzzle. [Ratings](ratings.md#several-games)
explains the method. The quotations on this page are the output of `arena compare`.

## The nodes of A*

![The ratio of the nodes by puzzle, with intervals](../figures/heuristics-nodes.svg)

{ratios}

{nodes}

The ratios are geometric means over the positions that A* solves with both heuristics. The interval for all puzzles is
about other puzzles of this kind, too. So it is wide if the puzzles disagree, although the interval for each puzzle may
be narrow. The two boards of sliding-tiles and the two maps of grid-path count as four puzzles, although the two boards
have much in common, and so do the two maps.

On two puzzles, all solutions of a position cost the same. On sudoku, this is the number of empty cells, which
`empty-cells` knows exactly. So A* with this heuristic has no reason to prefer one grid to another. On n-queens, the
first {placed} queens are placed at random, and a solution adds the others. Here, `conflicts` is 0 on all boards without
attacks, so A* with it is breadth-first search. `forward-checking` is the number of missing queens, as long as each
empty column has a row that is not attacked.

## The costs of best-first search

With both heuristics, A* finds the cheapest solutions. Best-first search need not do so.

{costs}

## Solved positions

![The share of all positions that A* solves, by nodes](../figures/heuristics-solved.svg)

{solved}

The next table has the leads over all puzzles, in percentage points. Intervals and p-values are
[corrected](ratings.md#one-decision) for {pairs} comparisons. A lead is beyond chance if p is at most 0.05.

{leads}

To see larger differences in solved positions, lower `limits` in the spec, or take harder positions.
"""


def make_page(spec: Mapping[str, Any], store: Path) -> str:
    """Return the page for a store with all matches of the spec."""
    boards, labels = name_boards(spec), [entry["label"] for entry in spec["agents"]]
    (nodes,) = json.loads(compare(store, STRONG, WEAK, "--by", "nodes", "--format", "json"))["pairs"]
    every = json.loads(compare(store, "--format", "json"))
    domains = [one["domain"] for one in every["pairs"][0]["domains"]]
    named = dict(zip(domains, boards, strict=True))
    puzzles = dict(zip(domains, [one["name"] for one in spec["games"]], strict=True))
    used = {entry["label"]: entry.get("heuristic") for entry in spec["agents"]}
    rows = [
        [
            named[one["domain"]],
            *[describe_heuristic(used[label][puzzles[one["domain"]]]) for label in (STRONG, WEAK)],
            figures.figure(one["value"]),
            write_interval(one),
        ]
        for one in nodes["domains"]
    ]
    whole = nodes["overall"]
    rows.append(["**all**", "", "", f"**{figures.figure(whole['value'])}**", f"**{write_interval(whole)}** (corrected)"])
    shares = {(one["domain"], one["agent"]): figures.share(one["solved"]) for one in every["solvers"]}
    solved = [[board, *[shares[domain, label] for label in labels]] for domain, board in named.items()]
    leads = []
    for pair in every["pairs"]:
        low, value, high = [f"{100 * pair['overall'][key]:+.1f}" for key in ("low", "value", "high")]
        leads.append([f"{pair['one']}, {pair['other']}", value, f"{low} to {high}", f"{pair['overall']['p_value_holm']:.2g}"])
    return TEXT.format(
        rounds=spec["rounds"],
        boards=len(boards),
        limit=f"{spec['limits']['nodes']:,}",
        placed=next(game["placed"] for game in spec["games"] if game["name"] == "n-queens"),
        ratios=make_table(["puzzle", "stronger", "weaker", "nodes, stronger / weaker", "95 % interval"], rows),
        nodes=find_verdict(compare(store, STRONG, WEAK, "--by", "nodes")),
        costs=find_verdict(compare(store, "best-first strong", "best-first weak", "--by", "cost")),
        solved=make_table(["puzzle", *labels], solved),
        pairs=every["pairs"][0]["tests"],
        leads=make_table(["entries", "lead", "corrected interval", "p (Holm)"], leads),
    )


def write_interval(found: Mapping[str, Any]) -> str:
    """Return the interval of a ratio, as in `0.5 to 0.8`."""
    return figures.between(*[None if found[bound] is None else figures.figure(found[bound]) for bound in ("low", "high")])


def draw_solved(records: Sequence[Any]) -> None:
    """Draw the share of all positions that A* solves with each heuristic, by nodes."""
    width, height = 640, 320
    drawing = Drawing(width, height, "Positions that A* solves with a stronger and with a weaker heuristic, by nodes")
    axes(drawing, width, height, "nodes", "solved, over all puzzles")
    for name, color, dash in ((STRONG, ONE, ""), (WEAK, TWO, "6 4")):
        mine = [record for record in records if record.labels == (name,)]
        points, share = [(60.0, float(height - 50))], 0.0
        for nodes in sorted(max(1, record.decisions[0].nodes) for record in mine if record.solved and record.decisions):
            x = 60 + 135 * log10(nodes)
            share += 1 / len(mine)
            points += [(x, points[-1][1]), (x, height - 50 - 240 * share)]
        drawing.line([*points, (600, points[-1][1])], color, 2.5, dash)
        drawing.text(
            60 + 135 * 2, height - 50 - 240 * (0.75 if color == ONE else 0.12), name, color, "end" if color == ONE else "start"
        )
    for percent in (0, 25, 50, 75, 100):
        drawing.text(52, height - 45 - 2.4 * percent, f"{percent} %", SOFT, "end")
    for power in range(5):
        drawing.text(60 + 135 * power, height - 32, f"{10**power:,}", SOFT, "middle")
    drawing.save("heuristics-solved.svg")


def draw_ratios(rows: list[tuple[str, float, float, float]], overall: dict[str, float]) -> None:
    """Draw the ratio of the nodes in each domain and over all of them, each with its interval, on a logarithmic axis."""
    left, unit, step = 160, 220, 28
    height = 110 + step * len(rows)
    drawing = Drawing(720, height, "Nodes of A* with the stronger heuristic, divided by those with the weaker one")
    rows = [*rows, ("all domains", overall["value"], overall["low"], overall["high"])]

    def across(ratio: float) -> float:
        return left + unit * (2 + log10(ratio))

    drawing.line([(across(1), 20), (across(1), height - 50)], SOFT, 1, "4 4")
    drawing.line([(across(0.01), height - 50), (across(3), height - 50)], SOFT, 1)
    for number, (name, value, low, high) in enumerate(rows):
        y = 34 + step * number
        color = TWO if name == "all domains" else ONE
        drawing.text(left - 10, y + 5, name, INK, "end")
        drawing.line([(across(max(low, 0.01)), y), (across(high), y)], color, 3)
        drawing.dot(across(value), y, color, 5)
    for ratio in (0.01, 0.1, 1):
        drawing.text(across(ratio), height - 32, f"{ratio:g}", SOFT, "middle")
    drawing.text(across(0.1), height - 12, "nodes, stronger / weaker", INK, "middle")
    drawing.save("heuristics-nodes.svg")


def main() -> None:
    """Play the spec, and write the page with its figures."""
    spec = yaml.safe_load(SPEC.read_text("utf-8"))
    with TemporaryDirectory() as folder:
        store = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "heuristics.db"
        records = arena.run(SPEC, store=store, workers=2).records
        PAGE.write_text(make_page(spec, store), "utf-8")
        (pair,) = json.loads(compare(store, STRONG, WEAK, "--by", "nodes", "--format", "json"))["pairs"]
    rows = zip(name_boards(spec), pair["domains"], strict=True)
    draw_ratios([(name, row["value"], row["low"], row["high"]) for name, row in rows], pair["overall"])
    draw_solved(records)


if __name__ == "__main__":
    main()
