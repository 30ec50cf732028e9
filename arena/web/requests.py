"""Answers of plugins to pages: positions, actions, moves and solutions of agents, views of matches, specs."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from arena.agent import solves
from arena.errors import ArenaError, SpecError, describe
from arena.game import Game, Puzzle, State, overrides
from arena.isolation.agent_process import AgentProcesses
from arena.isolation.remote import player_maker
from arena.match.match import Match, match_id
from arena.match.record import Record
from arena.match.referee import play_match
from arena.plugins.registry import Registry
from arena.spec import Board, load_spec
from arena.spec.parameters import validated
from arena.views import board_module, described
from arena.web import form
from arena.web.form import BadRequest
from arena.web.inventory import inventory
from arena.web.situations import Situations
from arena.web.store_requests import Reply, StoreRequests, shown, with_board


class Requests:
    """Does what requests ask for, one at a time, with the plugins of one registry."""

    def __init__(self, registry: Registry, plugins: tuple[str, ...]) -> None:
        self._registry = registry
        self._plugins = plugins
        stored = StoreRequests(registry, plugins)
        self._known: dict[str, Callable[[Mapping[str, Any]], Reply]] = {
            "inventory": lambda asked: inventory(registry),
            "position": self.position,
            "apply": self.apply,
            "move": self.move,
            "solve": self.solve,
            "spec": self.spec,
            "view": stored.view,
            "entry": stored.entry,
        }

    def answer(self, asked: Mapping[str, Any]) -> Reply:
        """The answer to a request; `{"error": ...}` where it cannot be done, with the reason."""
        try:
            return self._known[asked["do"]](asked)
        except SpecError as error:
            return _refused(_told(error))
        except BadRequest as error:
            return _refused(error.faults)
        except ArenaError as error:
            return {"error": str(error)}
        except Exception as error:  # a game's
            return {"error": describe(error)}

    def position(self, asked: Mapping[str, Any]) -> Reply:
        """A position: the one of `state`, or one drawn from `seed`; `frames` has it with those after each of `actions`.

        Chance moves by `seed` and `ply`, the number of actions that led to `state`.
        """
        game = self._game(asked)
        situations, ply = self._situations(asked, game)
        drawn = asked.get("state") is None
        state = game.initial(random.Random(_seed(asked))) if drawn else _state(game, asked)
        state, frame = situations.settled(state, ply)
        frames = [frame]
        for text in form.read(form.ACTIONS, [] if asked.get("actions") is None else asked["actions"], "actions"):
            state, frame = situations.after(state, text, frames[-1]["ply"])
            frames.append(frame)
        return {"game": with_board(described(game), board_module(type(game))), "frame": frames[0], "frames": frames}

    def apply(self, asked: Mapping[str, Any]) -> Reply:
        """The position after `action`, and after what chance does then, by `seed` and `ply` as in `position`."""
        game = self._game(asked)
        situations, ply = self._situations(asked, game)
        action = form.read(form.TEXT, asked.get("action"), "action")
        return {"frame": situations.after(_state(game, asked), action, ply)[1]}

    def move(self, asked: Mapping[str, Any]) -> Reply:
        """An agent's move at a position: its action, the resources it used, and the position after it."""
        board = self._board(asked, moves=1)
        game = board.game
        record = _played(board)
        if record.termination in ("void", "gave-up") or (record.seat is not None and not record.actions):
            return {"error": _fault(record)}
        text = record.actions[0] if record.actions else _towards(game, board.positions[0].state, record)
        if text is None:
            return {"error": f"{record.labels[0]} has no next action to offer from here; another agent may have one"}
        reply = self.apply({**asked, "action": text})
        used = record.decisions[0] if record.decisions else None
        label = record.labels[0]
        more = {"label": label} if used is None else {**used.as_dict(), "label": label}
        more["seat"] = reply["frame"]["seat"]
        return {"frame": reply["frame"] | more, "fallbacks": record.fallbacks}

    def solve(self, asked: Mapping[str, Any]) -> Reply:
        """An agent's solution of a puzzle, from a position to the end, as a view."""
        board = self._board(asked)
        if not isinstance(board.game, Puzzle):
            raise BadRequest(f"{board.name} is no puzzle")
        record = _played(board)
        return shown(board.game, record)

    def spec(self, asked: Mapping[str, Any]) -> Reply:
        """The spec that a form stands for, as YAML, and how many matches it has; an error with all its faults."""
        tournament = form.tournament_of(asked.get("tournament"))
        values, faults = tournament.values, list(tournament.faults)
        try:
            spec = load_spec(values, plugins=self._plugins) if tournament.loadable else None
        except SpecError as error:
            faults += _told(error)
        if faults:
            raise BadRequest(*faults)
        assert spec is not None
        written = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
        return {"yaml": written, "matches": spec.size, "notes": list(spec.notes)}

    def _game(self, asked: Mapping[str, Any]) -> Game:
        given = form.read(form.GAME, asked.get("game"), "game")
        kind = self._registry.game(given.name)
        faults: list[str] = []
        values = validated(
            kind, given.parameters, (), lambda path, message: faults.append(f"{'.'.join(map(str, path))}: {message}")
        )
        if values is None:
            raise BadRequest("\n".join(faults))
        return _parsed("game", lambda: kind(**values))  # type: ignore[no-any-return]

    def _situations(self, asked: Mapping[str, Any], game: Game) -> tuple[Situations, int]:
        """What shows the positions of the play that is asked about, and the number of actions played in it so far."""
        return Situations(game, _seed(asked)), _ply(asked)

    def _board(self, asked: Mapping[str, Any], moves: int | None = None) -> Board:
        """The board of a small spec: one position, one agent, who sits in every seat."""
        game = self._game(asked)
        text = game.format_state(_state(game, asked))
        entry = form.read(form.ENTRY, asked.get("agent"), "agent").keys()
        entry.pop("label", None)
        limits = form.limits_of(asked.get("limits"))
        if moves is not None and not (isinstance(game, Puzzle) and solves(self._registry.agent(entry["agent"]))):
            limits["moves"] = moves
        spec = load_spec(
            {
                "game": form.read(form.GAME, asked.get("game"), "game").keys(),
                "agents": [entry, *[{**entry, "label": f"seat {seat}"} for seat in range(1, game.players)]],
                "positions": [text],
                "limits": limits,
                "isolation": "none",  # this very process is the isolation
                "seed": _seed(asked) + _ply(asked),
            },
            plugins=self._plugins,
        )
        return spec.boards[0]


