"""The device database: sources, physics that ties fields together, bad files."""

import contextlib
import copy
import math
import re
import tomllib
from pathlib import Path

import pytest

from stacklib import hardware
from stacklib.hardware import SpecError, UnknownSpec
from stacklib.hardware.load import from_dict
from stacklib.quantity import UnknownName
from stacklib.quantity.names import fold

DATA = Path(hardware.__file__).parent / "data" / "accelerators"


@pytest.fixture
def h100():
    return tomllib.loads((DATA / "h100_sxm.toml").read_text())


FAULTS = {
    "no such field": lambda d: d["fields"].update(colour={"value": 1}),
    "tdp is missing": lambda d: d["fields"].pop("tdp"),
    "source 'nobody'": lambda d: d["fields"]["tdp"].update(source="nobody"),
    "cannot be given in 'W'": lambda d: d["fields"]["tdp"].update(unit="GB"),
    "not above zero": lambda d: d["fields"]["tdp"].update(value=0),
    "finite": lambda d: d["fields"]["tdp"].update(value=float("nan")),
    "value is missing": lambda d: d["fields"]["tdp"].pop("value"),
    "clock is unknown, and stands there again": lambda d: d["fields"].update(
        unknown=["clock"]
    ),
    "colour: no such field": lambda d: d["fields"].update(unknown=["colour"]),
    "still TODO": lambda d: d["fields"].update(tdp="TODO"),
    "unit must say dense": lambda d: d["peak"]["bf16"].update(unit="TFLOP/s"),
    "no number format": lambda d: d["peak"].update(bf61=d["peak"]["bf16"]),
    "no accumulator 'fp17'": lambda d: d["peak"].update(
        {"fp16/fp17": d["peak"]["fp16"]}
    ),
    "sparse_factor": lambda d: d["peak"]["bf16"].update(sparse_factor=0.5),
    "sparse_factor inf": lambda d: d["peak"]["bf16"].update(sparse_factor=math.inf),
    "source lacks 'title'": lambda d: d["sources"]["device"].pop("title"),
    "confidence 'sure'": lambda d: d["sources"]["device"].update(confidence="sure"),
    "kind 'toaster'": lambda d: d.update(kind="toaster"),
    "[sources.device] is missing": lambda d: d["sources"].pop("device"),
    "unknown key": lambda d: d["fields"]["tdp"].update(watts=3),
    "unknown key 'colour'": lambda d: d.update(colour="black"),
    "architecture is missing": lambda d: d.pop("architecture"),
    "compute_capability 9.0 is not a text": lambda d: d.update(compute_capability=9.0),
    "year '2022' is not a whole number": lambda d: d.update(year="2022"),
    "alias 'H100-SXM'": lambda d: d.update(aliases=["H100-SXM"]),
    "alias ''": lambda d: d.update(aliases=[""]),
    "aliases 100 is not a text": lambda d: d.update(aliases=[100]),
}


@pytest.mark.parametrize("message, plant", FAULTS.items(), ids=FAULTS.keys())
def test_faulty_file_is_refused_naming_the_field(h100, message, plant):
    raw = copy.deepcopy(h100)
    plant(raw)
    with pytest.raises(SpecError, match=re.escape(message)):
        from_dict(raw, "planted")


@pytest.mark.rows("typed", ["h100-sxm", "H100_SXM", "h100sxm", "H100"])
def test_names_are_forgiving(typed):
    assert hardware.get(typed).key == "h100_sxm"


@pytest.mark.rows(
    "typed, key",
    [
        ("a100", "a100_sxm_80gb"),
        ("V100", "v100_sxm2_32gb"),
        ("a100 40GB", "a100_sxm_40gb"),
    ],
)
def test_a_bare_family_name_is_its_default_variant(typed, key):
    assert hardware.get(typed).key == key


@pytest.mark.rows("typed", ["a100_s", "v10", "rtx", "h10"])
def test_the_start_of_several_names_is_never_guessed(typed):
    with pytest.raises(UnknownName, match="could be several"):
        hardware.get(typed)


# Typed, and what answers; or in brackets what is offered, for it is another product.
RESOLVES = [
    ("rtx-5060", "rtx_5060"),
    ("RTX 5060 Ti", "rtx_5060ti_16gb"),
    ("rtx pro 5000", "rtx_pro_5000_blackwell"),
    ("b300", "b300_sxm"),
    ("h100-pc", "h100_pcie"),  # the end of a word
    ("rtx-pro-6000-s", "rtx_pro_6000_server"),
    ("a100 pcie 80", "a100_pcie_80gb"),  # the GB of a memory
    ("rx-9070", "[rx_9070_xt]"),
    ("gtx-1080", "[gtx_1080_ti]"),
    ("rtx-4000", "[rtx_4000_ada]"),
    ("mi355", "[mi355x]"),
    ("tpu-v6", "[tpu_v6e]"),
    ("xeon 6980", "[xeon_6980p]"),
    ("rtx-506", "[rtx_5060, rtx_5060ti_16gb]"),
    ("rx-9060-xt", "[rx_9060_xt_16gb, rx_9060_xt_8gb]"),
    ("ascend-950", "[ascend_950dt, ascend_950pr]"),
    ("tpu-v8", "[tpu_v8i, tpu_v8t]"),
    ("jetson-orin", "[jetson_orin_nano_super]"),
    ("h101", "[h100_hbm2e_96gb, h100_nvl, h100_pcie, h100_sxm]"),
    ("p", "[p100_sxm2]"),
    ("max", "[max_1550]"),
    ("this", "[this_machine]"),
]


