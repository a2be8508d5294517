"""Operations as dots: each where its work and bytes put it."""

import pytest

from stacklib import hardware
from stacklib.pages.roofline.counting.figures import operations_spec
from stacklib.plots import spec
from stacklib.roofline import ridge
from stacklib.roofline.count import operations

PHASES = {
    "prompt": operations.block_operations("llama-3-8b", 64),
    "token": operations.block_operations("llama-3-8b", 1, 64),
}


def test_every_operation_is_a_dot_and_attention_is_one():
    made = operations_spec(PHASES, {"h100-sxm": "bf16"}, title="Dots.")
    spec.check(made)
    by_name = {mark["name"]: mark for mark in made["marks"]}
    for phase, listed in PHASES.items():
        small = [op for op in listed if op.kind == "elementwise"]
        dots = by_name[f"{phase}, elementwise"]
        assert sorted(dots["y"]) == sorted(op.bytes.si / 1e6 for op in small)
        products = [op for op in listed if op.kind == "product"]
        attention = operations.total(listed, "attention")
        dots = by_name[f"{phase}, products"]
        assert len(dots["x"]) == len(products) + 1
        assert attention.intensity.si in dots["x"]
    rule = next(m for m in made["marks"] if m["kind"] == "vline")
    assert rule["x"] == [ridge("h100-sxm", "bf16").si]
    assert rule["name"] == "H100 295"


def test_a_device_without_the_format_is_refused():
    with pytest.raises(hardware.UnknownSpec, match="fp4"):
        operations_spec(PHASES, {"h100-sxm": "fp4"}, title="Dots.")
