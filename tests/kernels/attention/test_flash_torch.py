"""The torch backend: results and gradients against float64, memory, what it refuses."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_cases import MASKS, made

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from stacklib.kernels.attention import tiles  # noqa: E402
from stacklib.kernels.attention.flash import flash_attention  # noqa: E402
from stacklib.kernels.attention.mask import Mask  # noqa: E402
from stacklib.kernels.attention.naive import naive_attention, seen_pairs  # noqa: E402

TORCH = {"backend": "torch"}
SHAPES = [
    (1, 1, 1, 1, 1, 1),
    (2, 4, 2, 97, 97, 59),
    (1, 2, 1, 1, 300, 64),
    (1, 2, 2, 600, 577, 16),
    (1, 3, 1, 40, 9, 8),  # rows that causal leaves empty
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small products: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tensors(*shape, dtype=torch.float32):
    return [torch.from_numpy(x).to(dtype).requires_grad_() for x in made(1, *shape)]


def formula(q, k, v, causal=False, window=None, scale=None):
    """What autograd differentiates: the whole matrix of scores."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    scores = (q.shape[-1] ** -0.5 if scale is None else scale) * q @ k.mT
    seen = torch.from_numpy(seen_pairs(Mask(q.shape[2], k.shape[2], causal, window)))
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return weights.masked_fill(~seen, 0) @ v


def outcome(function, x, **words):
    """Result and gradients, for a loss that weighs every number differently."""
    out = function(*x, **words)
    by = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
    return out.detach(), *torch.autograd.grad((out * by).sum(), x)


@pytest.mark.rows("shape", SHAPES)
@pytest.mark.rows("words", MASKS)
def test_errors_are_at_most_twice_those_of_autograd_in_float32(shape, words):
    exact = outcome(formula, tensors(*shape, dtype=torch.float64), **words)
    plain = outcome(formula, tensors(*shape), **words)
    tiled = outcome(flash_attention, tensors(*shape), backend="torch", **words)
    for right, theirs, ours in zip(exact, plain, tiled, strict=True):
        error, allowed = (ours - right).norm(), (theirs - right).norm()
        assert error <= 2 * allowed + torch.finfo(torch.float32).eps * right.norm()


@pytest.mark.parametrize("words", MASKS, ids=str)
def test_gradients_pass_gradcheck_in_float64(words, monkeypatch):
    for name, size in (("TILE_Q", 4), ("TILE_K", 3), ("TILE_CUT", 2), ("NUMBERS", 12)):
        monkeypatch.setattr(tiles, name, size)
    x = tensors(1, 2, 1, 5, 7, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda *x: flash_attention(*x, backend="torch", **words), x, fast_mode=True
    )


def test_it_gives_what_the_reference_gives_rows_of_nan_and_of_nothing_too():
    q, k, v = (x.detach() for x in tensors(1, 2, 1, 300, 280, 8))
    q[0, 1, 200, 3] = torch.nan
    exact = naive_attention(q.numpy(), k.numpy(), v.numpy(), causal=True)
    tiled = flash_attention(q, k, v, causal=True, backend="torch")
    exact = torch.from_numpy(exact).float()
    assert torch.allclose(tiled, exact, rtol=1e-4, atol=1e-5, equal_nan=True)
    assert (tiled[:, :, :20] == 0).all()
    assert exact.isnan().any(dim=-1).sum() == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_values_of_another_width_their_gradients_and_the_rows_sums(dtype):
    q, k, _ = tensors(2, 4, 2, 33, 29, 24, dtype=torch.float64)
    v = torch.randn(2, 2, 29, 16, dtype=torch.float64, requires_grad=True)
    given = [x.detach().to(dtype).requires_grad_() for x in (q, k, v)]
    out, lse = flash_attention(*given, causal=True, backend="torch", return_lse=True)
    wide = [x.detach().double().requires_grad_() for x in given]
    exact = formula(*wide, causal=True)
    _, their = naive_attention(
        *(x.detach().numpy() for x in wide), causal=True, return_lse=True
    )
    assert torch.allclose(lse.double(), torch.from_numpy(their), atol=1e-5)
    assert not lse.requires_grad
    assert (lse[:, :, :4] == -torch.inf).all()
    far = 1e-12 if dtype == torch.float64 else 0.05
    assert torch.allclose(out.double(), exact, atol=far)
    g = torch.randn_like(exact)
    mine = torch.autograd.grad(out, given, g.to(dtype))
    right = torch.autograd.grad(exact, wide, g.to(dtype).double())
    for one, other in zip(mine, right, strict=True):
        assert (one.double() - other).norm() <= far * other.norm() + far


HEADS = [  # many small ones, decode, ragged, fewer queries than keys
    (3, 12, 12, 64, 64, 16),
    (3, 8, 2, 77, 77, 40),
    (4, 16, 4, 1, 1300, 24),
    (2, 6, 3, 9, 333, 8),
    (1, 40, 1, 3, 5, 256),
]


