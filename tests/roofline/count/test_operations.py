"""Work of a block, closed form: against counts done another way, and planted faults."""

import dataclasses

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models, roofline
from stacklib.quantity import Quantity
from stacklib.roofline.count import operations as ops
from stacklib.roofline.count.catalogue import catalogue
from stacklib.roofline.work import steps

from ...rows import refusals

LLAMA = models.get("llama-3-8b")
DENSE = ["llama-3-8b", "llama-2-7b", "qwen3-8b", "gemma-2-9b", "mistral-7b-v0.1"]
LAYERS = {"gemma-2-9b": (0, 1)}  # with a window, and without
CASES = [(1, 4096, 1), (1, 0, 3), (2048, 0, 1), (5000, 0, 1), (300, 0, 2)]


def of_models(model, tokens, context, batch, layer):
    """Products of one layer as ``models.operations`` counts them: FLOP, bytes."""
    phase = "prefill" if tokens > 1 else "decode"
    listed = models.operations(
        model, phase, context=tokens if tokens > 1 else context, batch=batch
    )
    rows = [op for op in listed if op.layer == layer and op.part != "norms"]
    return {op.name: op for op in rows}


@pytest.mark.rows("name", DENSE)
@pytest.mark.rows(("tokens", "context", "batch"), CASES)
def test_products_are_those_of_models_operations(name, tokens, context, batch):
    model = models.get(name)
    for layer in LAYERS.get(name, (0,)):
        theirs = of_models(model, tokens, context, batch, layer)
        mine = ops.block_operations(
            model, tokens, context, batch=batch, rule="products", layer=layer
        )
        mine = {op.name: op for op in mine if op.operations.si}
        biased = {m.name for m in model.kinds[0].attention.matrices(1) if m.bias}
        assert set(mine) == set(theirs)
        for op in set(theirs) - biased:
            assert mine[op].operations.si == theirs[op].flops, op


@pytest.mark.rows("name", DENSE)
def test_weights_and_cache_are_those_of_models_operations(name):
    """Bytes less activations: weights once, the cache once."""
    model, batch = models.get(name), 3
    theirs = of_models(model, 1, 1000, batch, 0)
    for op in ops.block_operations(model, 1, 1000, batch=batch):
        if op.kind != "product":
            continue
        shape = {m.name: m for m in model.kinds[0].matrices(model.hidden)}[op.name]
        moved = op.bytes.si - 2 * batch * (shape.rows + shape.columns)
        assert moved == theirs[op.name].bytes
    listed = ops.block_operations(model, 1, 1000, batch=batch)
    cache = ops.total(listed, "attention").bytes.si
    a = model.attention
    cache -= 2 * 2 * batch * a.heads * a.head_dim  # queries in, values out
    assert cache == theirs["scores"].bytes


def test_all_layers_and_the_output_are_the_decode_step():
    """Products of the layers and the output matrix: 2 FLOP a parameter, and pairs."""
    step = roofline.decode_work(LLAMA, dtype="bf16", context=4096)
    block = ops.total(ops.block_operations(LLAMA, 1, 4096, rule="products"))
    products = LLAMA.layers * block.operations.si + 2 * LLAMA.hidden * LLAMA.vocab
    norms = 2 * LLAMA.hidden * (2 * LLAMA.layers + 1)  # matrices of one column there
    assert products + norms == step.operations.si


@given(st.integers(1, 9), st.integers(0, 9), st.integers(1, 3))
@settings(deadline=None)
def test_attention_is_that_of_work(tokens, context, batch):
    """Scores, softmax and values together are the fused attention of ``work``."""
    listed = ops.block_operations(LLAMA, tokens, context, batch=batch, rule="products")
    mine = ops.total(listed, "attention")
    a = LLAMA.attention
    theirs = roofline.attention(
        queries=tokens,
        keys=context + tokens,
        heads=a.heads,
        kv_heads=a.kv_heads,
        head_dim=a.head_dim,
        batch=batch,
        causal=True,
    )
    assert mine.operations.si == theirs.operations.si
    assert mine.bytes.si == theirs.bytes.si


@given(st.integers(1, 40), st.integers(1, 40))
@settings(deadline=None)
def test_every_rule_orders_as_its_sentence_says(rows, columns):
    for op in (ops.softmax, ops.layer_norm, ops.rms_norm):
        of = {r: op(rows=rows, columns=columns, rule=r) for r in ops.RULES}
        assert of["products"].operations.si == 0
        assert of["fused"].operations.si < of["weighted"].operations.si
        assert of["fused"].bytes.si < of["steps"].bytes.si
        assert of["steps"].operations.si == of["fused"].operations.si


@pytest.mark.parametrize(("name", "side"), [("h100-sxm", 886), ("tpu-v5p", 498)])
def test_crossover_side_is_where_matmul_meets_the_ridge(name, side):
    found = ops.crossover_side(name, "bf16").si
    assert round(found) == side
    ridge = roofline.ridge(name, "bf16").si
    below, above = int(found), int(found) + 1
    at = [roofline.matmul(m=s, n=s, k=s).intensity.si for s in (below, above)]
    assert at[0] <= ridge <= at[1]


