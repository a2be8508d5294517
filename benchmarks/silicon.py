"""A place on five families of FPGA, and a tile of a shared chip, through the tools.

    python benchmarks/silicon.py  # -> results/silicon.json, the kept netlist (minutes)

Needs the extra `hdl`, and Icarus. Counts change with the tools: their versions stand in
the result. Two placements are of the iCE40 UP5K, which the array's own results lack.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import host_common
import rtl

from stacklib.accelerators.rtl import netlist, tools
from stacklib.accelerators.rtl.gates import by_gates
from stacklib.accelerators.rtl.icarus import simulated
from stacklib.accelerators.rtl.mac_amaranth import Mac
from stacklib.accelerators.rtl.run_amaranth import by_amaranth, rtlil
from stacklib.accelerators.rtl.serial_amaranth import SerialArray
from stacklib.diy.silicon import cells, glyphs, pins
from stacklib.diy.silicon.fixed import run
from stacklib.diy.silicon.frame import on_arrays
from stacklib.diy.silicon.pipeline import fpga
from stacklib.diy.silicon.tapeout import tapeout
from stacklib.diy.silicon.tile_amaranth import Tile
from stacklib.diy.silicon.tile_amaranth import by_amaranth as on_tile
from stacklib.roofline.host import measure as host

SYNTHESES = {
    "ice40": ("synth_ice40 -dsp", "synth_ice40"),
    "ecp5": ("synth_ecp5", "synth_ecp5 -nodsp"),
    "xc7": ("synth_xilinx -family xc7", "synth_xilinx -family xc7 -nodsp"),
    "xcup": ("synth_xilinx -family xcup", "synth_xilinx -family xcup -nodsp"),
    "cyclonev": (
        "synth_intel_alm -family cyclonev",
        "synth_intel_alm -family cyclonev -nodsp",
    ),
}
# Of a tile: gates that have a cell each, so no process kit is needed.
OF_A_TILE = (
    "synth -noalumacc -flatten -top top; dfflegalize -cell $_DFF_P_ 01; "
    "abc -g AND,NAND,OR,NOR,XOR,XNOR,MUX,AOI3,OAI3; opt_clean -purge"
)
# Look-up tables in a cell whose name says none.
TABLES = {"CCU2C": 2, "MISTRAL_ALUT_ARITH": 1}
TILES = (
    (1, 8, 20),
    (1, 8, 32),
    (2, 2, 8),
    (2, 4, 12),
    (2, 4, 16),
    (2, 6, 16),
    (2, 8, 20),
    (2, 8, 32),
)
KEPT = (1, 8, 20)
PRODUCTS, DEPTH = 60, 4


def luts(found: dict[str, int]) -> int:
    """Look-up tables of a synthesis."""
    total = 0
    for kind, count in found.items():
        each = TABLES.get(kind, int(kind.startswith(("LUT", "SB_LUT", "MISTRAL_ALUT"))))
        total += each * count
    return total


def run_places() -> list[dict[str, Any]]:
    """One place of eight bits, with a block for its multiplier and without."""
    rows = []
    for family, scripts in SYNTHESES.items():
        for kind, script in zip(("block", "tables"), scripts, strict=True):
            found = tools.cells(rtlil(Mac()), f"{script} -top top")
            name = f"place-{family}-{kind}"
            rows.append({"id": name, "luts": luts(found), "cells": found})
            print(rows[-1], flush=True)
    return rows


def run_up5k() -> list[dict[str, Any]]:
    """The 2 x 2 array behind its shell on an iCE40 UP5K, with blocks and without."""
    rows = []
    for kind, script in (("block", "synth_ice40 -dsp"), ("tables", "synth_ice40")):
        with TemporaryDirectory() as name:
            folder = Path(name)
            design = tools.yosys(f"{script} -top top", rtlil(SerialArray(2, 2)))
            (folder / "top.json").write_text(design, "utf-8")
            command = [tools.program("NEXTPNR"), "--up5k", "--package", "sg48"]
            command += ["--json", "top.json", "--report", "report.json", "--seed", "1"]
            command += ["--pcf-allow-unconstrained", "--quiet"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            read = json.loads((folder / "report.json").read_text("utf-8"))
        used = {k: v["used"] for k, v in read["utilization"].items() if v["used"]}
        clock = min(entry["achieved"] for entry in read["fmax"].values())
        rows.append({"id": f"up5k-{kind}", "used": used, "megahertz": clock})
        print(rows[-1], flush=True)
    return rows


def run_frame() -> list[dict[str, Any]]:
    """One frame through the arrays of an iCE40 UP5K in three models of an array."""
    network = glyphs.small_cnn()
    design = fpga(network, "up5k")
    image = glyphs.glyphs(1, 5)[0][0]
    right = run(network, image)

    def amaranth(a: Any, b: Any) -> Any:
        return by_amaranth([(a, b)], len(a), len(b[0]))[0]

    rows = []
    for name, by in (("gates", by_gates), ("amaranth", amaranth)):
        frame = on_arrays(network, design.engines, image, by)
        equal = list(frame.layers) == right
        rows.append({"id": f"frame-{name}", "equal": equal, "cycles": frame.cycles})
        print(rows[-1], flush=True)
    return rows


def run_tiles() -> list[dict[str, Any]]:
    """Cells, area and tiles by size and width; products through the pins, four ways."""
    rows: list[dict[str, Any]] = []
    for size, bits, accumulator in TILES:
        text = rtlil(Tile(size, size, bits, accumulator))
        gates = tools.cells(text, OF_A_TILE).items()
        found = {cells.cell_named(kind): n for kind, n in gates if kind[0] == "$"}
        made = tapeout(found)
        row = {
            "id": f"tile-{size}x{size}-{bits}-{accumulator}",
            "cells": found,
            "area": made.cells.to("µm^2").value,
            "tiles": made.tiles,
        }
        pick = random.Random(size)
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        pairs = [
            [
                [[pick.randint(low, high) for _ in range(c)] for _ in range(r)]
                for r, c in ((size, DEPTH), (DEPTH, size))
            ]
            for _ in range(PRODUCTS)
        ]
        if bits == KEPT[1] and accumulator == KEPT[2]:
            about = f"tile of {size} x {size}; Yosys {tools.version('YOSYS')}: "
            net = tools.to_gates(text, about + tools.GATES)
            if size == KEPT[0]:
                file = netlist.DATA.parents[2] / "diy/silicon/data/tile_1x1.netlist"
                file.write_text(netlist.write(net), "utf-8")
            row["equal"] = through_pins(text, net, size, bits, accumulator, pairs)
        rows.append(row)
        print(rows[-1], flush=True)
    return rows


def by_icarus(verilog: str, scripts: list[tuple[int, ...]]) -> list[list[int]]:
    """What ``uo_out`` shows in every cycle of every script, each after a reset."""
    fed = [
        {"ena": 1, "uio_in": 0, "rst_n": int(n > 0), "ui_in": value}
        for script in scripts
        for n, value in enumerate([0, *script])
    ]
    told = simulated(verilog, fed, ["uo_out", "uio_out", "uio_oe"])
    assert not any(out or ways for _, out, ways in told)
    shown = iter(told)
    return [[next(shown)[0] & 255 for _ in [0, *script]][1:] for script in scripts]


def through_pins(
    text: str,
    net: netlist.Netlist,
    size: int,
    bits: int,
    accumulator: int,
    pairs: list[Any],
) -> dict[str, int]:
    """How many products are right: in gates, Amaranth's simulator and Icarus."""
    scripts = [pins.script(a, b, bits, accumulator) for a, b in pairs]
    right = [
        [
            [
                sum(x * y for x, y in zip(r, c, strict=True))
                for c in zip(*b, strict=True)
            ]
            for r in a
        ]
        for a, b in pairs
    ]
    tile = Tile(size, size, bits, accumulator)
    told = {
        "gates": [pins.by_gates(net, s.ui_in) for s in scripts],
        "amaranth": [
            on_tile(Tile(size, size, bits, accumulator), s.ui_in) for s in scripts
        ],
        "icarus": by_icarus(tools.to_verilog(rtlil(tile)), [s.ui_in for s in scripts]),
    }
    return {
        name: sum(
            s.sums(shown) == want
            for s, shown, want in zip(scripts, every, right, strict=True)
        )
        for name, every in told.items()
    } | {"products": len(pairs)}


def main() -> int:
    """Run all of it and write what was found."""
    watch = host.Watch()
    rows = [*run_tiles(), *run_frame(), *run_places(), *run_up5k()]
    why = "counts and a clock that only the tools know; answers held against products"
    result = host_common.head("silicon", None, watch, why_no_prediction=why)
    result["versions"] |= rtl.versions()
    host_common.save(host_common.HERE, "silicon", result | {"bars": {}, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
