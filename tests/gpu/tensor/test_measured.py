"""What tensor cores answered where `make gpu` ran, against the rule of their kind."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.gpu.tensor.exact_products import multiply_whole
from stacklib.gpu.tensor.kinds import CAPABILITY, floats

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import gpu_numerics  # noqa: E402

SAME = {"8.6": "8.0", "8.7": "8.0", "10.3": "10.0", "12.1": "12.0"}


def stand_in(generation):
    """A device that is our own rule: what `gpu_numerics.measure` may be given."""

    def multiply(dtype, rows, columns):
        a, b = np.array(rows), np.array(columns)
        if dtype == "int8":
            found = multiply_whole(a.astype(int), b.astype(int).T)
        else:
            found = gpu.mma(a, b.T, dtype=dtype, generation=generation)
        return np.diagonal(found).copy().view(np.uint32).tolist()

    return multiply


def generation_of(record):
    """Whose rule a result is held to."""
    capability = hardware.get(record["device_key"]).compute_capability
    wanted = SAME.get(capability, capability)
    return next(name for name, key in CAPABILITY.items() if key == wanted)


def differences(numerics, generation):
    """Questions of which a device and the rule have different answers."""
    ours = gpu_numerics.measure(stand_in(generation))["bits"]
    found = []
    for dtype, bits in numerics["bits"].items():
        if "failed" not in bits and "failed" not in ours[dtype]:
            found += [f"{dtype} {q}" for q in bits if bits[q] != ours[dtype][q]]
    return found


def results():
    """Result files of devices with answers to today's questions."""
    for path in sorted((BENCHMARKS / "results").glob("gpu_*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        asked = record.get("numerics", {}).get("questions")
        if record["kind"] == "gpu" and asked == gpu_numerics.mark():
            yield record


def test_every_measured_device_gives_the_bits_of_its_rule():
    for record in results():
        found = differences(record["numerics"], generation_of(record))
        assert found == [], record["device"]


def test_a_result_file_is_held_to_its_devices_generation():
    numerics = gpu_numerics.measure(stand_in("ada"))
    record = {"device_key": "rtx_4090", "numerics": numerics}
    assert generation_of(record) == "ada"
    assert differences(numerics, generation_of(record)) == []


@pytest.mark.rows("generation", ["ampere", "ada", "hopper", "blackwell"])
def test_a_stand_in_is_asked_every_question(generation):
    numerics = gpu_numerics.measure(stand_in(generation))
    asked = numerics["bits"]
    have = {*floats(generation), "int8"}
    assert {d for d, bits in asked.items() if "failed" not in bits} == {
        d for d in gpu_numerics.NAMES if d in have
    }
    assert asked["fp16"]["nan"] == "7fffffff"
    assert differences(numerics, generation) == []


@pytest.mark.rows(
    ("true", "other"),
    [("hopper", "blackwell"), ("ampere", "hopper"), ("ada", "hopper")],
)
def test_a_device_of_another_generation_is_found_out(true, other):
    """The questions tell each generation from the next: a bit, a step, a width."""
    numerics = gpu_numerics.measure(stand_in(true))
    found = differences(numerics, other)
    assert any("kept" in q or "place" in q for q in found), found


def test_a_cpu_rehearses_the_questions():
    torch = pytest.importorskip("torch")
    numerics = gpu_numerics.measure(gpu_numerics.on_device(torch, "cpu"))
    assert set(numerics["bits"]) == set(gpu_numerics.NAMES)
    assert not [d for d, bits in numerics["bits"].items() if "failed" in bits]
    ours = gpu_numerics.measure(stand_in("hopper"))["bits"]["int8"]
    assert numerics["bits"]["int8"] == ours  # whole numbers are the same anywhere
    assert differences(numerics, "hopper")  # ordinary sums round and lose no bits
