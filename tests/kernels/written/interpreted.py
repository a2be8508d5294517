"""The kernels in Triton's interpreter: a pytest process of its own runs this file.

``TRITON_INTERPRET=1`` must be set before Triton is imported, so `test_interpreted`
starts it. Every result is held to float64, within twice the error of the same formula
in the precision of its operands; sizes are ragged, tiles few and large.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from stacklib import kernels
from stacklib.gpu.interpreter import Array
from stacklib.kernels.attention.flash import flash_attention
from stacklib.kernels.attention.mask import Mask
from stacklib.kernels.attention.naive import naive_attention, seen_pairs
from stacklib.kernels.written import (
    decode_triton,
    flash_triton,
    host_triton,
    matmul_triton,
    parts_triton,
    rows_triton,
    sampling_triton,
    scaled_ops_torch,
    scaled_triton,
)
from stacklib.kernels.written.counting_triton import counted_loads
from stacklib.pages.kernels import attention as page
from stacklib.pages.kernels.texts import cases, launches
from stacklib.quantizers import quantize

sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # `interpreted_torch` imports this one

from programs import with_tl

assert kernels and host_triton.INTERPRETED
jit, tl = host_triton.jit, host_triton.tl
RNG = np.random.default_rng(18)
SMALL = 1e-7  # of a result of size one in float32: half its last bit
torch.set_num_threads(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def tensor(*shape, dtype=torch.float32):
    return torch.from_numpy(normal(*shape)).to(dtype)


def far(got, wanted):
    """The largest difference, in float64."""
    if isinstance(got, torch.Tensor):
        got = got.detach().double().numpy()
    if isinstance(wanted, torch.Tensor):
        wanted = wanted.detach().double().numpy()
    return float(np.abs(got.astype(float) - wanted).max())


@pytest.fixture(autouse=True)
def canaries(monkeypatch):
    """What kernels write to lies between two rows of canaries, looked at afterwards."""
    guards, empty = [], np.empty

    def guarded(shape, dtype=float, **more):
        count = int(np.prod(shape))
        held = np.full(count + 512, 77, np.dtype(dtype))
        guards.append((held, held[0]))
        return held[256 : 256 + count].reshape(shape)

    monkeypatch.setattr(host_triton.sys.modules["numpy"], "empty", guarded)
    yield
    monkeypatch.setattr(host_triton.sys.modules["numpy"], "empty", empty)
    for held, bird in guards:
        assert (held[:256] == bird).all() and (held[-256:] == bird).all()


# -- what kernels share ---------------------------------------------------------------


@jit
def bare_product(a, b, c, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@jit
def narrowed(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    value = parts_triton.narrow(value, y.dtype.element_ty, True)
    tl.store(y + at, value, mask=at < n)


@jit
def noises(uniform, noise, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(uniform + at, tl.rand(seed, at))
    tl.store(noise + at, sampling_triton.gumbel(seed, at))


@jit
def first_steps(seed, number):
    return number.to(tl.float32) * 4.656612873077393e-10


@pytest.mark.parametrize("least", [False, True])
def test_noise_is_gumbels_at_both_ends(monkeypatch, least):
    u, noise = torch.zeros(4096), torch.zeros(4096)
    if least:  # the numbers that decide whether a rare token is drawn
        monkeypatch.setattr(tl, "rand", first_steps)
    noises[(1,)](u, noise, 5, BLOCK=4096)
    wanted = -torch.log(-torch.log1p(-(u.double() + 2.0**-32)))  # a step's middle
    assert u.min() < 1e-3 and (u.max() > 0.999 or least)
    assert torch.allclose(noise.double(), wanted, rtol=1e-5, atol=1e-5)


def test_a_bare_dot_of_bf16_is_wrong_here_and_ours_is_not():
    a, b = tensor(16, 16).bfloat16(), tensor(16, 16).bfloat16()
    bare = torch.zeros(16, 16)
    bare_product[(1,)](a, b, bare, BLOCK=16)
    wanted = a.double() @ b.double()
    assert far(bare, wanted) > 100 * far((a @ b), wanted)
    assert far(matmul_triton.matmul(a, b), wanted) <= 2 * far(a @ b, wanted)
    with pytest.raises(AssertionError, match="bf16"):
        host_triton.launch(bare_product, (1,), a, b, bare, BLOCK=16, WIDE=False)


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
)
def test_narrowing_rounds_as_torch_does(dtype):
    bits = torch.arange(0, 2**32, 160009, dtype=torch.int64).to(torch.int32)
    x = bits.view(torch.float32)
    x = torch.cat([x[x.isfinite()], torch.arange(-64, 64) / 1024]).contiguous()
    got = torch.zeros(len(x), dtype=dtype)
    narrowed[(1,)](x, got, len(x), BLOCK=131072)
    wanted = x.to(dtype)
    if dtype is torch.float8_e4m3fn:
        wanted = x.clamp(-448, 448).to(dtype)
    alike = (got.float(), wanted.float())  # zeros with their signs
    assert torch.equal(*(x.view(torch.int32) for x in alike))


# -- rows ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 97, 1025])
def test_vector_add_is_exact(n):
    a, b = normal(n), normal(n)
    assert (rows_triton.add(a, b, block=256) == a + b).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [200, 70_001, 262_144])  # of a vocabulary, too
def test_softmax_and_norms_of_a_ragged_row(dtype, columns):
    x = (tensor(3, columns) + 1).to(dtype)
    weight, bias = tensor(columns).to(dtype), tensor(columns).to(dtype)
    functional = torch.nn.functional
    wide = [t.double() for t in (x, weight, bias)]

    def layernorm(x, w, b):
        return functional.layer_norm(x, (columns,), w, b)

    def rmsnorm(x, w):
        return functional.rms_norm(x, (columns,), w, eps=1e-6)

    for ours, theirs, given, exact in (
        (rows_triton.softmax, lambda x: torch.softmax(x, -1), (x,), wide[:1]),
        (rows_triton.layernorm, layernorm, (x, weight, bias), wide),
        (rows_triton.rmsnorm, rmsnorm, (x, weight), wide[:2]),
    ):
        wanted = theirs(*exact)
        limit = 2 * far(theirs(*given), wanted) + SMALL
        assert far(ours(*given), wanted) <= limit, ours.__name__
    x[0, : columns // 2], x[1, columns // 2 :], x[2] = (-torch.inf,) * 3  # masked
    wanted = torch.softmax(x.double(), -1)
    assert torch.allclose(rows_triton.softmax(x).double(), wanted, 0, 4e-3, True)


def test_unmasked_lanes_make_a_variance_of_a_third_more():
    """A guide's LayerNorm: 768 columns in 1,024 lanes, mean 1 and variance 1."""
    x = np.tile(np.float32([0, 2]), 384)[None]
    one, zero = np.ones(768, np.float32), np.zeros(768, np.float32)
    right = rows_triton.layernorm(x, one, zero, 0.0)
    wrong = rows_triton.layernorm_unmasked(x, one, zero, 0.0)
    assert far(right, x - 1) == 0
    variance = ((x - 1) / wrong) ** 2
    assert np.allclose(variance, 1024 / 768, rtol=1e-5)


