"""Automata: Python's ``re`` and ``json`` decide what belongs to a language."""

import json
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.masks.automaton import automaton
from stacklib.serving.masks.grammar import grammar
from stacklib.serving.masks.masks import json_grammar
from stacklib.serving.masks.syntax import (
    Chain,
    Choice,
    Repeat,
    Span,
    call,
    chain,
    characters,
    choice,
    maybe,
    text,
)

JSON = json_grammar()
A_OR_B = Span(97, 98)


def words(alphabet, longest):
    return ("".join(w) for n in range(longest + 1) for w in product(alphabet, repeat=n))


def expression(pattern):
    """The same as Python's regular expressions have it."""
    match pattern:
        case Span(low, high):
            return b"[" + b"-".join(re.escape(bytes([x])) for x in (low, high)) + b"]"
        case Chain(parts):
            return b"".join(map(expression, parts))
        case Choice(parts):
            return b"(?:" + b"|".join(map(expression, parts)) + b")"
        case Repeat(part, least, most):
            times = f"{{{least},{'' if most is None else most}}}"
            return b"(?:" + expression(part) + b")" + times.encode()


TIMES = [(0, None), (1, None), (0, 1), (0, 3), (1, 2), (2, 2), (0, 0)]
PATTERNS = st.recursive(
    st.sampled_from([A_OR_B, *map(text, ("", "a", "bc"))]),
    lambda inner: st.one_of(
        st.builds(choice, inner, inner),
        st.builds(chain, inner, inner),
        st.builds(lambda x, n: Repeat(x, *n), inner, st.sampled_from(TIMES)),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(PATTERNS)
def test_a_pattern_is_read_as_python_reads_it_and_none_of_its_states_is_spare(pattern):
    ours, theirs = automaton(pattern), re.compile(expression(pattern))
    read = grammar([pattern])
    for word in words("abc", 4):
        assert read.matches(word.encode()) == bool(theirs.fullmatch(word.encode()))
    assert len(set(groups(ours))) == len(ours.edges)


def groups(machine):
    """Of each state which others go on as it does, split until none is left (Moore)."""
    found = list(machine.accepts)
    for _ in machine.edges:
        signs = [
            (
                own,
                *(
                    (b, found[to])
                    for low, high, to in edges
                    for b in range(low, high + 1)
                ),
            )
            for own, edges in zip(found, machine.edges, strict=True)
        ]
        found = [signs.index(sign) for sign in signs]
    return found


def test_the_book_example_has_four_states():
    assert len(automaton(chain(Repeat(A_OR_B), text("abb"))).edges) == 4


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 0x10FFFF), (0x7F, 0x80), (0x7FE, 0x801), (0xD7F0, 0xE010), (0xFFF0, 0x1000F)],
)
def test_a_range_of_characters_is_utf8(low, high):
    """Every character of the range, none around it, and no surrogate."""
    read = grammar([characters(((low, high),))])
    edge = {*range(low, min(high, low + 40)), *range(max(low, high - 40), high + 1)}
    around = {low - 1, high + 1} & set(range(0x110000))
    for point in (edge | around) - set(range(0xD800, 0xE000)):
        assert read.matches(chr(point).encode()) == (low <= point <= high)
    assert not read.matches("\ud800".encode("utf-8", "surrogatepass"))
    assert not any(
        map(read.matches, (b"\xc0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80"))
    )


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (choice(), "holds no text"),
        (
            chain(Repeat(A_OR_B), text("a"), Repeat(A_OR_B, 14, 14)),
            "over 20,000 states",
        ),
        (Repeat(Repeat(A_OR_B, 900, 900), 900, 900), "over 100,000 places"),
        (Repeat(maybe(text("a")), 3000, 3000), "over 1,000,000 places in states"),
        (
            chain(Repeat(A_OR_B), text("a"), Repeat(A_OR_B, 12, 12)),
            "over 4,000 states in its rules",
        ),
    ],
)
def test_a_pattern_that_is_empty_or_too_large_is_refused(pattern, why):
    with pytest.raises(ValueError, match=why):
        grammar([pattern])


def loads(word):
    """Whether Python reads it as JSON; without its NaN and infinities."""
    try:
        json.loads(word, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def test_json_is_what_python_loads_exhaustively():
    read = JSON
    for word in words('{}[]",:0-. ', 4):
        assert read.matches(word.encode()) == loads(word), word
    for word in words("01.eE+-", 5):
        assert read.matches(word.encode()) == loads(word), word


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(VALUES, st.integers(0), st.sampled_from('{}[],:"\\x0.\n\u00e9'), st.booleans())
def test_json_of_any_depth_and_with_one_character_changed(value, at, other, ascii_):
    word = json.dumps(value, ensure_ascii=ascii_, indent=at % 3 or None)
    read = JSON
    assert read.matches(word.encode("utf-8", "replace")) and read.matches(
        b" " + word.encode()
    )
    at %= len(word)
    changed = word[:at] + other + word[at + 1 :]
    assert read.matches(changed.encode()) == loads(changed)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([call(0)], "always needs itself"),
        ([chain(text("a"), call(1)), chain(text("b"), call(0))], "always needs itself"),
        ([choice(text("ab"), call(1)), text("ac")], "begin with b'a'"),
        ([choice(text("a"), chain(call(0), text("b")))], "begin with"),
    ],
)
def test_rules_that_cannot_be_told_apart_are_refused(rules, why):
    with pytest.raises(ValueError, match=why):
        grammar(rules)
