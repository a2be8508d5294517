"""A cache, live: bits, context and batch, and what part of a step reads it."""

from __future__ import annotations

from typing import Any

from stacklib.pages.quantizers import kv as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

CONTEXTS = (1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
DRAWN = (2, 4, 8, 16)


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("bits", "Bits of a code", sorted(page.WIDTHS), 4),
        choices.slider("context", "Tokens cached in each sequence", CONTEXTS, 131_072),
        choices.slider("batch", "Sequences", BATCHES, 1),
    ]


def explore(*, bits: int, context: int, batch: int) -> Spec:
    """Share of a step's bytes that is cache, against the tokens of a sequence."""
    shares = {b: [100 * page.share(c, b, batch).si for c in CONTEXTS] for b in DRAWN}
    mine = page.share(context, bits, batch)
    step = page.step(context, bits, batch)
    fits = step.fit.fits
    times = [readout("step", "Step", step.time, unit="ms")] if fits else []
    return chart(
        f"{bits} bits, {batch} x {context:,} tokens: {mine.text('%', 2)} of the bytes.",
        x=axis("Tokens cached in each sequence", log=True, limits=[900, 150_000]),
        y=axis("Share of the bytes of a step (%)", limits=[0, 105]),
        marks=[
            *(line(CONTEXTS, y, f"{b} bits", "predicted") for b, y in shares.items()),
            here(context, 100 * mine.si, "your cache"),
        ],
        readouts=[
            readout("stored", "Bits of a number", page.stored_bits(bits), unit="bit"),
            readout("cache", "Cache of a sequence", page.cached(context, bits)),
            readout("share", "Share of the bytes", mine, "share", unit="%"),
            *times,
            readout("fits", "Sequences that fit", page.fitting(context, bits)),
        ],
        message=None if fits else "These caches do not fit eight H100s.",
        about={"device": page.CHIP},
    )
