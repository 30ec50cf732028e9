"""Counts the steps of a regular expression on a text, so that a test can tell linear patterns from slow ones without a clock.

The matcher follows the parsed pattern of `re` and tries the alternatives in the same order, so it counts what `re` does, except
for the shortcuts of its C code. `list_attacks` makes texts on which a pattern may be slow.
"""

import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._constants as names  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

Text = str | bytes
Then = Callable[[int], int | None]
"""The rest of a pattern: takes a place in the text, and returns the end of the match, or None."""
ONE_CHARACTER = {names.LITERAL, names.NOT_LITERAL, names.ANY, names.IN, names.CATEGORY}
REPEATS = {names.MAX_REPEAT, names.MIN_REPEAT, names.POSSESSIVE_REPEAT}


class TooManySteps(Exception):
    """The count has reached its limit."""


class Counter:
    """A pattern that counts its steps. Each comparison of a character and each start of a part is a step.

    >>> slow = Counter(re.compile(r"(a+)+b"))
    >>> slow.fullmatch("aaab"), slow.steps < 30
    (4, True)
    >>> [(slow.reset(), slow.fullmatch("a" * size), slow.steps // 100)[2] for size in (8, 9, 10)]
    [12, 25, 51]
    """

    def __init__(self, pattern: "re.Pattern[Any]", most: int = 1_000_000, bound: int = names.MAXREPEAT) -> None:
        """`most` is the limit on steps. A larger number of repetitions in the pattern than `bound`, as in `{1,64}`, counts as
        `bound`.
        """
        self.tree = parser.parse(pattern.pattern, pattern.flags)
        self.flags = pattern.flags
        self.most = most
        self.bound = bound
        self.steps = 0
        self._text: Text = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._compiled: dict[int, Any] = {}

    def reset(self) -> None:
        """Forget the steps so far."""
        self.steps = 0

    def match(self, text: Text, start: int = 0) -> int | None:
        """Return the end of the match at a place, or None."""
        self._text, self._groups = text, {}
        return self._sequence(list(self.tree), 0, start, lambda place: place)

    def fullmatch(self, text: Text) -> int | None:
        """Return the length of the text if the pattern matches all of it."""
        self._text, self._groups = text, {}
        return self._sequence(list(self.tree), 0, 0, lambda place: place if place == len(text) else None)

    def search(self, text: Text) -> int | None:
        """Return the end of the first match."""
        return next((end for _, end in self.finditer(text)), None)

    def finditer(self, text: Text) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each match."""
        start = 0
        while start <= len(text):
            end = self.match(text, start)
            if end is not None:
                yield start, end
            start = start + 1 if end is None or end == start else end

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooManySteps

    def _alone(self, item: Any) -> "re.Pattern[Any]":
        """Return one item of the tree as a pattern, for characters, anchors and references."""
        if id(item) not in self._compiled:
            tree = parser.SubPattern(self.tree.state, [item])
            self._compiled[id(item)] = (item, compiler.compile(tree, self.flags))
        found: re.Pattern[Any] = self._compiled[id(item)][1]
        return found

    def _sequence(self, items: list[Any], number: int, place: int, then: Then) -> int | None:
        if number == len(items):
            return then(place)
        self._step()
        kind, value = items[number]

        def rest(after: int) -> int | None:
            return self._sequence(items, number + 1, after, then)

        if kind in ONE_CHARACTER:
            one = place < len(self._text) and self._alone(items[number]).fullmatch(self._text, place, place + 1)
            return rest(place + 1) if one else None
        if kind is names.AT:
            return rest(place) if self._alone(items[number]).match(self._text, place) else None
        if kind is names.BRANCH:
            for branch in value[1]:
                if (end := self._sequence(list(branch), 0, place, rest)) is not None:
                    return end
            return None
        if kind is names.SUBPATTERN:
            group, _, _, inner = value

            def leave(after: int) -> int | None:
                if group is not None:
                    self._groups[group] = place, after
                return rest(after)

            return self._sequence(list(inner), 0, place, leave)
        if kind is names.GROUPREF:
            start, end = self._groups.get(value, (0, -1))
            same = end >= start and self._text[place : place + end - start] == self._text[start:end]
            return rest(place + end - start) if same else None
        if kind in (names.ASSERT, names.ASSERT_NOT):
            direction, inner = value
            start = place if direction > 0 else place - inner.getwidth()[0]
            held = start >= 0 and self._sequence(list(inner), 0, start, lambda after: after) is not None
            return rest(place) if held == (kind is names.ASSERT) else None
        if kind is names.ATOMIC_GROUP:
            end = self._sequence(list(value), 0, place, lambda after: after)
            return None if end is None else rest(end)
        assert kind in REPEATS, f"this pattern has {kind}, which the counter does not know"
        return self._repeat(kind, value, place, rest)

    def _repeat(self, kind: Any, value: Any, place: int, rest: Then) -> int | None:
        least, most, inner = value
        least, most = min(least, self.bound), most if most is names.MAXREPEAT else min(most, self.bound)
        body = list(inner)
        if kind is names.POSSESSIVE_REPEAT:
            done = 0
            while done < most:
                end = self._sequence(body, 0, place, lambda after: after)
                if end is None or (end == place and done >= least):
                    break
                place, done = end, done + 1
            return rest(place) if done >= least else None

        def repeat(done: int, at: int) -> int | None:
            def once_more() -> int | None:
                return self._sequence(
                    body, 0, at, lambda after: None if after == at and done >= least else repeat(done + 1, after)
                )

            if done < least:
                return once_more()
            ways = (once_more if done < most else lambda: None, lambda: rest(at))
            for way in ways if kind is names.MAX_REPEAT else ways[::-1]:
                if (end := way()) is not None:
                    return end
            return None

        return repeat(0, place)


class Attack(NamedTuple):
    """A family of texts, whose middle is repeated."""

    start: str
    middle: str
    end: str

    def text(self, times: int) -> str:
        """Return the text with this number of middles."""
        return self.start + self.middle * times + self.end


def list_attacks(tree: Any) -> list[Attack]:
    """Return attacks on a pattern: what it may repeat, alone and after what comes before, with an end that does not match."""
    characters = _characters(tree)
    middles, starts = dict.fromkeys(sample(tree, 1)), {"": None}
    for before, inner in _repeats(tree, [""]):
        middles.update(dict.fromkeys([*sample(inner, 3), *before[:1], *[text + "\n" for text in before[:1]]]))
        starts.update(dict.fromkeys(before[:2]))
    middles.update(dict.fromkeys([*characters[:6], *map("".join, product(characters[:3], repeat=2))]))
    shorter = [one for one in middles if 0 < len(one) < 30][:24]
    return [Attack(start, middle, "\0") for start in [*starts][:5] for middle in shorter]


def sample(tree: Any, most: int) -> list[str]:
    """Return a few texts that a pattern matches, if its assertions hold."""
    found = [""]
    for item in tree:
        kind, value = item
        ways = [""]
        if kind in ONE_CHARACTER:
            ways = _characters([item])[:2]
        elif kind is names.BRANCH:
            ways = [text for branch in value[1] for text in sample(branch, 2)]
        elif kind in (names.SUBPATTERN, names.ATOMIC_GROUP):
            ways = sample(value[3] if kind is names.SUBPATTERN else value, most)
        elif kind in REPEATS:
            ways = [text * max(1, min(value[0], 2)) for text in sample(value[2], 2)] + [""] * (value[0] == 0)
        found = [before + text for before in found for text in ways][: 4 * most]
    return found[: 3 * most]


def _characters(tree: Any) -> list[str]:
    """Return characters that stand for all that the parts of a pattern match."""
    found: list[str] = []
    for kind, value in tree:
        if kind is names.LITERAL:
            found.append(chr(value))
        elif kind in (names.NOT_LITERAL, names.ANY):
            found.append("q")
        elif kind is names.IN:
            negated = value[0][0] is names.NEGATE
            found += (
                ["q"] if negated else [_CLASSES[str(one)] if what is names.CATEGORY else chr(_first(one)) for what, one in value]
            )
        found += [one for part in _parts(kind, value) for one in _characters(part)]
    return list(dict.fromkeys(found))


_CLASSES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": "w",
    "CATEGORY_NOT_DIGIT": "w",
    "CATEGORY_NOT_SPACE": "w",
    "CATEGORY_NOT_WORD": "-",
}


def _parts(kind: Any, value: Any) -> Any:
    """Return the patterns inside an item of a pattern."""
    if kind is names.BRANCH:
        return value[1]
    if kind in REPEATS:
        return [value[2]]
    return [value[3]] if kind is names.SUBPATTERN else [value] if kind is names.ATOMIC_GROUP else []


def _first(value: Any) -> int:
    return int(value[0] if isinstance(value, tuple) else value)


def _repeats(tree: Any, before: list[str]) -> Iterator[tuple[list[str], Any]]:
    """Yield each part that may be repeated without a limit, with texts that match what comes before it."""
    for item in tree:
        kind, value = item
        if kind in REPEATS and value[1] is names.MAXREPEAT:
            yield before, value[2]
        for part in _parts(kind, value):
            yield from _repeats(part, before)
        before = [start + text for start in before for text in sample([item], 1)][:3]
