"""Parts: each fact has a source or is unknown; what is typed wrong is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost, hardware
from stacklib.cost import catalogue
from stacklib.cost.catalogue import FIELDS, SORTS, part, parts, read_parts
from stacklib.cost.opendb import READERS, from_opendb
from stacklib.hardware import SpecError, UnknownSpec
from stacklib.quantity import UnknownName

SOURCES = {
    "here": {
        "title": "A page",
        "where": "a table",
        "seen": "2026-11-29",
        "confidence": "secondary",
    }
}
GOOD = {
    "sources": SOURCES,
    "one": {
        "name": "One",
        "price": [[100, "2025-01", "launch", "here"], [80, "2026", "used", "here"]],
        "from": {"here": {"watts": 750, "form": "ATX"}},
    },
}
EVERY = [one for kind in FIELDS for one in parts(kind)]


def test_there_are_sixty_parts_and_each_kind_has_some():
    assert len(EVERY) >= 60 and all(len(parts(kind)) >= 5 for kind in FIELDS)
    assert cost.parts is parts


@pytest.mark.rows("one", EVERY, ids=lambda one: f"{one.kind}-{one.key}")
def test_a_fact_has_a_source_and_a_plausible_value(one):
    told = [f for f in one.values if one.sources[f]]
    assert len(told) >= 2 and set(told) <= set(FIELDS[one.kind])
    for field in told:
        if FIELDS[one.kind][field][0] not in SORTS:
            assert math.isfinite(one.quantity(field).si)
    for field in one.unknown:
        with pytest.raises(UnknownSpec, match=f"{field}.* is unknown"):
            one[field]


def test_cards_are_those_of_hardware():
    for card in parts("gpu"):
        device = hardware.get(card.device)
        assert card.quantity("power") is device.tdp
        assert card["memory"] == device.memory_capacity.to("GB").value
    assert part("5090") is part("rtx_5090", "gpu")
    assert part("rtx_3080")["power"] == hardware.get("rtx_3080").tdp.si


@pytest.mark.parametrize("board", parts("board"), ids=lambda board: board.key)
def test_a_boards_slots_and_shares_name_what_is_there(board):
    names = {row[0] for row in board["slots"]}
    sockets = {row[0] for row in board.get("m2", ())}
    assert len(names) == len(board["slots"])
    for slot, other, lanes in board["shares"]:
        assert slot in names and other in names | sockets and lanes in (0, 4, 8)
    assert set(board["short"]) <= names
    places = [row[1] for row in board["slots"] if row[1] != "unknown"]
    assert places == sorted(set(places))


def test_what_goes_together_is_in_the_catalogue_on_both_sides():
    sockets = {cpu["socket"] for cpu in parts("cpu")}
    assert {board["socket"] for board in parts("board")} == sockets
    for cpu in parts("cpu"):
        same = [b for b in parts("board") if b["socket"] == cpu["socket"]]
        assert any(cpu["series"] in board["series"] for board in same), cpu.key


def test_prices_are_dated_and_the_newest_counts():
    one = read_parts(GOOD, "psu")["one"]
    assert [q.date for q in one.quotes] == ["2025-01", "2026"] and one.dollars == 80
    assert (one.price.low.si, one.price.high.si) == (80, 100)
    with pytest.raises(UnknownSpec, match="price is unknown"):
        _ = part("cse_747").dollars


def test_numbers_of_the_catalogue_have_keys_of_their_own():
    keys = [q.key for q in catalogue.recorded()]
    assert len(keys) == len(set(keys)) > 500


@pytest.mark.parametrize(
    "change, says",
    [
        ({"name": 3}, "a name is needed"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"from": {"here": {"wats": 1}}}, "no such field"),
        ({"from": {"here": {"watts": "many"}}}, "is no number"),
        ({"from": {"here": {"watts": True}}}, "is no number"),
        ({"from": {"here": {"watts": math.nan}}}, "is no number"),
        ({"from": {"here": {"watts": math.inf}}}, "is no number"),
        ({"from": {"here": {"watts": -1}}}, "is no number"),
        ({"from": {"here": {"form": 3}}}, "is no str"),
        ({"from": {"there": {"watts": 1}}}, "'there' is not in"),
        ({"price": [[1, "2025"]]}, "a price is"),
        ({"price": [[1, "May", "launch", "here"]]}, "write a date"),
        ({"price": [[1, "2025", "stolen", "here"]]}, "launch"),
        ({"price": [["1 EUR", "2025", "launch", "here"]]}, "dollars"),
        ({"price": [[math.nan, "2025", "launch", "here"]]}, "dollars"),
    ],
)
def test_a_row_typed_wrong_is_refused_with_its_place(change, says):
    raw = {"sources": SOURCES, "one": {**GOOD["one"], **change}}
    with pytest.raises(SpecError, match=says) as caught:
        read_parts(raw, "psu")
    assert "one" in str(caught.value)


def test_what_is_said_to_be_unknown_is_unknown():
    raw = {
        **GOOD,
        "one": {"name": "One", "from": {"here": {"watts": "unknown", "form": "ATX"}}},
    }
    assert "watts" in read_parts(raw, "psu")["one"].unknown
    twice = {"here": {"form": "ATX"}, "there": {"form": "SFX"}}
    with pytest.raises(SpecError, match="told twice"):
        raw = {"sources": {**SOURCES, "there": SOURCES["here"]}}
        read_parts({**raw, "one": {"name": "One", "from": twice}}, "psu")


@pytest.mark.parametrize("name", ["", None, 4, "h100-sxm", "no such part"])
def test_an_unknown_part_is_refused(name):
    with pytest.raises(UnknownName):
        part(name, "gpu")
    with pytest.raises(UnknownName, match="kind of part"):
        parts("gpuu")


# Small facts, typed here in the form of such records.
def record(**fields):
    return {"metadata": {"name": "A part"}, **fields}


CARD = record(
    chipset_manufacturer="NVIDIA",
    length=304,
    total_slot_width=2,
    power_connectors={"pcie_12V_2x6": 1, "pcie_8_pin": 0},
)
BARE = {"atx_24_pin": 1, "eps_8_pin": 0, "pcie_12vhpwr": 0, "pcie_6_plus_2_pin": 0}
PLUGS = {"eps_8_pin": 2, "pcie_12vhpwr": 2, "pcie_6_plus_2_pin": 4}


def test_a_record_becomes_the_fields_that_it_tells():
    assert from_opendb(CARD, "gpu") == (
        "A part",
        {"length": 304, "slots": 2, "plugs_16": 1, "plugs_8": 0, "plugs_eps": 0},
    )
    supply = record(wattage=1500, form_factor="ATX", efficiency_rating="80+ Gold")
    told = {"watts": 1500, "form": "ATX", "level": "gold"}
    assert from_opendb({**supply, "connectors": PLUGS}, "psu")[1] == {
        **told,
        "plugs_16": 2,
        "plugs_8": 4,
        "plugs_eps": 2,
    }
    drive = record(storage_type="SSD", capacity=2000, interface="M.2 PCIe 4.0 x4")
    assert from_opendb(drive, "storage")[1] == {
        "capacity": 2000,
        "plug": "M.2",
        "generation": 4,
        "lanes": 4,
    }


def test_what_a_record_does_not_know_stays_unknown():
    """Plugs that are nought all over, slots in millimetres, a kit that contradicts."""
    supply = record(wattage=1600, connectors=BARE)
    assert from_opendb(supply, "psu")[1] == {"watts": 1600}
    thick = from_opendb({**CARD, "total_slot_width": 77}, "gpu")[1]
    assert "slots" not in thick
    kit = record(ram_type="DDR5", modules={"quantity": 4}, registered="Unbuffered")
    kit["metadata"]["name"] = "Pro Registered DDR5"
    assert "module" not in from_opendb(kit, "memory")[1]
    board = record(pcie_slots=[{"gen": "5.0", "lanes": 16}], memory={"max": 1})
    assert from_opendb(board, "board")[1] == {}
    air = record(cpu_sockets=["AM5"], water_cooled=False, height=155)
    assert from_opendb(air, "cooler")[1] == {
        "sockets": ["AM5"],
        "height": 155,
        "radiator": 0,
    }


@pytest.mark.parametrize(
    "wrong", [None, 3, [], {}, {"metadata": {}}, {"metadata": {"name": " "}}, record()]
)
def test_what_is_no_record_is_refused(wrong):
    with pytest.raises(ValueError, match="record"):
        from_opendb(wrong, "gpu")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9999) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["max", "slots", "pcie_8_pin"]), inner, max_size=2
        )
    ),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(READERS)), st.data())
def test_no_record_breaks_the_reader(kind, data):
    """Whatever stands in a field, what comes out is a row of the catalogue."""
    mark = READERS[kind]["mark"]
    names = [mark, "memory", "length", "modules", "connectors", "power_connectors"]
    names += ["specifications", "efficiency_rating", "registered", "interface"]
    fields = data.draw(st.dictionaries(st.sampled_from(names), ANY, max_size=5))
    _, told = from_opendb(record(**{mark: 1, **fields}), kind)
    raw = {"name": "A", "device": "rtx_3080", "from": {"here": told}}
    if kind != "gpu":
        del raw["device"]
    assert read_parts({"sources": SOURCES, "one": raw}, kind)["one"].kind == kind
