"""A token's journey drawn: bars in order, whole, in the colours of their layers."""

import itertools

import pytest

from stacklib import models, plots
from stacklib.pages.roofline.journey import drawings
from stacklib.pages.roofline.journey.figures import waterfall_spec
from stacklib.plots import spec as grammar
from stacklib.plots import theme
from stacklib.roofline.journey.token_journey import journey

MODEL = models.get("llama-3-70b")


@pytest.fixture(scope="module")
def trip():
    return journey(MODEL)


def test_the_bars_of_the_whole_way_touch_and_end_with_the_journey(trip):
    spec = waterfall_spec(trip, MODEL, "A sentence.")
    grammar.check(spec)
    bars = [mark["x"] for mark in spec["marks"]]
    for one, two in itertools.pairwise(bars):
        assert one[1] == pytest.approx(two[0])
    assert bars[-1][1] == pytest.approx(trip.time.si * 1e6)
    assert [m["y"][0] for m in spec["marks"]] == list(range(len(bars)))[::-1]


def test_one_layer_is_drawn_with_its_arithmetic_under_the_reading(trip):
    clips = {clip.name: clip for clip in drawings.layer_clips()}
    read, done = clips["MLP weights are read"], clips["the MLP is computed"]
    assert read.begin.si == done.begin.si < done.end.si < read.end.si
    timed = [e for e in trip.events if e.times > 1 and e.time and not e.under]
    whole = sum(e.time.si for e in timed)
    assert clips["the chips add up, after the MLP"].end.si == pytest.approx(whole)


def test_a_model_of_one_layer_has_no_others():
    small = models.from_hf_config(
        {
            "model_type": "llama",
            "vocab_size": 1000,
            "hidden_size": 256,
            "num_hidden_layers": 1,
            "num_attention_heads": 8,
            "num_key_value_heads": 8,
            "intermediate_size": 512,
            "max_position_embeddings": 8192,
        }
    )
    trip = journey(small, tp=1)
    spec = waterfall_spec(trip, small, "A sentence.")
    assert "first layer" in [mark["name"] for mark in spec["marks"]]
    assert not any("more layers" in mark["name"] for mark in spec["marks"])
    assert spec["marks"][-1]["x"][1] == pytest.approx(trip.time.si * 1e6)


def test_a_bar_has_the_colour_of_its_layer_and_a_mark_where_it_starts(trip):
    spec = waterfall_spec(trip, MODEL, "A sentence.")
    svg = plots.figure(spec, name="bars", alt="Bars.", devices=["h100_sxm"]).svg
    for layer in (2, 5):
        assert theme.variable(f"layer-{layer}") in svg
    assert theme.variable("layer-7") not in svg
    assert "#fe01" not in svg


def test_seven_layers_have_seven_colours():
    assert len({theme.sentinel(f"layer-{n}") for n in range(1, 8)}) == 7
