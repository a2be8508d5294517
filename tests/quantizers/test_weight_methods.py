"""GPTQ, AWQ, SmoothQuant and the split by size: what each promises, on any layer."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.quantizers import (
    SCHEMES,
    awq,
    dequantize,
    gptq,
    hessian,
    outlier_split,
    pack,
    quantize,
    smoothquant,
    unpack,
)
from stacklib.quantizers.column_rounding import _elements, _factor
from stacklib.quantizers.weight_methods import layer_error

APART = ("int8_tensor", "fp8_128x128", "nf4_dq", "nvfp4")
ROWWISE = [name for name in SCHEMES if name not in APART]


def layer(seed: int, out: int = 12, inputs: int = 160, samples: int = 400):
    """Weights, and inputs whose channels hang together and differ in size."""
    rng = np.random.default_rng(seed)
    mix = rng.standard_normal((inputs, inputs)) * np.exp(rng.standard_normal(inputs))
    x = rng.standard_normal((samples, inputs)) @ mix / math.sqrt(inputs)
    return rng.standard_normal((out, inputs)), x


def error(w, q, h) -> float:
    return layer_error(w, dequantize(q), h)


@pytest.mark.rows("name", ROWWISE)
def test_gptq_is_never_worse_than_rounding(name: str):
    for seed in range(3):
        w, x = layer(seed)
        h = hessian(x)
        plain = error(w, quantize(w, name), h)
        ways = [{}, {"static_groups": True}, {"act_order": True, "static_groups": True}]
        for way in ways:
            q = gptq(w, h, name, **way)
            assert error(w, q, h) <= plain * (1 + 1e-9)
            back = unpack(pack(q), name, w.shape)
            assert np.array_equal(dequantize(back), dequantize(q))
        assert error(w, gptq(w, h, name), h) < 0.9 * plain  # and mostly far better


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 70))
def test_on_any_small_layer(seed: int, inputs: int, samples: int):
    w, x = layer(seed, 3, inputs, samples)
    h = hessian(x)
    for name in ("int4_g128", "mxfp4"):
        q = gptq(w, h, name, damp=0.02)
        assert error(w, q, h) <= error(w, quantize(w, name), h) * (1 + 1e-9)


# ggml rounds with the scale before it is stored in fp16: a code in a thousand differs
EXACT = [name for name in ROWWISE if SCHEMES[name].family != "ggml"]


@pytest.mark.rows("name", EXACT)
def test_with_a_diagonal_hessian_it_is_rounding(name: str):
    w = np.random.default_rng(4).standard_normal((6, 300)).astype(np.float32)
    d = np.diag(np.random.default_rng(5).random(300) + 0.1)
    found, plain = dequantize(gptq(w, d, name)), dequantize(quantize(w, name))
    assert (found != plain).mean() < 2e-3  # half ways by another order of operations


def test_how_columns_are_cut_changes_nothing():
    w, x = layer(7)
    h = hessian(x)
    found = [dequantize(gptq(w, h, "int4_g128", block=b)) for b in (1, 32, 128, 500)]
    for other in found[1:]:
        assert np.array_equal(other, found[0])


@pytest.mark.rows("seed", range(6))
def test_two_columns_by_trying_every_pair(seed: int):
    """The second column is the best there is, given the first."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((4, 2))
    x = rng.standard_normal((50, 2)) @ np.array([[1, 0.9], [0, 0.3]])
    h = hessian(x)
    q = gptq(w, h, "int4_g128", damp=0.0, static_groups=True)
    found, scales = dequantize(q), q.scales.astype(float)
    for row in range(4):
        numbers = scales[row, 0] * _elements(SCHEMES["int4_g128"])[0]

        def cost(a: float, b: float, row: int = row) -> float:
            gap = w[row] - [a, b]
            return float(gap @ h @ gap)

        best = min(itertools.product(numbers, numbers), key=lambda p: cost(*p))
        mine = cost(*found[row])
        assert cost(*best) <= mine + 1e-9
        plain = cost(*dequantize(quantize(w, "int4_g128"))[row])
        given_first = min(cost(float(found[row, 0]), b) for b in numbers)
        assert mine <= min(given_first, plain) + 1e-6


