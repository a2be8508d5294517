"""Figures: deterministic, themed, told apart by evidence, known to the guard."""

import itertools
import re
from functools import partial

import pytest

from stacklib import plots
from stacklib.evidence import guard
from stacklib.plots import room, spec, theme
from stacklib.plots.svg import PAGE
from stacklib.quantity import Quantity

from ..book import test_figure_texts as figure_texts

DEVICES = ["h100_sxm", "h200_sxm", "b200_sxm"]


def marks(evidence="predicted", kind="line", **more):
    return {
        "kind": kind,
        "evidence": evidence,
        "name": evidence,
        "x": [1, 10],
        "y": [2, 30],
        **more,
    }


def spec_of(*found):
    return {
        "title": "Evidence <shown> by mark.",
        "x": {"label": "Batch size", "scale": "log"},
        "y": {"label": "Time (ms)", "scale": "log", "unit": "ms"},
        "marks": list(found),
    }


def draw(*found, name="planted"):
    return plots.figure(spec_of(*found), name=name, alt="what it shows")


def layouts(figure):
    """Its drawing on a page, and on a phone."""
    return figure.svg.split('<g class="st-chart-', 2)[1:]


@pytest.fixture(scope="module")
def rooflines():
    spec = plots.roofline_spec(DEVICES, "bf16", title="Three roofs.")
    return plots.figure(spec, name="rooflines", alt="three rooflines", devices=DEVICES)


def test_two_draws_are_the_same_bytes(rooflines):
    spec = plots.roofline_spec(DEVICES, "bf16", title="Three roofs.")
    again = plots.figure(spec, name="rooflines", alt="three rooflines", devices=DEVICES)
    assert again._repr_mimebundle_() == rooflines._repr_mimebundle_()


def test_an_svg_has_no_colour_of_its_own_but_a_fallback(rooflines):
    bare = re.sub(r"var\(--st-[\w-]+, [^)]*\)", "", rooflines.svg)
    assert not re.search(r"#[0-9a-f]{6}\b|rgb", bare)
    names = {f"--st-{role}" for role in theme.ROLES}
    assert set(re.findall(r"--st-[\w-]+", rooflines.svg)) <= {*names, "--st-sans"}