def test_layernorm_and_linear_in_one():
    x, weight, bias = normal(19, 150) + 1, normal(150), normal(150)
    linear = normal(37, 150)

    def formula(x, weight, bias, linear):
        apart = x - x.mean(1, keepdims=True)
        scale = np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5)
        return (apart / scale * weight + bias) @ linear.T

    given = (x, weight, bias, linear)
    wanted = formula(*(a.astype(float) for a in given))
    got = rows_triton.layernorm_linear(*given, blocks=(16, 64, 64))
    assert got.shape == (19, 37)
    assert far(got, wanted) <= 2 * far(formula(*given), wanted)


# -- products ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("turned", [False, True])
def test_matmul_of_ragged_sides(dtype, turned):
    a = tensor(70, 90).to(dtype)
    b = tensor(50, 90).to(dtype).T if turned else tensor(90, 50).to(dtype)
    wanted = a.double() @ b.double()
    got = matmul_triton.matmul(a, b, blocks=(32, 32, 64, 2))
    assert far(got, wanted) <= 2 * far(a @ b, wanted)


def test_matmul_of_one_row():
    a, b = normal(1, 17), normal(17, 1)
    assert far(matmul_triton.matmul(a, b), a.astype(float) @ b) < 1e-5


def test_block_scaled_products():
    a, b = (tensor(n, 200).to(torch.float8_e4m3fn) for n in (33, 140))
    a_scale, b_scale = torch.rand(33, 2) + 0.5, torch.rand(2, 2) + 0.5
    wide_a = scaled_ops_torch.widened(a.double(), a_scale, 128)
    wide_b = scaled_ops_torch.widened(b.double(), b_scale, 128, 128)
    given = (a, a_scale, b, b_scale)
    got = scaled_triton.fp8_matmul(*given, dtype="float32", blocks=(64, 128))
    wanted = wide_a.double() @ wide_b.double().T
    assert far(got, wanted) <= 2 * far(wide_a @ wide_b.T, wanted)


