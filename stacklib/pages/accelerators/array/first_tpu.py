"""Six applications on the first TPU, beside what its paper measured."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.accelerators.array.network import APPLICATIONS, Application, network
from stacklib.accelerators.array.tpu_v1 import tpu_v1
from stacklib.quantity import Quantity, counted, one_of, quoted

from ...figures_of import measured

# Rate, active cycles, stalls: a row of the published results, or a line of quotes.
PUBLISHED = {
    "mlp0": ("J-0309", "J-0310", "J-0311"),
    "mlp1": ("J-0313", "J-0314", "tpu1.mlp1_stall"),
    "lstm0": ("tpu1.lstm0_rate", "J-0318", "J-0319"),
    "lstm1": ("J-0321", "J-0322", "J-0323"),
    "cnn0": ("J-0325", "J-0326", ""),
    "cnn1": ("tpu1.cnn1_rate", "J-0330", "J-0331"),
}


def foretold(name: str, what: str, unit: str, each: Quantity | int = 1) -> Quantity:
    """What the tiles and the memory of TPU v1 make of an application."""
    label = f"{name.upper()}, {what}"
    return counted(
        tpu_v1, name, each, take=what, unit=unit, label=label, family="tpu_v1"
    )


def told(name: str, at: int) -> Quantity | None:
    """Published: rate, active cycles or stalls of an application; none for none."""
    key = PUBLISHED[name][at]
    if not key:
        return None
    found = measured(key) if key.startswith("J-") else quoted(key)
    return found if at == 0 else found.to("%")


def size(name: str, what: str, label: str) -> Quantity:
    """A number of such a row."""
    return counted(application, name, take=what, label=label)


def application(name: str) -> Application:
    """A row of the paper's table 1."""
    return APPLICATIONS[name]


def applications() -> list[dict[str, Any]]:
    """The paper's six: how often a weight is used, rate and shares of cycles."""
    return [
        {
            "application": name.upper(),
            "uses of a weight": size(name, "intensity", f"uses, {name}"),
            "rate": foretold(name, "rate", "OP/s").to("TOP/s"),
            "published rate": told(name, 0),
            "active": foretold(name, "active", "").to("%"),
            "published active": told(name, 1),
            "waiting": foretold(name, "stalled", "").to("%"),
            "published waiting": told(name, 2),
        }
        for name in APPLICATIONS
    ]


def over(name: str) -> Quantity:
    """Rate of an application, predicted over published."""
    published = told(name, 0)
    assert published is not None
    return (foretold(name, "rate", "OP/s") / published).named(f"{name}, over published")


def shift() -> Quantity:
    """Cycles in which a tile is shifted in, a row a cycle."""
    return (quoted("tpu1.side") * one_of("cycle")).named("cycles of a tile's way in")


def working(name: str) -> Quantity:
    """Cycles that a tile works, by the paper's counters: active over shifting in."""
    active, shifted = told(name, 1), quoted(f"tpu1.{name}_shift")
    assert active is not None
    return (shift() * active / shifted).named(f"cycles of a tile, {name.upper()}")


def by_counters() -> Quantity:
    """Rate of CNN1 that its useful share makes of the peak."""
    peak = hardware.get("tpu_v1").peak("int8").across(1)
    return (peak * quoted("tpu1.cnn1_useful")).named("rate of CNN1 by its counters")


def batch_times() -> tuple[Quantity, Quantity]:
    """Time of a batch of CNN1: ours, and by the images a second that are published."""
    images = size("cnn1", "batch", "images of a batch")
    ours = foretold("cnn1", "inferences", "1/s")
    told_ = quoted("tpu1.cnn1_frames")
    return (images / ours).named("a batch of CNN1"), (images / told_).named("published")


def held() -> Quantity:
    """Share of CNN1's weights that its fully connected layers hold."""
    return counted(dense_share, "cnn1", label="weights behind the convolutions")


def dense_share(name: str) -> float:
    """The same for an application with a trunk."""
    layers = network(name)
    behind = sum(g.n * g.k for g in layers if g.name.startswith("fc"))
    return behind / sum(g.count * g.n * g.k for g in layers)


def filled(name: str) -> Quantity:
    """Part of its tiles that holds weights, over the cycles that they work."""
    useful, active = (foretold(name, what, "") for what in ("useful", "active"))
    return (useful / active).named(f"{name.upper()}, tiles filled")
