"""The drawing of section 7.6: where a weight is expanded, and what multiplies."""

from stacklib.pages.quantizers import decode as page
from stacklib.pages.quantizers import steps
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, bytes_per_element, maximum

__all__ = ["way_of_a_weight"]
DEVICE = "b200_sxm"
FULL = steps.bits("bf16").named("bits of the widest weight")
SHOWN = ("bf16", "w4a16", "w4a8", "w4a4")
EXPANDED = {
    "bf16": "nothing to expand",
    "w4a16": "expanded to BF16",
    "w4a8": "expanded to FP8",
    "w4a4": "stays packed",
}


def way_of_a_weight() -> d.Drawing:
    """From memory through registers to the multiplier, for four ways."""
    parts = [_way(key) for key in SHOWN]
    title = "Memory sees the bits of the weight, the multiplier the wider operand's."
    return d.draw(
        d.grid(parts, (len(parts), 2), gap=8),
        name="q-expanded",
        title=title,
        devices=[DEVICE],
    )


def _way(key: str) -> d.Node:
    way = page.WAYS[key]
    bits = steps.bits(way.dtype)
    wide = maximum(bits, bytes_per_element(way.peak).to("bit")).named(
        f"bits at the core, {way.words}"
    )
    peak = page.peak(key, DEVICE)
    memory = d.Box(
        f"memory, {way.words}",
        [d.line("memory", bold=True), (d.Shown(bits, "bit", 4), " a weight")],
        role="layer-2",
    )
    registers = d.Box(
        f"registers, {way.words}",
        [d.line("registers", bold=True), EXPANDED[key]],
        role="layer-3",
        lit="expanded" in EXPANDED[key],
    )
    core = d.Box(
        f"tensor core, {way.words}",
        [d.line("tensor core", bold=True), (d.Shown(peak, "PFLOP/s", 3), " dense")],
        role="layer-4",
    )
    scene = d.below(
        memory,
        _pipe(f"memory, {way.words}", f"registers, {way.words}", bits),
        registers,
        _pipe(f"registers, {way.words}", f"tensor core, {way.words}", wide),
        core,
        gap=2,
    )
    return d.Box(way.words, d.line(way.words, bold=True), scene)


def _pipe(start: str, end: str, bits: Quantity) -> d.Pipe:
    """As wide as what goes through of one weight."""
    return d.Pipe(start, end, bits, FULL, [], down=(True, True), least=18.0)
