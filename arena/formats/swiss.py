"""Swiss: in every round those meet who stand about equal; and knockout: who loses is out."""

from collections.abc import Generator, Iterator, Sequence
from math import ceil, log2
from typing import Annotated, ClassVar

from pydantic import Field as Bounds

from arena.format import Field, Format, Kind, Outcomes, Pairing
from arena.formats.head_to_head import points
from arena.stats.bracket import Slot, advances, first_round, next_round, rounds_of
from arena.stats.swiss_pairing import draw_lots, swiss_round
from arena.stats.tiebreaks import Encounter


class Swiss(Format):
    """Score groups meet, nobody another twice; byes; seats balanced. An encounter is two games, seats swapped."""

    name = "swiss"
    kind: ClassVar[Kind] = "versus"
    follows_results = True

    def default_rounds(self, entries: int) -> int:
        """Return as many rounds as a knockout would take, and one more, as far as nobody has to meet another twice."""
        return max(1, min(ceil(log2(max(entries, 2))) + 1, _longest(entries)))

    def refusal(self, field: Field) -> str | None:
        """Refuse games for more than two, and more rounds than there are opponents."""
        if field.players != 2:
            return f"expected a game for two, got one for {field.players}"
        if field.rounds > _longest(field.entries):
            return (
                f"expected at most {_longest(field.entries)} rounds for {field.entries} agents, who meet once, got {field.rounds}"
            )
        return None

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return two games for every encounter."""
        return field.rounds * 2 * (field.entries // 2)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield round after round, each when the one before is over."""
        history: list[Encounter[int]] = []
        # Drawn among keys, and not numbers, so that the lots do not depend on the order of the spec.
        lots = [field.keys.index(key) for key in draw_lots(sorted(field.keys), field.lots(self.name))]
        for number in range(field.rounds):
            met = swiss_round(lots, history)
            for first, second in met:
                if second is not None:
                    yield Pairing(number, (first, second))
                    yield Pairing(number, (second, first))
            yield None
            history += [encounter(outcomes, [number], first, second) for first, second in met]


def _longest(entries: int) -> int:
    return entries - 1 if entries % 2 == 0 else entries


def encounter(outcomes: Outcomes, numbers: Sequence[int], first: int, second: int | None) -> Encounter[int]:
    """The encounter of two entries on these positions, void games left out; all of them void is a draw."""
    if second is None:
        return Encounter(first, None)
    share = [
        points(returns[seat], returns[1 - seat])
        for number in numbers
        for seat, seats in enumerate(((first, second), (second, first)))
        if (returns := outcomes.of(Pairing(number, seats))) is not None
    ]
    return Encounter(first, second, sum(share) / len(share) if share else 0.5)


class Knockout(Format):
    """Single elimination in a bracket seeded by the order of the spec; a tie is `rounds` positions, two games each.

    Who scores more goes on. A tie that is level is replayed up to `replays` times from a further position; then the better
    seed goes on. Where positions are given there are no further ones, and the seed decides at once.
    """

    name = "knockout"
    kind: ClassVar[Kind] = "versus"
    follows_results = True

    def __init__(self, *, replays: Annotated[int, Bounds(ge=0, le=100)] = 2) -> None:
        self.replays = replays

    def default_rounds(self, entries: int) -> int:
        """Return 1."""
        return 1

    def refusal(self, field: Field) -> str | None:
        """Refuse games for more than two."""
        return None if field.players == 2 else f"expected a game for two, got one for {field.players}"

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return the games of all ties, each replayed to the last."""
        return (field.entries - 1) * 2 * (field.rounds + (self.replays if field.drawn else 0))

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield the ties of a round together, then their replays, then the next round."""
        slots: tuple[Slot[int], ...] = first_round(range(field.entries))
        for _ in range(rounds_of(field.entries)):
            winners = yield from self._winners(field, outcomes, slots)
            slots = next_round(winners)

    def _winners(
        self, field: Field, outcomes: Outcomes, slots: Sequence[Slot[int]]
    ) -> Generator[Pairing | None, None, list[int]]:
        numbers = {slot: list(range(field.rounds)) for slot in slots}
        level = [slot for slot in slots if slot[1] is not None]
        for replay in range(1 + (self.replays if field.drawn else 0)):
            for slot in level:
                if replay:
                    numbers[slot].append(field.rounds + replay - 1)
                yield from _games(slot, numbers[slot] if not replay else numbers[slot][-1:])
            yield None
            level = [slot for slot in level if encounter(outcomes, numbers[slot], *slot).points == 0.5]
            if not level:
                break
        seeds = range(field.entries)
        return [advances(slot, encounter(outcomes, numbers[slot], *slot).points, seeds) for slot in slots]


def _games(slot: Slot[int], numbers: Sequence[int]) -> Iterator[Pairing]:
    first, second = slot
    assert second is not None
    for number in numbers:
        yield Pairing(number, (first, second))
        yield Pairing(number, (second, first))
