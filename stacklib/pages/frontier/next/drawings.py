"""The drawing of section 10.2: two generations, part by part."""

from __future__ import annotations

from stacklib import hardware
from stacklib.pages.frontier import next as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.plots.drawing.words import Label
from stacklib.serving.token.shape import PRODUCTS
from stacklib.serving.token.work import EXCHANGES, HOST, LAUNCHES

__all__ = ["two_generations"]


def two_generations() -> d.Drawing:
    """Memory, chip, links and host of both, with the token's time at each."""
    boards = [_board(key) for key in (page.OLD, page.NEW)]
    title = "Memory and links are replaced; the host and its pauses come along."
    scene = d.grid(boards, (2, 2), gap=14)
    return d.draw(
        scene, name="two-generations", title=title, devices=[page.OLD, page.NEW]
    )


def _board(key: str) -> d.Node:
    chip, full = hardware.get(key), hardware.get(page.NEW).memory_bandwidth
    memory, made, others, host = (
        f"{what} of {chip.short}" for what in ("memory", "chip", "links", "host")
    )

    def spent(name: str) -> Label:
        return (f"{page.SHORT[name]} ", d.Shown(page.line(name, key), "ms"))

    peak = d.Shown(chip.peak("bf16"), "TFLOP/s", 4)
    rows = [
        d.Box(
            memory,
            [d.line("HBM, ", chip.memory_capacity, bold=True), spent(PRODUCTS)],
            role=gpu.STORE,
        ),
        d.Pipe(memory, made, chip.memory_bandwidth, full, down=(True, True)),
        d.Box(
            made,
            [d.line(d.Name(chip.short), bold=True), ("bf16 ", peak), spent(LAUNCHES)],
            role=gpu.CHIP,
        ),
        d.Pipe(made, others, chip.link, full, down=(True, True), role=machine.LINKS),
        d.Box(
            others,
            [d.line("seven others", bold=True), spent(EXCHANGES)],
            role=machine.LINKS,
        ),
    ]
    told = [d.line("host", bold=True), spent(HOST)]
    below = d.Box(host, told, role=machine.NODE, lit=True)
    return d.below(d.below(*rows, gap=0), below, gap=10)
