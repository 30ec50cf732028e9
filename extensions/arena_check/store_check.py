"""`arena check STORE`: hold every record of a store against its hash, against itself, and a share of them against the rules."""

from collections.abc import Iterator, Mapping
from typing import IO

from arena import Game
from arena.api.cli import describe, load
from arena.api.match import Differs, Record, steps
from arena.api.store import Store, StoreError
from arena.match.contradictions import find_contradiction
from arena.match.replay import compare_with_rules
from arena.schedule.board_info import make_known_game


def check_store(path: str, share: float, plugins: tuple[str, ...], out: IO[str]) -> int:
    """Write a line for everything that is wrong in a store and one that counts; return 1 if anything is, else 0.

    `share` is that of the records whose moves are played again through the rules, the same ones every time. Games come from
    installed plugins and from `plugins`: code that the store names is not loaded. StoreError where the file is no store.
    """
    with Store.open(path, strict=False) as store, store.snapshot():
        registry = load(plugins)
        games = {board.title: make_known_game(board, registry) for board in store.last().boards}
        faults = 0
        for fault in _faults(store, games, share):
            print(fault, file=out)
            faults += 1
        count = len(store)
        again = f"; {100 * share:g} % of those whose games are known were played again by the rules" if share else ""
        unknown = sorted({name for name, game in games.items() if game is None})
        print(
            f"{path}: {count:,} {'match' if count == 1 else 'matches'}, "
            f"{f'{faults:,} faults' if faults != 1 else '1 fault'}{again}",
            file=out,
        )
        if unknown:
            print(
                f"not held against the rules, since their games are not known here: {', '.join(unknown)} (--plugin FILE)",
                file=out,
            )
    return 1 if faults else 0


Games = Mapping[str, Game | None]
"""The games of the boards by title, None for one that is not known here."""


def _faults(store: Store, games: Games, share: float) -> Iterator[str]:
    boards = store.last().boards
    for record, place in store.records():
        if place is not None and place.board >= len(boards):
            yield f"match {record.id}: on board {place.board + 1} of {len(boards)}"
            continue
        game = None if place is None else games[boards[place.board].title]
        if f"match {record.id}" in store.suspects:
            continue  # told below
        if fault := find_contradiction(record, game):
            yield f"match {record.id}: {fault}"
        if game is not None and int(record.id[:8], 16) < share * 2**32:
            for difference in _against_rules(game, record):
                yield f"match {record.id}: {difference}"
    for damaged in dict.fromkeys([*store.suspects, *store.damaged()]):
        yield f"{damaged}: not as it was written"


def _against_rules(game: Game, record: Record) -> list[str]:
    try:
        *_, last = passed = list(steps(game, record))
    except Differs as differs:
        return [str(differs)]
    except Exception as error:  # rules of a plugin, and texts from anywhere
        raise StoreError(f"match {record.id} cannot be played again: {describe(error)}") from error
    return compare_with_rules(game, record, passed[0], last)
