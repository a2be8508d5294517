"""A link, live: lanes, rate and code make one direction and both, bits and bytes."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.networks import framing
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

LINKS = (1, 2, 4, 6, 12, 18, 36)
LANES = (1, 2, 4, 8, 16)
RATE = (8, 16, 25.78125, 32, 50, 53.125, 64, 100, 106.25, 200, 212.5)  # Gbit/s
SHOWN = {name: name for name in framing.CODES}
PORT = 50.0  # GB/s in one direction: a network port of 400 Gbit/s


def controls() -> list[dict[str, Any]]:
    """Links of a device, lanes of a link in one direction, a lane's rate, its code."""
    return [
        choices.slider("links", "Links of a device", LINKS, 18),
        choices.slider("lanes", "Lanes of a link, one direction", LANES, 2),
        choices.slider("rate", "A lane (Gbit/s)", RATE, 106.25),
        choices.select("code", "Line code", SHOWN, "RS-FEC"),
    ]


def one_way(links: int, lanes: int, rate: float, code: str) -> float:
    """GB/s in one direction."""
    return links * lanes * rate * float(framing.share(framing.code(code))) / 8


def explore(*, links: int, lanes: int, rate: float, code: str) -> Spec:
    """Bandwidth in one direction against the rate of a lane."""
    mine = one_way(links, lanes, rate, code)
    told = [
        ("one", "One direction", counted(mine, "one direction", "GB/s"), "GB/s"),
        ("both", "Both directions", counted(2 * mine, "both, summed", "GB/s"), "GB/s"),
        ("bits", "One direction, bits", counted(8 * mine, "bits", "Gbit/s"), "Gbit/s"),
        (
            "gib",
            "One direction, GiB",
            counted(mine * 1e9 / 2**30, "binary", "GiB/s"),
            "GiB/s",
        ),
    ]
    left = float(framing.share(framing.code(code)))
    drawn = [one_way(links, lanes, r, code) for r in RATE]
    bare = [one_way(links, lanes, r, "none") for r in RATE]
    over = counted(mine / PORT, "one direction over the port's")
    share = counted(left, "share that the code leaves")
    marks = [
        line(RATE, drawn, "one direction", "predicted", at="key"),
        line(RATE, [2 * b for b in drawn], "both directions", "predicted", at="key"),
        line(RATE, bare, "one direction, before the code", "predicted", at="key"),
        here(rate, mine, "your link"),
    ]
    return chart(
        "Both directions are twice one, and only one carries your transfer.",
        x=axis("A lane (Gbit/s)", log=True),
        y=axis("Bandwidth (GB/s)", log=True),
        marks=marks,
        readouts=[
            *(readout(key, words, q, unit=unit) for key, words, q, unit in told),
            readout("port", "Over a port of 400 Gbit/s", over, "ratio"),
            readout("share", "Left by the code", share, "share", unit="%"),
        ],
    )
