"""The serial MAC on an iCE40 HX8K: annealed here, and by nextpnr.

    python benchmarks/placement.py netlist  # the kept netlist, by Yosys
    python benchmarks/placement.py          # -> results/placement.json (two minutes)

Needs the extra `hdl`. Peer and bar: the shortest of nextpnr's placements over seeds and
of a long annealing, by half perimeter over the same nets; ours within 15 % of it in
under 10 s, and the paths that nextpnr reports, found again from its own delays. What
nextpnr placed is kept as rows with its delays, so that the tests need no tool.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import host_common

from stacklib.accelerators.rtl import tools
from stacklib.accelerators.rtl.run_amaranth import rtlil
from stacklib.accelerators.rtl.serial_amaranth import SerialArray
from stacklib.frontier.layout import circuit, packing, placing
from stacklib.frontier.layout.timing import timing
from stacklib.roofline.host import measure as host

NEXTPNR_SEEDS, SEEDS, LONG = (1, 2, 3), (0, 1, 2), 8.0
PINS = ("I0", "I1", "I2", "I3")
HEAD = "# serial MAC, 8 bits, sums of 32; Yosys {}: synth_ice40\n"


def synthesised() -> tuple[circuit.Circuit, str]:
    """The circuit, and Yosys' own text of it."""
    design = tools.yosys("synth_ice40 -top top", rtlil(SerialArray(1, 1)))
    return circuit.circuit(json.loads(design)), design


def shortened(long: circuit.Circuit) -> circuit.Circuit:
    """The same cells under short names: registers by their net, the rest by number."""
    names = {"SB_LUT4": "lut", "SB_CARRY": "carry"}
    cells = []
    for at, c in enumerate(long.cells):
        kind = c.kind.partition(":")[0]
        name = (
            c.output
            if c.register
            else f"{names[kind]}{at}"
            if kind in names
            else c.name
        )
        cells.append(circuit.Gate(name, c.kind, c.inputs, c.output))
    return circuit.Circuit(tuple(cells))


def run_nextpnr(design: str, seed: int) -> dict[str, Any]:
    """What nextpnr makes of a design: cells, delays, report."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "top.json").write_text(design, "utf-8")
        command = [tools.program("NEXTPNR"), f"--{tools.DEVICE}", "--package"]
        command += [tools.PACKAGE, "--json", "top.json", "--report", "report.json"]
        command += ["--write", "out.json", "--sdf", "out.sdf", "--seed", str(seed)]
        command += ["--pcf-allow-unconstrained", "--quiet"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        module = json.loads((folder / "out.json").read_text("utf-8"))["modules"]["top"]
        return {
            "cells": module["cells"],
            "report": json.loads((folder / "report.json").read_text("utf-8")),
            "sdf": (folder / "out.sdf").read_text("utf-8").replace("\\", ""),
        }


def where(peer: dict[str, Any], name: str) -> tuple[int, int, int] | None:
    """Where nextpnr put a cell, on its site."""
    base = name.partition(":")[2] + "$sb_io" if ":" in name else name
    for suffix in ("", "_LC", "_DFFLC"):
        found = peer["cells"].get(base + suffix)
        if found:
            told = re.fullmatch(
                r"X(\d+)/Y(\d+)/\D+(\d+)", found["attributes"]["NEXTPNR_BEL"]
            )
            return int(told[1]), int(told[2]), int(told[3])
    return None


def peer_sites(packed: packing.Together, peer: dict[str, Any]) -> list[placing.Site]:
    """Sites of our blocks as nextpnr has them; a way in stands with its chain."""
    sites = []
    for block in packed.blocks:
        told = [where(peer, c.name) for c in block.cells]
        sites.append(next((site for site in told if site), None))
    for at, site in enumerate(sites):
        if site is None:
            sites[at] = sites[at + 1] if at + 1 < len(sites) else sites[at - 1]
    return sites


def peer_rows(peer: dict[str, Any]) -> tuple[list[Any], dict[str, float]]:
    """nextpnr's cells as rows with its delays: tables, carries and registers apart."""
    delay = {}
    for _, to, ps in re.findall(r"INTERCONNECT (\S+) (\S+) \((\d+):", peer["sdf"]):
        delay[to] = int(ps) / 1000
    inside: dict[str, dict[str, float]] = {}
    for block in peer["sdf"].split("(CELL\n")[1:]:
        name = re.search(r"\(INSTANCE (\S*)\)", block)[1]
        ways = re.findall(r"IOPATH (\S+) (\S+) \((\d+):", block)
        inside[name] = {f"{a}>{b}": int(ps) / 1000 for a, b, ps in ways}
        checks = re.findall(
            r"SETUPHOLD \(posedge (I\d)\) \(posedge CLK\) \((\d+):", block
        )
        inside[name].update({f"{a}>D": int(ps) / 1000 for a, ps in checks})
    rows, short = [], {n: f"c{at}" for at, n in enumerate(peer["cells"])}
    for name, cell in peer["cells"].items():
        rows += of_cell(short[name], name, cell, delay, inside.get(name, {}))
    return rows, short


