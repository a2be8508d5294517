"""Figures written where they should be computed, outside of prose.

In the words of a sentence, a label or a title; as the points of a line that says it was
predicted or simulated; as what a live figure counted; in the help of a command.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from _tools import choices, quantities
from stacklib import cli
from stacklib.cli.completion import every, subparsers

# A result, not the size of a case: a multiple, a share, a decimal, a rate.
RESULTS = ("multiple", "percentage", "bare ratio")
RATE = re.compile(r"\d\.\d|/s|\bW\b|watts|dollars|USD")
HINT = re.compile(r"\d|times|fold\b|percent|per cent")
MARKS = ("line", "dots", "bar", "diamonds")
MADE = ("predicted", "simulated")
OTHER = "claims"  # modules that tell what others say
# Phrases in which a figure is a name or a case: why.
ALLOWED = {
    r"95 %(?: interval|$)|^99 %$|, 99 %,": "a level of an interval, a quantile",
    r"^[\w/]*(?:7960x|9950x|08x)$|7960x, ": "a processor, a format of digits",
    r"^[a-z]+(?:-[a-z0-9]+)+$": "an id",
    r"\d\.\d\d W\n|\[0x|tl\.(?:where|load)|\(thousand USD\)": "a tool's words, code",
    r"112-Gb/s TIA|800 Gb/s (?:passive|twin)": "a title",
    r"(?:at most 1\.1 times|2 kW or more|30 TB/s or more|2 dollars an hour)": "a bet",
    r"^(?:three|ten) times$|, (?:eight times the swaps|engine ten times as)": "a case",
    r"[Ff]our times the (?:store|tokens)|than 80 times 10\^9": "a case; a run takes it",
    r"at 300 W a card|cliff at 9[69] %|, to 80 %|each to 80 %": "a case",
    r"product at 80 % of the|Connectors of 0\.5 dB": "a case; the menu has others",
    r"of 50 GB/s|(?:Rubin's|H200 at|naïvely|says:|six stacks|its) .*[TG]B/s": "a spec",
    r"6\.4 million loses|6\.1%|billions of dollars|tens of dollars": "what is read",
    r"fifteen milliseconds|nine in ten|30x-": "a span, a name",
}
NAMED = re.compile("|".join(ALLOWED))
# Figures of commands' help: how an option is typed, a unit, an example.
HELP = {
    "16 bits": "a format",
    "8 bits": "a format",
    "1 GB": "defines the unit",
    "1e9 B": "defines the unit",
    "a million": "the unit of a price",
    "16 tokens": "a block, by default",
    "16KiB": "how a size is typed",
    "64MB": "how a size is typed",
    "0.7": "how an option is typed",
    "0.5": "how an option is typed",
    "0.05": "how an option is typed",
    "7960x": "how a part is typed",
    "half": "which half of the sizes",
}


def results(told: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Those of some lines and texts that tell a result."""
    for line, text in told:
        if HINT.search(text) and not NAMED.search(text):
            if any(map(result, quantities.find(text))):
                yield line, text


def words(body: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string that tells a result; documentation is no string."""
    said = {id(n.value) for n in ast.walk(body) if isinstance(n, ast.Expr)}
    for node in ast.walk(body):
        if not isinstance(node, ast.Constant) or id(node) in said:
            continue
        if isinstance(node.value, str):
            yield from results([(node.lineno, node.value)])


def spelled(body: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of what is put together of words and a typed number."""
    for node in ast.walk(body):
        match node:
            case ast.JoinedStr(values):
                found = [_part(one) for one in values]
            case ast.BinOp(ast.Constant(str(text)), ast.Mod(), given):
                found = [_filled(text.__mod__, given)]
            case ast.Call(ast.Attribute(ast.Constant(str(text)), "format"), [given]):
                found = [_filled(text.format, given)]
            case ast.BinOp(left, ast.Add(), right):
                found = [_part(one) for one in (left, right)]
            case _:
                continue
        if any(typed for _, typed in found):
            yield node.lineno, "".join(text for text, _ in found)


def _part(node: ast.AST) -> tuple[str, bool]:
    """The text of a part of a string, and whether it is a number that is typed."""
    match node:
        case ast.Constant(str(text)):
            return text, False
        case ast.FormattedValue(given, _, spec):
            words = [_part(one)[0] for one in getattr(spec, "values", ())]
            return _filled(lambda x: format(x, "".join(words)), given)
        case ast.Call(ast.Name("str" | "repr" | "format"), [given, *_]):
            return _filled(str, given)
    return "·", False


def _filled(text: Callable[[Any], str], given: ast.AST) -> tuple[str, bool]:
    number = getattr(given, "value", None) if isinstance(given, ast.Constant) else None
    typed = type(number) in (int, float)
    return (text(number), True) if typed else ("·", False)


def result(found: quantities.Found) -> bool:
    """Whether a figure is one that somebody worked out or measured."""
    return found.kind in RESULTS or bool(RATE.search(found.text))


def points(body: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each mark that says *predicted* of typed points."""
    held = [node for node in ast.walk(body) if isinstance(node, ast.Assign)]
    for call in (node for node in ast.walk(body) if isinstance(node, ast.Call)):
        if choices._named(call) in MARKS and len(call.args) > 1:
            told = [getattr(one, "value", "") for one in call.args]
            names = {ast.unparse(n.targets[0]): n.value for n in held}
            diagonal = ast.unparse(call.args[0]) == ast.unparse(call.args[1])
            made = any(one in MADE for one in told) and not diagonal
            if made and _typed(call.args[1], names):
                yield call.lineno, ast.unparse(call)


def _typed(value: ast.AST, names: dict[str, ast.expr]) -> bool:
    """Whether a list holds a number that is no end of an axis."""
    value = names.get(getattr(value, "id", ""), value)
    each = value.elts if isinstance(value, ast.List | ast.Tuple) else ()
    held = [one.value for one in each if isinstance(one, ast.Constant)]
    return any(isinstance(x, int | float) and x not in (0, 1) for x in held)


def given(body: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each count of a live figure that no control reaches."""
    for call in ast.walk(body):
        if isinstance(call, ast.Call) and call.args:
            if choices._named(call) in ("chosen", "counted"):
                inside = ast.walk(call.args[0])
                used = {n.id for n in inside if isinstance(n, ast.Name)}
                moved = any(not one.isupper() for one in used - {*choices.CONVERTS})
                if not moved and getattr(call.args[0], "value", 1) != 0:
                    yield call.lineno, ast.unparse(call)


def helps() -> Iterator[str]:
    """The figures in commands' help that are no default of theirs."""
    for command in cli.COMMANDS:
        (commands,) = subparsers(cli.parser_of(command))
        for parser in every(commands.choices[command]):
            told = [(a.help or "", a.default) for a in parser._actions]
            for text, default in [(parser.description or "", None), *told]:
                for found in quantities.find(text):
                    if found.text not in HELP and found.text != str(default):
                        yield f"{command} --help: {found.text!r} is typed in {text!r}"


def faults() -> Iterator[str]:
    """All of the book, with their places."""
    for place, source, live in choices.sources():
        body = choices.parsed(source)
        told = () if OTHER in place else (*words(body), *results(spelled(body)))
        for line, text in told:
            yield (
                f"{place}:{line}: {text!r} tells a result; show the number itself: "
                "say(), a label that is a quantity, {quantity.text()}"
            )
        for line, text in points(body):
            yield f"{place}:{line}: {text}: typed points; give those that a model made"
        for line, text in given(body) if live else ():
            yield f"{place}:{line}: {text}: nothing ran; give what a control moves"
    yield from helps()
