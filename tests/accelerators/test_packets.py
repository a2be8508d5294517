"""Packets: the packer between a bound and exhaustive search, and run as rows are."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators import pack, verify
from stacklib.accelerators.packets.execute import in_order, in_packets
from stacklib.accelerators.packets.organisations import (
    ORGANISATIONS,
    STATE,
    TILE,
    organise,
)
from stacklib.accelerators.packets.pack import fewest
from stacklib.accelerators.packets.slots import MACHINES, Row
from stacklib.accelerators.packets.verify import RULES, WrongPacket
from stacklib.quantity import UnknownName

from ..rows import refusals

REGISTERS = [f"r{i}" for i in range(4)]
CELLS = [f"tcm:{i}" for i in range(2)]
BEFORE = {name: 3 * i - 4 for i, name in enumerate(REGISTERS + CELLS)}
register, cell = st.sampled_from(REGISTERS), st.sampled_from(CELLS)


def _one(op, unit, reads, writes):
    made = st.tuples(*reads), st.tuples(*writes)
    return st.tuples(st.just(op), st.just(unit), *made)


rows = st.one_of(
    _one("load", "load", [cell], [register]),
    _one("store", "store", [register], [cell]),
    _one("add", "vector", [register] * 2, [register]),
    _one("largest", "vector", [register] * 2, [register]),
    register.map(lambda name: ("next", "scalar", (name,), (name,))),
)
programs = st.lists(rows, min_size=1, max_size=9)
machines = st.sampled_from([*MACHINES, 1, 2, 3])


@settings(max_examples=60)
@given(programs, machines)
def test_a_packing_is_right_and_near_the_fewest(program, slots):
    made = pack(program, slots)
    verify(program, made.packets, slots)
    assert in_packets(made, BEFORE) == in_order(made.program, BEFORE)
    assert made.bound <= fewest(made) <= made.cycles <= fewest(made) + 1


@settings(max_examples=25)
@given(st.lists(rows, min_size=1, max_size=4), st.sampled_from(["hexagon", 1, 2]))
def test_the_search_finds_what_trying_every_order_finds(program, slots):
    """Every assignment of rows to cycles and slots that the verifier lets pass."""
    made = pack(program, slots)
    width, best = len(made.slots.units), made.cycles
    for places in product(range(made.cycles * width), repeat=len(program)):
        packets = [{} for _ in range(max(places) // width + 1)]
        for at, place in enumerate(places):
            packets[place // width][place % width] = at
        if len(packets) < best and sum(map(len, packets)) == len(program):
            try:
                verify(program, packets, slots)
            except WrongPacket:
                continue
            best = len(packets)
    assert best == fewest(made)


@settings(max_examples=60)
@given(programs, st.sampled_from(["hexagon", "tpu"]), st.data())
def test_moved_packets_give_the_same_or_are_refused(program, slots, data):
    """The verifier lets nothing through that would give another result."""
    made = pack(program, slots)
    packets = [dict(packet) for packet in made.packets]
    start = data.draw(st.sampled_from([c for c, p in enumerate(packets) if p]))
    slot = data.draw(st.sampled_from(sorted(packets[start])))
    end = data.draw(st.integers(0, made.cycles - 1))
    if slot not in packets[end]:
        packets[end][slot] = packets[start].pop(slot)
    try:
        verify(program, packets, slots)
    except WrongPacket:
        return
    assert in_packets(made, BEFORE, packets) == in_order(made.program, BEFORE)


def test_the_tile_takes_as_many_packets_as_its_longest_path():
    made = pack(TILE)
    assert made.bound == made.cycles == fewest(made) == 6
    assert made.filled == pytest.approx(9 / 24)
    # where results come late, one slot is enough for all but the branch at its end
    assert pack(TILE, "one").cycles - 1 == pack(TILE, "tpu").cycles == 16


WRONG = (
    ("a slot that is not there", {0: {4: 1}}, 0, 0, 4),
    ("a row that is not there", {2: {0: 9}}, 1, 2, 0),
    ("a row twice", {1: {0: 1, 1: 1}}, 2, 1, 1),
    ("a row nowhere", {5: {}}, 2, 6, None),
    ("a unit that the slot does not feed", {0: {2: 1}}, 3, 0, 2),
    ("two stores", {5: {0: 6, 1: 9}}, 4, 5, 1),
    ("a branch before the store", {4: {0: 5, 2: 8}, 5: {0: 6}}, 6, 4, 2),
    ("a load in the packet of its use", {1: {0: 1, 3: 2}, 2: {0: 3}}, 6, 1, 3),
)


@pytest.mark.rows(("what", "changes", "rule", "cycle", "slot"), WRONG)
def test_the_verifier_names_rule_cycle_and_slot(what, changes, rule, cycle, slot):
    program = TILE
    packets = [{0: 0}, {0: 1}, {0: 3, 3: 2}, {0: 4, 1: 7}, {0: 5}, {0: 6, 2: 8}]
    if what == "two stores":
        program = (*TILE, Row("store", "store", ("p",), ("l2:p",)))
    verify(TILE, packets)
    for at, packet in changes.items():
        packets[at] = packet
    with pytest.raises(WrongPacket) as caught:
        verify(program, packets)
    found = caught.value
    assert (found.rule, found.cycle, found.slot) == (RULES[rule], cycle, slot), found
    assert f"cycle {cycle}" in str(found)


def test_what_comes_too_early_is_told_before_what_is_missing():
    with pytest.raises(WrongPacket, match="cycle 1, slot 3") as caught:
        verify(TILE, [{0: 0}, {0: 1, 3: 2}])
    assert caught.value.rule == RULES[6]


def test_nothing_stands_behind_a_branch_that_leaves():
    """A branch that is taken ends with its packet: no row before it may come later."""
    rows = [("add", "vector", ["r0"] * 2, [name]) for name in ("r1", "r2", "r3")]
    looped = [("branch", "branch", ["r0"], []), *rows]
    for slots in ("hexagon", "tpu", "one", 4):
        last = pack([*rows, looped[0]], slots).packets[-1]
        assert 3 in last.values()
        first = pack(looped, slots)
        assert list(first.packets[0].values()) == [0]
        assert first.bound <= fewest(first) == first.cycles
    with pytest.raises(
        WrongPacket, match="early for the branch beside row 0, 'branch'"
    ):
        verify(looped, [{2: 0, 0: 1}, {0: 2, 1: 3}])


def test_a_packet_says_which_slot():
    with pytest.raises(TypeError, match=r"packet 1, \[1\]: slot to number of a row"):
        verify(TILE, [{0: 0}, [1]])


def test_a_program_of_many_kinds_of_unit_is_bound_at_once():
    """Sets of units that say nothing new are not tried: there are 2^24 of them."""
    rows = [("next", f"unit{n}", ["p"], [f"r{n}"]) for n in range(24)]
    assert pack(rows, 5).bound == pack(rows, 5).cycles == 5
    assert pack(rows, [row[1] for row in rows]).bound == 1


def test_slots_are_given_in_several_ways():
    rows = [("load", "load", [], [name]) for name in "abcd"]
    for slots, cycles in (
        (2, 2),
        ({"load": 2, "store": 1}, 2),
        (["load store", "store"], 4),
        ([("load",), ["load", "vector"], "load"], 2),
    ):
        made = pack(rows, slots)
        assert made.cycles == made.bound == cycles
        verify(rows, made.packets, slots)


def test_memories_are_in_reach_or_named():
    product_of = Row("product", "tensor", ("l2:x", "tcm:w"), ("s",))
    with pytest.raises(WrongPacket, match=r"tensor reaches tcm, not 'l2:x'") as caught:
        verify([product_of], [{3: 0}])
    assert caught.value.rule == RULES[5]
    for unit, memory, fine in (
        ("tensor", "tcm", True),
        ("tensor", "l2", False),
        ("vector", "l2", True),
        ("vector", "ddr", False),
        ("scalar", "ddr", True),
    ):
        row = [("add", unit, [f"{memory}:x"], ["r"])]
        if fine:
            assert pack(row).cycles == 1
        else:
            with pytest.raises(ValueError, match=f"{unit} does not reach"):
                pack(row)


def test_five_organisations_give_one_result():
    ran = {name: organise(name) for name in ORGANISATIONS}
    right = in_order(TILE, STATE)
    assert all(one.state == right for one in ran.values())
    assert right["l2:y"] == ((1, 0), (10, 0))
    # a stream an engine, and a compiler that counts, need no scheduler's order
    assert ran["trainium"].cycles == ran["tpu"].cycles < ran["nvidia"].cycles
    assert ran["hexagon"].issued < ran["nvidia"].issued < ran["amd"].issued
    assert ran["amd"].issued - ran["nvidia"].issued == 4  # waits


@settings(max_examples=40)
@given(programs, st.sampled_from(list(ORGANISATIONS)))
def test_any_program_gives_one_result_in_each(program, name):
    made = pack(program, "one")
    assert organise(name, program, BEFORE).state == in_order(made.program, BEFORE)


def test_a_bundle_too_early_reads_what_was_there_before():
    """A planted fault: the compiler has a product as one cycle shorter than it is."""
    wrong = replace(MACHINES["tpu"], after={"load": 4, "tensor": 5, "vector": 2})
    made = replace(pack(TILE, wrong), slots=MACHINES["tpu"])
    with pytest.raises(ValueError, match="'s', which nothing has written"):
        in_packets(made, STATE)
    again = in_packets(made, STATE | {"s": ((0, 0), (0, 0))})
    assert again["l2:y"] != in_order(TILE, STATE)["l2:y"]
    with pytest.raises(WrongPacket, match="comes too early for s of row 2"):
        verify(TILE, made.packets, "tpu")


def test_an_unknown_machine_is_named_with_those_there_are():
    with pytest.raises(UnknownName, match="hexagon"):
        pack(TILE, "hexagone")
    with pytest.raises(UnknownName, match="trainium"):
        organise("cerebras")


test_bad_programs_are_refused = refusals(
    (lambda: pack([]), "no rows"),
    (lambda: pack(["load"]), "op, unit, reads, writes"),
    (lambda: pack([("load", "load", "x", [])]), "a list of names"),
    (
        lambda: pack([("load", "lod", [], [])]),
        "no slot of hexagon feeds 'lod'\nunits: b",
    ),
    (lambda: pack([("add", "vector", ["sram:x"], [])]), "memories are ddr, l2, tcm"),
    (lambda: pack(TILE, 0), "slots = 0: a whole number from 1"),
    (lambda: pack(TILE, True), "slots = True"),
    (lambda: pack(TILE, {1: ["load"]}), "slots, 1: the name of a unit"),
    (lambda: pack(TILE, {"load": 0}), "slots.*load.* = 0: a whole number from 1"),
    (lambda: pack(TILE, ["load", ""]), "each has to feed a unit"),
    (lambda: pack(TILE, []), "each has to feed a unit"),
    (lambda: pack(TILE, [1, 2]), r"slots = \[1, 2\]: each has to feed a unit"),
    (lambda: pack(TILE, {"any": 10**12}), "65 slots: a packet has 64 at most"),
    (lambda: pack(TILE, 10**12), "65 slots: a packet has 64 at most"),
    (lambda: replace(MACHINES["tpu"], after={"load": 0}), "after 'load' = 0"),
    (lambda: pack([None]), "row 0, None: op, unit"),
    (lambda: pack([("add", None)]), "row 0, .*: op, unit"),
    (lambda: pack([("add", "vector", [1])]), r"row 0, \[1\]: a list of names"),
    (lambda: verify(TILE, [{True: 0}]), "none True"),
    (lambda: fewest(pack([("next", "scalar", ["p"], ["p"])] * 15)), "15 rows"),
    (lambda: in_order([Row("add", "vector", ("q",), ())], {}), "reads 'q'"),
    (lambda: in_order([Row("add", "vector", ("q",), ())], {"q": 1}), "'add' of q: "),
)
