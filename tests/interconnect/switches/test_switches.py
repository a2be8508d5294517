"""A fabric: closed forms, runs frame by frame, and planted faults."""

from fractions import Fraction
from itertools import product
from math import comb
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.switches import closed, shapes
from stacklib.interconnect.switches.engine import run_fabric
from stacklib.interconnect.switches.fabric import KNOWN, Flow, Rules, Wire
from stacklib.quantity import chosen

from ...rows import refusals

RATE = 50e9
WIRE = Wire(RATE, 20e-9)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 60_000),
    st.integers(1, 6),
    st.sampled_from([512, 4096, 9000]),
    st.floats(0, 1e-6),
)
def test_a_quiet_way_takes_what_the_closed_forms_say(size, hops, frame, latency):
    wires, way, _ = shapes.row(hops, WIRE)
    flow = Flow((way,), size, frame=frame)
    given = {"rate": RATE, "hops": hops, "latency": latency, "cable": WIRE.delay}
    for forwarding in ("cut", "store"):
        run = run_fabric(wires, [flow], Rules(forwarding, latency))
        assert run.faults() == [] and run.frames == -(-size // frame)
        if forwarding == "cut" and size % frame == 0:
            told = closed.cut_through_time(size, header=64, **given)
            assert run.ended[0] == pytest.approx(told)
        if forwarding == "store":
            told = closed.stored_time(size, frame=min(frame, size), **given)
            assert run.ended[0] == pytest.approx(told)


def test_slow_into_fast_is_stored():
    wires = {("a", "s"): Wire(RATE / 4), ("s", "b"): Wire(RATE)}
    run = run_fabric(wires, [Flow((("a", "s", "b"),), 4096)], Rules("cut"))
    assert run.time == pytest.approx(4096 / (RATE / 4) + 4096 / RATE)


@pytest.mark.rows("load", [0.3, 0.6, 0.8])
def test_a_port_waits_as_pollaczek_and_khinchine_say(load):
    size, hops = 4096, 1
    wires, _, others = shapes.row(hops, WIRE, sources=400)
    flows = shapes.crowd(others, load=load, rate=RATE, size=size, until=400e-6, seed=3)
    run = run_fabric(wires, flows, Rules("store"))
    quiet = closed.stored_time(size, rate=RATE, hops=1, latency=0, cable=WIRE.delay)
    waits = [end - f.start - quiet for end, f in zip(run.ended, flows, strict=True)]
    told = closed.mean_wait(load, size / RATE)
    assert min(waits) == pytest.approx(0, abs=1e-15)
    assert mean(waits) == pytest.approx(told, rel=0.15)


def test_hashing_is_counted_way_by_way():
    for flows, paths in product(range(1, 6), range(1, 5)):
        ways = list(product(range(paths), repeat=flows))
        most = [max(way.count(p) for p in range(paths)) for way in ways]
        clash = Fraction(sum(len(set(way)) < flows for way in ways), len(ways))
        assert closed.clash_chance(flows, paths) == clash
        assert closed.mean_busiest(flows, paths) == Fraction(sum(most), len(ways))
        for k, chance in enumerate(closed.busiest_chances(flows, paths)):
            assert chance == Fraction(most.count(k), len(ways))


def test_a_known_chance():
    apart = Fraction(comb(8, 8) * 40320, 8**8)
    assert closed.clash_chance(8, 8) == 1 - apart
    assert sum(closed.busiest_chances(8, 8)) == 1


def clash(routing, order, spines=4, hosts=4, seed=0, size=1 << 18):
    wires, paths = shapes.two_tiers(hosts, spines, WIRE)
    flows = [Flow(path, size) for path in paths]
    rules = Rules(latency=500e-9, routing=routing, order=order, seed=seed)
    return run_fabric(wires, flows, rules)


def test_hashed_flows_share_and_sprayed_ones_do_not():
    quiet = clash("hash", "in order", hosts=1).time
    times = [clash("hash", "in order", seed=seed, size=1 << 16) for seed in range(60)]
    alone = clash("hash", "in order", hosts=1, size=1 << 16).time
    rest = closed.cut_through_time(
        1, rate=RATE, hops=3, latency=500e-9, header=64, cable=WIRE.delay
    )
    shared = [round((run.time - rest) / (alone - rest)) for run in times]
    assert mean(shared) == pytest.approx(float(closed.mean_busiest(4, 4)), rel=0.1)
    sprayed = clash("spray", "any order").time
    assert sprayed < 1.05 * quiet


def test_frames_out_of_order_are_resent_where_order_is_asked():
    wires, paths = shapes.two_tiers(3, 2, WIRE)
    # One spine is nearer: frames over it overtake.
    for end in ("left", "right"):
        wires["spine1", end] = wires[end, "spine1"] = Wire(RATE, 2e-6)
    flows = [Flow(path, 1 << 17) for path in paths]
    made = {
        order: run_fabric(wires, flows, Rules(routing="spray", order=order))
        for order in ("in order", "any order")
    }
    assert made["any order"].out_of_order and not made["any order"].resent
    assert made["in order"].resent > 0
    assert made["in order"].time > 2 * made["any order"].time
    assert all(run.faults() == [] for run in made.values())


def incast(**given):
    """Four hosts send to one; a fifth's flow shares the first wire's input."""
    wires = shapes.both_ways([(f"a{k}", "s") for k in range(4)] + [("s", "b")], WIRE)
    flows = [Flow(((f"a{k}", "s", "b"),), 1 << 17) for k in range(4)]
    return run_fabric(wires, flows, Rules(**given))


def test_headroom_is_what_still_comes():
    frame, response = 4096, 1.16e-6
    need = closed.headroom(RATE, cable=WIRE.delay, response=response, frame=frame)
    given = {"control": "pause", "buffer": 16_384, "response": response}
    run = incast(headroom=need, **given)
    assert run.faults() == [] and sum(run.paused.values()) > 0
    most = max(run.fullest.values()) - 16_384
    assert 0.7 * need < most <= need
    # The planted fault: a lossless queue without room for what is on its way.
    lost = incast(headroom=0, **given)
    assert lost.dropped and lost.faults() == [f"{lost.dropped} frames are dropped"]
    assert lost.resent and lost.time > run.time
    assert max(lost.fullest.values()) <= 16_384


def test_credits_lose_nothing_and_carry_a_buffer_a_round_trip():
    slow = incast(control="credit", buffer=8192)
    assert slow.faults() == [] and max(slow.fullest.values()) <= 8192
    far = Wire(RATE, 1e-6)
    wires = {("a", "s"): far, ("s", "b"): Wire(RATE)}
    flow = Flow((("a", "s", "b"),), 1 << 20)
    run = run_fabric(wires, [flow], Rules("cut", control="credit", buffer=32_768))
    around = 2 * far.delay + 64 / RATE + 4096 / RATE
    told = closed.credit_rate(32_768, rate=RATE, around=around)
    assert (1 << 20) / run.time == pytest.approx(told, rel=0.02)
    assert closed.credit_rate(1e9, rate=RATE, around=around) == RATE


def test_a_full_output_drops_and_the_sender_goes_back():
    run = incast(control="drop", buffer=32_768)
    assert run.dropped and run.resent >= run.dropped
    assert None not in run.ended and run.frames == 4 * 32
    any_order = incast(control="drop", buffer=32_768, order="any order", timeout=10e-6)
    assert any_order.resent == any_order.dropped


def test_a_pause_stops_those_who_did_nothing():
    """The victim's frames stand behind others', although its own port is free."""
    ends = [("a", "s"), ("v", "s"), ("s", "t"), ("t", "b"), ("t", "w"), ("c", "t")]
    wires = shapes.both_ways([*ends, ("d", "t")], WIRE)
    crowd = [Flow((("a", "s", "t", "b"),), 1 << 18)]
    crowd += [Flow(((x, "t", "b"),), 1 << 18) for x in "cd"]
    victim = Flow((("v", "s", "t", "w"),), 1 << 16)
    rules = Rules(control="pause", buffer=16_384)
    alone = run_fabric(wires, [victim], rules)
    held = run_fabric(wires, [victim, *crowd], rules)
    free = run_fabric(wires, [victim, *crowd], Rules(control="drop"))
    assert held.faults() == [] and held.paused["s", "t"] > 0
    assert held.ended[0] > 1.3 * free.ended[0] > 1.3 * alone.ended[0]


def meeting(order):
    """A long flow, and halfway through it a burst of a faster host."""
    wires = shapes.both_ways([("a", "s"), ("s", "b")], WIRE)
    wires |= shapes.both_ways([("c", "s")], WIRE._replace(rate=2 * RATE))
    long = Flow((("a", "s", "b"),), 1 << 19)
    burst = Flow((("c", "s", "b"),), 30_000, 4e-6, 3000)
    rules = Rules(control="drop", buffer=16_384, order=order)
    return run_fabric(wires, [long, burst], rules)


def test_a_gap_is_asked_for_and_only_what_misses_is_sent_again():
    made = {order: meeting(order) for order in KNOWN["order"]}
    assert all(run.dropped for run in made.values())
    assert {run.frames for run in made.values()} == {128 + 10}
    for order in ("any order", "selective"):
        assert made[order].resent == made[order].dropped
    assert made["in order"].resent > 1.5 * made["in order"].dropped
    # A gap is found by the next frame, and not by a timeout of 100 us.
    ends = [made[o].ended[0] for o in ("selective", "in order", "any order")]
    assert ends == sorted(ends) and ends[2] > ends[1] + 50e-6


@given(st.integers(0, 99))
@settings(max_examples=10)
def test_jitter_is_no_loss(seed):
    """Frames overtake each other for 2 us: who waits as long asks for none."""
    wires = shapes.both_ways([("a", "s"), ("s", "b")], WIRE)
    flow = [Flow((("a", "s", "b"),), 1 << 18)]
    given = {"jitter": 1e-6, "seed": seed}
    patient = run_fabric(wires, flow, Rules(order="selective", patience=2e-6, **given))
    assert patient.out_of_order and not patient.resent
    assert patient.time < run_fabric(wires, flow, Rules()).time + 2e-6
    # Who does not wait takes overtaking for loss, and go-back-N pays most for it.
    hasty = run_fabric(wires, flow, Rules(order="selective", **given))
    back = run_fabric(wires, flow, Rules(**given))
    assert 0 < hasty.resent < back.resent and hasty.faults() == back.faults() == []


@pytest.mark.parametrize("control", ["pause", "credit"])
def test_a_circle_of_buffers_is_found_and_named(control):
    wires, paths = shapes.ring(3, WIRE)
    flows = [Flow((path,), 1 << 17) for path in paths]
    run = run_fabric(wires, flows, Rules(control=control, buffer=8192))
    first, second = run.faults()
    assert first.startswith("deadlock: s0 -> s1 -> s2 -> s0")
    assert second == "3 of 3 flows never end"
    assert {port[0] for port in run.circle} == {"s0", "s1", "s2"}
    # Where frames may be lost, somebody lets go; with room for all, nobody waits.
    lossy = run_fabric(wires, flows, Rules(control="drop", buffer=16_384))
    assert lossy.circle == () and None not in lossy.ended
    assert run_fabric(wires, flows, Rules(control=control)).faults() == []


def test_quantities_go_through():
    size, rate = chosen(4096, "B"), chosen(50, "GB/s per_direction")
    given = {"latency": chosen(100, "ns"), "cable": chosen(0, "s"), "hops": 3}
    cut = closed.cut_through_time(size, rate=rate, header=chosen(64, "B"), **given)
    stored = closed.stored_time(size, rate=rate, **given)
    assert (stored - cut).to("ns").value == pytest.approx(3 * 4032 / 50)
    wait = closed.mean_wait(chosen(0.9), size / rate)
    assert wait.si == pytest.approx(0.9 * 4096 / RATE / 0.2)
    assert closed.mean_wait(0.5, 1.0, spread=1.0) == 1.0


test_bad_input_is_refused = refusals(
    (lambda: Rules(forwarding="teleport"), "teleport"),
    (lambda: Rules(control="hope"), "hope"),
    (lambda: Rules(latency=-1.0), "latency = -1.0"),
    (lambda: Rules(buffer=float("nan")), "buffer = nan"),
    (lambda: Rules(jitter=-1e-6), "jitter = -1e-06"),
    (lambda: Rules(patience=True), "patience = True"),
    (lambda: Rules(order="backwards"), "backwards"),
    *(
        (lambda control=control: incast(control=control, buffer=4095), "never fits")
        for control in ("credit", "drop")
    ),
    (lambda: incast(control="pause", buffer=4000, headroom=90), "4090 bytes of buf"),
    (lambda: closed.mean_wait(1.0, 1e-6), "1 - load"),
    (lambda: closed.clash_chance(0, 4), "flows = 0"),
    (lambda: shapes.ring(2, WIRE), "switches = 2"),
    (lambda: run_fabric({}, [Flow((("a", "b"),), 1)]), "no wire a -> b"),
    (lambda: run_fabric({}, [Flow((), 1)]), "no path"),
    (lambda: run_fabric({}, [Flow((("a", "b"), ("a", "c")), 1)]), "several ports"),
    (lambda: run_fabric({}, [Flow((("a", "b"),), 0)]), "size of flow 0 = 0"),
    (lambda: run_fabric({("a", "b"): Wire(0.0)}, []), "rate of a -> b"),
    (lambda: run_fabric({("a", "b"): Wire(1.0)}, []), "flows is empty"),
    error=(ValueError, LookupError),
)
