"""Netlists as other people's tools write them: an answer, or an error with a name."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.frontier import ir_drop, place, route, rules, timing
from stacklib.frontier.layout.circuit import CircuitError, circuit
from stacklib.frontier.layout.packing import pack
from stacklib.frontier.layout.placing import Floor, legal

IN, OUT = "input", "output"


def cell(kind: str, inputs: dict, output: dict, **parameters) -> dict:
    """One cell as `write_json` has it."""
    ways = {**dict.fromkeys(inputs, IN), **dict.fromkeys(output, OUT)}
    joined = {
        p: bits if isinstance(bits, list) else [bits] for p, bits in inputs.items()
    }
    joined |= {
        p: bits if isinstance(bits, list) else [bits] for p, bits in output.items()
    }
    return {
        "type": kind,
        "port_directions": ways,
        "connections": joined,
        "parameters": parameters,
    }


def module(cells: dict, ins: dict, outs: dict, netnames: dict | None = None) -> dict:
    """One module between ports."""
    ports = {n: {"direction": IN, "bits": b} for n, b in ins.items()}
    ports |= {n: {"direction": OUT, "bits": b} for n, b in outs.items()}
    names = {n: {"bits": b} for n, b in (netnames or {}).items()}
    return {"ports": ports, "cells": cells, "netnames": names}


AND = cell("$_AND_", {"A": 2, "B": 3}, {"Y": 4})
PLAIN = module({"g": AND}, {"a": [2, 3]}, {"y": [4]})


@pytest.mark.parametrize("mark", ["0" * 31 + "1", 1])
def test_marks_are_numbers_or_texts(mark):
    """`write_json -compat-int` writes numbers; tables may hold an x."""
    lut = cell("SB_LUT4", {"I0": 2, "I1": 3, "I2": "0", "I3": "x"}, {"O": 4})
    for table in ("00000000x0001000", 8):
        lut["parameters"]["LUT_INIT"] = table
        top = {
            **module({"g": lut}, {"a": [2, 3]}, {"y": [4]}),
            "attributes": {"top": mark},
        }
        told = circuit({"modules": {"top": top, "other": PLAIN}}).cells[-1]
        assert told.kind == "SB_LUT4:0008" and told.inputs == ("net2", "net3", "0", "0")


def test_names_that_differ_by_brackets_stay_two_nets():
    """`\\a[0]` beside a vector `a`; wires called 0 and 1 are no constants."""
    cells = {
        "g": cell("$_AND_", {"A": 2, "B": 4}, {"Y": 5}),
        "h": cell("$_OR_", {"A": 5, "B": 6}, {"Y": 7}),
    }
    ports = {"a": [2, 3], "a[0]": [4], "0": [6]}, {"1": [7]}
    told = circuit(module(cells, *ports, {**ports[0], **ports[1], "w.x[3]{}": [5]}))
    assert len({c.output for c in told.cells if c.output}) == 6
    assert timing(place(told, effort=0), {"$_": 1.0}).least > 2
    assert legal(place(told)) == []


def test_tables_and_registers_of_other_makers():
    """`$lut` reads one vector; a cell with a clock pin and data holds its value."""
    cells = {
        "l": cell("$lut", {"A": [2, 5, "x"]}, {"Y": 4}),
        "r": cell("sky130_fd_sc_hd__dfxtp_1", {"CLK": 9, "D": 4}, {"Q": 5}),
        "f": cell("DFF_X1", {"CK": 9, "D": 5}, {"Q": 6, "QN": ["x"]}),
        "t": cell("$_DLATCH_P_", {"D": 6, "E": 2}, {"Q": 7}),
    }
    told = circuit(module(cells, {"a": [2], "clk": [9]}, {"y": [7], "z": ["z"]}))
    assert [c.register for c in told.cells[-4:]] == [False, True, True, False]
    assert pack(told).globals == {"net9"}
    delays = {"$lut": 0.5, "sky130": 0.25, "DFF_X1": 0.25, "$_DLATCH": 1.0}
    assert timing(told, delays).least == 1.25


RAM = module({"r": cell("RAM", {"A": 2}, {"Q": [3, 4]})}, {}, {})
ABOVE = module({"u": cell("sub", {"A": 2}, {"Y": 3})}, {}, {})
LOOP = module({"l": cell("$lut", {"A": [5]}, {"Y": 5})}, {}, {})
RING = [(f"g{n}", "NOT", f"n{n - 1 or 99}", f"n{n}") for n in range(1, 100)]


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"modules": {"t": RAM}}, "'r' of kind RAM"),
        (
            {"modules": {"t": {**ABOVE, "attributes": {"top": 1}}, "sub": PLAIN}},
            "'u' is a module, sub; flatten",
        ),
        ({**PLAIN, "ports": {"p": {"direction": "inout", "bits": [4]}}}, "'p' is in"),
        ({"modules": {"t": {}}}, "no JSON of Yosys"),
        ({"cells": {"g": {}}}, "no JSON of Yosys.*type"),
        (module({"g": AND}, {"a": [2]}, {}, {"b.c": [3]}), "'g' reads net 'b.c'"),
        (module({"g": AND, "h": AND}, {"a": [2, 3]}, {}), "driven by 'g' and 'h'"),
        (module({"g": AND}, {"a": [2], "c": [4]}, {}), "driven by 'in:c' and 'g'"),
        (LOOP, "loop of gates: l -> l"),
        ([("g", "NOT", "0", "1")], "'g' drives the constant '1'"),
        ([("c", "SB_CARRY", "0 1", "d")], "'c', SB_CARRY, reads 2: 3"),
        (RING, r"g2 -> .* -> g13 \.\.\.$"),
    ],
)
def test_what_cannot_be_laid_out_is_named(design, said):
    """The cell, the port or the net."""
    with pytest.raises(CircuitError, match=said):
        circuit(design)


def ripple(kinds: list[str], more: tuple = (), start: str = "0") -> list[tuple]:
    """A chain of carries, each with its table and its register."""
    names = ["a", "b", "k", "e", "r", *([start] if start != "0" else [])]
    rows = [(f"in{n}", "IN", "", n) for n in names]
    for n, kind in enumerate(kinds):
        came = f"c{n - 1}" if n else start
        rows += [
            (f"carry{n}", "SB_CARRY", f"a b {came}", f"c{n}"),
            (f"lut{n}", "SB_LUT4:6996", f"r a b {came}", f"s{n}"),
            (f"reg{n}", kind, f"s{n} k e r", f"q{n}"),
        ]
    return [*rows, *more]


KINDS = st.sampled_from(["SB_DFFESR", "SB_DFFESS", "SB_DFFNESR", "SB_DFFER"])


@settings(max_examples=15, deadline=None)
@given(st.lists(KINDS, min_size=1, max_size=20), st.integers(0, 19), st.booleans())
def test_chains_whose_registers_differ_are_placed_legally(kinds, tap, fed):
    """Read in the middle, too, and gone on from twice, as two adders do."""
    net = f"c{tap % len(kinds)}"
    more = (
        ("tap", "SB_LUT4:aaaa", net, "t"),
        ("again", "SB_CARRY", f"a r {net}", "u"),
        ("over", "SB_LUT4:aaaa", "u t", "v"),
        ("o", "OUT", "v", ""),
    )
    placed = place(ripple(kinds, more, "ci" if fed else "0"), effort=0.02)
    assert legal(placed) == []
    homes = [c.name for b in placed.packed.blocks for c in b.cells]
    assert len(homes) == len(set(homes)) == len(placed.packed.circuit.cells)
    slow = timing(placed)
    assert slow.least > timing(place(ripple(kinds), effort=0)).worst.steps[0].logic


def test_a_carry_goes_up_its_chain_without_a_wire():
    """Though others read it, too; they pay the way out."""
    tapped = place(ripple(["SB_DFFESR"] * 6, (("t", "OUT", "c2", ""),)), effort=0)
    paths = {p.end: {s.cell: s.wire for s in p.steps} for p in timing(tapped).paths}
    assert paths["reg5"]["carry3"] == paths["reg5"]["carry2"] == 0.0
    assert paths["t"]["t"] > 0.4 and paths["reg5"]["lut5"] > 0


def test_two_edges_share_no_tile():
    """Registers of both edges, of one clock."""
    rows = [(f"i{n}", "IN", "", n) for n in ("d", "k")]
    rows += [(f"p{n}", "SB_DFF", "d k", f"p{n}") for n in range(3)]
    rows += [(f"n{n}", "SB_DFFN", "d k", f"n{n}") for n in range(3)]
    placed = place(rows, grid=Floor(2, 2, memory=()))
    tiles = {edge: {placed.at[f"{edge}{n}"][:2] for n in range(3)} for edge in "pn"}
    assert legal(placed) == [] and not tiles["p"] & tiles["n"]


def test_wires_of_pads_alone():
    """No cell draws a current, a constant takes no time, and a route is a wire."""
    through = place(
        json.loads(json.dumps(module({}, {"a": [2]}, {"y": [2], "k": ["1"]})))
    )
    assert rules(route(through)) == [] and len(timing(through).paths) == 1
    with pytest.raises(ValueError, match="no node draws a current"):
        ir_drop(through, volts=1.2, ohm=1.0, amps=1e-5)
    with pytest.raises(ValueError, match="nothing to be timed"):
        timing(module({}, {}, {"k": ["1"]}))
