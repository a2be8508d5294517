"""Section 9.7: the page's loop and figures beside the package's."""

import re

import pytest

from stacklib import diy
from stacklib.pages.diy import tapeout as page
from stacklib.pages.diy.tapeout import drawings, live
from stacklib.pages.diy.tapeout.handed import INFO, TILE

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("09-diy/tapeout")


def printed(**changes):
    """Area and share that the loop says."""
    return [
        float(n.replace(",", ""))
        for n in re.findall(r"[\d,.]*\d", loop.prints(**changes))
    ]


def test_the_loop_takes_the_area_that_the_package_does():
    area, share = printed()[0], printed()[-1]
    assert area == pytest.approx(page.made().cells.to("µm^2").value, rel=1e-4)
    assert share == pytest.approx(page.share().to("%").value, abs=0.1)
    assert printed(old="dfxtp=151", new="dfxtp=0")[-1] < share


def test_wider_sums_and_operands_take_more_and_few_designs_fit():
    shares = [page.share(name).si for name in page.SHOWN]
    fit = [page.made(name).tiles == "1x1" for name in page.SHOWN]
    assert fit == [share <= 0.75 for share in shares] and sum(fit) == 5
    assert page.share(page.WIDE) > page.share() > page.share(page.NARROW)


def test_products_come_out_right_and_most_cycles_carry_bits():
    assert page.by_gates().si == page.TRIED
    assert {
        page.agreed(by).si for by in ("gates", "amaranth", "icarus", "products")
    } == {120}
    assert page.through(page.ASKED).si > 20 * (2 * 2 + page.DEPTH - 2)


def test_a_floating_pin_is_the_only_fault_of_the_second_submission():
    assert diy.checklist(INFO, TILE) == [] and page.rules().si == 18
    (fault,) = diy.checklist(INFO, TILE.replace("assign uo_out[7] = 0;", ""))
    assert fault.rule == "driven"


def test_masks_are_tens_of_millions_and_a_wafer_is_not():
    least = {row["what"]: row["least"].si for row in page.bill()}
    values = list(least.values())
    assert values[1:] == sorted(values[1:], reverse=True)
    assert least["a set of masks"] > 500 * page.chip()["wafer"].high.si
    assert page.phases()[-1]["ends by"].si == page.path().weeks.high.si


@pytest.mark.parametrize("design", page.SHOWN)
def test_every_choice_draws(design):
    spec, said = ask(live.explore, live.controls(), design=design, fill=75)
    assert said["cells"] and ("does not fit" in spec["title"]) != (
        page.made(design).tiles == "1x1"
    )


def test_the_drawing_has_the_array_larger_than_the_tile():
    told = drawings.tile_with_pins().html
    assert "one tile" in told and page.share().si > 1
