"""The command replay: a match of a store position by position, checked by the rules and played again by its agents."""

from contextlib import closing

import click

from arena.console.output import results_alone
from arena.errors import StoreError, shown
from arena.match.adjudication import Adjudication
from arena.match.record import Record
from arena.match.replay import Differs, Step, against_rules, steps
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Scheduled, timed
from arena.spec import Spec
from arena.spec.faults import one_line
from arena.store import Store
from arena.store.run import mixed, run_of


@click.command()
@click.argument("store")
@click.argument("id")
def replay(store: str, id: str) -> int:  # noqa: A002 - the word that the manual uses
    """Show match ID of STORE position by position, and check that it is what was recorded."""
    with results_alone() as out:
        with Store.open(store, strict=False) as opened:
            record, place = opened.record(id)
            suspects = list(opened.suspects)
            runs = opened.runs()
            spec = opened.last().load()
        game = next((board.game for board in spec.boards if place is None or board is spec.boards[place.board]), None)
        if game is None or game.name != record.game:
            raise StoreError(f"the last run in {store} does not play {record.game}, so match {record.id} cannot be shown")
        print(f"{record.id}: {' against '.join(record.labels)} at {record.game}", file=out)
        differences: list[str] = []
        first, last = None, None
        try:
            for step in steps(game, record):
                print(f"\n{_headline(step, record)}\n{game.render(step.state)}", file=out)
                first, last = first or step, step
        except Differs as differs:
            differences.append(str(differs))
        print(f"\n{_ending(record)}", file=out)
        if first is not None and last is not None and not differences:
            differences += against_rules(game, record, first, last, *_terms(spec, place))
        verdict = _verdict(spec, place, record, differences)
        differences += [f"hash: {what} is not as it was written" for what in suspects]
        for line in differences:
            print(f"differs: {line}", file=out)
        print("not what was recorded" if differences else verdict, file=out)
        changed = mixed([*runs, run_of(spec)])
        if changed:
            print(
                f"{', '.join(changed)}: not the same now, or in all runs of this store; that may be why something differs",
                file=out,
            )
    return 1 if differences else 0


def _terms(spec: Spec, place: Scheduled | None) -> tuple[int | None, Adjudication | None]:
    """The limit of moves and the adjudication of a match; none are known of one that is not in the schedule."""
    if place is None:
        return None, None
    board = spec.boards[place.board]
    return board.seats[place.pairing.seats[0]].limits.moves, board.adjudication


def _headline(step: Step, record: Record) -> str:
    if step.action is None:
        return "answer" if step.number < 0 else "position"
    who = record.labels[step.seat or 0]
    used = step.decision
    more = ""
    if used is not None:
        value = "" if used.value is None else f", value {used.value:g}"
        more = f" ({used.nodes:,} nodes, {used.seconds:.3f} s{value})"
    return f"{step.number}. {who}: {step.action}{more}"


def _ending(record: Record) -> str:
    whose = "" if record.seat is None else f" of {record.labels[record.seat]}"
    said = "" if record.message is None else f": {one_line(record.message)}"
    result = f"solved: {record.solved}" if record.solved is not None else f"returns: {' '.join(map(str, record.returns))}"
    return f"{record.termination}{whose}{said}; {result}"


def _verdict(spec: Spec, place: Scheduled | None, record: Record, differences: list[str]) -> str:
    """Let the agents play again, if they must play the same; add to `differences` what they do not. The result in words."""
    if place is None:
        return "the rules agree; the match is not in the schedule of the last run, so its agents did not play it again"
    if timed(spec, place):
        return "the rules agree; with a time limit the agents need not play the same again, so they were not asked to"
    with closing(MatchRunner(spec)) as runner:
        again, before = runner.play(place).timeless(), record.timeless()
    differences += [
        f"{key}: recorded {shown(before[key])}, now {shown(again[key])}" for key in before if before[key] != again[key]
    ]
    return "the rules agree, and the agents have played the same again"
