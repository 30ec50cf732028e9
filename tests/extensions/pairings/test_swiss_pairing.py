"""Swiss pairings follow their rules in random histories, and tie-breaks agree with values computed by hand."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from arena.errors import ArenaError
from arena_pairings.swiss_pairing import Encounter, SwissStanding, draw_lots, scores, standings, swiss_round


def _met(history: list[Encounter[str]]) -> Counter[frozenset[str]]:
    return Counter(frozenset((one, two)) for one, two, _ in history if two is not None)


def _play(rng: random.Random, lots: tuple[str, ...], history: list[Encounter[str]]) -> None:
    """Play one round with random results, and check its rules."""
    pairs = swiss_round(lots, history)
    assert pairs == swiss_round(lots, history)
    assert sorted(agent for pair in pairs for agent in pair if agent is not None) == sorted(lots)
    byes = Counter(one for one, two, _ in history if two is None)
    resting = [one for one, two in pairs if two is None]
    assert len(resting) == len(lots) % 2
    assert all(byes[one] == min(byes[agent] for agent in lots) for one in resting)
    repeated = [pair for pair in pairs if frozenset(pair) in _met(history)]
    if repeated:
        assert not _possible(lots, history, set(resting))
    for one, two in pairs:
        history.append(Encounter(one, two, rng.choice((0, 0.25, 0.5, 1)) if two else 1.0))


def _possible(lots: tuple[str, ...], history: list[Encounter[str]], resting: set[str]) -> bool:
    """Return whether there is a round without a repeated meeting, by trying all rounds."""
    met = _met(history)

    def complete(left: list[str]) -> bool:
        if not left:
            return True
        return any(
            frozenset((left[0], other)) not in met and complete([agent for agent in left[1:] if agent != other])
            for other in left[1:]
        )

    return complete([agent for agent in lots if agent not in resting])


SIZES = st.integers(2, 12) | st.integers(2, 40)


@pytest.mark.parametrize("examples", [25, pytest.param(1000, marks=pytest.mark.proof)])
def test_swiss_pairings_follow_the_rules_after_random_histories(examples: int) -> None:
    """Each agent plays once, the bye goes to an agent with the fewest byes, repeats occur only if unavoidable, and seats differ
    by at most two.
    """
    histories = given(st.randoms(use_true_random=False), SIZES, st.integers(1, 9))
    settings(max_examples=examples, deadline=None, derandomize=True)(histories(_check_history))()


def _check_history(rng: random.Random, agents: int, rounds: int) -> None:
    lots = draw_lots([f"agent {k}" for k in range(agents)], rng)
    history: list[Encounter[str]] = []
    for _ in range(min(rounds, agents - 1) if agents > 12 else rounds):
        _play(rng, lots, history)
    balance: Counter[str] = Counter()
    for one, two, _ in history:
        if two is not None:
            balance.update({one: 1, two: -1})
    if not max(_met(history).values(), default=0) > 1 and len(history) < agents * (agents - 1) / 4:
        assert max(map(abs, balance.values()), default=0) <= 2


@pytest.mark.parametrize("agents", [64, *[pytest.param(agents, marks=pytest.mark.proof) for agents in (199, 200)]])
def test_swiss_pairings_follow_the_rules_for_many_agents(agents: int) -> None:
    """In twelve rounds no meeting is repeated, and opponents have similar scores."""
    rng = random.Random(agents)
    lots = draw_lots([f"agent {k}" for k in range(agents)], rng)
    history: list[Encounter[str]] = []
    for _ in range(12):
        points = scores(lots, history)
        before = len(history)
        _play(rng, lots, history)
        gaps = [abs(points[one] - points[two]) for one, two, _ in history[before:] if two is not None]
        assert sum(gaps) / len(gaps) < (0.3 if agents > 100 else 0.5)
    assert max(_met(history).values()) == 1


@pytest.mark.parametrize("agents", [4, 6, 8, 10])
def test_rounds_without_repeats_are_found_as_long_as_they_exist(agents: int) -> None:
    """A greedy pairing would get stuck. `_play` checks that a round without a repeat is found whenever brute force finds one."""
    for seed in range(20):
        rng = random.Random(seed)
        lots = draw_lots([f"agent {k}" for k in range(agents)], rng)
        history: list[Encounter[str]] = []
        for _ in range(agents - 1):
            _play(rng, lots, history)


def test_agents_of_a_score_group_meet_each_other() -> None:
    """In the first round the upper half of eight agents meets the lower half. After it, winners meet winners."""
    lots = tuple("abcdefgh")
    first = swiss_round(lots, [])
    assert [frozenset(pair) for pair in first] == [frozenset(pair) for pair in ("ae", "bf", "cg", "dh")]
    assert Counter(lots.index(one) < 4 for one, _ in first) == {True: 2, False: 2}
    history = [Encounter(one, two, 1.0) for one, two in first]
    winners = {one for one, _ in first}
    assert all((one in winners) == (two in winners) for one, two in swiss_round(lots, history))


def test_as_few_agents_as_possible_leave_their_score_group() -> None:
    """Four agents lead, and b has already met d. The pair a and c is split, because otherwise b and d would have to leave the
    group. The pairs below are split, too.
    """
    history = [Encounter("b", "d", 0.5), Encounter("a", "e", 1), Encounter("c", "f", 1), Encounter("g", "h", 0.5)]
    history += [Encounter("g", "b", 0), Encounter("h", "d", 0), Encounter("f", "a", 0.5), Encounter("e", "c", 0.5)]
    third = swiss_round(tuple("abcdefgh"), history)
    assert {len(set(pair) & set("abcd")) for pair in third} == {0, 2}


@pytest.mark.parametrize("examples", [20, pytest.param(300, marks=pytest.mark.proof)])
def test_as_many_leaders_as_possible_meet_each_other(examples: int) -> None:
    """Brute force over all rounds without a repeat finds no round with more pairs within the top score group."""
    histories = given(st.randoms(use_true_random=False), st.sampled_from([4, 6, 8]), st.integers(1, 4))
    settings(max_examples=examples, deadline=None, derandomize=True)(histories(_check_leaders))()


def _check_leaders(rng: random.Random, agents: int, rounds: int) -> None:
    lots = draw_lots([f"agent {k}" for k in range(agents)], rng)
    history: list[Encounter[str]] = []
    for _ in range(rounds):
        history += [Encounter(one, two, rng.choice((0, 0.5, 1))) for one, two in swiss_round(lots, history)]
    points, met = scores(lots, history), _met(history)
    top = {agent for agent in lots if points[agent] == max(points.values())}

    def most(left: tuple[str, ...]) -> int:
        """Return the largest number of pairs within the top group in a whole round of these agents, or a negative number if
        there is no such round.
        """
        if not left:
            return 0
        others = [other for other in left[1:] if frozenset((left[0], other)) not in met]
        rests = [tuple(agent for agent in left[1:] if agent != other) for other in others]
        return max([-99, *(({left[0], other} <= top) + most(rest) for other, rest in zip(others, rests, strict=True))])

    balance = Counter(one for one, _, _ in history)
    balance.subtract(two for _, two, _ in history if two is not None)
    if most(lots) >= 0 and max(map(abs, balance.values())) < 2:  # otherwise the balance of seats also affects the pairing
        assert sum({one, two} <= top for one, two in swiss_round(lots, history)) == most(lots)


def test_the_bye_goes_to_the_lowest_agent_without_one() -> None:
    """Agent c is last but has had a bye, so the next lowest of the three gets one."""
    history = [Encounter("a", "b", 1), Encounter("c", None)]
    assert swiss_round(("a", "b", "c"), history)[-1] == ("b", None)


def test_a_swiss_tournament_can_repeat_a_round_robin() -> None:
    """Four agents all meet in three rounds. The fourth round repeats two meetings, and the next rounds repeat the others."""
    lots = tuple("abcd")
    history: list[Encounter[str]] = []
    for _ in range(6):
        history += [Encounter(one, two, 0.5) for one, two in swiss_round(lots, history)]
    assert _met(history) == {frozenset(pair): 2 for pair in combinations(lots, 2)}


def test_tie_breaks_agree_with_values_computed_by_hand() -> None:
    """Each of three agents has a bye; a beat b and drew with c, and b beat c."""
    history = [
        Encounter("a", "b", 1),
        Encounter("c", None),
        Encounter("c", "a", 0.5),
        Encounter("b", None),
        Encounter("b", "c", 1),
        Encounter("a", None),
    ]
    assert standings(("c", "b", "a"), history) == (
        SwissStanding("a", 2.5, 3.5, 2 + 0.75),
        SwissStanding("b", 2.0, 4.0, 1.5),
        SwissStanding("c", 1.5, 4.5, 1.25),
    )


def test_random_choices_in_pairings_depend_on_the_seed() -> None:
    first, again, other = (draw_lots("abcdefgh", random.Random(seed)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(("lots", "history"), [(("a",), []), (("a", "a"), []), (("a", "b"), [Encounter("a", "c", 1)])])
def test_an_invalid_tournament_is_refused(lots: tuple[str, ...], history: list[Encounter[str]]) -> None:
    with pytest.raises(ArenaError, match="swiss: expected"):
        swiss_round(lots, history)
