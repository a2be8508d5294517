"""JSON schemas as rules of a grammar: every text of it is valid by the schema.

The other way round less is promised: keys come in the order of ``properties``, no
others are added, and white space is sparing. What cannot be kept to is refused.

JSON itself (RFC 8259) is one rule, which calls itself, with two kinds of white space:
any, as the standard has it, and sparing, at most one space behind a comma or a colon,
so that an answer does not consist of line breaks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.quantity.bounds import is_whole

from .syntax import (
    Choice,
    Pattern,
    Repeat,
    Span,
    call,
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


SCALARS: dict[str, Pattern] = {"string": STRING, "integer": INTEGER, "number": NUMBER}
SCALARS |= {"boolean": BOOLEAN, "null": NULL}
# What says nothing about which texts are valid.
REMARKS = {"title", "description", "default", "examples", "deprecated"}
REMARKS |= {"$schema", "$id", "$comment", "$defs", "definitions"}
# What each type may be given besides.
LIMITS: dict[str, set[str]] = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"minLength", "maxLength"},
}
ALONE = {"enum", "const", "anyOf", "$ref"}
KNOWN = sorted({"type"} | ALONE | REMARKS | set().union(*LIMITS.values()))
# Which values are of a type; a truth value is no number.
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}
COMMA = chain(text(","), ONE_SPACE)


class Schema:
    """A schema, and the rules that stand for it: 0 is the whole, 1 is any value."""

    def __init__(self, schema: Any) -> None:
        self.source = schema
        self.rules: list[Pattern] = [chain(), whole_value(call(1), spaces=False)]
        self.named: dict[str, int] = {}
        self.rules[0] = self.pattern(schema)

    def pattern(self, schema: Any) -> Pattern:
        """Texts that a schema allows."""
        if schema is True:
            return call(1)
        if not isinstance(schema, Mapping):
            raise ValueError(f"schema {shown(schema)}: an object is needed")
        for key in schema:
            if key not in KNOWN:
                raise ValueError(
                    f"schema keyword {key!r} is not supported\n"
                    f"known: {', '.join(KNOWN)}"
                )
        alone = ALONE & schema.keys()
        if alone:
            return self.alone(alone, schema)
        kinds = types(schema)
        if not kinds:
            return call(1)
        own = set().union(*(LIMITS.get(kind, set()) for kind in kinds))
        for key in schema.keys() - own - REMARKS - {"type"}:
            raise ValueError(f"schema keyword {key!r} says nothing about {kinds}")
        return Choice(tuple(self.typed(kind, schema) for kind in kinds))

    def alone(self, keys: set[str], schema: Mapping[str, Any]) -> Pattern:
        """What is said by one keyword: a list of values, of schemas, or a name."""
        (key, *more) = sorted(keys)
        beside = {"type"} if key in ("enum", "const") else set()
        more += sorted(schema.keys() - REMARKS - {key} - beside)
        if more:
            raise ValueError(
                f"schema keyword {key!r} beside {more[0]!r}: one of them has to go"
            )
        value = schema[key]
        if key == "$ref":
            return call(self.reference(value))
        values = [value] if key == "const" else value
        if not isinstance(values, list) or not values:
            raise ValueError(f"schema {key} {shown(value)}: a list is needed")
        if key == "anyOf":
            return Choice(tuple(self.pattern(each) for each in values))
        kinds = types(schema)
        held = [
            each for each in values if not kinds or any(is_a(each, k) for k in kinds)
        ]
        if not held:
            raise ValueError(f"schema {key} {shown(value)}: none is of type {kinds}")
        return Choice(tuple(text(compact(each)) for each in held))

    def reference(self, name: Any) -> int:
        """The rule of a ``#/$defs/name``."""
        parts = name.split("/") if isinstance(name, str) else []
        if parts[:1] != ["#"] or (len(parts) > 1 and len(parts) != 3):
            raise ValueError(f"schema $ref {shown(name)}: '#/$defs/NAME' is needed")
        if name not in self.named:
            at = self.source
            for part in parts[1:]:
                known = at.get(part) if isinstance(at, Mapping) else None
                if known is None:
                    raise ValueError(f"schema $ref {name!r}: no {part!r} in the schema")
                at = known
            self.named[name] = len(self.rules)
            self.rules.append(chain())  # so that it may hold itself
            self.rules[self.named[name]] = self.pattern(at)
        return self.named[name]

    def typed(self, kind: str, schema: Mapping[str, Any]) -> Pattern:
        """Texts of one type, by the keywords that it has."""
        if kind == "object":
            return self.object(schema)
        if kind == "array":
            item = self.pattern(schema.get("items", True))
            return array(item, *bounds(schema, "Items"))
        if kind == "string" and {"minLength", "maxLength"} & schema.keys():
            # An escaped surrogate is half a character: it would be counted as one.
            inside = Repeat(choice(PLAIN, SHORT), *bounds(schema, "Length"))
            return chain(text('"'), inside, text('"'))
        return SCALARS[kind]

    def object(self, schema: Mapping[str, Any]) -> Pattern:
        """An object: its properties in order, or any keys where none are named."""
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            raise ValueError("schema properties, required: an object and a list")
        for key in required:
            if not isinstance(key, str) or key not in properties:
                raise ValueError(
                    f"schema required {shown(key)}: not one of the properties"
                )
        more = schema.get("additionalProperties", True)
        others = None if more is False else self.pattern(more)
        if not properties:
            return text("{}") if others is None else whole_object(others, spaces=False)
        held = [
            (member(text(compact(key)), self.pattern(each), False), key in required)
            for key, each in properties.items()
        ]
        return chain(text("{"), members(held), text("}"))


