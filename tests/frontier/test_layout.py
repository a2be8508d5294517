"""A netlist read, packed, placed, routed and checked; faults are planted in each."""

import dataclasses
import json
import random

import pytest
from _tools import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators.rtl.gates import bits_of, number
from stacklib.frontier import place, route, rules
from stacklib.frontier.layout import annealing, placing
from stacklib.frontier.layout.circuit import (
    Circuit,
    CircuitError,
    circuit,
    read,
    stored,
    write,
)
from stacklib.frontier.layout.packing import pack
from stacklib.frontier.layout.placing import Floor, half_perimeter, legal
from stacklib.frontier.layout.routing import HALF, PITCH
from stacklib.pages.frontier.layout import adder
from stacklib.roofline.work.fit import Infeasible

RESULT = json.loads(
    (tree.ROOT / "benchmarks/results/placement.json").read_text("utf-8")
)
ROWS = {row["id"]: row for row in RESULT["rows"]}
LINE = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]


def run(read: Circuit, state: dict, inputs: dict) -> dict:
    """Every net of one cycle of an iCE40 netlist."""
    nets = {"0": 0, "1": 1, "x": 0, **inputs, **state}
    for cell in read.order:
        values = [nets[n] for n in cell.data if n in nets]
        if cell.kind.startswith("SB_LUT4"):
            table = int(cell.kind[8:], 16)
            nets[cell.output] = table >> sum(b << n for n, b in enumerate(values)) & 1
        elif cell.kind == "SB_CARRY":
            nets[cell.output] = int(sum(values) >= 2)
    return nets


def step(read: Circuit, state: dict, inputs: dict) -> dict:
    """What its registers hold after the cycle."""
    nets = run(read, state, inputs)
    after = {}
    for cell in read.cells:
        if cell.register:
            data, _, enable, reset = (nets[n] for n in cell.inputs)
            was = state[cell.output]
            after[cell.output] = (0 if reset else data) if enable else was
    return after


def test_the_kept_netlist_multiplies():
    """Shifted in bit by bit, stepped and read bit by bit: what Python multiplies."""
    mac = stored()
    net = {c.name.partition(":")[2]: c.output for c in mac.cells if c.kind == "IN"}
    shown = next(c.inputs[0] for c in mac.cells if c.kind == "OUT")
    pick = random.Random(1)
    state = {c.output: 0 for c in mac.cells if c.register}

    def cycle(**pins: int) -> None:
        nonlocal state
        state = step(mac, state, {net[p]: pins.get(p, 0) for p in net})

    total = 0
    for _ in range(3):
        a, b = pick.randint(-128, 127), pick.randint(-128, 127)
        # The first operand lies in the low bits of the line, which fills from there.
        for bit in reversed(bits_of(a, 8) + bits_of(b, 8)):
            cycle(shift=1, data=bit)
        cycle(step=1)
        total += a * b
    read_out = []
    for _ in range(32):
        read_out.append(run(mac, state, {net[p]: 0 for p in net})[shown])
        cycle(next=1)
    assert number(read_out) == total


def test_text_and_rows_are_the_same_netlist():
    """Written and read, a netlist is placed alike."""
    again = read(write(circuit(adder())))
    assert place(again, effort=0).wire_length == place(adder(), effort=0).wire_length
    assert write(read(write(stored()))) == write(stored())


def test_yosys_json_is_read():
    """One flat module as `write_json` has it."""
    cell = {
        "type": "$_AND_",
        "port_directions": {"A": "input", "B": "input", "Y": "output"},
        "connections": {"A": [2], "B": [3], "Y": [4]},
    }
    ports = {
        "a": {"direction": "input", "bits": [2, 3]},
        "y": {"direction": "output", "bits": [4]},
    }
    module = {"ports": ports, "cells": {"g": cell}, "netnames": {}}
    told = circuit({"modules": {"top": {**module, "attributes": {"top": "1"}}}})
    assert [c.name for c in told.cells] == ["in:a[0]", "in:a[1]", "out:y", "g"]
    wide = {**cell, "connections": {"A": [2, 3], "B": [3], "Y": [4]}}
    with pytest.raises(CircuitError, match="one output of one bit"):
        circuit({**module, "cells": {"g": wide}})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "without cells"),
        ([*LINE, ("h", "NOT", "a", "b")], "driven by 'g' and 'h'"),
        ([*LINE, ("h", "NOT", "z", "y")], "'z', which nothing drives"),
        ([*LINE, ("g", "NOT", "a", "y")], "two cells are named 'g'"),
        ([("p", "NOT", "r", "q"), ("s", "NOT", "q", "r")], "loop of gates: .*p.*s"),
        ([("p", "AND", "p 1", "p")], "loop of gates: p -> p"),
        ([("i", "IN", "", "a", "b")], "cell, kind, inputs and output"),
        ([("o", "NOT", "", "b")], "reads nothing"),
        ("mac", "no netlist 'mac' is kept"),
        (None, "None: rows of cells"),
    ],
)
def test_bad_netlists_are_refused(rows, said):
    """The cell or the net is named."""
    with pytest.raises(CircuitError, match=said):
        place(rows)


