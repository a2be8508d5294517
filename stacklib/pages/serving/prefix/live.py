"""Prompts that begin alike, live: how much of the second is found, and why no more."""

from __future__ import annotations

from typing import Any

from stacklib.pages.serving import prefix as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

LENGTHS = tuple(range(0, page.PROMPT + 1, 4))


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    lengths = range(0, page.PROMPT, 4)
    return [
        choices.slider("shared", "Tokens that both prompts begin with", lengths, 500),
        choices.slider("block", "Tokens of a block", page.SIZES, page.LARGE),
    ]


def explore(*, shared: int, block: int) -> Spec:
    """Tokens found against tokens in common, for several sizes of a block."""
    match = page.second(block, shared)
    share = counted(match.tokens / page.PROMPT, "share of the prompt found")
    curves = [
        line(
            LENGTHS,
            [min(n, page.PROMPT - 1) // size * size for n in LENGTHS],
            f"blocks of {size}",
            "predicted",
        )
        for size in page.SIZES
    ]
    return chart(
        f"{match.tokens:,} of {shared:,} tokens in common are found.",
        x=axis("Tokens that both prompts begin with", limits=[0, page.PROMPT]),
        y=axis("Tokens found", limits=[0, page.PROMPT]),
        marks=[*curves, here(shared, match.tokens, "yours")],
        readouts=[
            readout("found", "Tokens found", counted(match.tokens, "tokens found")),
            readout("share", "Of the second prompt", share, "share", unit="%"),
            readout("why", "Why no more", str(match.why)),
        ],
    )
