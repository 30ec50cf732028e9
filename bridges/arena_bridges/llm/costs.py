"""The cost of a run: an estimate before its first match, and a budget that stops the run when it is spent."""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from arena.api.games import Chance
from arena.api.match import Seat
from arena.api.spec import Board
from arena.api.store import Store
from arena_bridges.llm import prompts
from arena_bridges.llm.budget import close_budget, open_budget
from arena_bridges.llm.gate import Limits, Usage, open_limits

MAX_SAMPLE_MOVES = 300
"""The number of moves in the random match from which the decisions and questions on a board are estimated."""
CHARACTERS_PER_TOKEN = 4
EXPECTED_ANSWER_TOKENS = 50
"""The number of tokens that is assumed for an answer with only a move. Most answers are expected to be shorter."""
EXPECTED_THOUGHTS = 0.5
"""The assumed length of an answer with thoughts, as a share of the maximum length."""
REASON_BYTES = 200
"""The assumed length of the reason why an answer cannot be played, without the legal moves."""


def prepare_costs(
    spec: Any, models: Sequence[tuple[Board, Seat, Any]], store: Store, left: float, *, alone: bool
) -> Iterator[str]:
    """Open the budget and the limits of a run if it has them. Yield a note with the estimated cost of all models with a price.

    `models` has each `LanguageModel` of the run, with its board and its seat.
    """
    shared = not alone or not all(seat.in_process for _, seat, _ in models)
    open_limits(shared=shared and any(made.limits != Limits() for _, _, made in models))
    limit = next((made.max_cost for _, _, made in models if made.max_cost is not None), None)
    priced = any(any(made.price) for _, _, made in models)
    if limit is None and not priced:
        close_budget()
        return
    rows = store.query("SELECT spent FROM detail WHERE spent IS NOT NULL")
    recorded = sum((amounts or {}).get("money", 0) for (text,) in rows for amounts in json.loads(text))
    spent = open_budget(limit, None if store.is_temporary else store.path, recorded).spent
    if not priced:
        return
    expected = most = 0.0
    share = left / spec.size if spec.size else 0.0
    for board, seat, made in models:
        decisions, *sizes = _sample(board, seat, made)
        games = share * board.size * board.game.players / len(board.seats)
        usual, largest = estimate_decision(made, *sizes)
        expected += games * decisions * usual
        most += games * decisions * largest
    before = f"; {spent:.3g} is already spent" if spent else ""
    limited = "" if limit is None else f"; max_cost is {limit:g}"
    yield f"the models cost about {expected:.3g}, and {most:.3g} if every answer has the maximal length{before}{limited}"


def estimate_decision(made: Any, question: int, legal: int) -> tuple[float, float]:
    """Return the expected cost of a decision, and its largest cost.

    `question` is the number of bytes in the question, and `legal` the number of bytes in its list of legal moves. For the largest
    cost, each retry sends the question again, with all earlier answers and reasons.
    """
    thinks = made.think or made.reasoning_effort is not None
    answer = made.tokens * EXPECTED_THOUGHTS if thinks else min(made.tokens, EXPECTED_ANSWER_TOKENS)
    expected = made.votes * made.price.of(Usage(question // CHARACTERS_PER_TOKEN, round(answer)))
    again = REASON_BYTES + (0 if made.legal == "hidden" else legal)
    if made.prompt is None or not made.prompt.uses_fault:
        again += made.tokens
    sizes = [question] * made.votes + [question + (number + 1) * again for number in range(made.retries)]
    return expected, sum(made.price.most(size, made.tokens) for size in sizes)


def _sample(board: Board, seat: Seat, made: Any) -> tuple[float, int, int]:
    """Return the number of decisions of a seat in a random match, and the mean length of a question and of its list of legal
    moves in bytes.
    """
    game, chance = board.game, random.Random(0)
    words = prompts.Words(game, game.disguise(chance) if made.disguise else None)
    state, questions, lengths, listed, moves = board.positions[0].state, 0, 0, 0, 0
    with suppress(Exception):  # an estimate must not stop a run, even if the rules of a plugin raise an exception
        while not game.is_terminal(state) and moves < min(MAX_SAMPLE_MOVES, seat.limits.moves):
            if game.to_move(state) >= 0:
                legal = [words.write_action(state, action) for action in game.actions(state)]
                questions += 1
                listed += len(", ".join(legal).encode())
                lengths += len(words.position(state, "", legal if made.legal == "listed" else ()).encode())
            moving = game.to_move(state) >= 0
            outcomes = list(game.actions(state)) if moving else [action for action, _ in Chance.outcomes(game, state)]
            state = game.result(state, chance.choice(outcomes))
            moves += 1
    if not questions:
        return 0.0, 0, 0
    rules = len(f"{words.describe()}{prompts.form(think=made.think)}".encode())
    return questions / game.players, rules + lengths // questions, listed // questions
