"""Formulas of the key `report` are computed or refused. Python's own `eval` computes the expected values from trusted text."""

import random
import sys

import pytest

from arena_records.formula import MAX_EXPONENT, Formula, FormulaFault

NUMBERS = {"a": 3, "b": 0.5, "c": -2, "zero": 0, "true": True, "gone": None}


def draw_formula(rng: random.Random, depth: int) -> str:
    """Return a random formula of all operators, in which parts have parentheses half of the time."""
    if not depth:
        return rng.choice(["a", "b", "c", "zero", "true", "2.0", "0.25", "7.0"])
    one, other = draw_formula(rng, depth - 1), draw_formula(rng, rng.randrange(depth))
    operators = ["+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", "> b >="]
    forms = ["({}) and ({})", "({}) or ({})", "(not ({}))", "-({})", "+({})", "({}) ** 2", "({}) ** -1"]
    form = rng.choice([*[f"{{}} {sign} {{}}" for sign in operators], *forms])
    text = form.format(one, other)
    return f"({text})" if rng.random() < 0.5 else text


def test_a_formula_agrees_with_python() -> None:
    """Python evaluates the text with floats and its own precedence. A division by zero gives no value."""
    rng, compared = random.Random(30), 0
    for _ in range(800):
        text = draw_formula(rng, 3)
        if len(text) > 200:
            continue
        floats = {name: float(value) for name, value in NUMBERS.items() if value is not None}
        try:
            expected = float(eval(text, {}, floats))
        except ArithmeticError:
            expected = None
        assert Formula(text).compute(NUMBERS) == expected, text
        compared += expected is not None
    assert compared > 300


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a / zero", None),
        ("a % zero", None),
        ("zero ** -1", None),
        ("c ** 0.5", None),  # complex
        ("1e308 * 10", None),  # infinite
        ("(10 ** 10) ** 10 * (10 ** 10) ** 10 * (10 ** 10) ** 10 * (10 ** 10) ** 10", None),
        ("2e300", None),  # a sum of many of them is infinite
        ("-1e300", -1e300),
        ("gone + 1", None),
        ("gone > 1", None),
        ("not true or gone", None),
        ("true or gone", 1.0),  # a part that decides the condition comes before one without a value
        ("a == 3 and not zero", 1.0),
        (" a\n + 1 ", 4.0),
        ("9" * 200, 1e200),
    ],
)
def test_an_undefined_result_is_none(text: str, value: float | None) -> None:
    """The result is never an exception, infinity or a complex number."""
    assert Formula(text).compute(NUMBERS) == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" * 201, "expected at most 200 characters, got 201"),
        ("", "got an empty string"),
        (" \n ", "got an empty string"),
        ("a +", "cannot be parsed from"),
        ("a b", "cannot be parsed from 'b' on"),
        ("a; b", "cannot be parsed from '; b' on"),
        ("a\0", "cannot be parsed"),
        ("(" * 100 + "a" + ")" * 99, "cannot be parsed"),
        ("-" * 199 + "a", None),
        ("abs(a)", "a call is not allowed: abs(a)"),
        ("(1).__class__", "an attribute is not allowed"),
        ("a.real", "an attribute is not allowed: a.real"),
        ("a[0]", "an index is not allowed"),
        ("[x for x in a]", "a comprehension is not allowed"),
        ("{a: b for a in c}", "a comprehension is not allowed"),
        ("(x for x in a)", "a comprehension is not allowed"),
        ("lambda: a", "a function is not allowed"),
        ("(a := 3)", "an assignment is not allowed"),
        ("a if b else c", "if ... else is not allowed"),
        ("'a' * 3", "expected a number, got 'a'"),
        ("b'a'", "expected a number, got b'a'"),
        ("f'{a}'", "a text is not allowed"),
        ("...", "expected a number, got Ellipsis"),
        ("None", "expected a number, got None"),
        ("1j", "expected a number, got 1j"),
        ("a << 999999999", "LShift is not allowed"),
        ("a @ b", "MatMult is not allowed"),
        ("~a", "Invert is not allowed"),
        ("a in b", "in is not allowed"),
        ("a is b", "is is not allowed"),
        ("(a, b)", "Tuple is not allowed"),
        ("await a", "not allowed"),
        ("9 ** 9 ** 9", "** needs a number from -10 to 10 as exponent, got 9 ** 9"),
        ("a ** b", "as exponent, got b"),
        ("a ** 11", "as exponent, got 11"),
        ("a ** -11", "as exponent, got -11"),
        ("import os", "cannot be parsed"),
    ],
)
def test_syntax_that_formulas_do_not_support_is_refused(text: str, words: str | None) -> None:
    """The formula is refused before it is computed, in a message that names the unsupported part."""
    if words is None:
        assert abs(Formula(text).compute(NUMBERS) or 0) == NUMBERS["a"]
        return
    with pytest.raises(FormulaFault) as fault:
        Formula(text)
    assert words in str(fault.value)
    assert len(str(fault.value)) < 300


def test_the_largest_and_smallest_exponents_are_allowed() -> None:
    assert Formula(f"2 ** {MAX_EXPONENT}").compute({}) == 1024
    assert Formula(f"2 ** -{MAX_EXPONENT}").compute({}) == 1 / 1024


def test_an_unknown_name_gets_a_suggestion() -> None:
    """The message suggests the nearest name and lists all known names."""
    with pytest.raises(FormulaFault, match=r"^unknown name 'cots'; did you mean 'cost'\? The known names are cost, nodes$"):
        Formula("cots / nodes", ["cost", "nodes"])
    with pytest.raises(FormulaFault, match=r"^unknown name '__import__'; known: cost, nodes$"):
        Formula("__import__", ["cost", "nodes"])
    with pytest.raises(FormulaFault, match=r"^agent is text, but formulas accept only numbers: cost, nodes$"):
        Formula("agent == 3", ["cost", "nodes"], ["agent"])


def test_random_text_is_refused_or_computed_quickly() -> None:
    """Each of 3,000 random texts is refused or has a value, and none takes long."""
    rng, words = (
        random.Random(7),
        ["a", "9", "**", "(", ")", "*", ".", "[", "]", "not", "and", "'", "lambda", ":", "if", "1e9", "-"],
    )
    read = 0
    for _ in range(3000):
        text = " ".join(rng.choices(words, k=rng.randrange(1, 12)))
        try:
            value = Formula(text, ["a"]).compute(NUMBERS)
        except FormulaFault:
            continue
        assert value is None or abs(value) <= sys.float_info.max
        read += 1
    assert read > 30
