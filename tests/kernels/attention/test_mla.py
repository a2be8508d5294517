"""The latent cache: what it holds against others, what is read, what it takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.kernels.attention import mla
from stacklib.kernels.attention.mla_decode import LatentHeads, absorbed, expanded


def given_heads(seed, heads, nope, rope, latent, wide, keys):
    rng = np.random.default_rng(seed)
    shapes = (heads, nope), (heads, rope), (keys, latent + rope)
    ups = (heads, nope, latent), (heads, wide, latent)
    return LatentHeads(*(rng.standard_normal(shape) for shape in (*shapes, *ups)))


@settings(max_examples=40, deadline=None)
@given(*[st.integers(1, n) for n in (999, 6, 12, 6, 20, 9, 70, 40)])
def test_absorbed_equals_expanded_and_reads_every_column_once(
    seed, heads, nope, rope, latent, wide, keys, tile
):
    case = given_heads(seed, heads, nope, rope, latent, wide, keys)
    out, read = absorbed(case, tile)
    assert np.allclose(out, expanded(case), rtol=1e-10, atol=1e-10)
    assert read == keys * (latent + rope) * 8


def test_scaling_by_the_size_of_the_latent_is_seen(monkeypatch):
    """A planted fault: 576 columns are multiplied, and 192 decide the scale."""
    case = given_heads(1, 4, 8, 4, 32, 8, 20)
    right = expanded(case)
    monkeypatch.setattr(LatentHeads, "scale", property(lambda _: 36**-0.5))
    assert not np.allclose(absorbed(case)[0], right, rtol=1e-3)


def test_the_work_is_what_the_decode_does_and_576_columns_are_read():
    work = mla.latent_decode(keys=4096, batch=128)
    # 128 heads x (576 + 512) multiply-adds a token; 576 numbers of two bytes a token.
    assert work.operations.si == 2 * 128 * 4096 * 128 * (576 + 512)
    cache = 128 * 4096 * 576 * 2
    assert work.bytes.si == cache + 128 * 128 * (576 + 512) * 2
    a = models.get("deepseek-v3").attention
    assert work.operations.si == 128 * 2 * sum(a.score_macs(4096, True).values())
    assert cache == 128 * 2 * a.read(4096)
    assert mla.Latent.of("deepseek-v3").columns.si == 576


def test_bytes_by_kind():
    found = {kind: q.si for kind, q in mla.bytes_by_kind().items()}
    assert found == {"MHA": 65536, "GQA": 4096, "MQA": 512, "MLA": 1152}
    assert mla.bytes_by_kind(groups=16)["GQA"].si == 8192
    per_token = models.get("deepseek-v3").kv_bytes_per_token("bf16").si
    assert found["MLA"] * 61 == per_token


def test_published_shares_and_what_they_are_shares_of():
    assert mla.share_of_67b().si == pytest.approx(0.067, abs=5e-4)
    assert 1 / mla.share_of_67b().si == pytest.approx(15, rel=0.01)
    assert mla.share_of_own().si == pytest.approx(0.0176, abs=5e-5)


def test_the_published_speed_on_an_h800():
    found = mla.flash_mla_time(keys=4096, batch=128)
    assert found.share_of_bandwidth.si == pytest.approx(3000 / 3350)
    assert found.limits.bound == "memory" and found.limits.time < found.time
    assert mla.flash_mla_time(keys=4096, batch=128, queries=2).limits.bound == "compute"
    # Who counts 512 columns is told a bandwidth of 2,667 for 3,000 GB/s.
    assert 3000 * 512 / 576 == pytest.approx(2667, rel=1e-3)


def test_what_makes_no_sense_is_named():
    with pytest.raises(ValueError, match="a model with MLA is needed"):
        mla.bytes_by_kind("llama-3-70b")
    with pytest.raises(ValueError, match="groups = 3 do not divide 128 heads"):
        mla.bytes_by_kind(groups=3)
    with pytest.raises(ValueError, match="keys = 0"):
        mla.latent_decode(keys=0)
    case = given_heads(1, 2, 3, 4, 5, 6, 7)
    for columns, keys in ((2, 9), (9, 0)):
        rope, cache = case.q_rope[:, :columns], case.cache[:keys]
        with pytest.raises(ValueError, match="sizes must agree, and none be 0"):
            LatentHeads(case.q, rope, cache, case.w_k, case.w_v)
    with pytest.raises(ValueError, match="tile = 0"):
        absorbed(case, 0)
