"""Prompts from a file: a Jinja template that replaces the texts of arena.

A stranger may have written the template. So it may use only a part of Jinja, in which the size of the template and of its
variables bounds the work and the memory. `Checker` defines this part.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.api.cli import install_command
from arena.api.errors import cut
from arena.api.games import read_whole

if TYPE_CHECKING:
    from jinja2 import Template

MAX_PROMPT_CHARACTERS = 100_000
MAX_QUESTION_CHARACTERS = 1_000_000
"""The maximum number of characters in all messages of a question."""
MAX_NODES = 1000
MAX_DEPTH = 30
"""The maximum size and depth of the syntax tree of a template."""
MAX_DIGITS = 100
"""The maximum number of characters of a number."""
MAX_CHAINED_FILTERS = 4
"""A filter may make a text several times as long, so the length may grow exponentially with the number of filters in a chain."""
MAX_ARGUMENT = 100
"""The longest text and the largest number that a filter takes as an argument."""
SAMPLE: Mapping[str, Any] = {
    "game": "a game",
    "rules": "The rules.",
    "form": "The form of an answer.",
    "position": "x../.../...",
    "board": "a board",
    "seat": 1,
    "seats": 2,
    "legal": ["1", "2"],
    "history": ["seat 1 (you): 1"],
    "fault": "",
}
"""The variables of a template, with values for a test. `legal` is empty if legal moves are not shown, and `fault` is empty at the
first try.
"""
LISTS = frozenset(name for name, value in SAMPLE.items() if isinstance(value, list))
NUMBERS = frozenset(name for name, value in SAMPLE.items() if isinstance(value, int))
LIST_FILTERS = frozenset({"reverse", "sort"})
"""Filters from a list to a list."""
FILTERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(["capitalize", "first", "last", "length", "lower", "reverse", "title", "tojson", "upper"], ()),
    "indent": ("width", "first", "blank"),
    "join": ("d",),
    "sort": ("reverse", "case_sensitive"),
    "trim": ("chars",),
}
"""The filters with their arguments."""
TESTS = frozenset({"defined"})
"""The tests `even` and `odd` use the operator %, which formats a text."""
LOOP_ATTRIBUTES = frozenset({"first", "index", "index0", "last", "length", "revindex", "revindex0"})
PARTS = ("system", "user")
"""The blocks of a template that become separate messages."""


class PromptFile:
    """A template that has been checked."""

    def __init__(self, name: str, template: "Template", variables: Iterable[str]) -> None:
        self._name = name
        self._template = template
        self.uses_fault = "fault" in variables
        """True if the template is used again after a bad answer; otherwise the conversation continues with the texts of arena."""

    @classmethod
    def read(cls, path: str, *, always_legal: bool = True) -> "PromptFile":
        """Read and check a file. Raises ValueError with the reason if it is not a valid template.

        `always_legal` is True if every question lists the legal moves.
        """
        try:
            text = read_whole(Path(path).expanduser(), 4 * MAX_PROMPT_CHARACTERS).decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"prompt: {path} cannot be read: {error}") from None
        except (RuntimeError, ValueError) as error:  # RuntimeError: an unknown home
            raise ValueError(f"prompt: {error}") from None
        if len(text) > MAX_PROMPT_CHARACTERS:
            raise ValueError(f"prompt: expected at most {MAX_PROMPT_CHARACTERS:,} characters, got {len(text):,}")
        return _compile(Path(path).name, text, always_legal)

    def messages(self, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages for a position: from the blocks `system` and `user`, or the whole text as one message from the
        user. Raises ValueError with the line of the template if it cannot be used with these values.
        """
        context = self._template.new_context(dict(values))
        blocks = {part: self._template.blocks[part] for part in PARTS if part in self._template.blocks}
        left, messages = MAX_QUESTION_CHARACTERS, []
        for part, render in (blocks or {"user": self._template.root_render_func}).items():
            text = "".join(self._render(render(context), left))
            left -= len(text)
            messages.append({"role": part, "content": text.strip() if blocks else text})
        return messages

    def _render(self, chunks: Iterator[str], left: int) -> Iterator[str]:
        try:
            for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    break
                yield chunk
        except Exception as error:  # values may have the wrong type, and then the operators of Python raise their own errors
            trace, line = error.__traceback__, 0
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == "<template>":
                    line = self._template.get_corresponding_lineno(trace.tb_lineno)
                trace = trace.tb_next
            reason = cut(str(error), 200)
            raise _fault(self._name, line, f"expected a template that works in every position, got the error {reason}") from None
        if left < 0:
            raise _fault(self._name, 0, f"expected a question of at most {MAX_QUESTION_CHARACTERS:,} characters, got more")


