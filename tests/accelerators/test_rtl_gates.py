"""Netlists read, run and composed; a fault in one is named by cell and vector."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators.rtl import gates, lanes, netlist
from stacklib.accelerators.rtl.compose import array_of
from stacklib.accelerators.rtl.feed import (
    by_formula,
    feed,
    first_difference,
    shape,
)
from stacklib.accelerators.rtl.netlist import NetlistError, read, stored, write
from stacklib.accelerators.rtl.stepped import by_steps
from stacklib.accelerators.rtl.yosys import from_yosys
from stacklib.quantity import UnknownName

KEPT = ("mac", "array_2x2", "byte_split")
ADDER = """# half adder with a register
input a 1
input b 1
state 6
output sum 5
output held 4
cells ^2,3 &2,3
"""
VALUES = st.integers(-128, 127)


def matrix(pick: random.Random, rows: int, cols: int) -> list[list[int]]:
    return [[pick.randint(-128, 127) for _ in range(cols)] for _ in range(rows)]


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_an_array_of_any_size_agrees_with_the_formula_in_every_cycle(
    rows: int, cols: int, depth: int, seed: int
) -> None:
    pick = random.Random(seed)
    a, b = matrix(pick, rows, depth), matrix(pick, depth, cols)
    cycles = list(gates.by_gates(a, b))
    assert first_difference(by_formula(a, b), cycles) is None
    assert first_difference(by_steps(a, b), cycles) is None
    assert len(cycles) == rows + cols + depth - 2
    assert np.array_equal(cycles[-1].sums, np.array(a) @ np.array(b))


def test_the_synthesised_array_agrees_with_the_composed_one() -> None:
    pick = random.Random(3)
    a, b = matrix(pick, 2, 7), matrix(pick, 7, 2)
    whole = gates.by_gates(a, b, stored("array_2x2"))
    assert first_difference(gates.by_gates(a, b), whole) is None


def test_a_difference_is_the_cycle_where_it_begins() -> None:
    a, b = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
    right = list(by_formula(a, b))
    wrong = [*right[:2], replace(right[2], sums=((19, 22), (43, 19))), right[3]]
    found = first_difference(right, wrong)
    assert str(found) == (
        "cycle 2, place (1, 1): sums is 18 in the one and 19 in the other"
    )
    assert first_difference(right, right[:3]).what == "the cycle"
    with pytest.raises(ValueError, match="2 x 2 places beside 1 x 1"):
        first_difference(right, by_formula([[1]], [[1]]))


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_netlist_is_its_text(name: str) -> None:
    text = (netlist.DATA / f"{name}.netlist").read_text("utf-8")
    assert write(read(text)) == text
    assert "Yosys 0." in read(text).about


def test_all_kept_netlists_are_small() -> None:
    assert sum(path.stat().st_size for path in netlist.DATA.iterdir()) < 100_000


def test_vectors_side_by_side_are_vectors_one_by_one() -> None:
    pick = np.random.default_rng(1)
    a = pick.integers(-128, 128, (130, 2, 3))
    b = pick.integers(-128, 128, (130, 3, 2))
    assert np.array_equal(lanes.products(stored("array_2x2"), a, b), a @ b)
    wide, narrow = pick.integers(-(2**15), 2**15, 999), pick.integers(-128, 128, 999)
    edge = np.array([-(2**15), 2**15 - 1, -(2**15), -1, 255, 256, -256])
    wide, narrow = (
        np.append(wide, edge),
        np.append(narrow, [-128, 127, 127, 1, -1, 2, 3]),
    )
    split = lanes.split_products(stored("byte_split"), wide, narrow)
    assert np.array_equal(split, wide * narrow)


@pytest.mark.slow
def test_byte_split_gates_multiply_every_pair() -> None:
    wide = np.arange(-(2**15), 2**15)
    for w in range(-128, 128):
        found = lanes.split_products(stored("byte_split"), wide, np.full_like(wide, w))
        assert np.array_equal(found, wide * w), w


@given(st.lists(st.integers(-8, 7), min_size=1, max_size=130))
@settings(max_examples=20, deadline=None)
def test_packing_is_undone(values: list[int]) -> None:
    assert lanes.unpack(lanes.pack(values, 4), len(values)).tolist() == values
    assert [gates.number(gates.bits_of(v, 4)) for v in values] == values


def planted(name: str, cell: int) -> tuple[netlist.Netlist, netlist.Netlist]:
    """A kept netlist, and the same with one AND made an OR."""
    good = stored(name)
    cells = list(good.cells)
    at = [n for n, (kind, _, _) in enumerate(cells) if kind == "&"][cell]
    cells[at] = ("|", *cells[at][1:])
    return good, replace(good, cells=tuple(cells))


@pytest.mark.parametrize("cell", [0, 100, 300])
def test_a_planted_fault_is_named_by_cell_and_vector(cell: int) -> None:
    good, bad = planted("mac", cell)
    at = next(
        n for n, (x, y) in enumerate(zip(good.cells, bad.cells, strict=True)) if x != y
    )
    pick = random.Random(5)
    fed = [
        {n: [pick.getrandbits(64) for _ in range(w)] for n, w in good.inputs.items()}
        for _ in range(4)
    ]
    fault = gates.first_fault(good, bad, fed, 2**64 - 1)
    assert (fault.bit, fault.kind) == (good.first_cell + at, "OR")
    alone = [
        {n: [w >> fault.vector & 1 for w in words] for n, words in one.items()}
        for one in fed
    ]
    one = gates.first_fault(good, bad, alone)
    assert (one.bit, one.cycle, one.vector) == (fault.bit, fault.cycle, 0)
    assert (
        f"the OR of bit {fault.bit} is wrong in cycle {fault.cycle} for vector"
        in str(fault)
    )
    assert gates.first_fault(good, good, fed, 2**64 - 1) is None


def test_a_planted_fault_reaches_the_product() -> None:
    _, bad = planted("mac", 0)
    a, b = [[-77, 31]], [[45], [-128]]
    found = first_difference(
        by_formula(a, b), gates.by_gates(a, b, array_of(bad, 1, 1))
    )
    assert found.what == "sums"


def test_toggles_are_counted_between_cycles() -> None:
    net = read(ADDER)
    fed = [{"a": [0b1100], "b": [0b1010]}, {"a": [0b1100], "b": [0b0101]}]
    # The XOR turns in all four, the AND in the two where a is 1.
    assert gates.toggles(net, fed, 4) == 1.5
    with pytest.raises(NetlistError, match="feed two"):
        gates.toggles(net, fed[:1], 4)


def test_a_register_shows_what_it_took_a_cycle_before() -> None:
    net = read(ADDER)
    told = list(gates.run(net, [{"a": [1], "b": [1]}, {"a": [1], "b": [0]}]))
    assert [bits[net.outputs["held"][0]] for bits in told] == [0, 1]


BAD = {
    "input a 1\ncells ?2": "cell 0 of kind '\\?'",
    "input a 1\ncells &2,3": "cell 0 reads bits 2 and 3",
    "input a 1\noutput b 9": "b shows 9; there are 3 bits",
    "inputs a 1": "line 'inputs a 1'",
    "input a": "line 'input a'",
    "cells &x,1": "line 'cells &x,1'",
    "input a 1\ncells &2": "line 'cells &2'",
    "input a 1\ncells ~2,2": "line 'cells ~2,2'",
    "input a 1\noutput b 2-1": "line 'output b 2-1'",
    "input a 1\ninput a 1": "line 'input a 1'",
    "input a 0": "input a of 0 bits",
    "input a 1\n\ncells": "line ''",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_netlist_is_refused(text: str) -> None:
    with pytest.raises(NetlistError, match=BAD[text]):
        read(f"# bad\n{text}\n")


def test_unknown_names_and_wrong_parts_are_refused() -> None:
    with pytest.raises(NetlistError, match="take one of: array_2x2, byte_split, mac"):
        stored("array_9x9")
    with pytest.raises(NetlistError, match="no place of an array: a_in"):
        array_of(stored("byte_split"), 2, 2)
    with pytest.raises(NetlistError, match="flip-flops are needed"):
        stored("mac").taken((0,))
    with pytest.raises(NetlistError, match="compare products"):
        gates.first_fault(stored("mac"), stored("byte_split"), [])
    with pytest.raises(NetlistError, match="a has 1 bits and was given 2"):
        list(gates.run(read(ADDER), [{"a": [1, 0]}]))
    with pytest.raises(NetlistError, match="no array of 3 x 1 places: array of 2 x 2"):
        list(gates.by_gates([[1]] * 3, [[1]], stored("array_2x2")))
    for rows in (0, 1.5, True):
        with pytest.raises(ValueError, match="rows"):
            array_of(stored("mac"), rows, 2)


WRONG = {
    "columns of a do not meet": ([[1, 2]], [[1]]),
    "from -128 to 127": ([[128]], [[1]]),
    "nan in b": ([[1]], [[float("nan")]]),
    "True in a": ([[True]], [[1]]),
    "differ in length": ([[1, 2], [3]], [[1], [2]]),
    "a is empty": ([], [[1]]),
}


@pytest.mark.parametrize("why", WRONG)
def test_matrices_that_an_array_cannot_take_are_refused(why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(feed(*WRONG[why]))
    assert shape([[1, 2, 3]], [[1], [2], [3]]) == (1, 3, 1)


@pytest.mark.parametrize(
    ("values", "why"),
    [([8], "4 bits hold -8 to 7"), ([0.5], "float64"), ([[1]], r"shape \(1, 1\)")],
)
def test_what_fits_no_lane_is_refused(values: list, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        lanes.pack(values, 4)


def test_a_netlist_is_asked_for_what_it_has() -> None:
    two, split = stored("array_2x2"), stored("byte_split")
    with pytest.raises(NetlistError, match="no a2, b2, c2_2 in array of 2 x 2"):
        lanes.products(two, np.ones((1, 3, 3), int), np.ones((1, 3, 3), int))
    with pytest.raises(ValueError, match="an empty product"):
        lanes.products(two, np.ones((1, 2, 0), int), np.ones((1, 0, 2), int))
    with pytest.raises(NetlistError, match="no a, w, high, total in array"):
        lanes.split_products(two, [1], [1])
    # One weight for 64 numbers would be read as that and 63 zeros.
    with pytest.raises(ValueError, match=r"shapes \(64,\) and \(1,\)"):
        lanes.split_products(split, [5] * 64, [7])
    turned = {n: bits[::-1] for n, bits in split.outputs.items()}
    with pytest.raises(NetlistError, match="or other outputs"):
        gates.first_fault(split, replace(split, outputs=turned), [])
    wide = np.array([-(2**63), 2**63 - 1])
    assert lanes.unpack(lanes.pack(wide, 64), 2).tolist() == wide.tolist()


def test_shapes_that_do_not_chain_are_refused() -> None:
    with pytest.raises(ValueError, match="do not chain"):
        lanes.products(stored("mac"), np.ones((2, 1, 3), int), np.ones((2, 2, 1), int))


def cell(kind: str, **pins: int) -> dict:
    return {"type": kind, "connections": {pin: [bit] for pin, bit in pins.items()}}


def test_yosys_cells_come_in_an_order_that_can_be_computed() -> None:
    port = {"a": ("input", [2]), "clk": ("input", [3]), "q": ("output", [5, "1"])}
    module = {
        "ports": {n: {"direction": d, "bits": b} for n, (d, b) in port.items()},
        "netnames": {"inner": {"bits": [6]}},
        "cells": {
            "z": cell("$_XOR_", A=6, B=5, Y=7),
            "y": cell("$_NOT_", A=2, Y=6),
            "f": cell("$_DFF_P_", C=3, D=7, Q=5),
        },
    }
    net = from_yosys(module, "made", {"probe": "inner"})
    assert net.inputs == {"a": 1}
    assert net.cells == (("~", 2, 2), ("^", 4, 3))
    assert net.outputs == {"q": (3, 1), "probe": (4,)} and net.states == (5,)
    module["netnames"]["q"] = {"bits": [5], "attributes": {"init": "1"}}
    with pytest.raises(NetlistError, match="q begins at 1"):
        from_yosys(module, "made")
    module["cells"]["m"] = cell("$_MUX_", A=2, Y=9)
    with pytest.raises(NetlistError, match=r"\$_MUX_; map to"):
        from_yosys(module, "made")


def test_transistors_are_counted_by_kind() -> None:
    assert netlist.transistors({"XOR": 2, "NOT": 1, "DFF": 3}).si == 74
    with pytest.raises(UnknownName, match="MUX"):
        netlist.transistors({"MUX": 1})
