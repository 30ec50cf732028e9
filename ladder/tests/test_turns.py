"""Attempts at hidden positions, and checks, take turns. The times come from the rules in `docs/explanation/trust.md`."""

from arena_ladder.turns import Side, Turns


class Clock:
    """A clock that the test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_ladder_without_hidden_positions_keeps_nothing_apart() -> None:
    turns = Turns(None)
    assert [turns.enter(side) for side in (Side.OPEN, Side.OPEN, Side.HIDDEN)] == [True] * 3
    turns.leave()
    assert not any(ask(side) for ask in (turns.is_over, turns.must_end) for side in Side)


class Player:
    """A side that always has something to begin, which takes `seconds`. It asks twice a second."""

    def __init__(self, turns: Turns, side: Side, seconds: float) -> None:
        self.turns, self.side, self.seconds = turns, side, seconds
        self.left = self.used = 0.0

    def tick(self) -> None:
        """Go on for half a second."""
        if self.left:
            self.left -= 0.5
            self.used += 0.5
            if not self.left:
                self.turns.leave()
        elif self.turns.enter(self.side):
            self.left = self.seconds


def test_the_sides_share_the_time_and_are_never_inside_together() -> None:
    """An attempt has a limit of 2 s. At the end of a turn for attempts, 7 s pass before the next check begins."""
    clock = Clock()
    turns = Turns(2.0, clock)
    hidden = [Player(turns, Side.HIDDEN, seconds) for seconds in (0.5, 2.0)]
    checks = [Player(turns, Side.OPEN, seconds) for seconds in (1.0, 7.5)]
    while clock.now < 2000:
        for one in hidden + checks:
            one.tick()
            assert not (any(one.left for one in hidden) and any(one.left for one in checks))
        assert not (turns.is_over(Side.HIDDEN) and turns.is_over(Side.OPEN))
        clock.now += 0.5
    for shares in ([one.used for one in hidden], [one.used for one in checks]):
        assert max(shares) > 200, shares


def test_attempts_that_do_not_end_in_time_are_dropped_before_a_check_begins() -> None:
    clock = Clock()
    turns = Turns(2.0, clock)
    assert turns.enter(Side.HIDDEN)
    checks = Player(turns, Side.OPEN, 100.0)
    found = []
    for _ in range(40):
        checks.tick()
        found.append((turns.is_over(Side.HIDDEN), turns.must_end(Side.HIDDEN), turns.must_end(Side.OPEN)))
        clock.now += 0.5
    assert found == [(False,) * 3] * 20 + [(True, False, False)] * 10 + [(True, True, False)] * 10
    assert not checks.left, "a process of the attempt may still run"
    turns.leave()
    checks.tick()
    assert checks.left


def test_the_beginning_of_a_check_does_not_show_how_long_attempts_take() -> None:
    begins = []
    for seconds in (0.5, 5.0, 12.0, 16.5):
        clock = Clock()
        turns = Turns(2.0, clock)
        assert turns.enter(Side.HIDDEN)
        checks = Player(turns, Side.OPEN, 1.0)
        while not checks.left:
            checks.tick()
            clock.now += 0.5
            if clock.now == 1000 + seconds:
                turns.leave()
        begins.append(clock.now)
    assert begins == [1017.5] * 4


def test_nobody_waits_for_a_side_that_is_idle_or_no_longer_asks() -> None:
    clock = Clock()
    turns = Turns(60.0, clock)
    assert turns.enter(Side.HIDDEN)
    turns.leave()
    assert turns.enter(Side.OPEN), "the contest is idle"
    turns.leave()
    assert not turns.enter(Side.HIDDEN), "the next check may begin"
    clock.now += 1
    assert turns.enter(Side.HIDDEN), "no check has begun"
    assert not turns.enter(Side.OPEN)
    clock.now += 61
    assert turns.enter(Side.HIDDEN), "the submission was withdrawn"
