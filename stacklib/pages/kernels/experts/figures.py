"""The chart of section 4.9: padding against the tokens of a batch."""

from __future__ import annotations

from stacklib.pages.kernels import experts as page
from stacklib.plots.marks import Spec, axis, chart, dots, line

BATCHES = tuple(range(1024, 12_289, 256))
DRAWN = (2048, 3584, 4096, 8192)


def saw() -> Spec:
    """Half a tile an expert, the mean over an even router, and batches drawn."""

    def share(waste: float) -> float:
        return 100 * waste / (1 + waste)

    half = [share(page.formula(t).si) for t in BATCHES]
    mean = [share(page.exact(t).si) for t in BATCHES]
    drawn = [share(page.drawn(t).si) for t in DRAWN]
    return chart(
        "Padding falls with the batch, and rises where the mean passes a whole tile.",
        x=axis("Tokens of the batch", limits=[512, 13_000]),
        y=axis("Padding in the rows computed (%)", limits=[0, 80]),
        marks=[
            line(BATCHES, half, "half a tile per expert", "predicted", at="key"),
            line(BATCHES, mean, "even router, mean", "predicted", at="key"),
            dots(DRAWN, drawn, "batches drawn", "simulated", at="key"),
        ],
    )
