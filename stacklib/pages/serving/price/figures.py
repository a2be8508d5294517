"""What a million tokens cost by the hours in use: owned, and rented in two ways."""

from __future__ import annotations

from stacklib.pages.serving import price as page
from stacklib.plots.marks import Spec, axis, chart, line, rule

USED = (0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0)


def used_spec(*, title: str) -> Spec:
    """Lowest and highest quotes of an owned machine, and its hours rented."""
    found = page.either()
    rents, owned = found.rented, [page.bill(page.TOGETHER, used).total for used in USED]
    marks = [
        line(
            [100 * used for used in USED],
            [getattr(each, end).to(page.UNIT).value for each in owned],
            f"owned, {words} quotes",
            "predicted",
            series=0,
            device=page.DEVICE,
        )
        for end, words in (("low", "lowest"), ("high", "highest"))
    ]
    for end, words in (("low", "lowest"), ("high", "highest")):
        price = getattr(rents, end).to(page.UNIT).value
        marks.append(
            rule(f"rented, {words}", "predicted", y=price, series=1, device=page.DEVICE)
        )
    return chart(
        title,
        x=axis(
            "Hours in use (%)",
            log=True,
            limits=[4.5, 110],
            ticks=[100 * used for used in TICKS],
            names=[f"{100 * used:g}" for used in TICKS],
        ),
        y=axis("Dollars a million tokens", log=True, unit=page.UNIT, limits=[0.3, 25]),
        marks=marks,
    )
