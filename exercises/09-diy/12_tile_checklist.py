"""A submission to a shared chip, mended.

level: build
project: P9.7

You are handed an `info.yaml` and the Verilog of a MAC with its sum that somebody wants
on a tile of Tiny Tapeout. `diy.checklist(info, verilog)` says which rules it breaks,
each with an id and what to change, and returns an empty list where none is broken.

- `mended(info, verilog)`: both texts, changed so that the list is empty. Only these
  rules are ever broken, one or several: `driven` (tie bits that nothing drives to 0),
  `pinout` (pins that are missing from the list, with an empty text), `tiles` (a size
  that cannot be had: take `1x2`), and `reset` (a line `if (rst_n)` that should be
  `if (!rst_n)`). What is right stays as it is.
- `area(cells, widths, row)`: what cells take, in µm². `cells` counts them by name,
  `widths` has the width of each in µm, `row` the height of all.
- `share(area, growth, width, height, site, row)`: the share of a tile of `width` x
  `height` µm that they take once placed, which makes them `growth` times as large. Six
  sites of `site` µm stay empty at the left and at the right, a row above and below.

hint: A fault's text names the bits, such as `uo_out[7]`: a regular expression finds
them. An `assign` may stand anywhere before `endmodule`. Mend one rule, ask again.
"""

import re

from stacklib import diy
from stacklib.diy.silicon import cells as library
from stacklib.diy.silicon.tapeout import core
from stacklib.grading import expect
from stacklib.pages.diy.tapeout import ASKED, stored
from stacklib.pages.diy.tapeout.handed import INFO, TILE
from stacklib.quantity import quoted

# ---- your answer ----


def mended(info, verilog):
    """The same submission without its faults."""
    for rule, says in diy.checklist(info, verilog):
        if rule == "driven":
            bits = re.findall(r"\w+\[\d\]", says)
            lines = "".join(f"  assign {bit} = 0;\n" for bit in bits)
            verilog = verilog.replace("endmodule", lines + "endmodule")
        elif rule == "pinout":
            pins = re.findall(r"\w+\[\d\]", says)
            lines = "".join(f'  {pin}: ""\n' for pin in pins)
            info = info.replace("pinout:\n", "pinout:\n" + lines)
        elif rule == "tiles":
            info = re.sub(r"tiles:.*", 'tiles: "1x2"', info)
        elif rule == "reset":
            verilog = verilog.replace("if (rst_n)", "if (!rst_n)")
    return info, verilog


def area(cells, widths, row):
    """Widths in rows of one height."""
    return sum(count * widths[name] for name, count in cells.items()) * row


def share(area, growth, width, height, site, row):
    """Placed cells over the room between the margins."""
    return growth * area / ((width - 12 * site) * (height - 2 * row))


# ---- tests ----

RIGHT = TILE.replace("if (reset) total", "if (!rst_n) total")
FAULTS = {
    "driven": (TILE, "  assign uo_out[7] = 0;\n", ""),
    "pinout": (INFO, '  uio[7]: ""\n', ""),
    "tiles": (INFO, 'tiles: "1x1"', 'tiles: "2x1"'),
    "reset": (RIGHT, "if (!rst_n)", "if (rst_n)"),
}
MORE = {"driven": ("  assign uio_oe  = 0;\n", ""), "pinout": ('  uo[0]: "pin"\n', "")}


def broken(rules):
    info, verilog = INFO, RIGHT
    for rule in rules:
        _, old, new = FAULTS[rule]
        info, verilog = info.replace(old, new), verilog.replace(old, new)
        old, new = MORE.get(rule, ("", ""))
        if old:
            info, verilog = info.replace(old, new), verilog.replace(old, new)
    return info, verilog


def test_mended():
    for rules in (*([rule] for rule in FAULTS), [*FAULTS], []):
        handed = broken(rules)
        info, verilog = mended(*handed)
        left = diy.checklist(info, verilog)
        if left:
            raise expect.Mistake(f"{left[0].rule} is still broken: {left[0].says}")
        if not rules and (info, verilog) != handed:
            raise expect.Mistake("nothing was wrong with that one: leave it as it is")
        kept = [line for line in handed[0].splitlines() if "title" in line]
        if any(line not in info for line in kept) or "total + ui_in" not in verilog:
            raise expect.Mistake("what was right is gone: change only what is broken")
    expect.reading("submissions mended", 1 + len(FAULTS))


WIDTHS = {
    name: library.area(name).to("µm^2").value / quoted("sky130.row").to("µm").value
    for name in library.CELLS
}
ROW, SITE = 2.72, 0.46


def test_area():
    def right(cells, widths, row):
        return library.total(cells).to("µm^2").value

    cases = [
        {"cells": cells, "widths": WIDTHS, "row": ROW}
        for cells in (stored(ASKED)["cells"], {"nand2_1": 3, "dfxtp_1": 2})
    ]
    told = {
        "Widths alone are a length: every cell is as high as a row.": (
            lambda cells, widths, row: sum(n * widths[c] for c, n in cells.items())
        ),
        "Each kind counts as often as it stands there.": (
            lambda cells, widths, row: sum(widths[c] for c in cells) * row
        ),
    }
    expect.function_matches(area, right, cases, rel=1e-6, mistakes=told)


def test_share():
    tile = {"width": 161.0, "height": 111.52, "site": SITE, "row": ROW}

    def right(area, growth, **_):
        return growth * area / core("1x1").to("µm^2").value

    cases = [{"area": a, "growth": 1.036, **tile} for a in (4740.0, 18335.0)]
    told = {
        "Margins lie at both edges.": (
            lambda area, growth, width, height, site, row: (
                growth * area / ((width - 6 * site) * (height - row))
            )
        ),
        "Cells may not stand in the margins.": (
            lambda area, growth, width, height, **_: growth * area / width / height
        ),
    }
    expect.function_matches(share, right, cases, rel=1e-6, mistakes=told)
