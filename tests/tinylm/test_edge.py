"""The model in INT8: scale and zero point, whole sums, and the same in onnxruntime."""

import dataclasses
import json
import math

import numpy as np
import pytest
from _tools import tree
from hypothesis import given
from hypothesis import strategies as st

from stacklib.tinylm import KVCache, load
from stacklib.tinylm.low_precision import edge
from stacklib.tinylm.quantized import with_outliers

TEXT = "The memory of a GPU is read once for every token, and so the time of a token is"
EDGE = "the model in onnxruntime: not run (the extra edge is not installed)"
RESULT, PREDICTION = (
    json.loads((tree.ROOT / "benchmarks" / folder / "edge.json").read_text())
    for folder in ("results", "predictions")
)


@pytest.fixture(scope="module")
def whole():
    return edge.calibrated(load(), [TEXT])


ends = st.floats(-1e4, 1e4, width=32)


@given(ends, ends)
def test_zero_has_a_code_and_the_range_half_a_step(one, other):
    low, high = sorted((one, other))
    scale, zero = edge.affine(low, high)
    product = edge.Product(np.eye(1, dtype=np.int8), np.ones(1, "f4"), scale, zero)
    x = np.linspace(min(low, 0), max(high, 0), 9, dtype=np.float32)
    back = scale * (product.rounded(x).astype(np.float32) - zero)
    assert 0 <= zero <= 255 and scale > 0
    assert np.abs(back - x).max() <= scale * 1.001
    assert product.rounded(np.zeros(1, "f4")) == zero


@pytest.mark.parametrize("range_", [(1, 0), (math.nan, 1), (0, math.inf), (True, None)])
def test_ranges_that_are_none(range_):
    with pytest.raises((ValueError, TypeError)):
        edge.affine(*range_)


def test_sums_are_those_of_whole_numbers(whole):
    random = np.random.default_rng(0)
    for product in edge.products(whole).values():
        codes = random.integers(0, 256, (3, product.codes.shape[1]), dtype=np.uint8)
        want = (codes.astype(np.int64) - product.zero) @ product.codes.T.astype(int)
        assert (product.sums(codes) == want).all()
        beyond = product.scale * np.float32(1e3) * np.array([-1, 1], "f4")
        assert product.rounded(beyond).tolist() == [0, 255]


def test_large_channels_cost_what_a_scale_a_tensor_cannot_hold(whole):
    ids = load().tokenizer.encode(TEXT)
    true = load().logits(ids)
    spoiled = edge.calibrated(with_outliers(load()), [TEXT]).logits(ids)
    off = [np.abs(found - true).mean() for found in (whole.logits(ids), spoiled)]
    assert 0 < off[0] < 0.2 * true.std() and off[1] > 3 * off[0]
    with pytest.raises(ValueError, match="no texts"):
        edge.calibrated(load(), [])


def test_the_file_reads_as_the_model_does(whole):
    onnx = pytest.importorskip("stacklib.tinylm.low_precision.edge_onnx", reason=EDGE)
    ids = load().tokenizer.encode(TEXT)
    for model in (load(), whole):
        session = onnx.Session(onnx.exported(model), onnx.shown(model))
        logits, seen = session.step(ids)
        assert np.abs(logits - model.logits(ids)).max() < 0.5
        for key, product in edge.products(model).items():
            name = onnx.name_of(key)
            mine = product.sums(seen[f"{name}.codes"])
            assert (mine == seen[f"{name}.sums"]).all()
            wrong = dataclasses.replace(product, zero=product.zero ^ 1)
            assert (wrong.sums(seen[f"{name}.codes"]) != mine).any()
        cache = KVCache(model.config)
        session.clear()
        for each in ids:
            step, _ = session.step([each])
            assert step.argmax() == model.logits([each], cache).argmax()


def test_the_stored_run_keeps_to_what_was_told():
    same = RESULT["equal"]
    assert same["sums_equal"] == same["sums"] and same["first_equal"] == same["tokens"]
    assert same["codes_equal"] >= 0.999 * same["codes"]
    for kind, told in PREDICTION["texts"].items():
        assert RESULT["texts"][kind] == pytest.approx(told, rel=1e-3)
    assert {"onnx", "onnxruntime"} <= {*RESULT["versions"]}
