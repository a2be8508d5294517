"""One decode step of the eighth of Llama-3-70B that one of eight chips holds.

Every layer has two of the model's 16 parts of each kind of matrix: eight query heads
and one of keys and values, an eighth of the MLP. The two sums over the chips are left
out, so that one chip can be asked alone. The step is captured as one CUDA graph. By
torch's own calls, or by the book's kernels where it has them: norms, products,
attention over pages. A case whose id ends in *check* is small, and held to float64.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from gpu_cases import Case
from gpu_timing import Op
from gpu_written import kernels

PAGE = 16  # tokens
BASE = 500000.0  # of the rotation's frequencies
LAYER = ("norm_1", "qkv", "o", "norm_2", "gate_up", "down")


@dataclass
class Parts:
    """What a step is made of: a norm, a product, attention over the cache."""

    norm: Callable[..., Any]
    product: Callable[..., Any]
    attend: Callable[..., Any]


class Decode:
    """Builds the ``Op`` of a case of section *decode*."""

    def __init__(self, bench: Any) -> None:
        self.torch, self.bench = bench.torch, bench

    def build(self, case: Case) -> Op:
        """The step, after its check where it has one."""
        self.torch.manual_seed(0)
        state = SimpleNamespace(**self._weights(case), **self._sequences(case))
        parts = self._parts(case)
        if case["check"]:
            case |= self._errors(case, state, parts)
        return Op(lambda i: step(self.torch, case, state, parts), cold=True, graph=True)

    def _weights(self, case: Case) -> dict[str, Any]:
        """Weights of every layer, kept for the next batch; products keep their size."""
        key = ("decode", case["hidden"], case["layers"])
        if self.bench.kept[0] != key:
            self.bench.kept = (None, None)  # frees others before these need room
            hidden, query = case["hidden"], case["heads"] * case["dim"]
            wide = query + 2 * case["kv_heads"] * case["dim"]
            shapes = {
                "norm_1": (hidden,),
                "qkv": (wide, hidden),
                "o": (hidden, query),
                "norm_2": (hidden,),
                "gate_up": (2 * case["intermediate"], hidden),
                "down": (hidden, case["intermediate"]),
            }
            layers = [
                {name: self._matrix(*shapes[name]) for name in LAYER}
                for _ in range(case["layers"])
            ]
            last = {"norm": self._matrix(hidden)}
            last["head"] = self._matrix(case["vocab"], hidden)
            self.bench.kept = (key, {"layers": layers, **last})
        return dict(self.bench.kept[1])

    def _matrix(self, *shape: int) -> Any:
        made = self.bench.random(shape, "bf16")
        return made.div_(math.sqrt(shape[-1])) if len(shape) > 1 else made

    def _sequences(self, case: Case) -> dict[str, Any]:
        """The cache in pages, whose pages are whose, and what the step is given."""
        torch, batch, device = self.torch, case["batch"], self.bench.device
        most = math.ceil(case["context"] / PAGE)
        pages = (case["layers"], batch * most, PAGE, case["kv_heads"], case["dim"])
        order = torch.arange(batch * most, dtype=torch.int32, device=device)
        if case["backend"] != "torch" and not case["check"]:  # torch reads in order
            order = torch.randperm(batch * most, device=device).to(torch.int32)
        last = case["context"] - 1
        angles = torch.arange(0, case["dim"], 2, device=device).float() / case["dim"]
        angles = last * BASE**-angles
        return {
            "x": self.bench.random((batch, case["hidden"]), "bf16"),
            "k": self.bench.random(pages, "bf16"),
            "v": self.bench.random(pages, "bf16"),
            "table": order.reshape(batch, most),
            "lengths": torch.full(
                (batch,), case["context"], dtype=torch.int32, device=device
            ),
            "row": order.reshape(batch, most)[:, last // PAGE].long(),
            "place": last % PAGE,
            "cos": angles.cos().bfloat16(),
            "sin": angles.sin().bfloat16(),
        }

    def _parts(self, case: Case) -> Parts:
        functional = self.torch.nn.functional
        if case["backend"] != "torch":
            ours = kernels()
            return Parts(
                ours.rows_triton.rmsnorm,
                lambda x, w: ours.matmul_triton.matmul(x, w.T),
                ours.decode_triton.paged_decode,
            )

        def norm(x: Any, w: Any) -> Any:
            return functional.rms_norm(x, x.shape[-1:], w, eps=1e-6)

        def attend(q: Any, k: Any, v: Any, table: Any, _lengths: Any) -> Any:
            shape = (table.shape[0], -1, *k.shape[2:])  # pages in order: a view
            k, v = (
                x.reshape(shape)[:, : case["context"]].transpose(1, 2) for x in (k, v)
            )
            call = functional.scaled_dot_product_attention
            return call(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]

        return Parts(norm, lambda x, w: x @ w.T, attend)

    def _errors(self, case: Case, state: Any, parts: Parts) -> dict[str, float]:
        """Error of the step, and of torch's in the same precision, against float64."""
        torch, plain = self.torch, self._parts({**case, "backend": "torch"})
        exact = step(torch, case, _double(torch, state), plain)
        errors = [
            float((step(torch, case, state, p).double() - exact).abs().max())
            for p in (parts, plain)
        ]
        if not errors[0] <= 2 * errors[1] + 1e-6:
            told = f"error {errors[0]:.3g}, over twice torch's {errors[1]:.3g}"
            raise ArithmeticError(told)
        return dict(zip(("error", "torch_error"), errors, strict=True))


def step(torch: Any, case: Case, state: Any, parts: Parts) -> Any:
    """Logits of the next token of every sequence; the cache gets this token's part."""
    x, heads, kv_heads = state.x, case["heads"], case["kv_heads"]
    for number, w in enumerate(state.layers):
        qkv = parts.product(parts.norm(x, w["norm_1"]), w["qkv"])
        qkv = qkv.reshape(len(x), heads + 2 * kv_heads, case["dim"])
        turned = _rotated(torch, qkv[:, : heads + kv_heads], state.cos, state.sin)
        k, v = state.k[number], state.v[number]
        k[state.row, state.place] = turned[:, heads:]
        v[state.row, state.place] = qkv[:, heads + kv_heads :]
        q = turned[:, :heads].contiguous()
        seen = parts.attend(q, k, v, state.table, state.lengths)
        x = x + parts.product(seen.reshape(len(x), -1), w["o"])
        gate_up = parts.product(parts.norm(x, w["norm_2"]), w["gate_up"])
        gate, up = gate_up.chunk(2, -1)
        mixed = torch.nn.functional.silu(gate) * up
        x = x + parts.product(mixed, w["down"])
    return parts.product(parts.norm(x, state.norm), state.head)


def _rotated(torch: Any, x: Any, cos: Any, sin: Any) -> Any:
    """Halves of each head turned against one another, as Llama does."""
    low, high = x.chunk(2, -1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), -1)


def _double(torch: Any, state: Any) -> Any:
    def wide(value: Any) -> Any:
        if torch.is_tensor(value):
            return value.double() if value.is_floating_point() else value.clone()
        if isinstance(value, list):
            return [{name: wide(w) for name, w in layer.items()} for layer in value]
        return value

    return SimpleNamespace(**{name: wide(v) for name, v in vars(state).items()})
