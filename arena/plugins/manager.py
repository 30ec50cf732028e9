"""The plugin manager: it registers plugins, asks each of them once what it brings, and tells them what happens in a run."""

import inspect
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pkgutil import resolve_name
from types import FunctionType, ModuleType
from typing import Any, Self

import pluggy

from arena import hookspecs
from arena.errors import ArenaError, Interrupted, PluginError, abbreviate, describe, suggest
from arena.hookspecs import PARTS, Part
from arena.plugins.contract import KINDS, Unfit, check_named, check_value, describe_fault, locate

HOOKS = ("arena_games", "arena_agents", "arena_heuristics", "arena_encodings", "arena_formats", *PARTS)
"""The hooks of the core that bring named objects."""
ASKED: dict[str, dict[str, Any]] = {"arena_board_columns": {"spec": None, "records": ()}}
"""The arguments with which hooks that bring objects are called when a plugin is registered, if they have arguments."""
ADD_HOOKSPECS = "arena_add_hookspecs"
_MARK = f"{hookspecs.PROJECT}_impl"
Key = tuple[str, ...]
"""The kind and the name of an object that a plugin brings, for example ("agent", "random")."""


class NamedObject:
    """An object that a plugin brings by its name and place, so that it is imported and checked when it is first used."""

    def __init__(self, plugin: str, hook: str, key: Key, place: str, function: Callable[..., Any]) -> None:
        self._plugin, self._hook, self._key, self._place, self._function = plugin, hook, key, place, function
        self._value: Any = None

    def load(self) -> Any:
        """Return the object. Raises PluginError if it cannot be imported, has another name or breaks a rule for plugins."""
        if self._value is None:
            try:
                key, value = check_value(self._hook, None, resolve_name(self._place), self._function)
                if key != self._key:
                    raise Unfit(f"is {' '.join(key)!r}, but {self._hook} calls it {' '.join(self._key)!r}")
            except Interrupted:
                raise
            except BaseException as error:  # SystemExit and KeyboardInterrupt during the import are faults of the plugin
                raise PluginError(self._plugin, f"{self._place}: {describe_fault(error)}") from error
            self._value = value
        return self._value


