"""The drawing of section 6.11: light from a module, and from the switch's package."""

from stacklib.pages.interconnect import optics as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then

__all__ = ["two_ways"]

CHIP, LIGHT, COPPER, GLASS = "layer-3", "layer-6", "layer-2", "layer-5"


def two_ways() -> d.Drawing:
    """From the switch chip to the fibre: over the board, and inside the package."""
    steps = [("in a module", _module()), ("in the package", _package())]
    title = "Copper is long and light is bought at its end, or copper is short."
    return d.draw(steps, name="optics-two-ways", title=title)


def _engine(words: str, way: str) -> d.Box:
    watts = d.Shown(page.part(way, "engine"), "W")
    parts = "DSP, driver, modulator, amplifier"
    if way == "package":
        parts = "driver, modulator, amplifier"
    told = [d.line(words, bold=True), d.line(parts), d.line(watts)]
    return d.Box("engine", told, role=LIGHT, lit=True)


def _laser(words: str, way: str) -> d.Box:
    told = [d.line(words, bold=True), d.line(d.Shown(page.part(way, "laser"), "W"))]
    return d.Box("laser", told, role=LIGHT)


def _module() -> d.Node:
    lost = page.electrical("pluggable")
    chip = d.Box("switch chip", [d.line("switch chip", bold=True)], role=CHIP)
    return d.flow(
        d.Box("package", [d.line("package", bold=True)], chip, role="muted"),
        then("package", "board trace"),
        d.Box(
            "board trace",
            [
                d.line("board trace,", bold=True),
                d.line("plug"),
                d.line(lost, " dB lost"),
            ],
            role=COPPER,
        ),
        then("board trace", "module"),
        d.Box(
            "module",
            [d.line("module, can be pulled", bold=True)],
            d.below(
                _engine("engine", "pluggable"), _laser("laser", "pluggable"), gap=5
            ),
            role="muted",
        ),
        then("module", "fibre"),
        d.Box("fibre", [d.line("fibre", bold=True)], role=GLASS),
        gap=2,
    )


def _package() -> d.Node:
    lost = page.electrical("package")
    chip = d.Box("switch chip", [d.line("switch chip", bold=True)], role=CHIP)
    trace = d.Box(
        "substrate", [d.line("substrate"), d.line(lost, " dB lost")], role=COPPER
    )
    inside = d.flow(
        chip,
        then("switch chip", "substrate"),
        trace,
        then("substrate", "engine"),
        _engine("engine", "package"),
        gap=2,
    )
    return d.below(
        d.flow(
            d.Box(
                "package", [d.line("package", bold=True)], inside, role="muted", grow=3
            ),
            then("package", "fibre"),
            d.Box("fibre", [d.line("fibre", bold=True)], role=GLASS),
            gap=2,
        ),
        d.flow(
            _laser("laser module, can be pulled", "package"),
            d.Words([d.line("its light, still unmodulated, goes to the engine")]),
        ),
        gap=6,
    )
