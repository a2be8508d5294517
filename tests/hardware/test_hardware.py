"""The device database: sources, physics that ties fields together, bad files."""

import copy
import re
import tomllib
from pathlib import Path

import pytest

from stacklib import hardware
from stacklib.hardware import SpecError, UnknownSpec
from stacklib.quantity import UnknownName

DATA = Path(hardware.__file__).parent / "data" / "accelerators"
FILES = sorted(DATA.glob("*.toml"))
NAMES = [p.stem for p in FILES]


@pytest.fixture
def h100():
    return tomllib.loads((DATA / "h100_sxm.toml").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_a_source(name):
    device = hardware.get(name)
    for value in device.fields.values():
        if value is not None:
            assert value.source is not None and value.kind in ("spec", "measured")


@pytest.mark.parametrize("name", NAMES)
def test_published_figures_agree_within_two_percent(name):
    for pair, gap in hardware.residuals(hardware.get(name)).items():
        assert abs(gap) <= 0.02, f"{name}: {pair} differs by {gap:.1%}"


@pytest.mark.parametrize("name", NAMES)
def test_tensor_clock_implied_by_a_peak_is_no_faster_than_the_boost_clock(name):
    device = hardware.get(name)
    if device.fields["tensor_clock"] is not None:
        return
    for peak in device.peaks.values():
        if peak.clock == "tensor_clock" and peak.per_unit_per_cycle is not None:
            implied = peak.rate.si / (
                device.compute_units.si * peak.per_unit_per_cycle.si
            )
            assert 0.85 * device.clock.si <= implied <= device.clock.si


def test_bandwidth_that_breaks_pins_times_rate_is_caught(h100):
    h100["fields"]["memory_bandwidth"]["value"] = 4.8
    gaps = hardware.residuals(hardware.from_dict(h100, "planted"))
    assert abs(gaps["pins x rate"]) > 0.02


def test_peak_that_is_sparse_is_caught(h100):
    h100["peak"]["bf16"]["value"] = 1978.9
    gaps = hardware.residuals(hardware.from_dict(h100, "planted"))
    assert abs(gaps["bf16: units x clock x rate"]) > 0.02


FAULTS = {
    "no such field": lambda d: d["fields"].update(colour={"value": 1}),
    "tdp is missing": lambda d: d["fields"].pop("tdp"),
    "source 'nobody'": lambda d: d["fields"]["tdp"].update(source="nobody"),
    "cannot be given in 'W'": lambda d: d["fields"]["tdp"].update(unit="GB"),
    "not above zero": lambda d: d["fields"]["tdp"].update(value=0),
    "finite": lambda d: d["fields"]["tdp"].update(value=float("nan")),
    "value is missing": lambda d: d["fields"]["tdp"].pop("value"),
    "still TODO": lambda d: d["fields"].update(tdp="TODO"),
    "unit must say dense": lambda d: d["peak"]["bf16"].update(unit="TFLOP/s"),
    "no number format": lambda d: d["peak"].update(bf61=d["peak"]["bf16"]),
    "sparse_factor": lambda d: d["peak"]["bf16"].update(sparse_factor=0.5),
    "source lacks 'title'": lambda d: d["sources"]["device"].pop("title"),
    "confidence 'sure'": lambda d: d["sources"]["device"].update(confidence="sure"),
    "kind 'toaster'": lambda d: d.update(kind="toaster"),
    "[sources.device] is missing": lambda d: d["sources"].pop("device"),
    "unknown key": lambda d: d["fields"]["tdp"].update(watts=3),
}


@pytest.mark.parametrize("message, plant", FAULTS.items(), ids=FAULTS.keys())
def test_faulty_file_is_refused_naming_the_field(h100, message, plant):
    raw = copy.deepcopy(h100)
    plant(raw)
    with pytest.raises(SpecError, match=re.escape(message)):
        hardware.from_dict(raw, "planted")


@pytest.mark.parametrize("typed", ["h100-sxm", "H100_SXM", "h100sxm", "H100"])
def test_names_are_forgiving(typed):
    assert hardware.get(typed).key == "h100_sxm"


@pytest.mark.parametrize("typed", ["h10O-sxm", "", "gpu", "h", None, 100])
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
    with pytest.raises(UnknownSpec, match="no 2:4-sparse"):
        hardware.get("tpu-v5p").peak("bf16", sparse=True)


def test_sparse_rate_cannot_be_mistaken_for_dense():
    device = hardware.get("h100")
    with pytest.raises(ValueError, match="sparse"):
        device.peak("bf16", sparse=True) / device.peak("bf16")


def test_this_machine_is_a_device():
    device = hardware.get("this_machine")
    assert device.kind == "cpu"
    assert device.memory_capacity.si > 1e9
