"""The masks of JSON against xgrammar's, where it is installed (the extra `bench`)."""

import json

import numpy as np
import pytest

from stacklib.serving.masks.mask import Mask, Walks
from stacklib.serving.masks.masks import json_grammar
from stacklib.tinylm import load_tokenizer

xgrammar = pytest.importorskip("xgrammar")

RFC_8259 = r"""
root ::= ws value ws
value ::= "{" ws ( member ( ws "," ws member )* ws )? "}" | array | string | number |
    "true" | "false" | "null"
array ::= "[" ws ( value ( ws "," ws value )* ws )? "]"
member ::= string ws ":" ws value
string ::= "\"" ( [^"\\\x00-\x1f] | "\\" ( ["\\/bfnrt] | "u" hex hex hex hex ) )* "\""
hex ::= [0-9a-fA-F]
number ::= "-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [+-]? [0-9]+ )?
ws ::= [ \t\n\r]*
"""
VALUES = ({"a": [1, 2.5, -3e8, None]}, {"k": {"x": [{}]}}, ["\u00e9\n", []], -0.5)


@pytest.mark.parametrize("value", VALUES)
def test_every_token_in_every_state(value):
    tokenizer = load_tokenizer()
    info = xgrammar.TokenizerInfo(
        [*tokenizer.spelled, b"</s>"],
        vocab_type=xgrammar.VocabType.RAW,
        vocab_size=tokenizer.vocab,
        stop_token_ids=[tokenizer.end],
    )
    rules = xgrammar.GrammarCompiler(info).compile_grammar(RFC_8259)
    theirs, bits = (
        xgrammar.GrammarMatcher(rules),
        xgrammar.allocate_token_bitmask(1, 2048),
    )
    mask = Mask(Walks(json_grammar(), tokenizer))
    state = mask.start()
    for token in [*tokenizer.encode(json.dumps(value, indent=1)), tokenizer.end]:
        theirs.fill_next_token_bitmask(bits)
        allowed = np.unpackbits(bits.numpy().view(np.uint8), bitorder="little")
        assert (allowed == mask.allowed(state)).all()
        assert theirs.accept_token(token)
        state = mask.advance(state, token)