def test_largest_inputs_first():
    w, x = layer(9, inputs=256)
    h = hessian(x)
    free = gptq(w, h, "int4_g128", act_order=True)
    assert error(w, free, h) < error(w, gptq(w, h, "int4_g128"), h)
    assert free.nbytes == quantize(w, "int4_g128").nbytes + 4 * 256
    with pytest.raises(ValueError, match="static_groups=True"):
        pack(free)


def test_hessians_are_running_means():
    x = np.random.default_rng(0).standard_normal((90, 7))
    whole = hessian(x)
    assert np.allclose(whole, 2 * x.T @ x / 90)
    assert np.allclose(hessian([x[:10], x[10:11], x[11:]]), whole)
    assert np.allclose(hessian(x.reshape(9, 10, 7)), whole)


def test_layers_come_as_tensors_too():
    """bf16, and with their gradients; a matrix of inputs is one batch."""
    torch = pytest.importorskip("torch")
    w, x = layer(1)
    rough = torch.nn.Parameter(torch.from_numpy(w).bfloat16())
    inputs = torch.from_numpy(x).bfloat16()
    plain, seen = rough.detach().double().numpy(), inputs.double().numpy()
    assert np.array_equal(hessian(inputs), hessian(seen))
    ours, theirs = (
        gptq(rough, hessian(inputs), "q8_0"),
        gptq(plain, hessian(seen), "q8_0"),
    )
    assert np.array_equal(ours.codes, theirs.codes)
    assert awq(rough, inputs, "nf4").losses == awq(plain, seen, "nf4").losses
    assert np.array_equal(
        smoothquant(rough, inputs).scales, smoothquant(plain, seen).scales
    )


@pytest.mark.rows("name", ["int4_g128", "nf4", "q4_k"])
def test_awq_scales_what_sees_large_inputs(name: str):
    w, x = layer(11)
    x[:, 3] *= 50
    found = awq(w, x, name)
    h = hessian(x)
    plain = layer_error(w, dequantize(quantize(w, name)), h)
    assert found.losses[0.0] == pytest.approx(plain, rel=1e-6)
    assert found.losses[found.alpha] == min(found.losses.values()) < 0.7 * plain
    assert layer_error(w, found.weights, h) == pytest.approx(
        found.losses[found.alpha], rel=1e-6
    )
    assert found.scales.argmax() == 3 and found.quantized.bits == quantize(w, name).bits
    same = awq(w, x[None], name, alphas=iter((0.0,)))  # a batch, as for the Hessian
    assert np.array_equal(same.weights, dequantize(quantize(w, name)))


def test_awq_leaves_out_what_no_scale_holds():
    """One input of 1e30 refused the search, though plain rounding was among it."""
    w, x = layer(8, 8, 256)
    x[:, 3] = 1e30
    assert awq(w, x, "int4_g128").losses.keys() >= {0.0}
    with pytest.raises(ValueError, match="more than fp16 holds"):
        awq(w, x, "int4_g128", alphas=(0.9,))
    for wrong in ((), (0.5, np.nan)):
        with pytest.raises(ValueError, match="alphas="):
            awq(w, x, "int4_g128", alphas=wrong)


@pytest.mark.rows("alpha", [0, 0.3, 0.5, 1])
def test_smoothing_leaves_the_product(alpha: float):
    w, x = layer(12)
    x[:, 9] *= 100
    found = smoothquant(w, x, alpha)
    assert np.allclose(found.activations @ found.weights.T, x @ w.T, rtol=1e-9)
    before, after = np.abs(x).max(0), np.abs(found.activations).max(0)
    if alpha >= 0.5:
        assert after.max() / np.median(after) < before.max() / np.median(before)


@pytest.mark.rows("share", [0, 0.005, 0.1, 1])
def test_what_is_split_joins_again(share: float):
    w = np.random.default_rng(13).standard_t(2, (40, 50)).astype(np.float32)
    found = outlier_split(w, share)
    assert np.array_equal(found.joined(found.dense), w)
    assert found.values.size == round(share * w.size)
    if 0 < share < 1:
        assert np.abs(found.values).min() >= np.abs(found.dense).max()
        whole = np.square(dequantize(quantize(w, "int4_g128")) - w).sum()
        split = found.joined(dequantize(quantize(found.dense, "int4_g128")))
        assert np.square(split - w).sum() < whole
        assert found.sparse_bytes == 4 * found.values.size + 4 * 41


