"""Turns the request of a page into keys of a spec (a tournament file), with only known names and plain values.

A spec can name plugins, programs and files, but a page must not. Its request has a game, agents, options and limits; everything
else is refused here.
"""

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    InstanceOf,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from arena.api.errors import abbreviate

MAX_VALUES = 100
"""The maximum number of parameters or options."""
MAX_ACTIONS = 2000
"""The maximum number of actions that are replayed from one position."""
RESERVED_KEYS = frozenset({"agent", "label", "heuristic", "limits", "isolation", "name", "plugin", "plugins", "version", "waits"})
"""Keys of an entry that are not options of its agent."""


def _refuse(message: str) -> PydanticCustomError:
    """Return an exception for a validator; `explain_faults` shows its message unchanged."""
    return PydanticCustomError("refused", "{message}", {"message": message})


def _expect(what: str) -> WrapValidator:
    """Return a validator: if pydantic refuses a value, its message says that `what` was expected."""

    def check(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise _refuse(f"expected {what}, got {'nothing' if value is None else abbreviate(value)}") from None

    return WrapValidator(check)


def _without(names: Collection[str], what: str) -> AfterValidator:
    def check(values: dict[str, Any]) -> dict[str, Any]:
        for name in values:
            if name in names:
                raise _refuse(f"{name} is not {what}")
        return values

    return AfterValidator(check)


def _check_count(values: Any) -> Any:
    """Refuse too many values before they are validated one by one."""
    if isinstance(values, dict) and len(values) > MAX_VALUES:
        raise _refuse(f"expected at most {MAX_VALUES} values, got {len(values):,}")
    return values or {}


OR_NONE = BeforeValidator(lambda given: given or None)
OR_EMPTY = BeforeValidator(lambda given: given or {})
# This is an instance check, because a strict `str` refuses halves of surrogate pairs. Which texts are acceptable is up to games
# and agents.
Text = Annotated[InstanceOf[str], Field(max_length=200), _expect("text of at most 200 characters")]
Label = Annotated[InstanceOf[str], Field(max_length=100), _expect("text of at most 100 characters")]
State = Annotated[InstanceOf[str], Field(max_length=200_000), _expect("text of at most 200,000 characters")]
Seed = Annotated[int, Field(strict=True, ge=0, le=2**53), _expect(f"a whole number from 0 to {2**53:,}")]
Ply = Annotated[int, Field(strict=True, ge=0, le=10**6), _expect("a whole number from 0 to 1,000,000")]
Nodes = Annotated[int, Field(strict=True, ge=1, le=10**9), _expect("a whole number from 1 to 1,000,000,000")]
Depth = Annotated[int, Field(strict=True, ge=1, le=10**6), _expect("a whole number from 1 to 1,000,000")]
Seconds = Annotated[float, Field(strict=True, gt=0, le=60), _expect("a number above 0, at most 60")]
Plain = Annotated[InstanceOf[int] | InstanceOf[float] | Text | None, _expect("a number or a word of at most 200 characters")]
Values = Annotated[dict[Any, Plain], BeforeValidator(_check_count)]
"""Parameters of a game or options of an agent, by name."""


class NamedForm(BaseModel):
    """A game or a heuristic, given by name and parameters."""

    name: Text
    parameters: Annotated[Values, _without({"name"}, "a parameter")] = {}

    def keys(self) -> Any:
        """Return the value that a spec has for it: its name, or a mapping if it has parameters."""
        return {"name": self.name, **self.parameters} if self.parameters else self.name


class EntryForm(BaseModel):
    """An agent with its options, heuristic and label."""

    agent: Text
    options: Annotated[Values, _without(RESERVED_KEYS, "an option of an agent")] = {}
    heuristic: Annotated[Label | NamedForm | None, OR_NONE] = None
    label: Annotated[Label | None, OR_NONE] = None

    def keys(self) -> dict[str, Any]:
        """Return the entry as a spec has it."""
        heuristic = self.heuristic.keys() if isinstance(self.heuristic, NamedForm) else self.heuristic
        more = {"heuristic": heuristic, "label": self.label}
        return {"agent": self.agent, **self.options, **{key: value for key, value in more.items() if value is not None}}


class LimitsForm(BaseModel):
    """The limits on a decision that a page may set."""

    nodes: Nodes | None = None
    seconds: Seconds | None = None
    depth: Depth | None = None
    patient: bool = False
    """Whether these limits are those of the page, and not of its user; see `arena.Limits.patient`."""

    @model_validator(mode="before")
    @classmethod
    def check_names(cls, limits: Any) -> Any:
        """Refuse unknown limits."""
        for name, value in limits.items() if isinstance(limits, dict) else ():
            if value is not None and name not in cls.model_fields:
                raise _refuse(f"unknown {name!r}; expected {', '.join(sorted(cls.model_fields))}")
        return limits

    def keys(self) -> dict[str, Any]:
        """Return the limits that are set, as a spec has them."""
        return self.model_dump(exclude_none=True, exclude={"patient"})


Limits = Annotated[LimitsForm, OR_EMPTY]


class PlayForm(BaseModel):
    """A game, with the seed and the number of actions that determine the outcomes of chance."""

    game: NamedForm
    seed: Seed = 0
    ply: Ply = 0
    """The number of actions played before the position."""


_ACTIONS: TypeAdapter[Any] = TypeAdapter(
    Annotated[list[Any], Field(max_length=MAX_ACTIONS), _expect(f"a list of at most {MAX_ACTIONS:,} actions")] | None
)
"""It checks the length of the list before its items are validated."""


class PositionForm(PlayForm):
    """A request for positions: the first position, which is given as `state` or drawn from `seed`, and the position after each of
    `actions`.
    """

    state: State | None = None
    actions: Annotated[list[Text] | None, BeforeValidator(_ACTIONS.validate_python)] = None


class ActionForm(PlayForm):
    """A request for the position after an action."""

    state: State
    action: Text


class AgentForm(PlayForm):
    """A request for a move or a solution from an agent."""

    state: State
    agent: EntryForm
    limits: Limits = LimitsForm()
