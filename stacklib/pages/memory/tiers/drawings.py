"""Drawings of section 3.9: five tiers, a mix of two, and a bit's way in picojoules."""

from stacklib.hardware import get
from stacklib.memory.ladder.energy import circuit_path, wire_length
from stacklib.pages.memory import tiers as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted

__all__ = ["a_bits_way", "five_tiers", "hot_and_cold"]
WORDS = {
    "shared": ("shared memory", "ns", "MB"),
    "hbm": ("HBM", "ns", "GB"),
    "ddr": ("DDR5 of the host", "ns", "GB"),
    "cxl": ("CXL memory", "ns", "GB"),
    "nvme": ("flash", "µs", "TB"),
}


def five_tiers() -> d.Drawing:
    """The tiers as an SM sees them, arrows as wide as their bandwidths."""
    known = page.sm()
    found = [(key, known[key]) for key in WORDS if key in known]
    full = found[0][1].bandwidth
    nodes: list[d.Node] = [d.Box("SM", d.line("an SM asks", bold=True))]
    for key, tier in found:
        words, unit, _ = WORDS[key]
        before = nodes[-1]
        assert isinstance(before, d.Box)
        rate = tier.bandwidth.named(f"bandwidth of {words}")
        shown = d.Shown(rate, "GB/s", 3, "shared" if key == "shared" else None)
        label = [(shown,)]
        pipe = d.Pipe(
            words, before.name, rate, full, label, down=(True, True), least=26.0
        )
        assert tier.price is not None  # every tier has a quote
        told = [
            d.line(words, bold=True),
            (
                d.Shown(tier.latency.named(f"latency of {words}"), unit),
                ", ",
                d.Shown(tier.price.named(f"price of {words}"), "USD/GB", 2),
            ),
        ]
        nodes += [
            pipe,
            d.Box(words, told, role="layer-2" if len(nodes) < 6 else "layer-5"),
        ]
    title = "Seen from an SM, each tier outward is cheaper, slower and narrower."
    return d.draw(d.below(*nodes, gap=0), name="tiers-five", title=title)


def hot_and_cold() -> d.Drawing:
    """Bytes and accesses of the cheapest mix, near and far."""
    wait = chosen(20, "µs", label="mean wait of the example")
    asked = stand(page, "rate", 5, "GB/s").named("rate of the example")
    data = stand(page, "gigabytes", 1000, "GB").to("TB").named("data of the example")
    kept = counted(page.kept, 0, wait, asked, unit="B", label="kept near")
    near = (kept / data).named("share of the bytes that is near")
    heat = counted(page.heat, wait, asked, label="share of the accesses that is near")
    zero, whole = chosen(0, label="begin"), chosen(1, label="all")
    rows = d.below(
        d.Words([d.line("bytes", bold=True)]),
        d.Clip(
            "near, bytes",
            zero,
            near,
            whole,
            [("in DDR5: ", d.Shown(near, "%", 2), ", the rest on flash")],
            role="layer-2",
            grow=0,
        ),
        d.Words([d.line("accesses", bold=True)]),
        d.Clip(
            "near, accesses",
            zero,
            heat,
            whole,
            [("to DDR5: ", d.Shown(heat, "%", 2))],
            role="layer-4",
            grow=0,
        ),
        d.Box("mean", [("mean wait at most ", wait)], role="muted"),
        d.Box("bill", [("for ", data, ", cheapest mix")], role="layer-7"),
        gap=7,
    )
    title = "A few bytes take most of the accesses, so a few bytes near are enough."
    return d.draw(rows, name="tiers-mix", title=title)


def a_bits_way() -> d.Drawing:
    """From the cell to the register: each stop and each wire with its energy."""
    device = get(page.CHIP.key)
    stops = circuit_path(device)
    total: Quantity = stops[0].per_bit
    for stop in stops[1:]:
        total = total + stop.per_bit
    whole = total.named("energy of a bit's way")
    at = (0 * stops[0].per_bit).named("begin")
    rows: list[d.Node] = [
        d.Words([d.line("a bit: ", d.Shown(whole, "pJ/bit"), " in all", bold=True)])
    ]
    for stop in stops:
        end = (at + stop.per_bit).named(f"after {stop.name}")
        took = stop.per_bit.named(f"energy of {stop.name}")
        told = [(f"{d.Name(stop.name)}: ", d.Shown(took, "pJ/bit", 2))]
        role = "layer-5" if "wire" in stop.name else "layer-2"
        rows.append(d.Clip(stop.name, at, end, whole, told, role=role, grow=0))
        at = end
    way = wire_length(device.die_area.across(1)).named("mean way across the die")
    rows.append(
        d.Words([("the wires across the die are ", d.Shown(way, "mm"), " long")])
    )
    title = "A bit pays at every stop, and most of all for the way between them."
    return d.draw(
        d.below(*rows, gap=7), name="tiers-way", title=title, devices=[device.key]
    )
