"""One program of every kernel, with addresses past 2**31, in the interpreter.

A server's operands have more elements than int32 counts. Here they are reserved and
never filled: a page of memory exists once something is written to it. The launches of
the wrappers are caught; one program of each, the last as a rule, runs on rows that lie
far behind, and what it wrote is held to the formula. Every address that it asks for
must lie in an operand. `test_interpreted` starts this file.
"""

import mmap
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from triton.runtime.interpreter import InterpreterBuilder, interpreter_builder

from stacklib.kernels.written import (
    decode_triton,
    flash_backward_triton,
    flash_forward_triton,
    host_triton,
    matmul_triton,
    rows_triton,
    sampling_triton,
    scaled_ops_torch,
    scaled_triton,
)

jit, tl = host_triton.jit, host_triton.tl
RNG = np.random.default_rng(40)
RESERVE = 0x4000  # MAP_NORESERVE
BIG = 2**31
REACHED = {}  # elements from the start of an operand to the farthest address, by kernel


def sparse(*shape, dtype=np.float16):
    """An array of zeros that takes no memory before it is written to."""
    size = (
        int(np.prod([int(n) for n in shape], dtype=object)) * np.dtype(dtype).itemsize
    )
    held = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | RESERVE)
    return np.frombuffer(held, dtype).reshape(shape)


def sparse_codes(*shape):
    return torch.from_numpy(sparse(*shape, dtype=np.uint8)).view(torch.float8_e4m3fn)


def fill(part):
    """Numbers of size one in a part of an array; gives them."""
    part[...] = RNG.standard_normal(part.shape)
    return part.astype(float)


def bounds(x):
    """Where an operand begins and ends, and the bytes of an element."""
    if isinstance(x, torch.Tensor):
        return x.data_ptr(), x.data_ptr() + x.numel() * x.itemsize, x.itemsize
    return x.ctypes.data, x.ctypes.data + x.nbytes, x.itemsize


