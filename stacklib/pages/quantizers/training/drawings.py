"""Drawings of section 7.8: formats under the gradients, and QLoRA's memory in parts."""

from typing import Any

from stacklib.pages.quantizers import training as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen, counted, one_of

__all__ = ["memory_in_parts", "where_gradients_lie"]
TAIL = 0.01  # of the gradients left out of the clip, at each end
RANK = 64


def where_gradients_lie() -> d.Drawing:
    """Powers of two to the right: what a format has, and where the gradients are."""
    whole = counted(page.octaves, 2.0**page.TOP, label="powers of two drawn")
    rows: list[d.Node] = [
        d.Words([d.line("each step to the right doubles", role="muted")]),
        _gradients("the gradients", 0, whole),
    ]
    for key, name in page.FORMATS.items():
        rows.append(_format(key, name, whole))
    rows.append(_gradients("the gradients, loss scaled", page.FIRST, whole))
    title = "The gradients lie where FP16 has no numbers, until the loss is scaled."
    return d.draw(d.below(*rows, gap=7), name="q-gradients", title=title)


def _gradients(name: str, power: int, whole: Quantity) -> d.Node:
    scale = chosen(2**power, label=f"loss scale of {name}")
    ends = [
        (counted(page.gradient_at, share, label=f"{share} of gradients") * scale)
        for share in (TAIL, 1 - TAIL)
    ]
    ends = [
        end.named(f"{name}, {at}")
        for end, at in zip(ends, ("low", "high"), strict=True)
    ]
    begin, end = (counted(page.octaves, e, label=f"place of {e.label}") for e in ends)
    told = [(f"{name}: ", d.Shown(ends[0], None, 2), " to ", d.Shown(ends[1], None, 2))]
    return d.Clip(name, begin, end, whole, told, role="layer-6", grow=0)


def _format(key: str, name: str, whole: Quantity) -> d.Node:
    low, high = page.smallest(key), page.largest(key)
    begin = counted(page.place, low, label=f"place of the smallest of {name}")
    end = counted(page.place, high, label=f"place of the largest of {name}")
    told: list[Any] = [f"{name}: from ", d.Shown(low, None, 2)]
    if high.si < 2.0**page.TOP:
        told += [" to ", d.Shown(high, None, 3)]
    return d.Clip(name, begin, end, whole, [tuple(told)], role="layer-3", grow=0)


def memory_in_parts() -> d.Drawing:
    """Bytes of a step of QLoRA, one part after the other, beside a card's."""
    parts, have = page.grouped(RANK), page.card()
    at = 0 * one_of("B")
    rows: list[d.Node] = []
    roles = ("layer-3", "layer-4", "layer-5", "layer-6")
    for (name, size), role in zip(parts.items(), roles, strict=True):
        end = (at + size).named(f"{name}, end")
        told = [(f"{name}: ", d.Shown(size.named(f"bytes of {name}"), "GB"))]
        rows.append(d.Clip(name, at, end, have, told, role=role, grow=0))
        at = end
    total = page.memory(RANK).total.named("all parts")
    told_card = have.named("memory of the card")
    rows.append(
        d.Box(
            "card",
            [(d.Shown(total, "GB"), " of ", d.Shown(told_card, "GB"))],
            role="muted",
        )
    )
    title = "With its base frozen in NF4, a whole step fits a card with room to spare."
    return d.draw(
        d.below(*rows, gap=7), name="q-qlora", title=title, devices=[page.CARD]
    )
