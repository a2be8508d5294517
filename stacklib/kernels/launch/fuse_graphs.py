"""Two graphs to fuse: attention with its norm and RoPE, and a layer of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stacklib.quantity.bounds import whole

from .op_graph import Op, OpGraph, Tensor


def _softmax(name: str, source: str, shape: tuple[int, ...]) -> Any:
    """Tensors and operations of a softmax over the last axis."""
    row = (*shape[:-1], 1)
    top, raised, total = f"{name}.max", f"{name}.exp", f"{name}.sum"
    tensors = {top: Tensor(row, "fp32"), raised: Tensor(shape)}
    tensors |= {total: Tensor(row, "fp32"), name: Tensor(shape)}
    ops = [
        Op(top, "reduction", (source,), lambda x: x.max(-1, keepdims=True)),
        Op(raised, "elementwise", (source, top), lambda x, m: np.exp(x - m)),
        Op(total, "reduction", (raised,), lambda x: x.sum(-1, keepdims=True)),
        Op(name, "elementwise", (raised, total), np.divide),
    ]
    return tensors, ops


def _rotated(x: Any, cos: Any, sin: Any) -> Any:
    first, second = np.split(x, 2, axis=-1)
    return x * cos + np.concatenate((-second, first), axis=-1) * sin


def _rms_norm(tokens: int, hidden: int) -> Any:
    ops = [
        Op("square", "reduction", ("x",), lambda x: (x * x).mean(-1, keepdims=True)),
        Op(
            "normed",
            "elementwise",
            ("x", "square", "gain"),
            lambda x, s, g: x / np.sqrt(s + 1e-6) * g,
        ),
    ]
    tensors = {
        "x": Tensor((tokens, hidden)),
        "gain": Tensor((hidden,)),
        "square": Tensor((tokens, 1), "fp32"),
        "normed": Tensor((tokens, hidden)),
    }
    return tensors, ops


def attention_graph(*, tokens: int, head_dim: int, hidden: int) -> OpGraph:
    """One head of attention: norm, projections, RoPE, scores, softmax, values, sum.

    Without a mask; the scale is part of the query's projection.
    """
    whole(tokens=tokens, head_dim=head_dim, hidden=hidden)
    tensors, ops = _rms_norm(tokens, hidden)
    tensors |= {name: Tensor((tokens, head_dim)) for name in ("cos", "sin")}
    for name in ("q", "k", "v"):
        tensors |= {f"w{name}": Tensor((hidden, head_dim))}
        tensors |= {name: Tensor((tokens, head_dim))}
        ops.append(Op(name, "matmul", ("normed", f"w{name}")))
    for name in ("q", "k"):
        tensors |= {f"{name}.rope": Tensor((tokens, head_dim))}
        ops.append(Op(f"{name}.rope", "elementwise", (name, "cos", "sin"), _rotated))
    tensors["wo"] = Tensor((head_dim, hidden))
    scores = (tokens, tokens)
    more, softmax = _softmax("p", "s", scores)
    tensors |= {"s": Tensor(scores), **more, "mixed": Tensor((tokens, head_dim))}
    tensors |= {"out": Tensor((tokens, hidden)), "y": Tensor((tokens, hidden))}
    ops += [
        Op("s", "matmul", ("q.rope", "k.rope"), turned=True),
        *softmax,
        Op("mixed", "matmul", ("p", "v")),
        Op("out", "matmul", ("mixed", "wo")),
        Op("y", "elementwise", ("out", "x"), np.add),
    ]
    return OpGraph(tensors, tuple(ops), ("y",))


def _routed(top: int, capacity: int) -> dict[str, Callable[..., Any]]:
    """Who goes where: an expert's tokens, a token's places, and its weights."""

    def chosen(p: Any) -> Any:
        return np.argsort(-p, axis=-1, kind="stable")[:, :top]  # (tokens, top)

    def slots(p: Any) -> Any:
        held = np.zeros((p.shape[1], capacity), np.int64)
        for expert in range(p.shape[1]):
            tokens = np.flatnonzero((chosen(p) == expert).any(-1))[:capacity]
            held[expert, : len(tokens)] = tokens
        return held

    def places(p: Any) -> Any:
        found: Any = np.full((len(p), top), -1, np.int64)
        for expert in range(p.shape[1]):
            rows, which = np.nonzero(chosen(p) == expert)
            fit = np.arange(len(rows)) < capacity
            found[rows[fit], which[fit]] = expert * capacity + np.arange(fit.sum())
        return found

    def weights(p: Any) -> Any:
        own = np.take_along_axis(p, chosen(p), -1)
        return np.where(places(p) >= 0, own, 0.0)[..., None]  # dropped: no weight

    def safe(p: Any) -> Any:
        return np.maximum(places(p), 0)

    return {"slots": slots, "places": safe, "weights": weights}


def experts_graph(
    *, tokens: int, hidden: int, inner: int, experts: int, top: int, capacity: int
) -> OpGraph:
    """A layer of experts: gate, dispatch, two products with SwiGLU, combine.

    An expert takes ``capacity`` tokens at most; what does not fit is dropped.
    """
    whole(tokens=tokens, hidden=hidden, inner=inner, experts=experts, top=top)
    whole(capacity=capacity)
    more, softmax = _softmax("p", "logits", (tokens, experts))
    held = (experts, capacity)
    tensors = {
        "x": Tensor((tokens, hidden)),
        "gate": Tensor((hidden, experts)),
        "logits": Tensor((tokens, experts)),
        **more,
        "slots": Tensor(held, "int32"),
        "places": Tensor((tokens, top), "int32"),
        "weights": Tensor((tokens, top, 1), "fp32"),
        "sent": Tensor((*held, hidden)),
        "w1": Tensor((experts, hidden, inner)),
        "w3": Tensor((experts, hidden, inner)),
        "w2": Tensor((experts, inner, hidden)),
        "a": Tensor((*held, inner)),
        "b": Tensor((*held, inner)),
        "act": Tensor((*held, inner)),
        "made": Tensor((*held, hidden)),
        "back": Tensor((tokens, top, hidden)),
        "weighed": Tensor((tokens, top, hidden)),
        "y": Tensor((tokens, 1, hidden)),
    }
    route = _routed(top, capacity)
    ops = [
        Op("logits", "matmul", ("x", "gate")),
        *softmax,
        *(Op(name, "sort", ("p",), run) for name, run in route.items()),
        Op("sent", "gather", ("x", "slots")),
        Op("a", "matmul", ("sent", "w1")),
        Op("b", "matmul", ("sent", "w3")),
        Op("act", "elementwise", ("a", "b"), lambda a, b: a / (1 + np.exp(-a)) * b),
        Op("made", "matmul", ("act", "w2")),
        Op("back", "gather", ("made", "places")),
        Op("weighed", "elementwise", ("back", "weights"), np.multiply),
        Op("y", "reduction", ("weighed",), lambda x: x.sum(1, keepdims=True)),
    ]
    return OpGraph(tensors, tuple(ops), ("y",))


def layernorm_graph(rows: int, columns: int, dtype: str = "bf16") -> OpGraph:
    """A layer norm as a library's calls: mean, centre, square, mean, scale, affine."""
    whole(rows=rows, columns=columns)
    full, row = Tensor((rows, columns), dtype), Tensor((rows, 1), "fp32")
    tensors = dict.fromkeys(("x", "centred", "squared", "scaled", "gained", "y"), full)
    tensors |= {"mean": row, "var": row}
    tensors |= dict.fromkeys(("w", "b"), Tensor((columns,), dtype))
    ops = (
        Op("mean", "reduction", ("x",), lambda x: x.mean(-1, keepdims=True)),
        Op("centred", "elementwise", ("x", "mean"), np.subtract),
        Op("squared", "elementwise", ("centred",), np.square),
        Op("var", "reduction", ("squared",), lambda x: x.mean(-1, keepdims=True)),
        Op(
            "scaled",
            "elementwise",
            ("centred", "var"),
            lambda x, v: x / np.sqrt(v + 1e-5),
        ),
        Op("gained", "elementwise", ("scaled", "w"), np.multiply),
        Op("y", "elementwise", ("gained", "b"), np.add),
    )
    return OpGraph(tensors, ops, ("y",))