def of_cell(
    key: str,
    name: str,
    cell: dict[str, Any],
    delay: dict[str, float],
    ways: dict[str, float],
) -> list[Any]:
    """Rows of one cell: name, kind, inputs, output, delay by pin, wire by pin."""
    joined = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
    wire = {pin: delay.get(f"{name}/{pin}", 0.0) for pin in joined}
    if cell["type"] == "SB_IO":
        if "D_IN_0" in joined:
            return [(key, "IN", "", joined["D_IN_0"], [], [])]
        return [(key, "OUT", str(joined["D_OUT_0"]), "", [], [wire["D_OUT_0"]])]
    if cell["type"] != "ICESTORM_LC":
        pin, out = (
            joined["USER_SIGNAL_TO_GLOBAL_BUFFER"],
            joined["GLOBAL_BUFFER_OUTPUT"],
        )
        at = wire["USER_SIGNAL_TO_GLOBAL_BUFFER"]
        return [(key, "GLOBAL", str(pin), out, [next(iter(ways.values()))], [at])]
    held = cell["parameters"]["DFF_ENABLE"] == "1"
    rows = []
    pins = [p for p in PINS if p in joined]
    if "O" in joined:
        end = "D" if held else "O"
        out = f"{key}d" if held else joined["O"]
        read = " ".join(str(joined[p]) for p in pins)
        logic = [ways.get(f"{p}>{end}", 0.0) for p in pins]
        rows.append(
            (key, "LUT", read or "0", out, logic or [0.0], [wire[p] for p in pins])
        )
        if held:
            rows.append((f"{key}f", "DFF", out, joined["O"], [ways["CLK>O"]], [0.0]))
    if "COUT" in joined:
        pins = [p for p in ("I1", "I2", "CIN") if p in joined]
        read = " ".join(str(joined[p]) for p in pins)
        logic = [ways.get(f"{p}>COUT", 0.0) for p in pins]
        out = joined["COUT"]
        rows.append(
            (
                f"{key}c",
                "CARRY",
                read or "0",
                out,
                logic or [0.0],
                [wire[p] for p in pins],
            )
        )
    return rows


def run() -> list[dict[str, Any]]:
    """Both placements, the fit of wires to their length, and the paths."""
    long, design = synthesised()
    packed = packing.pack(long)
    rows, wires = [], []
    for seed in NEXTPNR_SEEDS:
        peer = run_nextpnr(design, seed)
        sites = peer_sites(packed, peer)
        length = sum(placing.half_perimeter(sites, p) for p in packed.nets.values())
        clock = min(entry["achieved"] for entry in peer["report"]["fmax"].values())
        theirs = placing.Placement(packed, placing.HX8K, tuple(sites), length, 0)
        rows.append(
            {
                "id": f"nextpnr-{seed}",
                "wire_length": length,
                "megahertz": clock,
                "megahertz_by_length": timing(theirs).megahertz,
            }
        )
        print(rows[-1], flush=True)
        wires += lengths(peer)
        if seed == 1:
            rows.append(paths(peer))
            print({k: v for k, v in rows[-1].items() if k != "rows"}, flush=True)
    rows.append(fitted(wires))
    print(rows[-1], flush=True)
    kept = circuit.stored()
    for seed in SEEDS:
        begun = time.process_time()
        ours = placing.place(kept, seed)
        rows.append(told(f"ours-{seed}", ours, time.process_time() - begun))
    rows.append(told("long", placing.place(kept, 0, effort=LONG), None))
    best = min(row["wire_length"] for row in rows if "wire_length" in row)
    for row in rows:
        if "wire_length" in row:
            row["over_best"] = round(row["wire_length"] / best, 4)
    return rows


