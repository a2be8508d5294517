"""Section 6.9: the page's loops, its closed forms against runs, its live figure."""

import re

import pytest

from stacklib.interconnect.switches import closed
from stacklib.interconnect.switches.dcqcn import Pace
from stacklib.interconnect.switches.engine import run_fabric
from stacklib.interconnect.switches.fabric import Flow, Rules, Wire
from stacklib.pages.interconnect import lossless as page
from stacklib.pages.interconnect.lossless import claims, drawings, incasts, live

from ...programs import loop_of

loop = loop_of("06-interconnect/lossless", 0)
sender = loop_of("06-interconnect/lossless", 1)


def test_the_loop_is_the_formula():
    run, told = (int(line.split()[1]) for line in loop.prints().splitlines())
    assert told == round(closed.mean_wait(0.9, 328))
    assert run == pytest.approx(told, rel=0.08)
    assert page.waited(0.9).to("ns").value == pytest.approx(told, rel=0.002)


@pytest.mark.parametrize("kind", page.SWITCHES)
@pytest.mark.parametrize("forwarding", ["cut", "store"])
def test_quiet_ways_are_the_same_frame_by_frame(kind, forwarding):
    told = page.way(kind, forwarding)
    assert page.quiet_run(kind, forwarding).si == pytest.approx(told.si)


def test_storing_costs_a_frame_less_its_header():
    each = (page.FRAME - page.HEADER) / page.rate().si
    for kind in page.SWITCHES:
        assert page.stored_more(kind).si == pytest.approx(page.HOPS * each)


def test_a_run_behind_others_is_near_the_formula():
    assert page.busy_run(0.5).si == pytest.approx(page.busy(0.5).si, rel=0.1)
    assert page.busy_run(0.8).si == pytest.approx(page.busy(0.8).si, rel=0.3)
    assert page.worst(0.8).si > 1.5 * page.busy_run(0.8).si
    # Five microseconds: the wait of all ports, on top of what a quiet way takes.
    assert 5e-6 < page.busy(0.9).si < 5.5e-6


def test_hashed_flows_end_as_told_and_sprayed_ones_sooner():
    assert page.spread("hashed").si == pytest.approx(page.hashed_told().si, rel=0.15)
    assert page.spread("sprayed, any order").si < 0.7 * page.spread("hashed").si
    assert page.resent("sprayed, any order").si == 0
    assert page.resent("sprayed, go-back-N").si > 100
    loads = page.hashed_loads()
    assert sum(loads) == page.SPINES and max(loads) > 1


def test_each_control_does_what_the_page_says():
    rows = {row["buffers"]: row for row in page.control_rows()}
    assert [rows[n]["dropped"].si > 0 for n in page.CONTROLS] == [False, False, True, 1]
    for name in ("credits", "pause, with headroom"):
        assert rows[name]["time"].si == pytest.approx(page.burst().si, rel=0.02)
    most = max(page.incast("pause, with headroom").fullest.values()) - page.XOFF
    assert most <= page.headroom().si < page.headroom(300).si


def test_the_circle_is_named_and_a_tree_has_none():
    for control in ("pause", "credit"):
        assert page.circle(control).faults()[0].startswith("deadlock: s0 -> s1 -> s2")
    assert page.stuck().si == 3 and page.tiers("hashed").circle == ()


def test_the_sender_of_the_page_is_the_packages():
    pace, now = Pace(incasts.of(), 50e9), 0
    pace.cut(-1e-9)  # once told, at the rates of the page
    pace.rate, pace.target = 5.6e9, 6.25e9
    while pace.rate < 0.95 * 50e9:
        now += 1
        pace.upto(now * 1e-6)
        pace.sent(pace.rate * 1e-6)
    told = [float(n) for n in re.findall(r"[\d.]+", sender.prints())]
    assert told[0] == pytest.approx(now / 1000, rel=0.05)
    assert told[1:] == pytest.approx([pace.times, pace.counts], abs=1)
    slow = float(sender.prints("5000", "100_000").split()[0])
    assert slow > 2 * told[0]


def test_incasts_are_full_fair_and_back_again():
    many = incasts.SHOWN
    assert incasts.used(many).si > 0.95 and incasts.fair(many).si > 0.95
    assert incasts.back(many).si < 5e-3
    for told in (incasts.flows(many), incasts.stands(many)):
        assert incasts.waits(many).si == pytest.approx(told.si, rel=0.2)
    assert 1 < (incasts.done(many) / incasts.together()).si < 1.25
    assert incasts.slow().si < 0.5
    steps = [incasts.step(whose).si for whose in ("paper", "ours", "htsim")]
    assert steps == sorted(steps)


def test_a_flow_behind_an_incast_is_free_where_senders_are_slowed():
    assert page.behind(slowed=False).si < 0.2 < 0.8 < page.behind(slowed=True).si
    assert "notice" in drawings.notices().html


def test_a_further_switch_is_its_pipeline_and_its_cable():
    long = page.latency("infiniband") + page.cable_told() * page.rdma.per_metre()
    assert long.si == pytest.approx(page.per_switch().si)
    assert 0.8 < (page.far_told() / page.far()).si < 1


def test_claims():
    assert claims.hop().computed.si > 100e-9
    assert claims.host_to_host().verdict == "depends"
    assert 0.5e-6 < claims.ethernet().computed.si < 1e-6


def test_the_drawing_shows_what_a_run_takes():
    """Slots of the drawing are nanoseconds of a small fabric."""
    wires = {
        port: Wire(1e9) for port in (("a", "s"), ("s", "t"), ("t", "b"), ("b", "t"))
    }
    for forwarding in ("cut", "store"):
        rules = Rules(forwarding, drawings.PIPELINE * 1e-9, drawings.HEADER)
        run = run_fabric(wires, [Flow((("a", "s", "t", "b"),), drawings.FRAME)], rules)
        end = drawings.starts(forwarding)[-1] + drawings.FRAME
        assert run.time == pytest.approx(end * 1e-9) and end <= drawings.SLOTS
    assert "leaf of the senders" in drawings.spines().html


def test_the_live_figure_waits_with_the_load():
    given = {c["name"]: c["value"] for c in live.controls()}
    made = [live.explore(**given | {"load": load}) for load in (0, 0.9)]
    assert made[0]["title"].endswith("for nobody.")
    assert "84%" in made[1]["title"]
    texts = [{r["name"]: r["text"] for r in spec["readouts"]} for spec in made]
    assert texts[0]["quiet"] == texts[0]["run"] == texts[1]["quiet"] == "0.832 µs"
    spray = live.explore(**given | {"routing": "spray"})
    spread = {r["name"]: r["text"] for r in spray["readouts"]}["spines"]
    assert float(spread.split()[0]) < float(texts[0]["spines"].split()[0])
