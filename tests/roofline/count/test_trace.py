"""A block three ways: closed form, counted as it runs, and numerically right."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from stacklib.models import Attention, Block, LanguageModel, Mlp
from stacklib.quantity import Source
from stacklib.roofline.count import numpy_block, operations, trace
from stacklib.roofline.work import steps

from ...rows import refusals

SOURCE = Source("drawn by a test", "", "2026-11-21", "recalled")


@st.composite
def small_models(draw):
    """One layer of ragged sizes: Llama's kind or GPT-2's, with its variants."""
    gpt = draw(st.booleans())
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    attention = Attention(
        heads=kv_heads * (1 if gpt else group),
        kv_heads=kv_heads,
        head_dim=2 * draw(st.integers(1, 4)),
        window=draw(st.sampled_from([0, 0, 1, 3])),
        qkv_bias=gpt or draw(st.booleans()),
        out_bias=gpt,
        qk_norm="" if gpt else draw(st.sampled_from(["", "head", "full"])),
    )
    mlp = Mlp(draw(st.integers(1, 13)), gated=not gpt, bias=gpt)
    norms = 2 if gpt else draw(st.sampled_from([2, 4]))
    vectors = 2 if gpt else 1
    return LanguageModel(
        key="small",
        name="small",
        vocab=5,
        hidden=draw(st.integers(1, 11)),
        kinds=(Block(attention, mlp, norms * vectors),),
        pattern=(0,),
        max_context=64,
        tied=True,
        source=SOURCE,
        final_norm=vectors,
        positions=64 if gpt else 0,
    )


def llama(**changes):
    sizes = {"heads": 6, "kv_heads": 2, "head_dim": 4, **changes}
    return LanguageModel(
        key="small",
        name="small",
        vocab=5,
        hidden=10,
        kinds=(Block(Attention(**sizes), Mlp(14)),),
        pattern=(0,),
        max_context=64,
        tied=True,
        source=SOURCE,
    )


def reference(model, given):
    """The same block by torch, whose kernels know nothing of ours."""
    w = {n: [torch.tensor(x) for x in some] for n, some in given.weights.items()}
    x = torch.tensor(given.x)
    a, mlp = model.kinds[0].attention, model.kinds[0].mlp
    tokens, there = len(x), len(given.keys)

    def norm(name, x):
        if name not in w:
            return x
        if len(w[name]) == 2:
            return F.layer_norm(x, x.shape[-1:], *w[name], eps=1e-5)
        return F.rms_norm(x, x.shape[-1:], *w[name], eps=1e-5)

    def project(name, x):
        matrix, *bias = w[name]
        return F.linear(x, matrix.T, *bias)

    def turned(name, x, heads):
        x = x if a.qk_norm == "full" else x.reshape(tokens, heads, a.head_dim)
        x = norm(f"norm {name}", x).reshape(tokens, heads, a.head_dim)
        if model.positions:
            return x
        first = there - tokens
        powers = torch.arange(0, a.head_dim, 2, dtype=torch.float64) / a.head_dim
        at = torch.arange(first, there, dtype=torch.float64)
        wave = torch.exp(1j * at[:, None] / 10_000.0**powers)[:, None]
        pairs = torch.complex(*x.split(a.head_dim // 2, dim=-1)) * wave
        return torch.cat([pairs.real, pairs.imag], -1)

    h = norm("attention norm", x)
    q = turned("q", project("q", h), a.heads)
    k = turned("k", project("k", h), a.kv_heads)
    v = project("v", h).reshape(tokens, a.kv_heads, a.head_dim)
    keys, values = torch.tensor(given.keys), torch.tensor(given.values)
    keys[-tokens:], values[-tokens:] = k, v
    age = torch.arange(there - tokens, there)[:, None] - torch.arange(there)
    seen = (age >= 0) & (age < (a.window or there))
    out = (
        F.scaled_dot_product_attention(
            q.transpose(0, 1)[None],
            keys.transpose(0, 1)[None],
            values.transpose(0, 1)[None],
            attn_mask=seen,
            enable_gqa=True,
        )[0]
        .transpose(0, 1)
        .reshape(tokens, -1)
    )
    x = x + norm("norm after attention", project("o", out))
    h = norm("MLP norm", x)
    if mlp.gated:
        h = F.silu(project("gate", h)) * project("up", h)
    else:
        h = F.gelu(project("up", h), approximate="tanh")
    return (x + norm("norm after MLP", project("down", h))).numpy()


@given(
    small_models(),
    st.integers(1, 6),
    st.integers(0, 6),
    st.sampled_from([*steps.RULES]),
)
@settings(deadline=None, max_examples=60)
def test_three_ways_agree(model, tokens, context, rule):
    """Prefill, decode and chunks; every rule; every operation, exactly."""
    counted = numpy_block.count_block(model, tokens, context, rule=rule)
    closed = operations.block_operations(model, tokens, context, rule=rule)
    assert [w.name for w in counted.works] == [op.name for op in closed]
    for ran, formula in zip(counted.works, closed, strict=True):
        assert ran.operations.si == formula.operations.si, ran.name
        assert ran.bytes.si == formula.bytes.si, ran.name
    given = numpy_block.random_inputs(model, tokens, context)
    np.testing.assert_allclose(
        counted.output, reference(model, given), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("rule", ["fused", "steps"])
def test_plain_arrays_give_what_counting_arrays_give(rule):
    model = llama()
    given = numpy_block.random_inputs(model, 4, 3)
    plain = numpy_block.run_block(model, given, rule=rule)
    counted = numpy_block.count_block(model, 4, 3, rule=rule)
    assert type(plain) is np.ndarray
    np.testing.assert_array_equal(plain, counted.output)
    np.testing.assert_array_equal(given.keys, counted.given.keys)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([*steps.RULES]))
@settings(deadline=None)
def test_standalone_operations_three_ways(rows, columns, rule):
    x = np.random.default_rng(rows).standard_normal((rows, columns))
    t = torch.tensor(x)
    scale, shift = t[0], t[-1]
    size, shape = {"elements": rows * columns}, {"rows": rows, "columns": columns}
    logits = {"tokens": rows, "vocab": columns}
    target = np.arange(rows) % columns
    how = {"rule": rule}
    cases = [
        (numpy_block.softmax, (x,), operations.softmax(**shape, **how), t.softmax(-1)),
        (numpy_block.gelu, (x,), operations.gelu(**size, **how),
         F.gelu(t, approximate="tanh")),
        (lambda x: x / (1 + np.exp(-x)), (x,), operations.silu(**size, **how),
         F.silu(t)),
        (numpy_block.swiglu, (x, -x), operations.swiglu(**size, **how),
         F.silu(t) * -t),
        (np.add, (x, x), operations.residual_add(**size, **how), 2 * t),
        (numpy_block.rms_norm, (x, x[0]), operations.rms_norm(**shape, **how),
         F.rms_norm(t, t.shape[-1:], scale, 1e-5)),
        (numpy_block.layer_norm, (x, x[0], x[-1]),
         operations.layer_norm(**shape, **how),
         F.layer_norm(t, t.shape[-1:], scale, shift, 1e-5)),
        (lambda x: loss(x, target), (x,), operations.cross_entropy(**logits, **how),
         F.cross_entropy(t, torch.tensor(target), reduction="none")),
    ]  # fmt: skip
    for function, arrays, closed, right in cases:
        tally, result = trace.count(function, *arrays)
        ran = tally.work(closed.name, "bf16", rule)
        assert ran.operations.si == closed.operations.si, closed.name
        assert ran.bytes.si == closed.bytes.si, closed.name
        np.testing.assert_allclose(result, right.numpy(), rtol=1e-9, atol=1e-11)


def loss(x, target):
    """Cross-entropy of each row."""
    shifted = x - x.max(-1, keepdims=True)
    largest = np.log(np.exp(shifted).sum(-1))
    return largest - shifted[np.arange(len(target)), target]


@pytest.mark.parametrize(("tokens", "hidden"), [(1, 4), (3, 5)])
def test_an_embedding_copies_a_row_a_token(tokens, hidden):
    table = np.arange(50.0 * hidden).reshape(50, hidden)
    rows = np.arange(tokens) * 7
    tally, result = trace.count(lambda t: t[rows], table)
    closed = operations.embedding(tokens=tokens, hidden=hidden)
    ids = 4 * tokens  # the token numbers themselves are no array of the tape
    assert tally.work("embedding", "bf16", "fused").bytes.si == closed.bytes.si - ids
    assert closed.operations.si == 0
    np.testing.assert_array_equal(result, table[rows])


@pytest.mark.parametrize("shape", [(1, 1), (3, 5)])
def test_a_transpose_moves_each_number_twice(shape):
    x = np.random.default_rng(0).standard_normal(shape)

    def copy(a):
        return a.T[np.arange(shape[1])]

    tally, result = trace.count(copy, x)
    closed = operations.transpose(rows=shape[0], columns=shape[1])
    assert tally.work("transpose", "bf16", "fused").bytes.si == closed.bytes.si
    np.testing.assert_array_equal(result, x.T)


# -- planted faults: each is seen by the test above that should see it ---------------

FAULTS = [
    ("norm forgets its scale", "rms_norm", lambda x, scale: x / np.sqrt(
        (x * x).sum(-1, keepdims=True) / x.shape[-1] + 1e-5)),
    ("softmax without the largest", "softmax",
     lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    ("gate added, not multiplied", "swiglu",
     lambda gate, up: gate / (1 + np.exp(-gate)) + up),
    ("rotary turns the other way", "rotary",
     lambda x, cosine, sine, out, _right=numpy_block.rotary:
         _right(x, cosine, -sine, out)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "name", "faulty"), FAULTS)
def test_a_planted_fault_is_seen(monkeypatch, what, name, faulty):
    model = llama()
    monkeypatch.setattr(numpy_block, name, faulty)
    counted = numpy_block.count_block(model, 3, 2)
    closed = operations.block_operations(model, 3, 2)
    given = numpy_block.random_inputs(model, 3, 2)
    same = all(
        ran.operations.si == op.operations.si and ran.bytes.si == op.bytes.si
        for ran, op in zip(counted.works, closed, strict=True)
    )
    right = np.allclose(counted.output, reference(model, given), rtol=1e-9)
    assert not (same and right), what


def test_an_unmasked_prompt_is_seen():
    model = llama()
    given = numpy_block.random_inputs(model, 4)
    right = reference(model, given)
    given.mask[:] = 0
    wrong = numpy_block.run_block(model, given, rule="steps")
    assert not np.allclose(wrong, right)


def test_one_head_for_all_is_another_count():
    grouped = operations.block_operations(llama(), 3)
    every = operations.block_operations(llama(kv_heads=6), 3)
    assert operations.total(grouped).bytes.si < operations.total(every).bytes.si
    counted = numpy_block.count_block(llama(), 3).works
    assert counted[2].operations.si == grouped[2].operations.si
    assert counted[2].operations.si != every[2].operations.si


# -- the tape itself ---------------------------------------------------------------


def test_a_number_used_twice_is_read_once():
    tally, _ = trace.count(lambda x: x * x, np.ones(6))
    assert (tally.step_reads, tally.reads, tally.writes) == (6, 6, 6)


def test_what_stays_inside_an_operation_is_not_stored():
    tally, _ = trace.count(lambda x: np.exp(x) + 1, np.ones(6))
    assert (tally.step_writes, tally.writes) == (12, 6)
    assert (tally.simple, tally.special) == (6, 6)


def test_what_a_later_operation_reads_was_stored_once():
    tape = trace.Tape()
    x = tape.array(np.ones(6))
    with tape("first"):
        y = x + 1
    with tape("second"):
        tape.keep(y[:2] * 2)
    with tape("third"):
        tape.keep(y[1:4] * 2)
    assert tape.tallies["first"].writes == 4  # 0 and 1, then 2 and 3


def test_a_repeated_axis_is_one_read():
    def function(x):
        return np.broadcast_to(x, (5, 6), subok=True) + 1

    tally, _ = trace.count(function, np.ones(6))
    assert (tally.reads, tally.simple, tally.writes) == (6, 30, 30)


def test_a_product_counts_its_multiply_adds():
    tally, _ = trace.count(np.matmul, np.ones((2, 3, 4)), np.ones((4, 5)))
    assert tally.macs == 2 * 3 * 4 * 5
    assert tally.reads == 24 + 20


REFUSED = [
    lambda x: np.einsum("ij->ji", x),
    lambda x: np.concatenate([x, x]),
    lambda x: np.where(x > 0, x, 0),
    lambda x: np.add.accumulate(x),
    lambda x: np.add(x, 1, where=x > 0),
    lambda x: x.T.reshape(-1),
    lambda x: x.copy(),
    lambda x: x.dot(x.T),
    lambda x: np.linalg.norm(x),
    lambda x: np.divmod(x, 2)[0],
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: np.asarray(x) + 1,
]


@pytest.mark.rows("function", REFUSED)
def test_what_cannot_be_counted_is_refused(function):
    with pytest.raises(trace.NotCounted, match="not counted"):
        trace.count(function, np.ones((3, 4)))


def test_assignment_and_steps_without_a_name_are_refused():
    tape = trace.Tape()
    x = tape.array(np.ones(3))
    with pytest.raises(trace.NotCounted, match="out="), tape("all"):
        x[0] = 1
    with pytest.raises(trace.NotCounted, match="name it"):
        x + 1


test_bad_input_raises = refusals(
    ({"tokens": 0}, "tokens = 0"),
    ({"tokens": 1, "context": -1}, "context = -1"),
    ({"tokens": 1, "layer": 1}, "layer = 1"),
    ({"tokens": 1, "rule": "quick"}, "counting rule"),
    ({"tokens": 1, "dtype": "f16x"}, "number format"),
    by=lambda change: numpy_block.count_block(llama(), **change),
    error=(ValueError, LookupError),
)


def test_norms_that_cannot_be_told_apart_are_refused():
    one = replace(llama(), kinds=(replace(llama().kinds[0], norms=1),))
    with pytest.raises(ValueError, match="1 norm vectors"):
        numpy_block.count_block(one, 1)
    assert math.isfinite(numpy_block.count_block(llama(), 1).output.sum())


@given(small_models(), st.integers(1, 6), st.integers(0, 6))
@settings(deadline=None, max_examples=15)
def test_pytorch_counts_the_same_products(model, tokens, context):
    """PyTorch's own counter, on PyTorch's block: two FLOP a multiply-add, no mask."""
    a = model.kinds[0].attention
    model = replace(
        model, kinds=(replace(model.kinds[0], attention=replace(a, window=0)),)
    )
    rule = replace(steps.RULES["kernels"], simple=0.0, special=0.0)
    ours = operations.total(
        operations.block_operations(model, tokens, context, rule=rule)
    )
    given = numpy_block.random_inputs(model, tokens, context)
    # in steps: the counter does not know the fused attention of a CPU
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        reference(model, given)
    assert counter.get_total_flops() == ours.operations.si