def told(name: str, ours: placing.Placement, seconds: float | None) -> dict[str, Any]:
    """One of our placements as a row."""
    length, start = ours.wire_length, ours.start
    row = {"id": name, "wire_length": length, "start": start, "moves": ours.moves}
    row |= {"wrong": len(placing.legal(ours)), "megahertz": timing(ours).megahertz}
    row |= {"times_s": seconds} if seconds else {}
    print(row, flush=True)
    if name == "ours-0":  # that the page shows
        row["sites"] = " ".join(f"{x},{y},{z}" for x, y, z in ours.sites)
    return row


def lengths(peer: dict[str, Any]) -> list[tuple[int, float]]:
    """Tiles and ns of every wire between two cells of logic by their tables' pins."""
    place = {
        name: tuple(
            map(
                int, re.match(r"X(\d+)/Y(\d+)", c["attributes"]["NEXTPNR_BEL"]).groups()
            )
        )
        for name, c in peer["cells"].items()
    }
    found = []
    wires = re.findall(r"INTERCONNECT (\S+)/O (\S+)/(I\d) \((\d+):", peer["sdf"])
    for source, to, _, ps in wires:
        if source in place and to in place:
            (x, y), (u, v) = place[source], place[to]
            found.append((abs(x - u) + abs(y - v), int(ps) / 1000))
    return found


def fitted(wires: list[tuple[int, float]]) -> dict[str, Any]:
    """Least squares: so many ns a wire, and so many a tile."""
    n = len(wires)
    mean_x, mean_y = sum(x for x, _ in wires) / n, sum(y for _, y in wires) / n
    slope = sum((x - mean_x) * (y - mean_y) for x, y in wires)
    slope /= sum((x - mean_x) ** 2 for x, _ in wires)
    first = mean_y - slope * mean_x
    off = sorted(abs(first + slope * x - y) for x, y in wires)
    return {
        "id": "wires",
        "count": n,
        "ns": first,
        "ns_a_tile": slope,
        "median_off": off[n // 2],
    }


def paths(peer: dict[str, Any]) -> dict[str, Any]:
    """nextpnr's paths by its report, its netlist and delays, and our times of them."""
    rows, short = peer_rows(peer)
    told = []
    for path in peer["report"]["critical_paths"]:
        steps = path["path"]
        end = steps[-1]["to"]["cell"]
        told.append(
            {
                "to": short[end],
                "ns": sum(s["delay"] for s in steps),
                "steps": len(steps),
            }
        )
    return {"id": "paths", "paths": told, "rows": rows}


def main() -> None:
    """The kept netlist, or the comparison."""
    if sys.argv[1:] == ["netlist"]:
        text = circuit.write(shortened(synthesised()[0]))
        path = circuit.DATA / "serial_mac.netlist"
        path.write_text(HEAD.format(tools.version("YOSYS")) + text, "utf-8")
        print(f"wrote {path}: {len(text)} bytes")
        return
    watch = host.Watch()
    rows = run()
    head = host_common.head(
        "placement", None, watch, why_no_prediction="a comparison with a tool", bars={}
    )
    head["versions"] |= {
        "yosys": tools.version("YOSYS"),
        "nextpnr": tools.version("NEXTPNR"),
    }
    host_common.save(host_common.HERE, "placement", {**head, "rows": rows})


if __name__ == "__main__":
    main()