def test_counts_take_floats_quantities_and_arrays():
    rule, one = steps.RULES["fused"], Quantity(1, "FLOP")
    plain = {"x": 12.0, "row": 3.0, "weight": 4.0}
    traced = {name: Quantity(v, label=name) for name, v in plain.items()}
    swept = {name: numpy.array([v, 2 * v]) for name, v in plain.items()}
    for recipe in (steps.SOFTMAX, steps.LAYER_NORM):
        flop = steps.operations_of(recipe, plain, rule)
        assert steps.operations_of(recipe, traced, rule, one).si == flop
        assert steps.operations_of(recipe, swept, rule).tolist() == [flop, 2 * flop]
        numbers = steps.numbers_of(recipe, plain, rule)
        assert steps.numbers_of(recipe, traced, rule).si == numbers
        assert steps.numbers_of(recipe, swept, rule).tolist() == [numbers, 2 * numbers]
    sides = numpy.array([100.0, 200.0])
    assert ops.side_at_ridge(sides, 2.0).tolist() == [300.0, 600.0]
    side = ops.side_at_ridge(Quantity(100, "FLOP/B"), Quantity(2, "B"), 2 * one)
    assert side.si == ops.side_at_ridge(100.0, 2.0) == 300


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        ({"gated": False}, "gate"),
        ({"intermediate": 14337}, "up"),
    ],
)
def test_a_planted_shape_is_seen(change, caught):
    """A block that forgets its gate, or is one column off, differs from the others."""
    mlp = dataclasses.replace(LLAMA.kinds[0].mlp, **change)
    block = dataclasses.replace(LLAMA.kinds[0], mlp=mlp)
    model = dataclasses.replace(LLAMA, kinds=(block,))
    mine = ops.block_operations(model, 1, 10, rule="products")
    mine = {op.name: op.operations.si for op in mine if op.kind == "product"}
    theirs = of_models(LLAMA, 1, 10, 1, 0)
    assert mine.get(caught) != theirs[caught].flops


@pytest.mark.rows("missing", range(len(steps.LAYER_NORM.steps)))
def test_a_forgotten_step_moves_the_count(missing):
    kept = [s for i, s in enumerate(steps.LAYER_NORM.steps) if i != missing]
    short = dataclasses.replace(steps.LAYER_NORM, steps=tuple(kept))
    sizes = {"x": 12.0, "row": 3.0, "weight": 4.0}
    for count in (steps.operations_of, steps.numbers_of):
        rule = steps.RULES["steps"]
        assert count(short, sizes, rule) < count(steps.LAYER_NORM, sizes, rule)


test_bad_input_raises = refusals(
    (lambda: ops.softmax(rows=0, columns=1), "rows = 0"),
    (lambda: ops.gelu(elements=2.5), r"elements = 2\.5"),
    (lambda: ops.rotary(tokens=1, heads=1, head_dim=3), "head_dim = 3"),
    (lambda: ops.softmax(rows=1, columns=1, rule="fast"), "unknown counting rule"),
    (lambda: ops.softmax(rows=1, columns=1, dtype="f16x"), "unknown number format"),
    (lambda: ops.block_operations("deepseek-v3", 1), "only grouped attention"),
    (lambda: ops.block_operations("mixtral-8x7b-v0.1", 1), "models.operations"),
    (lambda: ops.block_operations(LLAMA, 0), "tokens = 0"),
    (lambda: ops.block_operations(LLAMA, 1, -1), "context = -1"),
    (lambda: ops.block_operations(LLAMA, 1, layer=32), "layer = 32"),
    (lambda: ops.crossover_side("h100", "fp4"), "fp4"),
    (lambda: ops.total([], "product"), "kind = 'product'"),
    (lambda: steps.Rule("x", "y", passes="once"), "passes = 'once'"),
    (lambda: steps.Rule("x", "y", special=-1), "special = -1"),
    (
        lambda: steps.numbers_of(steps.SOFTMAX, {"x": 1.0}, steps.RULES["fused"]),
        "no size 'row'",
    ),
    error=(ValueError, LookupError),
)


def test_the_catalogue_holds_each_operation_at_one_size():
    by_name = {work.name: work for work in catalogue(64)}
    assert len(by_name) == 14
    assert by_name["softmax"].bytes.si == 2 * 2 * 64**2
    assert by_name["matrix product"].operations.si == 2 * 64**3
    assert by_name["transpose"].operations.si == 0
    steps_of = {work.name: work for work in catalogue(64, rule="steps")}
    for name in ("matrix product", "matrix times vector", "transpose"):
        assert steps_of[name].bytes.si == by_name[name].bytes.si
    for name in ("softmax", "layer norm", "attention, prompt", "cross-entropy"):
        assert steps_of[name].bytes.si > by_name[name].bytes.si


def test_no_reading_of_an_elementwise_operation_reaches_a_ridge():
    small = [work.name for work in catalogue()][4:]
    for rule in ops.RULES:
        for work in catalogue(rule=rule):
            if work.name in small:
                assert work.intensity.si < roofline.ridge("a100-sxm-80gb").si / 10


@pytest.mark.rows("side", [0, 1.5, True])
def test_a_bad_side_raises(side):
    with pytest.raises(ValueError, match=f"side = {side}"):
        catalogue(side)
