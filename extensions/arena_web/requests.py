"""Answers requests from pages if plugins are needed for the answer: positions, actions, moves and solutions of agents, views of
matches, and specs.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from arena import CHANCE, ArenaError, Game, Puzzle, Record, Registry, SpecError, State, overrides
from arena.api.errors import describe
from arena.api.games import Abilities, Chance, gives
from arena.api.match import Differs, Match, legal_action, play_match
from arena.api.spec import Board, Parameters, explain_faults, format_path, load_spec
from arena_catalog.board_files import load_board_module
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.remote import player_maker
from arena_setup.match_setup import make_patient
from arena_web.errors import BadRequest
from arena_web.form import ActionForm, AgentForm, NamedForm, PositionForm
from arena_web.inventory import inventory
from arena_web.store_requests import Reply, StoreRequests, form_options, show_match, with_board
from arena_web.views import aim, depict, describe_game


class KeysNeeded(Exception):
    """The agent of a request may need a key, and this process has none."""


class Situations:
    """The positions of one play of a game, as frames. A frame has the board, the view of each seat and the legal actions.

    The server keeps no state between two requests. Chance depends only on the seed of the play and on the number of actions so
    far. So the outcomes of chance are the same again when moves are taken back or a saved address is opened.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self._game = game
        self._seed = seed
        self._chance = gives(game, "chance_outcomes")
        self._hides = gives(game, "observation")
        self._drawn = load_board_module(type(game)).source is not None

    def settle(self, state: State, ply: int) -> tuple[State, Reply]:
        """Play the chance moves that follow `state`, a state after `ply` actions. Return the new state and its frame.

        If the game has no hidden information, the frame has the outcomes of the chance moves as `chance`.
        """
        game = self._game
        outcomes: list[str] = []
        if self._chance:
            for outcome, after in Chance.of(game, f"play/{self._seed}", ply).settle(state):
                outcomes.append(game.format_action(state, outcome))
                state = after
        over = game.is_terminal(state)
        actions = [] if over else list(game.actions(state))
        texts = [game.format_action(state, action) for action in actions]
        return state, {
            **self._show(state),
            "cells": dict(zip(texts, aim(game, state, actions), strict=False)) if not self._drawn else {},
            "seen": [self._show(game.observation(state, seat)) for seat in range(game.players)] if self._hides else None,
            "action": None,
            "seat": None,
            "label": None,
            "to_move": None if over else game.to_move(state),
            "actions": texts,
            "over": bool(over),
            "returns": list(map(float, game.returns(state))) if over else None,
            "nodes": None,
            "evaluations": None,
            "depth": None,
            "value": None,
            "exact": None,
            "seconds": None,
            "ply": ply,
            "chance": [] if self._hides else outcomes,
        }

    def after(self, state: State, text: str, ply: int) -> tuple[State, Reply]:
        """Return the state after an action and the chance moves that follow it, and its frame; raises BadRequest if the action is
        illegal.
        """
        game = self._game
        if game.is_terminal(state) or game.to_move(state) == CHANCE:
            raise BadRequest(f"{text} is not legal here")
        try:
            action = legal_action(game, state, text)
        except Differs as illegal:
            told = f"{text} is not legal here" if illegal.complaint is None else f"action: {illegal.complaint}"
            raise BadRequest(told) from illegal
        played = {"action": game.format_action(state, action), "seat": game.to_move(state)}
        after, frame = self.settle(game.result(state, action), ply + 1)
        return after, frame | played

    def _show(self, state: State) -> Reply:
        return {"state": self._game.format_state(state), **depict(self._game, state, drawn=self._drawn)._asdict()}


