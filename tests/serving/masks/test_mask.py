"""Masks: every token by itself is the slow version, other people's parsers judge."""

import json

import jsonschema
import numpy as np
import pytest

from stacklib.serving.masks.masks import json_mask, schema_mask
from stacklib.tinylm import load_tokenizer

TOKENIZER = load_tokenizer()
NODE = {
    "type": "object",
    "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["next"],
}
PERSON = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 4},
        "age": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"enum": ["a", 2, None]}, "maxItems": 3},
    },
    "required": ["age"],
    "additionalProperties": False,
}
SCHEMAS = [
    PERSON,
    {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
    {"type": "object", "additionalProperties": {"type": "boolean"}},
    {"type": "array", "items": {"type": "number"}, "minItems": 2},
    {"type": "array", "minItems": 1, "maxItems": 2},
    {"type": "string", "enum": ["yes", "n\u00f6", 3]},
    {"const": {"a": [1.5, True, "\u00e9"]}},
    {"anyOf": [{"type": "string"}, {"type": "integer"}, {"maxItems": 0}]},
    {"type": "object", "properties": {"a": {}, "b": True}},
    {"properties": {}, "additionalProperties": False},
    {"type": "array", "items": {"$ref": "#"}},
    {"description": "anything"},
]


def drawn(mask, random, most, budget=True):
    """An answer drawn evenly from what is allowed, and its last state."""
    state, out = mask.start(), []
    while len(out) < most and (not out or out[-1] != TOKENIZER.end):
        out.append(
            int(
                random.choice(
                    np.flatnonzero(
                        mask.allowed(state, most - len(out) if budget else None)
                    )
                )
            )
        )
        state = mask.advance(state, out[-1])
    return TOKENIZER.decode(out), state


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_answer_is_valid_by_its_schema(schema):
    """With 24 tokens there is room for each of these, and so each comes to an end."""
    random = np.random.default_rng(0)
    for most in (24, 24, 40):
        mask = schema_mask(schema, TOKENIZER)
        answer, state = drawn(mask, random, most)
        assert mask.final(state)
        jsonschema.validate(json.loads(answer), schema)


def test_a_budget_is_kept_to_from_the_least_that_suffices():
    """`{}` and the end are two or three tokens; below that, an answer is cut."""
    for most in range(1, 30):
        answer, state = drawn(json_mask(TOKENIZER), np.random.default_rng(most), most)
        if most >= 2:
            assert isinstance(json.loads(answer), dict)
    without = json_mask(TOKENIZER)
    answer, state = drawn(without, np.random.default_rng(1), 6, budget=False)
    assert not without.final(state)


@pytest.mark.parametrize(
    "make",
    [lambda: json_mask(TOKENIZER), lambda: schema_mask(PERSON, TOKENIZER)],
)
def test_a_walk_finds_what_each_token_by_itself_gives(make):
    mask, random = make(), np.random.default_rng(3)
    grammar = mask.walks.grammar
    for _ in range(3):
        state, stack = mask.start(), grammar.start
        for _ in range(12):
            allowed = mask.allowed(state)
            for token, word in enumerate(TOKENIZER.spelled):
                assert allowed[token] == (grammar.read(stack, word) is not None)
            assert allowed[TOKENIZER.end] == mask.final(state)
            token = int(random.choice(np.flatnonzero(allowed[:-1])))
            state = mask.advance(state, token)
            stack = grammar.read(stack, TOKENIZER.spelled[token])


def test_a_rejected_draft_costs_nothing():
    """Back to an earlier state: the same tokens, and the same states again."""
    mask = json_mask(TOKENIZER)
    kept = mask.advance(mask.start(), TOKENIZER.encode("{")[0])
    before, walked = mask.allowed(kept), mask.walks.walked
    drafted = kept
    for token in TOKENIZER.encode('"a'):
        drafted = mask.advance(drafted, token)
    assert (mask.allowed(kept) == before).all()
    assert mask.advance(kept, TOKENIZER.encode('"')[0]) == drafted
    assert mask.walks.walked == walked


def test_walks_are_shared_by_requests_whatever_lies_below():
    """Deep inside, no new walk: what was looked at is what was on top."""
    mask = json_mask(TOKENIZER)
    text = '{"a": [1, {"b": [2, {"c": "d"}]}'
    walked = []
    for deep in (1, 6):
        state = mask.start()
        for token in TOKENIZER.encode(text.replace("[1,", "[" * deep + "1,")):
            mask.allowed(state)
            state = mask.advance(state, token)
        walked.append(mask.walks.walked)
    assert walked[1] <= walked[0] + 4
    assert json_mask(TOKENIZER).walks is mask.walks


@pytest.mark.parametrize("token", [TOKENIZER.encode("x")[0], TOKENIZER.end, 2048, -1])
def test_a_token_that_is_not_allowed_is_named(token):
    mask = json_mask(TOKENIZER)
    with pytest.raises(ValueError, match=str(token)):
        mask.advance(mask.start(), token)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([], "an object is needed"),
        (False, "an object is needed"),
        ({"pattern": "a"}, "keyword 'pattern' is not supported\nknown: "),
        ({"type": "strin"}, "schema type 'strin'\nknown: "),
        ({"type": []}, "none"),
        ({"type": [["string"]]}, "known"),
        ({"type": "string", "items": {}}, "'items' says nothing"),
        ({"type": "string", "minLength": -1}, "minLength -1"),
        ({"type": "string", "minLength": True}, "minLength True"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "below"),
        ({"type": "string", "maxLength": 10**9}, "count less"),
        ({"type": "array", "items": {"minItems": 900}, "minItems": 900}, "count less"),
        ({"type": "object", "required": ["a"]}, "'a': not one"),
        ({"type": "object", "required": [["a"]]}, "not one"),
        ({"type": "object", "properties": 3}, "an object and a list"),
        ({"enum": []}, "a list is needed"),
        ({"type": "integer", "enum": [True]}, "none is of type"),
        ({"enum": [1], "anyOf": [{}]}, "one of them has to go"),
        ({"$ref": "#/a/b"}, "no 'a'"),
        ({"$ref": 3}, "NAME"),
        ({"$ref": "#"}, "always needs itself"),
        ({"anyOf": [{"type": "object"}, {}]}, "begin with"),
        ({"const": float("inf")}, "JSON"),
    ],
)
def test_a_schema_that_cannot_be_kept_to_is_refused(schema, why):
    with pytest.raises(ValueError, match=why):
        schema_mask(schema, TOKENIZER)


def test_a_schema_nested_too_deep_is_refused():
    schema = {}
    for _ in range(400):
        schema = {"items": schema}
    with pytest.raises(ValueError, match="deep"):
        schema_mask(schema, TOKENIZER)
    with pytest.raises(ValueError, match="left = 0"):
        json_mask(TOKENIZER).allowed(0, 0)
