"""Drawings of section 2.5: who holds a tile, how it is fed, which bits a sum loses."""

from stacklib import gpu, hardware
from stacklib.hardware import Accelerator, microarchitecture
from stacklib.pages.gpu import tensor_cores as page
from stacklib.pages.gpu.tensor_cores import operands
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts.gpu import CHIP, STORE
from stacklib.quantity import Quantity, chosen, counted

__all__ = ["operand_paths", "sum_cut", "who_holds_what"]
SIGNIFICAND = 8  # bits of a product of two FP8 numbers
SHOWN = 22  # places of a sum that are drawn
WARP_TILE = 64  # rows and columns that a warp of Ampere keeps


def who_holds_what() -> d.Drawing:
    """The three tiles of one warp's instruction; the numbers of one lane lit."""
    title = (
        "An instruction of one warp multiplies two tiles that lie in the registers "
        "of all its lanes; each lane holds a few numbers of each."
    )
    told = (("first lane", 0), ("a middle lane", 13), ("last lane", 31))
    steps = [(words, _tiles(lane)) for words, lane in told]
    return d.draw(steps, name="mma-lanes", title=title, devices=["a100-sxm-80gb"])


def _tiles(lane: int) -> d.Node:
    m, n, k = (
        operands.of_largest("a100-sxm-80gb", axis, words)
        for axis, words in (
            ("rows", "rows"),
            ("columns", "columns"),
            ("k", "shared places"),
        )
    )
    left = _tile("weights", operands.left_of, lane, (m, k), STORE)
    right = _tile("tokens", operands.right_of_lane, lane, (k, n), "layer-4")
    sums = _tile("sums", operands.sums_of, lane, (m, n), CHIP)
    times, gives = (d.Words(sign, grow=0) for sign in ("×", "="))
    return d.flow(left, times, right, gives, sums, gap=6)


def _tile(
    name: str, which: object, lane: int, sides: tuple[Quantity, Quantity], role: str
) -> d.Box:
    assert callable(which)
    across = round(sides[1].si)
    lit = frozenset(r * across + c for r, c in which(lane))
    cells = d.Cells(name, round(sides[0].si) * across, across, 9.0, 1.5, role, lit=lit)
    told = [
        d.line(name, bold=True),
        (sides[0], " × ", sides[1]),
        (operands.held(which, name), " per lane"),
    ]
    return d.Box(f"tile of {name}", told, cells, role=role)


def operand_paths() -> d.Drawing:
    """Where operands come from in three generations; arrows as wide as bytes."""
    a100, h100, b200 = (
        hardware.get(key) for key in ("a100-sxm-80gb", "h100-sxm", "b200-sxm")
    )
    title = (
        "Operands took a shorter way with each generation, and the tile of one "
        "instruction grew."
    )
    scene = d.flow(_by_registers(a100), _direct(h100), _direct(b200), gap=12, even=True)
    return d.draw(
        scene,
        name="operand-paths",
        title=title,
        devices=[a100.key, h100.key, b200.key],
    )


def _rate(device: Accelerator, rows: int, columns: int) -> Quantity:
    units = gpu.instruction(device.key).units
    return operands.tile_rate(device.key, rows, columns, units)


def _pipe(start: str, rate: Quantity, end: str) -> d.Pipe:
    full = operands.tile_rate("a100-sxm-80gb", operands.ROWS, operands.COLUMNS)
    return d.Pipe(start, end, rate, full, down=(True, True), least=30.0)


def _by_registers(device: Accelerator) -> d.Box:
    m, n, _ = operands.largest(device.key)
    tile = chosen(WARP_TILE, label="side of a warp's tile")
    inside = d.below(
        d.Box("shared memory", role=STORE),
        _pipe("shared memory", _rate(device, WARP_TILE, WARP_TILE), "registers"),
        d.Box("registers", ["registers", ("tiles of ", tile, " × ", tile)], role=STORE),
        _pipe("registers", _rate(device, m, n), "tensor cores"),
        _cores(device),
        _sums(device, "registers"),
        gap=0,
    )
    return d.Box(device.short, d.line(device, bold=True), inside, role="muted")


def _direct(device: Accelerator) -> d.Box:
    m, n, _ = operands.largest(device.key)
    own = gpu.instruction(device.key).sums
    inside = d.below(
        d.Box("shared memory", role=STORE),
        _pipe("shared memory", _rate(device, m, n), "tensor cores"),
        _cores(device),
        _sums(device, own),
        gap=0,
    )
    return d.Box(device.short, d.line(device, bold=True), inside, role="muted")


def _cores(device: Accelerator) -> d.Box:
    axes = ("rows", "columns", "k")
    sides = [operands.of_largest(device.key, axis, "a side") for axis in axes]
    many = counted(gpu.instruction, device.key, take="units", label="SMs together")
    of = " SM" if many.si == 1 else " SMs"
    told = [
        d.line("tensor cores", bold=True),
        (sides[0], " × ", sides[1], " × ", sides[2]),
        ("of ", many, of),
    ]
    return d.Box("tensor cores", told, lit=True, role=CHIP)


def _sums(device: Accelerator, place: str) -> d.Box:
    whole = (
        microarchitecture(device).constants["tensor_memory"]
        if place == "tensor memory"
        else operands.registers()
    )
    told = [
        f"sums in {place}",
        (d.Shown(operands.sums_size(device.key), "KiB"), " of ", whole),
    ]
    return d.Box("sums", told, role="layer-4")


def sum_cut() -> d.Drawing:
    """Places of a running sum, and which bits of the next product fall off."""
    title = (
        "A product is shifted to the exponent of the sum; what lies beyond the last "
        "place that is kept is cut off."
    )
    told = (("early sum", 4), ("longer sum", 8), ("long sum", 11))
    steps = [(words, _places(shift)) for words, shift in told]
    return d.draw(steps, name="sum-cut", title=title, devices=["h100-sxm"])


def _places(shift: int) -> d.Node:
    keeps = page.kept("e4m3fn")
    kept = 1 + round(keeps.si)
    mine = range(shift, shift + SIGNIFICAND)
    lost = sum(place >= kept for place in mine)
    by = chosen(shift, label="places that a product is shifted by")
    own = frozenset(place for place in mine if place < kept)
    cut = frozenset(place for place in mine if place >= kept)
    gone = counted(len, sorted(cut), label="bits of it that are cut")
    total = d.Cells(
        "running sum",
        SHOWN,
        side=(11.0, 18.0),
        gap=2.0,
        role=CHIP,
        lit=frozenset(range(kept)),
    )
    product = d.Cells(
        "product",
        SHOWN,
        side=(11.0, 18.0),
        gap=2.0,
        role="layer-4",
        lit=own,
        dark=cut,
    )
    end = (gone, " of its bits are cut off (pale)") if lost else "all its bits stay"
    return d.below(
        d.Box(
            "sum",
            [d.line("running sum", bold=True), (keeps, " places behind the point")],
            total,
            role=CHIP,
        ),
        d.Box(
            "addend",
            [d.line("next product", bold=True), ("shifted by ", by), end],
            product,
            role="layer-4",
        ),
        gap=7,
    )
