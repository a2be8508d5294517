"""The drawing of section 6.11: light from a module, and from the switch's package."""

from __future__ import annotations

from stacklib.pages.interconnect import optics as page
from stacklib.plots.drawing import (
    Box,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    draw,
    flow,
    line,
)
from stacklib.plots.drawing.marks import then

__all__ = ["two_ways"]

CHIP, LIGHT, COPPER, GLASS = "layer-3", "layer-6", "layer-2", "layer-5"


def two_ways() -> Drawing:
    """From the switch chip to the fibre: over the board, and inside the package."""
    steps = [("in a module", _module()), ("in the package", _package())]
    title = "Copper is long and light is bought at its end, or copper is short."
    return draw(steps, name="optics-two-ways", title=title)


def _engine(words: str, way: str) -> Box:
    watts = Shown(page.part(way, "engine"), "W")
    parts = "DSP, driver, modulator, amplifier"
    if way == "package":
        parts = "driver, modulator, amplifier"
    told = [line(words, bold=True), line(parts), line(watts)]
    return Box("engine", told, role=LIGHT, lit=True)


def _laser(words: str, way: str) -> Box:
    told = [line(words, bold=True), line(Shown(page.part(way, "laser"), "W"))]
    return Box("laser", told, role=LIGHT)


def _module() -> Node:
    lost = page.electrical("pluggable")
    chip = Box("switch chip", [line("switch chip", bold=True)], role=CHIP)
    return flow(
        Box("package", [line("package", bold=True)], chip, role="muted"),
        then("package", "board trace"),
        Box(
            "board trace",
            [line("board trace,", bold=True), line("plug"), line(lost, " dB lost")],
            role=COPPER,
        ),
        then("board trace", "module"),
        Box(
            "module",
            [line("module, can be pulled", bold=True)],
            below(_engine("engine", "pluggable"), _laser("laser", "pluggable"), gap=5),
            role="muted",
        ),
        then("module", "fibre"),
        Box("fibre", [line("fibre", bold=True)], role=GLASS),
        gap=2,
    )


def _package() -> Node:
    lost = page.electrical("package")
    chip = Box("switch chip", [line("switch chip", bold=True)], role=CHIP)
    trace = Box("substrate", [line("substrate"), line(lost, " dB lost")], role=COPPER)
    inside = flow(
        chip,
        then("switch chip", "substrate"),
        trace,
        then("substrate", "engine"),
        _engine("engine", "package"),
        gap=2,
    )
    return below(
        flow(
            Box("package", [line("package", bold=True)], inside, role="muted", grow=3),
            then("package", "fibre"),
            Box("fibre", [line("fibre", bold=True)], role=GLASS),
            gap=2,
        ),
        flow(
            _laser("laser module, can be pulled", "package"),
            Words([line("its light, still unmodulated, goes to the engine")]),
        ),
        gap=6,
    )
