"""The drawing of section 4.2: edges that go through memory, and that no longer do."""

from stacklib.kernels.launch.fuse import fuse
from stacklib.kernels.launch.op_graph import Op, OpGraph, read_bytes
from stacklib.pages.kernels import fusion as page
from stacklib.pages.kernels.fusion import graphs
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, counting

__all__ = ["traffic_that_disappears"]

WORDS = {
    "sum": "add the residual",
    "wide": "cast to FP32",
    "square": "square",
    "mean": "mean of a row",
    "shifted": "add epsilon",
    "root": "reciprocal root",
    "scaled": "scale",
    "narrow": "cast to BF16",
    "normed": "gain",
}
SMALL = {"shifted", "root"}  # a number a row: drawn with the mean


def traffic_that_disappears() -> d.Drawing:
    """The norm of a prompt as kernels of an operation each, and as one."""
    graph = graphs.norm(page.PROMPT)
    fused = fuse(graph, graphs.LIBRARY)
    most = max((through(graph, op) for op in graph.ops), key=lambda q: q.si)
    apart: list[d.Node] = [
        _row(op.output, through(graph, op), most)
        for op in graph.ops
        if op.output not in SMALL
    ]
    moved = page.moved(page.PROMPT, fused=True, part="add, norm")
    whole = moved.named("fused, all of it")
    inside = d.chain(
        *(
            d.Box(WORDS[name], role=gpu.CHIP)
            for kernel in fused.kernels
            for name in kernel
            if name not in SMALL
        ),
        down=(True, True),
    )
    one = d.Box(
        "one kernel", d.line("one kernel", bold=True), inside, gpu.CHIP, lit=True
    )
    steps = [
        ("one by one", d.right_of(d.below(*apart, gap=4), _memory(), gap=0)),
        ("fused", d.right_of(one, _pipe("one kernel", whole, most), _memory(), gap=0)),
    ]
    title = "Fused, every edge between two operations stays on the chip."
    return d.draw(steps, name="fusion-edges", title=title, devices=["h100-sxm"])


def _memory() -> d.Node:
    return d.Box("HBM", d.line("HBM", bold=True), role=gpu.STORE, grow=0.35)


@counting(lambda graph, op: f"bytes to {WORDS[op.output]}", unit="B")
def through(graph: OpGraph, op: Op) -> int:
    """Bytes of an operation by itself."""
    read = sum(read_bytes(graph, op, name) for name in set(op.inputs))
    return read + graph.of(op.output).bytes


def _row(name: str, moved: Quantity, most: Quantity) -> d.Node:
    words = WORDS[name]
    box = d.Box(words, role=gpu.CHIP)
    return d.right_of(box, _pipe(words, moved, most), gap=0)


def _pipe(start: str, moved: Quantity, most: Quantity) -> d.Pipe:
    share = min(moved, most, key=lambda q: q.si)
    label = [(d.Shown(moved, "MB"),)]
    level = (False, False)
    return d.Pipe(
        start, "HBM", share, most, label, both=True, down=level, least=96.0, grow=0.0
    )
