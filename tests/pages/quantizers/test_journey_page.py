"""Section 7.10: stations of the token, and the page's loop."""

import pytest

from stacklib.pages.quantizers import decode, kv, quality
from stacklib.pages.quantizers import journey as page
from stacklib.pages.quantizers.journey import drawings
from stacklib.roofline import decode_step

from ...programs import loop_of

loop = loop_of("07-quantizers/journey")


def test_the_loop_is_the_page():
    said = loop.prints().splitlines()
    names = {
        scheme: name for name, (scheme, bits) in page.STATIONS.items() if bits == 16
    }
    assert len(said) == len(page.DEVICES) * 4
    for one in said:
        device, scheme, found, _ = one.replace(":", "").split()
        mine = 1e3 * page.time(names[scheme], device).si
        assert float(found) == pytest.approx(mine, abs=0.0006)


def test_in_bf16_it_is_chapter_ones_step():
    for device in page.DEVICES:
        step = decode_step("llama-3-70b", on=device, tp=8, context=page.CONTEXT)
        assert page.time("BF16", device).si == pytest.approx(step.time.si, rel=1e-3)
    assert page.moved("INT4 weights").si == pytest.approx(decode.moved("w4a16").si)


def test_losses_are_those_of_their_sections():
    both = page.loss("INT4, and its cache").si
    way = next(iter(kv.WAYS))
    assert both == quality.difference("int4_g128").si + kv.loss(4, way).si
    assert page.loss("Q2_K weights").si > 5 * page.loss("INT4 weights").si


def test_fewer_bits_are_fewer_bytes_and_the_tiny_model_is_counted():
    times = [page.time(s, "h100_sxm").si for s in page.STATIONS]
    assert times == sorted(times, reverse=True)
    assert page.tiny_bytes("fp32").si / page.tiny_bytes("q8_0").si == 32 / 8.5


def test_the_drawing_has_every_station():
    found = drawings.stations()
    for station in page.STATIONS:
        assert page.time(station, "h100_sxm").text("ms") in found.html
