"""A base class for objects that remember the arguments of their constructor. Subclasses need no code for this."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self, TypeVar

Made = TypeVar("Made")
SPEC_FILE = "a file of the spec"
SpecFile = Annotated[str, SPEC_FILE]
"""The type hint of a parameter that names a file.

A relative path in a spec is relative to the folder of the spec. An agent in a sandbox may read the file, and a store records it.
"""


class Configured:
    """Keeps the keyword arguments of its constructor. Subclasses need not call `super().__init__`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create the object and keep the arguments. Raises TypeError if there are arguments but the class takes none."""
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__} takes no parameters, got {', '.join([*map(repr, args), *kwargs])}")
        made = super().__new__(cls)
        if args or kwargs:
            object.__setattr__(made, "_given", (args, kwargs))
        return made


def name_of(made: Configured | type[Configured]) -> str:
    """Return the name under which a game, an agent or a format is registered, or the name of its class if it has no `name`."""
    kind = made if isinstance(made, type) else type(made)
    name: str = getattr(kind, "name", kind.__name__)
    return name


def initializer(constructor: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that takes the parameters: for a class, its `__init__`; for a function, the function itself."""
    init: Callable[..., Any] = getattr(constructor, "__init__") if inspect.isclass(constructor) else constructor  # noqa: B009 - mypy would object
    return init


def parameters_of(constructor: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a class by name, without `self`; empty if the class has no `__init__`.

    `*args` and `**kwargs` are left out, because a spec cannot name them.
    """
    init = initializer(constructor)
    if init is object.__init__:
        return {}
    listed = list(inspect.signature(init).parameters.values())
    if inspect.isclass(constructor):
        listed = listed[1:]
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {parameter.name: parameter for parameter in listed if parameter.kind not in variadic}


def settings(made: Configured) -> dict[str, Any]:
    """Return the values of all parameters of `made`, including defaults, in the order of the signature."""
    args, kwargs = made.__dict__.get("_given", ((), {}))
    known = parameters_of(type(made))
    filled = {name: p.default for name, p in known.items() if p.default is not p.empty}
    filled.update(zip(known, args, strict=False))
    filled.update(kwargs)
    return {name: filled[name] for name in known if name in filled}


def make_default(kind: Callable[[], Made], left_out: Callable[[Exception], None] = lambda _: None) -> Made | None:
    """Make an object with default parameters. If the constructor fails, pass the exception to `left_out` and return None."""
    try:
        return kind()
    except Exception as error:  # the constructor needs a parameter, or its author made a mistake
        left_out(error)
        return None
