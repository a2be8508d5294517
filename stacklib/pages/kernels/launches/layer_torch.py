"""A decoder layer run operator by operator on torch's meta device, its kernels counted.

The layer is written as an eager framework writes it (Hugging Face's Llama): RMSNorm in
float32 with casts, three products for q, k and v, RoPE by ``rotate_half``, a cache of
fixed size, one call of fused attention, an all-reduce after each of two row-parallel
products. The meta device has shapes and no numbers, so nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

try:
    import torch
except ModuleNotFoundError as missing:
    how = "this cell runs torch: python -m pip install torch, or stacklib[torch]"
    raise ModuleNotFoundError(f"{missing}; {how}", name=missing.name) from None
from torch.nn.functional import linear, scaled_dot_product_attention, silu
from torch.utils._python_dispatch import TorchDispatchMode

NO_KERNEL = {"_unsafe_view"}  # besides views, of which the schema tells


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operator that starts a kernel."""

    part: str  # of the layer
    name: str
    bytes: int  # of the tensors that it reads and writes


class Recorder(TorchDispatchMode):
    """Notes every operator that is dispatched, but those that only look anew."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: list[Kernel] = []
        self.part = ""

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Kernels within belong to a part of the layer."""
        self.part = part
        yield

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run it; note it if it is no view."""
        result = func(*args, **(kwargs or {}))
        if not _is_view(func):
            name = func.overloadpacket.__name__
            self.kernels.append(Kernel(self.part, name, _moved(name, args, result)))
        return result

    def all_reduce(self, x: Any) -> None:
        """One kernel of the communication library, counted by its name."""
        self.kernels.append(Kernel("all-reduce", "all_reduce", 2 * x.nbytes))


def _is_view(func: Any) -> bool:
    marks = [a.alias_info for a in func._schema.arguments]
    looks = any(mark is not None and not mark.is_write for mark in marks)
    return looks or func.overloadpacket.__name__ in NO_KERNEL


def _moved(name: str, args: Any, result: Any) -> int:
    if name == "index_copy_":  # only the rows that are put there
        return 2 * int(args[3].nbytes)
    made = result[0] if isinstance(result, tuple) else result
    read = [t for a in args for t in (a if isinstance(a, list) else [a])]
    return sum(int(t.nbytes) for t in [*read, made] if isinstance(t, torch.Tensor))


def _rms_norm(x: Any, weight: Any) -> Any:
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    wide = wide * torch.rsqrt(variance + 1e-5)
    return weight * wide.to(x.dtype)


def _rotate_half(x: Any) -> Any:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def _rotary(x: Any, cos: Any, sin: Any) -> Any:
    return x * cos + _rotate_half(x) * sin


def decode_layer(
    *, hidden: int, heads: int, kv_heads: int, head_dim: int, inner: int, cached: int
) -> list[Kernel]:
    """Kernels of one layer for one new token; sizes are one device's shard."""
    run = layer_of(hidden, heads, kv_heads, head_dim, inner, cached, "meta")
    with torch.no_grad(), Recorder() as seen:
        run(seen)
    return seen.kernels


def layer_of(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    inner: int,
    cached: int,
    device: str,
) -> Callable[[Recorder], Any]:
    """A layer with its weights: called, it runs one token and names its parts."""

    def tensor(*shape: int) -> Any:
        return torch.zeros(shape, dtype=torch.bfloat16, device=device)

    def turned(w: Any, y: Any) -> Any:
        return linear(y, w).view(1, 1, -1, head_dim).transpose(1, 2)

    start, gain = tensor(1, 1, hidden), tensor(hidden)
    cos, sin = tensor(1, 1, 1, head_dim), tensor(1, 1, 1, head_dim)
    keys, values = (tensor(1, kv_heads, cached, head_dim) for _ in range(2))
    place = torch.zeros(1, dtype=torch.long, device=device)
    wq, *wkv = (tensor(n * head_dim, hidden) for n in (heads, kv_heads, kv_heads))
    wo, down = tensor(hidden, heads * head_dim), tensor(hidden, inner)
    wide = [tensor(inner, hidden) for _ in range(2)]

    def attended(q: Any) -> Any:
        if device == "meta":
            flash = torch.ops.aten._scaled_dot_product_flash_attention
            return flash(q, keys, values)[0]
        return scaled_dot_product_attention(q, keys, values, enable_gqa=True)

    def run(seen: Recorder) -> Any:
        with seen.of("norm"):
            y = _rms_norm(start, gain)
        with seen.of("q, k, v"):
            q, k, v = (turned(w, y) for w in (wq, *wkv))
        with seen.of("rotary"):
            q, k = _rotary(q, cos, sin), _rotary(k, cos, sin)
        with seen.of("cache"):
            keys.index_copy_(2, place, k)
            values.index_copy_(2, place, v)
        with seen.of("attention"):
            mixed = attended(q).transpose(1, 2).reshape(1, 1, -1)
        with seen.of("out"):
            y = linear(mixed, wo)
        seen.all_reduce(y)
        with seen.of("residual"):
            x = start + y
        with seen.of("norm"):
            y = _rms_norm(x, gain)
        with seen.of("gate, up"):
            gate, up = (linear(y, w) for w in wide)
        with seen.of("activation"):
            y = silu(gate) * up
        with seen.of("down"):
            y = linear(y, down)
        seen.all_reduce(y)
        with seen.of("residual"):
            return x + y

    return run
