"""Masks by what an answer has to be: JSON, or a schema's JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from stacklib.tinylm import Tokenizer

from .grammar import Grammar, grammar
from .mask import Mask, Walks
from .schema import ANY_SPACE, Schema, whole_value
from .syntax import call, chain

KEPT = 8  # grammars, with what was walked of each


def json_mask(tokenizer: Tokenizer) -> Mask:
    """Tokens that keep an answer to one JSON object of any keys.

    A mask is for one request; what several have in common is kept between calls.

    Parameters
    ----------
    tokenizer : Tokenizer
        Whose tokens.

    Examples
    --------
    >>> from stacklib.tinylm import load_tokenizer
    >>> tokenizer = load_tokenizer()
    >>> mask = json_mask(tokenizer)
    >>> [tokenizer.decode([token]) for token in mask.allowed(mask.start()).nonzero()[0]]
    [b'{']
    """
    return schema_mask({"type": "object"}, tokenizer)


def schema_mask(schema: Any, tokenizer: Tokenizer) -> Mask:
    """Tokens that keep an answer to the JSON of a schema.

    Parameters
    ----------
    schema : dict or bool
        A JSON schema: ``type``, ``properties``, ``required``, ``additionalProperties``,
        ``items``, numbers of items and characters, ``enum``, ``const``, ``anyOf`` and
        ``$ref``, which may lead back to the schema it stands in.
    tokenizer : Tokenizer
        Whose tokens.

    Raises
    ------
    ValueError
        For a keyword that is not supported or a value that is wrong, naming it; where
        alternatives begin alike; where no text is valid.
    """
    return Mask(walks(json.dumps(schema), tokenizer))


def json_grammar() -> Grammar:
    """JSON texts by RFC 8259, white space and all."""
    text = chain(ANY_SPACE, call(1), ANY_SPACE)
    return grammar([text, whole_value(call(1), spaces=True)])


@lru_cache(KEPT)
def walks(schema: str, tokenizer: Tokenizer) -> Walks:
    """A schema's grammar read for a vocabulary; the same one for the same schema."""
    try:
        return Walks(grammar(Schema(json.loads(schema)).rules), tokenizer)
    except RecursionError:
        raise ValueError(
            f"schema of {len(schema):,} characters: nested too deep"
        ) from None
