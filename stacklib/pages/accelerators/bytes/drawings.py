"""The drawing of section 5.7: a product of 16 by 8 bits in two passes and a shift."""

from stacklib.pages.accelerators import bytes as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity
from stacklib.quantizers.scheme import fact

__all__ = ["two_passes"]
HIGH, LOW = "layer-3", "layer-5"


def _bits(bytes_: int, label: str) -> Quantity:
    return (bytes_ * fact("int8", "bits", "bit")).named(label)


def two_passes() -> d.Drawing:
    """The wide operand on top, a column for each of its bytes, the sum at the foot."""
    wide = _bits(2, "bits of the wide operand")
    cells = d.right_of(
        _byte("its high bits", HIGH), _byte("its low bits", LOW), gap=5, grow=0
    )
    told = [d.line("a", bold=True), ("whole, with a sign: ", d.Shown(wide, "bit"))]
    total = _bits(3, "bits of the sum")
    scene = d.below(
        d.Box("a", told, cells, role="layer-2"),
        d.right_of(
            _pass("high", "signed", "moved up by a byte", HIGH),
            _pass("low", "without a sign", "as it is", LOW),
            gap=14,
            even=True,
        ),
        d.Box("sum", [d.line("sum", bold=True), d.Shown(total, "bit")], role="layer-6"),
        gap=3,
    )
    title = "A multiplier of bytes makes a wide product in two passes and a sum."
    return d.draw(scene, name="a-byte-split", title=title)


def _byte(name: str, role: str) -> d.Cells:
    return d.Cells(name, page.NARROW, side=(11.0, 14.0), gap=1.5, role=role)


def _pass(name: str, sign: str, then: str, role: str) -> d.Node:
    byte = _bits(1, f"bits of the {name} byte")
    product = _bits(2, f"bits of the {name} product")
    parts = [
        d.Box(f"{name} byte", [d.line(f"{name} byte"), sign], role=role),
        d.Box(f"{name} multiplier", [d.line("x b", bold=True)], role="layer-4"),
        d.Box(f"{name} product", [d.line(f"{name} product"), then], role=role),
    ]
    ends = ["a", *(part.name for part in parts), "sum"]
    way: list[d.Node] = [
        d.Pipe(start, end, rate, product, down=(True, True), role=role)
        for start, end, rate in zip(
            ends, ends[1:], (byte, byte, product, product), strict=False
        )
    ]
    for at, part in enumerate(parts):
        way.insert(2 * at + 1, part)
    return d.below(*way, gap=3)
