"""A link's light, live: fibre, connectors, sender and receiver against its errors."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.optics.budget import budget, fibre, modulated
from stacklib.interconnect.optics.errors import bit_errors, reach, sensitivity
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout

LEAST, ALLOWED = 1e-15, 2.4e-4
PER_KM, RESPONSIVITY = 0.5, 0.8  # dB of a kilometre, A/W
METRES = (10, 30, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000)
MENU = [["4", "PAM-4"], ["2", "NRZ"]]


def controls() -> list[dict[str, Any]]:
    """Light behind the modulator, what takes from it, and the receiver."""
    return [
        choices.select("levels", "Levels", MENU, "4"),
        choices.slider("laser", "Laser into the modulator (dBm)", range(14), 9),
        choices.slider("loss", "Modulator and coupling (dB)", range(3, 15), 12),
        choices.slider("extinction", "Extinction ratio (dB)", range(2, 11), 5),
        choices.slider("connectors", "Connectors of 0.5 dB", range(9), 4),
        choices.slider("penalty", "Distortion (dB)", (0, 1, 2, 3, 4, 5), 3),
        choices.slider("noise", "Receiver's noise (µA)", (1, 2, 3, 4, 5, 6), 4),
        choices.slider("metres", "Fibre (m)", METRES, 500),
    ]


def arrives(
    laser: float,
    loss: float,
    extinction: float,
    connectors: int,
    penalty: float,
    metres: float,
) -> float:
    """OMA in dBm at the receiver, distortion counted as a loss."""
    sent = modulated(laser - loss, extinction)
    way = fibre(metres, PER_KM, connectors, 0.5)
    return budget(sent, {"way": way, "distortion": penalty}, 0.0).received


def explore(
    *,
    levels: str,
    laser: float,
    loss: float,
    extinction: float,
    connectors: int,
    penalty: float,
    noise: float,
    metres: float,
) -> Spec:
    """Share of wrong bits before the code, against the length of the fibre."""
    way = (laser, loss, extinction, connectors, penalty)
    count, amperes = int(levels), noise * 1e-6

    def wrong(far: float, many: int = count) -> float:
        level = arrives(*way, far)
        found = bit_errors(reach(level, amperes, RESPONSIVITY, many), many)
        return max(LEAST, found)

    got = arrives(*way, metres)
    needed = sensitivity(ALLOWED, amperes, RESPONSIVITY, count)
    fine = got >= needed
    told = [
        ("got", "OMA that arrives (dBm)", counted(got, "OMA that arrives, dBm")),
        ("needed", "OMA that is needed (dBm)", counted(needed, "OMA needed, dBm")),
        ("margin", "Left over (dB)", counted(got - needed, "left over, dB")),
    ]
    other = 6 - count
    names = {4: "PAM-4", 2: "NRZ"}
    return chart(
        "The code mends what is left of the errors."
        if fine
        else "Too little light arrives for the code.",
        x=axis("Fibre (m)", log=True),
        y=axis("Share of wrong bits before the code", log=True, limits=(LEAST, 1)),
        marks=[
            line(METRES, [wrong(m) for m in METRES], names[count], "predicted"),
            line(
                METRES,
                [wrong(m, other) for m in METRES],
                f"{names[other]}, same receiver",
                "predicted",
            ),
            rule("what the code takes", "predicted", y=ALLOWED),
            here(metres, wrong(metres), "your link"),
        ],
        readouts=[readout(key, words, q, "signed") for key, words, q in told],
    )
