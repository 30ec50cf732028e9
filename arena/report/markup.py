"""HTML that cannot be broken by what stands in it: all text is escaped unless it is Markup already."""

import re
from html import escape
from typing import TypeAlias

Content: TypeAlias = "str | int | float | Markup | list[Markup] | None"
Attribute: TypeAlias = str | int | bool | None

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_EMPTY = frozenset({"input", "meta", "br"})


class Markup(str):
    """HTML, as opposed to text."""

    __slots__ = ()


def printable(text: str) -> str:
    """A text in which whatever no page can show, control characters and halves of surrogates, is a replacement character."""
    return _ODD.sub("\ufffd", text)


def element(tag: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """An element. A trailing underscore of an attribute is left out, others are dashes; None and False leave it out, too."""
    head = tag + "".join(
        [_attribute(name, value) for name, value in attributes.items() if value is not None and value is not False]
    )
    return Markup(f"<{head}>" if tag in _EMPTY else f"<{head}>{joined(*content)}</{tag}>")


def joined(*content: Content) -> Markup:
    """Several things after each other; None is left out."""
    return Markup("".join([_text(one) for one in content]))


def _text(one: Content) -> str:
    if one is None:
        return ""
    if isinstance(one, Markup):
        return str(one)
    return "".join(one) if isinstance(one, list) else escape(printable(str(one)))


def _attribute(name: str, value: Attribute) -> str:
    key = name.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(printable(str(value)))}"'
