"""Section 6.10: the page's loop, its steps against events, and its live figure."""

import pytest

from stacklib.interconnect.queues.explore import explore
from stacklib.interconnect.queues.rdma_steps import event_faults, run_steps
from stacklib.interconnect.queues.wqe import write_wqe
from stacklib.pages.interconnect import rdma as page
from stacklib.pages.interconnect.rdma import claims, drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/rdma")


def test_the_loop_is_the_package():
    size, same = loop.prints().splitlines()
    assert same == "True" and size.startswith("48 bytes: 00000508")
    wqe = write_wqe(5, 0x1A2B, 0x7F0000001000, 0x1234, 0x10000, 0x77, 7392)
    assert size.split(": ")[1] == wqe.hex(" ", 4)


def test_both_starts_take_about_as_long_and_the_rates_do_not():
    proxy, gpu = page.message("proxy"), page.message("gpu")
    assert 1 < (proxy / gpu).si < 1.05
    assert (page.rate("gpu") / page.rate("proxy")).si > 100
    assert (page.start_time("gpu") + page.rest()).si == pytest.approx(gpu.si)
    assert (page.start_time("proxy") + page.rest()).si == pytest.approx(proxy.si)


@pytest.mark.parametrize("start", ["gpu", "proxy"])
def test_a_dispatch_is_the_same_event_by_event(start):
    assert page.ran(start).si == pytest.approx(page.dispatch(start).si)
    steps = page.steps(start, page.token())
    assert event_faults(steps, run_steps(steps, 50)) == []


def test_the_wire_is_the_limit_of_a_gpu_and_the_thread_that_of_a_proxy():
    assert page.pace("gpu").si == pytest.approx((page.token() / page.port_rate()).si)
    assert page.pace("proxy").si == pytest.approx(page.gap("proxy").si)
    assert page.dispatch("gpu").si < page.dispatched().si < page.dispatch("proxy").si


def test_the_port_is_what_a_measured_write_leaves():
    small = page.steps("gpu", 2 * page.token() / page.token().si)
    names = [step.name for step in small]
    assert names[0] == "reserve a slot" and names[-1] == "write GPU memory"
    back = page.bus() + page.switch() + 2 * page.port()
    assert back.si == pytest.approx(page.one_hop().si)


def test_what_is_left_out_has_its_fault():
    rows = {row["left out"]: row for row in page.fault_rows()}
    assert list(rows) == list(page.LEFT_OUT.values())
    assert rows["writing before ringing"]["steps"].si == 4
    assert page.states().si == explore(*page.CASE).states
    assert not page.explored().faults


def test_a_warp_rings_once():
    assert page.posted("doorbells", together=True).si == 1
    assert page.posted("doorbells", together=False).si == 32


def test_claims():
    assert claims.element() == 48 and claims.segments() == 3
    assert claims.by_cpu("proxy") == 1 and claims.by_cpu("gpu") == 0
    assert page.computing().si == 112


def test_the_live_figure_names_the_fault():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "all 8 elements" in live.step(**given)["title"]
    assert "no elements" in live.step(**given | {"order": ""})["title"]
    for without in filter(None, live.PLANS):
        found = live.step(**given | {"without": without, "search": "found"})
        fault = next(iter(page.explored(without).faults))
        assert fault in found["title"]
        assert found["table"]["rows"][-1]["cells"][1]["text"] == fault
    nothing = live.step(**given | {"search": "found"})
    assert nothing["title"].startswith("No order of steps")


def test_the_drawings_say_who_does_what():
    way = drawings.way_of_a_write().html
    assert "1.09 µs" in way and "1.03 µs" in way and "2.19 µs" in way
    assert "doorbell" in drawings.ring_and_bell().html