def test_mxfp8_products_and_their_largest_scales():
    a, b = (tensor(n, 70).to(torch.float8_e4m3fn) for n in (33, 20))
    powers = [torch.randint(120, 135, (n, 3), dtype=torch.uint8) for n in (33, 20)]
    wide = [
        x.double() * torch.exp2(p.double() - 127).repeat_interleave(32, 1)[:, :70]
        for x, p in zip((a, b), powers, strict=True)
    ]
    given = (a, powers[0], b, powers[1])
    got = scaled_triton.mxfp8_matmul(*given, dtype="float32", blocks=(64, 32))
    wanted = wide[0] @ wide[1].T
    assert far(got, wanted) <= 2 * far(wide[0].float() @ wide[1].float().T, wanted)
    powers[0][:], powers[1][:] = 250, 5  # their product is 1, neither alone is near it
    got = scaled_triton.mxfp8_matmul(*given, dtype="float32", blocks=(64, 32))
    assert far(got, a.double() @ b.double().T * 2) < 1e-3


def test_swiglu_is_quantized_on_its_way():
    x = 3 * normal(3, 2 * 150)
    gate, up = x[:, :150].astype(float), x[:, 150:]
    value = (gate / (1 + np.exp(-gate)) * up).astype(np.float32)
    codes, powers = scaled_triton.swiglu_mxfp8(torch.from_numpy(x), groups=2)
    wanted = quantize(value, "mxfp8_e4m3")
    assert (powers.numpy() == wanted.scales.reshape(3, -1)).all()
    other = codes.view(torch.uint8).numpy() != wanted.codes.reshape(3, -1)[:, :150]
    assert other.mean() < 0.01  # the last bit of exp decides a tie
    codes, scales = scaled_triton.swiglu_fp8(torch.from_numpy(x), groups=1)
    back = scaled_ops_torch.widened(codes, scales, 128)
    assert far(back, value) <= np.abs(value).max() / 28  # half a step at the top


# -- attention -----------------------------------------------------------------

ASKED = [  # batch, heads, kv_heads, queries, keys, dim, causal, window, blocks, dtype
    (1, 1, 1, 97, 97, 64, False, None, None, "float32"),
    (1, 2, 1, 65, 65, 59, True, None, (32, 32), "float32"),
    (1, 2, 1, 33, 70, 128, True, None, (32, 64), "float32"),
    (1, 1, 1, 70, 97, 24, False, 7, (32, 64), "float32"),
    (1, 1, 1, 40, 97, 40, True, 20, (32, 16), "float32"),
    (1, 1, 1, 90, 20, 16, True, 5, (32, 16), "float32"),  # 70 rows see nothing
    (2, 2, 1, 1, 200, 64, True, None, None, "float32"),  # one query
    (1, 1, 1, 40, 130, 256, True, None, None, "float16"),
    (1, 2, 1, 64, 130, 64, True, None, None, "bfloat16"),
    (1, 1, 1, 1, 1, 8, True, 1, None, "float32"),
]


def plain(q, k, v, causal, window, dtype):
    """Attention with its whole matrix, in a precision, with torch's gradients."""
    given = [x.detach().to(dtype).requires_grad_() for x in (q, k, v)]
    q, k, v = given
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    mask = Mask(q.shape[2], k.shape[2], causal, window)
    scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(
        ~torch.from_numpy(seen_pairs(mask)), float("-inf")
    )
    highest = scores.amax(-1, keepdim=True)
    powers = torch.exp(scores - highest.masked_fill(highest == float("-inf"), 0))
    total = powers.sum(-1, keepdim=True)
    return (powers / total.masked_fill(total == 0, 1)) @ v, given


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_attention_and_its_gradients(asked):
    batch, heads, kv_heads, queries, keys, dim, causal, window, blocks, name = asked
    dtype = getattr(torch, name)
    q, g = (tensor(batch, heads, queries, dim).to(dtype) for _ in "qg")
    k, v = (tensor(batch, kv_heads, keys, dim).to(dtype) for _ in "kv")
    out, lse = flash_triton.forward_with_lse(q, k, v, causal, window, blocks=blocks)
    found = flash_triton.backward(q, k, v, out, lse, g, causal, window, blocks=blocks)
    both = []
    for precision in (torch.float64, dtype):
        result, given = plain(q, k, v, causal, window, precision)
        result.backward(g.to(precision))
        both.append([result, *(x.grad for x in given)])
    for ours, exact, same in zip((out, *found), *both, strict=True):
        assert far(ours, exact) <= 2 * far(same, exact) + 5 * SMALL  # exact zeros


