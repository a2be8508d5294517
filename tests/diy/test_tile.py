"""A tile of a shared chip: pins, area, and the checklist with planted faults."""

import importlib.util
import random
import re

import numpy as np
import pytest
from _tools import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import diy
from stacklib.accelerators.rtl.netlist import read
from stacklib.diy.silicon import cells, pins
from stacklib.diy.silicon.checklist import RULES, InfoError, read_info
from stacklib.diy.silicon.tapeout import TILES, core, die, growth
from stacklib.diy.silicon.verilog import modules
from stacklib.pages.diy.tapeout.handed import INFO
from stacklib.pages.diy.tapeout.handed import TILE as VERILOG
from stacklib.pages.figures_of import rows
from stacklib.quantity import UnknownName, quoted
from stacklib.roofline.work.fit import Infeasible

ROWS = {row["id"]: row for row in rows("silicon")}
NETLIST = tree.ROOT / "stacklib/diy/silicon/data/tile_1x1.netlist"
PUBLISHED = {  # sky130_fd_sc_hd, from a published report of counts and areas
    "and2_1": 6.256,
    "mux2_1": 405.389 / 36,
    "nand2_1": 2470 / 657,
    "a21oi_1": 3210 / 641,
    "dfxtp_1": 6990 / 349,
}


def matrices(pick, rows, depth, cols, bits=8):
    half = 1 << bits - 1

    def drawn(rows, cols):
        return [[pick.randrange(-half, half) for _ in range(cols)] for _ in range(rows)]

    return drawn(rows, depth), drawn(depth, cols)


