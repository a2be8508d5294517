"""Section 6.2: the page's loop, three ways to a time, faults found, the live figure."""

import pytest

from stacklib.interconnect import Topology, all_reduce, simulate
from stacklib.interconnect.schedules.run import run
from stacklib.interconnect.schedules.text import from_text
from stacklib.interconnect.schedules.verify import verify
from stacklib.pages.interconnect import collectives as page
from stacklib.pages.interconnect.collectives import claims, drawings, faults, live
from stacklib.pages.interconnect.collectives import figures as shown

from ...programs import programs


def loop(at: int = 0) -> str:
    return programs("06-interconnect/collectives")[at]


def said(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(text, {})
    return capsys.readouterr().out


def test_the_loop_is_a_ring_and_its_slips_are_found(capsys):
    for n in (2, 4, 9):
        told = said(loop().replace("n, sends = 4", f"n, sends = {n}"), capsys)
        assert told.startswith(f"holds: {2 * n * (n - 1)} sends in {2 * n - 2} steps")
    other = loop().replace("(chip - 1 - step)", "(chip - step)")
    assert "holds" in said(other, capsys)
    assert "reduced twice" in said(loop().replace("step < n - 1", "step < n"), capsys)
    dropped = loop().replace("\nprint", "\nsends.pop(3)\nprint")
    assert "missing" in said(dropped, capsys)


def test_the_second_loop_is_a_ring_without_a_barrier(capsys):
    for hops in ([5, 5, 5, 12], [1] * 6, [3, 1, 4, 1, 5], [2, 9]):
        text = loop(1).replace("[5, 5, 5, 12]", str(hops))
        steps, pace = (
            int(line.split()[-1]) for line in said(text, capsys).split("\n")[:2]
        )
        n = len(hops)
        links = [(at, (at + 1) % n, 1.0, late) for at, late in enumerate(hops)]
        net = Topology("a ring", n, n, links)
        assert simulate(all_reduce(n), net, 0.0).time == steps
        assert simulate(all_reduce(n), net, 0.0, barrier=False).time == pace


def test_where_hops_differ_only_those_who_need_a_late_one_wait():
    ring = [
        page.simulated("ring", page.size(), on, page.SERVERS).si for on in (True, False)
    ]
    assert ring[0] > 2 * ring[1]
    hops = 2 * (2 * page.TP - 1)
    assert ring[0] == pytest.approx(hops * page.across().si, rel=0.02)
    # NCCL's way to count: hops of the network apart from the others
    slow = 2 * page.SERVERS
    lap = slow * page.across().si + (hops - slow) * page.alpha().si
    assert ring[1] == pytest.approx(lap, rel=0.03)


@pytest.mark.rows("name", list(page.NAMES))
def test_counted_closed_and_link_by_link_are_one(name):
    for of in (page.size(), page.large()):
        counted = page.time(name, of).si
        assert page.simulated(name, of).si == pytest.approx(counted, rel=1e-9)
        if name != "double_binary_tree":  # it has no short form
            assert page.closed(name, of).si == pytest.approx(counted, rel=1e-9)
        assert page.seconds(name, page.TP, of.si) <= counted * (1 + 1e-9)


def test_the_same_steps_sum_real_arrays():
    np = pytest.importorskip("numpy")
    arrays = [np.arange(19) * 10**chip for chip in range(page.TP)]
    for name in page.NAMES:
        for mine in run(page.made(name), arrays):
            assert (mine == sum(arrays)).all()


def test_processes_are_near_what_was_predicted():
    times = {name: shown.measured(name).si for name in shown.SHOWN}
    for name, time in times.items():
        assert 0.4 < time / shown.foretold(name).si < 2
    assert max(times, key=lambda name: times[name]) == "ring"


def test_ring_and_trees_cross_where_the_page_says():
    for ranks in (page.TP, page.RACK):
        at = page.crossing(ranks=ranks).si
        for share, first in ((0.9, "double_binary_tree"), (1.1, "ring")):
            both = {
                name: page.seconds(name, ranks, at * share)
                for name in ("ring", "double_binary_tree")
            }
            assert min(both, key=lambda name: both[name]) == first


def test_planted_faults_are_four_and_named():
    told = {slip: faults.first(made) for slip, made in faults.planted().items()}
    assert len(set(told.values())) == len(told) == 4
    assert "reduced twice" in told["a wrong chunk is sent"]
    assert all("step" in one and "chunk" in one for one in told.values())


def test_a_written_schedule_is_proved_or_its_fault_shown():
    start = {one["name"]: one["value"] for one in live.controls()}
    for words, text in live.programs().items():
        spec = live.explore(**start | {"program": text})
        right = verify(from_text(text)).holds
        assert spec["title"].startswith("Proved") == right == (spec["message"] is None)
        assert len(spec["readouts"]) == 6, words
    told = {
        "0>1": "line 1",
        "": "no line",
    }
    for text, why in told.items():
        spec = live.explore(**start | {"program": text})
        assert why in spec["message"].lower() and not spec["marks"]
    for text, why in {
        "0>0 c0 +": "reduced twice: rank 0",
        "0>1 c0 +\n1>0 c0 =\n0>1 c0 =": "there already: from rank 0",
        "0>1 c0 +, 1>0 c0 +": "sent and received in one step",
    }.items():
        spec = live.explore(**start | {"program": text})
        assert why in spec["message"] and spec["marks"]
        assert spec["title"].startswith("Proved") == verify(from_text(text)).holds
    cube = live.explore(**start | {"network": "cube"})
    assert "8 chips" in cube["message"]


def test_a_row_without_a_way_round_makes_the_ring_wait():
    start = {one["name"]: one["value"] for one in live.controls()}
    times = {}
    for network in ("ring", "line"):
        spec = live.explore(**start | {"network": network})
        (times[network],) = (r["text"] for r in spec["readouts"] if r["name"] == "time")
    assert float(times["line"].split()[0]) > 2 * float(times["ring"].split()[0])


def test_what_the_drawings_hold_is_what_verify_proves():
    for name in ("ring", "tree", "direct"):
        made = page.made(name, drawings.FEW)
        last = drawings.held(made)[-1]
        assert {mask for row in last for mask in row} == {(1 << drawings.FEW) - 1}
    assert drawings.through_the_switch().html


def test_claims_are_counted():
    assert claims.levels(10_000, claims.RADIX) == 3 == claims.levels(32**3, 32)
    assert claims.sent(9) == 2 and claims.sent(9, "reduce_scatter") == 1
    assert claims.across(32, 4, "hierarchical") == pytest.approx(1.5 / 8)