class PluginManager(pluggy.PluginManager):
    """The plugins of a process, by names such as `fairarena:builtin-games`. It is a manager of pluggy, with everything that
    pluggy's manual says about `tryfirst`, wrappers, blocking and tracing.

    The hooks that bring named objects are called once for each plugin, when it is added. A wrapper of such a hook is called
    around each of these calls.

    >>> import arena
    >>> arena.load_plugins(environ=False).manager.has_plugin("fairarena:builtin-games")
    True
    """

    def __init__(self) -> None:
        super().__init__(hookspecs.PROJECT)
        self._namespaces: list[Any] = []
        self._parts: dict[str, type[Part] | str] = dict(PARTS)
        self._asked_for_hooks = set[object]()
        self._silent = False
        self._silent_names = set[str]()
        self.add_hookspecs(hookspecs)

    def copy(self) -> Self:
        """Return a manager with the same hooks and the same plugins, to which more can be added."""
        twin = type(self)()
        for namespace in self._namespaces[1:]:
            twin.add_hookspecs(namespace)
        twin._parts.update(self._parts)  # noqa: SLF001 - its own class
        twin._asked_for_hooks.update(self._asked_for_hooks)  # noqa: SLF001
        for name, plugin in self.list_name_plugin():
            if plugin is None:
                twin.set_blocked(name)
            else:
                twin.enrol(plugin, name, silent=name in self._silent_names)
        return twin

    def add_hookspecs(self, module_or_class: Any) -> None:
        """Add the hooks that a module or class specifies, as in pluggy."""
        super().add_hookspecs(module_or_class)
        self._namespaces.append(module_or_class)

    def add_part_hook(self, name: str, part: str) -> None:
        """Add a hook that brings parts. `part` names their class, for example `arena_web.api:Panel`.

        The hook takes no argument and returns a list of objects of this class, which is derived from `arena.api.spec.Part`. The
        class is imported when the first plugin implements the hook.
        """
        if name not in self._parts:
            self._parts[name] = part
            self.add_hookspecs(type("Hooks", (), {name: hookspecs.hookspec(lambda: ())}))

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        """Skip what cannot be a hook."""
        return super().parse_hookspec_opts(module_or_class, name) if name.startswith("arena_") else None

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Skip attributes that are rarely hooks, because pluggy takes long to inspect them: classes, modules, constants, and
        functions without the mark of pluggy's decorator.
        """
        value = getattr(plugin, "__dict__", {}).get(name)
        if isinstance(value, (type, ModuleType, str, dict)) or (isinstance(value, FunctionType) and _MARK not in vars(value)):
            return None
        found = super().parse_hookimpl_opts(plugin, name)
        hook = name if found is None else found.get("specname") or name
        return None if self._silent and hook not in (*HOOKS, *self._parts) and hook in self.list_hooks() else found

    def register(self, plugin: Any, name: str | None = None) -> str | None:
        """Register a plugin, as in pluggy. Its hooks for events are guarded, so their exceptions do not end a run. Exceptions of
        its hooks for choices name it.
        """
        registered = super().register(plugin, name)
        for hook in (*EVENTS, *CHOICES) if registered else ():
            for implementation in getattr(self.hook, hook).get_hookimpls():
                if implementation.plugin is plugin:
                    guard = _guard if hook in EVENTS else _name_plugin
                    setattr(implementation, "function", guard(implementation, hook))  # noqa: B010 - for mypy
        return registered

    # Adding plugins

    def let_add_hookspecs(self, plugin: object) -> None:
        """Let a plugin add the hooks that it defines. This must happen before a plugin that implements them is added."""
        add = getattr(plugin, ADD_HOOKSPECS, None)
        if inspect.isroutine(add) and plugin not in self._asked_for_hooks:
            self._asked_for_hooks.add(plugin)
            if super().parse_hookimpl_opts(plugin, ADD_HOOKSPECS) is None:
                raise Unfit(f"{ADD_HOOKSPECS} is not decorated with @hookimpl ({locate(add)})")
            add(self)

    def enrol(self, plugin: object, name: str, *, silent: bool = False) -> None:
        """Register a plugin under a name. Its hooks for events are left out if it is `silent`.

        Raises Unfit, and leaves the manager as it was, if it has been registered under another name, or implements a hook that
        does not exist or has other arguments.
        """
        if self.is_registered(plugin):
            raise Unfit(f"is already loaded as {self.get_name(plugin)}; remove one of the two entry points")
        self._silent = silent
        self._silent_names |= {name} if silent else set()
        try:
            self.register(plugin, name)
            self._check_hooks(plugin)
        except (pluggy.PluginValidationError, Unfit) as error:
            if self.is_registered(plugin):
                self.unregister(plugin)
            raise error if isinstance(error, Unfit) else Unfit(self._explain(str(error))) from error
        finally:
            self._silent = False

    def _explain(self, problem: str) -> str:
        definition, hook = re.search(r"definition: (.+)", problem), re.search(r"hook '(\w+)'", problem)
        unknown = re.search(r"Argument\(s\) \{([^{}]+)\}", problem)
        if definition is None or hook is None or unknown is None:
            return " ".join(problem.split())
        spec = getattr(self.hook, hook[1]).spec
        if not spec.argnames:
            return f"{definition[1]}: a hook takes no argument"
        return f"{definition[1]}: {hook[1]} accepts the arguments {', '.join(spec.argnames)}, got {unknown[1]}"

    def _check_hooks(self, plugin: object) -> None:
        """Refuse a hook that does not exist, and one without its decorator."""
        for caller in self.get_hookcallers(plugin) or ():
            own = [one for one in caller.get_hookimpls() if one.plugin is plugin and not one.optionalhook]
            if own and not caller.has_spec():
                raise Unfit(f"unknown hook {caller.name!r}; {suggest(caller.name, self.list_hooks())}")
        for hook in self.list_hooks():
            given = getattr(plugin, hook, None)
            if inspect.isroutine(given) and super().parse_hookimpl_opts(plugin, hook) is None:
                raise Unfit(f"{hook} is not decorated with @hookimpl ({locate(given)})")

    def list_hooks(self) -> list[str]:
        """Return the names of all hooks of the core and of its extensions."""
        return [name for name in vars(self.hook) if getattr(self.hook, name).has_spec()]

    def ask(self, plugin: object, broken: list[Unfit] | None = None) -> tuple[tuple[Key, Any], ...]:
        """Return everything that a registered plugin brings, with kind and name as the key. Raises Unfit if it breaks a rule.

        If there is a list `broken`, objects that break a rule are left out, and their faults are added to the list.
        """
        found = tuple(self._ask(plugin, broken))
        seen: set[Key] = set()
        for key, _ in found:
            if key in seen:
                raise Unfit(f"defines {' '.join(key)!r} twice")
            seen.add(key)
        return found

    def _ask(self, plugin: object, broken: list[Unfit] | None) -> Iterator[tuple[Key, Any]]:
        own = {caller.name for caller in self.get_hookcallers(plugin) or ()}
        for hook in [name for name in dict.fromkeys((*HOOKS, *self._parts)) if name in own]:
            implementations = getattr(self.hook, hook).get_hookimpls()
            plain = [one for one in implementations if not one.wrapper and not one.hookwrapper]
            for implementation in [one for one in plain if one.plugin is plugin]:
                part, function = self._part_of(hook), implementation.function
                try:
                    found = self.call_plugin(plugin, hook, **ASKED.get(hook, {})) or [None]  # pluggy leaves out None
                except Exception as error:
                    if hook not in ASKED or isinstance(error, Interrupted):
                        raise
                    given = ", ".join([f"{name}={value!r}" for name, value in ASKED[hook].items()])
                    advice = f"arena calls {hook}({given}) when it loads a plugin"
                    raise Unfit(f"{hook} raised {describe(error)}; {advice}") from error
                for returned in found:
                    if not isinstance(returned, Iterable):
                        raise Unfit(f"{hook} returned {abbreviate(returned)}; expected a list ({locate(function)})")
                    if isinstance(returned, Mapping) and hook in KINDS:
                        for name, place in returned.items():
                            key = check_named(hook, name, place, function)
                            yield key, NamedObject(implementation.plugin_name, hook, key, place, function)
                        continue
                    for value in returned:
                        try:
                            checked = check_value(hook, part, value, function)
                        except Unfit as fault:
                            if broken is None:
                                raise
                            broken.append(fault)
                        else:
                            yield checked

    def list_implementers(self, hook: str) -> list[Any]:
        """Return the plugins that implement a hook, in the order in which they were registered."""
        own = {id(one.plugin) for one in getattr(self.hook, hook).get_hookimpls() if not one.wrapper and not one.hookwrapper}
        return [plugin for _, plugin in self.list_name_plugin() if id(plugin) in own]

    def call_plugin(self, plugin: object, hook: str, **facts: Any) -> list[Any]:
        """Call a hook of one plugin, inside the wrappers of all plugins. Return the results other than None."""
        others = [other for other in self.list_implementers(hook) if other is not plugin]
        returned: list[Any] = self.subset_hook_caller(hook, others)(**facts)
        return returned

    def _part_of(self, hook: str) -> type[Part] | None:
        part = self._parts.get(hook)
        if isinstance(part, str):
            found = resolve_name(part)
            if not inspect.isclass(found) or not issubclass(found, Part):
                raise Unfit(f"the hook {hook} must name a class derived from Part, got {part}")
            part = self._parts[hook] = found
        return part


EVENTS = ("arena_run_started", "arena_match_finished", "arena_run_finished")
"""The hooks of the core that tell plugins what happens in a run. They are called by `Events.notify`."""
CHOICES = ("arena_add_options", "arena_play_matches")
"""The hooks of the core by which plugins take part in a run."""
_telling: ContextVar["Events | None"] = ContextVar("telling", default=None)


class Events:
    """Tells the plugins of a run what happens in it. A plugin that raises an exception is named once and left out from then on.

    `note` is called with a line for each of these plugins.
    """

    def __init__(self, manager: PluginManager | None, note: Callable[[str], object]) -> None:
        self._manager = manager
        self._note = note
        self._failed: set[str] = set()

    def notify(self, hook: str, **facts: Any) -> None:
        """Call a hook of all plugins. An exception of a plugin is not passed on."""
        caller = None if self._manager is None else getattr(self._manager.hook, hook)
        if caller is None or not caller.get_hookimpls():
            return
        token = _telling.set(self)
        try:
            caller(**facts)
        finally:
            _telling.reset(token)

    def has_listeners(self, hook: str) -> bool:
        """Return whether any plugin implements a hook."""
        return self._manager is not None and bool(getattr(self._manager.hook, hook).get_hookimpls())

    def has_failed(self, plugin: str) -> bool:
        """Return whether a plugin has raised an exception."""
        return plugin in self._failed

    @contextmanager
    def blaming(self, plugin: str, hook: str) -> Iterator[None]:
        """Record an exception in the block as a fault of a plugin."""
        try:
            yield
        except Interrupted:
            raise
        except (Exception, SystemExit) as error:
            self._failed.add(plugin)
            self._note(f"plugin {plugin} will not be called again in this run, because {hook} raised {describe(error)}")


def _name_plugin(implementation: pluggy.HookImpl, hook: str) -> Callable[..., Any]:
    """Return the function of a hook for a choice. If it raises an exception that is not meant for the user, the message names the
    plugin.
    """
    function: Any = implementation.function
    if implementation.wrapper or implementation.hookwrapper:
        return function  # type: ignore[no-any-return]

    def call(*facts: Any) -> Any:
        try:
            return function(*facts)
        except ArenaError:
            raise
        except Exception as error:
            from click import ClickException  # a library without the command line does not need it

            if isinstance(error, ClickException):
                raise
            raise PluginError(implementation.plugin_name, f"{hook} raised {describe(error)}") from error

    return call


def _guard(implementation: pluggy.HookImpl, hook: str) -> Callable[..., Any]:
    """Return the function of a hook for an event, guarded so that its exceptions are noted and end nothing else."""
    function: Any = implementation.function
    plugin = implementation.plugin_name

    def call(*facts: Any) -> None:
        events = _telling.get()
        if events is None:  # called by something else than `Events`
            function(*facts)
        elif not events.has_failed(plugin):
            with events.blaming(plugin, hook):
                function(*facts)

    def wrap(*facts: Any) -> Generator[None, Any, Any]:
        events = _telling.get()
        if events is None:
            return (yield from function(*facts))
        inner: Any = None
        if not events.has_failed(plugin):
            with events.blaming(plugin, hook):
                inner = function(*facts)
                next(inner)
        result = yield
        if inner is not None and not events.has_failed(plugin):
            with events.blaming(plugin, hook), suppress(StopIteration):
                inner.send(result)
        return result

    return wrap if implementation.wrapper or implementation.hookwrapper else call
