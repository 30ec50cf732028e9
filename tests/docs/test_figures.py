"""The manual's figures: words lie where they belong."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

FIGURES = sorted((Path(__file__).parents[2] / "docs" / "figures").glob("*.svg"))
WIDE = 7.3
"""Units of a usual letter of 14 units in a sans-serif face; the widest common one, Verdana's and DejaVu's."""


def number(element: ET.Element, name: str) -> float:
    """An attribute, 0 where it is missing."""
    return float(element.get(name, "0"))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.stem)
def test_words_stay_in_their_box_and_on_the_card(figure: Path) -> None:
    """A line of words is narrower than the box around its middle, and than the card."""
    tree = ET.parse(figure).getroot()
    card, *boxes = tree.findall(".//{*}rect")
    texts = list(tree.findall(".//{*}text"))
    assert texts
    for text in texts:
        words, x, y = text.text or "", number(text, "x"), number(text, "y")
        wide = len(words) * WIDE
        left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "start")]
        around = [
            box
            for box in boxes
            if 0 < x - number(box, "x") < number(box, "width") and 0 < y - number(box, "y") < number(box, "height")
        ]
        for box in around or [card]:
            assert number(box, "x") + 4 * bool(around) <= left, words
            assert left + wide <= number(box, "x") + number(box, "width") - 4 * bool(around), words


def test_a_label_does_not_lie_on_its_line() -> None:
    """Of the plot of greedy: no point of a line is within the words beside it."""
    tree = ET.parse(next(figure for figure in FIGURES if figure.stem == "greedy")).getroot()
    points = [
        (float(x), float(y)) for line in tree.findall(".//{*}circle") for x, y in [(line.get("cx", ""), line.get("cy", ""))]
    ]
    labels = [text for text in tree.findall(".//{*}text") if re.match("a shortest way|greedy", text.text or "")]
    assert len(labels) == 2
    for label in labels:
        wide = len(label.text or "") * WIDE
        left = number(label, "x") - (wide if label.get("text-anchor") == "end" else 0)
        assert not [point for point in points if left < point[0] < left + wide and -12 < point[1] - number(label, "y") < 4]
