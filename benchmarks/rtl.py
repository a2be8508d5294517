"""The array down to gates: synthesised, proved, placed, and run in two simulators.

    python benchmarks/rtl.py gates      # -> results/rtl_gates.json, the kept netlists
    python benchmarks/rtl.py witnesses  # -> results/rtl_witnesses.json
    python benchmarks/rtl.py placed     # -> results/rtl_placed.json (minutes)
    python benchmarks/rtl.py wired      # -> results/rtl_wired.json (minutes)
    python benchmarks/rtl.py speed      # -> results/rtl_speed.json

Needs the extra `hdl`, and Icarus for `witnesses` and `speed`. Peer and bar: the same
netlist in Icarus with a test bench in Verilog; 65,536 vectors through ours are to be
ten times as many a second. Counts change with the tools: their versions stand in every
result, and Icarus' own.
"""

import contextlib
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version as distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import host_common
import numpy as np

from stacklib.accelerators.rtl import gates, icarus, lanes, netlist, tools
from stacklib.accelerators.rtl.array_amaranth import Array
from stacklib.accelerators.rtl.feed import by_formula, first_difference
from stacklib.accelerators.rtl.mac_amaranth import Mac
from stacklib.accelerators.rtl.products_amaranth import (
    ByteSplit,
    Chosen,
    Product,
    Sum,
    Wired,
)
from stacklib.accelerators.rtl.run_amaranth import by_amaranth, rtlil
from stacklib.accelerators.rtl.serial_amaranth import SerialArray
from stacklib.roofline.host import measure as host

WIDTHS = range(2, 9)
SIZES = (1, 2, 3, 4)
BARE = (1, 2)  # as they are; more have more pins than the package
PRODUCTS = {2: 600, 4: 400}  # random ones, by size of the array
DEPTH = 4
VECTORS = 65536
IN_ICARUS = 1024
BAR = 10.0
GROUP, EVERY = 32, 4  # weights of a scale; groups of which one is synthesised
ONCE = tools.GATES.replace("-noalumacc", "-noabc")  # sums of many; one pass of abc
MATRIX = "model.layers.0.self_attn.k_proj.weight"
SCHEME = "q4_0"  # codes from 0 to 15, of which 8 stands for zero


def synthesised(component: Any, about: str, named: Any = None) -> netlist.Netlist:
    """A component as gates, its flow in its first line."""
    flow = f"{about}; Yosys {tools.version('YOSYS')}: {tools.GATES}"
    return tools.to_gates(rtlil(component), flow, named)


def toggles(net: netlist.Netlist, vectors: int) -> float:
    """Cells that turn when all inputs are drawn anew, on average."""
    pick = random.Random(0)
    drawn_bits = [
        {n: [pick.getrandbits(vectors) for _ in range(w)] for n, w in inputs.items()}
        for inputs in [net.inputs] * 2
    ]
    return gates.toggles(net, drawn_bits, vectors)


def run_gates() -> list[dict[str, Any]]:
    """Cells of multipliers by width, of arrays by size; three netlists are kept."""
    rows = []

    def row(name: str, net: netlist.Netlist, **more: Any) -> None:
        rows.append({"id": name, "cells": net.counts, **more})
        print(rows[-1], flush=True)

    for bits in WIDTHS:
        net = synthesised(Product(bits), f"product of {bits} bits")
        row(f"product-{bits}", net, bits=bits, toggles=toggles(net, VECTORS))
        row(f"mac-{bits}", synthesised(Mac(bits), f"place of {bits} bits"), bits=bits)
    row(
        "product-32",
        net := synthesised(Product(32), "product of 32 bits"),
        bits=32,
        toggles=toggles(net, VECTORS),
    )
    for bits in (8, 32):
        net = synthesised(Sum(bits), f"sum of {bits} bits")
        row(f"sum-{bits}", net, bits=bits, toggles=toggles(net, VECTORS))
    kept = {
        "mac": synthesised(Mac(), "one place, 8 bits, sums of 32"),
        "array_2x2": synthesised(Array(2, 2), "array of 2 x 2", tools.operands(2, 2)),
        "byte_split": synthesised(ByteSplit(), "16 x 8 bits in two passes"),
    }
    for name, net in kept.items():
        text = netlist.write(net)
        (netlist.DATA / f"{name}.netlist").write_text(text, "utf-8")
        row(name, net, bytes=len(text))
    for size in SIZES[2:]:
        row(f"array_{size}x{size}", synthesised(Array(size, size), "", {}))
    wide = np.arange(-32768, 32768)
    equal = sum(
        int(
            (
                lanes.split_products(kept["byte_split"], wide, wide * 0 + w) == wide * w
            ).sum()
        )
        for w in range(-128, 128)
    )
    proof = tools.proves(rtlil(ByteSplit(8, 4, checks=True)), "checked", 2, 1)
    rows.append(
        {"id": "byte-split", "pairs": 2**24, "equal": equal, "proved_8x4": proof}
    )
    print(rows[-1])
    return rows