def test_bad_layers_are_refused():
    w, x = layer(14, inputs=20)
    h = hessian(x)
    with pytest.raises(ValueError, match="no samples"):
        hessian(np.zeros((0, 4)).reshape(0, 4)[:0].tolist())
    with pytest.raises(ValueError, match="no samples"):
        hessian([])
    with pytest.raises(ValueError, match="no samples"):
        awq(w, x[:0], "nf4")
    with pytest.raises(ValueError, match=r"nan at index \(2, 1\)"):
        bad = x.copy()
        bad[2, 1] = math.nan
        hessian(bad)
    with pytest.raises(ValueError, match="a batch of 3 inputs after 20"):
        hessian([x, np.ones((2, 3))])
    with pytest.raises(ValueError, match="for 20 inputs"):
        gptq(w, h[:3, :3], "nf4")
    with pytest.raises(ValueError, match="not symmetric"):
        gptq(w, h + np.triu(h, 1), "nf4")
    with pytest.raises(ValueError, match="more samples or more damp"):
        gptq(w, hessian(x[:3]), "nf4", damp=0)
    with pytest.raises(ValueError, match="shared by rows"):
        gptq(w, h, "nvfp4")
    for call in (
        lambda: smoothquant(w, x, 1.5),
        lambda: smoothquant(w, x[:, :3], 0.5),
        lambda: outlier_split(w, -0.1),
    ):
        with pytest.raises(ValueError, match=r"=|inputs"):
            call()
    with pytest.raises(TypeError, match="real numbers"):
        gptq(w.astype(complex), h, "nf4")


def test_the_order_is_that_of_the_diagonal_and_its_places_are_kept():
    w, x = layer(11, 4, 40)
    h = hessian(x)
    q = gptq(w, h, "int4_g128", act_order=True)
    assert q.levels["order"].tolist() == sorted(range(40), key=lambda i: -h[i, i])
    for act_order in (False, True):  # with scales of the weights as they came
        way = {"act_order": act_order, "static_groups": True}
        assert "order" not in gptq(w, h, "int4_g128", **way).levels
    assert "order" not in gptq(w, h, "int4_g128").levels
    # equal inputs stay in the order in which they came
    same = gptq(w, np.eye(40), "int4_g128", act_order=True)
    assert same.levels["order"].tolist() == list(range(40))


def test_damp_is_a_share_of_the_mean_of_the_diagonal():
    """With as much as that, the Hessian that columns see is half a plain one."""
    w, x = layer(12, 6, 24)
    h = hessian(x)
    mean = np.diag(h).mean()
    for damp in (0.0, 0.01, 1.0):
        lower = np.linalg.cholesky(np.linalg.inv(h + damp * mean * np.eye(24)))
        assert np.allclose(_factor(h, damp), lower.T, rtol=1e-9)
        gptq(w, h, "int4_g128", damp=damp)
    for wrong in ({"damp": -0.01}, {"damp": 1.01}, {"block": 0}, {"block": 1.5}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} ?="):
            gptq(w, h, "int4_g128", **wrong)
    assert gptq(w, h, "int4_g128", block=1).shape == (6, 24)
    with pytest.raises(ValueError, match="on the diagonal at 3"):
        gptq(w, h - np.diag(2 * np.diag(h) * (np.arange(24) == 3)), "int4_g128")


def test_an_input_that_never_came_leaves_the_others_as_they_were():
    w, x = layer(13, 5, 30)
    keep = np.arange(30) != 7
    x[:, 7] = 0
    h = hessian(x)
    found = dequantize(gptq(w, h, "int4_g128", damp=0.0))
    alone = dequantize(gptq(w[:, keep], h[np.ix_(keep, keep)], "int4_g128", damp=0.0))
    assert not found[:, 7].any() and np.array_equal(found[:, keep], alone)
