"""Figures of memories that overflow: a scratchpad's copies, a step over two tiers."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.memory.scratchpad.sbuf import SbufCase
from stacklib.memory.tiers.spill import knee, spilled_time
from stacklib.plots.marks import (
    Mark,
    Spec,
    axis,
    chart,
    diamonds,
    dots,
    line,
    rows,
    rule,
)
from stacklib.quantity import Quantity

POLICIES = {
    "lru": "last used longest ago",
    "weight": "lightest of fixed weights",
    "belady": "needed furthest ahead",
}
FINE = tuple(u / 400 for u in range(352, 433))  # shares of the SBUF, 0.88 to 1.08
SHARES = [i / 200 for i in range(121)]  # in the far memory


def cliff_spec(
    case: SbufCase,
    *,
    title: str,
    snake: bool = False,
    claimed: Sequence[tuple[float, Quantity]] = (),
) -> Spec:
    """Bytes copied in by how full the scratchpad is, for three policies.

    With ``snake`` every second round runs backwards. Somebody ``claimed`` shares of the
    SBUF and bytes.
    """
    x = [100 * u for u in FINE]
    room = 100 * case.managed / case.sbuf.si
    marks = []
    for i, (policy, name) in enumerate(POLICIES.items()):
        loaded = [case.loaded(u, policy, snake=snake) / 1e6 for u in FINE]
        marks.append(line(x, loaded, name, "predicted", series=i))
    marks.append(rule("room for X", "predicted", x=room))
    if claimed:
        full, said = zip(*claimed, strict=True)
        x, y = [100 * u for u in full], rows(said, "MB", evidence="claimed")
        marks.append(diamonds(x, y, "reported"))
    ends = [100 * FINE[0], 100 * FINE[-1]]
    return chart(
        title,
        x=axis("X over the whole SBUF (%)", limits=ends),
        y=axis("X copied in (MB)", log=True, unit="MB"),
        marks=marks,
    )


def tiers_spec(systems: Sequence[tuple[str, str, float, float]], *, title: str) -> Spec:
    """Bytes a second of a step by the share that lies in the far memory.

    A system is its name, the key of its device, and the rates of both memories in B/s.
    """
    marks = [mark for i, system in enumerate(systems) for mark in _system(*system, i)]
    return chart(
        title,
        x=axis("Bytes in the far memory (%)"),
        y=axis("Bytes read (TB/s)", log=True),
        marks=marks,
    )


def _system(name: str, key: str, near: float, far: float, series: int) -> list[Mark]:
    """Both memories at once, one after the other, and where the first is best."""
    best = knee(near, far)
    shares = sorted({*SHARES, best})
    x = [100 * s for s in shares]
    both, apart = (
        [1e-12 / spilled_time(1, s, near, far, apart=way) for s in shares]
        for way in (False, True)
    )
    top = (near + far) / 1e12
    return [
        line(x, both, name, "predicted", series=series),
        line(x, apart, f"{key}, in turn", "predicted", series=series + 2),
        dots(100 * best, top, f"knee of {key}", "predicted", at="none", series=series),
    ]
