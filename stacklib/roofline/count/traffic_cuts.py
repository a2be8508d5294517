"""Famous speed-ups as what they are: the same arithmetic with fewer bytes.

Each cut is two pieces of work, before and after. Their operations hardly differ; what
differs is how often the data cross between memory and chip.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, assumed, bytes_per_element, chosen

from ..bound.decode import decode_work
from ..work.bounds import bound_on
from ..work.fit import model_of
from ..work.steps import Rule
from ..work.work import Work, attention, matmul
from .operations import gelu, layer_norm, softmax, transpose

FIVE = ("matmul", "layernorm", "softmax", "gelu", "transpose")


def five_operations(
    rows: int, cols: int, dtype: str = "bf16", *, rule: str | Rule = "fused"
) -> dict[str, Work]:
    """The operations whose roofline everyone draws first, on one (rows, cols) array.

    The product multiplies the array by a square matrix of side ``cols``.
    """
    shape = {"rows": rows, "columns": cols, "dtype": dtype}
    elements = {"elements": rows * cols, "dtype": dtype}
    return {
        "matmul": matmul(m=rows, n=cols, k=cols, dtype=dtype),
        "layernorm": layer_norm(**shape, rule=rule),  # type: ignore[arg-type]
        "softmax": softmax(**shape, rule=rule),  # type: ignore[arg-type]
        "gelu": gelu(**elements, rule=rule),  # type: ignore[arg-type]
        "transpose": transpose(**shape),  # type: ignore[arg-type]
    }


@dataclass(frozen=True, slots=True)
class Cut:
    """One speed-up: its name, and the work before and after, for the same result."""

    name: str
    before: Work  # for one and the same piece of result
    after: Work

    @property
    def work(self) -> Quantity:
        """Operations after over before."""
        return (self.after.operations / self.before.operations).named("operations left")

    @property
    def traffic(self) -> Quantity:
        """Bytes after over before."""
        return (self.after.bytes / self.before.bytes).named("bytes left")

    def speedup(self, on: str) -> Quantity:
        """Least time before over least time after on a device."""
        slow, fast = bound_on(self.before, on).time, bound_on(self.after, on).time
        return (slow / fast).named(f"least time before over after: {self.name}")


def unfused_attention(
    *, tokens: int, heads: int, kv_heads: int, head_dim: int, dtype: str = "bf16"
) -> Work:
    """Attention of a whole prompt by three calls: scores, softmax, values.

    The score matrix is written, read and written by the softmax, and read again.
    Without a causal mask, as such calls compute all of it.
    """
    shape = {"heads": heads, "kv_heads": kv_heads, "head_dim": head_dim}
    fused = attention(queries=tokens, keys=tokens, dtype=dtype, **shape)  # type: ignore[arg-type]
    side, count = chosen(tokens, label="tokens"), chosen(heads, label="heads")
    crossings = assumed(
        4,
        label="times the scores cross",
        why="They are written, read by the softmax, written and read again.",
    )
    scores = crossings * count * side * side * bytes_per_element(dtype)
    return Work(
        fused.operations,
        (fused.bytes + scores.named("score traffic")).named("bytes moved"),
        f"unfused attention of {tokens}",
        fused.dtype,
    )


def fused(operation: str, rows: int, cols: int, dtype: str = "bf16") -> Cut:
    """A row-wise or elementwise operation: step by step, and as one kernel."""
    if operation == "matmul":
        raise ValueError("matmul is one step: nothing to fuse")
    stepwise = five_operations(rows, cols, dtype, rule="steps")
    known = ", ".join(name for name in stepwise if name != "matmul")
    if operation not in stepwise:
        raise ValueError(f"operation {operation!r}: one of {known}")
    whole = five_operations(rows, cols, dtype)[operation]
    return Cut(f"fusing {operation}", stepwise[operation], whole)


def _decode(model: LanguageModel, dtype: str, batch: int) -> Work:
    """One token's share of a decode step."""
    work = decode_work(model, dtype=dtype, batch=batch, context=4096)
    one = chosen(batch, label="batch")
    return Work(work.operations / one, work.bytes / one, work.name, work.dtype)


def famous_cuts(
    model: str | LanguageModel = "llama-3-70b", tokens: int = 8192, batch: int = 64
) -> list[Cut]:
    """FlashAttention, 8-bit weights, batching, shared KV heads, fusion."""
    found = model_of(model)
    shape = {
        "heads": found.heads,
        "kv_heads": found.kv_heads,
        "head_dim": found.head_dim,
    }
    flash = attention(queries=tokens, keys=tokens, **shape)  # type: ignore[arg-type]
    one = {
        "queries": 1,
        "keys": tokens,
        "heads": found.heads,
        "head_dim": found.head_dim,
    }
    own = attention(kv_heads=found.heads, **one)  # type: ignore[arg-type]
    shared = attention(kv_heads=found.kv_heads, **one)  # type: ignore[arg-type]
    alone = _decode(found, "bf16", 1)
    return [
        Cut("FlashAttention", unfused_attention(tokens=tokens, **shape), flash),  # type: ignore[arg-type]
        Cut("8-bit weights and cache", alone, _decode(found, "e4m3fn", 1)),
        Cut("batching", alone, _decode(found, "bf16", batch)),
        Cut("shared KV heads", own, shared),
        fused("gelu", tokens, found.hidden),
    ]
