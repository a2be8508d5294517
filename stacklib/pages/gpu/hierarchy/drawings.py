"""Drawings of section 2.1: a thread's two addresses, an SM opened, waves of tiles."""

from stacklib.hardware import get
from stacklib.pages.gpu import hierarchy as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import chosen

__all__ = ["an_sm_opened", "two_addresses", "waves_of_tiles"]


def an_sm_opened() -> d.Drawing:
    """One SM of an H100: four sub-cores, and the memory that they share."""
    return scenes.sm_opened(page.H100, name="hierarchy-sm")


def waves_of_tiles() -> d.Drawing:
    """A product's tiles over the SMs, wave after wave."""
    return scenes.tiles_in_waves(page.H100, name="hierarchy-waves")


def two_addresses() -> d.Drawing:
    """Grid, block, warp and lane beside GPC, SM, sub-core and lane."""
    device = get(page.H100)
    blocks = chosen(24, label="blocks of the grid, drawn")
    grid = d.Box(
        "grid",
        [d.line("grid", bold=True), (blocks, " blocks")],
        d.Cells("blocks", 24, 8, side=9.0, role="layer-4", lit=frozenset({10})),
        role="layer-4",
    )
    block = d.Box(
        "block",
        [d.line("block", bold=True), (page.warps(), " warps")],
        d.Cells(
            "warps",
            round(page.warps().si),
            1,
            side=(70.0, 8.0),
            role="layer-4",
            lit=frozenset({1}),
        ),
        role="layer-4",
    )
    warp = d.Box(
        "warp",
        [d.line("warp", bold=True), (page.warp(), " threads")],
        gpu.warp("threads", frozenset({20})),
        role="layer-4",
    )
    chip = d.Box(
        "chip",
        [d.line("chip", bold=True), (device.compute_units, " SMs")],
        gpu.sms(device, (22, 22), 5.0, frozenset({10})),
    )
    core = d.Box(
        "SM",
        [d.line("SM", bold=True), (page.partitions(), " sub-cores")],
        d.Cells(
            "sub-cores", 4, 1, side=(70.0, 8.0), role="layer-3", lit=frozenset({1})
        ),
    )
    sub = d.Box(
        "sub-core",
        [d.line("sub-core", bold=True), (page.warp(), " lanes")],
        d.Cells("lanes", 32, 16, side=9.0, role="layer-3", lit=frozenset({20})),
    )
    program, place = d.flow(grid, block, warp, gap=14), d.flow(chip, core, sub, gap=14)
    scene = d.below(
        d.Box(
            "in the program", d.line("where it is in the program", bold=True), program
        ),
        d.Box("on the chip", d.line("and on the chip", bold=True), place),
        gap=10,
    )
    title = "A thread has an address in the program and one on the chip."
    return d.draw(scene, name="hierarchy-addresses", title=title, devices=[page.H100])
