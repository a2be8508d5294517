"""Bits a weight against bits a byte, with the schemes that none beats."""

from __future__ import annotations

from stacklib.pages.quantizers import quality as page
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rows
from stacklib.quantity import Quantity
from stacklib.tinylm.quantized import Measured

WORDS = {"round": "rounded", "gptq": "GPTQ", "awq": "AWQ"}
# Named in the chart, a few along the ladder: each other dot says its name when asked.
NAMED = {
    *((name, "gptq") for name in ("q2_k", "q3_k", "q4_k")),
    *((name, "round") for name in ("q5_k", "q6_k", "int8_channel")),
    *((name, "round") for name in ("bnb_fp4", "q8_0", "fp8_1x128")),
}


def _lost(row: Measured, end: str = "value") -> Quantity:
    return page.of(row.scheme, method=row.method, end=end)


def ladder_spec(*, title: str) -> Spec:
    """Loss of the small model against bits of a weight, intervals by document."""
    best = page.on_the_front()
    groups: dict[tuple[str, str], list[Measured]] = {}
    for row in sorted(page.rounded_rows(), key=lambda row: (row.bits, row.loss.value)):
        own = row.scheme, row.method
        name = "beaten by none" if own in best else WORDS[row.method]
        groups.setdefault((name, row.scheme if own in NAMED else ""), []).append(row)
    marks: list[Mark] = []
    for series, name in enumerate(("beaten by none", *WORDS.values())):
        for (group, scheme), found in groups.items():
            if group != name:
                continue
            marks.append(
                dots(
                    [row.bits for row in found],
                    rows(map(_lost, found)),
                    scheme or name,
                    "measured",
                    spread=[
                        rows(_lost(row, e) for e in page.ENDS[1:]) for row in found
                    ],
                    each=[f"{row.scheme}, {WORDS[row.method]}" for row in found],
                    at="end" if scheme else "key",
                    series=series,
                )
            )
    return chart(
        title,
        x=axis("Bits of a weight, scales counted", limits=[2.5, 9]),
        y=axis("Loss (bits a byte)", log=True, limits=[1e-5, 0.3]),
        marks=marks,
    )
