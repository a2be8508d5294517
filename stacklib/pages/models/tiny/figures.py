"""A learning curve as a spec: what training saw, what was held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacklib.hardware import THIS_MACHINE
from stacklib.plots.marks import About, Spec, axis, chart, dots, rows, rule
from stacklib.quantity import Quantity

NATS = "Surprise a token (nat)"


def learning_spec(
    curves: Mapping[str, Mapping[str, Sequence[Quantity]]],
    *,
    title: str,
    levels: Mapping[str, Quantity] | None = None,
) -> Spec:
    """Held-out loss over tokens read, a row of dots a model; ``levels`` are rules.

    A model's columns are ``tokens`` and ``held_out``.
    """
    about = About(device=THIS_MACHINE, level="as measured", dtype="fp32")
    shown = [q.si for columns in curves.values() for q in columns["held_out"]]
    read = max(columns["tokens"][-1].si for columns in curves.values())
    frame = [0.95 * min(shown), 1.02 * max(shown)]  # no loss is near zero
    room = [0.0, 1.3 * read]  # the names stand right of the last dots
    points = []
    for i, (name, columns) in enumerate(curves.items()):
        x, y = (rows(columns[key]) for key in ("tokens", "held_out"))
        points.append(dots(x, y, name, "measured", series=i, **about))
    rules = [
        rule(name, "measured", y=rows([loss]), series=5, **about)
        for name, loss in (levels or {}).items()
    ]
    return chart(
        title,
        x=axis("Tokens read", unit="token", limits=room),
        y=axis(NATS, limits=frame),
        marks=[*points, *rules],
    )
