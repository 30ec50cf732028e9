"""Formulas of the key `report` of a spec: names, numbers, arithmetic, comparisons, `and`, `or` and `not`.

A spec may come from a stranger, so a formula is checked before it is computed. Then `simpleeval` computes it. The formula gets no
functions and only the operators below, all numbers are floats, and the syntax tree holds only the kinds of nodes that are listed
here.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

from arena.api.errors import cut, suggest

MAX_FORMULA_CHARACTERS = 200
"""The length of the longest formula."""
MAX_EXPONENT = 10
"""The largest exponent of a power. Exponents must be plain numbers."""
MAX_SIZE = 1e300
"""The largest size of a result. The sum of a hundred million of them is still a float."""
ADVICE = "a formula consists of names, numbers, + - * / // % **, comparisons, and, or, not, and parentheses"
ALLOWED = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Name, ast.Constant, ast.Load, ast.And, ast.Or, ast.Not),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
"""The kinds of nodes that the syntax tree of a formula may have."""
REFUSED = {
    ast.Attribute: "an attribute",
    ast.Call: "a call",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.IfExp: "if ... else",
    ast.In: "in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.JoinedStr: "a text",
    ast.Lambda: "a function",
    ast.ListComp: "a comprehension",
    ast.NamedExpr: "an assignment",
    ast.NotIn: "not in",
    ast.SetComp: "a comprehension",
    ast.Subscript: "an index",
}
"""The names that messages use for nodes that are not allowed. For nodes of any other kind, messages use the name of the class."""
OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class FormulaFault(ValueError):
    """A formula cannot be used. The message says what was expected, what was found, and what to write."""


def _is_condition(node: ast.AST) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    if isinstance(node, ast.Name):
        return node.id == "solved"
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


class _NoValue(Exception):
    """A name of the formula has no value in this match."""


class Formula:
    """A formula that was checked. If `numbers` is given, the formula may use only the names in it. `texts` contains the names of
    columns with texts, which a formula cannot use.

    Raises FormulaFault if the text is not a formula.

    >>> Formula("nodes / moves").compute({"nodes": 12, "moves": 4})
    3.0
    >>> print(Formula("nodes / moves").compute({"nodes": 12, "moves": 0}))
    None
    """

    def __init__(self, text: str, numbers: Collection[str] | None = None, texts: Collection[str] = ()) -> None:
        self.text = " ".join(text.split())
        if len(text) > MAX_FORMULA_CHARACTERS:
            raise FormulaFault(
                f"expected at most {MAX_FORMULA_CHARACTERS} characters, got {len(text):,}; use several columns, or a data frame"
            )
        if not self.text:
            raise FormulaFault(f"expected a formula such as nodes / moves, got an empty string; {ADVICE}")
        self._tree = _parse(self.text)
        for node in ast.walk(self._tree):
            _check_node(node, self.text)
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                node.value = float(node.value)
        self.names = frozenset([node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)])
        for name in sorted(self.names):
            if name in texts:
                raise FormulaFault(f"{name} is text, but formulas accept only numbers: {', '.join(sorted(numbers or ()))}")
            if numbers is not None and name not in numbers:
                near = suggest(name, numbers)
                known = "" if near.startswith("known") else f" The known names are {', '.join(sorted(numbers))}"
                raise FormulaFault(f"unknown name {name!r}; {near}{known}")
        self._row: Mapping[str, float | None] = {}
        self._evaluator: Any = None

    @property
    def is_condition(self) -> bool:
        """Whether its values are only 0 and 1.

        >>> [Formula(text).is_condition for text in ("nodes > 10 and not solved", "solved", "nodes")]
        [True, True, False]
        """
        return _is_condition(self._tree)

    def __getitem__(self, name: str) -> float:
        """Return the number that a name has in the current match. The evaluator calls this."""
        value = self._row.get(name)
        if value is None:
            raise _NoValue
        return float(value)

    def compute(self, row: Mapping[str, Any]) -> float | None:
        """Return the value for the numbers of a match; None if a name has no value, or the result is not a number, or is
        above MAX_SIZE.
        """
        if self._evaluator is None:
            from simpleeval import SimpleEval  # takes 20 ms, which specs without `report` need not wait for

            self._evaluator = SimpleEval(operators=OPERATORS, functions={}, names=self)
        self._row = row
        try:
            value = self._evaluator.eval(self.text, previously_parsed=self._tree)
            return float(value) if abs(value) <= MAX_SIZE else None
        except (_NoValue, ArithmeticError, TypeError):  # TypeError: a root of a negative number is complex
            return None


def _parse(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for example about `1if`, which the check of the nodes refuses
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        rest = "the end" if error.offset is None or error.offset > len(text) else repr(cut(text[error.offset - 1 :], 20))
        raise FormulaFault(f"cannot be parsed from {rest} on; {ADVICE}") from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise FormulaFault(f"cannot be read ({error or 'too many parentheses'}); {ADVICE}") from error


def _check_node(node: ast.AST, text: str) -> None:
    """Raise FormulaFault if this node is not allowed in a formula."""
    if not isinstance(node, ALLOWED):
        name = REFUSED.get(type(node), type(node).__name__)
        found = cut(ast.get_source_segment(text, node) or "", 30) if isinstance(node, ast.expr) else ""
        raise FormulaFault(f"{name} is not allowed{f': {found}' if found else ''}; {ADVICE}")
    if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float)):
        raise FormulaFault(f"expected a number, got {cut(repr(node.value), 30)}; {ADVICE}")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        value = exponent.value if isinstance(exponent, ast.Constant) else None
        if not isinstance(value, (int, float)) or abs(value) > MAX_EXPONENT:
            found = cut(ast.get_source_segment(text, node.right) or "", 30)
            raise FormulaFault(f"** needs a number from -{MAX_EXPONENT} to {MAX_EXPONENT} as exponent, got {found}")
