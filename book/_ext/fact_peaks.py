"""Every printed peak of a GPU beside the product of its factors."""

from fact_html import Cell, Column, Row, Sheet, sift

from stacklib import gpu
from stacklib.gpu.tensor.peaks import WITHIN, PeakBuilt
from stacklib.quantity import Quantity, one_of

COLUMNS = (
    Column("device", "Device"),
    Column("vendor", "Vendor", menu=True),
    Column("format", "Format", menu=True),
    Column("sums", "Sums"),
    Column("units", "Units", number=True),
    Column("macs", "MAC a unit and cycle", number=True),
    Column("clock", "Clock (GHz)", number=True),
    Column("built", "Built", "TFLOP/s"),
    Column("printed", "Printed, dense", "TFLOP/s"),
    Column("gap", "Gap (%)", number=True),
    Column("verdict", "Verdict", menu=True),
)


def peak_table(sheet: Sheet) -> str:
    """Every rate that can be built from its factors, to sort and sift."""
    found = list(gpu.peaks())
    devices = {one.device.key for one in found}
    caption = f"{len(found)} rates of {len(devices)} GPUs, dense"
    return sift("peaks", caption, COLUMNS, [_row(one) for one in found], sheet)


def verdict(one: PeakBuilt) -> str:
    """What the comparison says, in a word or two."""
    if abs(one.gap) > WITHIN:
        return "differs"
    return "clock inferred" if one.implied else "agrees"


def _row(one: PeakBuilt) -> Row:
    device, dtype = one.device, one.name.split("/")[0]
    sums = device.peaks[one.name].accumulate
    whole = dtype.startswith("int")  # counted in OP, shown in the same column
    cells = [
        Cell(device.name, f"{device.key}.html"),
        Cell(device.vendor),
        Cell(f"{dtype} tensor" if one.name.endswith("/tensor") else dtype),
        Cell(sums or None, absent="–"),
        # These are inputs of what is built, and open there.
        Cell(int(one.units.si)),
        Cell(int(one.macs.si)),
        Cell(round(one.clock.si / 1e9, 3)),
        Cell(_flop(one.built) if whole else one.built),
        Cell(_flop(one.printed) if whole else one.printed),
        Cell(round(100 * one.gap, 1) + 0.0),  # no minus zero
        Cell(verdict(one)),
    ]
    return Row(f"{device.key}-{one.name.replace('/', '-')}", cells, device.key)


def _flop(rate: Quantity) -> Quantity:
    """Integer operations, in the unit of the column."""
    return rate * one_of("FLOP/OP", "an integer operation, for the column's unit")
