"""Drawing of section 6.13: what four chips hold, by what is split."""

from stacklib.interconnect.sharding.held import shard_bytes, shard_memory
from stacklib.pages.interconnect import sharding as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["four_chips"]

CHIPS, UNITS = 4, 4  # drawn; cells of each kind
KINDS = {"weights": "layer-3", "gradients": "layer-4", "optimizer": "layer-5"}


def four_chips() -> d.Drawing:
    """Every chip's part of weights, gradients and optimizer state."""
    steps = [
        ("data parallel", _scene(0, "all of it, for its samples", "its gradients")),
        ("FSDP", _scene(3, "a part, gathered layer by layer", "weights, gradients")),
        ("tensor parallel", _scene(None, "its columns of each matrix", "activations")),
    ]
    title = "A chip holds all of the model or its part, and sends what it lacks."
    return d.draw(steps, name="sharding-chips", title=title)


def _scene(zero: int | None, words: str, sent: str) -> d.Node:
    chips = [_chip(rank, zero) for rank in range(CHIPS)]
    told = [d.line("rows: weights, gradients, optimizer; lit: held", bold=True)]
    told.append(d.line(words))
    told.append(d.line("sends around the ring: ", sent))
    count = chosen(CHIPS, label="chips drawn")
    if zero is not None:
        given = {what: page.each(what) for what in page.BYTES}
        held: Quantity = shard_memory(page.parameters(), count, zero, **given).total
        del given["state"]
        out: Quantity = shard_bytes(page.parameters(), count, zero, **given)
        text = (
            held.named("held by a drawn chip").to("GB"),
            " of ",
            d.Name("Llama-3-70B"),
        )
        told.append(d.line("holds: ", *text))
        label = "sent by a drawn chip in a step"
        told.append(d.line("per step: ", out.named(label).to("GB"), ", one direction"))
    around = d.around_ring([chip.name for chip in chips], arrow="end", words=sent)
    return d.below(d.joined(d.ring(*chips), *around), d.Words(told), gap=6)


def _chip(rank: int, zero: int | None) -> d.Box:
    rows: list[d.Node] = []
    for kind, role in KINDS.items():
        each = UNITS // CHIPS
        if zero == 0:
            lit = frozenset(range(UNITS))
        elif zero == 3:  # rows of cells are layers: a part of every one
            lit = frozenset(range(rank * each, rank * each + each))
        else:
            lit = frozenset({rank})
        name = f"{kind}, chip {'ABCD'[rank]}"
        cells = d.Cells(name, UNITS, CHIPS, side=(16.0, 9.0), role=role, lit=lit)
        rows.append(cells)
    name = f"chip {'ABCD'[rank]}"
    return d.Box(
        name, [d.line(name, bold=True)], d.below(*rows, gap=3), "layer-1", grow=0
    )
