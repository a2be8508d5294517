"""Section 10.4: the loops, the stored placement and the figures beside the room's."""

import re

import pytest
from _tools import tree

from stacklib import pages
from stacklib.frontier import respins, rules, timing
from stacklib.frontier.layout.placing import half_perimeter, legal
from stacklib.pages.frontier import layout as page
from stacklib.pages.frontier.layout import drawings, live

from ...live_figures import ask, values
from ...programs import loop_of

swaps, broken = (loop_of("10-frontier/layout", at) for at in (0, 1))


def test_the_loop_counts_as_the_package_and_finds_the_least(capsys):
    names = {}
    exec(swaps(), names)
    sites = [(*divmod(at, 6), 0) for at in names["at"]]
    length = sum(half_perimeter(sites, net) for net in names["nets"])
    said = f"{length} tiles of wire for {len(names['nets'])} nets\n"
    assert capsys.readouterr().out == said
    assert length == len(names["nets"]) == 60


def test_cold_or_fast_it_stalls():
    for old, new in (
        ("heat = Random(3), 2.0", "heat = Random(3), 0.3"),
        ("0.9999", "0.999"),
    ):
        assert int(swaps.prints(old, new).split()[0]) > 60


def test_what_the_reader_breaks_is_named():
    old = "[shape for shape in layout.shapes if shape != longest]"
    assert broken.prints().startswith("open: ")
    page_ = tree.read_notebook(tree.ROOT / "chapters/10-frontier/layout.ipynb")
    text = "".join(cell.source for cell in page_.cells)
    told = re.findall(r"`(\(\"(?:m1|m2|via)\".+?\))`", text)
    said = [broken.prints(old, f"[*layout.shapes, {shape}]") for shape in told]
    rules = [text.partition(":")[0] for text in said]
    assert rules == ["short", "spacing", "width", "enclosure"]


def test_the_stored_placement_is_legal_and_has_its_length():
    here = page.placed()
    assert legal(here) == [] and here.wire_length == page.wire().si
    stored = page.stored_row("ours-0", "megahertz", "MHz")
    assert stored.value == pytest.approx(timing(here).megahertz)
    parts = (page.spent(of).si for of in ("register", "tables", "carry", "wire"))
    assert page.asked().si - sum(parts) == pytest.approx(page.slack().si)
    assert page.apart().si == 0


def test_drawn_and_summed_chances_agree():
    for row in page.chances():
        drawn = row["the same, drawn"].si
        assert drawn == pytest.approx(row["first silicon works"].si, abs=0.03)
    assert respins.respin(page.BUGS, page.industry().si).first == pytest.approx(0.24)


def test_the_drawing_and_every_choice():
    assert "2,659 tiles of wire" in drawings.netlist_on_tiles().html
    for place in (0, 6):
        chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
        spec, said = ask(live.explore, live.controls(), **chosen)
        assert said and not spec["message"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("respin-cost", "depends"),
        ("respin-delay", "open"),
        ("eda-fab-time", "close"),
        ("eda-metal-layers", "depends"),
        ("dsoai-speedup", "wrong"),
        ("perf-team-cost", "open"),
    ],
)
def test_claims(claim, verdict):
    assert pages.judge(claim).verdict == verdict


def test_the_adder_is_routed_without_a_fault():
    from stacklib.frontier import place, route

    assert rules(route(place(page.adder(2), effort=0.05))) == []