@pytest.mark.rows("typed, answer", RESOLVES)
def test_a_start_stops_before_a_word_that_names_another_product(typed, answer):
    if not answer.startswith("["):
        assert hardware.get(typed).key == answer
        return
    with pytest.raises(UnknownName) as caught:
        hardware.get(typed)
    assert str(caught.value).splitlines()[-1] == f"did you mean: {answer[1:-1]}"


def test_no_start_of_any_name_passes_a_word_or_a_number():
    whole = {fold(n) for k in hardware.names() for n in (k, *hardware.get(k).aliases)}
    passed = 0
    for key in hardware.names():
        for cut in range(1, len(key)):
            typed, left = key[:cut], key[cut:]
            with contextlib.suppress(UnknownName):
                if fold(typed) not in whole and hardware.get(typed).key == key:
                    ends = re.fullmatch("[a-z]+", left) and typed[-1].isalpha()
                    assert ends or re.fullmatch("_?gb?|b", left), (typed, key)
                    passed += 1
    assert passed > 150


@pytest.mark.rows("typed", ["h10O-sxm", "", "gpu", "h", None, 100])
def test_unknown_name_lists_candidates_last(typed):
    with pytest.raises(UnknownName) as caught:
        hardware.get(typed)
    last = str(caught.value).splitlines()[-1]
    assert last.startswith(("did you mean: ", "known: "))
    if typed == "h10O-sxm":
        assert "h100_sxm" in last


def test_unknown_field_raises_and_is_never_a_number():
    with pytest.raises(UnknownSpec, match=r"tpu_v5p: design power \(tdp\) is unknown"):
        _ = hardware.get("tpu-v5p").tdp
    with pytest.raises(UnknownSpec, match="publishes no fp4 rate"):
        hardware.get("h100").peak("fp4")
    with pytest.raises(UnknownSpec, match="no bf16 rate; it has none"):
        hardware.get("mi440x").peak("bf16")
    with pytest.raises(UnknownSpec, match="no 2:4-sparse"):
        hardware.get("tpu-v5p").peak("bf16", sparse=True)


def test_a_rate_is_that_of_its_accumulator():
    card = hardware.get("rtx-4090")
    assert card.peak("fp16", accumulate="fp16") / card.peak("fp16") > 1.9
    assert card.peak("fp16", accumulate="fp32").si == card.peak("fp16").si
    assert "fp16/fp16" in card.peaks and "fp16/fp16" not in card.formats
    tensor = hardware.get("a100").peak("fp64", accumulate="tensor")
    assert tensor.si > hardware.get("a100").peak("fp64").si
    with pytest.raises(UnknownSpec, match="no bf16/fp16 rate"):
        card.peak("bf16", accumulate="fp16")
    with pytest.raises(UnknownName, match="accumulator"):
        card.peak("fp16", accumulate="fp17")


def test_sparse_rate_cannot_be_mistaken_for_dense():
    device = hardware.get("h100")
    with pytest.raises(ValueError, match="sparse"):
        device.peak("bf16", sparse=True) / device.peak("bf16")


def test_this_machine_is_a_device():
    device = hardware.get("this_machine")
    assert device.kind == "cpu"
    assert device.memory_capacity.si > 1e9


def test_a_value_says_how_it_is_known(h100):
    fields = h100["fields"]
    fields["tdp"] |= {"kind": "measured"}
    fields["cloud_price"] |= {"source": "device"}
    fields["dies"].pop("source", None)
    device = from_dict(h100, "h100_sxm.toml")
    secondary = h100["sources"]["device"]["confidence"] == "secondary"
    assert device.fields["tdp"].kind == "measured"
    assert device.fields["clock"].kind == "spec"
    assert device.fields["cloud_price"].kind == ("claimed" if secondary else "spec")
    fields["cloud_price"]["source"] = "price"
    assert from_dict(h100, "h100_sxm.toml").fields["cloud_price"].kind == "claimed"
    assert device.fields["dies"].source.inherited
    assert not device.fields["tdp"].source.inherited
    assert device.fields["tdp"].key == "h100-sxm.tdp"
    assert device.peak("bf16").key == "h100-sxm.peak.bf16"
    # what a chip has of its own is said of a chip; a clock, an area, a count are not
    scoped = {n: "chip" in q.unit for n, q in device.fields.items() if q is not None}
    assert scoped["tdp"] and scoped["memory_bandwidth"] and scoped["cloud_price"]
    assert not any(scoped[name] for name in ("clock", "die_area", "compute_units"))
    for least in (1e-9, 1):
        fields["tdp"]["value"] = least
        assert from_dict(h100, "h100_sxm.toml").tdp.si == least


def test_every_alias_is_its_device():
    seen = {}
    for path in DATA.glob("*.toml"):
        for alias in tomllib.loads(path.read_text()).get("aliases", []):
            for typed in (alias, alias.upper(), alias.replace(" ", "-")):
                assert hardware.get(typed).key == path.stem, alias
            seen[alias] = path.stem
    assert len(seen) > 10


def test_nobody_multiplies_in_16_bits_that_are_slower_than_32():
    """A P40's are a sixty-fourth; its sheet's rate can still be asked for."""
    p40 = hardware.get("tesla_p40")
    assert p40.formats == ("fp64", "fp32", "int8") and p40.peak("fp16") < p40.peak(
        "fp32"
    )
    assert "fp16" in hardware.get("mi50_32gb").formats
    assert "fp64" in hardware.get("rtx_4090").formats