def test_attention_between_canaries_on_arrays():
    q, k, v = normal(1, 2, 37, 20), normal(1, 1, 53, 20), normal(1, 1, 53, 20)
    for causal, window in ((True, None), (False, 9)):
        asked = {"causal": causal, "window": window}
        got = flash_attention(q, k, v, backend="triton", **asked)
        wanted = naive_attention(q, k, v, **asked)
        naive = naive_attention(q, k, v, dtype=np.float32, **asked)
        assert far(got, wanted) <= 2 * far(naive, wanted)


def test_values_of_another_width_and_the_sums_of_rows():
    q, k, v = normal(1, 2, 19, 24), normal(1, 1, 13, 24), normal(1, 1, 13, 16)
    for given in ((q, k, v), map(torch.from_numpy, (q, k, v))):
        asked = {"causal": True, "return_lse": True}
        got, lse = flash_attention(*given, backend="triton", **asked)
        wanted, their = naive_attention(q, k, v, **asked)
        assert far(np.asarray(got), wanted) < 2e-6
        assert np.allclose(np.asarray(lse), their, atol=1e-5)


def test_a_scale_of_any_sign():
    q, k, v = normal(1, 1, 9, 16), normal(1, 1, 9, 16), normal(1, 1, 9, 16)
    for scale in (-0.7, 0.0, 2.0):
        got = flash_attention(q, k, v, scale=scale, backend="triton")
        assert far(got, naive_attention(q, k, v, scale=scale)) < 2e-6


def test_a_number_that_is_none_stays_visible():
    q, k, v = normal(1, 1, 9, 16), normal(1, 1, 9, 16), normal(1, 1, 9, 16)
    q[0, 0, 3, 2] = np.nan
    with np.errstate(all="ignore"):
        got = flash_triton.forward(q, k, v)
    assert np.isnan(got[0, 0, 3]).all()
    assert np.isfinite(np.delete(got, 3, axis=2)).all()


def test_packed_sequences_are_those_alone():
    starts = np.array([0, 5, 5, 70], np.int32)  # the second is empty
    one = flash_triton.Lengths(starts[:2], starts[:2], 5)
    assert one.most_queries == 5
    with pytest.raises(ValueError, match="two lists of one length"):
        flash_triton.Lengths(starts[:1], starts[:1], 0)
    q, k, v = normal(70, 2, 32), normal(70, 1, 32), normal(70, 1, 32)
    lengths = flash_triton.Lengths(starts, starts, 65)
    asked = {"lengths": lengths, "blocks": (64, 32)}
    out, lse = flash_triton.forward_with_lse(q, k, v, True, **asked)
    g = normal(70, 2, 32)
    found = flash_triton.backward(q, k, v, out, lse, g, True, **asked)
    for a, b in ((0, 5), (5, 70)):
        one = [x[a:b].transpose(1, 0, 2)[None] for x in (q, k, v, g)]
        alone, own = flash_triton.forward_with_lse(*one[:3], True)
        grads = flash_triton.backward(*one[:3], alone, own, one[3], True)
        for whole, part in zip((out, *found), (alone, *grads), strict=True):
            assert far(whole[a:b].transpose(1, 0, 2)[None], part) < 1e-5


