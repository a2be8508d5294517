"""Figures of memories that overflow: a scratchpad's copies, a step over two tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib.memory import knee, spilled_time
from stacklib.memory.scratchpad.sbuf import SbufCase

__all__ = ["cliff_spec", "tiers_spec"]

POLICIES = {"lru": "last used longest ago", "weight": "lightest of fixed weights",
            "belady": "needed furthest ahead"}  # fmt: skip
USES = tuple(u / 400 for u in range(352, 433))  # shares of the SBUF, 0.88 to 1.08


def cliff_spec(
    case: SbufCase,
    *,
    title: str,
    snake: bool = False,
    claimed: Sequence[tuple[float, float]] = (),
) -> dict[str, Any]:
    """Bytes copied in by how full the scratchpad is, for three policies.

    Parameters
    ----------
    case : SbufCase
        The product.
    title : str
        A sentence saying what is seen.
    snake : bool
        Whether every second round runs backwards.
    claimed : sequence of (float, float)
        Share of the SBUF and bytes that somebody reported.
    """
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "predicted", "name": name, "series": at,
         "x": [100 * u for u in USES],
         "y": [case.loaded(u, policy, snake=snake) / 1e6 for u in USES]}
        for at, (policy, name) in enumerate(POLICIES.items())
    ]  # fmt: skip
    marks.append(
        {"kind": "vline", "evidence": "predicted", "name": "room for X",
         "x": [100 * case.managed / case.sbuf.si]}
    )  # fmt: skip
    if claimed:
        marks.append(
            {"kind": "dots", "evidence": "claimed", "name": "reported",
             "x": [100 * u for u, _ in claimed], "y": [b / 1e6 for _, b in claimed]}
        )  # fmt: skip
    return {
        "title": title,
        "x": {
            "label": "X over the whole SBUF (%)",
            "limits": [100 * USES[0], 100 * USES[-1]],
        },
        "y": {"label": "X copied in (MB)", "scale": "log", "unit": "MB"},
        "marks": marks,
    }


def tiers_spec(
    systems: Sequence[tuple[str, str, float, float]], *, title: str
) -> dict[str, Any]:
    """Bytes a second of a step by the share that lies in the far memory.

    Parameters
    ----------
    systems : sequence of (str, str, float, float)
        Name, key of the device, rate of its memory and of the far one in B/s.
    title : str
        A sentence saying what is seen.
    """
    shares = [i / 200 for i in range(121)]
    marks: list[dict[str, Any]] = []
    for at, (name, key, near, far) in enumerate(systems):
        together = sorted({*shares, knee(near, far)})
        for apart in (False, True):
            rates = [1e-12 / spilled_time(1, s, near, far, apart=apart)
                     for s in together]  # fmt: skip
            words = f"{name}, one after the other" if apart else name
            marks.append(
                {"kind": "line", "evidence": "simulated" if apart else "predicted",
                 "name": words, "x": [100 * s for s in together], "y": rates,
                 "series": at, "label_at": "none" if apart else "end"}
            )  # fmt: skip
        marks.append(
            {"kind": "dots", "evidence": "predicted", "name": f"knee of {key}",
             "x": [100 * knee(near, far)], "y": [(near + far) / 1e12], "series": at,
             "label_at": "none"}
        )  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Bytes in the far memory (%)"},
        "y": {"label": "Bytes read (TB/s)", "scale": "log"},
        "marks": marks,
    }
