"""Seconds of one layer of experts, from its tile to its network: what is searched.

Every part is another room's model: the product of a tile with a format (``gemm``), the
bytes that tokens travel (``experts.dispatch``), the time of a network. What an expert
may be is held to one quality by a published law of granularity: smaller experts, more
of them a token, need fewer activated parameters for the same loss.

    activated width ~ ((a + g / G^gamma) / (a + g / G0^gamma)) ^ (1 / alpha)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib import hardware
from stacklib.interconnect.experts.dispatch import dispatch_bytes
from stacklib.kernels.plan.search import Measured
from stacklib.quantity import quoted
from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve
from stacklib.roofline.bound.gemm import Chip, chip_of, predict
from stacklib.roofline.work.fit import Infeasible
from stacklib.roofline.work.products import TILES, Product, Tiling

from .fits import SWITCH, sent_seconds

NODES = "nodes of 8"  # NVLink within, a port a chip beyond
# A format: what the units multiply, and bytes of a number with its scale.
FORMATS = {"bf16": ("bf16", 2.0), "fp8": ("fp8", 1 + 4 / 128), "fp4": ("fp4", 9 / 16)}
NETWORKS: dict[str, tuple[int, ...]] = {NODES: (), "torus": (2, 4, 4), SWITCH: ()}
_STEP = 64  # an expert's width is a multiple of it


@dataclass(frozen=True, slots=True)
class ExpertLayer:
    """What is not searched: the chips, and the layer at its own granularity."""

    device: str = "b200_sxm"
    chips: int = 32
    port: float = 50e9  # B/s of a chip beyond its node
    tokens: int = 128  # of each chip
    hidden: int = 7168
    width: int = 16384  # activated, at ``granularity``
    granularity: int = 8
    spread: int = 32  # experts for one that a token takes


SPACE: dict[str, tuple[Any, ...]] = {
    "tile": ((128, 128), *(t for t in TILES if t != (128, 128))),
    "format": tuple(FORMATS),
    "experts": (1, 2, 4, 8, 16, 32),
    "network": tuple(NETWORKS),
}
START = {name: values[0] for name, values in SPACE.items()}


@lru_cache(maxsize=64)
def activated(granularity: int, layer: ExpertLayer = ExpertLayer()) -> int:
    """Numbers between an expert's products, all of a token's, for the same loss."""
    a, g = (quoted(f"granular.{name}").si for name in ("a", "g"))
    gamma, alpha = (quoted(f"granular.{name}").si for name in ("gamma", "alpha"))
    here, there = (a + g / n**gamma for n in (granularity, layer.granularity))
    each = layer.width * (here / there) ** (1 / alpha) / granularity
    return granularity * _STEP * math.ceil(each / _STEP)


def layer_time(
    point: Mapping[str, Any], layer: ExpertLayer = ExpertLayer()
) -> Measured:
    """Seconds of a layer of experts at one point of the space, and what takes most."""
    made, sent = parts(point, layer)
    return Measured(made + sent, "exchange" if sent > made else "products")


def parts(
    point: Mapping[str, Any], layer: ExpertLayer = ExpertLayer()
) -> tuple[float, float]:
    """Seconds of its products and of its exchange.

    Dispatch in the format of the products, combine in 16 bits; up, gate and down as two
    grouped products with one tile; nothing overlaps.

    - ``point``: ``tile``, ``format``, ``experts`` (of a token) and ``network``; what is
      not told is as in ``START``
    - raises ``Infeasible`` where the experts of a chip are more than its memory
    """
    for name in point.keys() - START.keys():
        resolve(name, START, "axis of a layer", exact=True)
    point = {**START, **point}
    form = resolve(point["format"], FORMATS, "format", exact=True)
    network = resolve(point["network"], NETWORKS, "network", exact=True)
    tile = tuple(point["tile"]) if isinstance(point["tile"], list) else point["tile"]
    if tile not in TILES:
        raise ValueError(f"tile = {tile!r}: one of {', '.join(map(str, TILES))}")
    whole(experts=point["experts"])
    taken = int(point["experts"])  # one of NumPy's would run over
    inner = activated(taken, layer) // taken
    own = taken * layer.spread // layer.chips  # experts of a chip
    rows = math.ceil(layer.tokens * layer.chips / layer.spread)
    fmt, size = FORMATS[form]
    chip, room = _chip(layer.device, fmt), hardware.get(layer.device).memory_capacity.si
    if (held := own * 3 * inner * layer.hidden * size) > room:
        says = f"{own:,} of a chip are {held:.3g} B, above its {room:.3g} B"
        raise Infeasible(f"experts = {taken:,}: {says}")
    there = _sent(layer, taken, size, network)
    back = _sent(layer, taken, 2.0, network)
    up = Product(rows, 2 * inner, layer.hidden, fmt, size, size, 2.0, own)
    down = Product(rows, layer.hidden, inner, fmt, size, size, 2.0, own)
    made = sum(_cut(work, chip, tile) for work in (up, down))
    return made, there + back


@lru_cache(maxsize=16)
def _chip(device: str, fmt: str) -> Chip:
    return chip_of(device, fmt)


@lru_cache(maxsize=4096)
def _cut(work: Product, chip: Chip, tile: tuple[int, int]) -> float:
    """A grouped product with one tile, from memory."""
    rows, columns = tile
    blocks = work.groups * math.ceil(work.m / rows) * math.ceil(work.n / columns)
    cut = (Tiling(rows, columns, 1, blocks),)
    return float(predict(work, chip, "stream", cut, hits=0.0).time)


@lru_cache(maxsize=1024)
def _sent(layer: ExpertLayer, taken: int, size: float, network: str) -> float:
    """Seconds of one way between tokens and their experts."""
    node = 8 if network == NODES else layer.chips
    sent = dispatch_bytes(
        layer.tokens,
        taken,
        layer.hidden * size / 2,
        "bf16",
        None,
        ranks=layer.chips,
        ranks_per_node=node,
        experts=taken * layer.spread,
    )
    device = hardware.get(layer.device)
    if network != NODES:
        out = float(sent.sent - sent.own)
        return sent_seconds(device, layer.chips, NETWORKS[network], out)
    inside = sent_seconds(device, node, (), float(sent.nvlink))
    return max(inside, float(sent.network) / layer.port)
