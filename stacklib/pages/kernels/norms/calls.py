"""An RMS norm as the calls of a tensor library, and what starting a kernel costs.

Plain Python, so that a live figure can count it.
"""

from __future__ import annotations

from stacklib.kernels.launch.fuse import Fusion, fuse
from stacklib.kernels.launch.launches import cost
from stacklib.kernels.launch.op_graph import Op, OpGraph, Tensor

# As Meta's published code of Llama writes it: output, kind, inputs, type, whole rows.
CALLS = (
    ("x.float()", "elementwise", ("x",), "fp32", True),
    ("x * x", "elementwise", ("x.float()",), "fp32", True),
    ("mean", "reduction", ("x * x",), "fp32", False),
    ("+ eps", "elementwise", ("mean",), "fp32", False),
    ("rsqrt", "elementwise", ("+ eps",), "fp32", False),
    ("x * rsqrt", "elementwise", ("x.float()", "rsqrt"), "fp32", True),
    ("to bf16", "elementwise", ("x * rsqrt",), "bf16", True),
    ("* weight", "elementwise", ("to bf16", "weight"), "bf16", True),
)
NODE_S = cost("node").si  # from one node of a graph to the next, as section 4.1 takes


def rmsnorm_graph(rows: int, columns: int) -> OpGraph:
    """The eight calls as a graph of tensors and operations."""
    tensors = {"x": Tensor((rows, columns)), "weight": Tensor((columns,))}
    for name, _, _, dtype, full in CALLS:
        tensors[name] = Tensor((rows, columns if full else 1), dtype)
    ops = tuple(Op(name, kind, inputs) for name, kind, inputs, *_ in CALLS)
    return OpGraph(tensors, ops, (CALLS[-1][0],))


def cut(rows: int, columns: int, *, fused: bool) -> Fusion:
    """The graph as one kernel, or each call as a kernel of its own."""
    return fuse(rmsnorm_graph(rows, columns), *([] if fused else [()]))


def seconds(rows: int, columns: int, bandwidth: float, *, fused: bool) -> float:
    """Bytes at a bandwidth, and a start for each kernel of a replayed graph."""
    return cut(rows, columns, fused=fused).seconds(bandwidth, NODE_S)
