"""Factors that multiply, and those that do not: held to models counted whole."""

import itertools
import math

import pytest

from stacklib import models
from stacklib.serving.estimates.reductions import (
    NUMBERS,
    TOKENS,
    WIDTH,
    attention_kept,
    narrow,
    own_heads,
    shared,
    together,
    window,
)

PLAIN = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 128_256,
    "tie_word_embeddings": False,
}


def test_published_factors():
    assert attention_kept("llama-3-70b").factor.si == 8
    assert attention_kept("mistral-7b-v0.1").factor.si == 4
    assert attention_kept("llama-2-7b").factor.si == 1
    assert attention_kept("deepseek-v3").factor.si == pytest.approx(32_768 / 576)
    assert own_heads("deepseek-v3").si == 61 * 2 * 128 * 128


@pytest.mark.parametrize("kv_heads", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("dtype", ["fp8", "q8_0", "int4_g128"])
def test_grouped_and_narrow_together_are_what_two_models_keep(kv_heads, dtype):
    """The same model with its own heads and with fewer, each counted by `models`."""
    few = models.from_hf_config({**PLAIN, "num_key_value_heads": kv_heads})
    own = models.from_hf_config({**PLAIN, "num_key_value_heads": 32})
    ratio = own.kv_bytes(5000, "bf16") / few.kv_bytes(5000, dtype)
    found = together([attention_kept(few), narrow(dtype)])
    assert found.factor.si == pytest.approx(ratio.si) and found.left_out == ()


def test_two_that_say_the_same_thing_do_not_multiply():
    grouped, latent = attention_kept("llama-3-70b"), attention_kept("deepseek-v3")
    found = together([grouped, latent, narrow("fp8"), narrow("int4_g128")])
    four = narrow("int4_g128")
    assert found.of == (latent, four)
    assert found.factor.si == pytest.approx(latent.factor.si * four.factor.si)
    assert len(found.left_out) == 2
    assert "grouped heads (8) changes the numbers of a token" in " ".join(
        found.left_out
    )


def test_the_order_does_not_matter():
    given = [narrow("fp8"), attention_kept("llama-3-70b"), shared(100, 400, 9)]
    found = {together(order).factor.si for order in itertools.permutations(given)}
    assert len({round(x, 9) for x in found}) == 1
    assert {one.changes for one in given} == {NUMBERS, WIDTH, TOKENS}


def test_sharing_is_what_a_set_of_tokens_keeps():
    for prefix, context, readers in [(1, 1, 5), (3, 8, 4), (16, 16, 1), (5, 100, 64)]:
        own = ((r, at) for r in range(readers) for at in range(prefix, context))
        kept = {*own, *(("shared", at) for at in range(prefix))}
        factor = shared(prefix, context, readers).factor.si
        assert factor == pytest.approx(readers * context / len(kept))


def test_a_window_drops_what_is_older():
    assert window("mistral-7b-v0.1", 4096).factor.si == 1
    assert window("mistral-7b-v0.1", 40_960).factor.si == 10
    assert window("llama-3-8b", 10**6).factor.si == 1


BAD = [
    (lambda: together([]), "no reductions"),
    (lambda: together([narrow("bf16", than="fp8")]), "is no cut"),
    (lambda: shared(5, 4, 2), "prefix = 5"),
    (lambda: shared(0, 4, 2), "prefix = 0"),
    (lambda: shared(1, 4, True), "readers = True"),
    (lambda: own_heads("deepseek-v4-pro"), "layers differ"),
    (lambda: window("llama-3-8b", math.nan), "context = nan"),
]


@pytest.mark.rows(("call", "says"), BAD)
def test_bad_input_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