def peer(q, k, v, causal=False, window=None, scale=None):
    """torch's own, told which pairs count."""
    seen = torch.from_numpy(seen_pairs(Mask(q.shape[2], k.shape[2], causal, window)))
    words = {"attn_mask": seen, "enable_gqa": True, "scale": scale}
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **words)


@pytest.mark.rows("shape", HEADS)
@pytest.mark.rows("words", MASKS)
@pytest.mark.rows(
    ("dtype", "far"),
    [(torch.float64, 1e-12), (torch.float32, 4e-6), (torch.bfloat16, 2e-2)],
)
def test_many_heads_give_what_torchs_own_gives(shape, words, dtype, far):
    """torch's is asked in float64: in bf16 it adds shared heads with 8 bits."""
    x = tensors(*shape, dtype=dtype)
    ours = outcome(flash_attention, x, **words, **TORCH)
    theirs = outcome(peer, [a.detach().double().requires_grad_() for a in x], **words)
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == dtype
        assert (a - b).abs().max() <= far * b.abs().max()


class Counts(TorchDispatchMode):
    """Operators that torch was asked for, and the largest result of one."""

    calls = largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            self.calls += 1
            self.largest = max(self.largest, made.untyped_storage().nbytes())
        return made


def counted(shape, dtype=torch.float32, **words):
    x = tensors(*shape, dtype=dtype)
    with Counts() as seen:
        flash_attention(*x, **words, **TORCH).sum().backward()
    return seen


def test_calls_do_not_grow_with_heads_nor_memory_with_pairs():
    """A block of heads takes as many operators as one head."""
    one, many = counted((1, 1, 1, 64, 64, 64)), counted((2, 8, 8, 64, 64, 64))
    assert many.calls == one.calls < 200
    for dtype in (torch.float32, torch.bfloat16):
        for words in ({}, {"causal": True}):
            long = counted((1, 2, 1, 1500, 1500, 8), dtype, **words)
            assert long.largest <= 2 * 4 * tiles.NUMBERS  # of 9 MB of scores a head
    wide = counted((64, 16, 2, 1, 700, 16), torch.bfloat16)  # decode
    given = 64 * 2 * 700 * 16 * 4  # keys, or their gradient, in float32
    assert wide.largest <= max(given, 2 * 4 * tiles.COLUMNS)


@pytest.mark.rows("words", [{"causal": True}, {"causal": True, "window": 3}])
def test_a_key_that_is_nan_or_infinite_stays_in_the_rows_that_see_it(words):
    for bad in (torch.nan, torch.inf):
        q, k, v = (x.detach() for x in tensors(1, 2, 1, 20, 20, 8))
        k[0, 0, 12] = bad
        with np.errstate(invalid="ignore"):
            exact = naive_attention(q.numpy(), k.numpy(), v.numpy(), **words)
        tiled = flash_attention(q, k, v, **words, **TORCH)
        assert torch.equal(tiled.isnan(), torch.from_numpy(exact).isnan())
        assert not tiled[:, :, :12].isnan().any()


def test_tensors_may_lie_any_way_in_memory():
    x = [a.detach().transpose(1, 2).requires_grad_() for a in tensors(3, 9, 9, 4, 4, 8)]
    plain = [a.detach().contiguous().requires_grad_() for a in x]
    for a, b in zip(
        outcome(flash_attention, x, causal=True, **TORCH),
        outcome(flash_attention, plain, causal=True, **TORCH),
        strict=True,
    ):
        assert torch.allclose(a, b, rtol=1e-5, atol=1e-6)


def test_queries_are_left_alone():
    for queries, wide in ((1, 1), (1, 8), (8, 1)):
        q, k, v = tensors(1, 1, 1, queries, 4, wide)
        before = q.detach().clone()
        flash_attention(q, k, v, backend="torch").sum().backward()
        assert torch.equal(q.detach(), before)


def test_arrays_and_types_that_it_lacks_are_named():
    q, k, v = made(1, 1, 1, 1, 3, 3, 4)
    with pytest.raises(TypeError, match=r"torch\.from_numpy"):
        flash_attention(q, k, v, backend="torch")
    with pytest.raises(TypeError, match="int32"):
        flash_attention(*(x.int() for x in tensors(1, 1, 1, 3, 3, 4)), backend="torch")
    q, k, v = tensors(1, 1, 1, 3, 3, 4)
    with pytest.raises(TypeError, match="cpu, meta, cpu: one device"):  # no numbers
        flash_attention(q, k.to("meta"), v, backend="torch")


def test_a_second_derivative_is_refused_and_not_wrong():
    x = tensors(1, 1, 1, 3, 3, 4)
    for power in (1, 2):  # of a sum it was left out in silence
        out = flash_attention(*x, backend="torch")
        with pytest.raises(NotImplementedError, match="no second derivatives"):
            torch.autograd.grad((out**power).sum(), x[0], create_graph=True)
