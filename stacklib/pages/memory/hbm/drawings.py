"""Drawings of section 3.7: a stack opened, wide beside fast, and parts that wait."""

from stacklib import hardware
from stacklib.pages.memory import hbm as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.quantity import chosen, counted

__all__ = ["a_stack_opened", "parts_that_wait", "wide_beside_fast"]
DEVICE = "h100-sxm"


def a_stack_opened() -> d.Drawing:
    """A stack cut open, its channels, the banks of one."""
    return scenes.hbm_opened(DEVICE, name="hbm-stack")


def wide_beside_fast() -> d.Drawing:
    """A stack, a graphics chip, a DIMM: pins counted true, arrows as wide as a pin."""
    boxes = [_bus("hbm3", 64, "HBM"), _bus("gddr6x", 8, "GDDR"), _bus("ddr5-6400", 8)]
    title = "HBM is not fast at a pin; it has more of them than anything else."
    return d.draw(d.flow(*boxes), name="hbm-wide", title=title, devices=[DEVICE])


def _bus(key: str, across: int, name: str = "DIMM") -> d.Node:
    found = hardware.memory(key)
    fastest = hardware.memory("gddr6x").pin_rate
    pins = round(found.pins.si)
    side = 2.6 if pins > 100 else 9.0
    cells = d.Cells(
        f"pins of {name}",
        pins,
        across,
        side=side,
        gap=1.0,
        role="layer-5",
        words="pins",
    )
    rate = d.Pipe(
        f"pin of {name}",
        f"{name}, in all",
        found.pin_rate,
        fastest,
        [d.Shown(found.pin_rate, "Gbit/s", 2)],
        down=(True, True),
        role="layer-5",
        least=34.0,
    )
    many = found.pins.named(f"data pins of {found.pins.label}")
    top = d.Box(f"pin of {name}", [d.line(name, bold=True), (many, " pins")], cells)
    whole = d.Box(
        f"{name}, in all", [(d.Shown(found.bandwidth, "GB/s"),)], role="layer-2"
    )
    return d.below(top, rate, whole, gap=0)


def parts_that_wait() -> d.Drawing:
    """Pseudo-channels of a stack under reads at a stride: who is asked, who idles."""
    steps = [
        ("neighbours", _strided(1)),
        ("every other", _strided(2)),
        ("a stripe apart", _strided(32)),
        ("one more", _strided(33)),
    ]
    title = "All pins are busy only while all pseudo-channels are."
    return d.draw(steps, name="hbm-strides", title=title, devices=[DEVICE])


def _strided(step: int) -> d.Node:
    parts = page.row("hbm3").parts
    many = round(parts.si)
    used = sorted({i * step % many for i in range(many)})
    busy = counted(len, used, label="pseudo-channels that are asked")
    share = (busy / parts).named("share of the pins that is busy")
    apart = chosen(step, label="accesses apart")
    cells = d.Cells(
        "pseudo-channels",
        many,
        (16, 8),
        side=(24.0, 16.0),
        gap=4.0,
        role="layer-2",
        lit=frozenset(used),
        dark=frozenset(range(many)) - frozenset(used),
        words="those that are asked are lit",
    )
    reads = d.Box("reads", [("reads ", apart, " accesses apart")], role="layer-4")
    told = [d.line(parts, " pseudo-channels", bold=True)]
    stack = d.Box("stack", told, cells, role="layer-2")
    pins = d.Box("pins", [(busy, " busy: ", d.Shown(share, "%"))], role="layer-5")
    return d.below(reads, stack, pins, gap=7)