class Checker:
    """Checks the syntax tree of a template, and finds its variables. All faults raise ValueError.

    A template may have blocks, variables, `if`, and `for` over a list. It may compare, index and slice values, and use FILTERS
    and TESTS with constants. There are no calls, assignments and macros, and no operators for arithmetic, because texts could
    grow with them. Inside a loop, the variable of the loop, `loop` and numbers are available. So a loop never contains
    another one, and one pass of a loop never handles a long text or a list.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0
        self.variables: set[str] = set()
        self._target: str | None = None
        """The variable of the loop that contains the current node."""

    def check(self, node: Any, depth: int = 0) -> None:
        """Check a node and its children."""
        self._count += 1
        self._expect(node, self._count <= MAX_NODES, f"at most {MAX_NODES:,} nodes (texts, variables, tags, ...)", "more")
        self._expect(node, depth <= MAX_DEPTH, f"at most {MAX_DEPTH} nested tags or operators", "more")
        children = list(node.iter_child_nodes())
        match type(node).__name__:
            case "Template" | "Output" | "TemplateData" | "If" | "CondExpr" | "Block":
                pass
            case "Compare" | "Operand" | "And" | "Or" | "Not" | "Slice":
                pass
            case "Const":
                fits = not isinstance(node.value, str) or node.value.encode(errors="ignore").decode() == node.value
                self._expect(node, fits, "a text of Unicode characters", "half of a surrogate pair")
            case "Neg":
                self._expect(node, type(node.node).__name__ == "Const", "a number after -", _name_node(node.node))
            case "Name":
                self._check_name(node)
            case "Getattr":
                is_loop = type(node.node).__name__ == "Name" and node.node.name == "loop" and self._target is not None
                allowed = f"loop.{', loop.'.join(sorted(LOOP_ATTRIBUTES))}, inside a loop"
                self._expect(
                    node, is_loop and node.attr in LOOP_ATTRIBUTES, f"one of {allowed}", f"the attribute {cut(node.attr)}"
                )
                children = []
            case "Getitem":
                indices = [node.arg]
                if type(node.arg).__name__ == "Slice":
                    indices = [one for one in (node.arg.start, node.arg.stop, node.arg.step) if one is not None]
                for one in indices:
                    value = getattr(one.node if type(one).__name__ == "Neg" else one, "value", None)
                    self._expect(node, isinstance(value, int), "whole numbers in [ ]", _name_node(one))
            case "Filter":
                self._check_filter(node)
                children = [node.node]
            case "Test":
                self._expect(
                    node, node.name in TESTS, f"one of the tests {', '.join(sorted(TESTS))}", f"the test {cut(node.name)}"
                )
            case "For":
                self._check_loop(node, depth)
                children = []
            case _:
                expected = "only variables, if, for, block, comparisons and filters in a prompt"
                self._expect(node, False, expected, _name_node(node))
        for child in children:
            self.check(child, depth + 1)

    def _check_name(self, node: Any) -> None:
        name = node.name
        if self._target is not None:
            allowed = sorted({self._target, *NUMBERS})
            self._expect(
                node, name in allowed, f"one of {', '.join(allowed)} and the attributes of loop inside a loop", cut(name)
            )
        elif name not in SAMPLE:
            raise _fault(self._name, node.lineno, f"unknown variable {cut(name)}; expected one of {', '.join(SAMPLE)}")
        self.variables.add(name)

    def _check_loop(self, node: Any, depth: int) -> None:
        name = getattr(node.target, "name", None)
        self._expect(node, self._target is None, "no loop inside a loop", "one")
        fits = isinstance(name, str) and name not in {*SAMPLE, "loop"}
        self._expect(node, fits, "one new name after for", _name_node(node.target) if name is None else cut(str(name)))
        self._expect(node, not node.recursive, "a loop that is not recursive", "the word recursive")
        self._expect(node, _is_list(node.iter), f"a list after in: {' or '.join(sorted(LISTS))}", _name_node(node.iter))
        self.check(node.iter, depth + 1)
        self._target = name
        for child in [*([] if node.test is None else [node.test]), *node.body]:
            self.check(child, depth + 1)
        self._target = None
        for child in node.else_:
            self.check(child, depth + 1)

    def _check_filter(self, node: Any) -> None:
        name, chained, inner = node.name, 1, node.node
        self._expect(node, name in FILTERS, f"one of the filters {', '.join(sorted(FILTERS))}", f"the filter {cut(name)}")
        while type(inner).__name__ in ("Filter", "Getitem"):
            chained, inner = chained + (type(inner).__name__ == "Filter"), inner.node
        plain = type(inner).__name__ in ("Name", "Const", "Getattr")  # a condition would hide further filters
        self._expect(node, plain, "a variable or a constant before a filter", _name_node(inner))
        self._expect(node, chained <= MAX_CHAINED_FILTERS, f"at most {MAX_CHAINED_FILTERS} filters in a row", "more")
        if name in LIST_FILTERS | {"first", "join", "last"}:  # for a text, the result of join may be much longer than the text
            self._expect(node, _is_list(node.node), f"a list before the filter {name}", _name_node(node.node))
        keywords = {keyword.key: keyword.value for keyword in node.kwargs}
        fits = len(node.args) <= len(FILTERS[name]) and keywords.keys() <= {*FILTERS[name]}
        fits = fits and node.dyn_args is None and node.dyn_kwargs is None
        takes = f"the arguments {', '.join(FILTERS[name])}" if FILTERS[name] else "no arguments"
        self._expect(node, fits, f"{takes} of the filter {name}", "others")
        for value in [*node.args, *keywords.values()]:
            given = getattr(value, "value", None)
            small = len(given) <= MAX_ARGUMENT if isinstance(given, str) else isinstance(given, int) and given <= MAX_ARGUMENT
            expected = f"a text of at most {MAX_ARGUMENT} characters or a number up to {MAX_ARGUMENT} as an argument of {name}"
            self._expect(value, small and type(value).__name__ == "Const", expected, _name_node(value))
            self.check(value)

    def _expect(self, node: Any, fits: bool, expected: str, got: str) -> None:
        if not fits:
            raise _fault(self._name, node.lineno, f"expected {expected}, got {got}")


def _is_list(node: Any) -> bool:
    """Return whether an expression is a list: a variable, a slice of a list, or the result of a filter."""
    match type(node).__name__:
        case "Name":
            return node.name in LISTS
        case "Getitem":
            return type(node.arg).__name__ == "Slice" and _is_list(node.node)
        case "Filter":
            return node.name in LIST_FILTERS and _is_list(node.node)
        case _:
            return False


def _name_node(node: Any) -> str:
    """Return a description of a node for messages."""
    kind = type(node).__name__
    if isinstance(operator := getattr(node, "operator", None), str):
        return f"the operator {operator}"
    if kind == "Name":
        return str(cut(node.name))
    if kind == "Const":
        return cut(repr(node.value))
    names = {"Concat": "operator ~", "Getattr": "attribute", "CondExpr": "condition", "Compare": "comparison"}
    names |= {"Assign": "tag set", "AssignBlock": "tag set", "CallBlock": "tag call", "FilterBlock": "tag filter"}
    names |= {name: f"tag {name.lower()}" for name in ("Macro", "Include", "Import", "Extends", "With")}
    return f"the {names.get(kind, kind.lower())}"


def _fault(name: str, line: int, message: str) -> ValueError:
    """Return the error for a fault in a line of a file; line 0 means the whole file."""
    return ValueError(f"prompt: {cut(name)}{f', line {line}' if line else ''}: {message}")


@cache
def _compile(name: str, text: str, always_legal: bool) -> PromptFile:
    try:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ValueError(f"prompt needs the library jinja2: {install_command('llm')}") from None

    environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=False)
    environment.filters["reverse"] = lambda items: items[::-1]  # that of Jinja returns an iterator, which has no length
    checker = Checker(name)
    try:
        for line, kind, word in environment.lex(text):
            if kind in ("integer", "float") and len(word) > MAX_DIGITS:  # Python cannot turn a longer number into text again
                raise _fault(name, line, f"expected a number of at most {MAX_DIGITS} digits, got {len(word):,}")
        tree = environment.parse(text)
    except jinja2.TemplateSyntaxError as error:
        raise _fault(name, error.lineno, cut(error.message or "expected a valid template", 200)) from None
    except RecursionError:
        raise _fault(name, 0, f"expected at most {MAX_DEPTH} nested tags or operators, got more") from None
    checker.check(tree)
    try:
        template = environment.from_string(text)
    except jinja2.TemplateSyntaxError as error:  # such as two blocks with the same name
        raise _fault(name, error.lineno, cut(error.message or "expected a valid template", 200)) from None
    except (MemoryError, OverflowError, RecursionError, SyntaxError, ValueError) as error:  # of Python, for the code of Jinja
        reason = cut(f"{type(error).__name__}: {error}", 200)
        raise _fault(name, 0, f"expected a template that Python can compile, got {reason}") from None
    made = PromptFile(name, template, checker.variables)
    sample = made.messages(SAMPLE)
    made.messages({**SAMPLE, "history": [], "fault": "A fault.", "legal": SAMPLE["legal"] if always_legal else []})
    if not any(message["content"].strip() for message in sample):
        raise _fault(name, 0, "expected text, got an empty string")
    return made
