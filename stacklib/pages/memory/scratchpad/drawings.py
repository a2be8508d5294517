"""Drawings of section 3.6: a loop that nearly fits, and a memory behind another."""

from stacklib.hardware import get
from stacklib.memory.tiers.spill import two_tiers
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.work.moving import moving_time

__all__ = ["a_loop_nearly_fits", "a_memory_behind"]
BLOCKS = 8


def a_loop_nearly_fits() -> d.Drawing:
    """Eight blocks, room for seven: what is thrown out is what is needed next."""
    every = frozenset(range(BLOCKS))
    steps = [
        ("the eighth block comes", _buffer(every - {0}, 0, "the first leaves")),
        ("round two", _buffer(every - {1}, 1, "the first is back, the second leaves")),
        ("and so on", _buffer(every - {2}, 2, "every block is copied every round")),
        ("turn round instead", _buffer(every - {0}, 0, "only one is missing")),
    ]
    title = "With room for all but one, LRU throws out what the loop needs next."
    return d.draw(steps, name="scratchpad-loop", title=title)


def _buffer(held: frozenset[int], gone: int, words: str) -> d.Node:
    many = chosen(BLOCKS, label="blocks")
    room = (many - 1).named("places")
    cells = d.Cells(
        "blocks",
        BLOCKS,
        side=(30.0, 26.0),
        gap=5.0,
        role="layer-2",
        lit=held,
        dark=frozenset({gone}),
        words="blocks that are held are lit",
    )
    loop = d.Box(
        "loop", [("the loop needs ", many, " blocks, in order")], role="layer-4"
    )
    told = [d.line("a buffer with ", room, " places", bold=True)]
    buffer = d.Box("buffer", told, cells, role="layer-2")
    return d.below(loop, buffer, d.Box("leaves", words, role="layer-6"), gap=7)


def a_memory_behind() -> d.Drawing:
    """A GPU's memory and the CPU's behind a link; how long each is read."""
    knee = two_tiers("gb200").knee
    steps = [
        ("little is spilled", _step(chosen(0.02, label="share spilled"))),
        ("the knee", _step(knee.named("share spilled at the knee"))),
        ("a fifth", _step(chosen(0.2, label="share spilled"))),
    ]
    title = "Two memories are read at once, until the far one takes longer."
    return d.draw(steps, name="scratchpad-far", title=title, devices=["gb200"])


def _step(share: Quantity) -> d.Node:
    pair, device = two_tiers("gb200"), get("gb200")
    near = pair.near.named("bandwidth of the GPU's memory")
    far = pair.far.named("bandwidth of the link, one way")
    total = chosen(150, "GB", "bytes of a step")
    rest = (1 - share.to("1")).named("share that is near")
    t_near = moving_time(total * rest, near).named("time of the near memory")
    t_far = moving_time(total * share.to("1"), far).named("time of the far memory")
    whole = t_near if t_near.si > t_far.si else t_far
    zero = chosen(0, "s", "begin")
    parts = d.flow(
        d.Box("LPDDR", d.line("CPU, LPDDR", bold=True), role="layer-2"),
        d.Pipe(
            "LPDDR", "GPU", far, near, [d.Shown(far, "GB/s")], role="layer-5", both=True
        ),
        d.Box("GPU", d.line(device, bold=True)),
        d.Pipe("GPU", "HBM", near, near, [d.Shown(near, "TB/s")], both=True),
        d.Box("HBM", d.line("HBM", bold=True), role="layer-2"),
        gap=0,
    )
    return d.below(
        parts,
        d.Words([(d.Shown(share, "%"), " of ", total, " lie far away")]),
        d.Clip(
            "near",
            zero,
            t_near,
            whole,
            [("HBM: ", d.Shown(t_near, "ms"))],
            role="layer-2",
            grow=0,
        ),
        d.Clip(
            "far",
            zero,
            t_far,
            whole,
            [("over the link: ", d.Shown(t_far, "ms"))],
            role="layer-5",
            grow=0,
        ),
        gap=8,
    )
