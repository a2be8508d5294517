"""How many samples a quantizer has to see, and what methods win at each width."""

from __future__ import annotations

from stacklib.pages.quantizers import weights as page
from stacklib.plots.marks import Spec, axis, chart, line, rule

WORDS = {"gptq": "GPTQ", "awq": "AWQ"}


def samples_spec(*, title: str) -> Spec:
    """Error on an unseen text against samples seen."""
    marks = [
        line(
            page.COUNTS,
            [100 * page.off(method, samples=n).si for n in page.COUNTS],
            words,
            "simulated",
            at="key",
            series=at,
        )
        for at, (method, words) in enumerate(WORDS.items())
    ]
    plain = 100 * page.off("round").si
    return chart(
        title,
        x=axis("Samples seen", log=True),
        y=axis("Product off, unseen text (%)", limits=[0, 16]),
        marks=[*marks, rule("rounding", "simulated", y=plain, at="key")],
    )