@given(st.integers(1, 16), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_product_through_the_pins_of_the_kept_gates(depth, seed):
    a, b = matrices(random.Random(seed), 1, depth, 1)
    script = pins.script(a, b)
    assert len(script.ui_in) == pins.cycles(1, depth, 1)
    told = pins.by_gates(read(NETLIST.read_text("utf-8")), script.ui_in)
    assert script.sums(told) == (np.array(a) @ b).tolist()
    assert all(value < 2 for value in told)  # the other pins stay low


@pytest.mark.skipif(not importlib.util.find_spec("amaranth"), reason="no amaranth")
def test_two_by_two_in_amaranth():
    from stacklib.diy.silicon.tile_amaranth import Tile, by_amaranth

    a, b = matrices(random.Random(4), 2, 3, 2, 4)
    script = pins.script(a, b, 4, 12)
    told = by_amaranth(Tile(2, 2, 4, 12), list(script.ui_in))
    assert len(told) == pins.cycles(2, 3, 2, 4, 12)
    want = (np.array(a) @ b).tolist()
    assert script.sums(told) == want
    broken = list(script.ui_in)
    broken[16] ^= 1  # the lowest bit of the first operand
    assert script.sums(by_amaranth(Tile(2, 2, 4, 12), broken)) != want


def test_areas_are_the_published_ones():
    for cell, each in PUBLISHED.items():
        assert cells.area(cell).to("µm^2").value == pytest.approx(each, rel=2e-3)
    site = (quoted("sky130.site") * quoted("sky130.row")).si
    for cell in cells.CELLS:
        sites = cells.area(cell).si / site
        assert sites == pytest.approx(round(sites))
    # Two tiles less their margins are the core that a published run prints.
    assert core("1x2").si == pytest.approx(quoted("tinytpu.core").si, rel=1e-9)
    assert die("8x2")[0].to("µm").value == pytest.approx(1378.16)
    assert 1 < growth().si < 1.1


def test_designs_take_the_stored_area_and_tiles():
    for name, row in ROWS.items():
        if name.startswith("tile-"):
            made = diy.tapeout(row["cells"])
            assert made.cells.to("µm^2").value == pytest.approx(row["area"])
            assert made.tiles == row["tiles"]
    # A published array of 2 x 2 with more control takes two tiles, and so says the sum.
    ours = cells.total(ROWS["tile-2x2-8-32"]["cells"])
    assert 1 < (quoted("tinytpu.area") / ours).si < 1.2


def test_more_cells_never_take_fewer_tiles():
    counts = range(500, 42000, 1500)
    sizes = [TILES.index(diy.tapeout({"nand2_1": n}).tiles) for n in counts]
    assert sizes == sorted(sizes)
    with pytest.raises(Infeasible, match="8x2 tiles are"):
        diy.tapeout({"nand2_1": 10**6})


REFUSED = [
    (UnknownName, "nand2_1", {"nand2_2x": 1}),
    (UnknownName, "sky130", {"AND": 1}, "gf180"),
    *((ValueError, "no cells", none) for none in ({}, [3])),
    *((ValueError, str(n), {"AND": n}) for n in (-1, 1.5, True, float("nan"))),
]


@pytest.mark.parametrize("row", REFUSED)
def test_what_tapeout_refuses(row):
    error, says, *given_ = row
    with pytest.raises(error, match=says):
        diy.tapeout(*given_)


def test_a_right_submission_passes():
    assert diy.checklist(INFO, VERILOG) == []
    assert read_info(INFO)["project"]["description"].endswith("#5 pins")
    assert read_info(INFO)["project"]["source_files"] == ["tile.v", "mac.v"]


def swapped(old: str, new: str) -> tuple[str, str]:
    assert old in INFO + VERILOG
    return INFO.replace(old, new), VERILOG.replace(old, new)


PLANTED = {
    "version": ("yaml_version: 6", "yaml_version: 4"),
    "title": ('"Serial MAC"', '""'),
    "author": ('"A. Reader"', '"  "'),
    "description": ("  description: ", "  about: "),
    "language": ('"Verilog"', '""'),
    "tiles": ('"1x1"', '"2x1"'),
    "clock_hz": ("10000000", '"10 MHz"'),
    "top_module": ("tt_um_reader_mac", "reader_mac"),
    "source_files": ('    - "tile.v"\n    - "mac.v"\n', ""),
    "pinout": ('  uio[7]: ""\n', ""),
    "pins_named": ('"pin"', '""'),
    "module": ("module tt_um_reader_mac", "module reader_mac"),
    "ports": ("input  wire       ena,", ""),
    "driven": ("assign uo_out[7] = 0;", ""),
    "way": ("assign uio_out = 8'b0;", "assign uio_out = {1'b0, total};"),
    "reset": ("wire reset = !rst_n;", "wire reset = 0;"),
    "clock": ("posedge clk", "posedge ui_in[0]"),
    "tristate": ("uo_out[7] = 0", "uo_out[7] = 1'bz"),
}


@pytest.mark.parametrize("rule", PLANTED)
def test_each_rule_alone_catches_its_fault(rule):
    found = diy.checklist(*swapped(*PLANTED[rule]))
    assert [fault.rule for fault in found] == [rule], found
    assert {*PLANTED} == {*RULES}


TOTAL, TOP = "assign uo_out[6:0] = total;", "assign uo_out[7] = 0;"
BOTH = f"{TOTAL}\n  {TOP}"
WAYS, OE = "assign uio_out = 8'b0;", "assign uio_oe  = 0;"
CLEAR = "if (reset) total <= 0;"
SLOW = "reg [6:0] total; reg slow; always @(posedge clk) slow <= !slow; "
BITS = "genvar i; generate for (i = 0; i < 7; i = i + 1) begin : bit "
POWER = "\n`ifdef USE_POWER_PINS\n inout VPWR,\n`endif\n input wire [7:0] ui_in,"
MORE = [
    ("ports", "[7:0] uo_out", "[6:0] uo_out"),
    ("ports", "output wire [7:0] uio_oe", "input wire [7:0] uio_oe"),
    ("ports", "input  wire       rst_n", "input wire rst_n, output wire led"),
    ("driven", OE, ""),
    ("driven", TOTAL, "assign uo_out[5:0] = total;"),
    ("reset", CLEAR, "if (rst_n) total <= 7'd0;"),
    ("reset", "posedge clk)", "posedge clk or posedge rst_n)"),
    ("reset", "reset = !rst_n;", "reset; late l(.reset(rst_n), .q(reset));"),
    ("clock", "reg [6:0] total;", SLOW + "always @(posedge slow) total[0] <= 1;"),
    ("way", f"{WAYS}\n  {OE}", "assign uio_out = {7'b0, reset}, uio_oe = 0;"),
    ("clock_hz", "10000000", "true"),
    ("tiles", 'tiles: "1x1"', "tiles: 1"),
    ("top_module", '"tt_um_reader_mac"', '"tt_um_reader-mac"'),
    ("pinout", '  ui[0]: "pin"', '  ui[9]: "pin"\n  ui[0]: ""'),
]


@pytest.mark.parametrize(("rule", "old", "new"), MORE)
def test_more_of_the_same_kind(rule, old, new):
    assert rule in {fault.rule for fault in diy.checklist(*swapped(old, new))}


RIGHT = [
    (BOTH, "assign uo_out = {1'b0, total};"),
    (BOTH, "shown view (.from(total), .to(uo_out));"),
    (f"{BOTH}\n  {WAYS}", "assign {uo_out, uio_out} = {1'b0, total, 8'h00};"),
    (OE, "assign uio_oe = 8'h00;"),
    (f"{WAYS}\n  {OE}", "assign uio_out = 0, uio_oe = 0;"),
    (WAYS, "assign uio_out = {{4{1'b0}}, 4'h0};"),
    ("tt_um_reader_mac (", "tt_um_reader_mac #(parameter W = $clog2(8)) ("),
    ("input  wire [7:0] ui_in,", POWER),
    (TOTAL, BITS + "assign uo_out[i] = total[i]; end endgenerate"),
    (OE, "assign uio_oe = ena ? 8'b1000_0000 : 8'b0;"),
    ("posedge clk)", "posedge clk or negedge rst_n)"),
    ("posedge clk)", "posedge clk or posedge reset)"),
    ("always @(posedge clk)", "wire beat = clk; always @(posedge beat)"),
    (CLEAR, "if (!rst_n) total <= 0;"),
    ("output wire [7:0] uo_out", "output reg [7:0] uo_out"),
]


@pytest.mark.parametrize(("old", "new"), RIGHT)
def test_other_right_ways_pass(old, new):
    assert diy.checklist(*swapped(old, new)) == []


def test_procedural_outputs_and_ports_declared_inside():
    text = """module tt_um_reader_mac(ui_in, uo_out, uio_in, uio_out, uio_oe, ena,
      clk, rst_n);
      input [7:0] ui_in, uio_in; output [7:0] uo_out, uio_out, uio_oe;
      input ena, clk, rst_n; reg [7:0] uo_out;
      assign uio_out = 0; assign uio_oe = 0;
      always @(posedge clk) if (~rst_n) uo_out <= 0; else if (uo_out == 3)
        uo_out[3:0] <= ui_in[3:0]; endmodule"""
    assert diy.checklist(INFO, text) == []
    (top,) = modules(text).values()
    assert top.ports["uio_oe"].way == "output" and top.driven("uio_in") == set()
    dead = text.replace("uo_out <= 0", "led <= 0").replace("uo_out[3:0]", "uo_out[2:0]")
    (fault,) = diy.checklist(INFO, dead)
    assert fault.rule == "driven" and "uo_out[3], uo_out[4]" in fault.says


NO_INFO = [
    ("", "nothing in it"),
    ("project:\n\ttitle: x", "line 2: a tab"),
    ("project", "line 1: 'project'"),
    ("a: 1\na: 2", "line 2: 'a' stands there twice"),
    ("a:\n    b: 1\n  c: 2", "line 3"),
    *((info, "verilog a text") for info in (None, [])),
]


@pytest.mark.parametrize(("text", "says"), NO_INFO)
def test_what_is_no_info(text, says):
    with pytest.raises(InfoError, match=re.escape(says)):
        diy.checklist(text, VERILOG)
    with pytest.raises(InfoError, match="verilog a text"):
        diy.checklist(INFO, None)
    assert "title" in {fault.rule for fault in diy.checklist({"project": [1]}, "")}
