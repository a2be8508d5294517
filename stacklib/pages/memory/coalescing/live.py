"""Coalescing, live: a stride, a width and an offset, and the sectors they touch."""

from __future__ import annotations

from typing import Any

from stacklib.memory import coalesce, strided_pieces
from stacklib.memory.warp.coalescing import LINE, SECTOR
from stacklib.memory.warp.lanes import WARP, WIDTHS, strided
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

from .._request_maps import sector_spec

STRIDES = (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 32, 33, 64)
OFFSETS = tuple(range(33))


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("stride", "Stride (elements)", STRIDES, 2),
        choices.slider("width", "Bytes of an element", WIDTHS, 4),
        choices.slider("offset", "First element", OFFSETS, 0),
    ]


def explore(*, stride: int, width: int, offset: int) -> dict[str, Any]:
    """Spec of the sectors of one request.

    Parameters
    ----------
    stride : int
        Elements from lane to lane.
    width : int
        Bytes of an element.
    offset : int
        The element that lane 0 reads; a walk backwards starts higher by its length.

    Returns
    -------
    dict
        A figure spec.
    """
    back = -min(stride, 0) * (WARP - 1)
    # Whole lines are added in front, so that a walk backwards keeps its alignment.
    room = -(-back * width // LINE) * LINE
    first = room + offset * width
    lanes = list(strided(stride, width=width, base=first))
    request = coalesce(lanes, width)
    moved = _pieces(stride * width, first, SECTOR)
    lines = _pieces(stride * width, first, LINE)
    asked = Quantity(request.asked, "B", label="bytes asked for", kind="assumption")
    bytes_moved = moved * Quantity(SECTOR, "B", label="bytes of a sector")
    share = asked / bytes_moved
    return {
        **sector_spec(lanes, width, title=_title(len(request.sectors), share)),
        "readouts": [
            readout("sectors", "Sectors", moved, unit=""),
            readout("lines", "Lines", lines, unit=""),
            readout("asked", "Asked for", asked, unit="B", digits=4),
            readout("moved", "Moved", bytes_moved.named("bytes moved"), unit="B",
                    digits=4),
            readout("efficiency", "Used", share.named("share used"), "share", unit="%"),
        ],
        "message": None,
    }  # fmt: skip


def _pieces(step: int, first: int, size: int) -> Quantity:
    """The closed form, with its derivation."""
    given = {"step": step, "first": first, "size": size}
    q = {k: Quantity(v, "B", label=k, kind="assumption") for k, v in given.items()}
    lanes = Quantity(WARP, label="lanes", kind="assumption")
    found: Quantity = strided_pieces(lanes=lanes, **q)
    return found.named("sectors" if size == SECTOR else "lines")


def _title(sectors: int, share: Quantity) -> str:
    noun = "sector moves" if sectors == 1 else "sectors move"
    return f"{sectors} {noun}, and {share:.3 %} of their bytes were asked for."
