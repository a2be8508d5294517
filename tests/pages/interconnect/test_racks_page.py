"""Section 6.6: the page's loop, islands searched and refused, the token's exchange."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.pages.interconnect import racks as page
from stacklib.pages.interconnect.racks import claims, drawings, live, rows

from ...programs import loop_of

loop = loop_of("06-interconnect/racks")


def test_the_loop_is_the_package():
    assert loop.prints().startswith("8 of 72 GPUs")
    assert page.reached().si == claims.reached(0, "packed") - 1 == 7


def test_the_loop_wired_as_the_rack(capsys: pytest.CaptureFixture[str]):
    wired = loop().replace("18, 9, 144", "18, 18, 72")
    exec(wired.replace("(gpu * links + link) // ports", "link % chips"), {})
    assert capsys.readouterr().out.startswith("72 of 72 GPUs")


def test_the_post_is_refused_with_its_islands():
    sizes = page.POST
    with pytest.raises(ValueError, match="9 islands"):
        Topology.nvswitch(72, 9, links=18, ports=144, wiring="packed")
    assert page.island_count("the post's planes").si == 72 * sizes.links / 144
    assert page.island_count("NVL72").si == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 8))
def test_packed_racks_fall_apart_by_division(links: int, each: int, chips: int):
    """Closed form against the search: ports over links, where it divides."""
    gpus = each * chips
    found = claims.island_count(gpus, links, chips, each * links, "packed")
    assert found == chips
    assert claims.island_count(gpus, links, links, gpus, "spread") == 1


def test_ports_and_bandwidth_close():
    assert page.total("NVL72").si == pytest.approx(129.6e12)
    assert claims.per_switch().si == pytest.approx(7.2e12)
    assert page.half().si == pytest.approx(36 * claims.one_way().si)
    assert page.without_one().si == pytest.approx(claims.one_way().si * 17 / 18)
    assert page.used("NVL72").si == (claims.chips() * claims.ports()).si == 1296
    assert page.cables().si == page.cables_told().si
    assert page.planes().si == claims.chips().si and page.hops("NVL72").si == 2


def test_chips_with_fewer_ports():
    told = {row["rack"]: row for row in rows.table()}
    assert told["chips of an H100 board"]["islands"] is None
    assert page.lacking().si == 8
    # More of them have the ports; every two GPUs meet, at fewer chips than links.
    assert told[page.MORE]["islands"].si == 1
    assert page.shared().si == 18 - 3
    assert page.pair().si == pytest.approx(claims.one_way().si * 15 / 18)


def test_an_exchange_three_ways():
    """Closed form, counted over the graph's routes, and link by link."""
    once = page.once("NVL72").si
    assert page.closed(8).si == pytest.approx(once)
    rack = page.topology("NVL72", 8)
    run = simulate(all_reduce(8, page.ALGORITHM), rack, page.vector().si)
    assert run.time == pytest.approx(once)
    assert once < page.closed(72).si < 1.01 * once
    assert page.exchange("NVL72").si < page.exchange("HGX H100").si


def test_the_live_rack_is_the_graph():
    given = {c["name"]: c["value"] for c in live.controls()}
    told = {r["name"]: r["text"] for r in live.explore(**given)["readouts"]}
    assert told["islands"] == "1" and told["rate"] == "129.6 TB/s"
    post = given | {"chips": 9, "ports": 144, "wiring": "packed"}
    assert "falls apart" in live.explore(**post)["title"]
    few = live.explore(**given | {"ports": 64})
    assert "1296 links for 1152 ports" in str(few["message"])


def test_the_drawing_shows_both_wirings():
    html = drawings.two_wirings().html
    assert "50 GB/s" in html and "900 GB/s" in html and len(html) < 90_000
