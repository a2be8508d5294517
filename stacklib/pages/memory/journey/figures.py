"""How busy each level of a chip is during a decode step, by batch: a figure's spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacklib.memory.ladder.descent import LEVELS, Passage
from stacklib.plots.marks import About, Spec, axis, chart, line


def descent_spec(
    passed: Mapping[int, Sequence[Passage]], *, title: str, device: str
) -> Spec:
    """Milliseconds busy over batch, log-log, a line a level."""
    about = About(device=device, level="by level")
    busy = {
        level: [1e3 * passages[i].time.si for passages in passed.values()]
        for i, level in enumerate(LEVELS)
    }
    return chart(
        title,
        x=axis("Sequences in the batch", log=True),
        y=axis("Busy (ms)", log=True, unit="ms"),
        marks=[line(passed, y, name, "predicted", **about) for name, y in busy.items()],
    )