def drawn(size: int, count: int) -> list[Any]:
    """Random products, the same ones every time."""
    pick = random.Random(size)

    def matrix(rows: int, cols: int) -> list[list[int]]:
        return [[pick.randint(-128, 127) for _ in range(cols)] for _ in range(rows)]

    return [(matrix(size, DEPTH), matrix(DEPTH, size)) for _ in range(count)]


def run_witnesses() -> list[dict[str, Any]]:
    """Formula, Amaranth, Verilog in Icarus and gates, cycle by cycle."""
    rows = []
    for size, count in PRODUCTS.items():
        pairs = drawn(size, count)
        whole = synthesised(Array(size, size), "", tools.operands(size, size))
        told = {
            "amaranth": by_amaranth(pairs, size, size),
            "icarus": icarus.by_icarus(
                tools.to_verilog(rtlil(Array(size, size))), pairs
            ),
            "gates": [list(gates.by_gates(a, b, whole)) for a, b in pairs],
            "composed": [list(gates.by_gates(a, b)) for a, b in pairs],
        }
        right = [list(by_formula(a, b)) for a, b in pairs]
        first = told["icarus"][0]
        moved = [
            t for t, c in enumerate(first) if t == 0 or c.sums != first[t - 1].sums
        ]
        row = {
            "id": f"{size}x{DEPTH}x{size}",
            "products": count,
            "equal": {
                name: sum(
                    first_difference(x, y) is None
                    for x, y in zip(right, cycles, strict=True)
                )
                for name, cycles in told.items()
            },
            # Numbered from zero, so one less than how many cycles it takes.
            "last_cycle": moved[-1],
            "cycles": moved[-1] + 1,
            "shown": pairs[0],
            "told": {
                name: [[c.a, c.b, c.sums] for c in cycles[0]]
                for name, cycles in told.items()
                if name in ("amaranth", "icarus")
            },
        }
        rows.append(row)
        print({k: v for k, v in row.items() if k not in ("shown", "told")}, flush=True)
    return rows


def run_placed() -> list[dict[str, Any]]:
    """An iCE40 hx8k: sizes bare and behind the serial shell, widths, multipliers."""
    rows = []

    def row(name: str, component: Any, on_chip: bool = True, **more: Any) -> None:
        text = rtlil(component)
        found = tools.to_ice40(text)
        if on_chip:
            try:
                found |= vars(tools.place(text))
            except tools.ToolError as error:
                found |= {"refused": str(error)}
        rows.append({"id": name, **found, **more})
        print(rows[-1], flush=True)

    for bits in WIDTHS:
        row(f"mac-{bits}", Mac(bits), bits=bits)
        rows[-1]["with_dsps"] = tools.to_ice40(rtlil(Mac(bits)), dsp=True)
    for size in SIZES:
        row(f"bare-{size}", Array(size, size), on_chip=size <= 3, size=size)
        if size not in BARE:
            row(f"shell-{size}", SerialArray(size, size), size=size)
            rows[-1]["shell_luts"] = rows[-1]["luts"] - rows[-2]["luts"]
    return rows


def run_wired() -> list[dict[str, Any]]:
    """One matrix of the tiny model at 4 bits as wires, every sum of one scale."""
    from stacklib import tinylm
    from stacklib.quantizers import quantize

    weight = tinylm.load("tiny").weights[MATRIX]
    codes = np.asarray(quantize(weight, SCHEME).codes).astype(int) - 8
    groups = codes.reshape(-1, GROUP)
    total: Counter[str] = Counter()
    turned, count, chosen = 0.0, 0, groups[::EVERY]
    for row in chosen:
        net = tools.to_gates(rtlil(Wired([row.tolist()])), "", script=ONCE)
        total.update(net.counts)
        turned += toggles(net, 2048)
        count += len(row)
        print(count, dict(total), turned, flush=True)
    values, times = np.unique(groups, return_counts=True)
    rows: list[dict[str, Any]] = [
        {
            "id": "wired",
            "matrix": MATRIX,
            "scheme": SCHEME,
            "weights": count,
            "of": groups.size,
            "cells": dict(total),
            "toggles": turned,
            "values": dict(zip(map(str, values.tolist()), times.tolist(), strict=True)),
        }
    ]
    for name, one in (
        ("sixteen-products", Chosen(range(-8, 8))),
        ("product-8x4", Product(8, 4)),
    ):
        net = synthesised(one, "")
        rows.append({"id": name, "cells": net.counts, "toggles": toggles(net, VECTORS)})
    print(rows)
    return rows


