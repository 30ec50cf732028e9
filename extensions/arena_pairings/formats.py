"""The formats Swiss, which pairs agents with similar scores, and knockout, which is single elimination."""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from math import ceil, log2
from statistics import fmean
from typing import Annotated

from pydantic import Field as Bounds

from arena import Column, Field, Format, Outcomes, Pairing, Placing
from arena.api.results import Tie, result_points
from arena_pairings.bracket import Slot, advances, first_round, next_round, rounds_of
from arena_pairings.swiss_pairing import Encounter, draw_lots, standings, swiss_round


class Swiss(Format):
    """A Swiss tournament: agents with equal scores meet, no two again if avoidable; at most n - 1 rounds of n agents (n if odd).

    A meeting is two games with the seats swapped.
    """

    name = "swiss"
    kind = "versus"
    follows_results = True
    ranking_criteria = "points, then by the Buchholz score, then by the Sonneborn-Berger score"
    columns = (
        Column("swiss_score", "Points", "score", "the points from all encounters (at most one each), plus one point for a bye"),
        Column("buchholz", "Buchholz", description="the sum of the points of all opponents, which breaks ties", left_out=6),
        Column(
            "sonneborn_berger",
            "Sonneborn-Berger",
            description="the sum over opponents of their points times the points won against them, which breaks further ties",
            left_out=5,
        ),
    )

    def default_rounds(self, entries: int) -> int:
        """Return one round more than a knockout takes, but at most as many as a round robin takes."""
        return max(1, min(ceil(log2(max(entries, 2))) + 1, _longest(entries)))

    def refusal(self, field: Field) -> str | None:
        """Refuse games for more than two players, and more rounds than a round robin takes."""
        if field.players != 2:
            return f"expected a game for two players, got one for {field.players}"
        if field.rounds > _longest(field.entries):
            most = _longest(field.entries)
            return (
                f"expected at most {most} rounds for {field.entries} agents, got {field.rounds}; "
                "in more rounds, agents would meet again"
            )
        return None

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return two games for every meeting."""
        return field.rounds * 2 * (field.entries // 2)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield the rounds one by one, each when the previous one has ended."""
        history: list[Encounter[int]] = []
        # The lots are drawn by key and not by number, so that they do not depend on the order in the spec.
        lots = [field.keys.index(key) for key in draw_lots(sorted(field.keys), field.lots(self.name))]
        for number in range(field.rounds):
            met = swiss_round(lots, history)
            for first, second in met:
                if second is not None:
                    yield Pairing(number, (first, second))
                    yield Pairing(number, (second, first))
            yield None
            history += [encounter(outcomes, [number], first, second) for first, second in met]

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        """Return placings by points, then by the Buchholz and Sonneborn-Berger scores (see `SwissStanding`). An entry that does
        not occur in a round had a bye.
        """
        agents = [str(entry) for entry in range(entries)]
        history = []
        for met in _encounters(outcomes).values():
            history += [Encounter(str(one), str(two), fmean(points)) for (one, two), points in met.items()]
            seated = {entry for pair in met for entry in pair}
            if entries % 2 and len(seated) == entries - 1:
                history += [Encounter(agent, None) for agent in agents if int(agent) not in seated]
        merits = {int(row.agent): (row.score, row.buchholz, row.sonneborn_berger) for row in standings(agents, history)}
        keys = [column.key for column in self.columns]
        return [Placing(merits[entry], dict(zip(keys, merits[entry], strict=True))) for entry in range(entries)]


def _longest(entries: int) -> int:
    """Return the number of rounds in which all entries can meet once. With an odd number, one of them has a bye in each round."""
    return entries - 1 if entries % 2 == 0 else entries


def encounter(outcomes: Outcomes, numbers: Sequence[int], first: int, second: int | None) -> Encounter[int]:
    """Return the meeting of two entries on these positions.

    Void games do not count; if all games are void, the meeting counts as a draw.
    """
    if second is None:
        return Encounter(first, None)
    share = [
        result_points(returns[seat], returns[1 - seat])
        for number in numbers
        for seat, seats in enumerate(((first, second), (second, first)))
        if (returns := outcomes.of(Pairing(number, seats))) is not None
    ]
    return Encounter(first, second, sum(share) / len(share) if share else 0.5)


