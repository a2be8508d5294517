"""A decoder layer's parts as op graphs, in plain Python: counted, and not executed.

An operation for each kernel that ``launches.layer_torch`` counts, on one of eight GPUs.
``tokens`` new tokens are run; a token's cosines and sines are one row each.
"""

from __future__ import annotations

from stacklib.kernels.launch.op_graph import Op, OpGraph, Tensor

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INNER = 8192, 8, 1, 128, 3584
LIBRARY = ("elementwise", "rows", "siblings")  # within a part: products by a library


class Drawn:
    """A graph under construction: tensors by name, operations in order."""

    def __init__(self, **given: Tensor) -> None:
        self.tensors = dict(given)
        self.ops: list[Op] = []

    def op(self, name: str, kind: str, inputs: str, made: Tensor) -> None:
        """Add an operation; its inputs by name, between spaces."""
        self.tensors[name] = made
        turned = name == "scores"
        self.ops.append(Op(name, kind, tuple(inputs.split()), turned=turned))

    def graph(self, *results: str) -> OpGraph:
        """The graph, and what is wanted of it."""
        return OpGraph(self.tensors, tuple(self.ops), results)


def norm(tokens: int) -> OpGraph:
    """The residual's addition and an RMS norm in FP32, as a framework writes it."""
    row, wide = Tensor((tokens, HIDDEN)), Tensor((tokens, HIDDEN), "fp32")
    one = Tensor((tokens, 1), "fp32")
    drawn = Drawn(x=row, y=row, gain=Tensor((HIDDEN,)))
    drawn.op("sum", "elementwise", "x y", row)
    drawn.op("wide", "elementwise", "sum", wide)
    drawn.op("square", "elementwise", "wide", wide)
    drawn.op("mean", "reduction", "square", one)
    drawn.op("shifted", "elementwise", "mean", one)
    drawn.op("root", "elementwise", "shifted", one)
    drawn.op("scaled", "elementwise", "wide root", wide)
    drawn.op("narrow", "elementwise", "scaled", row)
    drawn.op("normed", "elementwise", "narrow gain", row)
    return drawn.graph("sum", "normed")


def _turn(drawn: Drawn, name: str, tokens: int, heads: int) -> None:
    shape = Tensor((tokens, heads, HEAD_DIM))
    drawn.op(f"{name}.cos", "elementwise", f"{name} cos", shape)
    drawn.op(f"{name}.minus", "elementwise", name, shape)
    drawn.op(f"{name}.half", "elementwise", f"{name} {name}.minus", shape)
    drawn.op(f"{name}.sin", "elementwise", f"{name}.half sin", shape)
    drawn.op(f"{name}.turned", "elementwise", f"{name}.cos {name}.sin", shape)


def rotation(tokens: int, *, joined: bool = False) -> OpGraph:
    """Rotation of q and k, and k and v put into the cache.

    ``joined``: q, k and v are one tensor, as one product makes them, and turned as one
    expression.
    """
    angle = Tensor((tokens, 1, HEAD_DIM))
    if joined:
        both = Tensor((tokens, HEADS + 2 * KV_HEADS, HEAD_DIM))
        drawn = Drawn(qkv=both, cos=angle, sin=angle)
        drawn.op("turned", "elementwise", "qkv cos sin", both)
        drawn.op("kept", "elementwise", "turned", both)
        return drawn.graph("kept")
    few = Tensor((tokens, KV_HEADS, HEAD_DIM))
    q = Tensor((tokens, HEADS, HEAD_DIM))
    drawn = Drawn(q=q, k=few, v=few, cos=angle, sin=angle)
    _turn(drawn, "q", tokens, HEADS)
    _turn(drawn, "k", tokens, KV_HEADS)
    drawn.op("k.kept", "elementwise", "k.turned", few)
    drawn.op("v.kept", "elementwise", "v", few)
    return drawn.graph("q.turned", "k.kept", "v.kept")


def products(tokens: int, inner: int, *outs: tuple[str, int]) -> OpGraph:
    """Products of the same rows with some matrices."""
    drawn = Drawn(x=Tensor((tokens, inner)))
    for name, wide in outs:
        drawn.tensors[f"w.{name}"] = Tensor((inner, wide))
        drawn.op(name, "matmul", f"x w.{name}", Tensor((tokens, wide)))
    return drawn.graph(*(name for name, _ in outs))


def activation(tokens: int) -> OpGraph:
    """SwiGLU's elementwise half."""
    row = Tensor((tokens, INNER))
    drawn = Drawn(gate=row, up=row)
    drawn.op("silu", "elementwise", "gate", row)
    drawn.op("act", "elementwise", "silu up", row)
    return drawn.graph("act")


def mlp(tokens: int) -> OpGraph:
    """Gate and up with the activation behind them, and down."""
    row = Tensor((tokens, INNER))
    drawn = Drawn(x=Tensor((tokens, HIDDEN)))
    for name in ("gate", "up"):
        drawn.tensors[f"w.{name}"] = Tensor((HIDDEN, INNER))
        drawn.op(name, "matmul", f"x w.{name}", row)
    drawn.op("silu", "elementwise", "gate", row)
    drawn.op("act", "elementwise", "silu up", row)
    drawn.tensors["w.down"] = Tensor((INNER, HIDDEN))
    drawn.op("down", "matmul", "act w.down", Tensor((tokens, HIDDEN)))
    return drawn.graph("down")


def attention(tokens: int, keys: int, heads: int = HEADS) -> OpGraph:
    """Attention as its formula says: scores, softmax, and the values weighed."""
    scores, one = Tensor((heads, tokens, keys)), Tensor((heads, tokens, 1), "fp32")
    cache = Tensor((KV_HEADS, keys, HEAD_DIM))
    q = Tensor((heads, tokens, HEAD_DIM))
    drawn = Drawn(q=q, k=cache, v=cache)
    drawn.op("scores", "matmul", "q k", scores)
    drawn.op("top", "reduction", "scores", one)
    drawn.op("raised", "elementwise", "scores top", scores)
    drawn.op("total", "reduction", "raised", one)
    drawn.op("p", "elementwise", "raised total", scores)
    drawn.op("mixed", "matmul", "p v", q)
    return drawn.graph("mixed")


PARTS = ("norm", "rotation", "attention", "MLP")


def graph(part: str, tokens: int, keys: int) -> OpGraph:
    """A part by its name; of the MLP activation and products together."""
    made = {
        "norm": lambda: norm(tokens),
        "rotation": lambda: rotation(tokens),
        "attention": lambda: attention(tokens, keys),
        "MLP": lambda: mlp(tokens),
    }
    return made[part]()


def layer(tokens: int, *, joined: bool = False) -> dict[str, OpGraph]:
    """The parts of a layer between which a library's products stand, twice the norm.

    Attention, which is one kernel before and after, and the all-reduces are not here.
    """
    small = KV_HEADS * HEAD_DIM
    return {
        "add, norm": norm(tokens),
        "q, k, v": products(
            tokens, HIDDEN, ("q", HEADS * HEAD_DIM), ("k", small), ("v", small)
        ),
        "rotate, store": rotation(tokens, joined=joined),
        "out": products(tokens, HEADS * HEAD_DIM, ("out", HIDDEN)),
        "add, norm again": norm(tokens),
        "gate, up": products(tokens, HIDDEN, ("gate", INNER), ("up", INNER)),
        "activation": activation(tokens),
        "down": products(tokens, INNER, ("down", HIDDEN)),
    }
