"""The command `replay`: shows a match position by position, checks it by the rules, and lets its agents play it again."""

import shlex
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import IO

import click

from arena import CHANCE, Game, PluginError, Record, Spec, SpecError
from arena.api.cli import load, plugin_option, results_alone
from arena.api.errors import StoreError, abbreviate, escape_line
from arena.api.games import Chance
from arena.api.match import Differs, Step
from arena.api.results import figures
from arena.api.run import MatchRunner, Scheduled
from arena.api.spec import PluginPlace, list_named_code, load_spec
from arena.api.store import ForeignCode, Run, Store
from arena_records.rules import compare_with_rules
from arena_records.transcripts import describe_exchanges

MAX_NAMED_FILES = 3
"""The maximum number of plugin files in a command that is shown. A ladder may need hundreds."""


@click.command()
@click.argument("store")
@click.argument("id")
@plugin_option
@click.option(
    "--spec", "spec_file", metavar="FILE", help="The spec that was played; replay may then load and start the code that it names."
)
@click.option("--transcript", is_flag=True, help="Also show the prompts to language models and their answers, without secrets.")
def replay(
    store: str,
    id: str,  # noqa: A002 - the word that the manual uses
    plugins: tuple[str, ...],
    spec_file: str | None,
    *,
    transcript: bool,
) -> int:
    """Show match ID of STORE position by position, and check it against its record.

    A store only names code. Replay runs this code only if it is installed, or if you name it with --plugin or --spec.
    """
    with results_alone() as out:
        known = None if spec_file is None else load_spec(spec_file, plugins=plugins)
        registry = load(plugins) if known is None else known.registry
        allowed = (
            list_named_code(known.document, known.plugins, known.registry)
            if known is not None
            else dict.fromkeys([PluginPlace(plugin).real for plugin in plugins])
        )
        damage: StoreError | None = None
        with Store.open(store, strict=False) as opened:
            try:
                opened.verify()
            except StoreError as error:
                damage = error
            try:
                record, place = opened.record(id)
            except StoreError as error:
                raise damage or error from error
            suspects = list(opened.suspects)
            runs = opened.runs()
            run = opened.last()
            exchanges = list(describe_exchanges(opened, record.id))
        folder = None if known is None else known.document.folder
        spec, missing = _load_spec(run, allowed, folder, f"arena replay {shlex.quote(store)} {record.id}")
        print(f"{record.id}: {' against '.join(map(escape_line, record.labels))} at {escape_line(record.game)}", file=out)
        number = run.board_of(record.game, place)
        if number is None:
            raise StoreError(f"the last run of this store does not play {record.game}, so match {record.id} cannot be shown")
        game = run.boards[number].make_game(registry, run.document.folder) if spec is None else spec.boards[number].game
        differences, verdict = _show(game, record, spec, place, out)
        if transcript:
            print("\n".join(["", "transcript", *(exchanges or ["no transcript of this match was kept"])]), file=out)
        elif exchanges:
            print("use --transcript to show the transcript", file=out)
        differences += [f"hash: {what} has changed since it was written" for what in suspects]
        for line in differences:
            print(f"differs: {escape_line(line)}", file=out)
        print("different from the record" if differences else verdict, file=out)
        if missing is not None:
            print(missing, file=out)
        changed = [] if spec is None or not differences else Run.list_mixed_plugins([*runs, Run.of(spec)])
        if changed:
            print(
                f"{', '.join(changed)}: changed since the match, or between runs of this store, which may explain the difference",
                file=out,
            )
        if damage is not None:
            raise damage  # it names the damaged matches, whichever match was shown
    return 1 if differences else 0


def _load_spec(run: Run, allowed: Collection[str], folder: Path | None, command: str) -> tuple[Spec | None, str | None]:
    """Return the spec of a run. If it cannot be loaded, return None and a line with the reason and, if there is one, a command
    that loads it.
    """
    try:
        return run.load(allowed, folder), None
    except ForeignCode as error:
        words = error.options(run.document)
        many = f"--plugin FILE ..., with all {len(words) // 2:,} files" if len(words) > 2 * MAX_NAMED_FILES else shlex.join(words)
        return None, f"{escape_line(str(error))}; to load it: {command} {many}"
    except (SpecError, PluginError) as error:
        return None, f"the spec of the run cannot be loaded here: {escape_line('; '.join(str(error).splitlines()))}"


def _show(game: Game | None, record: Record, spec: Spec | None, place: Scheduled | None, out: IO[str]) -> tuple[list[str], str]:
    """Show a match. Return the differences from the rules and from what the agents choose now, and the result in words."""
    if game is None:
        _print_as_text(record, out)
        return (
            [],
            f"{escape_line(record.game)} is unknown, so the match was neither compared with the rules of this game nor replayed",
        )
    differences: list[str] = []
    first, last = None, None
    chance, moves, adjudication = None, None, None  # unknown without the spec, or if the match is not in its schedule
    if spec is not None and place is not None:
        board, number = spec.boards[place.board], place.pairing.round
        moves, adjudication = board.seats[place.pairing.seats[0]].limits.moves, board.adjudication
        if board.has_chance:
            chance = Chance.of(board.positions.game, board.positions.key(number), board.positions.repetition(number))
    try:
        for step in Step.follow(game, record, chance=chance):
            print(f"\n{_describe_step(step, record)}\n{game.render(step.state)}", file=out)
            first, last = first or step, step
    except Differs as differs:
        differences.append(str(differs))
    print(f"\n{_describe_ending(record)}", file=out)
    if first is not None and last is not None and not differences:
        differences += compare_with_rules(game, record, first, last, moves, adjudication)
    return differences, _play_again(spec, place, record, differences)


def _print_as_text(record: Record, out: IO[str]) -> None:
    """Write a match for which the rules are missing: the position and the recorded actions."""
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
        value = "" if used.value is None else f", value {figures.worth(used.value, exact=used.exact)}"
        drawn = ", drawn at random" if used.fallback else ""
        more = f" ({figures.amount(used.nodes, 'node')}, {figures.duration(used.seconds)}{value}{drawn})"
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
    """Let deterministic agents play the match again and add deviations to `differences`. Return the result in words."""
    if spec is None:
        return "the record follows the rules; the agents did not replay the match"
    if place is None:
        return "the record follows the rules; the match is not in the schedule of the last run, so the agents did not replay it"
    if place.is_timed(spec):
        return "the record follows the rules; agents with a time limit may play differently, so they did not replay it"
    if place.asks_outside(spec):
        return "the record follows the rules; an agent waits for an external service, so the agents did not replay it"
    with closing(MatchRunner(spec)) as runner:
        played = runner.play(place)
    if record.seed is not None:  # the run has revealed its seed, but a match played here has none
        played = played._replace(seed=place.seed(spec))
    again, before = played.timeless(), record.timeless()
    differences += [
        f"{key}: recorded {abbreviate(before[key])}, now {abbreviate(again.get(key))}"
        for key in before
        if before[key] != again.get(key)
    ]
    return "the record follows the rules, and the agents made the same decisions again"
