"""How busy each level of a chip is during a decode step, by batch: a figure's spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.memory.ladder.descent import LEVELS, Passage

MILLI = 1e3


def descent_spec(
    passed: Mapping[int, Sequence[Passage]], *, title: str, device: str
) -> dict[str, Any]:
    """Spec of milliseconds busy over batch, log-log, a line a level.

    Parameters
    ----------
    passed : dict
        Batch -> the passages of the step.
    title : str
        What the figure shows.
    device : str
        Key of the device.
    """
    batches = list(passed)
    marks = [
        {
            "kind": "line",
            "evidence": "predicted",
            "name": level,
            "x": batches,
            "y": [MILLI * passed[batch][at].time.si for batch in batches],
            "device": device,
            "level": "by level",
        }
        for at, level in enumerate(LEVELS)
    ]
    return {
        "title": title,
        "x": {"label": "Sequences in the batch", "scale": "log"},
        "y": {"label": "Busy (ms)", "scale": "log", "unit": "ms"},
        "marks": marks,
    }
