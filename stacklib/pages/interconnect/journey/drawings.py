"""Drawing of section 6.17: a token's time on two generations, by its exchanges."""

from stacklib import hardware
from stacklib.pages.interconnect import journey as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import Quantity

__all__ = ["three_exchanges"]

SLOT = 0.3e-3  # seconds that a cell stands for
CELLS = 28


def three_exchanges() -> d.Drawing:
    """Reading, pauses, exchanges: by bytes alone, by NCCL, by the engine's kernels."""
    steps = [
        ("bytes alone", _both(lambda device: page.bytes_alone(device))),
        ("NCCL", _both(lambda device: page.exchanges(device))),
        ("own kernels", _both(lambda device: page.exchanges(device, way=page.OWN))),
    ]
    title = "The newer chip reads sooner and exchanges no sooner."
    return d.draw(steps, name="crossing-token", title=title)


def _both(of: object) -> d.Node:
    assert callable(of)
    boxes = []
    for device in (page.OLD, page.NEW):
        name = f"eight {hardware.get(device).short}"
        parts: dict[str, tuple[Quantity, str]] = {
            "reading": (page.reading(device), "layer-2"),
            "pauses": (page.pauses(device), "layer-4"),
            "exchanges": (of(device), gpu.CHIP),
        }
        rows: list[d.Node] = []
        begun = 0.0
        for what, (time, role) in parts.items():
            first, last = begun / SLOT, (begun + time.si) / SLOT
            lit = frozenset(range(round(first), max(round(last), round(first) + 1)))
            rows += [
                d.Words([d.line(f"{what}: ", d.Shown(time, "ms"))]),
                d.Cells(
                    f"{what}, {name}",
                    CELLS,
                    side=(8.0, 7.0),
                    gap=1.5,
                    role=role,
                    lit=frozenset(cell for cell in lit if cell < CELLS),
                    words=f"{what} where lit",
                ),
            ]
            begun += time.si
        boxes.append(
            d.Box(name, d.line(name, bold=True), d.below(*rows, gap=4), role="muted")
        )
    return d.below(*boxes, gap=10)
