"""What a million tokens cost at home by the hours of use, owned and rented."""

from __future__ import annotations

from stacklib.pages.diy import home as page
from stacklib.plots.marks import Spec, axis, chart, line, rule

HOURS = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24)


def hours_spec(*, title: str) -> Spec:
    """Owned at both prices of electricity, and rented at both quotes."""
    device = page.machine().gpus[0].device
    marks = [
        line(
            HOURS,
            [page.owned(each, end).to("USD/Mtoken").value for each in HOURS],
            f"owned, power in {state}",
            "predicted",
            at="key",
            series=series,
            device=device,
        )
        for series, end, state in ((0, "low", "Iowa"), (2, "high", "Connecticut"))
    ]
    for end, words in (("low", "lowest"), ("high", "highest")):
        cost = page.rented(end).to("USD/Mtoken").value
        marks.append(
            rule(f"rented, {words}", "predicted", y=cost, series=1, device=device)
        )
    return chart(
        title,
        x=axis("Hours of work a day", log=True, limits=[0.45, 30]),
        y=axis("Dollars a million tokens", log=True, limits=[1, 60]),
        marks=marks,
    )
