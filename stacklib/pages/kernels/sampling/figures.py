"""The figure of section 4.10: what fusing gains, by GPUs, as published."""

from __future__ import annotations

from stacklib.pages.kernels import sampling as page
from stacklib.plots.marks import Spec, axis, chart, dots, line, rows, rule

RANKS = (1, 2, 4, 8)


def gains() -> Spec:
    """A library's time over the fused one: published, and by bytes and launches."""
    told = []
    for ranks in RANKS:
        apart, one = (
            page.drawn(fused, device=page.OTHER, batch=page.BATCH, ranks=ranks).total
            for fused in (False, True)
        )
        told.append(apart / one)
    published = rows(page.gain(ranks) for ranks in RANKS)
    return chart(
        "The gain grows with the GPUs, and bytes and launches do not explain it.",
        x=axis(
            "GPUs that share the LM head",
            log=True,
            limits=[0.9, 9],
            ticks=RANKS,
            names=[str(r) for r in RANKS],
        ),
        y=axis("Time over the fused one", limits=[0.8, 3]),
        marks=[
            dots(RANKS, published, "over torch's multinomial", "measured"),
            line(RANKS, told, "by bytes and launches", "predicted"),
            rule(
                "a paper's best, B300",
                "claimed",
                y=rows([page.claimed("flashsampling-1p84")], evidence="claimed"),
            ),
        ],
    )
