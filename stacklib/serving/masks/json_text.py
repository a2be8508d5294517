"""JSON (RFC 8259) as patterns over bytes: one rule, which calls itself.

Two kinds of white space: any, as the standard has it, and sparing, at most one space
behind a comma or a colon, so that an answer does not consist of line breaks.
"""

from __future__ import annotations

from .syntax import (
    Choice,
    Pattern,
    Repeat,
    Span,
    chain,
    characters,
    choice,
    maybe,
    text,
)

DIGIT = Span(48, 57)
HEX = Choice((DIGIT, Span(65, 70), Span(97, 102)))
# Anything but controls, the quote and the backslash.
PLAIN = characters(((0, 31), (34, 34), (92, 92)), negated=True)
LETTERS = Choice(tuple(text(letter) for letter in '"\\/bfnrt'))
SHORT = chain(text("\\"), LETTERS)
ESCAPE = chain(text("\\"), choice(LETTERS, chain(text("u"), Repeat(HEX, 4, 4))))
STRING = chain(text('"'), Repeat(choice(PLAIN, ESCAPE)), text('"'))
INTEGER = chain(maybe(text("-")), choice(text("0"), chain(Span(49, 57), Repeat(DIGIT))))
NUMBER = chain(
    INTEGER,
    maybe(chain(text("."), Repeat(DIGIT, 1))),
    maybe(
        chain(
            choice(text("e"), text("E")),
            maybe(choice(text("+"), text("-"))),
            Repeat(DIGIT, 1),
        )
    ),
)
BOOLEAN = choice(text("true"), text("false"))
NULL = text("null")
ANY_SPACE = Repeat(Choice(tuple(text(mark) for mark in " \t\n\r")))
ONE_SPACE = maybe(text(" "))


def listed(open_: str, item: Pattern, close: str, spaces: bool) -> Pattern:
    """Items with commas between, none or any number, inside two brackets."""
    around = ANY_SPACE if spaces else chain()
    comma = chain(around, text(","), ANY_SPACE if spaces else ONE_SPACE)
    items = chain(item, Repeat(chain(comma, item)), around)
    return chain(text(open_), around, maybe(items), text(close))


def member(key: Pattern, value: Pattern, spaces: bool) -> Pattern:
    """A key, a colon and a value."""
    if spaces:
        return chain(key, ANY_SPACE, text(":"), ANY_SPACE, value)
    return chain(key, text(":"), ONE_SPACE, value)


def whole_object(value: Pattern, spaces: bool) -> Pattern:
    """An object of any keys, its values as given."""
    return listed("{", member(STRING, value, spaces), "}", spaces)


def whole_value(value: Pattern, spaces: bool) -> Pattern:
    """Any value; those inside it as given, which calls the rule that this is."""
    objects = whole_object(value, spaces)
    return choice(
        objects, listed("[", value, "]", spaces), STRING, NUMBER, BOOLEAN, NULL
    )
