"""Section 9.5: the page's loop, drawing, figures and published rows."""

import re

import pytest

from stacklib import pages
from stacklib.pages.diy import hand as page
from stacklib.pages.diy.hand import drawings, live
from stacklib.quantity import quoted

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("09-diy/hand")
LINE = re.compile(r"(\d+ W): ([\d.]+) GB per token, at most ([\d.]+) tokens/s")


def test_the_loop_reads_what_the_room_does():
    printed = loop.prints()
    assert f"left over: {page.at().left.si / 1e9:.2f} GB" in printed
    for mode, read, most in LINE.findall(printed):
        held = page.at(mode)
        assert float(read) == pytest.approx(held.read.si / 1e9, rel=0.01)
        assert float(most) == pytest.approx(held.ceiling.si, rel=0.01)
    assert "missing" in loop.prints(
        old="context = 524_288, 1024", new="context = 524_288, 2300"
    )


def test_a_mode_slows_as_its_memory_does_and_as_was_published():
    assert page.slower().si == pytest.approx(2133 / 3199)
    assert page.slower(published=True).si == pytest.approx(page.slower().si, rel=0.05)
    assert page.by_limit().si > 1.1 * page.slower().si
    assert page.warm_speed(*page.FAN).si == 1 > page.warm_speed(*page.FINS).si


def test_published_rates_lie_under_their_ceilings():
    inside = 0
    for told in page.beside():
        inside += told["least"].si <= told["measured"].si <= told["most"].si
        assert told["least"].si < told["predicted"].si < told["most"].si
    assert inside >= int(0.9 * len(page.PUBLISHED))
    assert quoted("jetson.served").si < page.served().si / 2


def test_what_was_told_of_the_tiny_model():
    assert page.text("int8").si == pytest.approx(
        page.text("int8", told=True).si, rel=1e-3
    )
    assert page.same("sums").si == page.same("sums_equal").si
    assert page.gain(told=True).si > page.gain(told=False).si > 1


def test_the_drawing_and_the_claim():
    assert "system" in drawings.one_memory().html
    assert pages.judge("jetson-7b").verdict == "true"


@pytest.mark.parametrize("place", range(3))
def test_every_choice_draws(place):
    """Each value of each control once, in turn; a large model is refused."""
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(said)
    spec, said = ask(live.explore, live.controls(), model=page.LARGE)
    assert "does not fit" in spec["message"] and not said