def _told(error: SpecError) -> list[str]:
    return [f"{fault.where}: {fault.message}" if fault.where else fault.message for fault in error.faults]


def _refused(faults: Sequence[str]) -> Reply:
    return {"error": "\n".join(faults), "faults": list(faults)}


def _state(game: Game, asked: Mapping[str, Any]) -> State:
    text = form.read(form.STATE, asked.get("state"), "state")
    return _parsed("position", lambda: game.parse_state(text))


def _seed(asked: Mapping[str, Any]) -> int:
    return form.read(form.SEED, asked.get("seed", 0), "seed")


def _ply(asked: Mapping[str, Any]) -> int:
    return form.read(form.PLY, asked.get("ply", 0), "ply")


def _parsed(what: str, parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except ValueError as error:
        raise BadRequest(f"{what}: {error}") from error


def _played(board: Board) -> Record:
    seats = (board.seats[0],) * board.game.players
    position = board.positions[0]
    match = Match(match_id(position.key, seats, seats[0].limits.moves), board.game, position, seats, 0)
    with AgentProcesses() as processes:
        return play_match(match, make_player=player_maker(processes))


def _towards(game: Game, state: State, record: Record) -> str | None:
    """An action from a position towards an answer, for puzzles that can tell whether an answer fits a position."""
    if not isinstance(game, Puzzle) or not record.solved or record.answer is None or not overrides(game, "is_answer"):
        return None
    answer = game.parse_state(record.answer)
    for action in game.actions(state):
        if game.is_answer(game.result(state, action), answer):
            return game.format_action(state, action)
    return None


def _fault(record: Record) -> str:
    said = f": {record.message}" if record.message else ""
    return f"{record.labels[0]}: {record.termination}{said}"
