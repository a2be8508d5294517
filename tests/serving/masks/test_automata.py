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
from stacklib.serving.masks.regex import parse
from stacklib.serving.masks.syntax import call, chain, characters, choice, text

PATTERNS = [
    "",
    "a|b|",
    "(?:ab|a)(b*)",
    "(a|b)*abb",
    "a{2}b?|b{1,3}",
    "a{,2}b{2,}",
    "[^a]+",
    "[a-b\u00e9]*\\d?",
    ".a.",
    "\\w\\W|\\s\\S",
    "[\\]a-]b",
    "[]a]|[^]b]",
    "\\.|\\x61|\\u00e9\\n",
    "((a|\u00e9)(b|))*",
    "(|a){0,2}b{0}",
    "\\D{2}",
    "a{1",  # literal, as Python has it
    "{a}",
]
JSON = json_grammar()
ALPHABET = "ab\u00e91-\n]{}."


def words(alphabet, longest):
    return ("".join(w) for n in range(longest + 1) for w in product(alphabet, repeat=n))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_regular_expression_is_read_as_python_reads_it(pattern):
    ours, theirs = grammar([parse(pattern)]), re.compile(pattern, re.ASCII)
    for word in words(ALPHABET, 3):
        assert ours.matches(word.encode()) == bool(theirs.fullmatch(word)), word


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "c"]),
    lambda inner: st.one_of(
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{1,2}"])),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS)
def test_any_expression_and_none_of_its_states_is_spare(pattern):
    ours, theirs = automaton(parse(pattern)), re.compile(pattern)
    read = grammar([parse(pattern)])
    for word in words("abc", 4):
        assert read.matches(word.encode()) == bool(theirs.fullmatch(word)), word
    # Two states of the smallest automaton differ in what follows (Myhill, Nerode).
    follow = [
        tuple(accepted(ours, state, word.encode()) for word in words("abc", 6))
        for state in range(min(len(ours.edges), 6))
    ]
    assert len(set(follow)) == len(follow)


def accepted(machine, state, word):
    for byte in word:
        to = [t for low, high, t in machine.edges[state] if low <= byte <= high]
        if not to:
            return False
        (state,) = to
    return machine.accepts[state]


def test_the_book_example_has_four_states():
    assert len(automaton(parse("(a|b)*abb")).edges) == 4


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
        ("(a", "without its end at 2"),
        ("a)", "unbalanced parenthesis at 1"),
        ("*a", "nothing to repeat at 0"),
        ("a**", "two repetitions"),
        ("a+?", "lazy"),
        ("a{3,1}", "ends before it begins"),
        ("[b-a]", "range"),
        ("[a", "ends too early"),
        ("a\\", "ends too early"),
        ("\\b", r"\\b is not supported"),
        ("\\xg1", "hexadecimal"),
        ("(?=a)", "other than"),
        ("^a$", "anchor"),
        ("(" * 500, "deep"),
        ("[^\\d\\D]", "holds no text"),
        ("(a|b)*a(a|b){14}", "over 20,000 states"),
        ("(.{900}){900}", "over 100,000 places"),
        ("(a?){3000}", "over 1,000,000 places in states"),
        ("(a|b)*a(a|b){12}", "over 4,000 states in its rules"),
        (b"a", "text is needed"),
    ],
)
def test_a_pattern_that_cannot_be_read_says_where(pattern, why):
    with pytest.raises(ValueError, match=why):
        grammar([parse(pattern)])


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
