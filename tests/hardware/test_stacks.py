"""Facts of HBM stacks: sources, parts that divide, and refusals."""

import tomllib

import pytest

from stacklib import hardware
from stacklib.hardware.load import SpecError
from stacklib.hardware.stacks import DATA, base_dies, generation_from_dict, via_counts

RAW = tomllib.loads(DATA.read_text(encoding="utf-8"))


@pytest.mark.rows("key", hardware.stack_generations())
def test_every_value_has_a_source(key):
    made = hardware.stack_generation(key)
    for value in made.fields.values():
        assert value is None or value.source.title
    assert made.top_rate.si >= made.memory.pin_rate.si
    heights = [f.si for f in (made.fields["width"], made.fields["depth"])]
    assert heights[0] > heights[1]


def test_documents_follow_each_other():
    years = [
        hardware.stack_generation(k).published.si for k in hardware.stack_generations()
    ]
    assert years == sorted(years)


def test_vias_of_a_stack_are_those_of_its_dies():
    for count in via_counts():
        if count.a_die is not None and count.a_stack is not None:
            assert count.a_stack.si <= count.a_die.si * count.dies


@pytest.mark.rows("name", list(RAW["facts"]))
def test_facts_are_sourced(name):
    fact = hardware.stack_fact(name)
    assert fact.source is not None and fact.label == RAW["facts"][name]["words"]


def test_all_sources_are_used():
    text = DATA.read_text(encoding="utf-8")
    for name in RAW["sources"]:
        assert f'source = "{name}"' in text, name


def test_base_dies_name_their_source():
    found = base_dies()
    assert {(b.maker, b.generation) for b in found} >= {
        ("SK hynix", "HBM4"),
        ("Samsung", "HBM4"),
        ("Micron", "HBM4"),
    }
    assert all(b.source and b.state for b in found)


def planted(**changed):
    entry = {**RAW["generations"]["hbm3"], **changed}
    return generation_from_dict("hbm3", entry, RAW["sources"], "planted.toml")


def test_pins_that_do_not_divide_are_refused():
    fields = {**RAW["generations"]["hbm3"]["fields"], "pseudo_channels": {"value": 3}}
    with pytest.raises(SpecError, match="1024 pins are not 48 equal parts"):
        planted(fields=fields)


def test_a_missing_key_and_a_missing_source_are_named():
    entry = {k: v for k, v in RAW["generations"]["hbm3"].items() if k != "dies"}
    with pytest.raises(SpecError, match="dies is missing"):
        generation_from_dict("hbm3", entry, RAW["sources"], "planted.toml")
    with pytest.raises(SpecError, match="'nobody' is not in"):
        planted(source="nobody")


def test_unknown_names_list_the_candidates():
    with pytest.raises(LookupError, match="did you mean: hbm4"):
        hardware.stack_generation("hbm5")
    with pytest.raises(LookupError, match="thin_die"):
        hardware.stack_fact("thick")
    with pytest.raises(LookupError, match="fastest_rate"):
        hardware.stack_generation("hbm3").fastest_rate  # noqa: B018
