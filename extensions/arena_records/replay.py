"""The command replay: shows a match position by position, checks it by the rules and lets its agents play it again."""

import shlex
from collections.abc import Collection
from contextlib import closing
from typing import IO

import click

from arena import CHANCE, Game, PluginError, Record, Spec, SpecError
from arena.api.cli import load, plugin_option, results_alone
from arena.api.errors import StoreError, abbreviate, escape_line
from arena.api.games import Chance
from arena.api.match import Differs, Step, steps
from arena.api.results import figures, make_known_game
from arena.api.run import MatchRunner, Scheduled, seed_of_round
from arena.api.spec import list_named_code, load_spec, resolve_place
from arena.api.store import ForeignCode, Run, Store, list_mixed_plugins, run_of
from arena_records.rules import compare_with_rules


@click.command()
@click.argument("store")
@click.argument("id")
@plugin_option
@click.option("--spec", "spec_file", metavar="FILE", help="The spec that was played: what it names may be loaded and started.")
def replay(store: str, id: str, plugins: tuple[str, ...], spec_file: str | None) -> int:  # noqa: A002 - the word that the manual uses
    """Show match ID of STORE position by position, and check that it is what was recorded.

    A store is data: of what it names, code runs here only if it is installed, or named by --plugin or --spec.
    """
    with results_alone() as out:
        known = None if spec_file is None else load_spec(spec_file, plugins=plugins)
        registry = load(plugins) if known is None else known.registry
        allowed = (
            list_named_code(known.document, known.plugins, known.registry)
            if known is not None
            else dict.fromkeys(map(resolve_place, plugins))
        )
        with Store.open(store, strict=False) as opened:
            record, place = opened.record(id)
            suspects = list(opened.suspects)
            runs = opened.runs()
            run = opened.last()
        spec, missing = _load_spec(run, allowed, f"arena replay {shlex.quote(store)} {record.id}")
        print(f"{record.id}: {' against '.join(map(escape_line, record.labels))} at {escape_line(record.game)}", file=out)
        number = run.board_of(record.game, place)
        if number is None:
            raise StoreError(f"the last run of this store does not play {record.game}, so match {record.id} cannot be shown")
        game = make_known_game(run.boards[number], registry) if spec is None else spec.boards[number].game
        differences, verdict = _show(game, record, spec, place, out)
        differences += [f"hash: {what} is not as it was written" for what in suspects]
        for line in differences:
            print(f"differs: {escape_line(line)}", file=out)
        print("not what was recorded" if differences else verdict, file=out)
        if missing is not None:
            print(missing, file=out)
        changed = [] if spec is None else list_mixed_plugins([*runs, run_of(spec)])
        if changed:
            print(
                f"{', '.join(changed)}: not the same now, or in all runs of this store; that may be why something differs",
                file=out,
            )
    return 1 if differences else 0


def _load_spec(run: Run, allowed: Collection[str], command: str) -> tuple[Spec | None, str | None]:
    """The spec of a run; or None, and a line with the reason and the command that loads it."""
    try:
        return run.load(allowed), None
    except ForeignCode as error:
        return None, f"{escape_line(str(error))}; with it: {command} {shlex.join(error.options(run.document))}"
    except (SpecError, PluginError) as error:
        return None, f"the spec of the run cannot be loaded here: {escape_line(str(error))}"


def _show(game: Game | None, record: Record, spec: Spec | None, place: Scheduled | None, out: IO[str]) -> tuple[list[str], str]:
    """Show a match; return the differences from the rules and from the agents' current play, and the result in words."""
    if game is None:
        _print_as_text(record, out)
        return [], f"{escape_line(record.game)} is not known here, so neither the rules nor the agents were asked"
    differences: list[str] = []
    first, last = None, None
    chance, moves, adjudication = None, None, None  # not known without the spec or outside its schedule
    if spec is not None and place is not None:
        board, number = spec.boards[place.board], place.pairing.round
        moves, adjudication = board.seats[place.pairing.seats[0]].limits.moves, board.adjudication
        if board.has_chance:
            chance = Chance.of(board.positions.game, board.positions.key(number), board.positions.repetition(number))
    try:
        for step in steps(game, record, chance=chance):
            print(f"\n{_describe_step(step, record)}\n{game.render(step.state)}", file=out)
            first, last = first or step, step
    except Differs as differs:
        differences.append(str(differs))
    print(f"\n{_describe_ending(record)}", file=out)
    if first is not None and last is not None and not differences:
        differences += compare_with_rules(game, record, first, last, moves, adjudication)
    return differences, _play_again(spec, place, record, differences)


def _print_as_text(record: Record, out: IO[str]) -> None:
    """Write a match without its rules: the position, and the recorded actions."""
    print(f"\n{escape_line(record.position)}", file=out)
    each = len(record.decisions) == len(record.actions)
    for number, action in enumerate(record.actions):
        who = (
            f" {escape_line(record.labels[seat])}:"
            if each and (seat := record.decisions[number].seat) < len(record.labels)
            else ""
        )
        print(f"{number + 1}.{who} {escape_line(action)}", file=out)
    if record.answer is not None:
        print(escape_line(record.answer), file=out)
    print(f"\n{_describe_ending(record)}", file=out)


def _describe_step(step: Step, record: Record) -> str:
    if step.action is None:
        return "answer" if step.number < 0 else "position"
    who = "chance" if step.seat == CHANCE else record.labels[step.seat or 0]
    used = step.decision
    more = ""
    if used is not None:
        value = "" if used.value is None else f", value {figures.worth(used.value)}"
        more = f" ({used.nodes:,} nodes, {figures.duration(used.seconds)}{value})"
    return f"{step.number}. {who}: {step.action}{more}"


def _describe_ending(record: Record) -> str:
    whose = "" if record.seat is None else f" of {record.labels[record.seat]}"
    said = "" if record.message is None else f": {escape_line(record.message)}"
    result = (
        f"solved: {record.solved}"
        if record.solved is not None
        else f"returns: {' '.join([str(value + 0.0) for value in record.returns])}"
    )
    return f"{record.termination}{whose}{said}; {result}"


def _play_again(spec: Spec | None, place: Scheduled | None, record: Record, differences: list[str]) -> str:
    """Let deterministic agents play again and add deviations to `differences`; return the result in words."""
    if spec is None:
        return "the rules agree; its agents did not play it again"
    if place is None:
        return "the rules agree; the match is not in the schedule of the last run, so its agents did not play it again"
    if place.is_timed(spec):
        return "the rules agree; with a time limit the agents need not play the same again, so they were not asked to"
    if place.asks_outside(spec):
        return "the rules agree; an agent waits for something outside, which was not asked again"
    with closing(MatchRunner(spec)) as runner:
        played = runner.play(place)
    if record.seed is not None:  # the secret is revealed by now, but the players leave it out
        played = played._replace(seed=seed_of_round(spec.seed, place.pairing.round))
    again, before = played.timeless(), record.timeless()
    differences += [
        f"{key}: recorded {abbreviate(before[key])}, now {abbreviate(again[key])}" for key in before if before[key] != again[key]
    ]
    return "the rules agree, and the agents have played the same again"