def one_program(patch, before):
    """Where launches go: one program of each, so many before the last, by kernel."""

    def go(kernel, grid, args, meta):
        places = [bounds(a) for a in args if hasattr(a, "shape")]
        grid = tuple(map(int, (*grid, 1, 1)[:3]))
        name = kernel.fn.__name__
        chosen = [grid[0] - 1 - before.get(name, 0), grid[1] - 1, grid[2] - 1]

        def looking(real, mask_at):
            def access(self, ptrs, *rest):
                asked = ptrs.data[rest[mask_at].data.astype(bool)].astype(np.int64)
                for begin, end, size in places:
                    own = asked[(asked >= begin) & (asked < end)]
                    asked = asked[(asked < begin) | (asked >= end)]
                    far = int((own.max() - begin) // size) if own.size else 0
                    REACHED[name] = max(REACHED.get(name, 0), far)
                assert not asked.size, f"{name} leaves its operands"
                return real(self, ptrs, *rest)

            return access

        with patch.context() as inside:
            for mask_at, access in enumerate(("load", "store")):
                access = f"create_masked_{access}"
                real = looking(getattr(InterpreterBuilder, access), mask_at)
                inside.setattr(InterpreterBuilder, access, real)
            builder, set_dim = interpreter_builder, interpreter_builder.set_grid_dim
            inside.setattr(builder, "set_grid_dim", lambda *_: set_dim(*grid))
            inside.setattr(
                builder, "set_grid_idx", lambda *_: setattr(builder, "grid_idx", chosen)
            )
            if "WIDE" in meta:
                meta = {**meta, "WIDE": True}
            kernel[(1, 1, 1)](*map(host_triton.reachable, args), **meta)

    return host_triton.redirected(go)


@pytest.fixture(autouse=True)
def nothing_is_filled(monkeypatch):
    """What kernels write to takes no memory either."""
    new_empty = torch.Tensor.new_empty

    def reserved(self, shape, dtype=None, **more):
        if not shape:
            return new_empty(self, shape, **more)
        size = (dtype or self.dtype).itemsize
        held = sparse(int(np.prod(shape)) * size, dtype=np.uint8)
        return torch.from_numpy(held).view(dtype or self.dtype).reshape(shape)

    def empty(shape, dtype=float):
        return sparse(*np.atleast_1d(shape), dtype=dtype)

    monkeypatch.setattr(np, "empty", empty)
    monkeypatch.setattr(torch.Tensor, "new_empty", reserved)


@pytest.fixture
def last(monkeypatch):
    """Run the last program of each launch, or one so many before it, by kernel."""
    return lambda **before: one_program(monkeypatch, before)


def near(got, wanted, within=4e-3):
    assert np.abs(np.asarray(got, float) - wanted).max() < within * max(
        1, np.abs(wanted).max()
    )


# -- rows ----------------------------------------------------------------------


def test_vectors(last):
    a, b = sparse(BIG + 500), sparse(BIG + 500)
    wanted = fill(a[BIG:]) + fill(b[BIG:])
    with last():
        near(rows_triton.add(a, b)[BIG:], wanted)


def test_norms_of_a_far_row(last):
    x, w = sparse(BIG // 100 + 2, 100), np.ones(100, np.float16)
    row = fill(x[-1])
    centred = row - row.mean()
    powers = np.exp(row)
    wide = sparse(BIG // 65537 + 2, 65537)  # read in parts
    shares = np.exp(fill(wide[-1]))
    with last():
        near(rows_triton.softmax(wide)[-1], shares / shares.sum())
        near(rows_triton.softmax(x)[-1], powers / powers.sum())
        near(rows_triton.layernorm(x, w, 0 * w)[-1], centred / row.std(), 1e-2)
        near(rows_triton.rmsnorm(x, w)[-1], row / np.sqrt((row**2).mean()), 1e-2)


@pytest.mark.parametrize("far", ["rows", "outputs"])
def test_layernorm_and_linear(last, far):
    many = BIG // 40
    rows, outputs = (many, 50) if far == "rows" else (41, many)
    x, linear, w = sparse(rows, 45), sparse(outputs, 45), np.ones(45, np.float16)
    a, b = fill(x[-8:]), fill(linear[-8:])
    normed = (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True)
    with last():
        got = rows_triton.layernorm_linear(x, w, 0 * w, linear)
    near(got[-8:, -8:], normed @ b.T, 1e-2)


# -- products ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n", "turned"), [(BIG // 40, 50, 0), (41, BIG // 40, 0), (41, BIG // 40, 1)]
)
def test_matmul(last, m, n, turned):
    a = sparse(m, 130)
    b = sparse(n, 130).T if turned else sparse(130, n)
    wanted = fill(a[-8:]) @ fill(b[:, -8:])
    with last():
        near(matmul_triton.matmul(a, b)[-8:, -8:], wanted)


def test_products_of_fp8_whose_scales_are_far(last):
    for call, side, scale in (
        (scaled_triton.fp8_matmul, 128, np.float32),
        (scaled_triton.mxfp8_matmul, 32, np.uint8),
    ):
        m, k = BIG // 2 + 100, 2 * side
        a, b = sparse_codes(m, k), sparse_codes(50, k)
        tail = torch.randn(4, k).to(a.dtype), torch.randn(50, k).to(a.dtype)
        a[-4:], b[:] = tail
        power = scale is np.uint8
        a_scale = torch.from_numpy(sparse(m, 2, dtype=scale))
        a_scale[-4:] = 128 if power else 2.0
        b_scale = torch.ones(50 if power else 1, 2) * (127 if power else 1)
        b_scale = b_scale.to(a_scale.dtype)
        with last():
            got = call(a, a_scale, b, b_scale, dtype="float32", blocks=(64, 64))
        near(got[-4:], (2 * tail[0].double() @ tail[1].double().T).numpy())


def test_swiglu(last):
    x = torch.from_numpy(sparse(BIG // 2 + 9, 2 * 33, dtype=np.float16))
    x[-1] = torch.randn(66)
    for call, back in (
        (scaled_triton.swiglu_fp8, 128),
        (scaled_triton.swiglu_mxfp8, 32),
    ):
        with last():
            codes, scales = call(x)
        scale = scales[-1:] if back == 128 else torch.exp2(scales[-1:].float() - 127)
        gate, up = x[-1].float().chunk(2)
        wanted = torch.nn.functional.silu(gate) * up
        near(scaled_ops_torch.widened(codes[-1:], scale, back)[0], wanted.numpy(), 0.13)


# -- attention -----------------------------------------------------------------


def attention(q, k, v, g, window):
    """Float64, of the last queries and keys: the result and all gradients."""
    q, k, v = (torch.tensor(x, requires_grad=True) for x in (q, k, v))
    apart = torch.arange(len(q))[:, None] + len(k) - len(q) - torch.arange(len(k))
    seen = (apart >= 0) & (apart < window)
    scores = (q @ k.T * q.shape[1] ** -0.5).masked_fill(~seen, float("-inf"))
    out = torch.softmax(scores, -1) @ v
    out.backward(torch.tensor(g))
    return [
        x.detach().numpy()
        for x in (out, torch.logsumexp(scores, -1), q.grad, k.grad, v.grad)
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_attention_and_its_gradients(last, packed):
    """The last head of the last sequence; its logarithms lie past 2**31, too."""
    window, heads, dim = 20, 128, 24
    length, lengths = (128, None) if packed else (2**20, None)
    shape = (BIG // heads // length + 2, heads, length, dim)
    if packed:  # (tokens, heads, head_dim): the last sequence starts far behind
        starts = np.arange(0, BIG // heads + 2 * length, length, np.int32)
        shape = (int(starts[-1]), heads, dim)
        lengths = flash_forward_triton.Lengths(starts, starts, length)

    def end(x, rows=64):
        return x[-rows:, -1] if packed else x[-1, -1, -rows:]

    q, k, v, g = given = [sparse(*shape) for _ in "qkvg"]
    wanted = attention(*(fill(end(x, 96)) for x in given), window)
    # late rows start first: the last tile is the first program of its head
    before = length // 64 - 1
    asked = {"lengths": lengths, "blocks": (64, 64)}
    with last(forward_kernel=before, queries_kernel=before):
        out, lse = flash_forward_triton.forward_with_lse(q, k, v, True, window, **asked)
        most = {"most_keys": length} if packed else {}
        found = flash_backward_triton.backward(
            q, k, v, out, lse, g, True, window, **asked, **most
        )
    near(lse[0].reshape(-1)[-64:], wanted[1][-64:])
    for ours, exact in zip((out, *found), (wanted[0], *wanted[2:]), strict=True):
        near(end(ours), exact[-64:])


def test_paged_decode(last):
    """The last share of the last sequence, over a page and an entry that are far."""
    batch, heads, dim, page = BIG // 128 // 128 + 5, 128, 128, 4
    lengths = np.zeros(batch, np.int32)
    lengths[-2:] = 20, 26  # two tiles: the second share has the last sequence
    most = BIG // batch + 1
    table, pages = sparse(batch, most, dtype=np.int32), BIG // page // 16 // dim + 9
    k, v = sparse(pages, page, 16, dim), sparse(pages, page, 16, dim)
    q = sparse(batch, heads, dim)
    own = table[-1, :7] = pages - 1 - np.arange(7)
    query, keys, values = fill(q[-1, -1]), *(np.empty((7, page, dim)) for _ in "kv")
    for at, far in enumerate(own):
        keys[at], values[at] = fill(k[far, :, -1]), fill(v[far, :, -1])
    keys, values = (x.reshape(-1, dim)[:26] for x in (keys, values))
    powers = np.exp(keys @ query * dim**-0.5)
    with last():
        out, lse = decode_triton.decode_with_lse(q, k, v, table, lengths, splits=2)
    near(out[-1, -1], powers @ values / powers.sum())
    near(lse[-1, -1], np.log(powers.sum()))


# -- sampling ------------------------------------------------------------------


@pytest.mark.parametrize("far", ["rows", "tokens"])
def test_sampling(last, far):
    many = BIG // 45 // 128 * 128 + 30  # the last tile has 30 tokens
    rows, tokens = (many, 30) if far == "rows" else (40, many)
    hidden, head = sparse(rows, 50), sparse(tokens, 50)
    scores = fill(hidden[-1:]) @ fill(head[-30:]).T
    with last():
        got = sampling_triton.flash_sampling(hidden, head, 0.0, 1)
    assert got[-1] == tokens - 30 + scores.argmax()


def test_the_best_of_many_rows(last):
    rows, tiles = BIG // 30 + 2, 30
    best, place = (
        sparse(rows, tiles, dtype=np.float32),
        sparse(rows, tiles, dtype=np.int32),
    )
    out = sparse(rows, dtype=np.int32)
    best[-1, 7], place[-1, 7] = 1, 99
    with last():
        host_triton.launch(
            sampling_triton.best_kernel, (rows,), best, place, out, tiles, BLOCK_T=32
        )
    assert out[-1] == 99


# -- none forgotten ------------------------------------------------------------


@jit
def near_only(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, at * 0, mask=at > -BIG)


def test_an_offset_in_int32_is_seen(last):
    """The planted fault: 2**21 programs of 2,048 elements."""
    x = sparse(2 * BIG, dtype=np.int8)
    with last(), pytest.raises(Exception, match=r"leaves its operands|overflow"):
        host_triton.launch(near_only, (2**21,), x, BLOCK=2048)


def kernels():
    """Names of all kernels that are launched: those that ask which program they are."""
    for path in sorted(Path(host_triton.__file__).parent.glob("*_triton.py")):
        module = import_module(f"stacklib.kernels.written.{path.stem}")
        for name, found in vars(module).items():
            own = getattr(found, "fn", None)
            if own and own.__module__ == module.__name__ and "_kernel" in name:
                yield name


def test_every_kernel_was_sent_far():
    """Comes last: what the tests above reached."""
    assert {n for n, far in REACHED.items() if far >= BIG} >= set(kernels())