def _encounters(outcomes: Outcomes) -> dict[int, dict[tuple[int, int], list[float]]]:
    """Return the pairs of entries in every round, the lower number first, with the points of the first entry of a pair in every
    game that was not void.
    """
    found: dict[int, dict[tuple[int, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for (number, (first, second)), (got, other) in outcomes.scored():
        points = result_points(got, other)
        found[number][min(first, second), max(first, second)].append(points if first < second else 1 - points)
    return found


class Knockout(Format):
    """Single elimination, with a bracket seeded by the order of the spec. A tie is played on `rounds` positions, two games on
    each.

    The agent with the higher score goes on. If scores are equal, the tie is replayed up to `replays` times, each time from a new
    position; after that, the better seed goes on. If the spec lists the positions, there are no new ones, and the better seed
    goes on at once.
    """

    name = "knockout"
    kind = "versus"
    follows_results = True
    ranking_criteria = "the number of rounds survived, in which a bye counts as a round"
    columns = (Column("rounds_won", "Rounds won", "count", "the bracket rounds won so far, not counting byes", left_out=13),)

    def __init__(self, *, replays: Annotated[int, Bounds(ge=0, le=100)] = 2) -> None:
        self.replays = replays

    def default_rounds(self, entries: int) -> int:
        """Return 1."""
        return 1

    def refusal(self, field: Field) -> str | None:
        """Refuse games for more than two players."""
        return None if field.players == 2 else f"expected a game for two players, got one for {field.players}"

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return the number of games in all ties with all replays."""
        return (field.entries - 1) * 2 * (field.rounds + (self.replays if field.drawn else 0))

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield the ties of a round together, then their replays, then the next round."""
        slots: tuple[Slot[int], ...] = first_round(range(field.entries))
        for _ in range(rounds_of(field.entries)):
            winners = yield from self._winners(field, outcomes, slots)
            slots = next_round(winners)

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        """Return placings by the last round that an entry has reached. Entries that were eliminated in the same round share a
        rank.
        """
        ties = [tie for round_ in self.bracket(entries, outcomes) for tie in round_]
        passed = Counter([tie.winner for tie in ties])
        won = Counter([tie.winner for tie in ties if not tie.bye])
        return [Placing((passed[seed],), {"rounds_won": won[seed]}) for seed in range(entries)]

    def bracket(self, entries: int, outcomes: Outcomes) -> tuple[tuple[Tie[int], ...], ...]:
        """Return the rounds so far, in order, each from the top of the bracket down.

        If a tie in the last round has no games yet, the byes of this round have no winner either.
        """
        points: dict[Slot[int], list[float]] = defaultdict(list)
        for met in _encounters(outcomes).values():
            for (one, two), found in met.items():
                points[one, two] += found
                points[two, one] += [1 - share for share in found]
        rounds = []
        slots: tuple[Slot[int], ...] = first_round(range(entries))
        while slots:
            over = all(two is None or (one, two) in points for one, two in slots)
            # in a bye, the only competitor has all points
            share = {slot: fmean(points[slot]) if points.get(slot) else 1.0 for slot in slots}
            winners = {slot: advances(slot, share[slot], range(entries)) if over else None for slot in slots}
            ties = []
            for slot in slots:
                got = points.get(slot)
                ties.append(Tie(*slot, (sum(got), len(got) - sum(got)) if got else None, winners[slot]))
            rounds.append(tuple(ties))
            slots = next_round([winner for winner in winners.values() if winner is not None]) if over else ()
        return tuple(rounds)

    def _winners(
        self, field: Field, outcomes: Outcomes, slots: Sequence[Slot[int]]
    ) -> Generator[Pairing | None, None, list[int]]:
        numbers = {slot: list(range(field.rounds)) for slot in slots}
        level = [slot for slot in slots if slot[1] is not None]
        for replay in range(1 + (self.replays if field.drawn else 0)):
            for slot in level:
                if replay:
                    numbers[slot].append(field.rounds + replay - 1)
                first, second = slot
                assert second is not None
                for number in numbers[slot] if not replay else numbers[slot][-1:]:
                    yield Pairing(number, (first, second))
                    yield Pairing(number, (second, first))
            yield None
            level = [slot for slot in level if encounter(outcomes, numbers[slot], *slot).points == 0.5]
            if not level:
                break
        seeds = range(field.entries)
        return [advances(slot, encounter(outcomes, numbers[slot], *slot).points, seeds) for slot in slots]