def test_a_register_breaks_a_loop():
    """A counter of one bit is no loop of gates."""
    rows = [("clk", "IN", "", "k"), ("n", "NOT", "q", "d"), ("r", "DFF", "d k", "q")]
    assert legal(place(rows)) == []


def test_a_floorplan_too_small_is_refused_with_the_sum():
    """Cells and sites stand in the message; so does a column too short for a chain."""
    with pytest.raises(Infeasible, match=r"404 cells and 8 pads.*: 320 sites"):
        place(stored(), grid=Floor(10, 5, memory=(1, 2)))
    with pytest.raises(Infeasible, match="chains of 5 tiles, the longest of 4"):
        place(stored(), grid=Floor(40, 3, memory=()))
    for bad in ({"seed": -1}, {"seed": True}, {"effort": -1}, {"effort": float("nan")}):
        with pytest.raises(ValueError, match=r"seed|effort"):
            place(LINE, **bad)


def test_the_serial_mac_as_nextpnr_packs_it():
    """387 tables, 16 registers of their own, one way into a chain; clock and reset."""
    packed = pack(stored())
    assert sum(not b.pad for b in packed.blocks) == 387 + 16 + 1
    assert [len(chain) for chain in packed.chains] == [28, 5]
    assert packed.globals == {stored().driver[n].output for n in packed.globals}
    assert len(packed.globals) == 2


def test_the_serial_mac_is_placed_within_the_bar():
    """Legal, repeatable, and near the best that was found."""
    placed = place("serial_mac", 1, effort=0.1)
    assert legal(placed) == []
    best = min(row["wire_length"] for row in ROWS.values() if "wire_length" in row)
    assert placed.wire_length < 1.3 * best  # a tenth of the usual swaps
    assert placed.wire_length < placed.start / 3


def test_the_compiled_loop_is_the_plain_one(monkeypatch):
    """Site by site, with chains, controls and pads."""
    monkeypatch.setattr(placing, "COMPILED", 0.0)
    fast = place("serial_mac", 3, effort=0.003)
    monkeypatch.setattr(placing, "compiled", lambda: annealing.sweep)
    assert place("serial_mac", 3, effort=0.003).sites == fast.sites


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_random_netlists_are_placed_legally(seed):
    """The wire length is what a count over pins says, and no more than the start's."""
    pick = random.Random(seed)
    rows = [("i", "IN", "", "n0"), ("k", "IN", "", "k0"), ("e", "IN", "", "k1")]
    for n in range(1, pick.randint(2, 25)):
        nets = " ".join(f"n{pick.randrange(n)}" for _ in range(pick.randint(1, 4)))
        if pick.random() < 0.3:
            rows.append(
                (f"r{n}", "DFF", f"{nets.split()[0]} k{pick.randrange(2)}", f"n{n}")
            )
        else:
            rows.append((f"g{n}", "LUT", nets, f"n{n}"))
    rows.append(("o", "OUT", f"n{n}", ""))
    placed = place(rows, seed, effort=0.05, grid=Floor(4, 4, memory=()))
    assert legal(placed) == []
    total = 0
    for pins in placed.packed.nets.values():
        xs, ys, _ = zip(*(placed.sites[p] for p in pins), strict=True)
        total += max(xs) - min(xs) + max(ys) - min(ys)
    assert placed.wire_length == total <= placed.start


def test_a_planted_fault_breaks_a_placement():
    """Two on one site, a pad inside, two clocks in a tile, a chain pulled apart."""
    placed = place("serial_mac", effort=0)
    sites, names = list(placed.sites), [b.name for b in placed.packed.blocks]

    def moved(block: int, site: tuple) -> list[str]:
        changed = (*sites[:block], site, *sites[block + 1 :])
        return legal(dataclasses.replace(placed, sites=changed))

    free = next(b for b in range(60, 300) if not placed.packed.blocks[b].controls)
    assert any("stand at" in w for w in moved(free, sites[free + 1]))
    assert any("no site for it" in w for w in moved(free, (8, 5, 0)))
    assert any("no site for it" in w for w in moved(names.index("in:data"), (3, 3, 0)))
    assert any("chain of" in w for w in moved(placed.packed.chains[0][5], (30, 30, 0)))
    kinds: dict = {}
    for at, block in enumerate(placed.packed.blocks):
        if block.controls:
            kinds.setdefault(block.controls, []).append(at)
    first, second, *_ = kinds.values()
    x, y, _ = sites[first[0]]
    assert any("one clock" in w for w in moved(second[0], (x, y, 7)))


# -- wires ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def layout():
    """The adder, placed and routed."""
    return route(place(adder(), 2, effort=0.2, grid=Floor(6, 6, memory=())))