def test_attention_in_fp8_errs_as_fp8_does():
    q, k, v = (tensor(1, 1, 70, 64).to(torch.float8_e4m3fn) for _ in "qkv")
    out, _ = flash_triton.forward_with_lse(q, k, v, True, fp8_scale=1.0, v_scale=2.0)
    assert out.dtype == torch.bfloat16
    wanted = 2 * naive_attention(*(x.float().numpy() for x in (q, k, v)), causal=True)
    mask = torch.from_numpy(seen_pairs(Mask(70, 70, True, None)))
    scores = (q.float() @ k.float().mT / 8).masked_fill(~mask, float("-inf"))
    shares = torch.exp(scores - scores.amax(-1, keepdim=True))
    coded = (256 * shares).to(torch.float8_e4m3fn).float() / 256
    naive = 2 * (coded @ v.float()) / shares.sum(-1, keepdim=True)
    assert far(out, wanted) <= 2 * far(naive, wanted)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim", "page", "window", "splits"),
    [(8, 2, 64, 16, None, 4), (3, 3, 40, 7, 10, 3), (16, 1, 16, 64, None, None)],
)
def test_paged_decode(heads, kv_heads, dim, page, window, splits):
    lengths = np.array([100, 1, 37], np.int32)
    most = -(-120 // page)
    table = RNG.permutation(3 * most + 2)[: 3 * most].reshape(3, most).astype(np.int32)
    k, v = (normal(3 * most + 2, page, kv_heads, dim) for _ in "kv")
    q = normal(3, heads, dim)
    asked = {"window": window, "splits": splits, "block": 32}
    got = decode_triton.paged_decode(q, k, v, table, lengths, **asked)
    for b, length in enumerate(lengths):
        own = [
            x[table[b]].reshape(-1, kv_heads, dim)[:length].transpose(1, 0, 2)[None]
            for x in (k, v)
        ]
        wanted = naive_attention(q[b][None, :, None], *own, causal=True, window=window)
        assert far(got[b], wanted[0, :, 0]) < 1e-6


# -- sampling ------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_tokens_come_as_often_as_softmax_says(seed):
    hidden, weights = normal(1, 16), 0.4 * normal(21, 16)
    many = np.repeat(hidden, 1024, axis=0)
    got = sampling_triton.flash_sampling(
        many, weights, 0.7, seed, blocks=(1024, 32, 16)
    )
    logits = (hidden.astype(float) @ weights.T)[0] / 0.7
    wanted = np.exp(logits - logits.max())
    wanted *= 1024 / wanted.sum()
    few = wanted < 8
    counts = np.bincount(got, minlength=21)
    seen, told = (
        np.append(x[~few], x[few].sum()) for x in (counts.astype(float), wanted)
    )
    chi = ((seen - told) ** 2 / told).sum()
    assert chi < len(told) + 2.33 * np.sqrt(2 * len(told)) + 2  # p over .01


def test_tiles_do_not_change_a_token():
    hidden, weights = normal(20, 30), normal(100, 30)
    asked = (hidden, weights, 1.0, 7)
    one = sampling_triton.flash_sampling(*asked, blocks=(32, 128, 32))
    assert (one == sampling_triton.flash_sampling(*asked, blocks=(16, 32, 16))).all()
    cold = sampling_triton.flash_sampling(hidden, weights, 0, 7, blocks=(32, 64, 32))
    assert (cold == (hidden @ weights.T).argmax(1)).all()


# -- what was asked of memory ----------------------------------------------------------


def test_every_tile_of_queries_reads_all_keys():
    """The interpreter as a witness: K and V ceil(N / Br) times, before any cache."""
    q, k, v = normal(1, 1, 128, 32), normal(1, 1, 96, 32), normal(1, 1, 96, 32)
    with counted_loads(q=q, k=k, v=v) as asked:
        flash_triton.forward(q, k, v, blocks=(32, 32))
    assert asked == {
        "q": q.nbytes,
        "k": 4 * k.nbytes,
        "v": 4 * v.nbytes,
        "elsewhere": 0,
    }


def test_the_book_quotes_this_interpreter():
    """Section 4.5 shows what was counted here, and does not start Triton itself."""
    asked_of = page.ASKED
    q, k, v = (normal(1, 1, asked_of.tokens, asked_of.head_dim) for _ in "qkv")
    with counted_loads(q=q, k=k, v=v) as asked:
        flash_triton.forward(q, k, v, blocks=(asked_of.tile_q, asked_of.tile_k))
    assert {name: asked[name] for name in "kv"} == page.INTERPRETED


@pytest.mark.parametrize("name", cases.CASES)
def test_the_kernels_that_the_pages_print(name, monkeypatch):
    """The same texts with Triton's own names; FP8 as numbers, which it would cut."""
    case = cases.CASES[name]
    monkeypatch.setattr(launches, "SEEDS", 2)
    right = list(case.launch(case.kernels, **case.sizes)[0])

    def run(kernel, grid, *given, **words):
        sent = [held(x) for x in given]
        grid = grid if isinstance(grid, tuple) else (grid,)
        host_triton.launch(jit(with_tl(kernel, tl)), grid, *sent, **words)
        for x, y in zip(given, sent, strict=True):
            if isinstance(x, Array):
                x.values[:] = y.tolist()

    monkeypatch.setattr(launches.tl, "run", run)
    found, _ = case.launch(case.kernels, **case.sizes)
    assert far(np.array(found), np.array(right)) < 1e-5 * max(map(abs, right))


def held(x):
    """An array of the page as NumPy has it; a number as it is."""
    if not isinstance(x, Array):
        return x
    values = [0 if v is None else v for v in x.values]
    return np.array(values, np.int32 if x.form == "int32" else np.float32)
