"""Links and memories: sources, the physics that ties their figures, the devices."""

import copy
import re
import tomllib

import pytest

from stacklib import hardware
from stacklib.hardware import SpecError, UnknownSpec, link_gaps, links
from stacklib.hardware.link_gaps import link_residuals, memory_residuals, worst_gaps
from stacklib.hardware.links import CATEGORIES, LINK_DATA, link_from_dict
from stacklib.hardware.memories import memory_from_dict
from stacklib.quantity import UnitError, UnknownName

LINKS, MEMORIES = hardware.link_names(), hardware.memory_names()
WITHIN = 0.02


def raw(category: str) -> dict:
    return tomllib.loads((LINK_DATA / f"{category}.toml").read_text())


@pytest.fixture
def nvlink():
    return copy.deepcopy(raw("scaleup"))


@pytest.fixture
def hbm():
    return copy.deepcopy(raw("memory"))


def build(file: dict, key: str = "nvlink5"):
    return link_from_dict(key, file[key], file["sources"], "scaleup", "planted")


def build_memory(file: dict, key: str = "hbm3"):
    return memory_from_dict(key, file[key], file["sources"], "planted")


def test_every_row_of_the_draft_is_here():
    assert (len(LINKS), len(MEMORIES)) == (71, 28)
    assert len({*LINKS, *MEMORIES}) == 99


@pytest.mark.rows("category", [*CATEGORIES, "memory"])
def test_every_source_is_used(category):
    file = raw(category)
    text = (LINK_DATA / f"{category}.toml").read_text()
    for name in file["sources"]:
        assert text.count(f'source = "{name}"') >= 1, f"{category}: {name} is unused"


@pytest.mark.rows("name", [*LINKS, *MEMORIES])
def test_every_value_has_a_source(name):
    thing = hardware.link(name) if name in LINKS else hardware.memory(name)
    for field, value in thing.fields.items():
        if value is not None:
            assert value.source is not None, f"{name}.{field}"
            assert value.kind in ("spec", "measured", "assumed")


@pytest.mark.rows("gap", worst_gaps())
def test_figures_agree_or_are_named_inconsistent(gap):
    if gap.why:
        assert abs(gap.gap) > WITHIN, f"{gap.key}: {gap.predicts} is consistent"
    else:
        assert abs(gap.gap) <= WITHIN, f"{gap.key}: {gap.relation} {gap.gap:+.1%}"


@pytest.mark.rows("name", LINKS)
def test_every_named_inconsistency_is_of_a_relation_that_can_be_built(name):
    link = hardware.link(name)
    predicted = {g.predicts for g in link_gaps.worst_gaps() if g.key == name}
    assert set(link.inconsistent) <= predicted


@pytest.mark.rows("name", LINKS)
def test_payload_is_no_more_than_the_signal(name):
    f = hardware.link(name).fields
    if f["lanes"] is None or f["lane_rate"] is None or f["link_bandwidth"] is None:
        return
    signal = (f["lanes"] * f["lane_rate"]).to("GB/s")
    assert f["link_bandwidth"].si <= signal.si * (1 + 1e-9)


@pytest.mark.rows("name", LINKS)
def test_what_was_achieved_is_less_than_the_bandwidth(name):
    f = hardware.link(name).fields
    if f.get("achieved") is not None:
        assert 0.5 * f["per_direction"].si < f["achieved"].si < f["per_direction"].si


def test_enough_relations_are_held():
    gaps = worst_gaps()
    kinds = {g.relation for g in gaps}
    assert len(gaps) >= 200
    assert kinds == {
        "lanes x rate x encoding",
        "links x link",
        "ports x link",
        "twice one direction",
        "pins x rate",
        "channels x channel",
        "height x die",
    }


# ---- devices ----


@pytest.mark.rows("name", hardware.names())
def test_a_device_has_the_bandwidth_of_its_link(name):
    device = hardware.get(name)
    for key, field in ((device.link_key, "link"), (device.host_link_key, "host_link")):
        value = device.fields[field]
        if key and value is not None:
            link = hardware.link(key)
            assert link.key == key, f"{name}: write {link.key}, not {key}"
            gap = value.to("B/s").si / link.per_direction.si - 1
            assert abs(gap) <= WITHIN, f"{name}.{field}: {gap:+.1%} from {key}"


