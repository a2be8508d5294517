"""What chips send each other in a pass: sums of their parts, and tokens of experts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stacklib.interconnect.experts.dispatch import dispatch_bytes
from stacklib.interconnect.selection.machine import Fabric, fabric
from stacklib.interconnect.selection.padded import padded_time
from stacklib.interconnect.selection.timed import family
from stacklib.kernels.rows.sampling_time import (
    FLASH_LAUNCHES,
    GATHER_S,
    LAUNCH_S,
    PAIR,
    gather_time,
)
from stacklib.models import Experts, LanguageModel

from .work import ACTIVATION, all_reduces


@lru_cache(maxsize=256)
def _fabric(device: str, ranks: int) -> Fabric:
    return fabric(device, ranks)


def link_rate(device: str, ranks: int) -> float:
    """Bytes a second that a chip sends the others; one where there are none."""
    return _fabric(device, ranks).rate if ranks > 1 else 1.0


def exchange_time(
    model: LanguageModel, device: str, tp: int, ep: int, rows: float, software: str
) -> float:
    """Seconds of all exchanges of a pass.

    - ``model``: what passes
    - ``device``: the chip
    - ``tp``, ``ep``: chips that share each matrix, and groups of them that share the
      experts
    - ``rows``: tokens of the pass
    - ``software``: ``"engine"`` or ``"library"``, see ``account``
    """
    direct, found = software == "engine", 0.0
    if tp > 1:
        size = rows / ep * model.hidden * ACTIVATION
        once = padded_time("all_reduce", size, _fabric(device, tp), direct=direct)
        found += all_reduces(model) * once
    if ep > 1:
        on = _fabric(device, ep * tp)
        for kind, block in enumerate(model.kinds):
            if isinstance(block.mlp, Experts):
                sent = dispatch_bytes(
                    rows / ep,
                    block.mlp.top_k,
                    model.hidden,
                    "bf16",
                    None,
                    ranks=ep,
                    ranks_per_node=min(ep, on.local),
                    experts=block.mlp.experts,
                ).sent
                once = padded_time("all_to_all", sent, on, direct=direct)
                found += 2 * model.count(kind) * once  # there and back
    return found


def family_of(size: Any, device: str, ranks: int, software: str) -> str:
    """Whose band the exchanges carry: by size, links, software and ranks."""
    most = size.max() if getattr(size, "shape", ()) else size
    return family(most, _fabric(device, ranks), direct=software == "engine")


def sampling_time(batch: Any, ranks: int, link: float) -> Any:
    """Seconds from logits to a token by a fused kernel and its small second one.

    - ``batch``: rows
    - ``ranks``: chips that hold a part of the vocabulary each
    - ``link``: bytes a second out of a chip
    """
    return gather_time(batch * PAIR * ranks, ranks, link, GATHER_S) + (
        FLASH_LAUNCHES * LAUNCH_S
    )
