"""The decoder: NumPy equals torch, a cache changes nothing, the future is not seen."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stacklib.tinylm import Config, KVCache
from stacklib.tinylm.decode_step import calls_of_step
from stacklib.tinylm.forward import forward, log_softmax, silu
from stacklib.tinylm.model_torch import Decoder

SHAPES = [(1, 1, 4), (2, 1, 8), (4, 2, 8), (4, 4, 6), (6, 3, 2), (8, 2, 16)]


def config(heads: int, shared: int, size: int, layers: int = 2) -> Config:
    """A decoder of given heads."""
    return Config(2048, 24, 40, layers, heads, shared, size, 48, 1e-5, 10000.0)


def torch_logits(model, ids) -> np.ndarray:
    """The same weights through torch."""
    decoder = Decoder(model.config)
    decoder.assign(model.weights)
    with torch.no_grad():
        return decoder(torch.as_tensor(np.asarray(ids))[None])[0].numpy()


@pytest.mark.rows(("heads", "shared", "size"), SHAPES)
@pytest.mark.rows("tokens", [1, 2, 17, 48])
def test_numpy_equals_torch(build, heads, shared, size, tokens):
    model = build(config(heads, shared, size), seed=tokens)
    ids = np.random.default_rng(tokens).integers(0, 2048, tokens)
    ours, theirs = model.logits(ids), torch_logits(model, ids)
    assert ours.dtype == np.float32 and ours.shape == (tokens, 2048)
    assert np.abs(ours - theirs).max() < 2e-5 * np.abs(theirs).max()


@given(
    cuts=st.lists(st.integers(1, 12), min_size=1, max_size=6), seed=st.integers(0, 9)
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_cache_changes_nothing_however_the_text_is_cut(build, cuts, seed):
    model = build(config(4, 2, 8), seed=seed)
    total = min(sum(cuts), 48)
    ids = np.random.default_rng(seed).integers(0, 2048, total)
    whole = model.logits(ids)
    cache, parts, at = KVCache(model.config), [], 0
    for cut in cuts:
        if at < total:
            parts.append(model.logits(ids[at : at + cut], cache))
            at += cut
    assert cache.length == total
    cached = np.concatenate(parts)
    assert np.abs(cached - whole).max() < 2e-5 * np.abs(whole).max()
    assert np.array_equal(cached.argmax(axis=1), whole.argmax(axis=1))


def test_tokens_do_not_see_the_future(small):
    ids = np.arange(20) * 7
    before = small.logits(ids)
    changed = ids.copy()
    changed[12:] = 5
    assert np.array_equal(small.logits(changed)[:12], before[:12])
    assert not np.array_equal(small.logits(changed)[12:], before[12:])


def test_positions_matter_only_by_their_distance(small):
    # Rotary positions: the same text after other text differs, at an offset it agrees.
    cache = KVCache(small.config)
    cache.length = 10  # zeros stand before, and take their share of the softmax
    keys = small.logits([3, 4, 5], KVCache(small.config))
    assert not np.allclose(keys, small.logits([3, 4, 5], cache))


def test_the_last_row_alone_is_the_last_row(small):
    ids = [5, 6, 7, 8]
    last, whole = small.logits(ids, last_only=True), small.logits(ids)
    assert last.shape == (1, 2048)
    assert np.allclose(last[0], whole[-1], atol=1e-6 * np.abs(whole).max())


def test_forgetting_is_as_if_it_had_not_been_read(small):
    cache = KVCache(small.config)
    small.logits([1, 2, 3], cache)
    first = small.logits([9], cache)
    cache.truncate(3)
    assert np.array_equal(small.logits([9], cache), first)
    cache.truncate(1)
    fresh = KVCache(small.config)
    small.logits([1], fresh)
    assert np.allclose(small.logits([9], cache), small.logits([9], fresh), atol=1e-6)
    for bad in (-1, 99):
        with pytest.raises(ValueError, match=f"length = {bad}"):
            cache.truncate(bad)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "a row of whole numbers"),
        ([[1, 2]], "a row of whole numbers"),
        ([1.5], "a row of whole numbers"),
        ([2048], "id 2048 is outside 0 to 2047"),
        ([3, -1], "id -1 is outside"),
        ([1] * 65, r"0 \+ 65 tokens do not fit"),
    ],
)
def test_unreadable_ids_are_named(small, ids, message):
    with pytest.raises(ValueError, match=message):
        small.logits(ids)


def test_a_full_cache_refuses_the_next_token(small):
    cache = KVCache(small.config)
    small.logits([1] * 64, cache)
    with pytest.raises(ValueError, match=r"64 \+ 1 tokens do not fit a context of 64"):
        small.logits([1], cache)
    assert cache.length == 64


def test_silu_is_quiet_at_the_ends():
    x = np.array([-200, -1, 0, 1, 200], dtype=np.float32)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        y = silu(x)
    theirs = torch.nn.functional.silu(torch.from_numpy(x)).numpy()
    assert np.allclose(y, theirs, atol=1e-7)


def test_log_softmax_survives_large_logits():
    p = np.exp(log_softmax(np.array([[1000.0, 0.0], [3.0, 3.0]], dtype=np.float32)))
    assert np.allclose(p, [[1, 0], [0.5, 0.5]])


class Counting(np.ndarray):
    """An array that counts the NumPy calls made with it."""

    calls = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        Counting.calls += 1
        plain = [np.asarray(each) for each in inputs]
        kwargs["out"] = None  # a sum over a view may want to write in place
        out = getattr(ufunc, method)(*plain, **kwargs)
        return np.asarray(out).view(Counting)

    def __array_function__(self, func, types, args, kwargs):
        if func not in (np.split,):  # a view, not a pass over numbers
            Counting.calls += 1
        return super().__array_function__(func, types, args, kwargs)


def test_a_step_makes_the_calls_that_its_prediction_counts(small):
    weights = {name: value.view(Counting) for name, value in small.weights.items()}
    cache = KVCache(small.config)
    forward(weights, small.config, [1], cache)
    Counting.calls = 0
    forward(weights, small.config, [2], cache)
    assert Counting.calls == calls_of_step(small.config)