def test_an_svg_is_fit_to_stand_in_a_page(rooflines):
    svg = rooflines.svg
    assert svg.startswith('<svg role="img" aria-label="three rooflines"')
    for unwanted in ("<?xml", "<style", "<metadata", "dc:date", "<!--"):
        assert unwanted not in svg
    ids = re.findall(r' id="([^"]+)"', svg)
    assert ids and all(i.startswith("rooflines-") for i in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(ids)
    assert "Three roofs." not in svg and "<figcaption>Three roofs." in rooflines.html


def test_text_stays_text_and_every_name_and_ridge_is_written(rooflines):
    texts = re.findall(r">([^<>]+)</text>", rooflines.svg)
    for word in ("H100", "H200", "B200", "ridge 295", "ridge 206", "ridge 292"):
        assert word in texts


def test_names_at_line_ends_do_not_overlap(rooflines):
    for svg in layouts(rooflines):
        found = re.findall(r'y="([\d.]+)"[^>]*>(H100|H200|B200)</text>', svg)
        heights = sorted(float(y) for y, _ in found)
        assert len(heights) == 3
        assert all(b - a > 12 for a, b in itertools.pairwise(heights))


def test_a_figure_has_a_layout_for_a_page_and_one_for_a_phone(rooflines):
    wide, phone = layouts(rooflines)
    head = rooflines.svg.partition("<g")[0]
    assert 'viewBox="0 0 568.8 302.4"' in head and f"max-width: {PAGE}" in head
    assert phone.startswith('phone" display="none" transform="translate(0 -')
    texts = [sorted(re.findall(r">([^<>]+)</text>", svg)) for svg in (wide, phone)]
    assert set(texts[1]) <= set(texts[0])  # fewer ticks, no other words


def test_evidence_shows_in_the_mark():
    assert "stroke-dasharray" not in draw(marks()).svg
    assert "stroke-dasharray" in draw(marks("simulated")).svg
    series = theme.variable("series-0")
    assert f"fill: {series}; stroke" in draw(marks("measured", "dots")).svg
    hollow = f"fill: {theme.variable('paper')}; stroke: {series}"
    assert hollow in draw(marks("claimed", "dots")).svg
    for hollowed in ("data sheet", "yours"):
        assert hollow in draw(marks(hollowed, "dots")).svg
    for one_value in ("predicted", "simulated"):  # a stroke, so that a ring is yours
        assert hollow not in draw(marks(one_value, "dots")).svg
    hatched = draw(marks(), marks("impossible", "band", x=[5, 10], y=[])).svg
    assert "<pattern" in hatched and theme.variable("impossible") in hatched


def test_every_mark_of_the_key_is_drawn_apart():
    """What one kind of evidence draws, no other does: the key tells them apart."""
    shown = {}
    for evidence in spec.KEY:
        kind = "band" if evidence == "impossible" else "dots"
        svg = draw(marks(evidence, kind, name="a", series=0)).svg
        shown[evidence] = re.sub(r"planted-\w+", "", svg)
    assert len(set(shown.values())) == len(spec.KEY)


@pytest.mark.rows("evidence", ["measured", "claimed", "data sheet", "yours"])
def test_a_line_is_predicted_or_simulated(evidence):
    with pytest.raises(plots.SpecError, match="line"):
        draw(marks(evidence))


def test_names_that_cannot_stand_apart_are_refused():
    names = [f"a name that is long, {i}" for i in range(40)]
    crowd = [marks("measured", "dots", name=n, x=[5], y=[5]) for n in names]
    with pytest.raises(plots.SpecError, match=r"lies on|cut by"):
        draw(*crowd)


def test_measured_dots_show_their_spread():
    plain = draw(marks("measured", "dots"))
    spread = draw(marks("measured", "dots", spread=[[1, 3], [20, 40]]))
    bar = "stroke-width: 1.4"
    assert plain.svg.count(bar) == 0
    assert [svg.count(bar) for svg in layouts(spread)] == [2, 2]
    assert spread.digest != plain.digest


def test_a_dot_says_its_name_to_who_points_at_it():
    each = ["first <one>", "second"]
    shown = draw(marks("claimed", "dots", each=each, label_at="key"))
    for svg in layouts(shown):
        found = re.findall(r'<use data-name="([^"]+)"[^>]*><title>([^<]+)</title>', svg)
        assert found == [("first &lt;one&gt;",) * 2, ("second",) * 2]
    with pytest.raises(plots.SpecError, match="one name a point"):
        draw(marks("claimed", "dots", each=["one"]))


def test_a_rule_in_a_key_is_as_short_as_its_other_samples():
    rule = {**marks(kind="hline", name="least", label_at="key"), "y": [9]}
    del rule["x"]
    for svg in layouts(draw(marks(label_at="key"), rule)):
        dashed = re.findall(r'd="M[\d. ]+h([\d.]+)" style="[^"]*dasharray', svg)
        assert [float(wide) > 100 for wide in dashed] == [True, False]


def test_no_name_lies_on_the_axis():
    frame = (0.0, 0.0, 300.0, 200.0)
    texts = [("name", (10.0, 35.0, 60.0, 47.0)), ("the axis", (0.0, 38.0, 300.0, 42.0))]
    assert room.faults(texts, frame) == ["'name' lies on 'the axis'"]
    for end in range(2, 10, 2):  # lines that end just over it, far from the edge
        low = [marks(name=f"line {n}", x=[1, end], y=[9, 2 + n]) for n in range(3)]
        draw(*low, marks(name="whole"))


def test_this_machine_has_its_own_colour():
    own = draw(marks(this_machine=True)).svg
    assert theme.variable("this-machine") in own
    assert theme.variable("series-0") not in own


def test_the_bundle_carries_text_html_and_entry():
    bundle = draw(marks())._repr_mimebundle_()
    assert re.fullmatch(r"figure planted: [0-9a-f]{12}", bundle["text/plain"])
    html = bundle["text/html"]
    assert html.startswith('<figure class="st-figure" id="fig-planted" data-digest="')
    assert "Evidence &lt;shown&gt; by mark." in html
    assert bundle[guard.MIME] in guard.shown()


@pytest.mark.rows("name", ["Big Name", "", "a_b", "-a"])
def test_a_name_must_be_an_anchor(name):
    with pytest.raises(plots.SpecError, match="name"):
        draw(marks(), name=name)


def test_a_figure_needs_an_alt_text():
    with pytest.raises(plots.SpecError, match="alt"):
        plots.figure(spec_of(marks()), name="planted", alt=" ")


def test_one_device_binds_all_marks_and_of_several_each_names_its_own():
    one = plots.figure(spec_of(marks()), name="f", alt="a", devices=["h100_sxm"])
    assert one.entry["rows"][0]["device"] == "h100_sxm"
    with pytest.raises(plots.SpecError, match="devices"):
        plots.figure(spec_of(marks()), name="f", alt="a", devices=DEVICES)


def test_an_empty_figure_can_be_drawn():
    assert "Time (ms)" in draw().svg


def test_a_roofline_passes_the_guard_and_a_point_above_it_does_not(rooflines):
    assert guard.faults([rooflines.entry]) == []
    point = {
        "name": "too good",
        "evidence": "predicted",
        "device": "h100_sxm",
        "dtype": "bf16",
        "intensity": Quantity(1, "FLOP/B"),
        "rate": Quantity(5, "TFLOP/s"),
    }
    spec = plots.roofline_spec(["h100_sxm"], title="t", points=[point])
    (fault,) = guard.faults([plots.figure(spec, name="f", alt="a").entry])
    assert "too good" in fault and "roofline" in fault


def test_a_roofline_of_mixed_formats_and_spread():
    seen = partial(Quantity, unit="TFLOP/s", kind="measured", key="a.json#b#c")
    point = {
        "name": "p",
        "evidence": "measured",
        "intensity": [Quantity(1, "FLOP/B")],
        "rate": [seen(2)],
        "spread": [(seen(1), seen(3))],
    }
    spec = plots.roofline_spec(
        ["h100", "h200"], {"h100": "bf16", "h200": "fp8"}, title="t", points=[point]
    )
    assert [m["dtype"] for m in spec["marks"][:4:2]] == ["bf16", "fp8"]
    assert spec["marks"][-1]["spread"] == [[1, 3]]


@pytest.mark.rows("at", [[2, 3], [2, 2.2, 2.4], [1.1, 1.5, 6, 7, 9], [9.5, 9.9]])
def test_rules_and_names_make_way_for_each_other(at):
    """Of many rules some are broken under a name, and none is lost."""
    rules = [
        marks(kind="vline", name=f"name of rule {i}", x=[x], y=None)
        for i, x in enumerate(at)
    ]
    level = marks(kind="hline", name="a level that is named", x=None, y=[8])
    dots = marks("measured", "dots", name="a row of dots", x=[1, at[0]], y=[8, 8.2])
    found = [{k: v for k, v in m.items() if v} for m in (*rules, level, dots)]
    drawn = plots.figure(spec_of(*found), name="planted", alt="what it shows")
    for layout in figure_texts.layouts(drawn.svg):
        assert [*figure_texts.crossed(layout)] == []
        assert len(figure_texts.DASHED.findall(layout)) == len(at) + 1
