"""Which engine: each rule stands on its figure and turns with it."""

import pytest

from stacklib.quantity import chosen
from stacklib.serving import estimate
from stacklib.serving.layouts import engines

BUILD, GAIN = chosen(10, "min", label="build"), chosen(0.1, label="gain")
CASE = {"model": "llama-3-8b", "on": "h100-sxm", "build": BUILD, "gain": GAIN}


def first(**change):
    asked = {"users": 32, "prompt": 1000, "hours": 1.0} | CASE | change
    return next(rule.engine for rule in engines.rules(**asked) if rule.holds)


@pytest.mark.parametrize(
    ("change", "engine"),
    [
        ({}, "vLLM"),
        ({"users": 1}, "llama.cpp"),
        ({"model": "llama-3-70b"}, "llama.cpp"),
        ({"model": "llama-3-70b", "tp": 2, "dtype": "fp8"}, "vLLM"),
        ({"shared": 900}, "SGLang"),
        ({"shared": 20}, "vLLM"),
        ({"hours": 1.9}, "TensorRT-LLM"),
        ({"hours": 1.8}, "vLLM"),
        ({"hours": 1000.0, "on": "mi300x"}, "vLLM"),
    ],
)
def test_the_first_rule_that_holds(change, engine):
    assert first(**change) == engine


def test_every_engine_has_a_rule_with_its_figure():
    found = engines.rules(users=8, prompt=500, shared=250, **CASE)
    names = [rule.engine for rule in found]
    assert names == ["llama.cpp", "SGLang", "TensorRT-LLM", "TGI", "vLLM"]
    assert [rule.engine for rule in found if rule.figure is None] == ["TGI"]
    rates = [estimate("llama-3-8b", "h100-sxm", batch=n, context=500) for n in (8, 1)]
    ratio = rates[0].tokens_per_s / rates[1].tokens_per_s
    assert found[0].figure.si == pytest.approx(ratio.si)


@pytest.mark.parametrize("shared", [0, 1, 15, 16, 17, 31, 100])
def test_blocks_find_whole_blocks_and_a_tree_every_token(shared):
    assert engines.found_by_tree(shared, 128) == shared
    assert engines.found_by_blocks(shared, 128) == shared // 16 * 16


def test_a_build_is_repaid_when_as_many_tokens_are_served():
    time = engines.repaid(BUILD, GAIN)
    assert (time - BUILD).si * 1.1 == pytest.approx(time.si)
    assert time.to("min").value == pytest.approx(110)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"users": 0}, "users"),
        ({"shared": 2000}, "more than the prompt"),
        ({"hours": float("nan")}, "hours"),
        ({"gain": chosen(0.0, label="gain")}, "gain"),
    ],
)
def test_bad_input_is_named(change, says):
    with pytest.raises(ValueError, match=says):
        first(**change)