def test_most_devices_name_their_links():
    devices = [hardware.get(name) for name in hardware.names()]
    with_host = [d for d in devices if d.fields["host_link"] is not None]
    named = [d.key for d in with_host if d.host_link_key]
    assert len(named) >= 0.6 * len(with_host)


def _generation(device) -> str:
    """The memory of the database that the device's text names, or ""."""
    words = device.memory_type.lower().replace("-", " ").split()
    first = words[0] if words else ""
    return first if first in ("hbm2", "hbm2e", "hbm3", "hbm3e", "hbm4") else ""


@pytest.mark.rows("name", hardware.names())
def test_a_device_drives_whole_stacks_no_faster_than_the_generation(name):
    device = hardware.get(name)
    generation = _generation(device)
    if not generation:
        return
    memory = hardware.memory(generation)
    pins, rate = device.fields["memory_pins"], device.fields["memory_pin_rate"]
    stacks = device.fields["memory_stacks"]
    if pins is not None and stacks is not None:
        exposed = pins.si / (stacks.si * memory.pins.si)
        assert exposed <= 1, f"{name}: more pins than {stacks.si:g} stacks have"
        assert exposed > 0.9, f"{name}: {exposed:.0%} of the stacks' pins"
    if rate is not None and generation != "hbm4":  # makers run past its standard
        # an A100 of 40 GB runs its HBM2 1.3 % above the standard
        assert rate.si <= memory.pin_rate.si * (1 + WITHIN)


# ---- planted faults ----


def test_a_total_of_one_direction_is_caught(nvlink):
    nvlink["nvlink5"]["fields"]["per_direction"]["value"] = 1800
    gaps = link_residuals(build(nvlink))
    assert abs(gaps["links x link"]) > WITHIN
    assert abs(gaps["twice one direction"]) > WITHIN


def test_a_rate_after_coding_that_is_coded_again_is_caught(nvlink):
    nvlink["nvlink5"]["fields"]["lane_rate"]["value"] = 200
    gaps = link_residuals(build(nvlink))
    assert abs(gaps["lanes x rate x encoding"]) > WITHIN


def test_ports_of_a_tray_are_caught():
    file = copy.deepcopy(raw("switch"))
    file["nvswitch4"]["fields"]["ports"]["value"] = 144
    switch = link_from_dict(
        "nvswitch4", file["nvswitch4"], file["sources"], "switch", "planted"
    )
    assert abs(link_residuals(switch)["ports x link"]) > WITHIN


def test_pins_of_another_generation_are_caught(hbm):
    hbm["hbm3"]["fields"]["pins"]["value"] = 2048
    assert abs(memory_residuals(build_memory(hbm))["pins x rate"]) > WITHIN


def test_a_stack_too_tall_for_its_capacity_is_caught(hbm):
    hbm["hbm3"]["fields"]["height"]["value"] = 16
    assert abs(memory_residuals(build_memory(hbm))["height x die"]) > WITHIN


def test_an_inconsistency_is_kept_with_its_reason(nvlink):
    (groq,) = (g for g in worst_gaps() if g.why)
    assert groq.key == "groq_c2c_lp30" and groq.predicts == "per_direction"
    nvlink["groq_c2c_lp30"]["fields"]["per_direction"].pop("inconsistent")
    assert build(nvlink, "groq_c2c_lp30").inconsistent == {}


FAULTS = {
    "no such field": lambda d: d["fields"].update(colour={"value": 1}),
    "latency is missing": lambda d: d["fields"].pop("latency"),
    "source 'nobody'": lambda d: d["fields"]["links"].update(source="nobody"),
    "cannot be given in": lambda d: d["fields"]["latency"].update(unit="GB"),
    "not above zero": lambda d: d["fields"]["links"].update(value=0),
    "is above 1": lambda d: d["fields"]["encoding_efficiency"].update(value="17/16"),
    "is no number": lambda d: d["fields"]["encoding_efficiency"].update(value="1/0"),
    "value is missing": lambda d: d["fields"]["links"].pop("value"),
    "not marked per_direction": lambda d: d["fields"]["per_direction"].update(
        unit="GB/s"
    ),
    "is not marked bidirectional": lambda d: d["fields"]["bidirectional"].update(
        unit="GB/s per_direction"
    ),
    "kind 'guess'": lambda d: d["fields"]["latency"].update(kind="guess"),
    "unknown key 'watts'": lambda d: d["fields"]["links"].update(watts=3),
    "unknown key 'colour'": lambda d: d.update(colour="red"),
    "year is missing": lambda d: d.pop("year"),
    "write { value": lambda d: d["fields"].update(links=18),
}


