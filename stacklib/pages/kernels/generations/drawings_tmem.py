"""TMEM in section 4.6: where two tiles of scores and sums lie, and who works there."""

from stacklib.hardware import get, microarchitecture
from stacklib.pages.kernels import generations as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity, chosen

__all__ = ["tiles_in_tmem"]
SOFTMAX = "layer-6"
# Who works on which part of TMEM, step by step.
TURNS = {
    "A is multiplied": {"tensor core S of A"},
    "A's softmax": {"S of A softmax A", "tensor core S of B"},
    "B's softmax": {"S of B softmax B", "tensor core O of A"},
    "a maximum rises": {"O of A correction", "tensor core O of B"},
}
WORKS = {
    "S of A": "softmax A",
    "S of B": "softmax B",
    "O of A": "correction",
    "O of B": "correction",
}


def tiles_in_tmem() -> d.Drawing:
    """FlashAttention-4 on an SM of a B200: no score and no sum lies in a register."""
    steps = [(words, _turn(lit)) for words, lit in TURNS.items()]
    title = "While one tile's scores are in softmax, the tensor core makes the other's."
    return d.draw(steps, name="tiles-in-tmem", title=title, devices=[page.B200])


def tile() -> Quantity:
    """A tile of scores, or of sums, in FP32."""
    rows = chosen(page.SIDE, label="queries") * chosen(page.HEAD, label="head")
    return (rows * chosen(4, "B", label="FP32")).named("a tile in FP32").to("KiB")


def _turn(lit: set[str]) -> d.Node:
    parts = {
        name: d.Box(
            name, d.line(name, bold=True), lit=any(name in line for line in lit)
        )
        for name in WORKS
    }
    room = microarchitecture(get(page.B200)).size("tensor_memory")
    words = [d.line("TMEM", bold=True), room, (tile(), " each")]
    label = d.Words(words, grow=0)
    tiles = tuple(parts.values())
    inside = d.Either(d.below(label, *tiles, gap=8), d.right_of(label, *tiles, gap=6))
    tmem = d.Box("TMEM", None, inside, gpu.STORE, grow=0)
    told = {
        "shared memory": ("tiles of Q, K, V", gpu.STORE),
        "tensor core": ("asked by one thread", gpu.CHIP),
        "softmax A": ("warp group", SOFTMAX),
        "softmax B": ("warp group", SOFTMAX),
        "correction": ("warp group", SOFTMAX),
    }
    store, core, *groups = (
        d.Box(name, [d.line(name, bold=True), does], role=role, grow=0)
        for name, (does, role) in told.items()
    )
    edges = [
        d.Edge("shared memory", "tensor core", arrow="end"),
        *(_edge("tensor core", f"TMEM/{name}", lit) for name in WORKS),
        *(_edge(f"TMEM/{name}", group, lit) for name, group in WORKS.items()),
    ]
    left, right = (
        d.with_(d.below(*some, gap=40), grow=0) for some in ((store, core), groups)
    )
    wide = d.right_of(left, tmem, right, gap=90)
    phone = d.below(store, core, tmem, d.right_of(*groups, gap=10), gap=36)
    return d.Either(d.joined(wide, *edges), d.joined(phone, *edges))


def _edge(start: str, end: str, lit: set[str]) -> d.Edge:
    plain = f"{start} {end}".replace("TMEM/", "")
    role = gpu.CHIP if start == "tensor core" else SOFTMAX
    return d.Edge(start, end, arrow="both", role=role, lit=plain in lit)
