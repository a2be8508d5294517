"""Coalescing, live: a stride, a width and an offset, and the sectors they touch."""

from __future__ import annotations

from typing import Any

from stacklib.hardware.warp_rules import rule
from stacklib.memory import coalesce
from stacklib.memory.warp.coalescing import LINE, SECTOR, strided_pieces
from stacklib.memory.warp.lanes import WARP, WIDTHS, strided
from stacklib.pages.memory._request_maps import sector_spec
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen
from stacklib.plots.marks import Spec
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

STRIDES = (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 32, 33, 64)
OFFSETS = tuple(range(33))


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("stride", "Stride (elements)", STRIDES, 2),
        choices.slider("width", "Bytes of an element", WIDTHS, 4),
        choices.slider("offset", "First element", OFFSETS, 0),
    ]


def explore(*, stride: int, width: int, offset: int) -> Spec:
    """The sectors of one request of elements of ``width`` bytes.

    Lane 0 reads element ``offset``; a walk backwards starts higher by its length.
    """
    back = -min(stride, 0) * (WARP - 1)
    # Whole lines are added in front, so that a walk backwards keeps its alignment.
    room = -(-back * width // LINE) * LINE
    first = room + offset * width
    lanes = list(strided(stride, width=width, base=first))
    request = coalesce(lanes, width)
    sectors, lines = (_pieces(stride * width, first, size) for size in (SECTOR, LINE))
    asked = chosen(request.asked, "B", "bytes asked for")
    moved = sectors * rule("sector")
    share = asked / moved
    moved, used = moved.named("bytes moved"), share.named("share used")
    count = len(request.sectors)
    noun = "sector moves" if count == 1 else "sectors move"
    title = f"{count} {noun}, and {share:.3 %} of their bytes were asked for."
    return {
        **sector_spec(lanes, width, title=title),
        "readouts": [
            readout("sectors", "Sectors", sectors, unit=""),
            readout("lines", "Lines", lines, unit=""),
            readout("asked", "Asked for", asked, unit="B", digits=4),
            readout("moved", "Moved", moved, unit="B", digits=4),
            readout("efficiency", "Used", used, "share", unit="%"),
        ],
    }


def _pieces(step: int, first: int, size: int) -> Quantity:
    """The closed form, with its derivation."""
    given = {"step": step, "first": first, "size": size}
    q = {name: chosen(value, "B", name) for name, value in given.items()}
    found: Quantity = strided_pieces(lanes=rule("lanes"), **q)
    return found.named("sectors" if size == SECTOR else "lines")
