"""Section 6.17: the sum of a token, its best size, the loop, and the live figure."""

import re

import pytest

from stacklib.pages import chain
from stacklib.pages.interconnect import journey as page
from stacklib.pages.interconnect import links
from stacklib.pages.interconnect.journey import drawings, live
from stacklib.quantity.records import quotes

from ...programs import loop_of

loop = loop_of("06-interconnect/journey")


def test_the_loop_finds_the_best_size_of_the_page():
    said = loop.prints().splitlines()
    assert said[6].endswith(f"soonest with {page.fastest(page.OLD).si:.0f}")
    for line, tp in zip(said, page.SIZES[1:], strict=False):
        told = page.token(page.OLD, tp).si * 1e3
        assert float(line.split()[3]) == pytest.approx(told, rel=0.03)
    own = float(said[9].split()[4])
    assert own == pytest.approx(page.token(page.OLD, way=page.OWN).si * 1e3, rel=0.02)


def test_a_token_is_the_sum_of_its_parts():
    for device in (page.OLD, page.NEW):
        parts = page.reading(device) + page.pauses(device) + page.exchanges(device)
        assert page.token(device).si == pytest.approx(parts.si)
        assert page.bytes_alone(device).si < page.exchanges(device, way=page.OWN).si
        assert page.exchanges(device, way=page.OWN).si < page.exchanges(device).si


def test_the_token_is_the_account_that_the_chain_leaves():
    here = "06-interconnect/journey"
    for device in (page.OLD, page.NEW):
        left = chain.time(here, on=device).si
        assert page.token(device, way=page.OWN).si == pytest.approx(left)
    found = chain.time(here, after=False).si
    assert page.token(page.OLD).si == pytest.approx(found)
    assert page.token(page.OLD, way=page.OWN).si < page.calibrated().si


def test_exchanges_as_published_are_of_a_tokens_array():
    """One series measured half the array in nearly the same time: sizes must agree."""
    for device in (page.OLD, page.NEW):
        place = quotes()[page.PUBLISHED[device]].place
        elements, other = re.findall(r"(\d+) elements", place)
        assert 2 * int(elements) == 4 * int(other) == links.vector().si
        assert page.held(device).si == pytest.approx(160 * page.published(device).si)
        assert page.once(device).si < page.published(device).si
    assert page.once(page.OLD).si == pytest.approx(page.published(page.OLD).si, 0.02)
    assert page.over_held().si < page.over(way=page.OWN).si


def test_the_new_chip_gains_less_than_it_reads_faster():
    promised = page.reading(page.OLD).si / page.reading(page.NEW).si
    assert page.over().si < page.over(way=page.OWN).si < promised


def test_the_best_size_has_no_better_neighbour():
    for device in (page.OLD, page.NEW, page.RACK):
        best = int(page.fastest(device).si)
        for tp in page.SIZES:
            if page.fits(device, tp):
                assert page.token(device, best).si <= page.token(device, tp).si


def test_what_was_published_leaves_room_for_the_exchanges():
    """Doubling GPUs twice leaves the same remainder, and exchanges are part of it."""
    assert page.kept().si == pytest.approx(page.kept_before().si, rel=0.02)
    assert page.foretold().si < page.kept().si


def test_the_live_figure_knows_what_does_not_fit():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "8 x B200 make" in live.explore(**given)["title"]
    small = live.explore(**given | {"device": "h100_sxm", "gpus": 1})
    assert "too small" in small["title"] and not small["readouts"]
    none = live.explore(**given | {"device": "tesla_ai4"})
    assert "does not run" in none["title"] and none["message"]
    own = live.explore(**given | {"way": "own"})
    sent = next(r for r in own["readouts"] if r["name"] == "sent")
    assert sent["tree"]["value"] == pytest.approx(0.811, abs=0.001)


def test_the_drawing_has_room_for_the_longest_token():
    assert page.token(page.OLD).si < drawings.CELLS * drawings.SLOT
