"""What is typed at a prompt: formats, rounding, misspelt names, `dir`, reprs."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import stacklib
from stacklib import hardware, models, quantity, roofline
from stacklib.hardware import accelerator
from stacklib.quantity import Quantity, UnitError, UnknownName

TIME = Quantity(21.135, "ms", label="time")
STEP = {"on": "h100-sxm", "dtype": "bf16", "tp": 2}


@pytest.mark.rows(
    ("value", "spec", "said"),
    [
        (TIME, "", "21.1 ms"),
        (TIME, "s", "0.0211 s"),
        (TIME, ".2 ms", "21 ms"),
        (TIME, ".2f", "21.14 ms"),
        (TIME, ".1e", "2.1e+01 ms"),
        (TIME, ".3g", "21.1 ms"),
        (TIME, ".2f µs", "21135.00 µs"),
        (TIME, ",.0f µs", "21,135 µs"),
        (TIME, "+.1f", "+21.1 ms"),
        (TIME, "12.2f", "    21.14 ms"),
        (TIME, "<12", "21.1 ms     "),
        (TIME, "*^13 ms", "***21.1 ms***"),
        (Quantity(6, "GB") / Quantity(2, "TB/s"), ".2f", "3.00 ms"),
        (Quantity(0.9956), ".1%", "99.6 %"),
        (Quantity(0.9956), ".2 %", "100 %"),
        (Quantity(3.14159), ".2f", "3.14"),
        (Quantity(3.35, "TB/s per_direction"), ".1f GB/s", "3350.0 GB/s"),
    ],
)
def test_a_format_prints_value_and_unit(value, spec, said):
    assert f"{value:{spec}}" == said


def test_a_format_of_another_dimension_is_refused():
    with pytest.raises(UnitError, match="ms"):
        f"{TIME:.2f B}"
    with pytest.raises(UnitError, match=r"unknown unit 'q'.*did you mean"):
        f"{TIME:q}"


def test_rounding_keeps_unit_name_and_derivation():
    rounded = round(TIME, 1)
    assert (rounded.value, rounded.unit, rounded.label) == (21.1, "ms", "time")
    assert next(leaf.si for leaf in rounded.leaves()) == TIME.si
    assert "round(time, 1)" in rounded.named("shown").explain()
    assert round(TIME).value == 21 and round(Quantity(1234), -2).si == 1200


def test_a_derivation_reads_as_text_at_a_prompt():
    said = (Quantity(6, "GB", label="read") / Quantity(2, "TB/s")).explain()
    assert (
        repr(said)
        == str(said)
        == quantity.explain(Quantity(6, "GB", label="read") / Quantity(2, "TB/s"))
    )
    assert "└─ read = 6 GB" in said


@pytest.mark.rows(
    ("unit", "meant"),
    [
        ("gb", "GB"),
        ("gib", "GiB"),
        ("tb/s", "TB"),
        ("ghz", "GHz"),
        ("Mflop", "MFLOP"),
        ("Watt", "W"),
        ("xyzzy", ""),
        ("GB/s per_way", "per_"),
    ],
)
def test_an_unknown_unit_is_answered_with_the_nearest(unit, meant):
    with pytest.raises(UnitError, match=rf"did you mean.* {meant}"):
        Quantity(3, unit)


@pytest.mark.parametrize("thing", [hardware.get("h100"), hardware.link("nvlink5")])
def test_dir_lists_the_fields_and_a_misspelt_one_is_answered(thing):
    names = set(dir(thing))
    assert set(thing._known) <= names and {"key", "fields", "estimates"} <= names
    for name in thing._known:
        with pytest.raises(AttributeError, match=f"did you mean {name}\\?"):
            getattr(thing, name[:-1] + "_" + name[-1])
    with pytest.raises(AttributeError, match="did you mean"):
        thing.nothing_like_it  # noqa: B018


def test_the_typed_list_of_fields_is_the_table_of_fields():
    assert list(accelerator.DeviceFields.__annotations__) == list(accelerator.FIELDS)


def test_every_room_is_listed_and_found_without_an_import():
    rooms = {module.name for module in pkgutil.iter_modules(stacklib.__path__)}
    rooms -= {"__main__"}
    assert rooms == set(dir(stacklib)) and dict(stacklib.offered("stacklib")) == {
        room: f".{room}" for room in rooms
    }
    for room in rooms:
        assert getattr(stacklib, room) is importlib.import_module(f"stacklib.{room}")
    with pytest.raises(AttributeError, match="did you mean hardware"):
        stacklib.hardwear  # noqa: B018


def test_a_room_is_loaded_when_it_is_used_and_not_before():
    code = (
        "import sys, stacklib\n"
        "assert not any(name.startswith('stacklib.') for name in sys.modules)\n"
        "stacklib.evidence.guard, stacklib.hardware.get('h100').clock"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reprs_are_short_and_say_what_it_is():
    h100, llama = hardware.get("h100-sxm"), models.get("llama-3-70b")
    things = [
        h100,
        llama,
        roofline.decode_step(llama, **STEP),
        hardware.link("nvlink5"),
    ]
    things += [roofline.decode_step(llama, on="rtx-4090", dtype="bf16")]
    things += [*hardware.levels("h100"), hardware.memory("hbm3")]
    for thing in things:
        assert len(repr(thing)) < 180 and "\n" not in repr(thing), repr(thing)
    assert "NVIDIA H100 SXM5" in repr(h100) and "70.6 billion" in repr(llama)


def test_a_notebook_shows_value_kind_and_a_fold_with_the_derivation():
    h100, llama = hardware.get("h100-sxm"), models.get("llama-3-70b")
    step = roofline.decode_step(llama, **STEP)
    for thing in (step.time, h100, llama, step):
        shown = thing._repr_html_()
        assert "<details><summary>" in shown and "<pre>" in shown
        assert shown.count("<details>") == shown.count("</details>")
    assert "<b>20.9 ms</b> <small>predicted</small>" in step.time._repr_html_()
    assert "unknown" in hardware.get("a100")._repr_html_()
    assert "<script>" not in Quantity(1, label="<script>")._repr_html_()
    assert (
        "does not fit"
        in roofline.decode_step(llama, on="rtx-4090", dtype="bf16")._repr_html_()
    )


def test_one_of_many_names_is_answered_with_some():
    with pytest.raises(UnknownName) as caught:
        hardware.get("nosuch")
    last = str(caught.value).splitlines()[-1]
    assert last.startswith("known: ") and len(last) < 80  # nothing is like it
    with pytest.raises(UnknownName, match="did you mean: nvidia_a100_80"):
        quantity.resolve("a100", ["nvidia_a100_80", "b200"], "device")
    with pytest.raises(UnknownName, match=r"known: .* more$"):
        hardware.get("")
