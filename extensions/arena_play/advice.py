"""Hints. A hint is the action that an agent chooses at a position, within a budget. It is checked like any other action."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena import ArenaError, Game, Puzzle, Record, State
from arena.api.match import Forfeit, Match, play_match
from arena.api.results import figures
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.remote import player_maker
from arena_play.endings import because, explain_failure
from arena_play.seats import is_person, shared_start
from arena_setup.match_setup import MatchSetup, match_of


@dataclass(frozen=True, slots=True)
class Adviser:
    """Asks agents for hints in one game."""

    setup: MatchSetup
    agent: str
    """The agent that is asked by default."""
    hosts: AgentProcesses

    def hint(self, game: Game, state: State, asked: str = "") -> str:
        """Return the action that an agent chooses, or the reason why it chooses none, in one line."""
        word = asked or self.agent
        try:
            match = match_of(self.setup.at(game.format_state(state)).load([word] * game.players))
        except ArenaError as error:
            return f"no hint: {error}"
        if any(map(is_person, match.seats)):
            return "no hint: expected an agent, but `human` is you"
        if isinstance(game, Puzzle) and match.seats[0].solver:
            return _way(word, match, play_match(match, make_player=player_maker(self.hosts)))
        return self._action(word, match)

    def _action(self, word: str, match: Match) -> str:
        game, state = match.game, match.position.state
        player = player_maker(self.hosts)(match, game.to_move(state), shared_start(match), ())
        try:
            player.make_agent()
            action = player.choose(state, game.actions(state))
        except Forfeit as fault:
            return f"no hint: {word}: {because(fault.ending.reason, fault.ending.message)}"
        finally:
            player.leave()
        if player.used and player.used[-1]:
            return f"no hint: {word} found nothing within its budget"
        return f"hint: {game.format_action(state, action)} ({word}, {usage(player.used)})"


def _way(word: str, match: Match, record: Record) -> str:
    """Return the first step of a solution."""
    failed = explain_failure(record, match.seats[0].limits)
    if failed is not None:
        return f"no hint: {word}: {failed}"
    if not record.actions:
        return f"hint: the solution, without its steps, is {record.answer or match.position.text} ({word})"
    steps = f"{len(record.actions)} {'move' if len(record.actions) == 1 else 'moves'}"
    return f"hint: {record.actions[0]} ({word} solves it in {steps}, {usage(record.decisions[-1][1:])})"


def usage(used: Sequence[Any]) -> str:
    """Return, in words, the resources that a decision used and the value that it reports for the position."""
    if not used:
        return ""
    nodes, _, seconds, depth, value, _, exact, *_ = used
    said = [figures.amount(nodes, "node"), figures.duration(seconds)]
    said += [] if depth is None else [f"depth {depth}"]
    said += [] if value is None else [f"value {figures.worth(value, exact=exact)}"]
    return ", ".join(said)
