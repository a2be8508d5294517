"""The drawing of section 5.9: what a port costs, and what fleets save."""

from __future__ import annotations

from stacklib.pages.accelerators import leaving as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen, one_of

__all__ = ["effort_and_fleets"]
EFFORT, FLEET = "layer-7", "layer-3"


def effort_and_fleets() -> d.Drawing:
    """A year of effort as a bar, and under it what fleets of three sizes save."""
    port, year = page.port(), one_of("year")
    effort = (port.a_year * year).named("a year of the port")
    saves = {n: _saved(n) for n in page.FLEETS}
    most = max(saves.values(), key=lambda q: q.si)
    people = chosen(page.PEOPLE, label="engineers")
    stay = chosen(page.STAY, label="engineers who stay")
    who = d.right_of(
        d.Cells("who port", page.PEOPLE, 10, role=EFFORT, lit=frozenset(range(20))),
        d.Cells("who stay", page.STAY, 5, role=EFFORT),
        gap=14,
        grow=0,
    )
    told = [(people, " port, ", stay, " stay: ", d.Shown(effort, "MUSD"), " a year")]
    bar = (("effort", effort, EFFORT, True),)
    first = d.below(who, d.Bar("effort of a year", bar, most, told, 10.0), gap=4)
    rows = [
        d.Bar(
            f"{n} GPUs",
            ((f"saved by {n}", saved, FLEET, saved.si > effort.si),),
            most,
            [(chosen(n, label="GPUs"), " GPUs save ", d.Shown(saved, "MUSD"))],
            10.0,
        )
        for n, saved in saves.items()
    ]
    effort_box = d.Box(
        "paid whatever the fleet",
        d.line("paid whatever the fleet", bold=True),
        first,
        role=EFFORT,
    )
    saving_box = d.Box(
        "saved by each GPU",
        d.line("saved by each GPU, in a year", bold=True),
        d.below(*rows, gap=4),
        role=FLEET,
    )
    title = "Effort is paid once and by anyone; what is saved grows with the fleet."
    scene = d.below(effort_box, saving_box, gap=8)
    return d.draw(scene, name="effort-and-fleets", title=title, devices=["h100_sxm"])


def _saved(chips: int) -> Quantity:
    many = chosen(chips, label="GPUs")
    found = many * page.saved() * page.used() * one_of("year")
    return found.to("USD").named(f"saved by {chips}")