def gates_as_verilog(net: netlist.Netlist) -> str:
    """A netlist as Verilog, one assignment a cell, its flip-flops on ``clk``."""
    ports = ["input clk"]
    ports += [f"input [{width - 1}:0] {n}" for n, width in net.inputs.items()]
    ports += [f"output [{len(o) - 1}:0] {n}" for n, o in net.outputs.items()]
    # A wire a bit: of one wide vector Icarus would pass all on where one bit turns.
    bits = net.first_cell + len(net.cells)
    lines = [f"module gates({', '.join(ports)});"]
    lines += [f"wire n{bit};" for bit in range(bits)]
    lines += ["assign n0 = 1'b0; assign n1 = 1'b1;"]
    at = 2
    for name, width in net.inputs.items():
        lines += [f"assign n{at + bit} = {name}[{bit}];" for bit in range(width)]
        at += width
    for state, taken in enumerate(net.states, at):
        lines.append(f"reg s{state} = 0; assign n{state} = s{state};")
        lines.append(f"always @(posedge clk) s{state} <= n{taken};")
    for cell, (kind, a, b) in enumerate(net.cells, net.first_cell):
        value = f"~n{a}" if kind == "~" else f"n{a} {kind} n{b}"
        lines.append(f"assign n{cell} = {value};")
    for name, shown in net.outputs.items():
        listed = ", ".join(f"n{bit}" for bit in reversed(shown))
        lines.append(f"assign {name} = {{{listed}}};")
    return "\n".join([*lines, "endmodule"]) + "\n"


def bench_verilog(wide: Any, narrow: Any) -> str:
    """A test bench of the byte-split multiplier, both passes for each pair."""
    pairs = "".join(
        f"{a & 65535:04x}{w & 255:02x}\n" for a, w in zip(wide, narrow, strict=True)
    )
    Path("pairs.hex").write_text(pairs, "ascii")
    return f"""
module bench;
  reg clk = 0, high = 0; reg signed [15:0] a; reg signed [7:0] w;
  wire signed [23:0] total;
  reg [23:0] pairs [0:{len(wide) - 1}]; integer i, wrong = 0;
  gates dut(.clk(clk), .a(a), .w(w), .high(high), .rst(1'b0), .total(total));
  initial begin
    $readmemh("pairs.hex", pairs);
    for (i = 0; i < {len(wide)}; i = i + 1) begin
      a = pairs[i][23:8]; w = pairs[i][7:0]; high = 0; #1 clk = 1; #1 clk = 0;
      high = 1; #1 if (total !== a * w) wrong = wrong + 1;
      #1 clk = 1; #1 clk = 0;
    end
    $display("wrong %0d", wrong);
  end
endmodule
"""


def run_speed() -> list[dict[str, Any]]:
    """Vectors a second of the kept byte-split netlist, ours and Icarus'."""
    net, pick = netlist.stored("byte_split"), np.random.default_rng(0)
    wide = pick.integers(-32768, 32768, VECTORS)
    narrow = pick.integers(-128, 128, VECTORS)
    rows = []

    def timed(name: str, vectors: int, run: Callable[[], Any]) -> None:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            assert run(), name
            times.append(round(time.perf_counter() - start, 5))
        rate = vectors / min(times)
        rows.append(
            {"id": name, "vectors": vectors, "times_s": times, "rate": round(rate)}
        )
        print(rows[-1], flush=True)

    timed(
        "ours",
        VECTORS,
        lambda: (lanes.split_products(net, wide, narrow) == wide * narrow).all(),
    )
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("gates.v").write_text(gates_as_verilog(net), "ascii")
        bench = bench_verilog(wide[:IN_ICARUS], narrow[:IN_ICARUS])
        Path("bench.v").write_text(bench, "ascii")
        command = ["iverilog", "-g2012", "-o", "out", "bench.v", "gates.v"]
        subprocess.run(command, check=True)

        def vvp() -> bool:
            done = subprocess.run(["vvp", "out"], capture_output=True, text=True)
            return "wrong 0" in done.stdout

        timed("icarus", IN_ICARUS, vvp)
    rows.append({"id": "ratio", "of": round(rows[0]["rate"] / rows[1]["rate"], 1)})
    return rows


PARTS = {
    "gates": (run_gates, "counts, which nothing predicts but the bench itself"),
    "witnesses": (
        run_witnesses,
        "each is held against the closed form, cycle by cycle",
    ),
    "placed": (run_placed, "counts and a clock that only the tools know"),
    "wired": (run_wired, "counts, beside a published number of transistors a weight"),
    "speed": (run_speed, "a bar for speed"),
}


def versions() -> dict[str, str]:
    """What counts depend on."""
    found = {"yosys": tools.version("YOSYS"), "amaranth": distribution("amaranth")}
    if not icarus.missing():
        said = subprocess.run(["iverilog", "-V"], capture_output=True, text=True).stdout
        found["icarus"] = re.search(r"version (\S+)", said)[1]
        found["cocotb"] = distribution("cocotb")
    try:
        found["nextpnr"] = tools.version("NEXTPNR")
    except tools.ToolError:
        pass
    return found


def main(parts: list[str]) -> int:
    """Run parts of the flow, or all, and write what each found."""
    for part in parts or PARTS:
        run, why = PARTS[part]
        watch = host.Watch()
        rows = run()
        result = host_common.head(f"rtl_{part}", None, watch, why_no_prediction=why)
        result["versions"] |= versions()
        result["bars"] = {"vectors": BAR} if part == "speed" else {}
        host_common.save(host_common.HERE, f"rtl_{part}", result | {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