class Requests:
    """Answers requests, one at a time, with the plugins of one registry."""

    def __init__(self, registry: Registry, plugins: tuple[str, ...]) -> None:
        self._registry = registry
        self._plugins = plugins
        stored = StoreRequests(registry, plugins)
        self._known: dict[str, Callable[[Mapping[str, Any]], Reply]] = {
            "inventory": lambda asked: inventory(registry, self._find_waiting(asked)),
            "position": lambda asked: self.position(_read(PositionForm, asked)),
            "apply": lambda asked: self.apply(_read(ActionForm, asked)),
            "move": lambda asked: self.move(self._check_agent(asked)),
            "solve": lambda asked: self.solve(self._check_agent(asked)),
            "view": stored.view,
            "entry": stored.entry,
            "panels": stored.panels,
        }

    def answer(self, asked: Mapping[str, Any]) -> Reply:
        """Return the answer to a request; if the request fails, the answer is `{"error": ...}` with the reason.

        The answer is `{"needs_keys": True}` if the server must send the request to a process that has the keys of the user. A
        request to such a process has `keys`, which comes from the server and never from a page.
        """
        try:
            return self._known[asked["do"]](asked)
        except KeysNeeded:
            return {"needs_keys": True}
        except SpecError as error:
            return _refuse([f"{fault.where}: {fault.message}" if fault.where else fault.message for fault in error.faults])
        except BadRequest as error:
            return _refuse(error.faults)
        except ArenaError as error:
            return {"error": str(error)}
        except Exception as error:  # an error in the code of a game
            return {"error": describe(error)}

    def position(self, asked: PositionForm) -> Reply:
        """Return a position, which is either given as `state` or drawn from `seed`. `frames` contains this position and the
        ones after each of `actions`.

        Chance depends on `seed` and on `ply`, the number of actions before `state`.
        """
        game = self._game(asked.game)
        situations = Situations(game, asked.seed)
        state = game.initial(random.Random(asked.seed)) if asked.state is None else _state(game, asked.state)
        state, frame = situations.settle(state, asked.ply)
        frames = [frame]
        for text in asked.actions or ():
            state, frame = situations.after(state, text, frames[-1]["ply"])
            frames.append(frame)
        return {"game": with_board(describe_game(game), load_board_module(type(game))), "frame": frames[0], "frames": frames}

    def apply(self, asked: ActionForm) -> Reply:
        """Return the position after `action` and the chance moves that follow it; `seed` and `ply` are as in `position`."""
        game = self._game(asked.game)
        return {"frame": Situations(game, asked.seed).after(_state(game, asked.state), asked.action, asked.ply)[1]}

    def move(self, asked: AgentForm) -> Reply:
        """Return the move that an agent chooses at a position: the action, the resources used, and the position after it."""
        board = self._board(asked, moves=1)
        game = board.game
        record = _play(board)
        if record.termination in ("void", "gave-up", "out-of-budget") or (record.seat is not None and not record.actions):
            reason = f": {record.message}" if record.message else ""
            return {"error": f"{record.labels[0]}: {record.termination}{reason}"}
        text = record.actions[0] if record.actions else _towards(game, board.positions[0].state, record)
        if text is None:
            return {"error": f"{record.labels[0]} has found no action from this state; try another agent"}
        reply = self.apply(ActionForm(game=asked.game, state=asked.state, action=text, seed=asked.seed, ply=asked.ply))
        used = record.decisions[0] if record.decisions else None
        label = record.labels[0]
        more = {"label": label} if used is None else {**used.as_dict(), "label": label}
        more["seat"] = reply["frame"]["seat"]
        return {"frame": reply["frame"] | more, "fallbacks": record.fallbacks}

    def solve(self, asked: AgentForm) -> Reply:
        """Return the solution that an agent finds for a puzzle, from a position to the end, as a view."""
        board = self._board(asked)
        if not isinstance(board.game, Puzzle):
            raise BadRequest(f"{board.name} is not a puzzle")
        return show_match(board.game, _play(board))

    def _game(self, given: NamedForm) -> Game:
        kind = self._registry.game(given.name)
        faults: list[str] = []
        _refuse_files(kind, given.parameters, "game")
        values = Parameters(kind).validate(
            given.parameters, (), lambda path, message: faults.append(f"{'.'.join(map(str, path))}: {message}")
        )
        if values is None:
            raise BadRequest("\n".join(faults))
        return _parse("game", lambda: kind(**values))  # type: ignore[no-any-return]

    def _check_agent(self, asked: Mapping[str, Any]) -> AgentForm:
        """Return the validated form of a request for an agent. Raises BadRequest if the page may not start the agent like this,
        and KeysNeeded if another process has to start it.

        An agent that waits for something outside, such as a language model, gets its options from an entry of a served spec,
        because it may use the network, keys and money. These include the files of the entry, which a page cannot name.
        """
        form = _read(AgentForm, asked)
        entry = form.agent
        kind = self._registry.agent(entry.agent)
        _refuse_files(kind, entry.options, "agent.options")
        if isinstance(entry.heuristic, NamedForm) and (form.game.name, entry.heuristic.name) in self._registry.heuristics:
            heuristic = self._registry.heuristic(form.game.name, entry.heuristic.name)
            _refuse_files(heuristic, entry.heuristic.parameters, "agent.heuristic")
        if kind.waits:
            served = self._find_waiting(asked).get(entry.agent, [])
            chosen = [one for one in served if form_options(kind, one) == entry.options]
            if not chosen:
                raise BadRequest(
                    f"agent: a page cannot start {entry.agent} with these options, because it waits for an external service; "
                    "with `arena serve SPEC`, pages can start the entries of the spec with exactly their options"
                )
            if any(one != chosen[0] for one in chosen):
                raise BadRequest(
                    f"agent: a page cannot start {entry.agent} with these options, because several entries of the spec have them "
                    "and differ only in their files; serve a spec with one of these entries"
                )
            if not asked.get("keys"):
                raise KeysNeeded
            entry.options = chosen[0]
        return form

    def _find_waiting(self, asked: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Return the agents in served specs that wait for something outside, each with the options of its entries.

        The paths of the specs come from the server and never from a page.
        """
        found: dict[str, list[dict[str, Any]]] = {}
        for place in asked.get("specs", ()):
            boards: Sequence[Board] = ()
            with suppress(ArenaError):  # the user is changing the spec
                boards = load_spec(place, plugins=self._plugins).boards
            for seat in [seat for board in boards for seat in board.seats if seat.waits]:
                parameters, files = Parameters(self._registry.agent(seat.agent)), dict(seat.files)
                options = seat.settings.options.items()
                located = {name: files.get(one, one) if parameters.names_file(name, one) else one for name, one in options}
                found.setdefault(seat.agent, []).append(located)
        return found

    def _board(self, asked: AgentForm, moves: int | None = None) -> Board:
        """Return a board with one position and the same agent in every seat, made from a small spec."""
        game = self._game(asked.game)
        text = game.format_state(_state(game, asked.state))
        entry = asked.agent.keys()
        entry.pop("label", None)
        limits = asked.limits.keys()
        if moves is not None and not (isinstance(game, Puzzle) and Abilities(self._registry.agent(entry["agent"])).solves):
            limits["moves"] = moves
        spec = load_spec(
            {
                "game": asked.game.keys(),
                "agents": [entry, *[{**entry, "label": f"seat {seat}"} for seat in range(1, game.players)]],
                "positions": [text],
                "limits": limits,
                "isolation": "none",  # this process is already isolated from the server
                "seed": asked.seed + asked.ply,
            },
            plugins=self._plugins,
        )
        return (make_patient(spec, asked.limits.keys()) if asked.limits.patient else spec).boards[0]


def _refuse_files(constructor: Callable[..., Any], values: Mapping[str, Any], place: str) -> None:
    """Raise BadRequest if a value from a page names a file, whose content could get into an answer, or which may never end."""
    parameters = Parameters(constructor)
    named = [name for name, value in values.items() if parameters.names_file(name, value)]
    if named:
        advice = "pages cannot load files; name the file in a spec, and play it with `arena run`"
        raise BadRequest(*[f"{place}.{name}: {advice}" for name in named])


T = TypeVar("T", bound=BaseModel)


def _read(kind: type[T], asked: Mapping[str, Any]) -> T:
    """Return the validated form of a request; raises BadRequest with all faults."""
    try:
        return kind.model_validate(asked)
    except ValidationError as error:
        raise BadRequest(*[f"{format_path(where)}: {message}" for where, message in explain_faults(error, asked)]) from None


def _refuse(faults: Sequence[str]) -> Reply:
    return {"error": "\n".join(faults), "faults": list(faults)}


def _state(game: Game, text: str) -> State:
    return _parse("position", lambda: game.parse_state(text))


def _parse(what: str, parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except ValueError as error:
        raise BadRequest(f"{what}: {error}") from error


def _play(board: Board) -> Record:
    seats = (board.seats[0],) * board.game.players
    position = board.positions[0]
    match = Match.of(board.game, position, seats, 0)
    with AgentProcesses() as processes:
        return play_match(match, make_player=player_maker(processes))


def _towards(game: Game, state: State, record: Record) -> str | None:
    """Return an action that leads from a position towards an answer. The result is None if the puzzle cannot check answers, or if
    there is no such action.
    """
    if not isinstance(game, Puzzle) or not record.solved or record.answer is None or not overrides(game, "is_answer"):
        return None
    answer = game.parse_state(record.answer)
    for action in game.actions(state):
        if game.is_answer(game.result(state, action), answer):
            return game.format_action(state, action)
    return None
