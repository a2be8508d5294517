"""Drawings of section 3.8: a bank, four rows in a window, and refresh in turns."""

from stacklib.memory.dram.parts import DramPart
from stacklib.pages.memory import dram as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.quantity import Quantity, chosen

__all__ = ["a_bank_and_its_row", "four_rows_in_a_window", "refresh_in_turns"]
DEVICE = "h100-sxm"
BANKS, SLOTS = 8, 24  # of the refresh that is drawn


def a_bank_and_its_row() -> d.Drawing:
    """A row into the buffer, a burst out of it, the row back."""
    return scenes.dram_bank(DEVICE, name="dram-row")


def starts(part: DramPart, many: int) -> list[Quantity]:
    """When rows of different banks may be opened, as soon as the rules let them."""
    found: list[Quantity] = []
    for number in range(many):
        at = chosen(0, "ns", "begin") if not found else found[-1] + part.rrd_s
        if number >= 4 and (at - (found[-4] + part.faw)).si < 0:
            at = found[-4] + part.faw
        found.append(at.named(f"row {number + 1} is opened"))
    return found


def four_rows_in_a_window() -> d.Drawing:
    """Rows opened in banks of HBM3, and the bursts that they give to the bus."""
    part = page.HBM3
    at = starts(part, 6)
    whole = (at[-1] + part.faw).named("time drawn")
    rows: list[d.Node] = [
        d.Clip(
            "window",
            at[0],
            part.faw,
            whole,
            [("tFAW, four rows at most: ", d.Shown(part.faw, "ns"))],
            role="layer-6",
            grow=0,
        )
    ]
    for number, begin in enumerate(at):
        end = (begin + part.burst_time).named(f"burst {number + 1} is over")
        label = [("row opened at ", d.Shown(begin, "ns"))] if number % 4 == 0 else None
        name = f"bank {'ABCDEF'[number]}"
        rows.append(d.Clip(name, begin, end, whole, label, role="layer-2", grow=0))
    bus = (part.burst_time / (part.faw / 4)).named("share of the bus that is busy")
    rows.append(
        d.Words(
            [
                (
                    d.Shown(part.burst_time, "ns"),
                    " of bus per row: ",
                    d.Shown(bus, "%", 2),
                )
            ]
        )
    )
    title = "Four rows may be opened in a window; their bursts leave the bus idle."
    return d.draw(
        d.below(*rows, gap=5), name="dram-window", title=title, devices=[DEVICE]
    )


def refresh_in_turns() -> d.Drawing:
    """Banks down, time to the right: all banks refreshed at once, or one by one."""
    steps = [("all at once", _refresh(False)), ("in turns", _refresh(True))]
    title = "Refreshed in turns, a memory always has banks that can answer."
    return d.draw(steps, name="dram-refresh", title=title, devices=[DEVICE])


def _refresh(turns: bool) -> d.Node:
    part = page.HBM3 if turns else page.DDR5
    dark = {
        bank * SLOTS + slot
        for bank in range(BANKS)
        for slot in range(SLOTS)
        if (slot % BANKS == bank if turns else slot % 12 == 0)
    }
    grid = d.Cells(
        "banks in time",
        BANKS * SLOTS,
        SLOTS,
        side=9.0,
        gap=2.0,
        role="layer-2",
        dark=frozenset(dark),
        words="pale while a bank is refreshed",
    )
    spent = (part.rfc_bank if turns else part.rfc).named("time of a refresh")
    told = [
        d.line("HBM" if turns else "DDR", ": banks down, time to the right", bold=True),
        ("a refresh stops ", "one bank" if turns else "all banks", " for ", spent),
    ]
    answer = "others answer meanwhile" if turns else "nobody answers meanwhile"
    return d.below(
        d.Box("banks", told, grid, role="layer-2"),
        d.Box("kernel", answer, role="layer-4"),
        d.Box("interval", [("one every ", d.Shown(part.refi, "µs"))], role="muted"),
        gap=7,
    )
