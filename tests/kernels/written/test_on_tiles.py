"""The same kernels on the tile machine: bounds are looked at, and bytes counted.

Nothing here needs Triton: where it is missing, they stand on the machine's names.
"""

import subprocess
import sys

import numpy as np
import pytest

from stacklib.kernels.attention.naive import naive_attention
from stacklib.kernels.written import (
    decode_triton,
    flash_forward_triton,
    host_triton,
    matmul_triton,
    rows_triton,
    sampling_triton,
)

RNG = np.random.default_rng(4)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def far(got, wanted):
    return float(np.abs(got.astype(float) - wanted).max())


def test_softmax_reads_once_and_writes_once():
    x = normal(3, 200)
    with host_triton.on_tiles() as ran:
        got = rows_triton.softmax(x)
    asked = ran[0].report.traffic.asked
    assert asked == {"load": x.nbytes, "store": x.nbytes}
    powers = np.exp(x.astype(float) - x.max(1, keepdims=True))
    assert far(got, powers / powers.sum(1, keepdims=True)) < 1e-7


def test_layernorm_here_and_its_lanes_that_nobody_masked():
    x = np.tile(np.float32([0, 2]), 384)[None]
    one, zero = np.ones(768, np.float32), np.zeros(768, np.float32)
    with host_triton.on_tiles():
        right = rows_triton.layernorm(x, one, zero, 0.0)
        wrong = rows_triton.layernorm_unmasked(x, one, zero, 0.0)
    assert far(right, x - 1) == 0
    assert np.allclose(((x - 1) / wrong) ** 2, 1024 / 768, rtol=1e-5)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 17), (33, 50, 70)])
def test_ragged_matmul(m, n, k):
    a, b = normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16)
    with host_triton.on_tiles():
        got = matmul_triton.matmul(a, b, blocks=(16, 32, 32, 2))
    wanted = a.astype(float) @ b
    assert far(got, wanted) <= 2 * far((a @ b), wanted) + 1e-3


@pytest.mark.rows(("causal", "window"), [(False, None), (True, None), (True, 9)])
def test_ragged_attention(causal, window):
    q, k, v = normal(1, 2, 37, 20), normal(1, 1, 53, 20), normal(1, 1, 53, 20)
    with host_triton.on_tiles():
        got, _ = flash_forward_triton.forward_with_lse(
            q, k, v, causal, window, blocks=(16, 32)
        )
    asked = {"causal": causal, "window": window}
    wanted = naive_attention(q, k, v, **asked)
    naive = naive_attention(q, k, v, dtype=np.float32, **asked)
    assert far(got, wanted) <= 2 * far(naive, wanted)


def test_every_tile_of_queries_reads_all_keys():
    """Bytes of K and V before any cache: ceil(N / Br) times, and not once."""
    q, k, v = (normal(1, 1, 128, 32) for _ in "qkv")
    with host_triton.on_tiles() as ran:
        out, lse = flash_forward_triton.forward_with_lse(q, k, v, blocks=(32, 32))
    asked = ran[0].report.traffic.asked
    assert asked["load"] == q.nbytes + 4 * (k.nbytes + v.nbytes)
    assert asked["store"] == out.nbytes + lse.nbytes


def test_paged_decode_reads_only_the_pages_of_its_table():
    table, lengths = np.array([[3, 1, 0]], np.int32), np.array([19], np.int32)
    k, v, q = normal(4, 8, 1, 16), normal(4, 8, 1, 16), normal(1, 2, 16)
    k[2] = v[2] = np.nan  # a page of somebody else
    with host_triton.on_tiles():
        got = decode_triton.paged_decode(q, k, v, table, lengths, splits=2, block=16)
    own = [x[table[0]].reshape(1, 1, 24, 16)[:, :, :19] for x in (k, v)]
    wanted = naive_attention(q[:, :, None], *own)
    assert far(got, wanted[:, :, 0]) < 1e-2  # FP32 in TF32's place would be worse


def test_the_coldest_token_is_the_largest_logit():
    hidden, weights = normal(3, 40), normal(50, 40)
    with host_triton.on_tiles():
        asked = (hidden, weights, 0.0, 1)
        got = sampling_triton.flash_sampling(*asked, blocks=(16, 32, 32))
    assert (got == (hidden @ weights.T).argmax(1)).all()


def test_launches_go_back_to_triton_afterwards():
    with pytest.raises(ZeroDivisionError), host_triton.on_tiles():
        raise ZeroDivisionError
    assert host_triton.Elsewhere.go is None


ONE = normal(4, 8)


@pytest.mark.rows(
    ("call", "error", "says"),
    [
        (lambda: rows_triton.add(ONE, normal(4, 9)), ValueError, r"\(4, 8\).*\(4, 9\)"),
        (lambda: rows_triton.add(ONE, ONE.astype(np.float16)), TypeError, "one format"),
        (lambda: rows_triton.softmax(ONE.astype(float)), TypeError, "float64"),
        (lambda: rows_triton.softmax(ONE, block=4), ValueError, "does not fit"),
        (lambda: rows_triton.softmax(ONE, block=12), ValueError, "power of two"),
        (lambda: rows_triton.softmax(ONE[:0]), ValueError, "empty"),
        (lambda: rows_triton.rmsnorm(ONE, ONE[0, :5]), ValueError, "weight"),
        (lambda: matmul_triton.matmul(ONE, ONE), ValueError, "K of b is 4, not 8"),
        (lambda: attention(heads=3, kv_heads=2), ValueError, "3 query heads"),
        (lambda: attention(dim=257), ValueError, "at most 256"),
        (lambda: attention(window=0), ValueError, "window = 0"),
        (lambda: attention(scale=-1.0), ValueError, "scale = -1.0"),
        (lambda: attention(blocks=(24, 32)), ValueError, "blocks = 24"),
        (lambda: sample(-1.0, 1), ValueError, "temperature"),
        (lambda: sample(1.0, -1), ValueError, "seed"),
    ],
)
def test_bad_input_is_named(call, error, says):
    with host_triton.on_tiles(), pytest.raises(error, match=says):
        call()


def attention(heads=2, kv_heads=1, dim=16, **asked):
    q, k = normal(1, heads, 5, dim), normal(1, kv_heads, 5, dim)
    return flash_forward_triton.forward_with_lse(q, k, k, **asked)


def sample(temperature, seed):
    return sampling_triton.flash_sampling(ONE, ONE, temperature, seed)


def test_an_array_without_interpreter_says_what_to_set():
    if not host_triton.INSTALLED:
        pytest.skip("Triton is not installed")
    with pytest.raises(ValueError, match="TRITON_INTERPRET=1"):
        rows_triton.add(ONE, ONE)


def test_without_triton_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(host_triton, "INSTALLED", False)
    with pytest.raises(ImportError, match="pip install triton"):
        rows_triton.add(ONE, ONE)


ALONE = """
import sys
sys.modules["triton"] = None
import numpy as np
from stacklib.kernels.written import host_triton, rows_triton
x = np.arange(8, dtype=np.float32)
with host_triton.on_tiles():
    assert (rows_triton.add(x, x, block=16) == 2 * x).all()
assert not host_triton.INSTALLED
try:
    import stacklib.kernels.written.flash_triton
except ModuleNotFoundError as missing:
    assert missing.name == "triton"
else:
    raise AssertionError
"""


def test_kernels_run_on_tiles_where_triton_is_not_installed():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
