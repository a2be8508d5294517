"""Attention at shapes of other models, and decode whose splits all work.

In the interpreter, held to torch's own attention; `test_interpreted` starts this file.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from triton.runtime.interpreter import InterpreterBuilder, interpreter_builder

from stacklib.kernels.attention import split_kv
from stacklib.kernels.attention.flash import flash_attention
from stacklib.kernels.attention.naive import naive_attention
from stacklib.kernels.written import (
    decode_triton,
    flash_triton,
    host_triton,
    ops_torch,
    rows_triton,
    sampling_triton,
    scaled_ops_torch,
    scaled_triton,
)
from stacklib.kernels.written.counting_triton import counted_loads

RNG = np.random.default_rng(41)
torch.manual_seed(41)
torch.set_num_threads(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def sdpa(q, k, v, causal, window):
    """Torch's attention; zeros where a row sees nothing."""
    apart = torch.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2]
    apart = apart - torch.arange(k.shape[2])
    seen = torch.ones_like(apart, dtype=torch.bool)
    if causal:
        seen &= apart >= 0
    if window:
        seen &= apart.abs() < window
    call = torch.nn.functional.scaled_dot_product_attention
    blind = ~seen.any(1)
    found = call(q, k, v, attn_mask=seen | blind[:, None], enable_gqa=True)
    return found.masked_fill(blind[:, None], 0)