def test_the_adder_is_routed_and_read_back(layout):
    """No rule is broken, and every net is at least as long as its box."""
    assert rules(layout) == []
    assert layout.vias and layout.wire > 0


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_random_netlists_are_routed_cleanly(seed):
    """Whatever they are: no short, no open, no spacing."""
    pick = random.Random(seed)
    rows = [("i", "IN", "", "n0"), ("j", "IN", "", "n1")]
    for n in range(2, pick.randint(4, 20)):
        nets = " ".join(f"n{pick.randrange(n)}" for _ in range(pick.randint(1, 4)))
        rows.append((f"g{n}", "LUT", nets, f"n{n}"))
    rows.append(("o", "OUT", f"n{n}", ""))
    placed = place(rows, seed, effort=0.02, grid=Floor(3, 3, memory=()))
    assert rules(route(placed)) == []


def with_shapes(layout, drop=(), add=()):
    """A layout with some rectangles taken away and some put in."""
    kept = tuple(s for s in layout.shapes if s not in drop)
    return dataclasses.replace(layout, shapes=(*kept, *add))


def found(layout) -> set[str]:
    """Names of the rules that are broken."""
    return {v.rule for v in rules(layout)}


def test_a_short_is_found(layout):
    """Metal from one net's pin to the next net's."""
    nets = list(layout.joined)
    (x, y), (u, v) = (layout.pins[layout.joined[n][0]] for n in nets[:2])
    low, high = min(x, u) - HALF, max(x, u) + HALF
    flat = ("m1", low, y - HALF, high, y + HALF)
    tall = ("m1", u - HALF, min(y, v) - HALF, u + HALF, max(y, v) + HALF)
    told = [
        v for v in rules(with_shapes(layout, add=(flat, tall))) if v.rule == "short"
    ]
    assert told and nets[0] in told[0].what and nets[1] in told[0].what


def test_an_open_is_found(layout):
    """The longest wire is taken out."""
    longest = max(
        (s for s in layout.shapes if s[0] != "via"),
        key=lambda s: s[3] + s[4] - s[1] - s[2],
    )
    assert "open" in found(with_shapes(layout, drop=(longest,)))


def test_a_spacing_is_found(layout):
    """A bit of metal too near to a wire, and touching nothing."""
    layer, _, y0, x1, y1 = next(s for s in layout.shapes if s[0] == "m2")
    beside = (layer, x1 + 1, y0, x1 + 1 + PITCH, y1)
    assert "spacing" in found(with_shapes(layout, add=(beside,)))


def test_a_thin_wire_a_bare_via_and_a_lost_pin_are_found(layout):
    """Each by its own rule."""
    first = next(s for s in layout.shapes if s[0] == "m1")
    thin = ("m1", first[1], first[2], first[1] + 1, first[4])
    assert "width" in found(with_shapes(layout, add=(thin,)))
    assert "enclosure" in found(with_shapes(layout, add=(("via", -9, -9, -7, -7),)))
    assert "pin" in found(
        dataclasses.replace(layout, pins=dict.fromkeys(layout.pins, (-1, -1)))
    )
    for bad in (("m9", 0, 0, 1, 1), ("m1", 0, 0, 1), ("m1", 0.5, 0, 1, 1)):
        with pytest.raises(ValueError, match="layers are m1, m2 and via"):
            rules(with_shapes(layout, add=(bad,)))
    with pytest.raises(ValueError, match=r"no pin \('p', 'q'\) has a place"):
        rules(dataclasses.replace(layout, joined={"n": (("p", "q"),)}))


def test_a_sheet_of_metal_is_one_short(layout):
    """However large, in little time; and a via where two nets cross."""
    sheet = ("m1", -(10**9), -(10**9), 10**9, 10**9)
    told = [v for v in rules(with_shapes(layout, add=(sheet,))) if v.rule == "short"]
    assert len(told) == 1 and all(net in told[0].what for net in layout.joined)
    across = [s for s in layout.shapes if s[0] == "m1" and s[3] - s[1] > 2 * PITCH]
    along = [s for s in layout.shapes if s[0] == "m2"]
    vias = [
        ("via", x, y, right, top)
        for _, left, y, end, top in across
        for _, x, low, right, high in along
        if left < x and right < end and low < y and top < high
    ]
    new = [via for via in vias if via not in layout.shapes]
    assert any("short" in found(with_shapes(layout, add=(via,))) for via in new[:5])


def test_too_many_nets_for_the_tracks_are_refused():
    """Stopped after one round, two nets still share places."""
    placed = place("serial_mac", effort=0)
    cut = dataclasses.replace(
        placed.packed, nets=dict(list(placed.packed.nets.items())[:40])
    )
    with pytest.raises(Infeasible, match="wanted by two nets after 1 rounds"):
        route(dataclasses.replace(placed, packed=cut), rounds=1)


def test_half_perimeter_is_of_the_box():
    """Three blocks in a corner."""
    assert half_perimeter([(0, 0, 0), (3, 1, 0), (1, 4, 0)], (0, 1, 2)) == 7
