"""Drawings of section 1.3: loads that hide work, a matrix that meets more tokens."""

from stacklib import roofline
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.work.bounds import Bound

__all__ = ["a_matrix_meets_more", "loads_hide_work"]
CHUNKS = "ABCD"
A100 = "a100-sxm-80gb"


def a_matrix_meets_more() -> d.Drawing:
    """The same weights beside one token and beside eight."""
    return scenes.gemv_beside_gemm("h100-sxm", name="roof-gemm")


def thin() -> Bound:
    """A product whose two times are close."""
    return roofline.bound_on(roofline.matmul(m=128, n=4096, k=4096), A100)


def loads_hide_work() -> d.Drawing:
    """Loading and computing in one, two and four chunks, on one line of time."""
    steps = [(f"{words}", _chunks(n)) for words, n in _CASES]
    title = "Cut the work into chunks and the shorter time hides behind the longer."
    return d.draw(steps, name="roof-overlap", title=title, devices=[A100])


_CASES = (("all at once", 1), ("in halves", 2), ("in quarters", 4))


def _chunks(many: int) -> d.Node:
    moving = thin().t_memory.named("time to move the thin product")
    doing = thin().t_compute.named("time to compute the thin product")
    whole = (moving + doing).named("moving, then computing")
    each = chosen(many, label="chunks")
    first = (moving / each).named("time of the first load")
    one = (doing / each).named("time of one chunk's arithmetic")
    slower = moving if moving.si > doing.si else doing
    last = one if moving.si > doing.si else first
    took = (slower + last).named(f"time in {many} chunks")
    end = d.Clip(
        "in all",
        chosen(0, "s", "begin"),
        took,
        whole,
        [d.line("in all ", d.Shown(took, "µs"), bold=True)],
        role="layer-4",
        grow=0,
    )
    rows: list[d.Node] = []
    loaded = free = chosen(0, "s", "begin")
    for i in range(many):
        arrived = (loaded + first).named(f"chunk {CHUNKS[i]} has arrived")
        begun = free if free.si > arrived.si else arrived
        free = (begun + one).named(f"chunk {CHUNKS[i]} is done")
        rows.append(_clip(f"load {CHUNKS[i]}", loaded, arrived, whole))
        rows.append(_clip(f"compute {CHUNKS[i]}", begun, free, whole))
        loaded = arrived
    words = d.Words(
        [("load, ", d.Shown(moving, "µs"), "; compute, ", d.Shown(doing, "µs"))]
    )
    return d.below(words, *rows, end, gap=3)


def _clip(name: str, begin: Quantity, end: Quantity, whole: Quantity) -> d.Clip:
    role = "layer-2" if name.startswith("load") else "layer-3"
    return d.Clip(name, begin, end, whole, None, role=role, high=9.0, grow=0)
