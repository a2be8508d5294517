"""The drawing of section 5.5: four engines and their store."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.pages.accelerators import engines as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity

__all__ = ["core_opened"]


def core_opened() -> d.Drawing:
    """One NeuronCore: engines side by side over SBUF and PSUM, DMA to the HBM."""
    case = page.case()
    boxes = [
        d.Box(name, [d.line(name, bold=True), *words], role=gpu.CHIP)
        for name, words in page.ENGINES.items()
    ]
    sbuf = d.Box("SBUF", d.line("SBUF: ", case.sbuf), lit=True, role="layer-2")
    psum = d.Box("PSUM", d.line("PSUM, sums: ", case.psum), role="layer-2")
    hbm = d.Box("HBM", d.line("HBM, of a core: ", share()), role="layer-6")
    look: dict[str, Any] = {"role": "layer-2", "arrow": "end"}
    scene = d.joined(
        d.below(psum, d.grid(boxes, (4, 4), gap=14), sbuf, hbm, gap=30),
        d.Edge("tensor", "PSUM", **look),
        d.Edge("PSUM", "vector", **look),
        d.Edge("PSUM", "scalar", **look),
        *(
            d.Edge(
                "SBUF",
                name,
                arrow="both" if name != "tensor" else "end",
                role="layer-2",
            )
            for name in page.ENGINES
        ),
        d.Edge("HBM", "SBUF", "DMA", arrow="both", role="layer-6"),
        margin=6,
    )
    return d.draw(
        scene,
        name="core-opened",
        title="Four engines with a program each, one store that nobody but the program "
        "fills.",
        devices=["trainium2"],
    )


def share() -> Quantity:
    """HBM bandwidth of one core."""
    chip = hardware.get(page.CHIP)
    return (chip.memory_bandwidth.across(1) / chip.compute_units).named("HBM of a core")