@pytest.mark.parametrize("message, plant", FAULTS.items(), ids=FAULTS.keys())
def test_a_faulty_link_is_refused_naming_the_field(nvlink, message, plant):
    plant(nvlink["nvlink5"])
    with pytest.raises(SpecError, match=re.escape(message)):
        build(nvlink)


MEMORY_FAULTS = {
    "is not among": lambda d: d.update(heights=[4, 8]),
    "part 'brick'": lambda d: d.update(part="brick"),
    "no such field": lambda d: d["fields"].update(channel_bandwidth={"value": 1}),
    "pins is missing": lambda d: d["fields"].pop("pins"),
    "short is missing": lambda d: d.pop("short"),
    "unknown key 'colour'": lambda d: d.update(colour="red"),
    "cannot be given in 'B/s'": lambda d: d["fields"]["bandwidth"].update(unit="GB"),
}


@pytest.mark.parametrize("message, plant", MEMORY_FAULTS.items(), ids=MEMORY_FAULTS)
def test_a_faulty_memory_is_refused_naming_the_field(hbm, message, plant):
    plant(hbm["hbm3"])
    with pytest.raises(SpecError, match=re.escape(message)):
        build_memory(hbm)


def test_an_unknown_category_is_refused(nvlink):
    with pytest.raises(SpecError, match="category 'wireless'"):
        link_from_dict("a", nvlink["nvlink5"], nvlink["sources"], "wireless", "planted")


# ---- names, directions, unknowns ----


@pytest.mark.rows("typed", ["nvlink5", "NVLink-5", "nvlink_5", "NVLINK 5"])
def test_names_are_forgiving(typed):
    assert hardware.link(typed).key == "nvlink5"


@pytest.mark.rows("typed", ["nvlnk5", "", "pcie", None, 5])
def test_an_unknown_link_lists_candidates_last(typed):
    with pytest.raises(UnknownName) as caught:
        hardware.link(typed)
    assert str(caught.value).splitlines()[-1].startswith(("did you mean: ", "known: "))


def test_an_unknown_memory_lists_the_nearest():
    with pytest.raises(UnknownName, match="hbm4"):
        hardware.memory("hbm5")


def test_one_way_and_both_ways_cannot_be_mixed():
    link = hardware.link("nvlink5")
    with pytest.raises(UnitError, match="bidirectional"):
        link.per_direction + link.bidirectional
    with pytest.raises(UnitError, match="direction"):
        _ = link.per_direction < link.bidirectional


def test_what_is_unknown_raises_and_is_never_a_number():
    with pytest.raises(UnknownSpec, match=r"nvlink5: energy a bit \(energy\)"):
        _ = hardware.link("nvlink5").energy
    with pytest.raises(UnknownSpec, match="ports"):
        _ = hardware.link("nvlink5").ports
    with pytest.raises(UnknownSpec, match="capacity"):
        _ = hardware.memory("ddr5_6400").capacity
    with pytest.raises(AttributeError, match="no field 'colour'"):
        _ = hardware.link("nvlink5").colour


def test_an_estimate_says_so():
    assert "latency" in hardware.link("nvlink5").estimates
    assert hardware.link("ualink_200g").estimates == ()
    assert hardware.memory("hbm3").estimates == ()


def test_the_ladder_descends():
    ladder = links.ladder()
    speeds = [link.per_direction.si for link in ladder]
    assert speeds == sorted(speeds, reverse=True)
    assert len(ladder) == len(LINKS) - 1  # Ultra Ethernet is no speed