ASKED = [  # heads, kv_heads, queries, keys, columns of q and k, of v, causal, window
    (3, 1, 33, 65, 96, 96, True, None),
    (10, 2, 1, 131, 80, 48, True, None),
    (7, 1, 50, 50, 192, 128, True, None),
    (3, 3, 19, 77, 112, 16, False, 9),
    (6, 2, 70, 1, 40, 64, False, None),
    (5, 1, 1, 1, 72, 8, True, 3),
    (3, 1, 40, 23, 20, 144, True, 6),  # 17 rows see nothing
    (2, 1, 21, 37, 576, 512, True, None),
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_attention_of_other_shapes_is_torchs(asked):
    heads, kv_heads, queries, keys, dim, dim_v, causal, window = asked
    shapes = (
        (1, heads, queries, dim),
        (1, kv_heads, keys, dim),
        (1, kv_heads, keys, dim_v),
    )
    given = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    g = torch.randn(1, heads, queries, dim_v)
    found = {}
    for name, dtype in (("exact", torch.float64), ("torch", torch.float32)):
        leaves = [x.detach().to(dtype).requires_grad_() for x in given]
        out = sdpa(*leaves, causal, window)
        out.backward(g.to(dtype))
        found[name] = [out, *(x.grad for x in leaves)]
    leaves = [x.float().requires_grad_() for x in given]
    out, _ = ops_torch.flash_attention(*leaves, causal, window or 0, dim**-0.5)
    out.backward(g)
    ours = [out, *(x.grad for x in leaves)]
    small = (5e-6, 2e-5, 2e-5, 2e-5)  # where torch's own error is none: of one key
    for x, exact, theirs, least in zip(ours, *found.values(), small, strict=True):
        assert (x - exact).abs().max() <= 2 * (theirs - exact).abs().max() + least


def paged(lengths, kv_heads, dim, dim_v, page=16, most=None):
    """Pages in any order; entries of the table past a length are not to be read."""
    needs = [-(-n // page) for n in lengths]
    order = RNG.permutation(sum(needs) + 1).astype(np.int32)
    table = np.full((len(lengths), most or max(1, *needs)), 2**30, np.int32)
    at = np.cumsum([0, *needs])
    for row, start, need in zip(table, at, needs, strict=False):
        row[:need] = order[start : start + need]
    pages = sum(needs) + 1, page, kv_heads
    return table, normal(*pages, dim), normal(*pages, dim_v)


def busy(call):
    """The share of programs of the first launch that read keys."""
    read, launch = InterpreterBuilder.create_masked_load, host_triton.launch
    works, sizes = set(), []

    def reading(self, ptrs, mask, *rest):
        if ptrs.data.ndim == 2 and mask.data.any() and len(sizes) == 1:
            first, end = sizes[0][1]
            inside = (ptrs.data >= first) & (ptrs.data < end) & mask.data.astype(bool)
            if inside.any():
                works.add(interpreter_builder.grid_idx)
        return read(self, ptrs, mask, *rest)

    def launching(kernel, grid, *args, **meta):
        keys = args[1]
        sizes.append((grid, (keys.ctypes.data, keys.ctypes.data + keys.nbytes)))
        return launch(kernel, grid, *args, **meta)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode_triton, "PROGRAMS", 24)
        patch.setattr(InterpreterBuilder, "create_masked_load", reading)
        patch.setattr(decode_triton, "launch", launching)
        got = call()
    return len(works) / np.prod(sizes[0][0]), got


MIXED = [int(n) for n in RNG.integers(0, 300, 32)]


@pytest.mark.parametrize(
    ("lengths", "heads", "kv_heads", "dim", "dim_v", "window", "most"),
    [
        ([2048], 3, 1, 16, 16, None, 131072 // 16),  # the table's width says nothing
        ([0, 1, 400, 0, 16, 17], 5, 1, 24, 40, None, None),
        (MIXED, 1, 1, 16, 16, None, 300),
        ([300, 90, 5], 7, 1, 16, 16, 70, None),
        ([100], 32, 1, 576, 512, None, 64),
        ([0, 0], 4, 2, 16, 16, None, 9),
    ],
)
def test_every_split_of_a_decode_works(
    lengths, heads, kv_heads, dim, dim_v, window, most
):
    table, k, v = paged(lengths, kv_heads, dim, dim_v, most=most)
    q, held = normal(len(lengths), heads, dim), np.array(lengths, np.int32)
    asked = {"window": window, "block": 16 if len(lengths) in (2, 3) else 64}
    share, (out, lse) = busy(
        lambda: decode_triton.decode_with_lse(q, k, v, table, held, **asked)
    )
    assert share >= 0.9 if any(lengths) else share == 0
    for b, length in enumerate(lengths):
        if not length:
            assert (out[b] == 0).all() and (lse[b] == -np.inf).all()
            continue
        need = table[b, : -(-length // 16)]
        own = [
            torch.tensor(x[need].reshape(-1, *x.shape[2:])[:length]).double()
            for x in (k, v)
        ]
        keys, values = (x.transpose(0, 1)[None, :, -(window or length) :] for x in own)
        query = torch.tensor(q[b])[None, :, None].double()
        wanted = sdpa(query, keys, values, False, None)[0, :, 0]
        assert np.abs(out[b] - wanted.numpy()).max() < 2e-6
        keys = keys.repeat_interleave(heads // kv_heads, 1)
        scores = (query @ keys.mT)[0, :, 0] * dim**-0.5
        assert np.allclose(lse[b], torch.logsumexp(scores, -1), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_kernels_shares_are_those_of_the_book(seed):
    """Any number of splits: the parts that are written are the runs of `shares`."""
    rng = np.random.default_rng(seed)
    lengths = [int(n) for n in rng.integers(0, 60, rng.integers(1, 8))]
    splits = int(rng.integers(1, 10))
    table, k, v = paged(lengths, 1, 16, 16)
    q, held = normal(len(lengths), 2, 16), np.array(lengths, np.int32)
    kept, launch = [], host_triton.launch

    def launching(kernel, grid, *args, **meta):
        if kernel is decode_triton.split_kernel:
            args[6][:] = np.nan  # the logarithms of the parts
            kept.append(args[6])
        launch(kernel, grid, *args, **meta)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode_triton, "launch", launching)
        asked = {"splits": splits, "block": 16}
        decode_triton.paged_decode(q, k, v, table, held, **asked)
    runs = sum(map(len, split_kv.shares(lengths, splits, tile=16)))
    assert np.isfinite(kept[0][:, 0]).sum() == runs
    total = sum(-(-n // 16) for n in lengths)
    assert decode_triton.splits_for(lengths, 1, block=16) == max(1, total)


def test_lengths_that_the_table_cannot_hold():
    table, k, v = paged([20, 3], 1, 16, 16)
    for bad in ([33, 3], [20, -1]):
        with pytest.raises(ValueError, match="2 pages of 16 tokens"):
            decode_triton.paged_decode(
                normal(2, 1, 16), k, v, table, np.array(bad, np.int32)
            )
    held, q = np.array([20, 3], np.int32), normal(2, 1, 16)
    for wrong in ({"kv_heads": 0}, {"lengths": [-1], "kv_heads": 1}):
        with pytest.raises(ValueError, match="from 0 and 1"):
            decode_triton.splits_for(**{"lengths": [9], **wrong})
    with pytest.raises(ValueError, match="splits = 0"):
        decode_triton.paged_decode(q, k, v, table, held, splits=0)
    for page in (-1, len(k)):  # it was read, outside the pool
        table[0, 0] = page
        with pytest.raises(ValueError, match=rf"{page}.*: the pool has {len(k)}"):
            decode_triton.paged_decode(q, k, v, table, held)
        decode_triton.paged_decode(q, k, v, table, held, window=2)  # not among them


@pytest.mark.parametrize("rows", [1, 16, 17, 50, 64, 65])
def test_the_lm_head_is_read_once_for_64_rows(rows):
    hidden, head = normal(rows, 24), normal(300, 24)
    with counted_loads(head=head) as asked:
        got = sampling_triton.flash_sampling(hidden, head, 0.0, 1)
    assert asked["head"] == -(-rows // 64) * head.nbytes
    assert (got == (hidden @ head.T).argmax(1)).all()


def test_a_compiled_kernel_refuses_a_cpu(monkeypatch):
    monkeypatch.setattr(host_triton, "INTERPRETED", False)
    q = torch.ones(1, 1, 2, 16)
    with pytest.raises(ValueError, match="TRITON_INTERPRET=1 before"):
        flash_attention(q, q, q, backend="triton")
    assert flash_triton.VERSION


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_wider_than_any_sequence_hides_nothing(causal):
    """Of 2**31 - 1 the end of a tile's keys passed int32; no key was seen."""
    given = [torch.randn(1, 2, n, 16) for n in (33, 17, 17)]
    wanted = flash_triton.forward_with_lse(*given, causal)
    for window in (2**30, 2**31 - 1, 2**31, 2**63 - 1):
        found = flash_triton.forward_with_lse(*given, causal, window)
        for ours, theirs in zip(found, wanted, strict=True):
            assert torch.equal(ours, theirs), window


def test_the_coldest_temperature_is_that_of_the_largest_logit():
    """Divided by less than 1e-38, all logits above one were infinite, and equal."""
    hidden, head = normal(5, 30), normal(300, 30)
    wanted = (hidden @ head.T).argmax(1)
    drawn = [ops_torch.PLAIN["flash_sampling"], sampling_triton.flash_sampling]
    given = torch.from_numpy(hidden), torch.from_numpy(head)
    for temperature in (1e-20, 1e-38, 1e-45, 1e-310, 5e-324):
        for draw in drawn:
            assert (np.asarray(draw(*given, temperature, 3)) == wanted).all()


def test_no_number_is_never_drawn():
    """NaN won against all others, or, compiled, lanes past the row against NaN."""
    hidden, head = normal(5, 30), normal(300, 30)
    logits = hidden @ head.T
    head[7], logits[:, 7], hidden[2], logits[2] = np.nan, -np.inf, np.nan, -np.inf
    given = torch.from_numpy(hidden), torch.from_numpy(head), 0.0, 3
    for draw in (ops_torch.PLAIN["flash_sampling"], sampling_triton.flash_sampling):
        assert (draw(*given).numpy() == logits.argmax(1)).all()


def test_a_scale_below_zero_rounds_no_query():
    """Sixteen-bit queries times -0.4 were rounded again: sums of .3 % beside."""
    q, k, v = (torch.randn(1, 2, 9, 64).bfloat16() for _ in "qkv")
    asked = {"scale": -0.4, "return_lse": True, "backend": "triton"}
    _, lse = flash_attention(q, k, v, **asked)
    wide = (x.float().numpy() for x in (q, k, v))
    _, right = naive_attention(*wide, scale=-0.4, return_lse=True)
    assert np.allclose(lse.numpy(), right, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("name", ["swiglu_fp8", "swiglu_mxfp8"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_stays_none_in_fp8(name, value):
    """A clamp took NaN for its end: 384, a number like any other."""
    x = torch.from_numpy(normal(2, 300))
    x[1, 155] = value  # of up, in the first group of the second row
    alone, _ = getattr(scaled_triton, name)(x[:1])
    for swiglu in (getattr(scaled_triton, name), ops_torch.PLAIN[name]):
        codes, scales = swiglu(x)
        assert torch.equal(codes[0].float(), alone[0].float())
        size = 128
        if scales.dtype == torch.uint8:
            size, scales = 32, scaled_ops_torch._powers(scales)
        wide = scaled_ops_torch.widened(codes, scales, size)
        assert not wide[1, 5].isfinite(), swiglu
        assert wide[1, size:].isfinite().all()


def test_four_threads_launch_as_one_does(request):
    """The interpreter has one grid and one set of names for all: none passed."""
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    given = [normal(n, columns) for n, columns in ((40, 50), (7, 65), (23, 8), (60, 3))]
    alone = [rows_triton.softmax(x) for x in given]

    def counted(x):
        with counted_loads(x=x) as asked:
            return rows_triton.softmax(x), asked

    with ThreadPoolExecutor(4) as pool:
        for (ours, asked), one in zip(pool.map(counted, given), alone, strict=True):
            assert np.array_equal(ours, one)
            assert asked == {"x": one.nbytes, "elsewhere": 0}


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_every_code_of_fp8_is_read_as_torch_reads_it(dtype):
    """NaN was 480, and infinity 65,536."""
    codes = torch.arange(256, dtype=torch.uint8).view(dtype)
    one = torch.ones(1, 1, 1, 16).to(dtype)
    out, _ = flash_triton.forward_with_lse(one, one, codes.reshape(1, 1, 1, 256))
    assert torch.allclose(out.float().ravel(), codes.float(), 0, 0, equal_nan=True)


def test_a_scale_that_float32_lacks():
    """The interpreter took such for float64: AssertionError."""
    q = torch.randn(1, 1, 5, 16)
    for scale in (1e-45, 1e-320):
        out = flash_attention(q, q, q, scale=scale, backend="triton")
        assert torch.allclose(out, q.mean(2, keepdim=True), atol=1e-6)
    with pytest.raises(ValueError, match=r"scale = 1e\+308"):
        flash_triton.forward_with_lse(q, q, q, scale=1e308)


def test_numbers_of_numpy_and_sides_that_are_no_whole_ones():
    """Each was an AttributeError or TypeError of another's code."""
    hidden, head = normal(3, 20), normal(90, 20)
    drawn = [
        sampling_triton.flash_sampling(hidden, head, np.float32(1), seed)
        for seed in (5, np.int64(5))
    ]
    assert (drawn[0] == drawn[1]).all()
    q, starts = normal(9, 1, 16), np.int32([0, 4, 9])
    for most in (np.diff(starts).max(), torch.tensor(5)):
        lengths = flash_triton.Lengths(starts, starts, most)
        out, _ = flash_triton.forward_with_lse(q, q, q, lengths=lengths)
        assert np.isfinite(out).all()
    with pytest.raises(ValueError, match=r"block = 64\.0"):
        rows_triton.add(hidden, hidden, block=64.0)


@pytest.mark.parametrize("starts", ["2 8 20", "0 8 15", "0 8 65536", "0 12 6 20"])
def test_packed_sequences_that_are_not_those_of_the_tokens(starts):
    """Keys were read and rows written outside of the operands, or not written."""
    q, k = normal(20, 2, 16), normal(20, 1, 16)
    wrong = np.int32(starts.split())
    right = np.int32([0] * (len(wrong) - 1) + [20])
    for *held, most in ((wrong, right, 20), (right, wrong, 20), (right, right, 19)):
        with pytest.raises(ValueError, match="they rise from 0 to 20"):
            lengths = flash_triton.Lengths(*held, most)
            flash_triton.forward_with_lse(q, k, k, lengths=lengths)


def test_longest_keys_that_are_not_the_longest():
    """Gradients of the keys behind them were left as memory was."""
    q, starts = normal(20, 1, 16), np.int32([0, 8, 20])
    held = {"lengths": flash_triton.Lengths(starts, starts, 12)}
    out, lse = flash_triton.forward_with_lse(q, q, q, **held)
    with pytest.raises(ValueError, match="12 tokens of one, at most 11"):
        flash_triton.backward(q, q, q, out, lse, q, **held, most_keys=11)


def test_softmax_reads_once():
    x = normal(3, 200)
    with counted_loads(x=x) as asked:
        rows_triton.softmax(x)
    assert asked == {"x": x.nbytes, "elsewhere": 0}


def test_compiled_kernels_take_what_lies_on_a_gpu(monkeypatch):
    monkeypatch.setattr(host_triton, "INTERPRETED", False)
    for held in (torch.ones(3), np.ones(3)):
        with pytest.raises(ValueError, match="TRITON_INTERPRET=1 before"):
            host_triton.launch(None, (1,), held)
