"""Section 6.1: the page's loop, bases that do not mix, bounds above measurements."""

import pytest

from stacklib import hardware
from stacklib.interconnect.networks import framing
from stacklib.interconnect.selection.topo import pcie_fabric
from stacklib.pages.interconnect import links as page
from stacklib.pages.interconnect.links import claims, drawings, drawings_box, live
from stacklib.quantity import UnitError

from ...programs import loop_of

loop = loop_of("06-interconnect/links")


def test_the_loop_is_the_package():
    share, rate = loop.prints().splitlines()
    data, bits = framing.frame_bits(framing.code("RS-FEC"))
    assert share.startswith(f"{100 * data} of {100 * bits} ")
    one = hardware.link("nvlink4").per_direction
    assert rate == f"one direction {one.text()}, both 900 GB/s"


def test_the_loop_without_parity():
    assert "0.9961" in loop.prints("20, 300", "20, 0")


@pytest.mark.rows("key", page.TABLE)
def test_lanes_make_what_is_printed(key: str):
    link = hardware.link(key)
    assert page.one_way(key).si == pytest.approx(link.per_direction.si, rel=1e-3)
    assert page.both(key).tags == {"bidirectional"}
    assert page.farthest().si < 1e-4


def test_a_sum_and_a_direction_do_not_divide():
    inside, outside = hardware.link("nvlink4"), hardware.link("ib_ndr")
    with pytest.raises(UnitError, match="one side is bidirectional"):
        inside.bidirectional / outside.per_direction
    told = page.drop("nvlink4", "ib_ndr")
    assert page.mixed("nvlink4", "ib_ndr").si == 2 * told.si
    assert told.si == pytest.approx(9)


def test_the_cliff_is_counted_frame_by_frame():
    """Data in frames that were sent; InfiniBand's lanes are recorded by their data."""
    data = []
    for key, share in (("nvlink4", page.counted_share("RS-FEC", 2).si), ("ib_ndr", 1)):
        link = hardware.link(key)
        lanes = link.fields["links"].si * link.fields["lanes"].si
        data.append(lanes * link.fields["lane_rate"].si * share)
    assert data[0] / data[1] == pytest.approx(page.drop("nvlink4", "ib_ndr").si)


def test_codes_counted_over_lanes():
    for name in framing.CODES:
        for lanes in (1, 16):
            told = float(framing.share(framing.code(name)))
            assert page.counted_share(name, lanes).si == pytest.approx(told)


def test_nobody_measures_more_than_the_bound():
    for what in page.MEASURED:
        assert 0.7 < page.measured_share(what).si < 1
    assert page.reached("PCIe 5.0 x16, copy").si < page.pcie_packets().si
    assert page.pcie_packets().si < page.one_way("pcie5_x16").si
    assert page.smi().si == page.one_way("pcie5_x16").si


def test_the_bytes_of_the_token():
    assert page.exchange().si == pytest.approx(160 * 7 * 16384 / 450e9)
    ratio = page.exchange("ib_ndr").si / page.exchange().si
    assert ratio == pytest.approx(page.drop("nvlink4", "ib_ndr").si)


def test_the_live_link_is_the_database():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert live.one_way(**given) == pytest.approx(450)
    spec = live.explore(**given)
    told = {r["name"]: r["text"] for r in spec["readouts"]}
    assert told["both"] == "900 GB/s" and told["gib"] == "419 GiB/s"
    pcie = {"links": 1, "lanes": 16, "rate": 32, "code": "128b/130b"}
    assert live.one_way(**pcie) == pytest.approx(63.02, abs=0.01)


def test_drawings_say_which_way():
    assert "450 GB/s" in drawings.lanes_and_directions().html
    assert "each way" in drawings.node_to_row().html


def test_a_word_of_topo_costs_boards_what_the_package_says():
    def rate(**given):
        of = pcie_fabric("rtx_pro_6000_server", 8, **given)
        return pytest.approx(of.rate, rel=1e-4)

    four = {"under": page.UNDER}
    assert page.boards("PIX", peer=True).si == rate(path="PIX")
    assert page.boards("PIX", peer=False, **four).si == rate(
        path="NODE", peer=False, **four
    )
    for word in ("PHB", "NODE", "SYS"):
        assert page.boards(word, peer=True).si == rate(path=word)
    html = drawings_box.box_as_printed().html
    assert html.count("boards without NVLink") >= 3 and "12 GB/s" in html


def test_claims_lean_on_lanes():
    assert claims.plain(page.both("nvlink5")).si == pytest.approx(1.8e12)
    assert not claims.plain(page.one_way("ib_ndr")).tags