def members(held: Sequence[tuple[Pattern, bool]]) -> Pattern:
    """Members in their order, commas between; what is not required may be left out."""
    behind = [
        chain(COMMA, pattern) if required else maybe(chain(COMMA, pattern))
        for pattern, required in held
    ]
    # By the member that comes first: one behind a required one cannot.
    found: list[Pattern] = []
    for at, (pattern, required) in enumerate(held):
        found.append(chain(pattern, *behind[at + 1 :]))
        if required:
            return Choice(tuple(found))
    return Choice((*found, chain()))


def array(item: Pattern, least: int, most: int | None) -> Pattern:
    """Items between brackets, so many."""
    if most == 0:
        return text("[]")
    if least == 0 and most is None:
        return listed("[", item, "]", spaces=False)
    more = Repeat(
        chain(COMMA, item), max(least - 1, 0), None if most is None else most - 1
    )
    items = chain(item, more)
    return chain(text("["), items if least else maybe(items), text("]"))


def bounds(schema: Mapping[str, Any], what: str) -> tuple[int, int | None]:
    """``minItems`` and ``maxItems``, or those of a length."""
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}")
    for name, value in ((f"min{what}", least), (f"max{what}", most)):
        if value is not None and (not is_whole(value) or value < 0):
            raise ValueError(f"schema {name} {shown(value)}: a whole number from 0")
    if most is not None and most < least:
        raise ValueError(f"schema max{what} {most} is below min{what} {least}")
    return least, most


def types(schema: Mapping[str, Any]) -> list[str]:
    """The types of a schema; where it names none, the one its keywords are about."""
    if "type" not in schema:
        return [kind for kind, own in LIMITS.items() if own & schema.keys()]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    for kind in kinds:
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"schema type {shown(kind)}\nknown: {', '.join(KINDS)}")
    if not kinds:
        raise ValueError("schema type []: no value is of none")
    return kinds


def is_a(value: Any, kind: str) -> bool:
    """Whether a value is of a type."""
    truth = isinstance(value, bool) and kind != "boolean"
    return isinstance(value, KINDS[kind]) and not truth


def compact(value: Any) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def shown(value: Any) -> str:
    """A value in an error, cut where it is long."""
    words = repr(value)
    return words if len(words) <= 60 else words[:57] + "..."
